// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pl.read and pl.write: one element of a tensor of the own rank.
 */
#include <errno.h>
#include <string.h>

#include "dims.h"
#include "domain.h"
#include "error.h"
#include "health.h"
#include "observe.h"
#include "view.h"

/* The element's address, or NULL with *error. */
static void *element(const char *op, const pld_view *tensor, pld_dims offsets,
		     const void *value, int *error)
{
	*error = pld_view_check(op, "tensor", tensor, PLD_ACCEPT_TENSORS);
	if (!*error && tensor->kind == PLD_DISTRIBUTED_TENSOR)
		*error = pld_enter(tensor->buffer->domain, op);
	if (!*error)
		*error = pld_dims_inside(op, "tensor", tensor, &offsets);
	if (!*error && !value)
		*error = pld_error(EINVAL, "%s: value must not be NULL", op);
	if (*error)
		return NULL;
	return (char *)tensor->data + pld_dims_index(tensor, &offsets) *
					      pld_dtype_bytes(tensor->dtype);
}

/*
 * In one piece, since it may be a cell or an element that peers change at the
 * same time. Relaxed: only a wait orders.
 */
#define COPY_ELEMENT(type, to, from)                                            \
	do {                                                                    \
		type value_;                                                    \
                                                                                \
		__atomic_load((const type *)(from), &value_, __ATOMIC_RELAXED); \
		__atomic_store((type *)(to), &value_, __ATOMIC_RELAXED);        \
	} while (0)

static void copy_element(void *to, const void *from, size_t size)
{
	if (((uintptr_t)to | (uintptr_t)from) % size) {
		memcpy(to, from, size);
		return;
	}
	switch (size) {
	case 1:
		COPY_ELEMENT(uint8_t, to, from);
		break;
	case 2:
		COPY_ELEMENT(uint16_t, to, from);
		break;
	case 4:
		COPY_ELEMENT(uint32_t, to, from);
		break;
	default:
		COPY_ELEMENT(uint64_t, to, from);
	}
}

int pld_read(const pld_view *tensor, pld_dims offsets, void *value)
{
	int error;
	void *from = element("pl.read", tensor, offsets, value, &error);

	if (!from)
		return error;
	copy_element(value, from, (size_t)pld_dtype_bytes(tensor->dtype));
	if (pld_observed())
		pld_observe_element(tensor, offsets, false);
	return 0;
}

int pld_write(const pld_view *tensor, pld_dims offsets, const void *value)
{
	int error;
	void *to = element("pl.write", tensor, offsets, value, &error);

	if (!to)
		return error;
	copy_element(to, value, (size_t)pld_dtype_bytes(tensor->dtype));
	if (pld_observed())
		pld_observe_element(tensor, offsets, true);
	return 0;
}
