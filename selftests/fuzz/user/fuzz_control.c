// SPDX-License-Identifier: GPL-2.0
/*
 * pld-info: a memfd's control pages, any rank of which may have scribbled over
 * them, and the names of memfds. Input: which of them; a number of ranks; for
 * pages, pairs of an offset and a word, on pages that are well otherwise.
 */
#include <stdio.h>

#include "bytes.h"
#include "pld-info/parse.h"
#include "pld-info/print.h"
#include "platform/control.h"

#define PAGE 4096
#define MOST_RANKS 4

const char *program_name = "fuzz";

static void fill(struct bytes *in, uint8_t *pages, size_t size, uint32_t nranks)
{
	struct pld_control *control = (void *)pages;
	uint32_t change[2];

	control->magic = PLD_CONTROL_MAGIC;
	control->layout = PLD_CONTROL_LAYOUT;
	control->status.nranks = nranks;
	for (uint32_t i = 0; i < nranks; i++) {
		control->status.rank_state[i] = PLD_RANK_JOINED;
		control->devices[i] = i;
	}
	while (in->left) {
		take(in, change, sizeof(change));
		memcpy(pages + change[0] % (size / 4) * 4, &change[1], 4);
	}
}

static void look_at_pages(struct bytes *in)
{
	uint32_t nranks = take_byte(in) % MOST_RANKS + 1;
	size_t whole = (nranks + 1) * PAGE, size;
	uint8_t *pages = calloc(1, whole);
	struct control control = { 0 };
	struct info info = { 0 };
	char why[SENTENCE_BYTES];

	if (!pages)
		return;
	/* Cut short, too. */
	size = whole - take_byte(in) * 32;
	fill(in, pages, whole, nranks);
	pages = realloc(pages, size);
	if (parse_control(pages, size, 1000000000, &control, why)) {
		*GROW(info.domains, info.nr_domains) = control.domain;
		print_table(&info);
		print_json(&info);
		free(control.pids);
	}
	free(pages);
	free_info(&info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data, size };
	struct window_name name;
	char *text;

	if (take_byte(&in) & 1) {
		look_at_pages(&in);
		return 0;
	}
	text = take_string(&in);
	parse_window_name(text, &name);
	is_control_name(text);
	free(text);
	return 0;
}
