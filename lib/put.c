// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pld.tensor.put: the own src into the peer's dst, streamed through a tile.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "dims.h"
#include "domain.h"
#include "error.h"
#include "health.h"
#include "region.h"
#include "view.h"

static const char op[] = "pld.tensor.put";

/* Offsets [0, ...] and the whole shape, unless there is a subregion. */
static int resolve(const pld_view *dst, const pld_view *src,
		   const pld_put_options *options, pld_put_options *resolved)
{
	char want[PLD_DIMS_TEXT_BYTES], got[PLD_DIMS_TEXT_BYTES];
	int given = 0;

	*resolved = options ? *options : (pld_put_options){ 0 };
	given = !!resolved->dst_offsets.ndim + !!resolved->src_offsets.ndim +
		!!resolved->shape.ndim;
	if (given == 3)
		return 0;
	if (given)
		return pld_error(EINVAL,
				 "%s: dst_offsets, src_offsets and shape come together or not at all, got %d of them",
				 op, given);
	if (!pld_dims_equal(dst->shape, src->shape))
		return pld_error(EINVAL,
				 "%s: shape of src is %s, wanted dst's %s", op,
				 pld_dims_text(src->shape, got),
				 pld_dims_text(dst->shape, want));
	resolved->shape = dst->shape;
	resolved->dst_offsets.ndim = dst->shape.ndim;
	resolved->src_offsets.ndim = dst->shape.ndim;
	return 0;
}

static int check_views(const pld_view *dst, int peer, const pld_view *src)
{
	PLD_TRY(pld_view_check(op, "dst", dst,
			       PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR)));
	PLD_TRY(pld_enter(dst->buffer->domain, op));
	PLD_TRY(pld_view_check(op, "src", src, PLD_ACCEPT_TENSORS));
	PLD_TRY(pld_peer_check(op, dst->buffer->domain, peer));
	if (src->dtype != dst->dtype)
		return pld_error(EINVAL,
				 "%s: dtype of src is %s, wanted dst's %s", op,
				 pld_dtype_name(src->dtype),
				 pld_dtype_name(dst->dtype));
	return 0;
}

static int check_stage(const pld_tile *stage, int size)
{
	if (!stage || stage->kind != PLD_TILE)
		return pld_error(EINVAL, "%s: stage must be a Tile, got %s", op,
				 pld_kind_name(stage));
	if (!stage->data)
		return pld_error(EFAULT, "%s: stage has no memory", op);
	if (stage->bytes < (size_t)size)
		return pld_error(ENOSPC,
				 "%s: one element of %d bytes does not fit the stage of %zu",
				 op, size, stage->bytes);
	return 0;
}

static uintptr_t region_end(const struct pld_region *r, pld_dims shape, int size)
{
	int64_t last = 0;

	for (int i = 0; i < shape.ndim; i++)
		last += (shape.n[i] - 1) * r->stride[i];
	return (uintptr_t)r->data + (uintptr_t)((last + 1) * size);
}

/*
 * Do two regions of the same strides share an element? apart is the distance of
 * their first ones, in elements. Where the inner dimensions reach less far than
 * one step of the outer, only the steps next to apart can close it.
 */
static bool meet(int64_t apart, const int64_t *stride, pld_dims shape, int dim)
{
	int64_t near;

	if (dim == shape.ndim)
		return !apart;
	near = stride[dim] ? apart / stride[dim] : 0;
	for (int64_t by = near - 1; by <= near + 1; by++)
		if (by > -shape.n[dim] && by < shape.n[dim] &&
		    meet(apart - by * stride[dim], stride, shape, dim + 1))
			return true;
	return false;
}

/* Side by side in one tensor, regions interleave but do not overlap. */
static bool overlap(const struct pld_region *to, const struct pld_region *from,
		    pld_dims shape, int size)
{
	int64_t apart = (int64_t)((uintptr_t)to->data - (uintptr_t)from->data);

	if ((uintptr_t)to->data >= region_end(from, shape, size) ||
	    (uintptr_t)from->data >= region_end(to, shape, size))
		return false;
	if (apart % size || memcmp(to->stride, from->stride,
				   (size_t)shape.ndim * sizeof(*to->stride)))
		return true;
	return meet(apart / size, to->stride, shape, 0);
}

/* Chunks would read what earlier ones have written. */
static int check_overlap(const struct pld_region *to,
			 const struct pld_region *from, pld_dims shape, int size)
{
	if (overlap(to, from, shape, size))
		return pld_error(EINVAL, "%s: src and the peer's dst overlap",
				 op);
	return 0;
}

int pld_tensor_put(const pld_distributed_tensor *dst, int peer,
		   const pld_view *src, const pld_put_options *options)
{
	struct pld_region to, from;
	pld_put_options at;
	const pld_tile *stage;
	int size;

	PLD_TRY(check_views(dst, peer, src));
	PLD_TRY(resolve(dst, src, options, &at));
	PLD_TRY(pld_dims_within(op, "dst", dst, at.dst_offsets, at.shape));
	PLD_TRY(pld_dims_within(op, "src", src, at.src_offsets, at.shape));
	stage = at.stage ? at.stage : &dst->buffer->domain->stage;
	size = pld_dtype_size(dst->dtype);
	PLD_TRY(check_stage(stage, size));
	to = pld_region_at(dst, pld_peer_data(dst, peer), at.dst_offsets);
	from = pld_region_at(src, src->data, at.src_offsets);
	PLD_TRY(check_overlap(&to, &from, at.shape, size));
	pld_region_copy_staged(&to, &from, at.shape, (size_t)size, stage->data,
			       stage->bytes);
	return 0;
}
