/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every byte of a rank's windows, signals and private memory, before a program
 * and after it.
 */
#ifndef PLD_PROP_CHECK_H
#define PLD_PROP_CHECK_H

#include "prop_model.h"
#include "prop_run.h"

#define PROP_CELL_BYTES 128 /* from one cell of a signal to the next */

/* Cells that a collective of that many ranks needs at most: a ring's. */
static inline int prop_cells(int nranks)
{
	return nranks > 2 ? 2 * (nranks - 1) * nranks : 2 * nranks;
}

static inline int prop_own_memory(const struct prop_rank *rank,
				  pld_window_buffer *buffer, int64_t n,
				  pld_dtype dtype, unsigned char **memory)
{
	pld_distributed_tensor view;

	PROP_DO(rank, pld_window(buffer, PLD_SHAPE(n), dtype, &view));
	*memory = view.data;
	return 0;
}

/* A place of the image, where it is in this process. */
static inline int prop_memory(const struct prop_rank *rank, int place,
			      unsigned char **memory)
{
	if (place == PROP_PRIVATE) {
		*memory = rank->memory;
		return 0;
	}
	return prop_own_memory(rank, rank->buffers->window[place],
			       PROP_PLACE_BYTES, PLD_UINT8, memory);
}

static inline size_t prop_bytes_of(int place)
{
	return place == PROP_PRIVATE ? PROP_PRIVATE_BYTES : PROP_PLACE_BYTES;
}

/* The signals as memory; their sizes in bytes. */
static inline int prop_signals(const struct prop_rank *rank,
			       unsigned char *memory[3], size_t bytes[3])
{
	const struct prop_buffers *b = rank->buffers;
	int nranks = rank->program->nranks, n = prop_cells(nranks);

	bytes[0] = (size_t)(nranks * PROP_COLUMNS * PROP_CELL_BYTES);
	bytes[1] = (size_t)(n * PROP_CELL_BYTES);
	bytes[2] = (size_t)n * sizeof(int32_t);
	PLD_TRY(prop_own_memory(rank, b->cells, nranks * PROP_COLUMNS,
				PLD_INT32, &memory[0]));
	PLD_TRY(prop_own_memory(rank, b->spread, n, PLD_INT32, &memory[1]));
	return prop_own_memory(rank, b->dense, n, PLD_INT32, &memory[2]);
}

/* The rank's memory as it is before the first step. */
static inline int prop_reset(const struct prop_rank *rank)
{
	unsigned char image[PROP_IMAGE_BYTES], *memory, *signal[3];
	size_t bytes[3];

	prop_initial(rank->program->seed, rank->me, image);
	for (int place = 0; place <= PROP_PRIVATE; place++) {
		PLD_TRY(prop_memory(rank, place, &memory));
		memcpy(memory, image + prop_place_at(place),
		       prop_bytes_of(place));
	}
	PLD_TRY(prop_signals(rank, signal, bytes));
	for (int i = 0; i < 3; i++)
		memset(signal[i], 0, bytes[i]);
	return 0;
}

/* An element that a step has written, and where it begins in the image. */
struct prop_element {
	int number; /* in the view, tile or value; -1: not known */
	int from;
	int size;
};

static inline struct prop_element prop_dense_element(int at, int from, int size)
{
	int number = (at - from) / size;

	return (struct prop_element){ number, from + number * size, size };
}

/* What of a step's doing lies on a byte of the image. */
static inline struct prop_element prop_element_at(const struct prop_step *step,
						  int at)
{
	static struct prop_side side;

	switch (step->op) {
	case PROP_LOAD:
	case PROP_REMOTE_LOAD:
		return prop_dense_element(at, prop_tile_at(step->tile),
					  prop_size(step->src.dtype));
	case PROP_READ:
		return prop_dense_element(at, step->value_at,
					  prop_size(step->src.dtype));
	case PROP_FILL:
		return prop_dense_element(at, step->value_at,
					  prop_size(step->dst.dtype));
	default:
		break;
	}
	prop_whole_side(&step->dst, 0, &side);
	for (int i = 0; i < side.spots.n; i++)
		if (at >= side.spots.at[i] &&
		    at < side.spots.at[i] + side.spots.size)
			return (struct prop_element){ i, side.spots.at[i],
						      side.spots.size };
	return (struct prop_element){ -1, at, 1 };
}

static inline void prop_hex(char *text, const unsigned char *bytes, int n)
{
	for (int i = n - 1; i >= 0; i--)
		text += sprintf(text, "%02x", bytes[i]);
}

/* A byte that is wrong, told by the step that wrote it last in the model. */
static inline int prop_report_byte(struct prop_rank *rank, int place,
				   const unsigned char *memory, int offset)
{
	const struct prop_program *p = rank->program;
	int begin = prop_place_at(place), at = begin + offset;
	unsigned char writer = p->writer[rank->me][at];
	struct prop_element element = { -1, at, 1 };
	char got[20], wanted[20], where[40], text[200];

	if (writer != PROP_NOBODY)
		element = prop_element_at(&p->step[writer], at);
	prop_hex(got, memory + element.from - begin, element.size);
	prop_hex(wanted, p->image[rank->me] + element.from, element.size);
	if (place == PROP_PRIVATE)
		snprintf(where, sizeof(where), "private memory");
	else
		snprintf(where, sizeof(where), "window %d", place);
	rank->step = writer == PROP_NOBODY ? -1 : writer;
	snprintf(text, sizeof(text),
		 "element %d (%s, byte %d) is 0x%s, wanted 0x%s",
		 element.number, where, element.from - begin, got, wanted);
	prop_report_step(rank, text);
	return -EBADMSG;
}

static inline bool prop_is_used_stage(const struct prop_rank *rank, int place,
				      int offset)
{
	int in_stage = prop_place_at(place) + offset - prop_tile_at(PROP_STAGE);

	return in_stage >= 0 && in_stage < rank->program->stage_used[rank->me];
}

static inline int prop_check_place(struct prop_rank *rank, int place)
{
	const unsigned char *image =
		rank->program->image[rank->me] + prop_place_at(place);
	int bytes = (int)prop_bytes_of(place);
	unsigned char *memory;

	PLD_TRY(prop_memory(rank, place, &memory));
	if (!memcmp(memory, image, (size_t)bytes))
		return 0;
	for (int i = 0; i < bytes; i++)
		if (memory[i] != image[i] && !prop_is_used_stage(rank, place, i))
			return prop_report_byte(rank, place, memory, i);
	return 0;
}

static inline int prop_check_cells(struct prop_rank *rank, unsigned char *memory)
{
	const struct prop_program *p = rank->program;
	char text[100];

	for (int src = 0; src < p->nranks; src++)
		for (int column = 0; column < PROP_COLUMNS; column++) {
			int32_t wanted = p->cell[rank->me][src][column], got;
			unsigned char *at =
				memory +
				(src * PROP_COLUMNS + column) * PROP_CELL_BYTES;

			memcpy(&got, at, sizeof(got));
			memset(at, 0, sizeof(got));
			if (got == wanted)
				continue;
			rank->step = -1;
			snprintf(text, sizeof(text),
				 "cell [%d, %d] is %d, wanted %d", src, column,
				 got, wanted);
			prop_report_step(rank, text);
			return -EBADMSG;
		}
	return 0;
}

/* All but the cells for hand-overs, which are zero by now, must be so. */
static inline int prop_check_signals(struct prop_rank *rank)
{
	static const char *const names[] = { "hand-over", "spread", "dense" };
	unsigned char *memory[3];
	size_t bytes[3];
	char text[100];

	PLD_TRY(prop_signals(rank, memory, bytes));
	PLD_TRY(prop_check_cells(rank, memory[0]));
	for (int i = 0; i < 3; i++)
		for (size_t at = 0; at < bytes[i]; at++) {
			if (!memory[i][at])
				continue;
			rank->step = -1;
			snprintf(text, sizeof(text),
				 "%s signal, byte %zu is %u, wanted 0",
				 names[i], at, memory[i][at]);
			prop_report_step(rank, text);
			return -EBADMSG;
		}
	return 0;
}

/* The rank's memory must be as the model has it. */
static inline int prop_check(struct prop_rank *rank)
{
	for (int place = 0; place <= PROP_PRIVATE; place++)
		PLD_TRY(prop_check_place(rank, place));
	return prop_check_signals(rank);
}

#endif /* PLD_PROP_CHECK_H */
