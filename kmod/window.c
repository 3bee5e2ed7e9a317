// SPDX-License-Identifier: GPL-2.0
/*
 * Windows and a domain's table of them. What a window is, who owns it and what
 * protects it: window.h.
 *
 * Memory is allocated before the window is entered into the table, and freed
 * after it is gone from there, so that the domain's lock is never held long.
 */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "device.h"
#include "domain.h"
#include "gfp.h"
#include "ioctl.h"
#include "trace.h"
#include "window.h"

static void release_window(struct kref *ref)
{
	struct pld_window *window = container_of(ref, struct pld_window, ref);
	u32 rank;

	for (rank = 0; rank < window->nr_ranks; rank++)
		pld_memory_free(&window->memory[rank]);
	kvfree(window);
}

void pld_window_get(struct pld_window *window)
{
	kref_get(&window->ref);
}

void pld_window_put(struct pld_window *window)
{
	kref_put(&window->ref, release_window);
}

struct pld_window *pld_window_find(struct pld_domain *domain, u32 id)
{
	struct pld_window *window;

	xa_lock(&domain->windows);
	window = xa_load(&domain->windows, id);
	if (window)
		pld_window_get(window);
	xa_unlock(&domain->windows);
	return window;
}

struct pld_window *pld_window_find_offset(struct pld_domain *domain,
					  u64 offset)
{
	struct pld_window *window, *found = NULL;

	mutex_lock(&domain->lock);
	list_for_each_entry(window, &domain->windows_by_offset, by_offset) {
		if (offset < window->offset || offset >= pld_window_end(window))
			continue;
		pld_window_get(window);
		found = window;
		break;
	}
	mutex_unlock(&domain->lock);
	return found;
}

/* First fit. */
static int place_window(struct pld_domain *domain, struct pld_window *window)
{
	struct list_head *before = &domain->windows_by_offset;
	u64 size = window->stride * window->nr_ranks;
	u64 offset = PLD_WINDOWS_START;
	struct pld_window *other;

	lockdep_assert_held(&domain->lock);

	list_for_each_entry(other, &domain->windows_by_offset, by_offset) {
		if (other->offset - offset >= size) {
			before = &other->by_offset;
			break;
		}
		offset = round_up(pld_window_end(other), PLD_WINDOW_ALIGN);
	}
	if (size > PLD_OFFSETS_END - offset)
		return -ENOSPC;
	window->offset = offset;
	list_add_tail(&window->by_offset, before);
	return 0;
}

static int publish_window(struct pld_domain *domain, struct pld_window *window)
{
	int ret;

	lockdep_assert_held(&domain->lock);

	if (domain->resetting)
		return -EBUSY;
	if (domain->nr_windows == PLD_SIM_MAX_WINDOWS)
		return -ENOSPC;
	ret = place_window(domain, window);
	if (ret)
		return ret;
	/* Cyclic, so that a stale id does not name another window soon. */
	ret = xa_alloc_cyclic(&domain->windows, &window->id, window,
			      xa_limit_31b, &domain->next_window, PLD_GFP);
	if (ret < 0) {
		list_del(&window->by_offset);
		return ret;
	}
	domain->nr_windows++;
	return 0;
}

static int remove_window(struct pld_domain *domain, u32 id)
{
	struct pld_window *window;

	mutex_lock(&domain->lock);
	window = xa_erase(&domain->windows, id);
	if (window) {
		list_del(&window->by_offset);
		domain->nr_windows--;
	}
	mutex_unlock(&domain->lock);
	if (!window)
		return -ENOENT;

	trace_pld_window_free(domain->id, id);
	pld_window_put(window);
	return 0;
}

void pld_windows_init(struct pld_domain *domain)
{
	xa_init_flags(&domain->windows, XA_FLAGS_ALLOC);
	INIT_LIST_HEAD(&domain->windows_by_offset);
}

void pld_windows_destroy(struct pld_domain *domain)
{
	struct pld_window *window;
	unsigned long id;

	xa_for_each(&domain->windows, id, window)
		remove_window(domain, id);
	xa_destroy(&domain->windows);
}

static int zero_window(struct pld_window *window)
{
	u32 rank;
	int ret;

	for (rank = 0; rank < window->nr_ranks; rank++) {
		ret = pld_memory_zero(&window->memory[rank]);
		if (ret)
			return ret;
	}
	return 0;
}

/* The first window from *@id on, and its id. The caller puts it. */
static struct pld_window *find_next(struct pld_domain *domain,
				    unsigned long *id)
{
	struct pld_window *window;

	xa_lock(&domain->windows);
	window = xa_find(&domain->windows, id, ULONG_MAX, XA_PRESENT);
	if (window)
		pld_window_get(window);
	xa_unlock(&domain->windows);
	return window;
}

/*
 * Windows may be freed meanwhile; that none is added is the caller's business,
 * who holds no lock: imported memory is zeroed when its fences have signalled.
 * An error, such as that of a signal, comes from such memory only.
 */
int pld_windows_zero_signals(struct pld_domain *domain)
{
	struct pld_window *window;
	unsigned long id = 0;
	int ret = 0;

	while (!ret && (window = find_next(domain, &id))) {
		if (window->flags & PLD_WINDOW_SIGNAL)
			ret = zero_window(window);
		pld_window_put(window);
		id++;
	}
	return ret;
}

/*
 * What windows are made of: the arguments of an allocation or an import.
 * @fds: one for each rank, -1 for memory of its own; NULL: all are
 * @available, @refused: answers, to be given with an error too
 */
struct recipe {
	u64 length;
	u64 stride;
	u32 flags;
	const s32 *fds;
	u64 available;
	u32 refused;
};

static bool is_imported(const struct recipe *recipe, u32 rank)
{
	return recipe->fds && recipe->fds[rank] != -1;
}

/*
 * Bytes per rank that could be had now, by those that do not import; U64_MAX
 * when there are none. The last part of the system's memory is nobody's to take:
 * without it others would meet the OOM killer.
 */
static u64 available_memory(struct pld_domain *domain,
			    const struct recipe *recipe)
{
	u64 pages = si_mem_available(), available = U64_MAX;
	struct pld_device *device;
	u32 rank, nr = 0;

	for (rank = 0; rank < domain->nr_ranks; rank++) {
		if (is_imported(recipe, rank))
			continue;
		device = domain->ranks[rank].device;
		available = min(available, pld_device_available(device));
		nr++;
	}
	if (!nr)
		return U64_MAX;
	pages -= pages / 32;
	available = min(available, (pages / nr) << PAGE_SHIFT);
	return round_down(available, PAGE_SIZE);
}

static int make_memory(struct pld_domain *domain, struct pld_window *window,
		       u32 rank, struct recipe *recipe)
{
	unsigned long nr_pages = DIV_ROUND_UP_ULL(window->length, PAGE_SIZE);
	struct pld_device *device = domain->ranks[rank].device;
	struct pld_memory *memory = &window->memory[rank];
	int ret;

	if (!is_imported(recipe, rank))
		return pld_memory_alloc(memory, device, nr_pages);
	ret = pld_memory_import(memory, device, nr_pages, recipe->fds[rank]);
	if (!ret && window->flags & PLD_WINDOW_SIGNAL) {
		ret = pld_memory_zero(memory);
		if (ret)
			pld_memory_free(memory);
	}
	if (ret)
		recipe->refused = rank;
	return ret;
}

static int make_memories(struct pld_domain *domain, struct pld_window *window,
			 struct recipe *recipe)
{
	int ret = 0;
	u32 rank;

	for (rank = 0; rank < window->nr_ranks; rank++) {
		ret = make_memory(domain, window, rank, recipe);
		if (ret)
			break;
	}
	if (ret)
		while (rank)
			pld_memory_free(&window->memory[--rank]);
	return ret;
}

static struct pld_window *create_window(struct pld_domain *domain,
					struct recipe *recipe)
{
	struct pld_window *window;
	int ret;

	window = kvzalloc(struct_size(window, memory, domain->nr_ranks),
			  PLD_GFP);
	if (!window)
		return ERR_PTR(-ENOMEM);
	kref_init(&window->ref);
	window->nr_ranks = domain->nr_ranks;
	window->length = recipe->length;
	window->stride = recipe->stride;
	window->flags = recipe->flags;

	ret = make_memories(domain, window, recipe);
	if (ret) {
		kvfree(window);
		return ERR_PTR(ret);
	}
	return window;
}

static int window_stride(u64 length, u32 nr_ranks, u64 *stride)
{
	u64 size;

	if (length > PLD_OFFSETS_END)
		return -EOVERFLOW;
	*stride = round_up(length, length < PLD_WINDOW_ALIGN ?
				   (u64)PAGE_SIZE : PLD_WINDOW_ALIGN);
	if (check_mul_overflow(*stride, (u64)nr_ranks, &size) ||
	    size > PLD_OFFSETS_END - PLD_WINDOWS_START)
		return -EOVERFLOW;
	return 0;
}

/* The window is the domain's; who has its id may free it at once. */
static int make_window(struct pld_domain *domain, struct recipe *recipe,
		       u32 *id, u64 *offset)
{
	struct pld_window *window;
	int ret;

	recipe->available = available_memory(domain, recipe);
	ret = window_stride(recipe->length, domain->nr_ranks, &recipe->stride);
	if (ret)
		return ret;
	if (recipe->length > recipe->available)
		return -ENOMEM;

	window = create_window(domain, recipe);
	if (IS_ERR(window))
		return PTR_ERR(window);

	mutex_lock(&domain->lock);
	ret = publish_window(domain, window);
	if (!ret) {
		*id = window->id;
		*offset = window->offset;
	}
	mutex_unlock(&domain->lock);
	if (ret)
		pld_window_put(window);
	return ret;
}

int pld_ioctl_window_alloc(struct pld_call *call)
{
	struct pld_sim_window_alloc *args = &call->args.window_alloc;
	struct recipe recipe = {
		.length = args->length,
		.flags = args->flags,
	};
	int ret;

	if (args->__reserved || !args->length)
		return -EINVAL;
	ret = make_window(call->domain, &recipe, &args->window,
			  &args->mmap_offset);
	args->available = recipe.available;
	if (ret)
		return ret;
	args->stride = recipe.stride;
	trace_pld_window_alloc(call->domain->id, args->window, args->length,
			       args->flags);
	return 0;
}

/* Nobody was told of the window's id: nobody could free it. */
void pld_finish_window_alloc(struct pld_call *call, bool copied)
{
	if (!copied)
		remove_window(call->domain, call->args.window_alloc.window);
}

int pld_ioctl_window_free(struct pld_call *call)
{
	return remove_window(call->domain, call->args.window_free.window);
}

static void trace_imports(const struct pld_call *call, const s32 *fds)
{
	const struct pld_sim_window_import *args = &call->args.window_import;
	u32 rank;

	trace_pld_window_alloc(call->domain->id, args->window, args->length,
			       args->flags);
	for (rank = 0; rank < args->nr_fds; rank++)
		if (fds[rank] != -1)
			trace_pld_window_import(call->domain->id, args->window,
						rank);
}

static int import_window(struct pld_call *call, const s32 *fds)
{
	struct pld_sim_window_import *args = &call->args.window_import;
	struct recipe recipe = {
		.length = args->length,
		.flags = args->flags,
		.fds = fds,
		.refused = PLD_SIM_NO_RANK,
	};
	int ret;

	ret = make_window(call->domain, &recipe, &args->window,
			  &args->mmap_offset);
	args->available = recipe.available;
	args->refused = recipe.refused;
	if (ret)
		return ret;
	args->stride = recipe.stride;
	trace_imports(call, fds);
	return 0;
}

int pld_ioctl_window_import(struct pld_call *call)
{
	struct pld_sim_window_import *args = &call->args.window_import;
	s32 *fds;
	int ret;

	args->refused = PLD_SIM_NO_RANK;
	if (args->__reserved || !args->length ||
	    args->nr_fds != call->domain->nr_ranks)
		return -EINVAL;
	fds = memdup_user(u64_to_user_ptr(args->fds),
			  array_size(args->nr_fds, sizeof(*fds)));
	if (IS_ERR(fds))
		return PTR_ERR(fds);
	ret = import_window(call, fds);
	kfree(fds);
	return ret;
}

void pld_finish_window_import(struct pld_call *call, bool copied)
{
	if (!copied)
		remove_window(call->domain, call->args.window_import.window);
}
