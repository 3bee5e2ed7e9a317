// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pl.load, pl.store, pld.tile.remote_load and pld.tile.remote_store: between a
 * tensor and a tile. Each has a short way for one run of bytes with nothing wrong,
 * known at one look; any other region, and each refusal with its sentence, goes
 * the long way.
 */
#include <errno.h>
#include <string.h>

#include "add.h"
#include "copy.h"
#include "dims.h"
#include "dtype.h"
#include "domain.h"
#include "error.h"
#include "health.h"
#include "observe.h"
#include "region.h"
#include "run.h"
#include "staged.h"
#include "view.h"

static int enter(const char *op, const pld_view *view)
{
	return view->kind == PLD_DISTRIBUTED_TENSOR
		       ? pld_enter(view->buffer->domain, op)
		       : 0;
}

static inline bool has_room(const pld_tile *tile, const struct pld_run *run)
{
	return tile && tile->kind == PLD_TILE && tile->data &&
	       run->bytes <= tile->bytes;
}

/* Is what a tile holds all of its shape, one element after another, and of the dtype? */
static inline bool is_full(const pld_tile *tile, pld_dtype dtype,
			   const struct pld_run *run)
{
	const pld_dims *shape = &tile->shape, *valid = &tile->valid_shape;
	int64_t count = 1;

	if (!has_room(tile, run) || tile->dtype != dtype ||
	    (valid->ndim && valid->ndim != shape->ndim))
		return false;
	for (int i = shape->ndim - 1; i >= 0; i--) {
		int64_t n = shape->n[i], stride = tile->stride[i];

		if ((n == 1 ? stride < 0 : stride != count) ||
		    (valid->ndim && valid->n[i] != n))
			return false;
		count *= n;
	}
	return true;
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

static inline void set_shape(pld_tile *tile, const pld_dims *shape,
			     const pld_dims *valid, pld_dtype dtype)
{
	tile->dtype = dtype;
	tile->shape = *shape;
	tile->valid_shape = *valid;
	pld_dims_strides(shape, 1, tile->stride);
}

/* Fills the tile with a run, which data is the view's first element of. */
static inline void load_run(pld_tile *tile, const pld_dims *shape,
			    pld_dtype dtype, const char *data,
			    const struct pld_run *run)
{
	set_shape(tile, shape, shape, dtype);
	pld_copy(tile->data, data + run->before, run->bytes, 4 * run->bytes);
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
	set_shape(tile, shape, valid, dtype);
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

/* What is refused, and what is no run. By itself, so that the short way is short. */
__attribute__((noinline)) static int
load_any(const char *op, const pld_view *tensor, const pld_dims *offsets,
	 const pld_dims *shape, const pld_dims *valid, pld_tile *tile)
{
	PLD_TRY(pld_view_check(op, "tensor", tensor, PLD_ACCEPT_TENSORS));
	PLD_TRY(enter(op, tensor));
	PLD_TRY(pld_dims_within(op, "tensor", tensor, offsets, valid));
	PLD_TRY(shape_tile(op, tile, shape, valid, tensor->dtype));
	fill_tile(tile, tensor, tensor->data, offsets);
	return 0;
}

static inline int load(const char *op, const pld_view *tensor,
		       const pld_dims *offsets, const pld_dims *shape,
		       const pld_dims *valid, pld_tile *tile)
{
	struct pld_run run;

	if (shape == valid &&
	    pld_find_run(tensor, PLD_ACCEPT_TENSORS, offsets, shape, &run) &&
	    has_room(tile, &run))
		load_run(tile, shape, tensor->dtype, tensor->data, &run);
	else
		PLD_TRY(load_any(op, tensor, offsets, shape, valid, tile));
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

/* The same of a store. */
__attribute__((noinline)) static int store_any(const char *op,
					       const pld_tile *tile,
					       const pld_dims *offsets,
					       const pld_view *tensor)
{
	struct pld_region dst, src;
	const pld_dims *valid;

	PLD_TRY(pld_view_check(op, "tile", tile, PLD_ACCEPT(PLD_TILE)));
	PLD_TRY(pld_view_check(op, "tensor", tensor, PLD_ACCEPT_TENSORS));
	PLD_TRY(enter(op, tensor));
	PLD_TRY(check_tile(op, tile, "tensor", tensor, offsets, &valid));
	dst = pld_region_at(tensor, tensor->data, offsets);
	src = pld_region_of(tile, tile->data);
	pld_region_copy(&dst, &src, valid, (size_t)pld_dtype_bytes(tile->dtype));
	return 0;
}

/*
 * Whether a store is one of all that a peer will load: a tile that was allocated holds a
 * piece of who knows how much. A slice of one, which owns nothing, is not told from a tile
 * over memory of the caller's; that costs a look at the clock.
 */
static inline bool is_staged(const pld_tile *tile, const pld_view *to,
			     size_t bytes)
{
	return bytes >= PLD_STAGED_LEAST && bytes < PLD_PAST_CACHES &&
	       !tile->allocated && to->kind == PLD_DISTRIBUTED_TENSOR;
}

int pld_store(const pld_tile *tile, pld_dims offsets, const pld_view *tensor)
{
	struct pld_run run;
	char *to;

	if (tile &&
	    pld_find_run(tensor, PLD_ACCEPT_TENSORS, &offsets, &tile->shape,
			 &run) &&
	    is_full(tile, tensor->dtype, &run)) {
		to = (char *)tensor->data + run.before;
		if (__builtin_expect(is_staged(tile, tensor, run.bytes), 0))
			pld_copy_staged(tensor->buffer, to, tile->data,
					run.bytes);
		else
			pld_copy(to, tile->data, run.bytes, run.bytes);
	} else {
		PLD_TRY(store_any("pl.store", tile, &offsets, tensor));
	}
	if (pld_observed())
		pld_observe_store(tile, offsets, tensor);
	return 0;
}

/* The same of a remote_load. */
__attribute__((noinline)) static int
remote_load_any(const char *op, const pld_view *target, int peer,
		const pld_dims *offsets, const pld_dims *shape,
		const pld_dims *valid, pld_tile *tile)
{
	PLD_TRY(pld_view_check(op, "target", target,
			       PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR)));
	PLD_TRY(pld_enter(target->buffer->domain, op));
	PLD_TRY(pld_peer_check(op, target->buffer->domain, peer));
	PLD_TRY(pld_dims_within(op, "target", target, offsets, valid));
	PLD_TRY(shape_tile(op, tile, shape, valid, target->dtype));
	fill_tile(tile, target, pld_peer_data(target, peer), offsets);
	return 0;
}

static inline int remote_load(const pld_view *target, int peer,
			      const pld_dims *offsets, const pld_dims *shape,
			      const pld_dims *valid, pld_tile *tile)
{
	static const char op[] = "pld.tile.remote_load";
	struct pld_run run;

	if (shape == valid &&
	    pld_find_run(target, PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR), offsets,
			 shape, &run) &&
	    pld_is_peer(target->buffer->domain, peer) && has_room(tile, &run))
		load_run(tile, shape, target->dtype,
			 pld_peer_data(target, peer), &run);
	else
		PLD_TRY(remote_load_any(op, target, peer, offsets, shape, valid,
					tile));
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

/* The same of a remote_store, and what is added. */
__attribute__((noinline)) static int
remote_store_any(const pld_tile *tile, const pld_view *target, int peer,
		 const pld_dims *offsets, pld_atomic_type atomic)
{
	static const char op[] = "pld.tile.remote_store";
	struct pld_region dst, src;
	const pld_dims *valid;

	PLD_TRY(pld_view_check(op, "tile", tile, PLD_ACCEPT(PLD_TILE)));
	PLD_TRY(pld_view_check(op, "target", target,
			       PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR)));
	PLD_TRY(pld_enter(target->buffer->domain, op));
	PLD_TRY(pld_peer_check(op, target->buffer->domain, peer));
	PLD_TRY(check_tile(op, tile, "target", target, offsets, &valid));
	PLD_TRY(pld_atomic_check(op, atomic, target->dtype,
				 pld_peer_data(target, peer)));
	dst = pld_region_at(target, pld_peer_data(target, peer), offsets);
	src = pld_region_of(tile, tile->data);
	pld_region_write(&dst, &src, valid, target->dtype, atomic);
	return 0;
}

int pld_tile_remote_store(const pld_tile *tile,
			  const pld_distributed_tensor *target, int peer,
			  pld_dims offsets, pld_atomic_type atomic)
{
	struct pld_run run;

	if (tile && atomic == PLD_NONE &&
	    pld_find_run(target, PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR), &offsets,
			 &tile->shape, &run) &&
	    pld_is_peer(target->buffer->domain, peer) &&
	    is_full(tile, target->dtype, &run))
		pld_copy(pld_peer_data(target, peer) + run.before, tile->data,
			 run.bytes, run.bytes);
	else
		PLD_TRY(remote_store_any(tile, target, peer, &offsets, atomic));
	if (pld_observed())
		pld_observe_remote_store(tile, target, peer, offsets, atomic);
	return 0;
}
