// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pl.add, pl.mul, pl.maximum and pl.minimum: two tiles into one, by the loops of
 * the reductions, a block at a time.
 */
#include <errno.h>

#include "collectives/reduce.h"
#include "dims.h"
#include "dtype.h"
#include "error.h"
#include "observe.h"
#include "operand.h"

/* Elements at a time. */
#define BLOCK 256

static int check(const char *op, const pld_tile *a, const pld_tile *b)
{
	char want[PLD_DIMS_TEXT_BYTES], got[PLD_DIMS_TEXT_BYTES];

	PLD_TRY(pld_operand_check(op, "a", a));
	PLD_TRY(pld_operand_check(op, "b", b));
	if (a->dtype != b->dtype)
		return pld_error(EINVAL, "%s: dtype of b is %s, wanted a's %s",
				 op, pld_dtype_text(b->dtype),
				 pld_dtype_text(a->dtype));
	if (!pld_dims_equal(&a->shape, &b->shape))
		return pld_error(EINVAL, "%s: shape of b is %s, wanted a's %s",
				 op, pld_dims_text(b->shape, got),
				 pld_dims_text(a->shape, want));
	if (!pld_dims_equal(pld_operand_valid(a), pld_operand_valid(b)))
		return pld_error(EINVAL,
				 "%s: valid_shape of b is %s, wanted a's %s",
				 op, pld_dims_text(*pld_operand_valid(b), got),
				 pld_dims_text(*pld_operand_valid(a), want));
	return 0;
}

static int combine(const char *op, pld_reduce_op how, pld_trace_op traced,
		   const pld_tile *a, const pld_tile *b, pld_tile *out)
{
	const char *from_a, *from_b;
	int64_t n, size;
	char *to;

	PLD_TRY(check(op, a, b));
	PLD_TRY(pld_operand_result(op, out, a, a->dtype));
	from_a = a->data;
	from_b = b->data;
	to = out->data;
	size = pld_dtype_size(a->dtype);
	n = pld_dims_count(&a->shape);
	for (int64_t i = 0; i < n; i += BLOCK) {
		int64_t count = n - i < BLOCK ? n - i : BLOCK;
		_Alignas(double) unsigned char block[BLOCK * sizeof(double)];

		pld_reduce_first(a->dtype, block, from_a + i * size, count);
		pld_reduce_next(a->dtype, how, block, from_b + i * size, count);
		pld_reduce_result(a->dtype, to + i * size, block, count);
	}
	if (pld_observed())
		pld_observe_arithmetic(traced, a, b, out);
	return 0;
}

int pld_add(const pld_tile *a, const pld_tile *b, pld_tile *out)
{
	return combine("pl.add", PLD_SUM, PLD_TRACE_ADD, a, b, out);
}

int pld_mul(const pld_tile *a, const pld_tile *b, pld_tile *out)
{
	return combine("pl.mul", PLD_PROD, PLD_TRACE_MUL, a, b, out);
}

int pld_maximum(const pld_tile *a, const pld_tile *b, pld_tile *out)
{
	return combine("pl.maximum", PLD_MAX, PLD_TRACE_MAXIMUM, a, b, out);
}

int pld_minimum(const pld_tile *a, const pld_tile *b, pld_tile *out)
{
	return combine("pl.minimum", PLD_MIN, PLD_TRACE_MINIMUM, a, b, out);
}
