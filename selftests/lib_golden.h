/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What data must look like, found in the plainest way: one element at a time,
 * by its index. Nothing here is shared with the library.
 */
#ifndef PLD_LIB_GOLDEN_H
#define PLD_LIB_GOLDEN_H

#include <pld.h>

#include <string.h>

/* Bytes of any two places differ with a probability of 255 to 256. */
static inline unsigned char golden_byte(unsigned int seed, size_t at)
{
	uint64_t mixed = ((uint64_t)seed << 40 ^ (at + 1)) *
			 UINT64_C(0x9e3779b97f4a7c15);

	return (unsigned char)(mixed >> 56);
}

static inline void golden_fill(void *bytes, size_t length, unsigned int seed)
{
	for (size_t at = 0; at < length; at++)
		((unsigned char *)bytes)[at] = golden_byte(seed, at);
}

/* Offset of the first byte that is not golden_fill()'s, or length. */
static inline size_t golden_differs(const void *bytes, size_t length,
				    unsigned int seed)
{
	const unsigned char *byte = bytes;
	size_t at = 0;

	while (at < length && byte[at] == golden_byte(seed, at))
		at++;
	return at;
}

static inline int64_t golden_count(pld_dims shape)
{
	int64_t count = 1;

	for (int i = 0; i < shape.ndim; i++)
		count *= shape.n[i];
	return count;
}

/* Element number, row by row, of index at + offsets in a dense shape. */
static inline int64_t golden_index(pld_dims shape, pld_dims offsets, pld_dims at)
{
	int64_t index = 0;

	for (int i = 0; i < shape.ndim; i++)
		index = index * shape.n[i] + offsets.n[i] + at.n[i];
	return index;
}

/* The next index of a shape, row by row; 0 after the last one. */
static inline int golden_next(pld_dims shape, pld_dims *at)
{
	for (int i = shape.ndim - 1; i >= 0; i--) {
		if (++at->n[i] < shape.n[i])
			return 1;
		at->n[i] = 0;
	}
	return 0;
}

/* Copies a region between dense arrays of elements of size bytes. */
static inline void golden_copy(void *dst, pld_dims dst_shape,
			       pld_dims dst_offsets, const void *src,
			       pld_dims src_shape, pld_dims src_offsets,
			       pld_dims shape, size_t size)
{
	pld_dims at = { .ndim = shape.ndim };

	do {
		int64_t to = golden_index(dst_shape, dst_offsets, at);
		int64_t from = golden_index(src_shape, src_offsets, at);

		memcpy((char *)dst + (size_t)to * size,
		       (const char *)src + (size_t)from * size, size);
	} while (golden_next(shape, &at));
}

/* The same number of dimensions, all 0. */
static inline pld_dims golden_origin(pld_dims shape)
{
	return (pld_dims){ .ndim = shape.ndim };
}

#endif /* PLD_LIB_GOLDEN_H */
