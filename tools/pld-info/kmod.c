// SPDX-License-Identifier: GPL-2.0
/*
 * The module: what sysfs says of it and its devices, and what it says itself of
 * the domains that the caller may know of.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "gather.h"
#include "parse.h"

#define MODULE "/sys/module/pld_sim"
#define DEVICE "/dev/pld_sim"
/* More than any number of domains of one machine. */
#define LARGEST_TEXT ((size_t)64 << 20)

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct parameter *)left)->name,
		      ((const struct parameter *)right)->name);
}

static void gather_parameters(struct module *module)
{
	DIR *dir = opendir(MODULE "/parameters");
	struct dirent *entry;
	char path[512];

	while (dir && (entry = readdir(dir))) {
		struct parameter parameter;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), MODULE "/parameters/%s",
			 entry->d_name);
		if (!read_file(path, parameter.value, sizeof(parameter.value)))
			continue;
		snprintf(parameter.name, sizeof(parameter.name), "%.63s",
			 entry->d_name);
		*GROW(module->parameters, module->nr_parameters) = parameter;
	}
	if (dir)
		closedir(dir);
	/* qsort() wants an array. */
	if (module->parameters)
		qsort(module->parameters, module->nr_parameters,
		      sizeof(*module->parameters), by_name);
}

/* -1 when it cannot be read. */
static int64_t attribute(uint32_t device, const char *name)
{
	char path[128], text[64], *end;
	long long number;

	snprintf(path, sizeof(path), "/sys/devices/platform/pld_sim.%u/%s",
		 device, name);
	if (!read_file(path, text, sizeof(text)))
		return -1;
	errno = 0;
	number = strtoll(text, &end, 10);
	return errno || end == text || *end || number < 0 ? -1 : number;
}

/* Ids are 0 and up without a gap. */
static void gather_devices(struct info *info)
{
	for (uint32_t id = 0; id < PLD_SIM_MAX_RANKS; id++) {
		int64_t used = attribute(id, "memory_used");
		struct device *device;

		if (used < 0)
			return;
		device = GROW(info->devices, info->nr_devices);
		*device = (struct device){
			.platform = KMOD,
			.id = id,
			.used = used,
			.limit = attribute(id, "memory_limit"),
			.ranks = attribute(id, "ranks"),
			.windows = attribute(id, "windows"),
			.waiters = attribute(id, "waiters"),
			.waits = attribute(id, "waits"),
			.rings = attribute(id, "rings"),
		};
	}
}

/* All that can be read, allocated. */
static char *read_all(int fd, size_t *length)
{
	size_t size = 0;
	char *text = NULL;

	for (*length = 0; *length < LARGEST_TEXT;) {
		ssize_t got;

		if (size - *length < 4096) {
			size = size * 2 + 65536;
			text = realloc(text, size);
			if (!text)
				return NULL;
		}
		got = read(fd, text + *length, size - *length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return text;
		*length += (size_t)got;
	}
	return text;
}

static void gather_domains(struct info *info, int device)
{
	struct pld_sim_domains domains = { .size = sizeof(domains) };
	char why[SENTENCE_BYTES];
	size_t length;
	char *text;

	if (ioctl(device, PLD_IOC_DOMAINS, &domains)) {
		hide(info, "domains of kmod are not shown: %s", strerror(errno));
		return;
	}
	text = read_all(domains.out_fd, &length);
	close(domains.out_fd);
	if (!text || !parse_domains(text, length, info, why))
		hide(info, "not all domains of kmod are shown: %s",
		     text ? why : "out of memory");
	free(text);
}

static void gather_abi(struct module *module, int device)
{
	struct pld_sim_info answer = { .size = sizeof(answer) };

	if (!ioctl(device, PLD_IOC_INFO, &answer))
		module->abi = (int)answer.abi_version;
}

void gather_kmod(struct info *info)
{
	struct module *module = &info->module;
	int device;

	module->abi = -1;
	module->loaded = !access(MODULE, F_OK) || !access(DEVICE, F_OK);
	if (!module->loaded)
		return;
	read_file(MODULE "/version", module->version, sizeof(module->version));
	gather_parameters(module);
	gather_devices(info);
	device = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0) {
		hide(info,
		     "domains of kmod are not shown: " DEVICE
		     " cannot be opened: %s",
		     strerror(errno));
		return;
	}
	gather_abi(module, device);
	if (info->platforms[KMOD].devices >= 0)
		gather_domains(info, device);
	else
		hide(info, "domains of kmod are not shown: %s",
		     info->platforms[KMOD].why);
	close(device);
	if (geteuid())
		hide(info,
		     "of kmod, only domains that user %u made are shown: others are for root",
		     geteuid());
}
