// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pld.h>

#include "gather.h"

bool read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, text, size - 1);
	close(fd);
	if (got < 0)
		return false;
	text[got] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return true;
}

static int by_platform_and_id(const void *left, const void *right)
{
	const struct device *l = left, *r = right;

	if (l->platform != r->platform)
		return l->platform < r->platform ? -1 : 1;
	return l->id < r->id ? -1 : l->id > r->id;
}

void gather(struct info *info)
{
	for (int i = 0; i < PLATFORMS; i++) {
		struct platform_info *platform = &info->platforms[i];

		platform->devices = pld_platform_devices(platform_name(i));
		if (platform->devices < 0)
			snprintf(platform->why, sizeof(platform->why), "%s",
				 pld_last_error());
	}
	gather_kmod(info);
	gather_memfd(info);
	/* qsort() wants an array. */
	if (info->devices)
		qsort(info->devices, info->nr_devices, sizeof(*info->devices),
		      by_platform_and_id);
}
