// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The rank's side: counting and recording.
 *
 * Threads of a rank share its observer. Counters are relaxed: the host reads
 * them when the process has ended, and they order nothing.
 */
#include <stdatomic.h>
#include <string.h>

#include "dims.h"
#include "domain.h"
#include "observe.h"
#include "observer.h"
#include "region.h"
#include "subdomain.h"
#include "transfer.h"

struct pld_observer *pld_observer;

static void count(_Atomic uint64_t *counter, uint64_t by)
{
	atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

/* What stands for a view that its kernel has not named. */
static const char *name_of(const pld_view *view)
{
	if (view->name)
		return view->name;
	switch (view->kind) {
	case PLD_TENSOR:
		return "tensor";
	case PLD_TILE:
		return "tile";
	default:
		return view->buffer->cells ? "signal" : "window";
	}
}

static void set_name(char name[PLD_NAME_BYTES], const char *to)
{
	strncpy(name, to, PLD_NAME_BYTES - 1);
}

/*
 * Keeps a record; a reader takes only those whose number fits. A thread that is
 * a whole ring behind may still have the slot, or find it taken: then one record
 * is lost, and no two are mixed.
 */
static void keep(const pld_trace_record *record)
{
	uint64_t number = atomic_fetch_add_explicit(&pld_observer->records, 1,
						    memory_order_relaxed);
	struct pld_slot *slot = &pld_observer->slots[number % PLD_TRACE_RECORDS];
	uint64_t before =
		atomic_load_explicit(&slot->number, memory_order_relaxed);

	/* Acquire: after what the slot's last writer has written. */
	if (before == PLD_SLOT_BUSY || before > number ||
	    !atomic_compare_exchange_strong_explicit(&slot->number, &before,
						     PLD_SLOT_BUSY,
						     memory_order_acquire,
						     memory_order_relaxed))
		return;
	slot->record = *record;
	/* Release: a rank killed before this has not written the record. */
	atomic_store_explicit(&slot->number, number + 1, memory_order_release);
}

static uint64_t bytes_of(pld_dims shape, pld_dtype dtype)
{
	return (uint64_t)pld_dims_count(&shape) *
	       (uint64_t)pld_dtype_bytes(dtype);
}

static void count_transfer(const pld_view *far, int peer, uint64_t bytes,
			   bool put)
{
	const pld_domain *domain = far->buffer->domain;
	struct pld_traffic *traffic;

	if (peer == domain->rank)
		return;
	/* The host counts by the ranks that it launched. */
	peer = pld_launched_rank(domain, peer);
	traffic = put ? &pld_observer->to[peer] : &pld_observer->from[peer];
	count(&traffic->bytes, bytes);
	count(&traffic->messages, 1);
}

static pld_dims valid_of(const pld_tile *tile)
{
	return tile->valid_shape.ndim ? tile->valid_shape : tile->shape;
}

/* Between a tensor and a tile; a local one has no peer. */
static void observe_tile(pld_trace_op op, const pld_view *dst,
			 const pld_view *src, const pld_view *tensor,
			 const pld_tile *tile, int peer, pld_dims offsets,
			 pld_atomic_type atomic)
{
	pld_trace_record record = {
		.op = op,
		.peer = peer,
		.mode = (int)atomic,
		.dst_offsets = offsets,
		.shape = valid_of(tile),
		.bytes = bytes_of(valid_of(tile), tile->dtype),
	};

	set_name(record.dst, name_of(dst));
	set_name(record.src, name_of(src));
	if (peer >= 0)
		count_transfer(tensor, peer, record.bytes, dst == tensor);
	keep(&record);
}

void pld_observe_load(const pld_view *tensor, pld_dims offsets,
		      const pld_tile *tile)
{
	observe_tile(PLD_TRACE_LOAD, tile, tensor, tensor, tile, -1, offsets,
		     PLD_NONE);
}

void pld_observe_store(const pld_tile *tile, pld_dims offsets,
		       const pld_view *tensor)
{
	observe_tile(PLD_TRACE_STORE, tensor, tile, tensor, tile, -1, offsets,
		     PLD_NONE);
}

void pld_observe_remote_load(const pld_view *target, int peer, pld_dims offsets,
			     const pld_tile *tile)
{
	observe_tile(PLD_TRACE_REMOTE_LOAD, tile, target, target, tile, peer,
		     offsets, PLD_NONE);
}

void pld_observe_remote_store(const pld_tile *tile, const pld_view *target,
			      int peer, pld_dims offsets, pld_atomic_type atomic)
{
	observe_tile(PLD_TRACE_REMOTE_STORE, target, tile, target, tile, peer,
		     offsets, atomic);
}

void pld_observe_transfer(const struct pld_transfer *t, bool put, int peer)
{
	const pld_put_options *options = t->options;
	pld_trace_record record = {
		.op = put ? PLD_TRACE_PUT : PLD_TRACE_GET,
		.peer = peer,
		.mode = (int)options->atomic,
		.pipeline = !!options->pipeline,
		.chunk_rows = options->chunk_rows,
		.chunk_cols = options->chunk_cols,
		.bytes = bytes_of(*t->shape, t->dst->dtype),
		.dst_offsets = *t->dst_offsets,
		.src_offsets = *t->src_offsets,
		.shape = *t->shape,
	};

	set_name(record.dst, name_of(t->dst));
	set_name(record.src, name_of(t->src));
	/* Who gives none has one by name, as in the original. */
	set_name(record.stage,
		 t->stage && t->stage->name ? t->stage->name : "stage");
	count_transfer(put ? t->dst : t->src, peer, record.bytes, put);
	keep(&record);
}

void pld_observe_notify(const pld_view *signal, int peer, pld_dims offsets,
			int32_t value, pld_notify_op op, int32_t before)
{
	pld_trace_record record = {
		.op = PLD_TRACE_NOTIFY,
		.peer = peer,
		.mode = (int)op,
		.value = value,
		.seen = before,
		.dst_offsets = offsets,
	};

	set_name(record.dst, name_of(signal));
	count(peer == signal->buffer->domain->rank ? &pld_observer->own_notifies
						   : &pld_observer->notifies,
	      1);
	keep(&record);
}

void pld_observe_wait(const pld_view *signal, pld_dims offsets,
		      int32_t expected, pld_cmp cmp, int32_t seen, int result)
{
	pld_trace_record record = {
		.op = PLD_TRACE_WAIT,
		.peer = -1,
		.error = result,
		.mode = (int)cmp,
		.value = expected,
		.seen = seen,
		.dst_offsets = offsets,
	};

	set_name(record.dst, name_of(signal));
	count(&pld_observer->waits, 1);
	keep(&record);
}

void pld_observe_element(const pld_view *tensor, pld_dims offsets, bool write)
{
	pld_trace_record record = {
		.op = write ? PLD_TRACE_WRITE : PLD_TRACE_READ,
		.peer = -1,
		.bytes = (uint64_t)pld_dtype_size(tensor->dtype),
		.dst_offsets = offsets,
	};

	set_name(write ? record.dst : record.src, name_of(tensor));
	keep(&record);
}

void pld_observe_arithmetic(pld_trace_op op, const pld_tile *a,
			    const pld_tile *b, const pld_tile *out)
{
	pld_trace_record record = {
		.op = op,
		.peer = -1,
		.mode = (int)out->dtype,
		.shape = valid_of(out),
	};

	set_name(record.dst, name_of(out));
	set_name(record.src, name_of(a));
	if (b)
		set_name(record.stage, name_of(b));
	keep(&record);
}
