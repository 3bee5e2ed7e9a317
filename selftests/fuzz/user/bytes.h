/* SPDX-License-Identifier: GPL-2.0 */
/* What a target is given, taken piece by piece; zeroes when it is used up. */
#ifndef FUZZ_BYTES_H
#define FUZZ_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of libFuzzer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
	const uint8_t *at;
	size_t left;
};

static inline void take(struct bytes *bytes, void *to, size_t size)
{
	size_t n = size < bytes->left ? size : bytes->left;

	memset(to, 0, size);
	if (n)
		memcpy(to, bytes->at, n);
	bytes->at += n;
	bytes->left -= n;
}

static inline uint8_t take_byte(struct bytes *bytes)
{
	uint8_t byte;

	take(bytes, &byte, 1);
	return byte;
}

/* All that is left as a string of its own. */
static inline char *take_string(struct bytes *bytes)
{
	size_t size = bytes->left;
	char *text = malloc(size + 1);

	if (!text)
		abort();
	take(bytes, text, size);
	text[size] = '\0';
	return text;
}

#endif /* FUZZ_BYTES_H */
