// SPDX-License-Identifier: GPL-2.0
/*
 * Command lines: what argp does not say itself, and values of options.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/program.h"

#define NS_PER_S 1e9
#define LONGEST_TIMEOUT_S 1e9

const char devices_doc[] =
	"device ids, one rank each, such as 0,1,2,3; 2 to 256, all different";
const char platform_doc[] =
	"auto (kmod when it can be used, else memfd), kmod, memfd, or a2a3sim, another name of auto (default: $PLD_PLATFORM, else auto)";
const char dtype_doc[] =
	"fp64, fp32, fp16, bf16, int64, int32, int16, int8, uint64, uint32, uint16 or uint8 (default: fp32)";

/* The option of that letter, or NULL. */
static const struct argp_option *letter_option(const struct argp_option *words,
					       char letter)
{
	for (const struct argp_option *o = words; o->name || o->doc; o++)
		if (letter && o->key == letter)
			return o;
	return NULL;
}

/* The option that the word, of two dashes, is short for, and how many are. */
static const struct argp_option *long_option(const struct argp_option *words,
					     const char *word, int *meant)
{
	size_t length = strcspn(word, "=") - 2;
	const struct argp_option *found = NULL;

	*meant = 0;
	for (const struct argp_option *o = words; o->name || o->doc; o++) {
		if (!o->name || strncmp(o->name, word + 2, length) != 0)
			continue;
		found = o;
		*meant += 1;
		/* Whole, it is not short for others. */
		if (strlen(o->name) == length) {
			*meant = 1;
			break;
		}
	}
	return found;
}

_Noreturn static void refuse_long(const struct argp_option *words,
				  const char *word)
{
	int meant;
	const struct argp_option *option = long_option(words, word, &meant);

	if (!meant)
		usage_error("there is no option '%s'", word);
	if (meant > 1)
		usage_error("option '%s' is ambiguous", word);
	if (option->arg)
		usage_error("option '%s' wants a value", word);
	usage_error("option '%s' takes no value", word);
}

/* Letters in a row; returns when there is nothing wrong with them. */
static void refuse_letters(const struct argp_option *words, const char *word)
{
	for (const char *at = word + 1; *at; at++) {
		const struct argp_option *option = letter_option(words, *at);

		if (!option)
			usage_error("there is no option '-%c'", *at);
		if (option->arg && !at[1])
			usage_error("option '-%c' wants a value", *at);
		if (option->arg)
			return;
	}
}

/* What argp did not take is the word before next, or next within its letters. */
static void refuse_option(const struct argp_state *state)
{
	const struct argp_option *words = state->root_argp->options;
	const char *word = state->argv[state->next - 1];

	if (!strncmp(word, "--", 2))
		refuse_long(words, word);
	if (*word == '-')
		refuse_letters(words, word);
	refuse_letters(words, state->argv[state->next]);
}

static bool help_asked, version_asked;

error_t take_last_option(int key, const char *value,
			 const struct argp_state *state)
{
	switch (key) {
	case KEY_HELP:
		help_asked = true;
		return 0;
	case KEY_VERSION:
		version_asked = true;
		return 0;
	case ARGP_KEY_ARG:
		usage_error("'%s' is not an option", value);
	case ARGP_KEY_ERROR:
		refuse_option(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

enum asked parse_arguments(const struct argp *argp, int argc, char **argv,
			   void *input)
{
	argp_parse(argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, input);
	if (help_asked) {
		argp_help(argp, stdout,
			  ARGP_HELP_LONG | ARGP_HELP_DOC | ARGP_HELP_SHORT_USAGE,
			  (char *)program_name);
		return ASKED_FOR_HELP;
	}
	if (version_asked) {
		printf("%s %s\n", program_name, pld_version());
		return ASKED_FOR_VERSION;
	}
	return ASKED_TO_RUN;
}

static bool is_digit(char letter)
{
	return letter >= '0' && letter <= '9';
}

int64_t parse_digits(const char *text, const char **end)
{
	long long number;
	char *after;

	*end = text;
	if (!is_digit(*text) || (*text == '0' && is_digit(text[1])))
		return -1;
	errno = 0;
	number = strtoll(text, &after, 10);
	if (errno)
		return -1;
	*end = after;
	return number;
}

/* One number up to a comma or the end; *at becomes what follows, or NULL. */
static int parse_one(const char *option, const char *what, const char *list,
		     const char **at)
{
	const char *end;
	int64_t id = parse_digits(*at, &end);

	if (id < 0 || id > INT_MAX || (*end && *end != ','))
		usage_error("%s: '%s' is not a list of %s such as 0,1,2,3",
			    option, list, what);
	*at = *end ? end + 1 : NULL;
	return (int)id;
}

int parse_list(const char *option, const char *what, const char *one,
	       const char *list, int numbers[PLD_MAX_RANKS])
{
	const char *at = list;
	int n = 0;

	if (!*list)
		usage_error("%s: the list of %s is empty", option, what);
	while (at) {
		int number = parse_one(option, what, list, &at);

		if (n == PLD_MAX_RANKS)
			usage_error("%s: more than %d %ss", option,
				    PLD_MAX_RANKS, one);
		for (int i = 0; i < n; i++)
			if (numbers[i] == number)
				usage_error("%s: %s %d is named twice", option,
					    one, number);
		numbers[n++] = number;
	}
	return n;
}

int parse_devices(const char *list, int devices[PLD_MAX_RANKS])
{
	int n = parse_list("-d", "device ids", "device", list, devices);

	if (n < 2)
		usage_error("-d: one device, wanted at least 2");
	return n;
}

int64_t parse_number(const char *option, const char *text, int64_t least,
		     int64_t most)
{
	const char *end;
	int64_t number = parse_digits(text, &end);

	if (number < least || number > most || *end)
		usage_error("%s: '%s' is not a number from %lld to %lld",
			    option, text, (long long)least, (long long)most);
	return number;
}

int64_t parse_timeout(const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	/* strtod() takes blanks, signs, words and hexadecimal digits too. */
	if (!is_digit(*text) || text[strspn(text, "0123456789.eE+-")] || *end ||
	    !(seconds > 0) || !(seconds <= LONGEST_TIMEOUT_S) ||
	    seconds * NS_PER_S < 1)
		usage_error("--timeout: '%s' is not a number of seconds above 0 and up to %g",
			    text, LONGEST_TIMEOUT_S);
	return (int64_t)(seconds * NS_PER_S);
}

pld_dtype parse_dtype(const char *name)
{
	int dtype = pld_dtype_parse(name);

	if (dtype < 0)
		usage_error("--dtype: '%s' is not fp64, fp32, fp16, bf16, int64, int32, int16, int8, uint64, uint32, uint16 or uint8",
			    name);
	return (pld_dtype)dtype;
}
