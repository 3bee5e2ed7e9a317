/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is gathered: element i of all calls and ranks together has a value that
 * its dtype can hold exactly, and no two elements have the same one until the
 * dtype has no more.
 */
#ifndef PLD_COMMON_PATTERN_H
#define PLD_COMMON_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include <pld.h>

/* Room for any element's text. */
#define PATTERN_TEXT_BYTES 48

/*
 * The first element of slice number slice, of slices of size elements each. No
 * two slices are alike, also where the dtype has fewer values than there are
 * elements.
 */
uint64_t pattern_first(pld_dtype dtype, uint64_t slice, uint64_t slices,
		       uint64_t size);

/* Writes elements first, first + 1, ... of the pattern. */
void pattern_fill(void *data, pld_dtype dtype, uint64_t first, int64_t count);

/* The number of elements from 0 that are as they should be, at most count. */
int64_t pattern_match(const void *data, pld_dtype dtype, uint64_t first,
		      int64_t count);

/* An element in words: its number, and its bits for floating point. */
const char *pattern_text(const void *element, pld_dtype dtype,
			 char text[PATTERN_TEXT_BYTES]);

/*
 * Says on standard error that element index of what begins with first in the
 * pattern is got; where tells whose it is, such as "rank 1, slot 0".
 */
void pattern_say_wrong(const char *where, pld_dtype dtype, uint64_t first,
		       int64_t index, const void *got);

#endif
