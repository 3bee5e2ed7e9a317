// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A trace's record as a line of the original's IR.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dims.h"
#include "error.h"

/* Text that grows; what does not fit is cut. */
struct line {
	char *text;
	size_t length;
};

static void add(struct line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add(struct line *line, const char *format, ...)
{
	size_t left = PLD_TRACE_TEXT_BYTES - line->length;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line->text + line->length, left, format, arguments);
	va_end(arguments);
	if (length > 0)
		line->length += (size_t)length < left ? (size_t)length
						      : left - 1;
}

static void add_dims(struct line *line, pld_dims dims)
{
	char text[PLD_DIMS_TEXT_BYTES];

	add(line, ", %s", pld_dims_text(dims, text));
}

static const char *atomic_name(int atomic)
{
	return atomic == PLD_ADD ? "Add" : "None_";
}

static void add_transfer(struct line *line, const pld_trace_record *r)
{
	bool put = r->op == PLD_TRACE_PUT;

	add(line, "pld.tile.%s(%s, %d, %s, %s", put ? "put" : "get", r->dst,
	    r->peer, r->src, r->stage);
	add_dims(line, r->dst_offsets);
	add_dims(line, r->src_offsets);
	add_dims(line, r->shape);
	if (put)
		add(line, ", atomic=%s", atomic_name(r->mode));
	if (r->chunk_rows)
		add(line, ", chunk_rows=%lld", (long long)r->chunk_rows);
	if (r->chunk_cols)
		add(line, ", chunk_cols=%lld", (long long)r->chunk_cols);
	if (r->pipeline)
		add(line, ", pipeline=True");
	add(line, ")");
}

static void add_load(struct line *line, const pld_trace_record *r)
{
	if (r->op == PLD_TRACE_LOAD)
		add(line, "%s = pl.tile.load(%s", r->dst, r->src);
	else
		add(line, "%s = pld.tile.remote_load(%s, %d", r->dst, r->src,
		    r->peer);
	add_dims(line, r->dst_offsets);
	add_dims(line, r->shape);
	add(line, ")");
}

static void add_store(struct line *line, const pld_trace_record *r)
{
	if (r->op == PLD_TRACE_STORE) {
		add(line, "pl.tile.store(%s", r->src);
		add_dims(line, r->dst_offsets);
		add(line, ", %s)", r->dst);
		return;
	}
	add(line, "pld.tile.remote_store(%s, %s, %d", r->src, r->dst, r->peer);
	add_dims(line, r->dst_offsets);
	add(line, ", atomic=%s)", atomic_name(r->mode));
}

static void add_notify(struct line *line, const pld_trace_record *r)
{
	add(line, "pld.system.notify(%s, %d", r->dst, r->peer);
	add_dims(line, r->dst_offsets);
	add(line, ", %d, op=%s)", r->value,
	    r->mode == PLD_SET ? "Set" : "AtomicAdd");
}

/* Of an errno that a rank may have left, whatever it is. */
static const char *error_name(int error)
{
	const char *name = NULL;

	if (error < 0 && error >= -PLD_LARGEST_ERRNO)
		name = strerrorname_np(-error);
	return name ? name : "failed";
}

static void add_wait(struct line *line, const pld_trace_record *r)
{
	add(line, "pld.system.wait(%s", r->dst);
	add_dims(line, r->dst_offsets);
	add(line, ", %d, cmp=%s)", r->value, r->mode == PLD_EQ ? "Eq" : "Ge");
	if (r->error)
		add(line, "  # %s, the cell was %d", error_name(r->error),
		    r->seen);
}

static void add_element(struct line *line, const pld_trace_record *r)
{
	bool write = r->op == PLD_TRACE_WRITE;

	add(line, "pl.tensor.%s(%s", write ? "write" : "read",
	    write ? r->dst : r->src);
	add_dims(line, r->dst_offsets);
	add(line, ")");
}

static void add_arithmetic(struct line *line, const pld_trace_record *r,
			   const char *name)
{
	add(line, "%s = pl.tile.%s(%s, %s)", r->dst, name, r->src, r->stage);
}

static void add_cast(struct line *line, const pld_trace_record *r)
{
	const char *dtype = pld_dtype_name((pld_dtype)r->mode);

	add(line, "%s = pl.tile.cast(%s, %s)", r->dst, r->src,
	    dtype ? dtype : "no dtype");
}

int pld_trace_text(const pld_trace_record *record,
		   char text[PLD_TRACE_TEXT_BYTES])
{
	struct line line = { .text = text };
	pld_trace_record r;

	if (!record || !text)
		return pld_error(EINVAL,
				 "pld_trace_text: record and text must not be NULL");
	/* A rank may have left anything in a name. */
	r = *record;
	r.dst[PLD_NAME_BYTES - 1] = 0;
	r.src[PLD_NAME_BYTES - 1] = 0;
	r.stage[PLD_NAME_BYTES - 1] = 0;
	text[0] = 0;
	switch (r.op) {
	case PLD_TRACE_LOAD:
	case PLD_TRACE_REMOTE_LOAD:
		add_load(&line, &r);
		return 0;
	case PLD_TRACE_STORE:
	case PLD_TRACE_REMOTE_STORE:
		add_store(&line, &r);
		return 0;
	case PLD_TRACE_PUT:
	case PLD_TRACE_GET:
		add_transfer(&line, &r);
		return 0;
	case PLD_TRACE_NOTIFY:
		add_notify(&line, &r);
		return 0;
	case PLD_TRACE_WAIT:
		add_wait(&line, &r);
		return 0;
	case PLD_TRACE_READ:
	case PLD_TRACE_WRITE:
		add_element(&line, &r);
		return 0;
	case PLD_TRACE_ADD:
		add_arithmetic(&line, &r, "add");
		return 0;
	case PLD_TRACE_MUL:
		add_arithmetic(&line, &r, "mul");
		return 0;
	case PLD_TRACE_MAXIMUM:
		add_arithmetic(&line, &r, "maximum");
		return 0;
	case PLD_TRACE_MINIMUM:
		add_arithmetic(&line, &r, "minimum");
		return 0;
	case PLD_TRACE_CAST:
		add_cast(&line, &r);
		return 0;
	}
	return pld_error(EINVAL, "pld_trace_text: %d is no operation",
			 (int)r.op);
}
