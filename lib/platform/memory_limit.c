// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * How much memory is left, from /proc/meminfo and the memory cgroups.
 *
 * A cgroup without a limit, or one whose files are not visible from here, limits
 * nothing.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <limits.h>

#include "memory_limit.h"

/*
 * One part in that many of what the machine has available is nobody's to take:
 * without it, others meet the OOM killer.
 */
#define MACHINE_KEEPS 16

/* Where a hierarchy is mounted, and what it calls its files. */
struct hierarchy {
	const char *root;
	const char *limit;
	const char *usage;
	const char *inactive_file;
	const char *active_file;
};

static const struct hierarchy hierarchy_v2[] = {
	{ "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file",
	  "active_file" },
	{ "/sys/fs/cgroup/unified", "memory.max", "memory.current",
	  "inactive_file", "active_file" },
};

static const struct hierarchy hierarchy_v1 = {
	"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
	"memory.usage_in_bytes", "total_inactive_file", "total_active_file"
};

/* The number in "key number" of a file, or the first one where key is "". */
static uint64_t read_number(const char *path, const char *key,
			    uint64_t otherwise)
{
	size_t length = strlen(key);
	uint64_t number = otherwise;
	char line[256];
	FILE *file = fopen(path, "re");

	if (!file)
		return otherwise;
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, key, length) &&
		    sscanf(line + length, "%*[: ]%" SCNu64, &number) != 1)
			sscanf(line + length, "%" SCNu64, &number);
		if (!length || !strncmp(line, key, length))
			break;
	}
	fclose(file);
	return number;
}

static uint64_t group_number(const struct hierarchy *h, const char *group,
			     const char *file, const char *key,
			     uint64_t otherwise)
{
	char path[PATH_MAX];
	int length =
		snprintf(path, sizeof(path), "%s%s/%s", h->root, group, file);

	if (length < 0 || (size_t)length >= sizeof(path))
		return otherwise;
	return read_number(path, key, otherwise);
}

/* Page cache counts as used, but goes when memory is wanted. */
static uint64_t group_available(const struct hierarchy *h, const char *group)
{
	uint64_t limit = group_number(h, group, h->limit, "", UINT64_MAX);
	uint64_t used, cache;

	if (limit == UINT64_MAX)
		return UINT64_MAX;
	used = group_number(h, group, h->usage, "", 0);
	cache = group_number(h, group, "memory.stat", h->inactive_file, 0) +
		group_number(h, group, "memory.stat", h->active_file, 0);
	used = used > cache ? used - cache : 0;
	return limit > used ? limit - used : 0;
}

/* The least of a group and all that it is in. */
static uint64_t chain_available(const struct hierarchy *h, char *group)
{
	uint64_t least = UINT64_MAX;

	for (;;) {
		uint64_t here = group_available(h, group);
		char *slash = strrchr(group, '/');

		if (here < least)
			least = here;
		if (!slash)
			return least;
		*slash = '\0';
	}
}

/* Is that "4:cpu,memory:/group", the line of the memory controller? */
static bool has_memory(const char *line)
{
	const char *controller = strchr(line, ':');

	while (controller && controller[0] && controller[1]) {
		size_t length = strcspn(++controller, ",:");

		if (length == strlen("memory") &&
		    !strncmp(controller, "memory", length))
			return true;
		controller += length;
		if (*controller != ',')
			return false;
	}
	return false;
}

static uint64_t groups_available(void)
{
	uint64_t least = UINT64_MAX;
	char line[PATH_MAX];
	FILE *file = fopen("/proc/self/cgroup", "re");

	if (!file)
		return least;
	while (fgets(line, sizeof(line), file)) {
		const struct hierarchy *h = NULL;
		char *group = strchr(line, '/');
		size_t nr = 0;

		line[strcspn(line, "\n")] = '\0';
		if (!group)
			continue;
		if (has_memory(line)) {
			h = &hierarchy_v1;
			nr = 1;
		} else if (!strncmp(line, "0::", 3)) {
			h = hierarchy_v2;
			nr = sizeof(hierarchy_v2) / sizeof(hierarchy_v2[0]);
		}
		for (; nr; nr--, h++) {
			char copy[PATH_MAX];
			uint64_t here;

			strcpy(copy, group);
			here = chain_available(h, copy);
			if (here < least)
				least = here;
		}
	}
	fclose(file);
	return least;
}

uint64_t pld_memory_available(void)
{
	uint64_t kib =
		read_number("/proc/meminfo", "MemAvailable", UINT64_MAX / 1024);
	uint64_t machine = (kib - kib / MACHINE_KEEPS) * 1024;
	uint64_t groups = groups_available();

	return machine < groups ? machine : groups;
}
