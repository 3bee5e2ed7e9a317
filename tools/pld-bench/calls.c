// SPDX-License-Identifier: GPL-2.0
/*
 * Views are made once; a call is what a program's loop would call.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "check.h"
#include "common/allgather.h"

#define PAGE 4096
/* What a result that was not written looks like. */
#define NOTHING 0xee

/* Numbers of rows that depend on the ranks. */
enum {
	PER_RANK = -1,
	TWICE_PER_RANK = -2,
};

/* Rows of size elements of each buffer. */
struct layout {
	int x;
	int y;
	int data;
};

static const struct layout layouts[OPERATIONS] = {
	[OP_ALLGATHER_HAND] = { 1, PER_RANK, TWICE_PER_RANK },
	[OP_ALLGATHER_BUILTIN] = { 1, 0, PER_RANK },
	[OP_ALLGATHER_REUSE] = { 1, 0, TWICE_PER_RANK },
	[OP_BROADCAST] = { 0, 0, 1 },
	[OP_REDUCE_SCATTER] = { 0, 0, PER_RANK },
	[OP_ALLREDUCE_MESH] = { 0, 0, 1 },
	[OP_ALLREDUCE_TWO_PHASE] = { 0, 0, 1 },
	[OP_ALLREDUCE_RING] = { 0, 0, 1 },
	[OP_ALL_TO_ALL] = { PER_RANK, 0, PER_RANK },
	[OP_ALL_TO_ALL_V] = { PER_RANK, 0, PER_RANK },
	[OP_PUT] = { 1, 0, 1 },
	[OP_GET] = { 0, 1, 1 },
};

static int64_t rows(int number, int64_t nranks)
{
	return number < 0 ? -number * nranks : number;
}

int64_t rows_of_window(const struct operation *operation, int nranks)
{
	return rows(layouts[operation->id].data, nranks);
}

pld_dims shape_of_signal(const struct operation *operation, int nranks)
{
	if (operation->id == OP_ALLREDUCE_TWO_PHASE)
		return PLD_SHAPE(2, nranks);
	if (operation->id == OP_ALLREDUCE_RING)
		return PLD_SHAPE(2 * (nranks - 1), nranks);
	return PLD_SHAPE(nranks, 1);
}

/* From the buffer's begin on to the first element that is used. */
static size_t bytes_before(const struct options *options)
{
	return (size_t)(options->offset * pld_dtype_size(options->dtype));
}

static int make_private(const struct bench *bench, pld_dims shape,
			void **memory, pld_tensor *tensor)
{
	const struct options *options = bench->job->options;
	size_t elements = (size_t)(shape.n[0] * shape.n[1]);
	size_t bytes = bytes_before(options) +
		       elements * (size_t)pld_dtype_size(options->dtype);
	int error;

	if (!elements)
		return 0;
	error = posix_memalign(memory, PAGE, bytes);
	if (error)
		return -error;
	memset(*memory, NOTHING, bytes);
	return pld_tensor_init(tensor, (char *)*memory + bytes_before(options),
			       shape, options->dtype);
}

/* So many rows of a window, behind as many bytes. */
static int make_view(const struct bench *bench, pld_window_buffer *window,
		     size_t before, int64_t nr_rows,
		     pld_distributed_tensor *view)
{
	if (!window)
		return 0;
	PLD_TRY(pld_window(window, PLD_SHAPE(nr_rows, bench->job->size),
			   bench->job->options->dtype, view));
	view->data = (char *)view->data + before;
	view->bytes -= before;
	return 0;
}

/*
 * By hand a rank may stage its next slice while another still loads this one:
 * calls have the halves of the window by turns. Who comes to a half again has
 * passed the barrier of the other, and all have left this one by then.
 */
static int make_halves(const struct bench *bench, struct buffers *buffers,
		       pld_window_buffer *window)
{
	const struct options *options = bench->job->options;
	size_t half = (size_t)bench->nranks * (size_t)bench->job->size *
		      (size_t)pld_dtype_size(options->dtype);

	for (size_t i = 0; i < 2; i++)
		PLD_TRY(make_view(bench, window, bytes_before(options) + i * half,
				  bench->nranks, &buffers->halves[i]));
	return 0;
}

static int make_buffers(struct bench *bench, struct buffers *buffers,
			pld_window_buffer *window)
{
	const struct layout *layout = &layouts[bench->job->operation->id];
	int64_t size = bench->job->size, nranks = bench->nranks;

	PLD_TRY(make_private(bench, PLD_SHAPE(rows(layout->x, nranks), size),
			     &buffers->x_memory, &buffers->x));
	PLD_TRY(make_private(bench, PLD_SHAPE(1, rows(layout->y, nranks) * size),
			     &buffers->y_memory, &buffers->y));
	if (bench->job->operation->id == OP_ALLGATHER_HAND)
		PLD_TRY(make_halves(bench, buffers, window));
	return make_view(bench, window, bytes_before(bench->job->options),
			 rows(layout->data, nranks), &buffers->data);
}

int bench_begin(struct bench *bench)
{
	const struct job *job = bench->job;
	size_t tile = job->options->tile_bytes;

	for (int i = 0; i < job->options->rotate; i++)
		PLD_TRY(make_buffers(bench, &bench->buffers[i], job->data[i]));
	PLD_TRY(pld_window(job->signal,
			   shape_of_signal(job->operation, bench->nranks),
			   PLD_INT32, &bench->signal));
	PLD_TRY(pld_window(job->meet, PLD_SHAPE(bench->nranks, 1), PLD_INT32,
			   &bench->meet));
	for (int i = 0; i < bench->nranks; i++)
		bench->counts[i] = 1;
	if (job->operation->id == OP_ALLGATHER_HAND && tile)
		PLD_TRY(pld_tile_alloc(&bench->tile, tile));
	return 0;
}

void bench_end(struct bench *bench)
{
	for (int i = 0; i < MAX_ROTATE; i++) {
		free(bench->buffers[i].x_memory);
		free(bench->buffers[i].y_memory);
	}
	pld_tile_free(&bench->tile);
}

static int by_hand(struct bench *bench, struct buffers *b)
{
	const pld_distributed_tensor *half = &b->halves[++bench->round % 2];

	return bench->tile.data
		       ? allgather_hand(&b->x, &b->y, half, &bench->signal,
					&bench->tile, bench->round)
		       : allgather_hand_direct(&b->x, &b->y, half,
					       &bench->signal, bench->round);
}

/* One way by rank 0's clock and back, which both ranks see. */
static int ping_pong(struct bench *bench)
{
	int me = bench->rank, other = !me;

	bench->round++;
	if (me)
		PLD_TRY(pld_system_wait(&bench->signal, PLD_AT(other, 0),
					bench->round, PLD_GE));
	PLD_TRY(pld_system_notify(&bench->signal, other, PLD_AT(me, 0), 1,
				  PLD_ATOMIC_ADD));
	if (me)
		return 0;
	return pld_system_wait(&bench->signal, PLD_AT(other, 0), bench->round,
			       PLD_GE);
}

int call_operation(struct bench *bench, struct buffers *b)
{
	const pld_distributed_tensor *signal = &bench->signal;

	switch (bench->job->operation->id) {
	case OP_ALLGATHER_HAND:
		return by_hand(bench, b);
	case OP_ALLGATHER_BUILTIN:
		return allgather_builtin(&b->x, &b->data, signal);
	case OP_ALLGATHER_REUSE:
		return pld_tensor_allgather_flags(&b->x, &b->data, signal,
						  PLD_REUSE_TARGET, &b->filled);
	case OP_BROADCAST:
		return pld_tensor_broadcast(&b->data, signal, 0);
	case OP_REDUCE_SCATTER:
		return pld_tensor_reduce_scatter(&b->data, signal, PLD_SUM);
	case OP_ALLREDUCE_MESH:
		return pld_tensor_allreduce(&b->data, signal, PLD_SUM, PLD_MESH);
	case OP_ALLREDUCE_TWO_PHASE:
		return pld_tensor_allreduce(&b->data, signal, PLD_SUM,
					    PLD_TWO_PHASE);
	case OP_ALLREDUCE_RING:
		return pld_tensor_allreduce(&b->data, signal, PLD_SUM, PLD_RING);
	case OP_ALL_TO_ALL:
		return pld_tensor_all_to_all(&b->x, &b->data, signal);
	case OP_ALL_TO_ALL_V:
		return pld_tensor_all_to_all_v(&b->x, &b->data, signal,
					       bench->counts, bench->counts);
	case OP_PUT:
		return pld_tensor_put(&b->data, 1, &b->x, NULL);
	case OP_GET:
		return pld_tensor_get(&b->y, 1, &b->data, NULL);
	case OP_PING_PONG:
		return ping_pong(bench);
	case OP_BARRIER:
		return pld_tensor_barrier(signal);
	default:
		return -ENOSYS;
	}
}

static struct source source_of(const struct bench *bench, int64_t call)
{
	const struct job *job = bench->job;

	return (struct source){
		.dtype = job->options->dtype,
		.nranks = bench->nranks,
		/* at least the one that is timed */
		.calls = job->options->checks + 1,
		.size = job->size,
		.call = call,
	};
}

static void *row_of(const struct bench *bench, const pld_view *view, int row)
{
	size_t slice = (size_t)(bench->job->size * pld_dtype_size(view->dtype));

	return (char *)view->data + (size_t)row * slice;
}

static void clear(const struct bench *bench, const pld_view *view)
{
	int64_t elements = 1;

	for (int i = 0; i < view->shape.ndim; i++)
		elements *= view->shape.n[i];
	memset(row_of(bench, view, 0), NOTHING,
	       (size_t)(elements * pld_dtype_size(view->dtype)));
}

static void fill_addends(const struct bench *bench, const struct source *source,
			 const pld_view *data)
{
	for (int row = 0; row < data->shape.n[0]; row++)
		fill_addend(source, bench->rank, row * source->size,
			    row_of(bench, data, row));
}

void fill_input(const struct bench *bench, const struct buffers *b, int64_t call)
{
	const struct operation *operation = bench->job->operation;
	struct source source = source_of(bench, call);

	if (operation->reduces) {
		fill_addends(bench, &source, &b->data);
		return;
	}
	if (b->data.data)
		clear(bench, &b->data);
	if (b->y.data)
		clear(bench, &b->y);
	for (int row = 0; b->x.data && row < b->x.shape.n[0]; row++)
		fill_slice(&source, bench->rank, row, row_of(bench, &b->x, row));
	if (operation->id == OP_GET ||
	    (operation->id == OP_BROADCAST && !bench->rank))
		fill_slice(&source, bench->rank, 0, b->data.data);
}

static int64_t wrong_rows(const struct bench *bench, const struct source *source,
			  const pld_view *result, int to)
{
	int64_t wrong = 0;

	for (int from = 0; from < bench->nranks; from++)
		wrong += slice_wrong(source, from, to,
				     row_of(bench, result, from));
	return wrong;
}

int64_t count_wrong(const struct bench *bench, const struct buffers *b,
		    int64_t call)
{
	struct source source = source_of(bench, call);
	int me = bench->rank;

	switch (bench->job->operation->id) {
	case OP_ALLGATHER_HAND:
		return wrong_rows(bench, &source, &b->y, 0);
	case OP_ALLGATHER_BUILTIN:
		return wrong_rows(bench, &source, &b->data, 0);
	case OP_ALLGATHER_REUSE:
		return wrong_rows(bench, &source, &b->filled, 0);
	case OP_BROADCAST:
		return slice_wrong(&source, 0, 0, b->data.data);
	case OP_REDUCE_SCATTER:
		return sum_wrong(&source, me * source.size,
				 row_of(bench, &b->data, me));
	case OP_ALLREDUCE_MESH:
	case OP_ALLREDUCE_TWO_PHASE:
	case OP_ALLREDUCE_RING:
		return sum_wrong(&source, 0, b->data.data);
	case OP_ALL_TO_ALL:
	case OP_ALL_TO_ALL_V:
		return wrong_rows(bench, &source, &b->data, me);
	case OP_PUT:
		return me == 1 ? slice_wrong(&source, 0, 0, b->data.data) : 0;
	case OP_GET:
		return me ? 0 : slice_wrong(&source, 1, 0, b->y.data);
	default:
		return 0;
	}
}
