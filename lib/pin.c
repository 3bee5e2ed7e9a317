// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Pinning: a core for each rank, when there are enough among those that this process
 * may run on. hwloc knows cores, hyperthreads and what is allowed, on every machine.
 */
#include <hwloc.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "launch.h"

bool pld_oversubscribed(int nranks)
{
	cpu_set_t usable;

	/* It fails where there are more than a set holds. */
	return nranks > (sched_getaffinity(0, sizeof(usable), &usable)
				 ? sysconf(_SC_NPROCESSORS_ONLN)
				 : CPU_COUNT(&usable));
}

struct pld_pinning {
	hwloc_topology_t topology;
	hwloc_cpuset_t sets[PLD_MAX_RANKS];
	int nranks;
};

/*
 * Ranks are forked by this thread, and have its CPUs. hwloc's flag for it takes those
 * of all threads of the process.
 */
static int restrict_to_thread(hwloc_topology_t topology)
{
	hwloc_cpuset_t usable = hwloc_bitmap_alloc();
	int error = -1;

	if (usable && !hwloc_get_cpubind(topology, usable, HWLOC_CPUBIND_THREAD))
		error = hwloc_topology_restrict(topology, usable, 0);
	hwloc_bitmap_free(usable);
	return error;
}

static int load(hwloc_topology_t *topology)
{
	if (hwloc_topology_init(topology))
		return -1;
	/* Cores are all that is asked for: the rest costs time to find. */
	if (!hwloc_topology_set_flags(*topology,
				      HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM) &&
	    !hwloc_topology_set_all_types_filter(*topology,
						 HWLOC_TYPE_FILTER_KEEP_NONE) &&
	    !hwloc_topology_set_type_filter(*topology, HWLOC_OBJ_CORE,
					    HWLOC_TYPE_FILTER_KEEP_ALL) &&
	    !hwloc_topology_load(*topology) && !restrict_to_thread(*topology))
		return 0;
	hwloc_topology_destroy(*topology);
	return -1;
}

struct pld_pinning *pld_pinning_create(int nranks)
{
	struct pld_pinning *pinning = calloc(1, sizeof(*pinning));
	hwloc_obj_t root;

	if (!pinning)
		return NULL;
	if (load(&pinning->topology)) {
		free(pinning);
		return NULL;
	}
	root = hwloc_get_root_obj(pinning->topology);
	if (nranks > hwloc_get_nbobjs_by_type(pinning->topology, HWLOC_OBJ_CORE) ||
	    hwloc_distrib(pinning->topology, &root, 1, pinning->sets,
			  (unsigned int)nranks, INT_MAX, 0)) {
		hwloc_topology_destroy(pinning->topology);
		free(pinning);
		return NULL;
	}
	pinning->nranks = nranks;
	return pinning;
}

/* A rank that cannot be pinned runs all the same. */
void pld_pinning_apply(const struct pld_pinning *pinning, int rank)
{
	if (pinning)
		hwloc_set_cpubind(pinning->topology, pinning->sets[rank],
				  HWLOC_CPUBIND_PROCESS);
}

void pld_pinning_destroy(struct pld_pinning *pinning)
{
	if (!pinning)
		return;
	for (int rank = 0; rank < pinning->nranks; rank++)
		hwloc_bitmap_free(pinning->sets[rank]);
	hwloc_topology_destroy(pinning->topology);
	free(pinning);
}
