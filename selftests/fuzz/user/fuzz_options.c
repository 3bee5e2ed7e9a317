// SPDX-License-Identifier: GPL-2.0
/*
 * Command lines of pld-allgather, or of another tool where this is built so; of a
 * program of the tutorial with OF_EXAMPLE. Input: words, one a line.
 */
#include <setjmp.h>
#include <stdio.h>

#include "bytes.h"
/* A process has one command line, so what it asked for is never forgotten. */
#include "common/arguments.c"
#include "options.h"

#define MOST_WORDS 16

/* Where the end of the process leads: out of a parser's call, or of all. */
static jmp_buf refused, ended;
static bool parsing, in_parser, was_refused;

_Noreturn void __wrap_exit(int status);
_Noreturn void __real_exit(int status);
int __wrap_close_output(int status);
error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv,
			  unsigned int flags, int *index, void *input);
error_t __real_argp_parse(const struct argp *argp, int argc, char **argv,
			  unsigned int flags, int *index, void *input);
char *__wrap_strdup(const char *text);
char *__real_strdup(const char *text);
void __wrap_free(void *memory);
void __real_free(void *memory);

/* What the end of a process would have freed; there is one at a time. */
static void *copied;

char *__wrap_strdup(const char *text)
{
	copied = __real_strdup(text);
	return copied;
}

void __wrap_free(void *memory)
{
	if (memory == copied)
		copied = NULL;
	__real_free(memory);
}

/* Whoever is not content with an option ends the process. */
_Noreturn void __wrap_exit(int status)
{
	if (!parsing)
		__real_exit(status);
	if (in_parser)
		longjmp(refused, 1);
	longjmp(ended, 1);
}

static argp_parser_t tools_parser;

static error_t parser(int key, char *value, struct argp_state *state)
{
	error_t error;

	if (was_refused)
		return 0;
	if (setjmp(refused)) {
		in_parser = false;
		was_refused = true;
		return EINVAL;
	}
	in_parser = true;
	error = tools_parser(key, value, state);
	in_parser = false;
	return error;
}

/* Returns before the end, or what it has allocated would stay. */
error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv,
			  unsigned int flags, int *index, void *input)
{
	struct argp within = *argp;
	error_t error;

	tools_parser = argp->parser;
	within.parser = parser;
	was_refused = false;
	error = __real_argp_parse(&within, argc, argv, flags, index, input);
	if (was_refused)
		longjmp(ended, 1);
	return error;
}

/* There are further command lines to print for. */
int __wrap_close_output(int status)
{
	return status;
}

static void parse(int argc, char **argv)
{
	struct options options;
#ifdef OF_EXAMPLE
	static const struct example example = {
		.name = "example",
		.about = "An example.\vIts end.",
		.modes = { { "one", "the first" }, { "two", "the second" } },
	};

	example_parse(&example, argc, argv, &options);
#else
	parse_options(argc, argv, &options);
#endif
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data, size };
	char *text = take_string(&in), *rest = text;
	char tool[] = "tool", *words[MOST_WORDS + 2] = { tool };
	int nr = 1;

	program_name = tool;
	help_asked = false;
	version_asked = false;
	while (nr <= MOST_WORDS && rest)
		words[nr++] = strsep(&rest, "\n");
	parsing = true;
	if (!setjmp(ended))
		parse(nr, words);
	parsing = false;
	free(copied);
	free(text);
	return 0;
}
