// SPDX-License-Identifier: GPL-2.0
/*
 * A rank's work, and the check of its result against the concatenation of every
 * rank's slice in the order of the ranks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/allgather.h"
#include "common/pattern.h"
#include "job.h"
#include "moment.h"

/* A rank's memory of its own. */
struct memory {
	void *x;
	void *y;
	pld_tile tile;
};

static uint64_t first_element(const struct options *options, int call, int rank)
{
	uint64_t nranks = (uint64_t)options->nranks;

	return pattern_first(options->dtype,
			     (uint64_t)call * nranks + (uint64_t)rank,
			     (uint64_t)options->iters * nranks,
			     (uint64_t)options->size);
}

static void say_wrong(const struct options *options, int call, int rank,
		      int slot, int64_t element, const char *got)
{
	char where[64];

	snprintf(where, sizeof(where), "rank %d, call %d, slot %d", rank, call,
		 slot);
	pattern_say_wrong(where, options->dtype,
			  first_element(options, call, slot), element, got);
}

/* Says the first wrong element; of a mistake, that of every slot. */
static int check(const struct options *options, int call, int rank,
		 const char *result)
{
	int64_t esize = pld_dtype_size(options->dtype);
	int error = 0;

	for (int slot = 0; slot < options->nranks; slot++) {
		const char *slice = result + slot * options->size * esize;
		int64_t right = pattern_match(slice, options->dtype,
					      first_element(options, call, slot),
					      options->size);

		if (right == options->size)
			continue;
		say_wrong(options, call, rank, slot, right,
			  slice + right * esize);
		error = JOB_WRONG_RESULT;
		if (options->fault == FAULT_NONE)
			break;
	}
	return error;
}

/* 64-bit FNV-1a. */
static uint64_t digest(const unsigned char *bytes, size_t count)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/*
 * Nobody ends the run before everybody has a result to show. A wait that the
 * mistake makes time out may have begun later than this one, and ends first.
 */
static int call_with_mistake(const struct job *job, int rank,
			     const pld_tensor *x, const pld_tensor *y,
			     const pld_distributed_tensor *data,
			     const pld_distributed_tensor *signal,
			     pld_tile *tile)
{
	int64_t timeout_ns = 2 * job->options->timeout_ns;
	struct moment *moment = job->moment;
	int wrong, error;

	PLD_TRY(faulty_hand(job->options->fault, x, y, data, signal, moment,
			    timeout_ns, tile));
	moment->digests[rank] = digest(y->data, y->bytes);
	wrong = check(job->options, 0, rank, y->data);
	moment_tell(&moment->ready);
	error = moment_wait(&moment->ready, job->options->nranks, data,
			    timeout_ns);
	return wrong ? wrong : error;
}

static int refused_call(const struct job *job, const pld_tensor *x,
			const pld_distributed_tensor *data,
			const pld_distributed_tensor *signal, pld_tile *tile)
{
	pld_distributed_tensor source;

	PLD_TRY(pld_window(job->source, x->shape, x->dtype, &source));
	return faulty_builtin(job->options->fault, x, &source, data, signal,
			      tile);
}

static int one_call(const struct job *job, int call, int rank,
		    struct memory *memory)
{
	const struct options *options = job->options;
	int64_t nranks = options->nranks, size = options->size;
	pld_distributed_tensor data, signal;
	pld_tensor x, y;

	PLD_TRY(pld_window(job->data[call % 2], PLD_SHAPE(nranks, size),
			   options->dtype, &data));
	PLD_TRY(pld_window(job->signal, PLD_SHAPE(nranks, 1), PLD_INT32,
			   &signal));
	PLD_TRY(pld_tensor_init(&x, memory->x, PLD_SHAPE(1, size),
				options->dtype));
	x.name = "x";
	data.name = "data";
	pattern_fill(memory->x, options->dtype,
		     first_element(options, call, rank), size);
	if (options->fault != FAULT_NONE && options->mode == MODE_BUILTIN)
		return refused_call(job, &x, &data, &signal, &memory->tile);
	if (options->mode == MODE_BUILTIN) {
		PLD_TRY(allgather_builtin(&x, &data, &signal));
		return check(options, call, rank, data.data);
	}
	PLD_TRY(pld_tensor_init(&y, memory->y, PLD_SHAPE(1, nranks * size),
				options->dtype));
	y.name = "y";
	if (options->fault != FAULT_NONE)
		return call_with_mistake(job, rank, &x, &y, &data, &signal,
					 &memory->tile);
	PLD_TRY(allgather_hand(&x, &y, &data, &signal, &memory->tile, call + 1));
	return check(options, call, rank, memory->y);
}

static int all_calls(const struct job *job, int rank, struct memory *memory)
{
	for (int call = 0; call < job->options->iters; call++)
		PLD_TRY(one_call(job, call, rank, memory));
	return 0;
}

/* A mistake of the builtin has the whole slice in a tile. */
static size_t tile_bytes(const struct options *options, size_t slice)
{
	return options->mode == MODE_BUILTIN || slice < options->tile_bytes
		       ? slice
		       : options->tile_bytes;
}

int run_job(pld_domain *domain, void *arg)
{
	const struct job *job = arg;
	const struct options *options = job->options;
	size_t slice = (size_t)(options->size * pld_dtype_size(options->dtype));
	struct memory memory = { 0 };
	int error = -ENOMEM;

	memory.x = malloc(slice);
	if (options->mode == MODE_HAND)
		memory.y = malloc(slice * (size_t)options->nranks);
	if (memory.x && (memory.y || options->mode != MODE_HAND))
		error = pld_tile_alloc(&memory.tile, tile_bytes(options, slice));
	if (!error)
		error = all_calls(job, pld_rank(domain), &memory);
	pld_tile_free(&memory.tile);
	free(memory.y);
	free(memory.x);
	return error;
}
