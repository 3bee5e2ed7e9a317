// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#include "pld.h"

const char *pld_version(void)
{
	return PLD_VERSION;
}
