// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Atomic addition, element by element: the processor's for integers, compare
 * and swap for floating point.
 *
 * Memory order is relaxed throughout: an addition orders nothing but itself,
 * a notify after it does.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "add.h"
#include "dtype.h"
#include "error.h"
#include "half.h"

static bool can_add(pld_dtype dtype)
{
	switch (dtype) {
	case PLD_FP32:
	case PLD_FP16:
	case PLD_BF16:
	case PLD_INT32:
	case PLD_INT16:
	case PLD_INT8:
		return true;
	default:
		return false;
	}
}

int pld_atomic_check(const char *op, pld_atomic_type atomic, pld_dtype dtype,
		     const void *data)
{
	if (atomic == PLD_NONE)
		return 0;
	if (atomic != PLD_ADD)
		return pld_error(EINVAL,
				 "%s: atomic is %d, wanted None (0) or Add (1)",
				 op, (int)atomic);
	if (!can_add(dtype))
		return pld_error(EINVAL,
				 "%s: atomic Add is for fp32, fp16, bf16, int32, int16 and int8, got %s",
				 op, pld_dtype_text(dtype));
	if ((uintptr_t)data % (uintptr_t)pld_dtype_size(dtype))
		return pld_error(EFAULT,
				 "%s: for atomic Add, %s must be aligned to its elements",
				 op, pld_dtype_text(dtype));
	return 0;
}

/* src may lie anywhere. */
#define ADD_INTEGERS(type)                                                    \
	do {                                                                  \
		type *to = dst;                                               \
		type value;                                                   \
                                                                              \
		for (size_t i = 0; i < count; i++) {                          \
			memcpy(&value, (const char *)src + i * sizeof(value), \
			       sizeof(value));                                \
			__atomic_fetch_add(&to[i], value, __ATOMIC_RELAXED);  \
		}                                                             \
	} while (0)

static void add_fp32(uint32_t *dst, float value)
{
	uint32_t old = __atomic_load_n(dst, __ATOMIC_RELAXED), new;
	float sum;

	do {
		memcpy(&sum, &old, sizeof(sum));
		sum += value;
		memcpy(&new, &sum, sizeof(new));
	} while (!__atomic_compare_exchange_n(dst, &old, new, true,
					      __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
}

/* fp16 and bf16: half a word each. */
static void add_half(uint16_t *dst, float value, float (*widen)(uint16_t),
		     uint16_t (*narrow)(float))
{
	uint16_t old = __atomic_load_n(dst, __ATOMIC_RELAXED), new;

	do {
		new = narrow(widen(old) + value);
	} while (!__atomic_compare_exchange_n(dst, &old, new, true,
					      __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
}

static void add_halves(uint16_t *dst, const char *src, size_t count,
		       float (*widen)(uint16_t), uint16_t (*narrow)(float))
{
	uint16_t value;

	for (size_t i = 0; i < count; i++) {
		memcpy(&value, src + i * sizeof(value), sizeof(value));
		add_half(&dst[i], widen(value), widen, narrow);
	}
}

static void add_floats(uint32_t *dst, const char *src, size_t count)
{
	float value;

	for (size_t i = 0; i < count; i++) {
		memcpy(&value, src + i * sizeof(value), sizeof(value));
		add_fp32(&dst[i], value);
	}
}

void pld_add_run(void *dst, const void *src, size_t count, pld_dtype dtype)
{
	switch (dtype) {
	case PLD_INT32:
		ADD_INTEGERS(int32_t);
		break;
	case PLD_INT16:
		ADD_INTEGERS(int16_t);
		break;
	case PLD_INT8:
		ADD_INTEGERS(int8_t);
		break;
	case PLD_FP32:
		add_floats(dst, src, count);
		break;
	case PLD_FP16:
		add_halves(dst, src, count, pld_half_to_float,
			   pld_float_to_half);
		break;
	case PLD_BF16:
		add_halves(dst, src, count, pld_bfloat_to_float,
			   pld_float_to_bfloat);
		break;
	default:
		break;
	}
}
