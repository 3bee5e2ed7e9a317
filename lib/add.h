/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Atomic addition between ranks (atomic = Add).
 */
#ifndef PLD_ADD_H
#define PLD_ADD_H

#include "pld.h"

/*
 * 0, or -EINVAL when atomic is no such type or dtype cannot be added so, or
 * -EFAULT when data is not aligned to its elements.
 */
int pld_atomic_check(const char *op, pld_atomic_type atomic, pld_dtype dtype,
		     const void *data);

/*
 * Adds count adjacent elements of src to dst. Integers wrap; fp16 and bf16 are
 * added in fp32 and rounded to nearest even.
 */
void pld_add_run(void *dst, const void *src, size_t count, pld_dtype dtype);

#endif
