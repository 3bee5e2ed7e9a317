// SPDX-License-Identifier: GPL-2.0
/*
 * Command lines of pld-allgather, or of pld-drm where this is built so. Input:
 * words, one a line.
 */
#include <setjmp.h>
#include <stdio.h>

#include "bytes.h"
#include "options.h"

#define MOST_WORDS 16

extern const char *program_name;
static jmp_buf ended;
static bool parsing;

_Noreturn void __wrap_exit(int status);
_Noreturn void __real_exit(int status);

/* Whoever is not content with an option ends the process. */
_Noreturn void __wrap_exit(int status)
{
	if (!parsing)
		__real_exit(status);
	longjmp(ended, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data, size };
	char *text = take_string(&in), *rest = text;
	char tool[] = "tool", *words[MOST_WORDS + 2] = { tool };
	struct options options;
	int nr = 1;

	program_name = tool;
	while (nr <= MOST_WORDS && rest)
		words[nr++] = strsep(&rest, "\n");
	parsing = true;
	if (!setjmp(ended))
		parse_options(nr, words, &options);
	parsing = false;
	free(text);
	return 0;
}
