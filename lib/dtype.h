/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Element types: what the library asks of them beside what programs may.
 */
#ifndef PLD_DTYPE_H
#define PLD_DTYPE_H

#include "pld.h"

/* pld_dtype_size() without a sentence: 0 when there is no such type. */
static inline int pld_dtype_bytes(pld_dtype dtype)
{
	static const unsigned char bytes[] = {
		[PLD_FP64] = 8,	  [PLD_FP32] = 4,   [PLD_FP16] = 2,
		[PLD_BF16] = 2,	  [PLD_INT64] = 8,  [PLD_INT32] = 4,
		[PLD_INT16] = 2,  [PLD_INT8] = 1,   [PLD_UINT64] = 8,
		[PLD_UINT32] = 4, [PLD_UINT16] = 2, [PLD_UINT8] = 1,
	};

	return (unsigned int)dtype < sizeof(bytes) ? bytes[dtype] : 0;
}

/* pld_dtype_name(), or "no dtype", for a sentence. */
const char *pld_dtype_text(pld_dtype dtype);

#endif
