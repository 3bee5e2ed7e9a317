// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Data goes straight from the source to the destination, unless the caller gives
 * a stage, or says how it is to be cut: then it streams through a stage in chunks,
 * in the order of their addresses. A chunk is a box of the region: chunk_rows by
 * chunk_cols of the last two dimensions, or as many whole inner dimensions as the
 * stage holds.
 */
#include <errno.h>

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
#include "stage.h"
#include "transfer.h"
#include "view.h"

/*
 * What is put to all ranks goes to each in blocks, which are read from memory once
 * and from a cache for every further rank. A block and what is written of it meanwhile
 * fit half of a small core's second cache (512 KiB).
 */
#define BLOCK_BYTES ((size_t)128 << 10)

const pld_put_options pld_put_defaults;

static int bad_dtype(const struct pld_transfer *t)
{
	return pld_error(EINVAL, "%s: dtype of src is %s, wanted dst's %s",
			 t->op, pld_dtype_text(t->src->dtype),
			 pld_dtype_text(t->dst->dtype));
}

static int bad_shape(const struct pld_transfer *t)
{
	char want[PLD_DIMS_TEXT_BYTES], got[PLD_DIMS_TEXT_BYTES];

	return pld_error(EINVAL, "%s: shape of src is %s, wanted dst's %s",
			 t->op, pld_dims_text(t->src->shape, got),
			 pld_dims_text(t->dst->shape, want));
}

/* Offsets [0, ...] and the whole shape, unless there is a subregion. */
static int resolve(struct pld_transfer *t)
{
	const pld_put_options *at = t->options;
	int given = !!at->dst_offsets.ndim + !!at->src_offsets.ndim +
		    !!at->shape.ndim;

	if (given == 0) {
		if (!pld_dims_equal(&t->dst->shape, &t->src->shape))
			return bad_shape(t);
		t->shape = &t->dst->shape;
		t->dst_offsets = &pld_origins[t->shape->ndim];
		t->src_offsets = t->dst_offsets;
		return 0;
	}
	if (given != 3)
		return pld_error(EINVAL,
				 "%s: dst_offsets, src_offsets and shape come together or not at all, got %d of them",
				 t->op, given);
	t->shape = &at->shape;
	t->dst_offsets = &at->dst_offsets;
	t->src_offsets = &at->src_offsets;
	PLD_TRY(pld_dims_within(t->op, "dst", t->dst, t->dst_offsets, t->shape));
	return pld_dims_within(t->op, "src", t->src, t->src_offsets, t->shape);
}

static int check_stage(const char *op, const pld_tile *stage, int size)
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

static int check_chunk_extent(const char *op, const char *name, int64_t extent)
{
	if (extent < 0)
		return pld_error(EINVAL, "%s: %s is %lld, wanted 0 or more", op,
				 name, (long long)extent);
	return 0;
}

/* How much of one dimension passes at a time; 0 is all. */
static int64_t clip(int64_t extent, int64_t whole)
{
	return extent && extent < whole ? extent : whole;
}

/* The box that the caller asks for. */
static pld_dims wanted_chunk(const struct pld_transfer *t)
{
	const pld_put_options *at = t->options;
	int last = t->shape->ndim - 1;
	pld_dims chunk = { .ndim = t->shape->ndim, .n = { 1, 1, 1, 1, 1 } };

	chunk.n[last] = clip(at->chunk_cols, t->shape->n[last]);
	if (last > 0)
		chunk.n[last - 1] = clip(at->chunk_rows, t->shape->n[last - 1]);
	return chunk;
}

/* The largest box of whole inner dimensions that the stage holds. */
static pld_dims fitting_chunk(const pld_dims *shape, int64_t fits)
{
	pld_dims chunk = { .ndim = shape->ndim, .n = { 1, 1, 1, 1, 1 } };

	for (int i = shape->ndim - 1; i >= 0 && fits > 0; i--) {
		chunk.n[i] = clip(fits, shape->n[i]);
		fits /= shape->n[i];
	}
	return chunk;
}

static bool has_chunk(const pld_put_options *at)
{
	return at->chunk_rows || at->chunk_cols;
}

static pld_dims chunk_of(const struct pld_transfer *t, size_t size)
{
	return has_chunk(t->options)
		       ? wanted_chunk(t)
		       : fitting_chunk(t->shape,
				       (int64_t)(t->stage->bytes / size));
}

/* The chunks that the caller asks for, if it does. */
static int check_chunk(const struct pld_transfer *t, size_t size)
{
	const pld_put_options *at = t->options;
	char text[PLD_DIMS_TEXT_BYTES];
	pld_dims chunk;
	size_t bytes;

	PLD_TRY(check_chunk_extent(t->op, "chunk_rows", at->chunk_rows));
	PLD_TRY(check_chunk_extent(t->op, "chunk_cols", at->chunk_cols));
	if (at->pipeline && !(at->chunk_rows && at->chunk_cols))
		return pld_error(EINVAL,
				 "%s: pipeline needs chunk_rows and chunk_cols above 0, got %lld and %lld",
				 t->op, (long long)at->chunk_rows,
				 (long long)at->chunk_cols);
	if (!has_chunk(at))
		return 0;
	if (t->shape->ndim == 1 && at->chunk_rows > 1)
		return pld_error(EINVAL,
				 "%s: chunk_rows is %lld, wanted 0 or 1 for one dimension",
				 t->op, (long long)at->chunk_rows);
	chunk = wanted_chunk(t);
	bytes = (size_t)pld_dims_count(&chunk) * size;
	if (bytes > t->stage->bytes / (at->pipeline ? 2 : 1))
		return pld_error(ENOSPC,
				 "%s: %s %s of %zu bytes do not fit the stage of %zu",
				 t->op, at->pipeline ? "two chunks" : "chunks",
				 pld_dims_text(chunk, text), bytes,
				 t->stage->bytes);
	return 0;
}

static bool is_staged(const pld_put_options *at)
{
	return at->stage || has_chunk(at) || at->pipeline;
}

/* The stage that the caller gives, or the thread's own, and what passes it. */
static int set_stage(struct pld_transfer *t)
{
	int size = pld_dtype_bytes(t->dst->dtype);

	t->stage = t->options->stage;
	if (!t->stage)
		PLD_TRY(pld_stage(t->op, t->domain, &t->stage));
	PLD_TRY(check_stage(t->op, t->stage, size));
	return check_chunk(t, (size_t)size);
}

int pld_transfer_check(struct pld_transfer *t)
{
	const pld_put_options *at = t->options;

	if (t->src->dtype != t->dst->dtype)
		return bad_dtype(t);
	PLD_TRY(resolve(t));
	if (at->atomic != PLD_NONE)
		PLD_TRY(pld_atomic_check(t->op, at->atomic, t->dst->dtype,
					 t->dst_data));
	return is_staged(at) ? set_stage(t) : 0;
}

static struct pld_region destination(const struct pld_transfer *t)
{
	return pld_region_at(t->dst, t->dst_data, t->dst_offsets);
}

static struct pld_region source(const struct pld_transfer *t)
{
	return pld_region_at(t->src, t->src_data, t->src_offsets);
}

static int overlapping(const struct pld_transfer *t)
{
	return pld_error(EINVAL, "%s: src and dst overlap", t->op);
}

/* A walk over the chunks of a region. */
struct stream {
	const struct pld_transfer *transfer;
	struct pld_region dst, src;
	pld_dims chunk;
	size_t size;
};

/* The next chunk's first element in the order of addresses; false at the end. */
static bool advance(const struct stream *s, pld_dims *at)
{
	const pld_dims *shape = s->transfer->shape;

	for (int i = shape->ndim - 1; i >= 0; i--) {
		at->n[i] += s->chunk.n[i];
		if (at->n[i] < shape->n[i])
			return true;
		at->n[i] = 0;
	}
	return false;
}

/* The chunk there, less at the edges. */
static pld_dims chunk_shape(const struct stream *s, pld_dims at)
{
	const pld_dims *shape = s->transfer->shape;
	pld_dims chunk = s->chunk;

	for (int i = 0; i < chunk.ndim; i++)
		if (chunk.n[i] > shape->n[i] - at.n[i])
			chunk.n[i] = shape->n[i] - at.n[i];
	return chunk;
}

static struct pld_region moved(const struct stream *s,
			       const struct pld_region *region,
			       const pld_dims *at)
{
	struct pld_region to = *region;

	for (int i = 0; i < at->ndim; i++)
		to.data += at->n[i] * region->stride[i] * (int64_t)s->size;
	return to;
}

static void fill(const struct stream *s, pld_dims at, char *stage)
{
	pld_dims shape = chunk_shape(s, at);
	int64_t dense[PLD_MAX_DIMS];
	struct pld_region tile = { stage, dense };
	struct pld_region from = moved(s, &s->src, &at);

	pld_dims_strides(&shape, 1, dense);
	pld_region_copy(&tile, &from, &shape, s->size);
}

static void drain(const struct stream *s, pld_dims at, char *stage)
{
	pld_dims shape = chunk_shape(s, at);
	int64_t dense[PLD_MAX_DIMS];
	struct pld_region tile = { stage, dense };
	struct pld_region to = moved(s, &s->dst, &at);

	pld_dims_strides(&shape, 1, dense);
	pld_region_write(&to, &tile, &shape, s->transfer->dst->dtype,
			 s->transfer->options->atomic);
}

/* With a second half of the stage, the next chunk is in before this is out. */
static void run_stream(const struct stream *s, char *stage, char *other)
{
	pld_dims at = { .ndim = s->chunk.ndim }, next = at;
	bool more;

	fill(s, at, stage);
	do {
		char *filled = stage;

		more = advance(s, &next);
		if (more && other != stage) {
			fill(s, next, other);
			stage = other;
			other = filled;
		}
		drain(s, at, filled);
		if (more && other == stage)
			fill(s, next, stage);
		at = next;
	} while (more);
}

static void run_staged(const struct pld_transfer *t,
		       const struct pld_region *dst,
		       const struct pld_region *src, size_t size)
{
	struct stream s = {
		.transfer = t,
		.dst = *dst,
		.src = *src,
		.chunk = chunk_of(t, size),
		.size = size,
	};
	char *stage = t->stage->data;

	run_stream(&s, stage,
		   t->options->pipeline
			   ? stage + (size_t)pld_dims_count(&s.chunk) * size
			   : stage);
}

/* Of any strides, or through a stage. */
static int run_regions(const struct pld_transfer *t,
		       const struct pld_region *dst,
		       const struct pld_region *src, size_t size)
{
	if (pld_region_overlap(dst, src, t->shape, size))
		return overlapping(t);
	if (t->stage)
		run_staged(t, dst, src, size);
	else
		pld_region_write(dst, src, t->shape, t->dst->dtype,
				 t->options->atomic);
	return 0;
}

/* Straight: n elements, which lie one after another on both sides. */
static int run_at_once(const struct pld_transfer *t, char *dst, const char *src,
		       size_t n, size_t size)
{
	size_t bytes = n * size;

	if (pld_runs_overlap(dst, src, bytes))
		return overlapping(t);
	if (t->options->atomic == PLD_ADD)
		pld_add_run(dst, src, n, t->dst->dtype);
	else
		pld_copy(dst, src, bytes, bytes);
	return 0;
}

int pld_transfer_run(const struct pld_transfer *t)
{
	struct pld_region dst = destination(t), src = source(t);
	size_t size = (size_t)pld_dtype_bytes(t->dst->dtype);
	int outer;
	size_t n = (size_t)pld_region_run(&dst, &src, t->shape, &outer);

	if (outer || t->stage)
		return run_regions(t, &dst, &src, size);
	return run_at_once(t, dst.data, src.data, n, size);
}

/* One whole put after the other, in the order that somebody who looks on sees. */
static int to_each(struct pld_transfer *t)
{
	for (int peer = 0; peer < t->domain->nranks; peer++) {
		PLD_TRY(pld_enter(t->domain, t->op));
		t->dst_data = pld_peer_data(t->dst, peer);
		PLD_TRY(pld_transfer_run(t));
		if (pld_observed())
			pld_observe_transfer(t, true, peer);
	}
	return 0;
}

/*
 * A block to every rank, and then the next one. Each rank begins with the one
 * after itself, so that not all write to the same window.
 */
static int spread(const struct pld_transfer *t, char *own, const char *src,
		  size_t bytes)
{
	const pld_domain *domain = t->domain;
	int64_t stride = (int64_t)t->dst->buffer->stride;
	int me = domain->rank, nranks = domain->nranks;

	for (size_t at = 0; at < bytes; at += BLOCK_BYTES) {
		size_t n = bytes - at < BLOCK_BYTES ? bytes - at : BLOCK_BYTES;

		for (int i = 1; i <= nranks; i++) {
			int peer = me + i < nranks ? me + i : me + i - nranks;
			char *dst = own + (peer - me) * stride;

			PLD_TRY(pld_enter(domain, t->op));
			if (pld_runs_overlap(dst, src, bytes))
				return overlapping(t);
			pld_copy(dst + at, src + at, n, bytes * (size_t)nranks);
		}
	}
	return 0;
}

int pld_transfer_to_all(struct pld_transfer *t)
{
	size_t size = (size_t)pld_dtype_bytes(t->dst->dtype);
	struct pld_region dst, src = source(t);
	int64_t n;
	int outer;

	t->dst_data = t->dst->data;
	dst = destination(t);
	n = pld_region_run(&dst, &src, t->shape, &outer);
	if (outer || pld_observed())
		return to_each(t);
	return spread(t, dst.data, src.data, (size_t)n * size);
}
