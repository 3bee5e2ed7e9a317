/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Tiles that arithmetic works on.
 */
#ifndef PLD_OPERAND_H
#define PLD_OPERAND_H

#include "pld.h"

/* 0, or a negative errno when it is no dense Tile that holds something. */
int pld_operand_check(const char *op, const char *argument,
		      const pld_tile *tile);

/* How much of its shape holds data; a tile need not say so. */
static inline const pld_dims *pld_operand_valid(const pld_tile *tile)
{
	return tile->valid_shape.ndim ? &tile->valid_shape : &tile->shape;
}

/* Makes out hold what in does, as dtype; -ENOSPC when it is too small. */
int pld_operand_result(const char *op, pld_tile *out, const pld_tile *in,
		       pld_dtype dtype);

#endif
