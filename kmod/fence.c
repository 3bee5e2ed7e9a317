// SPDX-License-Identifier: GPL-2.0
/*
 * Fences. What one is and who holds it: fence.h.
 *
 * Signalling is always enabled: a watch is in its queue before its fence is
 * seen, and has a deadline.
 */
#include <linux/dma-fence.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "fence.h"
#include "gfp.h"

struct pld_fence {
	struct dma_fence base;
	spinlock_t lock;	/* base's; inside of the lock of a rank's queue */
	char timeline[32];
};

/* Set before the first fence can be released. */
static bool pld_fences_made;

static struct pld_fence *to_pld_fence(struct dma_fence *base)
{
	return container_of(base, struct pld_fence, base);
}

static const char *driver_name(struct dma_fence *base)
{
	return "pld_sim";
}

static const char *timeline_name(struct dma_fence *base)
{
	return to_pld_fence(base)->timeline;
}

static void free_fence(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct pld_fence, base.rcu));
	/* What is still to run of this, pld_fences_flush() waits for. */
	module_put(THIS_MODULE);
}

/* Others may still look at a fence inside of an RCU read section. */
static void release_fence(struct dma_fence *base)
{
	call_rcu(&base->rcu, free_fence);
}

static const struct dma_fence_ops pld_fence_ops = {
	.get_driver_name = driver_name,
	.get_timeline_name = timeline_name,
	.release = release_fence,
};

struct dma_fence *pld_fence_create(u32 domain, u32 rank)
{
	struct pld_fence *fence;

	fence = kzalloc(sizeof(*fence), PLD_GFP);
	if (!fence)
		return NULL;
	/* The caller's file has one already. */
	__module_get(THIS_MODULE);
	WRITE_ONCE(pld_fences_made, true);
	spin_lock_init(&fence->lock);
	snprintf(fence->timeline, sizeof(fence->timeline),
		 "domain %u rank %u", domain, rank);
	dma_fence_init(&fence->base, &pld_fence_ops, &fence->lock,
		       dma_fence_context_alloc(1), 1);
	return &fence->base;
}

void pld_fence_signal(struct dma_fence *fence, int error)
{
	if (error)
		dma_fence_set_error(fence, error);
	dma_fence_signal(fence);
}

/*
 * At the module's end, when there are no fences. The last free_fence() may not
 * have returned, which rcu_barrier() waits for; nor a release_fence(), of a task
 * that was preempted in it.
 */
void pld_fences_flush(void)
{
	if (!READ_ONCE(pld_fences_made))
		return;
	rcu_barrier();
	synchronize_rcu_tasks();
}
