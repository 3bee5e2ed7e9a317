// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Staging tiles. A process is a rank of one launch, whose sub-domains have
 * tiles of the same size: one per thread is enough.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "error.h"
#include "stage.h"

static _Thread_local pld_tile stage;
/* Its value is the thread's stage.data, for the destructor. */
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static int key_error;

static void make_key(void)
{
	key_error = pthread_key_create(&key, free);
}

static int make_stage(size_t bytes)
{
	pthread_once(&key_once, make_key);
	if (key_error)
		return -key_error;
	PLD_TRY(pld_tile_alloc(&stage, bytes));
	if (pthread_setspecific(key, stage.data)) {
		pld_tile_free(&stage);
		return -ENOMEM;
	}
	return 0;
}

int pld_stage(const char *op, const pld_domain *domain, const pld_tile **tile)
{
	if (!stage.data && make_stage(domain->tile_bytes))
		return pld_error(ENOMEM,
				 "%s: no memory for this thread's staging tile of %zu bytes",
				 op, domain->tile_bytes);
	*tile = &stage;
	return 0;
}
