// SPDX-License-Identifier: GPL-2.0
/*
 * New programs, and changed ones. A call that wants a thing gets one that an
 * earlier line makes; where there is none, a line that makes one goes before it.
 */
#include <string.h>

#include "calls.h"
#include "generate.h"

/* So deep are lines made for the sake of other lines. */
#define DEPTH 4

static bool is_fd(enum fuzz_kind kind)
{
	switch (kind) {
	case KIND_DEVICE:
	case KIND_RANK:
	case KIND_DOMAIN:
	case KIND_DMABUF:
	case KIND_FENCE:
	case KIND_EVENTFD:
	case KIND_EPOLL:
	case KIND_TIMELINE:
	case KIND_CARD:
	case KIND_FD:
		return true;
	default:
		return false;
	}
}

static bool fits(enum fuzz_kind made, enum fuzz_kind wanted)
{
	return made == wanted || (wanted == KIND_FD && is_fd(made));
}

static const struct fuzz_call *draw_call(struct fuzz_random *random,
					 enum fuzz_kind makes)
{
	const struct fuzz_call *call;
	int all = 0, drawn;

	for (int i = 0; (call = fuzz_call_at(i)); i++)
		if (makes == KIND_NUMBER || fits(call->makes, makes))
			all += call->weight;
	drawn = fuzz_below(random, all);
	for (int i = 0; (call = fuzz_call_at(i)); i++) {
		if (makes != KIND_NUMBER && !fits(call->makes, makes))
			continue;
		drawn -= call->weight;
		if (drawn < 0)
			break;
	}
	return call;
}

/* An earlier line that makes it, the later ones more often; or -1. */
static int draw_maker(struct fuzz_random *random,
		      const struct fuzz_program *program, int before,
		      enum fuzz_kind kind)
{
	int found = -1;

	for (int i = before - 1; i >= 0; i--) {
		if (!fits(program->lines[i].call->makes, kind))
			continue;
		found = i;
		if (fuzz_percent(random, 60))
			break;
	}
	return found;
}

/* Makes room for a line before @at; what the others mean stays. */
static struct fuzz_line *open_line(struct fuzz_program *program, int at)
{
	struct fuzz_line *lines = program->lines;

	for (int i = at; i < program->nr; i++)
		for (int j = 0; j < FUZZ_MAX_ARGS; j++)
			if (lines[i].args[j].is_line &&
			    lines[i].args[j].value >= at)
				lines[i].args[j].value++;
	memmove(&lines[at + 1], &lines[at], (program->nr - at) * sizeof(*lines));
	program->nr++;
	memset(&lines[at], 0, sizeof(lines[at]));
	return &lines[at];
}

void fuzz_remove_line(struct fuzz_program *program, int at)
{
	struct fuzz_line *lines = program->lines;

	program->nr--;
	memmove(&lines[at], &lines[at + 1], (program->nr - at) * sizeof(*lines));
	for (int i = at; i < program->nr; i++) {
		for (int j = 0; j < FUZZ_MAX_ARGS; j++) {
			struct fuzz_arg *arg = &lines[i].args[j];

			if (!arg->is_line || arg->value < at)
				continue;
			if (arg->value == at)
				*arg = (struct fuzz_arg){ .value = -1 };
			else
				arg->value--;
		}
	}
}

static int64_t draw_number(struct fuzz_random *random,
			   const struct fuzz_param *param)
{
	int64_t value = param->values[fuzz_below(random, param->nr_values)];

	/* What a call ends with (PLACE_PARAMS) is right most of the time. */
	if (!strcmp(param->name, "size") || !strcmp(param->name, "at") ||
	    !strcmp(param->name, "poke_at"))
		return fuzz_percent(random, 96) ? param->values[0] : value;
	if (fuzz_percent(random, 55))
		return param->values[0];
	if (fuzz_percent(random, 5))
		return value ^ 1LL << fuzz_below(random, 64);
	if (fuzz_percent(random, 5))
		return value + (int)fuzz_below(random, 9) - 4;
	return value;
}

static int insert(struct fuzz_random *random, struct fuzz_program *program,
		  int at, const struct fuzz_call *call, int depth);

/* Fills an argument of line @at, which moves when a line goes before it. */
static int draw_thing(struct fuzz_random *random, struct fuzz_program *program,
		      int at, int arg, enum fuzz_kind kind, int depth)
{
	struct fuzz_arg *to = &program->lines[at].args[arg];
	int maker, lines = program->nr;

	*to = (struct fuzz_arg){ .value = -1 };
	if (fuzz_percent(random, 4))
		return at;
	/* Now and then something else: descriptors have kinds. */
	if (is_fd(kind) && fuzz_percent(random, 4))
		kind = KIND_FD;
	maker = draw_maker(random, program, at, kind);
	if ((maker < 0 || fuzz_percent(random, 5)) && depth < DEPTH &&
	    program->nr < FUZZ_MAX_LINES) {
		maker = insert(random, program, at, draw_call(random, kind),
			       depth + 1);
		at += program->nr - lines;
		to = &program->lines[at].args[arg];
	}
	if (maker >= 0)
		*to = (struct fuzz_arg){ .value = maker, .is_line = true };
	return at;
}

/* Workers that lines before this one have begun. */
static int draw_slot(struct fuzz_random *random,
		     const struct fuzz_program *program, int before)
{
	int slot = 0;

	for (int i = 0; i < before; i++) {
		const struct fuzz_line *line = &program->lines[i];

		if (!strcmp(line->call->name, "spawn") &&
		    line->args[0].value > 0 &&
		    line->args[0].value < FUZZ_MAX_SLOTS &&
		    fuzz_percent(random, 40))
			slot = line->args[0].value;
	}
	return slot;
}

static void draw_manner(struct fuzz_random *random,
			struct fuzz_program *program, int at)
{
	struct fuzz_line *line = &program->lines[at];

	line->slot = draw_slot(random, program, at);
	line->async = fuzz_percent(random, 10);
	line->nth = fuzz_percent(random, 4) ? 1 + fuzz_below(random, 12) : 0;
}

/* Where the new line is in the end. */
static int insert(struct fuzz_random *random, struct fuzz_program *program,
		  int at, const struct fuzz_call *call, int depth)
{
	struct fuzz_line *line = open_line(program, at);

	line->call = call;
	draw_manner(random, program, at);
	for (int i = 0; i < fuzz_count_params(call); i++) {
		const struct fuzz_param *param = &call->params[i];

		if (param->kind == KIND_NUMBER)
			program->lines[at].args[i].value =
				draw_number(random, param);
		else
			at = draw_thing(random, program, at, i, param->kind,
					depth);
	}
	return at;
}

static void insert_any(struct fuzz_random *random, struct fuzz_program *program,
		       int at)
{
	if (program->nr < FUZZ_MAX_LINES)
		insert(random, program, at, draw_call(random, KIND_NUMBER), 0);
}

void fuzz_generate(struct fuzz_random *random, struct fuzz_program *program)
{
	int lines = 4 + fuzz_below(random, FUZZ_MAX_LINES - 4);

	program->nr = 0;
	while (program->nr < lines)
		insert_any(random, program, program->nr);
}

static void change_arg(struct fuzz_random *random, struct fuzz_program *program,
		       int at)
{
	struct fuzz_line *line = &program->lines[at];
	int nr = fuzz_count_params(line->call), arg;

	if (!nr)
		return;
	arg = fuzz_below(random, nr);
	if (line->call->params[arg].kind == KIND_NUMBER)
		line->args[arg].value =
			line->call->params[arg].values
				[fuzz_below(random,
					    line->call->params[arg].nr_values)];
	else
		draw_thing(random, program, at, arg,
			   line->call->params[arg].kind, DEPTH - 1);
}

/* A line once more, at the end: closed twice, joined twice... */
static void repeat_line(struct fuzz_random *random,
			struct fuzz_program *program, int at)
{
	if (program->nr == FUZZ_MAX_LINES)
		return;
	program->lines[program->nr++] = program->lines[at];
	(void)random;
}

/* The end of another one after the beginning of this one. */
static void splice(struct fuzz_random *random, struct fuzz_program *program,
		   const struct fuzz_program *other)
{
	int keep = fuzz_below(random, program->nr + 1), base = keep;

	for (int i = 0; i < other->nr && base + i < FUZZ_MAX_LINES; i++) {
		struct fuzz_line *line = &program->lines[base + i];

		*line = other->lines[i];
		for (int j = 0; j < FUZZ_MAX_ARGS; j++)
			if (line->args[j].is_line)
				line->args[j].value += base;
		keep = base + i + 1;
	}
	program->nr = keep;
}

static void mutate_once(struct fuzz_random *random, struct fuzz_program *program,
			const struct fuzz_program *other)
{
	int at = fuzz_below(random, program->nr);

	switch (fuzz_below(random, 16)) {
	case 0 ... 4:
		insert_any(random, program, fuzz_below(random, program->nr + 1));
		break;
	case 5 ... 8:
		change_arg(random, program, at);
		break;
	case 9:
	case 10:
		if (program->nr > 1)
			fuzz_remove_line(program, at);
		break;
	case 11:
		repeat_line(random, program, at);
		break;
	case 12:
		splice(random, program, other);
		break;
	case 13:
		program->lines[at].async = !program->lines[at].async;
		break;
	case 14:
		program->lines[at].nth = fuzz_below(random, 16);
		break;
	default:
		program->lines[at].slot = draw_slot(random, program, at);
	}
}

void fuzz_mutate(struct fuzz_random *random, struct fuzz_program *program,
		 const struct fuzz_program *other)
{
	do
		mutate_once(random, program, other);
	while (fuzz_percent(random, 60));
}
