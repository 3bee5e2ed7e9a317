// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Element types: their names and sizes.
 */
#include <errno.h>
#include <string.h>

#include "dtype.h"
#include "error.h"
#include "pld.h"

static const char *const names[] = {
	[PLD_FP64] = "fp64",	 [PLD_FP32] = "fp32",
	[PLD_FP16] = "fp16",	 [PLD_BF16] = "bf16",
	[PLD_INT64] = "int64",	 [PLD_INT32] = "int32",
	[PLD_INT16] = "int16",	 [PLD_INT8] = "int8",
	[PLD_UINT64] = "uint64", [PLD_UINT32] = "uint32",
	[PLD_UINT16] = "uint16", [PLD_UINT8] = "uint8",
};

#define NR_DTYPES (sizeof(names) / sizeof(names[0]))

int pld_dtype_size(pld_dtype dtype)
{
	int size = pld_dtype_bytes(dtype);

	if (!size)
		return pld_error(EINVAL, "dtype %d is not one of the %zu known",
				 (int)dtype, NR_DTYPES);
	return size;
}

const char *pld_dtype_name(pld_dtype dtype)
{
	return (unsigned int)dtype < NR_DTYPES ? names[dtype] : NULL;
}

const char *pld_dtype_text(pld_dtype dtype)
{
	const char *name = pld_dtype_name(dtype);

	return name ? name : "no dtype";
}

int pld_dtype_parse(const char *name)
{
	for (unsigned int i = 0; name && i < NR_DTYPES; i++)
		if (!strcmp(name, names[i]))
			return (int)i;
	return pld_error(EINVAL, "dtype '%s' is not known", name ? name : "");
}
