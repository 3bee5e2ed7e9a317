// SPDX-License-Identifier: GPL-2.0
/*
 * pld.tensor.put. Rank 0 puts, and keeps a model of every rank's window, moved
 * one element at a time; after each call every byte of every window must be as
 * the model has it. So what a call must not change is checked with what it
 * must, and a refused call changes nothing.
 */
#include <limits.h>

#include "lib_golden.h"
#include "lib_test.h"

#define NRANKS 3
#define LAST_DTYPE PLD_UINT8
#define BYTES 2048
#define SEED_TENSOR 100

struct putter {
	pld_domain *domain;
	pld_window_buffer *buffer;
	pld_distributed_tensor bytes;
	pld_tile look;
	unsigned char memory[BYTES];
	unsigned char model[NRANKS][BYTES];
};

static int fill(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor bytes;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(BYTES), PLD_UINT8, &bytes));
	golden_fill(bytes.data, BYTES, (unsigned int)pld_rank(domain));
	return 0;
}

static int make_putter(struct putter *p, pld_domain *domain,
		       pld_window_buffer *buffer)
{
	p->domain = domain;
	p->buffer = buffer;
	golden_fill(p->memory, BYTES, SEED_TENSOR);
	for (int rank = 0; rank < NRANKS; rank++)
		golden_fill(p->model[rank], BYTES, (unsigned int)rank);
	PLD_TRY(pld_window(buffer, PLD_SHAPE(BYTES), PLD_UINT8, &p->bytes));
	return pld_tile_alloc(&p->look, BYTES);
}

static int check_windows(struct putter *p)
{
	for (int rank = 0; rank < NRANKS; rank++) {
		CHECK_EQ(0, pld_tile_remote_load(&p->bytes, rank, PLD_AT(0),
						 PLD_SHAPE(BYTES), &p->look));
		CHECK(!memcmp(p->model[rank], p->look.data, BYTES));
	}
	return 0;
}

struct region {
	pld_dims dst;
	pld_dims dst_offsets;
	pld_dims src;
	pld_dims src_offsets;
	pld_dims shape;
};

static const struct region regions[] = {
	{ PLD_SHAPE(1), PLD_AT(0), PLD_SHAPE(1), PLD_AT(0), PLD_SHAPE(1) },
	{ PLD_SHAPE(97), PLD_AT(0), PLD_SHAPE(97), PLD_AT(0), PLD_SHAPE(97) },
	{ PLD_SHAPE(97), PLD_AT(13), PLD_SHAPE(70), PLD_AT(3), PLD_SHAPE(67) },
	{ PLD_SHAPE(6, 11), PLD_AT(0, 0), PLD_SHAPE(6, 11), PLD_AT(0, 0),
	  PLD_SHAPE(6, 11) },
	{ PLD_SHAPE(6, 11), PLD_AT(2, 4), PLD_SHAPE(5, 7), PLD_AT(1, 0),
	  PLD_SHAPE(4, 7) },
	{ PLD_SHAPE(6, 11), PLD_AT(0, 10), PLD_SHAPE(9, 2), PLD_AT(3, 1),
	  PLD_SHAPE(6, 1) },
	{ PLD_SHAPE(3, 70), PLD_AT(1, 3), PLD_SHAPE(1, 64), PLD_AT(0, 0),
	  PLD_SHAPE(1, 64) },
	{ PLD_SHAPE(3, 4, 5), PLD_AT(0, 1, 2), PLD_SHAPE(4, 3, 3),
	  PLD_AT(1, 0, 0), PLD_SHAPE(3, 3, 3) },
	{ PLD_SHAPE(2, 3, 4, 5), PLD_AT(0, 0, 0, 0), PLD_SHAPE(2, 3, 4, 5),
	  PLD_AT(0, 0, 0, 0), PLD_SHAPE(2, 3, 4, 5) },
	{ PLD_SHAPE(2, 3, 4, 5), PLD_AT(1, 0, 1, 1), PLD_SHAPE(1, 3, 4, 3),
	  PLD_AT(0, 0, 1, 0), PLD_SHAPE(1, 3, 3, 3) },
	{ PLD_SHAPE(3, 2, 3, 3, 4), PLD_AT(1, 0, 1, 1, 1),
	  PLD_SHAPE(2, 2, 2, 2, 4), PLD_AT(0, 0, 0, 0, 1),
	  PLD_SHAPE(2, 2, 2, 2, 3) },
};

static int is_whole(const struct region *r)
{
	return golden_count(r->dst) == golden_count(r->shape) &&
	       golden_count(r->src) == golden_count(r->shape);
}

/* One put, its subregion left out where it is the whole. */
static int put_region(struct putter *p, const struct region *r, pld_dtype dtype,
		      int peer, const pld_tile *stage, int chunk)
{
	pld_put_options options = { .stage = stage,
				    .chunk_rows = chunk,
				    .chunk_cols = chunk };
	pld_distributed_tensor dst;
	pld_tensor src;

	if (!is_whole(r)) {
		options.dst_offsets = r->dst_offsets;
		options.src_offsets = r->src_offsets;
		options.shape = r->shape;
	}
	PLD_TRY(pld_window(p->buffer, r->dst, dtype, &dst));
	PLD_TRY(pld_tensor_init(&src, p->memory, r->src, dtype));
	CHECK_EQ(0, pld_tensor_put(&dst, peer, &src,
				   stage || chunk || !is_whole(r) ? &options
								  : NULL));
	golden_copy(p->model[peer], r->dst, r->dst_offsets, p->memory, r->src,
		    r->src_offsets, r->shape, (size_t)pld_dtype_size(dtype));
	return 0;
}

/* The source is new in each, so that a put that does nothing is seen. */
static int put_all(struct putter *p, const pld_tile *stage, int chunk)
{
	unsigned int seed = SEED_TENSOR;

	for (int dtype = 0; dtype <= LAST_DTYPE; dtype++)
		for (size_t i = 0; i < ARRAY_SIZE(regions); i++)
			for (int peer = 0; peer < NRANKS; peer++) {
				golden_fill(p->memory, BYTES, seed++);
				PLD_TRY(put_region(p, &regions[i],
						   (pld_dtype)dtype, peer,
						   stage, chunk));
				PLD_TRY(check_windows(p));
			}
	return 0;
}

/* Straight, and element by element through the rank's own stage. */
static int own_stage(pld_domain *domain, void *buffer)
{
	struct putter p;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(make_putter(&p, domain, buffer));
	PLD_TRY(put_all(&p, NULL, 0));
	PLD_TRY(put_all(&p, NULL, 1));
	pld_tile_free(&p.look);
	return 0;
}

/*
 * From a stage of one element to one larger than the region, and those that
 * hold no whole number of rows.
 */
static int given_stage(pld_domain *domain, void *buffer)
{
	static const size_t sizes[] = { 8, 15, 24, 56, 100, 257, BYTES };
	struct putter p;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(make_putter(&p, domain, buffer));
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		pld_tile stage;

		PLD_TRY(pld_tile_alloc(&stage, sizes[i]));
		PLD_TRY(put_all(&p, &stage, 0));
		pld_tile_free(&stage);
	}
	pld_tile_free(&p.look);
	return 0;
}

/* The own rank is not special: its data takes the way through the stage too. */
static int through_stage(pld_domain *domain, void *buffer)
{
	pld_put_options options = { 0 };
	pld_distributed_tensor dst;
	pld_tile stage;
	struct putter p;
	pld_tensor src;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(make_putter(&p, domain, buffer));
	PLD_TRY(pld_tile_alloc(&stage, 64));
	PLD_TRY(pld_window(buffer, PLD_SHAPE(16), PLD_INT32, &dst));
	PLD_TRY(pld_tensor_init(&src, p.memory, PLD_SHAPE(16), PLD_INT32));
	options.stage = &stage;
	for (int peer = 0; peer < NRANKS; peer++) {
		memset(stage.data, 0, 64);
		CHECK_EQ(0, pld_tensor_put(&dst, peer, &src, &options));
		CHECK(!memcmp(stage.data, p.memory, 64));
		memcpy(p.model[peer], p.memory, 64);
	}
	PLD_TRY(check_windows(&p));
	pld_tile_free(&stage);
	pld_tile_free(&p.look);
	return 0;
}

/* From the own window to the own and to others'. */
static int from_window(pld_domain *domain, void *buffer)
{
	static const struct region halves = { PLD_SHAPE(8, 16), PLD_AT(4, 0),
					      PLD_SHAPE(8, 16), PLD_AT(0, 0),
					      PLD_SHAPE(4, 16) };
	pld_put_options options = {
		.dst_offsets = halves.dst_offsets,
		.src_offsets = halves.src_offsets,
		.shape = halves.shape,
	};
	pld_distributed_tensor view;
	struct putter p;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(make_putter(&p, domain, buffer));
	PLD_TRY(pld_window(buffer, halves.dst, PLD_INT16, &view));
	for (int peer = 0; peer < NRANKS; peer++) {
		CHECK_EQ(0, pld_tensor_put(&view, peer, &view, &options));
		golden_copy(p.model[peer], halves.dst, halves.dst_offsets,
			    p.model[0], halves.src, halves.src_offsets,
			    halves.shape, 2);
		PLD_TRY(check_windows(&p));
	}
	CHECK_EQ(0, pld_tensor_put(&view, 1, &view, NULL));
	memcpy(p.model[1], p.model[0], 256);
	PLD_TRY(check_windows(&p));
	pld_tile_free(&p.look);
	return 0;
}

/* Side by side, the two share no element though their addresses interleave. */
static int columns(pld_domain *domain, void *buffer)
{
	pld_dims whole = PLD_SHAPE(8, 16), shape = PLD_SHAPE(8, 5);
	pld_put_options options = {
		.dst_offsets = PLD_AT(0, 11),
		.src_offsets = PLD_AT(0, 6),
		.shape = shape,
	};
	pld_distributed_tensor view;
	struct putter p;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(make_putter(&p, domain, buffer));
	PLD_TRY(pld_window(buffer, whole, PLD_INT16, &view));
	for (int peer = 0; peer < NRANKS; peer++) {
		CHECK_EQ(0, pld_tensor_put(&view, peer, &view, &options));
		golden_copy(p.model[peer], whole, options.dst_offsets,
			    p.model[0], whole, options.src_offsets, shape, 2);
		PLD_TRY(check_windows(&p));
	}
	pld_tile_free(&p.look);
	return 0;
}

static int overlaps(pld_domain *domain, void *buffer)
{
	static const char message[] = "pld.tensor.put: src and dst overlap";
	pld_put_options by_row = {
		.dst_offsets = PLD_AT(3, 0),
		.src_offsets = PLD_AT(0, 0),
		.shape = PLD_SHAPE(4, 16),
	};
	pld_put_options by_column = {
		.dst_offsets = PLD_AT(0, 3),
		.src_offsets = PLD_AT(0, 0),
		.shape = PLD_SHAPE(8, 4),
	};
	pld_distributed_tensor view;
	struct putter p;
	pld_tensor alias;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(make_putter(&p, domain, buffer));
	PLD_TRY(pld_window(buffer, PLD_SHAPE(8, 16), PLD_INT16, &view));
	PLD_TRY(pld_tensor_init(&alias, (char *)view.data + 1, PLD_SHAPE(8, 16),
				PLD_INT16));
	CHECK_REFUSED(-EINVAL, message, pld_tensor_put(&view, 0, &view, NULL));
	CHECK_REFUSED(-EINVAL, message,
		      pld_tensor_put(&view, 0, &view, &by_row));
	CHECK_REFUSED(-EINVAL, message,
		      pld_tensor_put(&view, 0, &view, &by_column));
	CHECK_REFUSED(-EINVAL, message, pld_tensor_put(&view, 0, &alias, NULL));
	PLD_TRY(check_windows(&p));
	pld_tile_free(&p.look);
	return 0;
}

/* What the refusals below are tried with. */
struct bad {
	struct putter p;
	pld_distributed_tensor dst;
	pld_tensor src;
	pld_tile stage;
};

static int make_bad(struct bad *b, pld_domain *domain, void *buffer)
{
	PLD_TRY(make_putter(&b->p, domain, buffer));
	PLD_TRY(pld_window(buffer, PLD_SHAPE(4, 8), PLD_INT32, &b->dst));
	PLD_TRY(pld_tensor_init(&b->src, b->p.memory, PLD_SHAPE(4, 8),
				PLD_INT32));
	return pld_tile_alloc(&b->stage, 64);
}

static int end_bad(struct bad *b)
{
	PLD_TRY(check_windows(&b->p));
	CHECK_EQ(BYTES, golden_differs(b->p.memory, BYTES, SEED_TENSOR));
	pld_tile_free(&b->stage);
	pld_tile_free(&b->p.look);
	return 0;
}

static int wrong_kinds(pld_domain *domain, void *buffer)
{
	pld_put_options options = { 0 };
	pld_tile bare;
	struct bad b;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(make_bad(&b, domain, buffer));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.put: dst must be a DistributedTensor, got NULL",
		      pld_tensor_put(NULL, 1, &b.src, NULL));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.put: dst must be a DistributedTensor, got Tensor",
		      pld_tensor_put(&b.src, 1, &b.src, NULL));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.put: dst must be a DistributedTensor, got Tile",
		      pld_tensor_put(&b.stage, 1, &b.src, NULL));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.put: src must be a Tensor or DistributedTensor, got NULL",
		      pld_tensor_put(&b.dst, 1, NULL, NULL));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.put: src must be a Tensor or DistributedTensor, got Tile",
		      pld_tensor_put(&b.dst, 1, &b.stage, NULL));
	options.stage = &b.src;
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.put: stage must be a Tile, got Tensor",
		      pld_tensor_put(&b.dst, 1, &b.src, &options));
	options.stage = &b.dst;
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.put: stage must be a Tile, got DistributedTensor",
		      pld_tensor_put(&b.dst, 1, &b.src, &options));
	bare = b.stage;
	bare.data = NULL;
	options.stage = &bare;
	CHECK_REFUSED(-EFAULT, "pld.tensor.put: stage has no memory",
		      pld_tensor_put(&b.dst, 1, &b.src, &options));
	return end_bad(&b);
}

static int wrong_numbers(pld_domain *domain, void *buffer)
{
	pld_put_options options = { 0 };
	pld_tensor other;
	struct bad b;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(make_bad(&b, domain, buffer));
	CHECK_REFUSED(-ERANGE, "pld.tensor.put: peer is -1, wanted 0 to 2",
		      pld_tensor_put(&b.dst, -1, &b.src, NULL));
	CHECK_REFUSED(-ERANGE, "pld.tensor.put: peer is 3, wanted 0 to 2",
		      pld_tensor_put(&b.dst, 3, &b.src, NULL));
	CHECK_REFUSED(-ERANGE,
		      "pld.tensor.put: peer is 2147483647, wanted 0 to 2",
		      pld_tensor_put(&b.dst, INT_MAX, &b.src, NULL));
	PLD_TRY(pld_tensor_init(&other, b.p.memory, PLD_SHAPE(4, 8), PLD_FP32));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.put: dtype of src is fp32, wanted dst's int32",
		      pld_tensor_put(&b.dst, 1, &other, NULL));
	PLD_TRY(pld_tensor_init(&other, b.p.memory, PLD_SHAPE(32), PLD_INT32));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.put: shape of src is [32], wanted dst's [4, 8]",
		      pld_tensor_put(&b.dst, 1, &other, NULL));
	PLD_TRY(pld_tensor_init(&other, b.p.memory, PLD_SHAPE(4, 7), PLD_INT32));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.put: shape of src is [4, 7], wanted dst's [4, 8]",
		      pld_tensor_put(&b.dst, 1, &other, NULL));
	options.stage = &b.stage;
	b.stage.bytes = 3;
	CHECK_REFUSED(-ENOSPC,
		      "pld.tensor.put: one element of 4 bytes does not fit the stage of 3",
		      pld_tensor_put(&b.dst, 1, &b.src, &options));
	return end_bad(&b);
}

static int incomplete_subregions(pld_domain *domain, void *buffer)
{
	struct bad b;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(make_bad(&b, domain, buffer));
	for (int given = 1; given < 7; given++) {
		pld_put_options options = { 0 };
		char message[160];

		if (given & 1)
			options.dst_offsets = PLD_AT(0, 0);
		if (given & 2)
			options.src_offsets = PLD_AT(0, 0);
		if (given & 4)
			options.shape = PLD_SHAPE(1, 1);
		snprintf(message, sizeof(message),
			 "pld.tensor.put: dst_offsets, src_offsets and shape come together or not at all, got %d of them",
			 __builtin_popcount((unsigned int)given));
		CHECK_REFUSED(-EINVAL, message,
			      pld_tensor_put(&b.dst, 1, &b.src, &options));
	}
	return end_bad(&b);
}

static int bad_subregions(pld_domain *domain, void *buffer)
{
	static const struct {
		int error;
		pld_dims dst_offsets;
		pld_dims src_offsets;
		pld_dims shape;
		const char *message;
	} bad[] = {
		{ -ERANGE, PLD_AT(3, 0), PLD_AT(0, 0), PLD_SHAPE(2, 1),
		  "pld.tensor.put: offsets [3, 0] with shape [2, 1] lie outside dst [4, 8]" },
		{ -ERANGE, PLD_AT(0, 0), PLD_AT(0, 8), PLD_SHAPE(2, 1),
		  "pld.tensor.put: offsets [0, 8] with shape [2, 1] lie outside src [4, 8]" },
		{ -ERANGE, PLD_AT(0, 0), PLD_AT(0, 0), PLD_SHAPE(5, 8),
		  "pld.tensor.put: offsets [0, 0] with shape [5, 8] lie outside dst [4, 8]" },
		{ -ERANGE, PLD_AT(-1, 0), PLD_AT(0, 0), PLD_SHAPE(2, 1),
		  "pld.tensor.put: offsets [-1, 0] with shape [2, 1] lie outside dst [4, 8]" },
		{ -ERANGE, PLD_AT(0, 0), PLD_AT(0, INT64_MIN), PLD_SHAPE(2, 1),
		  "pld.tensor.put: offsets [0, -9223372036854775808] with shape [2, 1] lie outside src [4, 8]" },
		{ -ERANGE, PLD_AT(0, 1), PLD_AT(0, 0), PLD_SHAPE(1, INT64_MAX),
		  "pld.tensor.put: offsets [0, 1] with shape [1, 9223372036854775807] lie outside dst [4, 8]" },
		{ -EINVAL, PLD_AT(0, 0), PLD_AT(0, 0), PLD_SHAPE(1, 0),
		  "pld.tensor.put: shape is [1, 0], wanted every dimension positive" },
		{ -EINVAL, PLD_AT(0), PLD_AT(0, 0), PLD_SHAPE(1, 1),
		  "pld.tensor.put: offsets [0] and shape [1, 1] must have the 2 dimensions of dst [4, 8]" },
		{ -EINVAL, PLD_AT(0, 0), PLD_AT(0, 0, 0), PLD_SHAPE(1, 1),
		  "pld.tensor.put: offsets [0, 0, 0] and shape [1, 1] must have the 2 dimensions of src [4, 8]" },
	};
	struct bad b;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(make_bad(&b, domain, buffer));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		pld_put_options options = {
			.dst_offsets = bad[i].dst_offsets,
			.src_offsets = bad[i].src_offsets,
			.shape = bad[i].shape,
		};

		CHECK_REFUSED(bad[i].error, bad[i].message,
			      pld_tensor_put(&b.dst, 1, &b.src, &options));
	}
	return end_bad(&b);
}

/* Views that no call has made, as a stray pointer would. */
static int tampered(pld_domain *domain, void *buffer)
{
	const pld_put_options element = { .dst_offsets = PLD_AT(0, 2),
					  .src_offsets = PLD_AT(0, 0),
					  .shape = PLD_SHAPE(1, 1) };
	pld_distributed_tensor dst;
	pld_tensor src;
	struct bad b;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(make_bad(&b, domain, buffer));
	dst = b.dst;
	dst.data = (char *)dst.data + BYTES - 127;
	CHECK_REFUSED(-EFAULT,
		      "pld.tensor.put: dst points outside the own window of 2048 bytes",
		      pld_tensor_put(&dst, 1, &b.src, NULL));
	dst = b.dst;
	dst.data = (char *)dst.data - 4;
	CHECK_REFUSED(-EFAULT,
		      "pld.tensor.put: dst points outside the own window of 2048 bytes",
		      pld_tensor_put(&dst, 1, &b.src, NULL));
	/* That element would lie before the window. */
	dst = b.dst;
	dst.shape = PLD_SHAPE(3, 3);
	dst.stride[0] = 100;
	dst.stride[1] = -8;
	CHECK_REFUSED(-EFAULT,
		      "pld.tensor.put: dst has a shape that does not lie in its memory of 2048 bytes",
		      pld_tensor_put(&dst, 1, &b.src, &element));
	src = b.src;
	src.bytes = 127;
	CHECK_REFUSED(-EFAULT,
		      "pld.tensor.put: src has a shape that does not lie in its memory of 127 bytes",
		      pld_tensor_put(&b.dst, 1, &src, NULL));
	return end_bad(&b);
}

/* All at once, each to all; the next launch looks at what has arrived. */
static int everybody_puts(pld_domain *domain, void *buffer)
{
	int nranks = pld_nranks(domain), me = pld_rank(domain);
	pld_dims row = PLD_SHAPE(1, 171);
	pld_put_options options = {
		.dst_offsets = PLD_AT(me, 0),
		.src_offsets = PLD_AT(0, 0),
		.shape = row,
	};
	unsigned char memory[342];
	pld_distributed_tensor all;
	pld_tensor mine;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(nranks, 171), PLD_FP16, &all));
	PLD_TRY(pld_tensor_init(&mine, memory, row, PLD_FP16));
	for (int peer = 0; peer < nranks; peer++) {
		golden_fill(memory, sizeof(memory),
			    (unsigned int)(me * nranks + peer));
		CHECK_EQ(0, pld_tensor_put(&all, peer, &mine, &options));
	}
	return 0;
}

static int everybody_looks(pld_domain *domain, void *buffer)
{
	int nranks = pld_nranks(domain), me = pld_rank(domain);
	pld_distributed_tensor all;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(nranks, 171), PLD_FP16, &all));
	for (int peer = 0; peer < nranks; peer++)
		CHECK_EQ(342,
			 golden_differs((char *)all.data + 342 * peer, 342,
					(unsigned int)(peer * nranks + me)));
	return 0;
}

FIXTURE(put)
{
	pld_domain *domain;
	pld_window_buffer *data;
};

FIXTURE_VARIANT(put)
{
	size_t tile_bytes;
};

/* The ranks' own stage, where no other is given. */
FIXTURE_VARIANT_ADD(put, own_stage_of_an_element){
	.tile_bytes = 8,
};

FIXTURE_VARIANT_ADD(put, own_stage_of_some_rows){
	.tile_bytes = 100,
};

FIXTURE_VARIANT_ADD(put, own_stage_of_64_KiB){
	.tile_bytes = 0,
};

FIXTURE_SETUP(put)
{
	pld_domain_options options = { .tile_bytes = variant->tile_bytes };

	ASSERT_EQ(0, pld_domain_create((int[]){ 0, 1, 2 }, NRANKS, &options,
				       &self->domain));
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, BYTES, &self->data));
	RUN(self->domain, fill, self->data);
}

FIXTURE_TEARDOWN(put)
{
	pld_domain_destroy(self->domain);
}

TEST_F(put, whole_and_regions_straight_and_through_the_own_stage)
{
	RUN(self->domain, own_stage, self->data);
}

TEST_F(put, from_and_to_windows)
{
	RUN(self->domain, from_window, self->data);
}

TEST_F(put, regions_side_by_side_do_not_overlap)
{
	RUN(self->domain, columns, self->data);
}

TEST_F(put, all_ranks_at_once)
{
	RUN(self->domain, everybody_puts, self->data);
	RUN(self->domain, everybody_looks, self->data);
}

FIXTURE(put_one)
{
	pld_domain *domain;
	pld_window_buffer *data;
};

FIXTURE_SETUP(put_one)
{
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, BYTES, &self->data));
	RUN(self->domain, fill, self->data);
}

FIXTURE_TEARDOWN(put_one)
{
	pld_domain_destroy(self->domain);
}

TEST_F(put_one, whole_and_regions_through_a_given_stage)
{
	RUN(self->domain, given_stage, self->data);
}

TEST_F(put_one, data_passes_through_the_stage_to_the_own_rank_too)
{
	RUN(self->domain, through_stage, self->data);
}

TEST_F(put_one, overlap_is_refused)
{
	RUN(self->domain, overlaps, self->data);
}

TEST_F(put_one, wrong_kind_of_view_is_refused)
{
	RUN(self->domain, wrong_kinds, self->data);
}

TEST_F(put_one, wrong_peer_dtype_shape_or_stage_is_refused)
{
	RUN(self->domain, wrong_numbers, self->data);
}

TEST_F(put_one, subregion_arguments_come_together_or_not_at_all)
{
	RUN(self->domain, incomplete_subregions, self->data);
}

TEST_F(put_one, subregion_outside_is_refused)
{
	RUN(self->domain, bad_subregions, self->data);
}

TEST_F(put_one, tampered_view_is_refused)
{
	RUN(self->domain, tampered, self->data);
}

LIB_TEST_MAIN
