// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/program.h"
#include "model.h"

void out_of_memory(void)
{
	fprintf(stderr, "%s: out of memory\n", program_name);
	exit(EXIT_USAGE);
}

void *grow(void *array, size_t *count, size_t element)
{
	char *grown = reallocarray(array, *count + 1, element);

	if (!grown)
		out_of_memory();
	memset(grown + *count * element, 0, element);
	*count += 1;
	return grown;
}

static void free_rank(struct rank *rank)
{
	for (size_t i = 0; i < rank->nr_waits; i++)
		free(rank->waits[i].cells);
	free(rank->waits);
}

static void free_domain(struct domain *domain)
{
	for (size_t i = 0; i < domain->nr_ranks; i++)
		free_rank(&domain->ranks[i]);
	free(domain->ranks);
	free(domain->windows);
}

void free_info(struct info *info)
{
	for (size_t i = 0; i < info->nr_domains; i++)
		free_domain(&info->domains[i]);
	free(info->domains);
	free(info->devices);
	free(info->module.parameters);
	free(info->hidden);
}

void hide(struct info *info, const char *format, ...)
{
	char(*sentence)[SENTENCE_BYTES] = GROW(info->hidden, info->nr_hidden);
	va_list args;

	va_start(args, format);
	vsnprintf(*sentence, sizeof(*sentence), format, args);
	va_end(args);
}

const char *platform_name(enum platform platform)
{
	return platform == KMOD ? "kmod" : "memfd";
}

const char *state_name(enum pld_sim_rank_state state)
{
	switch (state) {
	case PLD_RANK_ABSENT:
		return "absent";
	case PLD_RANK_JOINED:
		return "joined";
	case PLD_RANK_LEFT:
		return "left";
	default:
		return "dead";
	}
}

const char *reason_name(enum pld_sim_fail_reason reason)
{
	switch (reason) {
	case PLD_FAIL_NONE:
		return "none";
	case PLD_FAIL_DEAD:
		return "dead";
	case PLD_FAIL_ERROR:
		return "error";
	case PLD_FAIL_TIMEOUT:
		return "timeout";
	case PLD_FAIL_ABORT:
		return "abort";
	default:
		return "outside";
	}
}

void reason_sentence(const struct domain *domain, char text[SENTENCE_BYTES])
{
	/* INT32_MIN has no positive. */
	int error = domain->code > INT32_MIN ? -domain->code : INT32_MAX;

	switch (domain->reason) {
	case PLD_FAIL_NONE:
		text[0] = '\0';
		return;
	case PLD_FAIL_DEAD:
		snprintf(text, SENTENCE_BYTES, "rank %u died", domain->culprit);
		return;
	case PLD_FAIL_ERROR:
		snprintf(text, SENTENCE_BYTES, "rank %u failed: %s",
			 domain->culprit, strerror(error));
		return;
	case PLD_FAIL_TIMEOUT:
		snprintf(text, SENTENCE_BYTES,
			 "rank %u did not do its part in time", domain->culprit);
		return;
	case PLD_FAIL_ABORT:
		snprintf(text, SENTENCE_BYTES, "rank %u aborted with code %d",
			 domain->culprit, domain->code);
		return;
	default:
		snprintf(text, SENTENCE_BYTES,
			 "what the domain depends on failed");
	}
}
