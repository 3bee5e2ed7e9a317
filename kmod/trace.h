/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints, in /sys/kernel/tracing/events/pld_sim. A domain is named by the
 * number that debugfs shows, a rank by its place in the domain.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pld_sim

#if !defined(PLD_SIM_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define PLD_SIM_TRACE_H

#include <linux/pld_sim.h>
#include <linux/tracepoint.h>

#include "export.h"
#include "wait.h"
#include "window.h"

DECLARE_EVENT_CLASS(pld_domain,
		    TP_PROTO(u32 domain, u32 nranks),
		    TP_ARGS(domain, nranks),
		    TP_STRUCT__entry(__field(u32, domain)
				     __field(u32, nranks)
		    ),
		    TP_fast_assign(__entry->domain = domain;
				   __entry->nranks = nranks;
		    ),
		    TP_printk("domain=%u nranks=%u", __entry->domain, __entry->nranks)
);

DEFINE_EVENT(pld_domain, pld_domain_create,
	     TP_PROTO(u32 domain, u32 nranks),
	     TP_ARGS(domain, nranks)
);

DEFINE_EVENT(pld_domain, pld_domain_destroy,
	     TP_PROTO(u32 domain, u32 nranks),
	     TP_ARGS(domain, nranks)
);

DEFINE_EVENT(pld_domain, pld_domain_reset,
	     TP_PROTO(u32 domain, u32 nranks),
	     TP_ARGS(domain, nranks)
);

TRACE_EVENT(pld_domain_fail,
	    TP_PROTO(u32 domain, u32 reason, u32 rank, s32 code),
	    TP_ARGS(domain, reason, rank, code),
	    TP_STRUCT__entry(__field(u32, domain)
			     __field(u32, reason)
			     __field(u32, rank)
			     __field(s32, code)
	    ),
	    TP_fast_assign(__entry->domain = domain;
			   __entry->reason = reason;
			   __entry->rank = rank;
			   __entry->code = code;
	    ),
	    TP_printk("domain=%u reason=%s rank=%u code=%d",
		      __entry->domain,
		      __print_symbolic(__entry->reason,
				       { PLD_FAIL_DEAD, "dead" },
				       { PLD_FAIL_ERROR, "error" },
				       { PLD_FAIL_TIMEOUT, "timeout" },
				       { PLD_FAIL_ABORT, "abort" },
				       { PLD_FAIL_OUTSIDE, "outside" }),
		      __entry->rank, __entry->code)
);

DECLARE_EVENT_CLASS(pld_rank,
		    TP_PROTO(u32 domain, u32 rank),
		    TP_ARGS(domain, rank),
		    TP_STRUCT__entry(__field(u32, domain)
				     __field(u32, rank)
		    ),
		    TP_fast_assign(__entry->domain = domain;
				   __entry->rank = rank;
		    ),
		    TP_printk("domain=%u rank=%u", __entry->domain, __entry->rank)
);

DEFINE_EVENT(pld_rank, pld_rank_join,
	     TP_PROTO(u32 domain, u32 rank),
	     TP_ARGS(domain, rank)
);

DEFINE_EVENT(pld_rank, pld_rank_leave,
	     TP_PROTO(u32 domain, u32 rank),
	     TP_ARGS(domain, rank)
);

DEFINE_EVENT(pld_rank, pld_rank_dead,
	     TP_PROTO(u32 domain, u32 rank),
	     TP_ARGS(domain, rank)
);

TRACE_EVENT(pld_window_alloc,
	    TP_PROTO(u32 domain, u32 window, u64 length, u32 flags),
	    TP_ARGS(domain, window, length, flags),
	    TP_STRUCT__entry(__field(u32, domain)
			     __field(u32, window)
			     __field(u64, length)
			     __field(u32, flags)
	    ),
	    TP_fast_assign(__entry->domain = domain;
			   __entry->window = window;
			   __entry->length = length;
			   __entry->flags = flags;
	    ),
	    TP_printk("domain=%u window=%u length=%llu flags=%#x",
		      __entry->domain, __entry->window, __entry->length,
		      __entry->flags)
);

TRACE_EVENT(pld_window_free,
	    TP_PROTO(u32 domain, u32 window),
	    TP_ARGS(domain, window),
	    TP_STRUCT__entry(__field(u32, domain)
			     __field(u32, window)
	    ),
	    TP_fast_assign(__entry->domain = domain;
			   __entry->window = window;
	    ),
	    TP_printk("domain=%u window=%u", __entry->domain, __entry->window)
);

/* After pld_window_alloc, for each rank whose memory was imported. */
TRACE_EVENT(pld_window_import,
	    TP_PROTO(u32 domain, u32 window, u32 rank),
	    TP_ARGS(domain, window, rank),
	    TP_STRUCT__entry(__field(u32, domain)
			     __field(u32, window)
			     __field(u32, rank)
	    ),
	    TP_fast_assign(__entry->domain = domain;
			   __entry->window = window;
			   __entry->rank = rank;
	    ),
	    TP_printk("domain=%u window=%u rank=%u", __entry->domain,
		      __entry->window, __entry->rank)
);

DECLARE_EVENT_CLASS(pld_export,
		    TP_PROTO(const struct pld_export *export),
		    TP_ARGS(export),
		    TP_STRUCT__entry(__field(u32, domain)
				     __field(u32, window)
				     __field(u32, rank)
				     __field(u64, offset)
				     __field(u64, length)
		    ),
		    TP_fast_assign(__entry->domain = export->domain;
				   __entry->window = export->window->id;
				   __entry->rank = export->rank;
				   __entry->offset = (u64)export->first << PAGE_SHIFT;
				   __entry->length = (u64)export->nr_pages << PAGE_SHIFT;
		    ),
		    TP_printk("domain=%u window=%u rank=%u offset=%llu length=%llu",
			      __entry->domain, __entry->window, __entry->rank,
			      __entry->offset, __entry->length)
);

DEFINE_EVENT(pld_export, pld_window_export,
	     TP_PROTO(const struct pld_export *export),
	     TP_ARGS(export)
);

/* The dma-buf's last user is gone. */
DEFINE_EVENT(pld_export, pld_export_release,
	     TP_PROTO(const struct pld_export *export),
	     TP_ARGS(export)
);

/* The first cell of a wait, and then each further one. */
DECLARE_EVENT_CLASS(pld_wait_cell,
		    TP_PROTO(u32 domain, u32 rank,
			     const struct pld_waiter *waiter, u32 index),
		    TP_ARGS(domain, rank, waiter, index),
		    TP_STRUCT__entry(__field(u32, domain)
				     __field(u32, rank)
				     __field(u32, window)
				     __field(u32, cmp)
				     __field(u64, offset)
				     __field(s32, expected)
				     __field(u32, index)
				     __field(u32, nr)
				     __field(u32, any)
		    ),
		    TP_fast_assign(__entry->domain = domain;
				   __entry->rank = rank;
				   __entry->window = waiter->wanted[index].cell.window;
				   __entry->cmp = waiter->wanted[index].cmp;
				   __entry->offset = waiter->wanted[index].cell.offset;
				   __entry->expected = waiter->wanted[index].expected;
				   __entry->index = index;
				   __entry->nr = waiter->nr;
				   __entry->any = waiter->flags & PLD_WAIT_ANY;
		    ),
		    TP_printk("domain=%u rank=%u window=%u offset=%llu cell%s%d index=%u of=%u%s",
			      __entry->domain, __entry->rank, __entry->window,
			      __entry->offset,
			      __print_symbolic(__entry->cmp,
					       { PLD_SIM_CMP_EQ, "==" },
					       { PLD_SIM_CMP_GE, ">=" }),
			      __entry->expected, __entry->index, __entry->nr,
			      __entry->any ? " any" : "")
);

DEFINE_EVENT(pld_wait_cell, pld_wait_begin,
	     TP_PROTO(u32 domain, u32 rank, const struct pld_waiter *waiter,
		      u32 index),
	     TP_ARGS(domain, rank, waiter, index)
);

DEFINE_EVENT(pld_wait_cell, pld_wait_also,
	     TP_PROTO(u32 domain, u32 rank, const struct pld_waiter *waiter,
		      u32 index),
	     TP_ARGS(domain, rank, waiter, index)
);

TRACE_EVENT(pld_wait_end,
	    TP_PROTO(u32 domain, u32 rank, const struct pld_cell *cell,
		     s32 value, int result),
	    TP_ARGS(domain, rank, cell, value, result),
	    TP_STRUCT__entry(__field(u32, domain)
			     __field(u32, rank)
			     __field(u32, window)
			     __field(s32, value)
			     __field(u64, offset)
			     __field(int, result)
	    ),
	    TP_fast_assign(__entry->domain = domain;
			   __entry->rank = rank;
			   __entry->window = cell->window;
			   __entry->value = value;
			   __entry->offset = cell->offset;
			   __entry->result = result;
	    ),
	    TP_printk("domain=%u rank=%u window=%u offset=%llu value=%d result=%d",
		      __entry->domain, __entry->rank, __entry->window,
		      __entry->offset, __entry->value, __entry->result)
);

TRACE_EVENT(pld_ring,
	    TP_PROTO(u32 domain, u32 rank, u32 window, u64 offset),
	    TP_ARGS(domain, rank, window, offset),
	    TP_STRUCT__entry(__field(u32, domain)
			     __field(u32, rank)
			     __field(u32, window)
			     __field(u64, offset)
	    ),
	    TP_fast_assign(__entry->domain = domain;
			   __entry->rank = rank;
			   __entry->window = window;
			   __entry->offset = offset;
	    ),
	    TP_printk("domain=%u rank=%u window=%u offset=%llu",
		      __entry->domain, __entry->rank, __entry->window,
		      __entry->offset)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
