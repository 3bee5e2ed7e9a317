/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A server whose socket is in a folder of its own, and who comes in when a test
 * has tried what should not harm it.
 */
#ifndef PLD_LIB_JOIN_TRUST_H
#define PLD_LIB_JOIN_TRUST_H

#include <stdlib.h>
#include <sys/stat.h>

#include "lib_join.h"

#define NRANKS 2

FIXTURE(trust)
{
	struct served *served;
	struct peer server;
	struct joiner joiners[NRANKS];
	char folder[40];
	bool serving;
};

FIXTURE_SETUP(trust)
{
	strcpy(self->folder, "/tmp/lib_join.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->folder));
	ASSERT_EQ(0, chmod(self->folder, 0755));
	self->served = make_served(NRANKS);
	ASSERT_NE(NULL, self->served);
	snprintf(self->served->path, sizeof(self->served->path), "%s/s",
		 self->folder);
}

/* Whatever was tried: those who should come in still do, and all is well. */
FIXTURE_TEARDOWN(trust)
{
	if (self->serving) {
		for (int r = 0; r < NRANKS; r++)
			ASSERT_EQ(0, start_joiner(&self->joiners[r],
						  self->served, r, gather));
		for (int r = 0; r < NRANKS; r++)
			EXPECT_EQ(0, peer_reap(&self->joiners[r].peer));
		EXPECT_EQ(0, peer_reap(&self->server));
		EXPECT_EQ(0, self->served->error);
	}
	unlink(self->served->path);
	EXPECT_EQ(0, rmdir(self->folder));
	munmap(self->served, sizeof(*self->served));
}

#define SERVE                                                            \
	do {                                                             \
		ASSERT_EQ(0, start_server(&self->server, self->served)); \
		self->serving = true;                                    \
	} while (0)

#endif /* PLD_LIB_JOIN_TRUST_H */
