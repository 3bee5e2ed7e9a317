// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>
#include <sys/mman.h>

#include "shared.h"

struct shared *shared_create(void)
{
	void *memory = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}
