// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pld.system.wait, on one cell or several: spin, then yield, then sleep. Or have
 * the kernel do it, where the platform can.
 *
 * With a CPU for every rank the peer is likely running, and its notify is less
 * than a sleep away. With more ranks than CPUs it likely is not: the CPU is given
 * away at once.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>

#include "cell.h"
#include "clock.h"
#include "dims.h"
#include "domain.h"
#include "error.h"
#include "health.h"
#include "look.h"
#include "observe.h"
#include "platform/platform.h"
#include "relax.h"
#include "subdomain.h"
#include "view.h"

#define SPINS 2000
#define SPINS_OVERSUBSCRIBED 1
#define YIELDS 100

/* Room for the name of a condition or of one of its members. */
#define NAME_BYTES 40

/* The rank that should write a cell, where the signal's shape tells, or -1. */
static int owed_by(const pld_view *signal, pld_dims offsets)
{
	const pld_domain *domain = signal->buffer->domain;
	int64_t first = offsets.n[0], last = offsets.n[offsets.ndim - 1];
	bool by_first = signal->shape.n[0] == domain->nranks;
	bool by_last = signal->shape.n[offsets.ndim - 1] == domain->nranks;

	/* Nobody owes it to itself. */
	if (by_first && first != domain->rank)
		return (int)first;
	if (by_last && last != domain->rank)
		return (int)last;
	return -1;
}

static int timed_out(const struct pld_wait_request *request,
		     const struct pld_look *look)
{
	const pld_condition *condition = &request->conditions[look->index];
	const pld_domain *domain = condition->signal->buffer->domain;
	int owed = owed_by(condition->signal, condition->offsets);
	char text[PLD_DIMS_TEXT_BYTES], name[NAME_BYTES] = "";
	char me[PLD_RANK_TEXT_BYTES], who[PLD_RANK_TEXT_BYTES];
	char blame[sizeof(who) + 32] = "";
	int error;

	pld_rank_text(domain, pld_launched_rank(domain, domain->rank), me);
	if (owed >= 0) {
		owed = pld_launched_rank(domain, owed);
		snprintf(blame, sizeof(blame), "; %s should have notified it",
			 pld_rank_text(domain, owed, who));
	}
	if (request->indexed)
		snprintf(name, sizeof(name), "conditions[%d]: ", look->index);
	error = pld_error(ETIMEDOUT,
			  "%s: timed out after %.3f s: %scell %s of %s is %d, expected %s %d%s",
			  request->op,
			  (double)request->timeout_ns / (double)PLD_NS_PER_S,
			  name, pld_dims_text(condition->offsets, text), me,
			  look->value, condition->cmp == PLD_EQ ? "==" : ">=",
			  condition->expected, blame);
	pld_failure()->culprit = owed;
	return error;
}

static int bad_cmp(const char *op, const char *argument, pld_cmp cmp)
{
	return pld_error(EINVAL, "%s: %s is %d, wanted Eq (0) or Ge (1)", op,
			 argument, (int)cmp);
}

static int bad_timeout(const char *op, int64_t timeout_ns)
{
	return pld_error(EINVAL, "%s: timeout is %lld ns, wanted 0 or more", op,
			 (long long)timeout_ns);
}

static int check_one(const char *op, const char *signal, const char *cmp,
		     const pld_condition *condition, struct pld_wanted *wanted)
{
	PLD_TRY(pld_signal_cell(op, signal, condition->signal,
				&condition->offsets, &wanted->offset));
	if (condition->cmp != PLD_EQ && condition->cmp != PLD_GE)
		return bad_cmp(op, cmp, condition->cmp);
	wanted->buffer = condition->signal->buffer;
	wanted->expected = condition->expected;
	wanted->cmp = condition->cmp;
	return 0;
}

/* Indices are put into words only for a sentence that needs them. */
static int check_indexed(const char *op, const pld_condition *conditions,
			 int index, struct pld_wanted *wanted)
{
	char signal[NAME_BYTES], cmp[NAME_BYTES];

	if (check_one(op, "signal", "cmp", &conditions[index], wanted)) {
		snprintf(signal, sizeof(signal), "conditions[%d].signal", index);
		snprintf(cmp, sizeof(cmp), "conditions[%d].cmp", index);
		return check_one(op, signal, cmp, &conditions[index], wanted);
	}
	if (wanted->buffer->domain != conditions[0].signal->buffer->domain)
		return pld_error(EINVAL,
				 "%s: conditions[%d].signal is of another domain than conditions[0].signal",
				 op, index);
	return 0;
}

static int check_all(const struct pld_wait_request *request,
		     struct pld_wanted *cells)
{
	if (!request->indexed)
		PLD_TRY(check_one(request->op, "signal", "cmp",
				  request->conditions, cells));
	for (int i = 0; request->indexed && i < request->count; i++)
		PLD_TRY(check_indexed(request->op, request->conditions, i,
				      &cells[i]));
	return request->timeout_ns < 0
		       ? bad_timeout(request->op, request->timeout_ns)
		       : 0;
}

/*
 * The look that is satisfied, or the last one when spins and yields, or the time,
 * are up: a yield takes as long as another process may keep the CPU.
 */
static struct pld_look look_for_a_while(const pld_domain *domain,
					const struct pld_wants *wants,
					int64_t deadline)
{
	int spins = domain->oversubscribed ? SPINS_OVERSUBSCRIBED : SPINS;
	struct pld_look look = { 0 };

	for (int turn = 0; turn < spins + YIELDS; turn++) {
		if (turn < spins)
			pld_relax();
		else if (pld_now() < deadline)
			sched_yield();
		else
			break;
		look = pld_look(wants);
		if (look.satisfied || !pld_healthy(domain))
			break;
	}
	return look;
}

/* What a wait returns when block() has, or the kernel's wait; look is the last. */
static int conclude(const struct pld_wait_request *request,
		    const pld_domain *domain, const struct pld_look *look,
		    int result)
{
	if (look->satisfied)
		return look->index;
	if (result >= 0)
		return result;
	PLD_TRY(pld_enter(domain, request->op));
	if (result == -ETIMEDOUT)
		return timed_out(request, look);
	return result;
}

/* The index of the condition that decided, or an error; *look is the last one. */
static int wait_checked(const struct pld_wait_request *request,
			const struct pld_wants *wants, struct pld_look *look)
{
	pld_domain *domain = wants->cells[0].buffer->domain;
	int64_t deadline;
	int result;

	*look = pld_look(wants);
	if (look->satisfied)
		return look->index;
	deadline = pld_deadline(request->timeout_ns);
	if (request->timeout_ns && !wants->stop) {
		*look = look_for_a_while(domain, wants, deadline);
		if (look->satisfied)
			return look->index;
	}
	result = domain->platform->block(domain, wants, deadline);
	*look = pld_look(wants);
	return conclude(request, domain, look, result);
}

static void observe(const struct pld_wait_request *request, int index,
		    int32_t seen, int result)
{
	const pld_condition *condition = &request->conditions[index];

	pld_observe_wait(condition->signal, condition->offsets,
			 condition->expected, condition->cmp, seen, result);
}

/* As the waits that it replaces: all of those that hold, or the deciding one. */
static void observe_all(const struct pld_wait_request *request,
			const struct pld_wants *wants,
			const struct pld_look *look, int result)
{
	if (result < 0 || request->any || request->count == 1) {
		observe(request, result < 0 ? look->index : result, look->value,
			result < 0 ? result : 0);
		return;
	}
	for (int i = 0; i < request->count; i++)
		observe(request, i, pld_value(&wants->cells[i]), 0);
}

static struct pld_wants wants_of(const struct pld_wait_request *request,
				 const struct pld_wanted *cells)
{
	return (struct pld_wants){
		.cells = cells,
		.count = request->count,
		.any = request->any,
		.stop = request->stop,
	};
}

static int wait_and_tell(const struct pld_wait_request *request,
			 const struct pld_wanted *cells)
{
	struct pld_wants wants = wants_of(request, cells);
	struct pld_look look;
	int result = wait_checked(request, &wants, &look);

	if (pld_observed() && result != -EINTR)
		observe_all(request, &wants, &look, result);
	return result;
}

int pld_wait_for(const struct pld_wait_request *request)
{
	struct pld_wanted cells[PLD_MAX_CONDITIONS];

	PLD_TRY(check_all(request, cells));
	return wait_and_tell(request, cells);
}

int pld_wait_arm(const struct pld_wait_request *request,
		 struct pld_armed_wait *armed, int eventfd)
{
	struct pld_wants wants;
	pld_domain *domain;

	PLD_TRY(check_all(request, armed->cells));
	wants = wants_of(request, armed->cells);
	domain = armed->cells[0].buffer->domain;
	return domain->platform->arm(domain, &wants,
				     pld_deadline(request->timeout_ns), eventfd,
				     &armed->cookie);
}

int pld_wait_armed(const struct pld_wait_request *request,
		   const struct pld_armed_wait *armed, bool end)
{
	struct pld_wants wants = wants_of(request, armed->cells);
	pld_domain *domain = armed->cells[0].buffer->domain;
	struct pld_look look = { 0 };
	int result;

	result = domain->platform->armed(domain, &wants, armed->cookie, end,
					 &look);
	if (result == -EAGAIN)
		return result;
	result = conclude(request, domain, &look, result);
	if (pld_observed())
		observe_all(request, &wants, &look, result);
	return result;
}

int pld_wait_fence(const struct pld_wait_request *request, int *fd)
{
	struct pld_wanted cells[PLD_MAX_CONDITIONS];
	struct pld_wants wants;
	pld_domain *domain;

	PLD_TRY(check_all(request, cells));
	wants = wants_of(request, cells);
	domain = cells[0].buffer->domain;
	if (!domain->platform->fence)
		return pld_error(EOPNOTSUPP,
				 "%s: platform %s has no sync_file; use pld.system.defer_wait, and the eventfd of pld_waiter_fd",
				 request->op, domain->platform->name);
	if (request->timeout_ns < 1 ||
	    request->timeout_ns > PLD_SIM_MAX_FENCE_NS)
		return pld_error(EINVAL,
				 "%s: timeout is %lld ns, wanted 1 to %lld",
				 request->op, (long long)request->timeout_ns,
				 PLD_SIM_MAX_FENCE_NS);
	return domain->platform->fence(domain, &wants,
				       pld_deadline(request->timeout_ns), fd);
}

int pld_wait_cell(const char *op, const pld_view *signal,
		  const pld_dims *offsets, const struct pld_wanted *cell,
		  int64_t timeout_ns)
{
	pld_condition condition = { signal, *offsets, cell->expected,
				    cell->cmp };
	struct pld_wait_request request = {
		.op = op,
		.conditions = &condition,
		.count = 1,
		.timeout_ns = timeout_ns,
	};

	return wait_and_tell(&request, cell);
}

/* timeout_ns is NULL for the domain's. */
static int wait_for_one(const pld_view *signal, const pld_dims *offsets,
			int32_t expected, pld_cmp cmp, const int64_t *timeout_ns)
{
	static const char op[] = "pld.system.wait";
	struct pld_wanted cell = { .expected = expected, .cmp = cmp };

	PLD_TRY(pld_signal_cell(op, "signal", signal, offsets, &cell.offset));
	if (cmp != PLD_EQ && cmp != PLD_GE)
		return bad_cmp(op, "cmp", cmp);
	if (timeout_ns && *timeout_ns < 0)
		return bad_timeout(op, *timeout_ns);
	cell.buffer = signal->buffer;
	/* A timeout of 0 looks once. */
	if (timeout_ns && !*timeout_ns ? pld_arrived(&cell) : pld_arrives(&cell))
		return 0;
	return pld_wait_cell(op, signal, offsets, &cell,
			     timeout_ns ? *timeout_ns
					: signal->buffer->domain->timeout_ns);
}

int pld_system_wait(const pld_distributed_tensor *signal, pld_dims offsets,
		    int32_t expected, pld_cmp cmp)
{
	return wait_for_one(signal, &offsets, expected, cmp, NULL);
}

int pld_system_wait_timeout(const pld_distributed_tensor *signal,
			    pld_dims offsets, int32_t expected, pld_cmp cmp,
			    int64_t timeout_ns)
{
	return wait_for_one(signal, &offsets, expected, cmp, &timeout_ns);
}

static int wait_for_several(const char *op, const pld_condition *conditions,
			    int count, bool any, int64_t timeout_ns)
{
	struct pld_wait_request request = {
		.op = op,
		.conditions = conditions,
		.count = count,
		.any = any,
		.indexed = true,
		.timeout_ns = timeout_ns,
	};

	if (!conditions)
		return pld_error(EINVAL, "%s: conditions must not be NULL", op);
	if (count < 1 || count > PLD_MAX_CONDITIONS)
		return pld_error(EINVAL, "%s: count is %d, wanted 1 to %d", op,
				 count, PLD_MAX_CONDITIONS);
	return pld_wait_for(&request);
}

int pld_system_wait_all(const pld_condition *conditions, int count,
			int64_t timeout_ns)
{
	return wait_for_several("pld_system_wait_all", conditions, count, false,
				timeout_ns);
}

int pld_system_wait_any(const pld_condition *conditions, int count,
			int64_t timeout_ns)
{
	return wait_for_several("pld_system_wait_any", conditions, count, true,
				timeout_ns);
}
