/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
#ifndef PLD_DTYPE_H
#define PLD_DTYPE_H

#include "pld.h"

/* pld_dtype_name(), or "no dtype", for a sentence. */
const char *pld_dtype_text(pld_dtype dtype);

#endif
