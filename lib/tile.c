// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pl.load, pl.store, pld.tile.remote_load and pld.tile.remote_store: between a
 * tensor and a tile.
 */
#include <errno.h>
#include <string.h>

#include "add.h"
#include "dims.h"
#include "dtype.h"
#include "domain.h"
#include "error.h"
#include "health.h"
#include "observe.h"
#include "region.h"
#include "view.h"

static int enter(const char *op, const pld_view *view)
{
	return view->kind == PLD_DISTRIBUTED_TENSOR
		       ? pld_enter(view->buffer->domain, op)
		       : 0;
}

static int check_valid(const char *op, const pld_dims *shape,
		       const pld_dims *valid)
{
	char of[PLD_DIMS_TEXT_BYTES], got[PLD_DIMS_TEXT_BYTES];
	bool fits = valid->ndim == shape->ndim && shape->ndim <= PLD_MAX_DIMS;

	for (int i = 0; fits && i < shape->ndim; i++)
		fits = valid->n[i] >= 1 && valid->n[i] <= shape->n[i];
	if (!fits)
		return pld_error(EINVAL,
				 "%s: valid_shape is %s, wanted 1 to shape's %s",
				 op, pld_dims_text(*valid, got),
				 pld_dims_text(*shape, of));
	return 0;
}

/* Makes the tile hold that shape, dense, of which valid is to be filled. */
static int shape_tile(const char *op, pld_tile *tile, const pld_dims *shape,
		      const pld_dims *valid, pld_dtype dtype)
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
	tile->shape = *shape;
	tile->valid_shape = *valid;
	pld_dims_strides(shape, 1, tile->stride);
	if (!pld_dims_equal(shape, valid))
		memset(tile->data, 0, bytes);
	return 0;
}

static void fill_tile(pld_tile *tile, const pld_view *from, char *data,
		      const pld_dims *offsets)
{
	struct pld_region src = pld_region_at(from, data, offsets);
	struct pld_region dst = pld_region_of(tile, tile->data);

	pld_region_copy(&dst, &src, &tile->valid_shape,
			(size_t)pld_dtype_bytes(tile->dtype));
}

/* What of a tile holds data, in *valid. */
static int check_tile(const char *op, const pld_tile *tile,
		      const char *argument, const pld_view *to,
		      const pld_dims *offsets, const pld_dims **valid)
{
	if (tile->dtype != to->dtype)
		return pld_error(EINVAL,
				 "%s: dtype of tile is %s, wanted the %s's %s",
				 op, pld_dtype_text(tile->dtype), argument,
				 pld_dtype_text(to->dtype));
	*valid = &tile->shape;
	if (tile->valid_shape.ndim) {
		PLD_TRY(check_valid(op, &tile->shape, &tile->valid_shape));
		*valid = &tile->valid_shape;
	}
	return pld_dims_within(op, argument, to, offsets, *valid);
}

static int load(const char *op, const pld_view *tensor, const pld_dims *offsets,
		const pld_dims *shape, const pld_dims *valid, pld_tile *tile)
{
	PLD_TRY(pld_view_check(op, "tensor", tensor, PLD_ACCEPT_TENSORS));
	PLD_TRY(enter(op, tensor));
	PLD_TRY(pld_dims_within(op, "tensor", tensor, offsets, valid));
	PLD_TRY(shape_tile(op, tile, shape, valid, tensor->dtype));
	fill_tile(tile, tensor, tensor->data, offsets);
	if (pld_observed())
		pld_observe_load(tensor, *offsets, tile);
	return 0;
}

int pld_load(const pld_view *tensor, pld_dims offsets, pld_dims shape,
	     pld_tile *tile)
{
	return load("pl.load", tensor, &offsets, &shape, &shape, tile);
}

int pld_load_valid(const pld_view *tensor, pld_dims offsets, pld_dims shape,
		   pld_dims valid_shape, pld_tile *tile)
{
	PLD_TRY(check_valid("pl.load", &shape, &valid_shape));
	return load("pl.load", tensor, &offsets, &shape, &valid_shape, tile);
}

int pld_store(const pld_tile *tile, pld_dims offsets, const pld_view *tensor)
{
	static const char op[] = "pl.store";
	struct pld_region dst, src;
	const pld_dims *valid;

	PLD_TRY(pld_view_check(op, "tile", tile, PLD_ACCEPT(PLD_TILE)));
	PLD_TRY(pld_view_check(op, "tensor", tensor, PLD_ACCEPT_TENSORS));
	PLD_TRY(enter(op, tensor));
	PLD_TRY(check_tile(op, tile, "tensor", tensor, &offsets, &valid));
	dst = pld_region_at(tensor, tensor->data, &offsets);
	src = pld_region_of(tile, tile->data);
	pld_region_copy(&dst, &src, valid, (size_t)pld_dtype_bytes(tile->dtype));
	if (pld_observed())
		pld_observe_store(tile, offsets, tensor);
	return 0;
}

static int remote_load(const pld_view *target, int peer,
		       const pld_dims *offsets, const pld_dims *shape,
		       const pld_dims *valid, pld_tile *tile)
{
	static const char op[] = "pld.tile.remote_load";

	PLD_TRY(pld_view_check(op, "target", target,
			       PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR)));
	PLD_TRY(pld_enter(target->buffer->domain, op));
	PLD_TRY(pld_peer_check(op, target->buffer->domain, peer));
	PLD_TRY(pld_dims_within(op, "target", target, offsets, valid));
	PLD_TRY(shape_tile(op, tile, shape, valid, target->dtype));
	fill_tile(tile, target, pld_peer_data(target, peer), offsets);
	if (pld_observed())
		pld_observe_remote_load(target, peer, *offsets, tile);
	return 0;
}

int pld_tile_remote_load(const pld_distributed_tensor *target, int peer,
			 pld_dims offsets, pld_dims shape, pld_tile *tile)
{
	return remote_load(target, peer, &offsets, &shape, &shape, tile);
}

int pld_tile_remote_load_valid(const pld_distributed_tensor *target, int peer,
			       pld_dims offsets, pld_dims shape,
			       pld_dims valid_shape, pld_tile *tile)
{
	PLD_TRY(check_valid("pld.tile.remote_load", &shape, &valid_shape));
	return remote_load(target, peer, &offsets, &shape, &valid_shape, tile);
}

int pld_tile_remote_store(const pld_tile *tile,
			  const pld_distributed_tensor *target, int peer,
			  pld_dims offsets, pld_atomic_type atomic)
{
	static const char op[] = "pld.tile.remote_store";
	struct pld_region dst, src;
	const pld_dims *valid;

	PLD_TRY(pld_view_check(op, "tile", tile, PLD_ACCEPT(PLD_TILE)));
	PLD_TRY(pld_view_check(op, "target", target,
			       PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR)));
	PLD_TRY(pld_enter(target->buffer->domain, op));
	PLD_TRY(pld_peer_check(op, target->buffer->domain, peer));
	PLD_TRY(check_tile(op, tile, "target", target, &offsets, &valid));
	PLD_TRY(pld_atomic_check(op, atomic, target->dtype,
				 pld_peer_data(target, peer)));
	dst = pld_region_at(target, pld_peer_data(target, peer), &offsets);
	src = pld_region_of(tile, tile->data);
	pld_region_write(&dst, &src, valid, target->dtype, atomic);
	if (pld_observed())
		pld_observe_remote_store(tile, target, peer, offsets, atomic);
	return 0;
}
