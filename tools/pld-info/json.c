// SPDX-License-Identifier: GPL-2.0
/*
 * All that was found as JSON. Its layout is a promise, written in doc/info.md:
 * members are added, and what one means changes only with VERSION.
 */
#include <stdio.h>

#include <jansson.h>

#include <pld.h>

#include "print.h"

#define VERSION 1

/* What is not known is null. */
static json_t *number(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

static json_t *text(const char *value)
{
	return *value ? json_string(value) : json_null();
}

static json_t *cell_json(const struct cell *cell)
{
	return json_pack("{s:I, s:I, s:s, s:i, s:o}", "window",
			 (json_int_t)cell->window, "offset",
			 (json_int_t)cell->offset, "cmp",
			 cell->cmp == PLD_SIM_CMP_EQ ? "eq" : "ge", "expected",
			 cell->expected, "value",
			 cell->has_value ? json_integer(cell->value)
					 : json_null());
}

static json_t *wait_json(const struct wait *wait)
{
	json_t *cells = json_array();

	for (size_t i = 0; i < wait->nr_cells; i++)
		json_array_append_new(cells, cell_json(&wait->cells[i]));
	return json_pack("{s:b, s:I, s:o}", "any", wait->any, "waiting_ns",
			 (json_int_t)wait->waiting_ns, "cells", cells);
}

static json_t *rank_json(const struct rank *rank, size_t nr)
{
	json_t *waits = json_array();

	for (size_t i = 0; i < rank->nr_waits; i++)
		json_array_append_new(waits, wait_json(&rank->waits[i]));
	return json_pack("{s:I, s:I, s:s, s:o, s:I, s:I, s:o}", "rank",
			 (json_int_t)nr, "device", (json_int_t)rank->device,
			 "state", state_name(rank->state), "pid",
			 number(rank->pid), "sleeping",
			 (json_int_t)rank->sleeping, "rings",
			 (json_int_t)rank->rings, "waits", waits);
}

static json_t *window_json(const struct window *window)
{
	return json_pack("{s:I, s:I, s:I, s:s, s:i, s:o}", "id",
			 (json_int_t)window->id, "bytes",
			 (json_int_t)window->bytes, "stride",
			 (json_int_t)window->stride, "kind",
			 window->signal ? "signal" : "data", "users",
			 window->users, "imported", number(window->imported));
}

static json_t *broken_json(const struct domain *domain)
{
	char sentence[SENTENCE_BYTES];

	if (domain->reason == PLD_FAIL_NONE)
		return json_null();
	reason_sentence(domain, sentence);
	return json_pack("{s:s, s:I, s:i, s:s}", "reason",
			 reason_name(domain->reason), "rank",
			 (json_int_t)domain->culprit, "code", domain->code,
			 "sentence", sentence);
}

static json_t *domain_json(const struct domain *domain)
{
	json_t *ranks = json_array(), *windows = json_array();

	for (size_t i = 0; i < domain->nr_ranks; i++)
		json_array_append_new(ranks, rank_json(&domain->ranks[i], i));
	for (size_t i = 0; i < domain->nr_windows; i++)
		json_array_append_new(windows, window_json(&domain->windows[i]));
	return json_pack("{s:s, s:I, s:I, s:o, s:I, s:o, s:o, s:o}", "platform",
			 platform_name(domain->platform), "id",
			 (json_int_t)domain->id, "owner",
			 (json_int_t)domain->owner, "maker",
			 number(domain->maker), "epoch",
			 (json_int_t)domain->epoch, "broken",
			 broken_json(domain), "ranks", ranks, "windows",
			 windows);
}

static json_t *device_json(const struct device *device)
{
	return json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "platform", platform_name(device->platform), "id",
			 (json_int_t)device->id, "memory_used",
			 number(device->used), "memory_limit",
			 number(device->limit > 0 ? device->limit : -1),
			 "ranks", number(device->ranks), "windows",
			 number(device->windows), "waiters",
			 number(device->waiters), "waits",
			 number(device->waits), "rings", number(device->rings));
}

static json_t *module_json(const struct module *module)
{
	json_t *parameters;

	if (!module->loaded)
		return json_null();
	parameters = json_object();
	for (size_t i = 0; i < module->nr_parameters; i++)
		json_object_set_new(parameters, module->parameters[i].name,
				    json_string(module->parameters[i].value));
	return json_pack("{s:o, s:o, s:o}", "version", text(module->version),
			 "abi", number(module->abi), "parameters", parameters);
}

static json_t *platform_json(const struct info *info, enum platform platform)
{
	const struct platform_info *found = &info->platforms[platform];

	return json_pack("{s:s, s:b, s:o, s:o}", "name", platform_name(platform),
			 "usable", found->devices >= 0, "devices",
			 number(found->devices), "why", text(found->why));
}

static json_t *info_json(const struct info *info)
{
	json_t *platforms = json_array(), *devices = json_array();
	json_t *domains = json_array(), *hidden = json_array();

	for (int i = 0; i < PLATFORMS; i++)
		json_array_append_new(platforms, platform_json(info, i));
	for (size_t i = 0; i < info->nr_devices; i++)
		json_array_append_new(devices, device_json(&info->devices[i]));
	for (size_t i = 0; i < info->nr_domains; i++)
		json_array_append_new(domains, domain_json(&info->domains[i]));
	for (size_t i = 0; i < info->nr_hidden; i++)
		json_array_append_new(hidden, json_string(info->hidden[i]));
	return json_pack("{s:i, s:s, s:i, s:o, s:o, s:o, s:o, s:o}", "version",
			 VERSION, "library", pld_version(), "header_abi",
			 PLD_SIM_ABI_VERSION, "module",
			 module_json(&info->module), "platforms", platforms,
			 "devices", devices, "domains", domains, "not_shown",
			 hidden);
}

bool print_json(const struct info *info)
{
	json_t *json = info_json(info);
	bool printed = json && !json_dumpf(json, stdout, JSON_INDENT(1));

	if (printed)
		putchar('\n');
	json_decref(json);
	return printed;
}
