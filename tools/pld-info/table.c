// SPDX-License-Identifier: GPL-2.0
/*
 * All that was found as text for people: sections of short lines that fit 80
 * columns where what they show does.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <pld.h>

#include "print.h"

#define SIZE_TEXT_BYTES 32

/* "4096" or "1.5 GiB". */
static const char *size_text(int64_t bytes, char text[SIZE_TEXT_BYTES])
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double scaled = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 0)
		return strcpy(text, "-");
	if (bytes < 10240) {
		snprintf(text, SIZE_TEXT_BYTES, "%" PRId64 " B", bytes);
		return text;
	}
	while (scaled >= 1024 && unit < 3) {
		scaled /= 1024;
		unit++;
	}
	snprintf(text, SIZE_TEXT_BYTES, "%.1f %s", scaled, units[unit]);
	return text;
}

static const char *number_text(int64_t number, char text[SIZE_TEXT_BYTES])
{
	snprintf(text, SIZE_TEXT_BYTES, "%" PRId64, number);
	return number < 0 ? "-" : text;
}

/* A sentence, broken at spaces to fit behind an indent. */
static void print_wrapped(const char *sentence, int indent)
{
	size_t width = 79 - (size_t)indent;

	while (strlen(sentence) > width) {
		size_t at = width;

		while (at && sentence[at] != ' ')
			at--;
		if (!at)
			break;
		printf("%.*s\n%*s", (int)at, sentence, indent, "");
		sentence += at + 1;
	}
	puts(sentence);
}

static void print_platforms(const struct info *info)
{
	puts("platforms");
	for (int i = 0; i < PLATFORMS; i++) {
		const struct platform_info *platform = &info->platforms[i];

		if (platform->devices >= 0) {
			printf("  %-6s usable, %d devices\n", platform_name(i),
			       platform->devices);
			continue;
		}
		printf("  %-6s not usable\n         ", platform_name(i));
		print_wrapped(platform->why, 9);
	}
}

static void print_versions(const struct info *info)
{
	const struct module *module = &info->module;

	puts("\nversions");
	printf("  library %s, with a header of ABI %d\n", pld_version(),
	       PLD_SIM_ABI_VERSION);
	if (!module->loaded) {
		puts("  module  not loaded");
		return;
	}
	printf("  module  %s, of ABI ",
	       *module->version ? module->version : "unknown");
	if (module->abi >= 0)
		printf("%d\n", module->abi);
	else
		puts("unknown");
	for (size_t i = 0; i < module->nr_parameters; i++)
		printf("%s%s=%s", i ? " " : "          ",
		       module->parameters[i].name, module->parameters[i].value);
	if (module->nr_parameters)
		putchar('\n');
}

/* "rank 1 of 3, rank 0 of 4", of the domains that can be seen. */
static void print_who(const struct info *info, const struct device *device)
{
	const char *between = "";

	for (size_t d = 0; d < info->nr_domains; d++) {
		const struct domain *domain = &info->domains[d];

		for (size_t r = 0; r < domain->nr_ranks; r++) {
			if (domain->platform != device->platform ||
			    domain->ranks[r].device != device->id)
				continue;
			printf("%srank %zu of %" PRIu64, between, r, domain->id);
			between = ", ";
		}
	}
	puts(*between ? "" : "others");
}

static bool in_use(const struct info *info, const struct device *device)
{
	if (device->used > 0 || device->ranks > 0 || device->windows > 0)
		return true;
	for (size_t d = 0; d < info->nr_domains; d++)
		for (size_t r = 0; r < info->domains[d].nr_ranks; r++)
			if (info->domains[d].platform == device->platform &&
			    info->domains[d].ranks[r].device == device->id)
				return true;
	return false;
}

static void print_device(const struct info *info, const struct device *device)
{
	char used[SIZE_TEXT_BYTES], limit[SIZE_TEXT_BYTES];
	char ranks[SIZE_TEXT_BYTES], windows[SIZE_TEXT_BYTES];

	printf("  %-5s %6u %10s %10s %6s %8s  ", platform_name(device->platform),
	       device->id, size_text(device->used, used),
	       device->limit ? size_text(device->limit, limit) : "none",
	       number_text(device->ranks, ranks),
	       number_text(device->windows, windows));
	print_who(info, device);
}

static void print_devices(const struct info *info)
{
	size_t used = 0;

	for (size_t i = 0; i < info->nr_devices; i++)
		used += in_use(info, &info->devices[i]);
	if (!used) {
		puts("\ndevices\n  none is in use");
		return;
	}
	puts("\ndevices in use     memory      limit  joined  windows  who");
	for (size_t i = 0; i < info->nr_devices; i++)
		if (in_use(info, &info->devices[i]))
			print_device(info, &info->devices[i]);
}

static void print_ranks(const struct domain *domain)
{
	char pid[SIZE_TEXT_BYTES];

	puts("  rank  device  state      process  sleeping     rings");
	for (size_t i = 0; i < domain->nr_ranks; i++) {
		const struct rank *rank = &domain->ranks[i];

		printf("  %4zu  %6u  %-6s  %10s  %8u  %8u\n", i, rank->device,
		       state_name(rank->state), number_text(rank->pid, pid),
		       rank->sleeping, rank->rings);
	}
}

static void print_windows(const struct domain *domain)
{
	char bytes[SIZE_TEXT_BYTES], stride[SIZE_TEXT_BYTES];

	if (!domain->nr_windows) {
		puts("  no windows");
		return;
	}
	printf("  window  kind         bytes      stride  kept by\n");
	for (size_t i = 0; i < domain->nr_windows; i++) {
		const struct window *window = &domain->windows[i];

		printf("  %6u  %-6s  %10s  %10s  %d %s\n", window->id,
		       window->signal ? "signal" : "data",
		       size_text((int64_t)window->bytes, bytes),
		       size_text((int64_t)window->stride, stride), window->users,
		       domain->platform == KMOD ? "mappings and waits"
		       : window->users == 1	? "process"
						: "processes");
	}
}

static void print_cell(size_t rank, const struct wait *wait, size_t index)
{
	const struct cell *cell = &wait->cells[index];
	char value[SIZE_TEXT_BYTES] = "-";

	if (cell->has_value)
		snprintf(value, sizeof(value), "%d", cell->value);
	if (index)
		printf("  %4s  ", wait->any ? "or" : "and");
	else
		printf("  %4zu  ", rank);
	printf("%6u  %8" PRIu64 "  %s %-11d %11s", cell->window, cell->offset,
	       cell->cmp == PLD_SIM_CMP_EQ ? "==" : ">=", cell->expected, value);
	if (!index)
		printf("  %.3f s", (double)wait->waiting_ns / 1e9);
	putchar('\n');
}

static void print_waits(const struct domain *domain)
{
	bool any = false;

	for (size_t r = 0; r < domain->nr_ranks; r++)
		for (size_t w = 0; w < domain->ranks[r].nr_waits; w++) {
			const struct wait *wait = &domain->ranks[r].waits[w];

			if (!any)
				puts("  rank  window      byte  waits for               is  since");
			any = true;
			for (size_t c = 0; c < wait->nr_cells; c++)
				print_cell(r, wait, c);
		}
	if (!any)
		puts("  no rank sleeps in a wait");
}

static void print_domain(const struct domain *domain)
{
	char pid[SIZE_TEXT_BYTES], why[SENTENCE_BYTES];

	printf("\ndomain %" PRIu64
	       " on %s: made by process %s, user %u; epoch %u\n",
	       domain->id, platform_name(domain->platform),
	       number_text(domain->maker, pid), domain->owner, domain->epoch);
	if (domain->reason != PLD_FAIL_NONE) {
		reason_sentence(domain, why);
		printf("  broken: %s\n", why);
	}
	print_ranks(domain);
	print_windows(domain);
	print_waits(domain);
}

void print_table(const struct info *info)
{
	print_platforms(info);
	print_versions(info);
	print_devices(info);
	for (size_t i = 0; i < info->nr_domains; i++)
		print_domain(&info->domains[i]);
	if (!info->nr_domains)
		puts("\ndomains\n  no live domains");
	if (info->nr_hidden)
		puts("\nnot shown");
	for (size_t i = 0; i < info->nr_hidden; i++) {
		fputs("  ", stdout);
		print_wrapped(info->hidden[i], 2);
	}
}
