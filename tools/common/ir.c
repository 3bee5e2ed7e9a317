// SPDX-License-Identifier: GPL-2.0
/*
 * Traces as text. The lines are what the library recorded; nothing here knows
 * what the kernels are to do.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ir.h"

static char *line_of(const pld_domain *domain, int rank, uint64_t index)
{
	char text[PLD_TRACE_TEXT_BYTES];
	pld_trace_record record;

	/* A rank that was killed may have left half of one. */
	if (pld_trace_get(domain, rank, index, &record) ||
	    pld_trace_text(&record, text))
		return strdup("# no whole record");
	return strdup(text);
}

int ir_read(const pld_domain *domain, int rank, struct ir *ir)
{
	uint64_t count;

	*ir = (struct ir){ 0 };
	PLD_TRY(pld_trace_length(domain, rank, &count, &ir->lost));
	ir->lines = calloc(count + 1, sizeof(*ir->lines));
	if (!ir->lines)
		return -ENOMEM;
	for (; ir->count < count; ir->count++) {
		ir->lines[ir->count] = line_of(domain, rank, ir->count);
		if (!ir->lines[ir->count])
			return -ENOMEM;
	}
	return 0;
}

void ir_free(struct ir *ir)
{
	for (size_t i = 0; i < ir->count; i++)
		free(ir->lines[i]);
	free(ir->lines);
	*ir = (struct ir){ 0 };
}

/* What is counted, by the words that its lines have. */
static const struct {
	const char *name;
	const char *word;
} operations[] = {
	{ "load", "pl.tile.load(" },
	{ "store", "pl.tile.store(" },
	{ "remote_load", "pld.tile.remote_load(" },
	{ "remote_store", "pld.tile.remote_store(" },
	{ "put", "pld.tile.put(" },
	{ "get", "pld.tile.get(" },
	{ "notify", "pld.system.notify(" },
	{ "wait", "pld.system.wait(" },
	{ "read", "pl.tensor.read(" },
	{ "write", "pl.tensor.write(" },
	{ "add", "pl.tile.add(" },
	{ "mul", "pl.tile.mul(" },
	{ "maximum", "pl.tile.maximum(" },
	{ "minimum", "pl.tile.minimum(" },
	{ "cast", "pl.tile.cast(" },
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

static size_t count_of(const struct ir *ir, const char *word)
{
	size_t count = 0;

	for (size_t i = 0; i < ir->count; i++)
		count += !!strstr(ir->lines[i], word);
	return count;
}

static void print_counts(const char *before, const struct ir *ir)
{
	const char *between = before;

	for (size_t i = 0; i < OPERATIONS; i++) {
		size_t count = count_of(ir, operations[i].word);

		if (!count)
			continue;
		printf("%s%zu %s", between, count, operations[i].name);
		between = ", ";
	}
	putchar('\n');
}

void ir_print(const struct ir *ir, int rank, const char *mode)
{
	printf("rank %d, %s:\n", rank, mode);
	if (ir->lost)
		printf("  # %llu earlier operations are not kept\n",
		       (unsigned long long)ir->lost);
	for (size_t i = 0; i < ir->count; i++)
		printf("  %s\n", ir->lines[i]);
	print_counts("  # ", ir);
}

/* Columns of the longest line. */
static int width_of(const struct ir *ir, const char *title)
{
	size_t width = strlen(title);

	for (size_t i = 0; i < ir->count; i++)
		if (strlen(ir->lines[i]) > width)
			width = strlen(ir->lines[i]);
	return (int)width;
}

/*
 * Length of the longest common subsequence of what is left of both from i and j
 * on, for every i and j: rows of right's length plus 1.
 */
static unsigned int *common_lengths(const struct ir *left,
				    const struct ir *right)
{
	size_t columns = right->count + 1;
	unsigned int *length =
		calloc((left->count + 1) * columns, sizeof(*length));

	if (!length)
		return NULL;
	for (size_t i = left->count; i-- > 0;)
		for (size_t j = right->count; j-- > 0;) {
			unsigned int *here = &length[i * columns + j];
			unsigned int down = here[columns], next = here[1];

			*here = down > next ? down : next;
			if (!strcmp(left->lines[i], right->lines[j]))
				*here = here[columns + 1] + 1;
		}
	return length;
}

static void print_row(int width, const char *left, char mark, const char *right)
{
	if (*right)
		printf("  %-*s %c %s\n", width, left, mark, right);
	else
		printf("  %-*s %c\n", width, left, mark);
}

/* What differs up to the next common line, paired as far as it goes. */
static void print_different(const struct ir *left, size_t i, size_t i_end,
			    const struct ir *right, size_t j, size_t j_end,
			    int width)
{
	while (i < i_end && j < j_end)
		print_row(width, left->lines[i++], '|', right->lines[j++]);
	while (i < i_end)
		print_row(width, left->lines[i++], '<', "");
	while (j < j_end)
		print_row(width, "", '>', right->lines[j++]);
}

static void print_rows(const struct ir *left, const struct ir *right,
		       const unsigned int *length, int width)
{
	size_t columns = right->count + 1, i = 0, j = 0;

	while (i < left->count || j < right->count) {
		size_t i_end = i, j_end = j;

		while ((i_end < left->count || j_end < right->count) &&
		       (i_end == left->count || j_end == right->count ||
			strcmp(left->lines[i_end], right->lines[j_end]) != 0)) {
			const unsigned int *here =
				&length[i_end * columns + j_end];

			if (j_end == right->count ||
			    (i_end < left->count && here[columns] >= here[1]))
				i_end++;
			else
				j_end++;
		}
		print_different(left, i, i_end, right, j, j_end, width);
		i = i_end;
		j = j_end;
		if (i < left->count && j < right->count)
			print_row(width, left->lines[i++], ' ',
				  right->lines[j++]);
	}
}

void ir_print_diff(const struct ir *left, const char *left_mode,
		   const struct ir *right, const char *right_mode, int rank)
{
	int width = width_of(left, left_mode);
	unsigned int *length = common_lengths(left, right);

	printf("rank %d:\n", rank);
	print_row(width, left_mode, ' ', right_mode);
	if (length)
		print_rows(left, right, length, width);
	printf("  # %s: ", left_mode);
	print_counts("", left);
	printf("  # %s: ", right_mode);
	print_counts("", right);
	free(length);
}
