// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Which platform: the caller's choice, else the environment's, else the module
 * when it can be used and memfd when not.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "platform.h"

static int select_auto(const struct pld_platform **platform, char why[256])
{
	const struct pld_failure before = *pld_failure();

	if (!pld_platform_kmod.probe()) {
		*platform = &pld_platform_kmod;
		snprintf(why, 256, "/dev/pld_sim can be used");
		return 0;
	}
	*platform = &pld_platform_memfd;
	snprintf(why, 256, "not kmod: %s", pld_last_error());
	/* That kmod cannot be used is no failure of the caller's. */
	*pld_failure() = before;
	return 0;
}

static int select_named(const struct pld_platform *named,
			const struct pld_platform **platform, char why[256])
{
	int error = named->probe();

	if (error)
		return error;
	*platform = named;
	snprintf(why, 256, "asked for by name");
	return 0;
}

int pld_platform_devices(const char *name)
{
	const struct pld_platform *platform;
	char why[256];

	PLD_TRY(pld_platform_select(name, &platform, why));
	return platform->nr_devices();
}

int pld_platform_select(const char *name, const struct pld_platform **platform,
			char why[256])
{
	if (!name) {
		name = getenv("PLD_PLATFORM");
		/* Emptied is as good as unset. */
		if (!name || !*name)
			name = "auto";
	}
	if (!strcmp(name, "auto") || !strcmp(name, "a2a3sim"))
		return select_auto(platform, why);
	if (!strcmp(name, "kmod"))
		return select_named(&pld_platform_kmod, platform, why);
	if (!strcmp(name, "memfd"))
		return select_named(&pld_platform_memfd, platform, why);
	return pld_error(EINVAL,
			 "platform '%s' is not known, wanted auto, kmod, memfd or a2a3sim",
			 name);
}
