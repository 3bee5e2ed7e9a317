// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Making and checking views.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dims.h"
#include "dtype.h"
#include "domain.h"
#include "error.h"
#include "health.h"
#include "view.h"

#define TILE_ALIGNMENT 128

const char *pld_kind_name(const pld_view *view)
{
	if (!view)
		return "NULL";
	switch (view->kind) {
	case PLD_TENSOR:
		return "Tensor";
	case PLD_DISTRIBUTED_TENSOR:
		return "DistributedTensor";
	case PLD_TILE:
		return "Tile";
	}
	return "no view";
}

static const char *kinds_name(unsigned int accepted)
{
	switch (accepted) {
	case PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR):
		return "a DistributedTensor";
	case PLD_ACCEPT(PLD_TILE):
		return "a Tile";
	case PLD_ACCEPT(PLD_TENSOR):
		return "a Tensor";
	case PLD_ACCEPT_TENSORS:
		return "a Tensor or DistributedTensor";
	default:
		return "a Tensor, DistributedTensor or Tile";
	}
}

int pld_view_refused(const char *op, const char *argument, const pld_view *view,
		     unsigned int accepted)
{
	size_t bytes;

	if (!pld_view_accepted(view, accepted))
		return pld_error(EINVAL, "%s: %s must be %s, got %s", op,
				 argument, kinds_name(accepted),
				 pld_kind_name(view));
	if (!pld_dtype_bytes(view->dtype) || view->shape.ndim < 1 ||
	    view->shape.ndim > PLD_MAX_DIMS)
		return pld_error(EINVAL,
				 "%s: %s holds nothing: it has no valid dtype and shape",
				 op, argument);
	bytes = pld_view_extent(view);
	if (!bytes || !view->data || bytes > view->bytes)
		return pld_error(EFAULT,
				 "%s: %s has a shape that does not lie in its memory of %zu bytes",
				 op, argument, view->bytes);
	if (!view->buffer)
		return pld_error(EFAULT, "%s: %s has no window buffer", op,
				 argument);
	return pld_error(EFAULT,
			 "%s: %s points outside the own window of %zu bytes",
			 op, argument, view->buffer->bytes);
}

int pld_peer_refused(const char *op, const pld_domain *domain, int peer)
{
	return pld_error(ERANGE, "%s: peer is %d, wanted 0 to %d", op, peer,
			 domain->nranks - 1);
}

int pld_get_comm_ctx(const pld_distributed_tensor *tensor, pld_domain **domain)
{
	PLD_TRY(pld_view_check("pld.get_comm_ctx", "argument", tensor,
			       PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR)));
	if (!domain)
		return pld_error(EINVAL,
				 "pld.get_comm_ctx: domain must not be NULL");
	PLD_TRY(pld_enter(tensor->buffer->domain, "pld.get_comm_ctx"));
	*domain = tensor->buffer->domain;
	return 0;
}

static int window_fits(const pld_window_buffer *buffer, pld_dims shape,
		       pld_dtype dtype, size_t bytes)
{
	char text[PLD_DIMS_TEXT_BYTES];

	if (!buffer->cells) {
		if (bytes <= buffer->bytes)
			return 0;
		return pld_error(EINVAL,
				 "pld.window: shape %s of %s needs %zu bytes, the buffer has %zu",
				 pld_dims_text(shape, text),
				 pld_dtype_text(dtype), bytes, buffer->bytes);
	}
	if (dtype != PLD_INT32)
		return pld_error(EINVAL,
				 "pld.window: dtype of a signal is %s, wanted int32",
				 pld_dtype_text(dtype));
	if ((int64_t)(bytes / sizeof(int32_t)) > buffer->cells)
		return pld_error(EINVAL,
				 "pld.window: shape %s needs %zu cells, the signal has %lld",
				 pld_dims_text(shape, text),
				 bytes / sizeof(int32_t),
				 (long long)buffer->cells);
	return 0;
}

int pld_window(pld_window_buffer *buffer, pld_dims shape, pld_dtype dtype,
	       pld_distributed_tensor *tensor)
{
	size_t bytes;

	if (!buffer || !tensor)
		return pld_error(EINVAL,
				 "pld.window: buffer and tensor must not be NULL");
	PLD_TRY(pld_enter(buffer->domain, "pld.window"));
	PLD_TRY(pld_dims_bytes("pld.window", &shape, dtype, &bytes));
	PLD_TRY(window_fits(buffer, shape, dtype, bytes));
	*tensor = (pld_view){
		.kind = PLD_DISTRIBUTED_TENSOR,
		.dtype = dtype,
		.shape = shape,
		.data = pld_own_base(buffer),
		.bytes = buffer->bytes,
		.buffer = buffer,
	};
	pld_dims_strides(&shape,
			 buffer->cells ? PLD_CELL_STRIDE / sizeof(int32_t) : 1,
			 tensor->stride);
	return 0;
}

/* A dense view of the caller's memory. */
static int init(const char *op, pld_view *view, const char *argument,
		pld_kind kind, void *data, const pld_dims *shape,
		pld_dtype dtype)
{
	size_t bytes;

	if (!view || !data)
		return pld_error(EINVAL, "%s: %s and data must not be NULL", op,
				 argument);
	PLD_TRY(pld_dims_bytes(op, shape, dtype, &bytes));
	/* One by one: a compiler clears the rest by a string instruction, a slow one. */
	view->kind = kind;
	view->dtype = dtype;
	view->shape = *shape;
	view->data = data;
	view->bytes = bytes;
	view->buffer = NULL;
	view->valid_shape.ndim = 0;
	view->allocated = NULL;
	view->name = NULL;
	pld_dims_strides(shape, 1, view->stride);
	return 0;
}

int pld_tensor_init(pld_tensor *tensor, void *data, pld_dims shape,
		    pld_dtype dtype)
{
	return init("pld_tensor_init", tensor, "tensor", PLD_TENSOR, data,
		    &shape, dtype);
}

int pld_tile_init(pld_tile *tile, void *data, pld_dims shape, pld_dtype dtype)
{
	static const char op[] = "pld_tile_init";
	int bytes = pld_dtype_bytes(dtype);

	/* Every type's size is a power of two. */
	if (bytes && (uintptr_t)data & (uintptr_t)(bytes - 1))
		return pld_error(EINVAL,
				 "%s: data is %p, wanted a multiple of %s's %d bytes",
				 op, data, pld_dtype_text(dtype), bytes);
	return init(op, tile, "tile", PLD_TILE, data, &shape, dtype);
}

int pld_slice(const pld_view *view, pld_dims offsets, pld_dims shape,
	      pld_view *part)
{
	static const char op[] = "pld_slice";
	size_t before;

	if (!part)
		return pld_error(EINVAL, "%s: part must not be NULL", op);
	PLD_TRY(pld_view_check(op, "view", view, PLD_ACCEPT_ALL));
	PLD_TRY(pld_dims_within(op, "view", view, &offsets, &shape));
	before = (size_t)pld_dims_index(view, &offsets) *
		 (size_t)pld_dtype_size(view->dtype);
	if (part != view) {
		*part = *view;
		part->allocated = NULL;
	}
	part->data = (char *)view->data + before;
	part->bytes -= before;
	part->shape = shape;
	part->valid_shape = (pld_dims){ 0 };
	return 0;
}

int pld_set_strides(pld_view *view, pld_dims strides)
{
	static const char op[] = "pld_set_strides";
	char text[PLD_DIMS_TEXT_BYTES];
	pld_view changed;

	PLD_TRY(pld_view_check(op, "view", view, PLD_ACCEPT_ALL));
	if (strides.ndim != view->shape.ndim)
		return pld_error(EINVAL,
				 "%s: %d strides for the %d dimensions of view",
				 op, strides.ndim, view->shape.ndim);
	changed = *view;
	for (int i = 0; i < strides.ndim; i++) {
		if (strides.n[i] < 0)
			return pld_error(EINVAL,
					 "%s: strides are %s, wanted 0 or more",
					 op, pld_dims_text(strides, text));
		changed.stride[i] = strides.n[i];
	}
	PLD_TRY(pld_view_check(op, "view", &changed, PLD_ACCEPT_ALL));
	*view = changed;
	return 0;
}

int pld_tile_alloc(pld_tile *tile, size_t bytes)
{
	void *data;

	if (!tile || !bytes)
		return pld_error(EINVAL,
				 "pld_tile_alloc: wanted a tile and at least 1 byte");
	if (posix_memalign(&data, TILE_ALIGNMENT, bytes))
		return pld_error(ENOMEM,
				 "pld_tile_alloc: no memory for a tile of %zu bytes",
				 bytes);
	*tile = (pld_view){
		.kind = PLD_TILE,
		.data = data,
		.bytes = bytes,
		.allocated = data,
	};
	return 0;
}

void pld_tile_free(pld_tile *tile)
{
	if (tile && tile->kind == PLD_TILE) {
		free(tile->allocated);
		memset(tile, 0, sizeof(*tile));
	}
}
