// SPDX-License-Identifier: GPL-2.0
/*
 * The module's text of domains: lines of a word and key=value. Words and keys
 * that are not known here are passed over; a known one that is missing, or has
 * a value that it cannot have, is an error.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

#define FORMAT 1
#define LINE_BYTES 1024

struct parser {
	struct info *info;
	/* where the next rank, wait, cell and window belong */
	struct domain *domain;
	struct rank *rank;
	struct wait *wait;
	/* the line without its indent, and its number */
	char line[LINE_BYTES];
	int number;
	bool has_format;
	/* what is wrong with it, "" while nothing is */
	char *why;
};

static void wrong(struct parser *parser, const char *what)
{
	if (!*parser->why)
		snprintf(parser->why, SENTENCE_BYTES, "line %d: %s: %.300s",
			 parser->number, what, parser->line);
}

/* The value of a key, up to a space or the end; NULL when it is not there. */
static const char *value_of(struct parser *parser, const char *key,
			    size_t *length)
{
	size_t key_length = strlen(key);
	const char *at = parser->line;

	while ((at = strchr(at, ' '))) {
		at++;
		if (strncmp(at, key, key_length) || at[key_length] != '=')
			continue;
		at += key_length + 1;
		*length = strcspn(at, " ");
		return at;
	}
	wrong(parser, key);
	return NULL;
}

/* A number from least to most; least when there is none, and something wrong. */
static int64_t number_of(struct parser *parser, const char *key, int64_t least,
			 int64_t most)
{
	size_t length;
	const char *value = value_of(parser, key, &length);
	long long number;
	char *end;

	if (!value)
		return least;
	errno = 0;
	number = strtoll(value, &end, 10);
	if (errno || end != value + length || !length ||
	    isspace((unsigned char)*value) || number < least || number > most) {
		wrong(parser, key);
		return least;
	}
	return number;
}

static uint32_t u32_of(struct parser *parser, const char *key)
{
	return (uint32_t)number_of(parser, key, 0, UINT32_MAX);
}

/* Which of the names the value is. */
static unsigned int name_of(struct parser *parser, const char *key,
			    const char *const *names, unsigned int count)
{
	size_t length;
	const char *value = value_of(parser, key, &length);

	for (unsigned int i = 0; value && i < count; i++)
		if (strlen(names[i]) == length &&
		    !strncmp(names[i], value, length))
			return i;
	wrong(parser, key);
	return 0;
}

static void take_domain(struct parser *parser)
{
	static const char *const reasons[] = { "none",	  "dead",  "error",
					       "timeout", "abort", "outside" };
	struct domain *domain =
		GROW(parser->info->domains, parser->info->nr_domains);

	parser->domain = domain;
	parser->rank = NULL;
	parser->wait = NULL;
	domain->platform = KMOD;
	domain->id = u32_of(parser, "id");
	domain->owner = u32_of(parser, "owner");
	domain->maker = (int)number_of(parser, "maker", 0, INT32_MAX) ?: -1;
	domain->epoch = u32_of(parser, "epoch");
	domain->reason = name_of(parser, "reason", reasons,
				 sizeof(reasons) / sizeof(reasons[0]));
	domain->culprit = u32_of(parser, "culprit");
	domain->code = (int32_t)number_of(parser, "code", INT32_MIN, INT32_MAX);
}

static void take_rank(struct parser *parser)
{
	static const char *const states[] = { "absent", "joined", "left",
					      "dead" };
	struct rank *rank;

	if (!parser->domain || parser->domain->nr_ranks >= PLD_SIM_MAX_RANKS ||
	    u32_of(parser, "nr") != parser->domain->nr_ranks) {
		wrong(parser, "a rank out of place");
		return;
	}
	rank = GROW(parser->domain->ranks, parser->domain->nr_ranks);
	parser->rank = rank;
	parser->wait = NULL;
	rank->device = u32_of(parser, "device");
	rank->state = name_of(parser, "state", states,
			      sizeof(states) / sizeof(states[0]));
	rank->pid = (int)number_of(parser, "pid", 0, INT32_MAX) ?: -1;
	rank->sleeping = u32_of(parser, "waiters");
	rank->rings = u32_of(parser, "rings");
}

static void take_wait(struct parser *parser)
{
	if (!parser->rank) {
		wrong(parser, "a wait out of place");
		return;
	}
	parser->wait = GROW(parser->rank->waits, parser->rank->nr_waits);
	parser->wait->any = number_of(parser, "any", 0, 1);
	parser->wait->waiting_ns =
		(uint64_t)number_of(parser, "waiting_ns", 0, INT64_MAX);
}

static void take_cell(struct parser *parser)
{
	static const char *const cmps[] = { "eq", "ge" };
	struct cell *cell;

	if (!parser->wait || parser->wait->nr_cells >= PLD_SIM_MAX_CONDITIONS) {
		wrong(parser, "a cell out of place");
		return;
	}
	cell = GROW(parser->wait->cells, parser->wait->nr_cells);
	cell->window = u32_of(parser, "window");
	cell->offset = (uint64_t)number_of(parser, "offset", 0, INT64_MAX);
	cell->cmp = name_of(parser, "cmp", cmps, 2);
	cell->expected =
		(int32_t)number_of(parser, "expected", INT32_MIN, INT32_MAX);
	cell->value = (int32_t)number_of(parser, "value", INT32_MIN, INT32_MAX);
	cell->has_value = true;
}

static void take_window(struct parser *parser)
{
	struct window *window;

	if (!parser->domain) {
		wrong(parser, "a window out of place");
		return;
	}
	window = GROW(parser->domain->windows, parser->domain->nr_windows);
	window->id = u32_of(parser, "id");
	window->bytes = (uint64_t)number_of(parser, "bytes", 0, INT64_MAX);
	window->stride = (uint64_t)number_of(parser, "stride", 0, INT64_MAX);
	window->signal = number_of(parser, "signal", 0, 1);
	window->users = (int)number_of(parser, "users", 0, INT32_MAX);
	window->imported =
		(int)number_of(parser, "imported", 0, PLD_SIM_MAX_RANKS);
}

static const struct {
	const char *word;
	void (*take)(struct parser *parser);
} lines[] = {
	{ "domain ", take_domain }, { "rank ", take_rank },
	{ "wait ", take_wait },	    { "cell ", take_cell },
	{ "window ", take_window },
};

static void take_line(struct parser *parser)
{
	char format[32];

	if (!parser->has_format) {
		snprintf(format, sizeof(format), "format=%d", FORMAT);
		parser->has_format = !strcmp(parser->line, format);
		if (!parser->has_format)
			wrong(parser, "another format");
		return;
	}
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strncmp(parser->line, lines[i].word, strlen(lines[i].word)))
			lines[i].take(parser);
}

/* Copies the line at text; what follows it, or NULL when it is no whole line. */
static const char *next_line(struct parser *parser, const char *text,
			     const char *end)
{
	const char *newline = memchr(text, '\n', (size_t)(end - text));
	size_t length;

	parser->number++;
	parser->line[0] = '\0';
	while (newline && *text == ' ')
		text++;
	length = newline ? (size_t)(newline - text) : 0;
	if (!newline || length >= LINE_BYTES || memchr(text, '\0', length)) {
		wrong(parser, "no line");
		return NULL;
	}
	memcpy(parser->line, text, length);
	parser->line[length] = '\0';
	return newline + 1;
}

bool parse_domains(const char *text, size_t length, struct info *info,
		   char why[SENTENCE_BYTES])
{
	struct parser parser = { .info = info, .why = why };
	const char *end = text + length;

	*why = '\0';
	if (!length)
		wrong(&parser, "nothing");
	while (!*why && text && text < end) {
		text = next_line(&parser, text, end);
		if (text)
			take_line(&parser);
	}
	return !*why;
}
