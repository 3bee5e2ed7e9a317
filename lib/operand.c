// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Tiles that arithmetic works on.
 */
#include <errno.h>

#include "dims.h"
#include "error.h"
#include "operand.h"
#include "view.h"

int pld_operand_check(const char *op, const char *argument, const pld_tile *tile)
{
	PLD_TRY(pld_view_check(op, argument, tile, PLD_ACCEPT(PLD_TILE)));
	if (!pld_dims_dense(tile))
		return pld_error(EINVAL, "%s: %s must be dense", op, argument);
	return 0;
}

int pld_operand_result(const char *op, pld_tile *out, const pld_tile *in,
		       pld_dtype dtype)
{
	pld_dims shape = in->shape, valid = *pld_operand_valid(in);
	size_t bytes;

	if (!out || out->kind != PLD_TILE)
		return pld_error(EINVAL, "%s: out must be a Tile, got %s", op,
				 pld_kind_name(out));
	if (!out->data)
		return pld_error(EFAULT, "%s: out has no memory", op);
	PLD_TRY(pld_dims_bytes(op, &shape, dtype, &bytes));
	if (bytes > out->bytes)
		return pld_error(ENOSPC,
				 "%s: %zu bytes do not fit out, a tile of %zu",
				 op, bytes, out->bytes);
	out->dtype = dtype;
	out->shape = shape;
	out->valid_shape = valid;
	pld_dims_strides(&shape, 1, out->stride);
	return 0;
}
