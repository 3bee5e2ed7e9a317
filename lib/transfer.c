// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Data streams through the stage in chunks, in the order of their addresses. A
 * chunk is a box of the region: chunk_rows by chunk_cols of the last two
 * dimensions, or as many whole inner dimensions as the stage holds.
 */
#include <errno.h>

#include "add.h"
#include "dims.h"
#include "dtype.h"
#include "domain.h"
#include "error.h"
#include "region.h"
#include "stage.h"
#include "transfer.h"
#include "view.h"

/* Offsets [0, ...] and the whole shape, unless there is a subregion. */
static int resolve(struct pld_transfer *t)
{
	char want[PLD_DIMS_TEXT_BYTES], got[PLD_DIMS_TEXT_BYTES];
	pld_put_options *at = &t->at;
	int given = !!at->dst_offsets.ndim + !!at->src_offsets.ndim +
		    !!at->shape.ndim;

	if (given == 3)
		return 0;
	if (given)
		return pld_error(EINVAL,
				 "%s: dst_offsets, src_offsets and shape come together or not at all, got %d of them",
				 t->op, given);
	if (!pld_dims_equal(t->dst->shape, t->src->shape))
		return pld_error(EINVAL,
				 "%s: shape of src is %s, wanted dst's %s",
				 t->op, pld_dims_text(t->src->shape, got),
				 pld_dims_text(t->dst->shape, want));
	at->shape = t->dst->shape;
	at->dst_offsets.ndim = t->dst->shape.ndim;
	at->src_offsets.ndim = t->dst->shape.ndim;
	return 0;
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
static pld_dims wanted_chunk(const pld_put_options *at)
{
	int last = at->shape.ndim - 1;
	pld_dims chunk = { .ndim = at->shape.ndim, .n = { 1, 1, 1, 1, 1 } };

	chunk.n[last] = clip(at->chunk_cols, at->shape.n[last]);
	if (last > 0)
		chunk.n[last - 1] = clip(at->chunk_rows, at->shape.n[last - 1]);
	return chunk;
}

/* The largest box of whole inner dimensions that the stage holds. */
static pld_dims fitting_chunk(const pld_put_options *at, int64_t fits)
{
	pld_dims chunk = { .ndim = at->shape.ndim, .n = { 1, 1, 1, 1, 1 } };

	for (int i = at->shape.ndim - 1; i >= 0 && fits > 0; i--) {
		chunk.n[i] = clip(fits, at->shape.n[i]);
		fits /= at->shape.n[i];
	}
	return chunk;
}

static bool has_chunk(const pld_put_options *at)
{
	return at->chunk_rows || at->chunk_cols;
}

static pld_dims chunk_of(const struct pld_transfer *t, size_t size)
{
	return has_chunk(&t->at)
		       ? wanted_chunk(&t->at)
		       : fitting_chunk(&t->at,
				       (int64_t)(t->at.stage->bytes / size));
}

static int check_chunk(const struct pld_transfer *t, size_t size)
{
	const pld_put_options *at = &t->at;
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
	if (at->shape.ndim == 1 && at->chunk_rows > 1)
		return pld_error(EINVAL,
				 "%s: chunk_rows is %lld, wanted 0 or 1 for one dimension",
				 t->op, (long long)at->chunk_rows);
	chunk = wanted_chunk(at);
	bytes = (size_t)pld_region_count(chunk) * size;
	if (bytes > at->stage->bytes / (at->pipeline ? 2 : 1))
		return pld_error(ENOSPC,
				 "%s: %s %s of %zu bytes do not fit the stage of %zu",
				 t->op, at->pipeline ? "two chunks" : "chunks",
				 pld_dims_text(chunk, text), bytes,
				 at->stage->bytes);
	return 0;
}

static struct pld_region destination(const struct pld_transfer *t)
{
	return pld_region_at(t->dst, t->dst_data, t->at.dst_offsets);
}

static struct pld_region source(const struct pld_transfer *t)
{
	return pld_region_at(t->src, t->src_data, t->at.src_offsets);
}

/* Chunks would read what earlier ones have written. */
static int check_overlap(const struct pld_transfer *t, size_t size)
{
	struct pld_region to = destination(t), from = source(t);

	if (pld_region_overlap(&to, &from, t->at.shape, size))
		return pld_error(EINVAL, "%s: src and dst overlap", t->op);
	return 0;
}

int pld_transfer_check(struct pld_transfer *t)
{
	int size = pld_dtype_size(t->dst->dtype);

	if (t->src->dtype != t->dst->dtype)
		return pld_error(EINVAL,
				 "%s: dtype of src is %s, wanted dst's %s",
				 t->op, pld_dtype_text(t->src->dtype),
				 pld_dtype_text(t->dst->dtype));
	PLD_TRY(resolve(t));
	PLD_TRY(pld_dims_within(t->op, "dst", t->dst, t->at.dst_offsets,
				t->at.shape));
	PLD_TRY(pld_dims_within(t->op, "src", t->src, t->at.src_offsets,
				t->at.shape));
	PLD_TRY(pld_atomic_check(t->op, t->at.atomic, t->dst->dtype,
				 t->dst_data));
	if (!t->at.stage)
		PLD_TRY(pld_stage(t->op, t->domain, &t->at.stage));
	PLD_TRY(check_stage(t->op, t->at.stage, size));
	PLD_TRY(check_chunk(t, (size_t)size));
	return check_overlap(t, (size_t)size);
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
	const pld_dims *shape = &s->transfer->at.shape;

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
	const pld_dims *shape = &s->transfer->at.shape;
	pld_dims chunk = s->chunk;

	for (int i = 0; i < chunk.ndim; i++)
		if (chunk.n[i] > shape->n[i] - at.n[i])
			chunk.n[i] = shape->n[i] - at.n[i];
	return chunk;
}

static void fill(const struct stream *s, pld_dims at, char *stage)
{
	pld_dims shape = chunk_shape(s, at);
	struct pld_region tile = pld_region_dense(stage, shape);
	struct pld_region from = pld_region_moved(&s->src, at, s->size);

	pld_region_copy(&tile, &from, shape, s->size);
}

static void drain(const struct stream *s, pld_dims at, char *stage)
{
	pld_dims shape = chunk_shape(s, at);
	struct pld_region tile = pld_region_dense(stage, shape);
	struct pld_region to = pld_region_moved(&s->dst, at, s->size);

	pld_region_write(&to, &tile, shape, s->transfer->dst->dtype,
			 s->transfer->at.atomic);
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

void pld_transfer_run(const struct pld_transfer *t)
{
	struct stream s = {
		.transfer = t,
		.dst = destination(t),
		.src = source(t),
		.size = (size_t)pld_dtype_size(t->dst->dtype),
	};
	char *stage = t->at.stage->data;

	s.chunk = chunk_of(t, s.size);
	run_stream(&s, stage,
		   t->at.pipeline
			   ? stage + (size_t)pld_region_count(s.chunk) * s.size
			   : stage);
}
