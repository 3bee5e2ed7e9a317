// SPDX-License-Identifier: GPL-2.0
/*
 * What a rank has left in its observer, as the host side reads it. Input: the
 * beginning of the observer, and its first slots.
 */
#include "bytes.h"
#include "common/ir.h"
#include "domain.h"
#include "observer.h"

#define SLOTS 3

const char *program_name = "fuzz";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pld_observer *observer;
	static pld_domain domain;
	struct bytes in = { data, size };
	struct ir ir;
	pld_cost cost;

	if (!observer)
		observer = calloc(1, sizeof(*observer));
	if (!observer)
		return 0;
	take(&in, &observer->notifies, 8);
	take(&in, &observer->records, 8);
	/* The whole of it is read line by line: not too often all. */
	if (observer->records > SLOTS && take_byte(&in) < 250)
		observer->records = observer->records % SLOTS + 1;
	for (int i = 0; i < SLOTS; i++) {
		take(&in, &observer->slots[i].record,
		     sizeof(observer->slots[i].record));
		observer->slots[i].number = take_byte(&in) % 8 ? i + 1 : i;
	}
	domain.nranks = 1;
	domain.rank = -1;
	domain.observers[0] = observer;
	pld_launch_cost(&domain, 0, &cost);
	if (!ir_read(&domain, 0, &ir)) {
		ir_print(&ir, 0, "fuzz");
		ir_free(&ir);
	}
	return 0;
}
