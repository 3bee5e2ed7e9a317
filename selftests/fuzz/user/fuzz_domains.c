// SPDX-License-Identifier: GPL-2.0
/* pld-info: the module's text of domains, and what is printed of it. */
#include <stdio.h>

#include "bytes.h"
#include "pld-info/parse.h"
#include "pld-info/print.h"

const char *program_name = "fuzz";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Without a terminating zero: beyond its end nothing is to be read. */
	char *text = malloc(size + 1);
	struct info info = { 0 };
	char why[SENTENCE_BYTES];

	if (!text)
		return 0;
	memcpy(text, data, size);
	parse_domains(text, size, &info, why);
	print_table(&info);
	print_json(&info);
	free(text);
	free_info(&info);
	return 0;
}
