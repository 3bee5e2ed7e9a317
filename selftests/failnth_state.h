/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a call that fails must not change, as text: of the module, and of this
 * process.
 */
#ifndef PLD_FAILNTH_STATE_H
#define PLD_FAILNTH_STATE_H

#include "failnth_world.h"
#include "pld_counters.h"
#include "pld_exporter.h"

#define STATE_BYTES 32768

/* Without what advances by itself. */
static void drop_number(char *text, const char *key)
{
	for (char *at = strstr(text, key); at; at = strstr(at, key)) {
		size_t digits;

		at += strlen(key);
		digits = strspn(at, "0123456789");
		memmove(at, at + digits, strlen(at + digits) + 1);
	}
}

static size_t add_descriptors(char *text, size_t size)
{
	size_t n = 0;

	for (int fd = 0; fd < 64 && n < size; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			n += snprintf(text + n, size - n, "descriptor %d\n", fd);
	return n;
}

/* Only those of the module's files and of dma-bufs. */
static size_t add_mappings(char *text, size_t size)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	size_t n = 0;

	while (maps && n < size && fgets(line, sizeof(line), maps))
		if (strstr(line, "pld_sim") || strstr(line, "dmabuf"))
			n += snprintf(text + n, size - n, "%s", line);
	if (maps)
		fclose(maps);
	return n;
}

static size_t add_file(char *text, size_t size, const char *path)
{
	return read_text(path, text, size) ? 0 : strlen(text);
}

static size_t add_devices(char *text, size_t size)
{
	static const char *const numbers[] = { "memory_used", "windows",
					       "ranks", "waiters" };
	char path[96];
	size_t n = 0;

	for (int d = 0; d < 2; d++)
		for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
			snprintf(path, sizeof(path),
				 "/sys/devices/platform/pld_sim.%d/%s", d,
				 numbers[i]);
			n += snprintf(text + n, size - n, "%s %lld\n", path,
				      read_number(path));
		}
	return n;
}

/* All that there is, as text: of the module, and of this process. */
static void take_state(world *w, char *text)
{
	struct test_exporter_count count;
	size_t n = 0;

	n += add_descriptors(text, STATE_BYTES);
	n += add_mappings(text + n, STATE_BYTES - n);
	n += add_devices(text + n, STATE_BYTES - n);
	n += snprintf(text + n, STATE_BYTES - n, "references %lld\n",
		      module_references());
	n += add_file(text + n, STATE_BYTES - n,
		      "/sys/kernel/debug/pld_sim/domains");
	n += add_file(text + n, STATE_BYTES - n,
		      "/sys/kernel/debug/pld_sim/exports");
	if (w->exporter >= 0) {
		count = exporter_count(w->exporter);
		snprintf(text + n, STATE_BYTES - n, "foreign %d %d %d %d %d\n",
			 count.buffers, count.attachments, count.mappings,
			 count.views, count.accesses);
	}
	drop_number(text, "waiting_ns=");
	drop_number(text, "rings=");
}

/* True when it is as before, once what ends a little later has ended. */
static bool state_is(world *w, const char *before)
{
	static char now[STATE_BYTES];

	for (int i = 0; i < 300; i++) {
		take_state(w, now);
		if (!strcmp(before, now))
			return true;
		sleep_ms(10);
	}
	fprintf(stderr, "# before:\n%s# now:\n%s", before, now);
	return false;
}

#endif /* PLD_FAILNTH_STATE_H */
