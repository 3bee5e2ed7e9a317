// SPDX-License-Identifier: GPL-2.0
/* Programs as text, and back. */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "program.h"

struct text {
	char *at;
	size_t size, used;
};

static void __attribute__((format(printf, 2, 3)))
add(struct text *text, const char *format, ...)
{
	size_t left = text->used < text->size ? text->size - text->used : 0;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(left ? text->at + text->used : NULL, left, format, ap);
	va_end(ap);
	text->used += n;
}

static void add_number(struct text *text, int64_t value)
{
	if (value > -65536 && value < 65536)
		add(text, "%" PRId64, value);
	else
		add(text, "0x%" PRIx64, value);
}

static int64_t default_value(const struct fuzz_param *param)
{
	return param->kind == KIND_NUMBER ? param->values[0] : -1;
}

static void add_args(struct text *text, const struct fuzz_line *line)
{
	const struct fuzz_param *params = line->call->params;
	const char *comma = "";

	for (int i = 0; i < fuzz_count_params(line->call); i++) {
		const struct fuzz_arg *arg = &line->args[i];

		if (!arg->is_line && arg->value == default_value(&params[i]))
			continue;
		add(text, "%s%s=", comma, params[i].name);
		if (arg->is_line)
			add(text, "r%" PRId64, arg->value);
		else
			add_number(text, arg->value);
		comma = ", ";
	}
}

int fuzz_print_line(const struct fuzz_program *program, int nr, char *at,
		    size_t size)
{
	const struct fuzz_line *line = &program->lines[nr];
	struct text text = { .at = at, .size = size };

	if (line->slot)
		add(&text, "p%d: ", line->slot);
	add(&text, "r%d = %s(", nr, line->call->name);
	add_args(&text, line);
	add(&text, ")");
	if (line->async)
		add(&text, " &");
	if (line->nth)
		add(&text, " !%d", line->nth);
	return text.used;
}

void fuzz_print(const struct fuzz_program *program, char *text, size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (int i = 0; i < program->nr && used + 1 < size; i++) {
		used += fuzz_print_line(program, i, text + used, size - used);
		if (used + 1 < size) {
			text[used++] = '\n';
			text[used] = '\0';
		}
	}
}

/* What is being parsed; names of lines to their numbers. */
struct parser {
	const char *at;
	int lines[1000];
};

static bool skip(struct parser *p, const char *token)
{
	while (*p->at == ' ' || *p->at == '\t')
		p->at++;
	if (strncmp(p->at, token, strlen(token)))
		return false;
	p->at += strlen(token);
	return true;
}

/* A number that is written after @token, below @limit. */
static bool numbered(struct parser *p, const char *token, int limit, int *n)
{
	const char *before = p->at;
	char *end;
	long value;

	if (!skip(p, token) || !isdigit(*p->at)) {
		p->at = before;
		return false;
	}
	value = strtol(p->at, &end, 10);
	p->at = end;
	*n = value;
	return value < limit;
}

static bool name(struct parser *p, char *to, size_t size)
{
	size_t n = 0;

	skip(p, "");
	while ((isalnum(p->at[n]) || p->at[n] == '_') && n + 1 < size)
		n++;
	memcpy(to, p->at, n);
	to[n] = '\0';
	p->at += n;
	return n > 0;
}

static bool parse_value(struct parser *p, struct fuzz_arg *arg)
{
	char *end;
	int line;

	arg->is_line = numbered(p, "r", 1000, &line);
	if (arg->is_line) {
		arg->value = p->lines[line];
		return arg->value >= 0;
	}
	skip(p, "");
	arg->value = *p->at == '-' ? strtoll(p->at, &end, 0)
				   : (int64_t)strtoull(p->at, &end, 0);
	if (end == p->at)
		return false;
	p->at = end;
	return true;
}

static bool parse_args(struct parser *p, struct fuzz_line *line)
{
	const struct fuzz_param *params = line->call->params;
	int nr = fuzz_count_params(line->call), i;
	char word[32];

	for (i = 0; i < nr; i++)
		line->args[i].value = default_value(&params[i]);
	if (skip(p, ")"))
		return true;
	do {
		if (!name(p, word, sizeof(word)) || !skip(p, "="))
			return false;
		for (i = 0; i < nr && strcmp(params[i].name, word); i++)
			;
		if (i == nr || !parse_value(p, &line->args[i]))
			return false;
	} while (skip(p, ","));
	return skip(p, ")");
}

static bool parse_line(struct parser *p, struct fuzz_program *program)
{
	struct fuzz_line *line = &program->lines[program->nr];
	int slot = 0, made = -1, nth = 0;
	char word[32];

	if (program->nr == FUZZ_MAX_LINES)
		return false;
	memset(line, 0, sizeof(*line));
	if (numbered(p, "p", FUZZ_MAX_SLOTS, &slot) && !skip(p, ":"))
		return false;
	if (numbered(p, "r", 1000, &made) && !skip(p, "="))
		return false;
	if (slot >= FUZZ_MAX_SLOTS || made >= 1000 ||
	    !name(p, word, sizeof(word)) || !skip(p, "("))
		return false;
	line->call = fuzz_call_named(word);
	if (!line->call || !parse_args(p, line))
		return false;
	line->slot = slot;
	line->async = skip(p, "&");
	if (numbered(p, "!", 256, &nth))
		line->nth = nth;
	if (made >= 0)
		p->lines[made] = program->nr;
	program->nr++;
	return nth < 256;
}

int fuzz_parse(struct fuzz_program *program, const char *text)
{
	struct parser p = { .at = text };

	memset(p.lines, 0xff, sizeof(p.lines));
	program->nr = 0;
	for (int nr = 1; *p.at; nr++) {
		if (!skip(&p, "#") && !skip(&p, "\n") &&
		    (!parse_line(&p, program) ||
		     (!skip(&p, "#") && !skip(&p, "\n") && *p.at)))
			return nr;
		if (p.at[-1] != '\n') {
			p.at += strcspn(p.at, "\n");
			if (*p.at)
				p.at++;
		}
	}
	return 0;
}
