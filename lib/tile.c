// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pl.load, pl.store and pld.tile.remote_load: between a tensor and a tile.
 */
#include <errno.h>

#include "dims.h"
#include "domain.h"
#include "error.h"
#include "health.h"
#include "region.h"
#include "view.h"

static int enter(const char *op, const pld_view *view)
{
	return view->kind == PLD_DISTRIBUTED_TENSOR
		       ? pld_enter(view->buffer->domain, op)
		       : 0;
}

/* Makes the tile hold that shape, dense. */
static int shape_tile(const char *op, pld_tile *tile, pld_dims shape,
		      pld_dtype dtype)
{
	size_t bytes;

	if (!tile || tile->kind != PLD_TILE)
		return pld_error(EINVAL, "%s: tile must be a Tile, got %s", op,
				 pld_kind_name(tile));
	if (!tile->data)
		return pld_error(EFAULT, "%s: tile has no memory", op);
	PLD_TRY(pld_dims_bytes(op, shape, dtype, &bytes));
	if (bytes > tile->bytes)
		return pld_error(ENOSPC,
				 "%s: %zu bytes do not fit the tile of %zu", op,
				 bytes, tile->bytes);
	tile->dtype = dtype;
	tile->shape = shape;
	pld_dims_strides(shape, 1, tile->stride);
	return 0;
}

static void fill_tile(pld_tile *tile, const pld_view *from, char *data,
		      pld_dims offsets)
{
	struct pld_region src = pld_region_at(from, data, offsets);
	struct pld_region dst = pld_region_at(tile, tile->data, (pld_dims){ 0 });

	pld_region_copy(&dst, &src, tile->shape,
			(size_t)pld_dtype_size(tile->dtype));
}

int pld_load(const pld_view *tensor, pld_dims offsets, pld_dims shape,
	     pld_tile *tile)
{
	static const char op[] = "pl.load";

	PLD_TRY(pld_view_check(op, "tensor", tensor, PLD_ACCEPT_TENSORS));
	PLD_TRY(enter(op, tensor));
	PLD_TRY(pld_dims_within(op, "tensor", tensor, offsets, shape));
	PLD_TRY(shape_tile(op, tile, shape, tensor->dtype));
	fill_tile(tile, tensor, tensor->data, offsets);
	return 0;
}

int pld_store(const pld_tile *tile, pld_dims offsets, const pld_view *tensor)
{
	static const char op[] = "pl.store";
	struct pld_region dst, src;

	PLD_TRY(pld_view_check(op, "tile", tile, PLD_ACCEPT(PLD_TILE)));
	PLD_TRY(pld_view_check(op, "tensor", tensor, PLD_ACCEPT_TENSORS));
	PLD_TRY(enter(op, tensor));
	if (tile->dtype != tensor->dtype)
		return pld_error(EINVAL,
				 "%s: dtype of tile is %s, wanted the tensor's %s",
				 op, pld_dtype_name(tile->dtype),
				 pld_dtype_name(tensor->dtype));
	PLD_TRY(pld_dims_within(op, "tensor", tensor, offsets, tile->shape));
	dst = pld_region_at(tensor, tensor->data, offsets);
	src = pld_region_at(tile, tile->data, (pld_dims){ 0 });
	pld_region_copy(&dst, &src, tile->shape,
			(size_t)pld_dtype_size(tile->dtype));
	return 0;
}

int pld_tile_remote_load(const pld_distributed_tensor *target, int peer,
			 pld_dims offsets, pld_dims shape, pld_tile *tile)
{
	static const char op[] = "pld.tile.remote_load";

	PLD_TRY(pld_view_check(op, "target", target,
			       PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR)));
	PLD_TRY(pld_enter(target->buffer->domain, op));
	PLD_TRY(pld_peer_check(op, target->buffer->domain, peer));
	PLD_TRY(pld_dims_within(op, "target", target, offsets, shape));
	PLD_TRY(shape_tile(op, tile, shape, target->dtype));
	fill_tile(tile, target, pld_peer_data(target, peer), offsets);
	return 0;
}
