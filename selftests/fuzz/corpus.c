// SPDX-License-Identifier: GPL-2.0
/* The corpus: corpus.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"

bool fuzz_read_program(const char *path, struct fuzz_program *program)
{
	FILE *file = fopen(path, "r");
	char text[FUZZ_MAX_TEXT];
	size_t n;
	int bad;

	if (!file) {
		perror(path);
		return false;
	}
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	bad = fuzz_parse(program, text);
	if (bad)
		fprintf(stderr, "%s:%d: this is no call\n", path, bad);
	return !bad;
}

void fuzz_corpus_add(struct fuzz_corpus *corpus,
		     const struct fuzz_program *program,
		     const struct fuzz_covered *covered)
{
	/* Twice as much room at each power of two. */
	if (!(corpus->nr & (corpus->nr - 1))) {
		corpus->entries = realloc(corpus->entries,
					  (corpus->nr ? corpus->nr * 2 : 1) *
						  sizeof(*corpus->entries));
		if (!corpus->entries) {
			perror("realloc");
			exit(2);
		}
	}
	corpus->entries[corpus->nr].program = *program;
	corpus->entries[corpus->nr].covered = *covered;
	corpus->nr++;
}

/* FNV-1a. */
static uint64_t sum_of(const char *text)
{
	uint64_t sum = 0xcbf29ce484222325ULL;

	while (*text)
		sum = (sum ^ (uint8_t)*text++) * 0x100000001b3ULL;
	return sum;
}

static void print_entry(const struct fuzz_entry *entry)
{
	char text[FUZZ_MAX_TEXT];

	fuzz_print(&entry->program, text, sizeof(text));
	printf("corpus %016" PRIx64 "\n%send\n", sum_of(text), text);
}

/* The one that adds most comes first, again and again. */
void fuzz_corpus_print_few(const struct fuzz_corpus *corpus)
{
	static struct fuzz_covered all, fresh;
	unsigned int best_new, new;
	int best;

	memset(&all, 0, sizeof(all));
	for (;;) {
		best_new = 0;
		for (int i = 0; i < corpus->nr; i++) {
			new = fuzz_cover_new(&fresh,
					     &corpus->entries[i].covered, &all);
			if (new > best_new) {
				best_new = new;
				best = i;
			}
		}
		if (!best_new)
			return;
		fuzz_cover_merge(&all, &corpus->entries[best].covered);
		print_entry(&corpus->entries[best]);
	}
}
