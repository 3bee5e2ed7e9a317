// SPDX-License-Identifier: GPL-2.0
/*
 * Serving and connecting among people who do not trust each other: who is let
 * in, what is refused and how. (Garbage and lies: lib_join_garbage.c.)
 */
#include <grp.h>
#include <limits.h>

#include "lib_join_trust.h"

#define NOBODY 65534

/* ---- what the host side refuses ---- */

#define REFUSED_SERVE(error, message, ...)                                \
	do {                                                              \
		pld_serve_options options = { __VA_ARGS__ };              \
		EXPECT_REFUSED(error, message,                            \
			       pld_domain_serve(domain, &options, NULL)); \
	} while (0)

TEST_F(trust, wrong_options_are_refused)
{
	char *path = self->served->path, long_path[120] = { 0 };
	pld_domain *domain, *sub;
	char note[1];

	memset(long_path, 'x', 108);
	ASSERT_NE(NULL, domain = make_domain(NRANKS));
	EXPECT_REFUSED(-EINVAL, "pld_domain_serve: options must not be NULL",
		       pld_domain_serve(domain, NULL, NULL));
	EXPECT_REFUSED(-EINVAL, "pld_domain_serve: domain must not be NULL",
		       pld_domain_serve(NULL, NULL, NULL));
	REFUSED_SERVE(-EINVAL, "pld_domain_serve: options.path is missing", 0);
	REFUSED_SERVE(-EINVAL, "pld_domain_serve: options.path is missing",
		      .path = "");
	REFUSED_SERVE(-ENAMETOOLONG,
		      "pld_domain_serve: path of 108 bytes, wanted at most 107",
		      .path = long_path);
	REFUSED_SERVE(-EINVAL,
		      "pld_domain_serve: options.mode is 02600, wanted 0 to 0777",
		      .path = path, .mode = 02600);
	REFUSED_SERVE(-EINVAL,
		      "pld_domain_serve: options.nranks is 3, wanted 1 to 2",
		      .path = path, .ranks = (int[]){ 0, 1, 2 }, .nranks = 3);
	REFUSED_SERVE(-ERANGE,
		      "pld_domain_serve: options.ranks[1] is 2, wanted 0 to 1",
		      .path = path, .ranks = (int[]){ 0, 2 }, .nranks = 2);
	REFUSED_SERVE(-EINVAL, "pld_domain_serve: rank 1 is named twice",
		      .path = path, .ranks = (int[]){ 1, 1 }, .nranks = 2);
	REFUSED_SERVE(-EINVAL,
		      "pld_domain_serve: options.kernel must not be NULL: 1 ranks do not come in",
		      .path = path, .ranks = (int[]){ 1 }, .nranks = 1);
	REFUSED_SERVE(-EINVAL,
		      "pld_domain_serve: note of 4097 bytes, wanted at most 4096",
		      .path = path, .note = note, .note_bytes = 4097);
	REFUSED_SERVE(-EINVAL, "pld_domain_serve: options.note must not be NULL",
		      .path = path, .note_bytes = 1);
	REFUSED_SERVE(-EINVAL,
		      "pld_domain_serve: options.timeout_ns is -1, wanted 0 or more",
		      .path = path, .timeout_ns = -1);
	EXPECT_REFUSED(-EPERM,
		       "pld_domain_disconnect: domain is none of pld_domain_connect()",
		       pld_domain_disconnect(domain, 0));
	EXPECT_REFUSED(-EINVAL, "pld_domain_disconnect: domain must not be NULL",
		       pld_domain_disconnect(NULL, 0));
	EXPECT_EQ(NULL, pld_domain_note(domain, NULL));
	EXPECT_EQ(0, pld_domain_buffers(domain));
	ASSERT_EQ(0, pld_subdomain_create(domain, (int[]){ 0 }, 1, &sub));
	REFUSED_SERVE(-EOPNOTSUPP,
		      "pld_domain_serve: the domain has sub-domains, which ranks that come in cannot have",
		      .path = path);
	pld_domain_destroy(domain);
	/* Nothing was made. */
	EXPECT_EQ(-1, access(path, F_OK));
}

TEST_F(trust, only_an_unused_socket_of_the_own_is_replaced)
{
	char *path = self->served->path, message[200];
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	pld_domain *domain;
	struct stat stat;
	int fd;

	ASSERT_NE(NULL, domain = make_domain(NRANKS));
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	ASSERT_LE(0, fd);
	close(fd);
	snprintf(message, sizeof(message),
		 "pld_domain_serve: %s exists and is no socket", path);
	REFUSED_SERVE(-EEXIST, message, .path = path);
	ASSERT_EQ(0, unlink(path));

	/* Also one that is no server of libpld. */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strcpy(address.sun_path, path);
	ASSERT_EQ(0, bind(fd, (struct sockaddr *)&address, sizeof(address)));
	ASSERT_EQ(0, listen(fd, 1));
	snprintf(message, sizeof(message),
		 "pld_domain_serve: %s is in use: somebody serves there", path);
	REFUSED_SERVE(-EADDRINUSE, message, .path = path);
	snprintf(message, sizeof(message),
		 "pld_domain_connect: what answers at %s is no server of libpld",
		 path);
	EXPECT_REFUSED(-EPROTO, message, pld_domain_connect(path, 0, &domain));
	close(fd);
	ASSERT_EQ(0, lstat(path, &stat));
	snprintf(message, sizeof(message),
		 "pld_domain_connect: nobody serves at %s", path);
	EXPECT_REFUSED(-ECONNREFUSED, message,
		       pld_domain_connect(path, 0, &domain));
	pld_domain_destroy(domain);

	/* It is left over now. */
	SERVE;
	ASSERT_NE(NULL, domain = make_domain(NRANKS));
	snprintf(message, sizeof(message),
		 "pld_domain_serve: %s is in use: somebody serves there", path);
	REFUSED_SERVE(-EADDRINUSE, message, .path = path);
	pld_domain_destroy(domain);
}

/* Whoever has taken the place of the socket keeps it. */
TEST_F(trust, only_the_own_socket_is_removed)
{
	struct stat stat;
	int fd;

	self->served->patience_ns = 200 * LIB_MS;
	ASSERT_EQ(0, start_server(&self->server, self->served));
	ASSERT_EQ(0, unlink(self->served->path));
	fd = open(self->served->path, O_CREAT | O_WRONLY, 0600);
	ASSERT_LE(0, fd);
	close(fd);
	EXPECT_EQ(0, peer_reap(&self->server));
	EXPECT_EQ(-ETIMEDOUT, self->served->error);
	EXPECT_EQ(0, lstat(self->served->path, &stat));
}

/* ---- what a rank is refused ---- */

#define REFUSED_RANK(error, message, path, rank)                       \
	do {                                                           \
		pld_domain *none = NULL;                               \
		EXPECT_REFUSED(error, message,                         \
			       pld_domain_connect(path, rank, &none)); \
		EXPECT_EQ(NULL, none);                                 \
	} while (0)

static int stay(pld_domain *domain, void *arg)
{
	struct served *served = arg;

	served->ready++;
	reaches(&served->go_on, 1);
	return gather(domain, arg);
}

TEST_F(trust, a_rank_is_one_process)
{
	char *path = self->served->path, message[200];

	REFUSED_RANK(-EINVAL,
		     "pld_domain_connect: path and domain must not be NULL",
		     NULL, 0);
	REFUSED_RANK(-ENOENT, "pld_domain_connect: nobody serves at /none/s",
		     "/none/s", 0);
	ASSERT_EQ(0, start_server(&self->server, self->served));
	REFUSED_RANK(-ERANGE, "pld_domain_connect: rank is 2, wanted 0 to 1",
		     path, 2);
	REFUSED_RANK(-ERANGE,
		     "pld_domain_connect: rank is 2147483647, wanted 0 to 1",
		     path, INT_MAX);
	REFUSED_RANK(-ERANGE, "pld_domain_connect: rank is -1, wanted 0 or more",
		     path, -1);
	ASSERT_EQ(0, start_joiner(&self->joiners[1], self->served, 1, stay));
	ASSERT_TRUE(reaches(&self->served->came, 1));
	snprintf(message, sizeof(message),
		 "pld_domain_connect: rank 1 is taken by process %d",
		 self->joiners[1].peer.pid);
	REFUSED_RANK(-EBUSY, message, path, 1);
	ASSERT_EQ(0, start_joiner(&self->joiners[0], self->served, 0, stay));
	/* And while they run. */
	ASSERT_TRUE(reaches(&self->served->ready, NRANKS));
	REFUSED_RANK(-EBUSY, message, path, 1);
	self->served->go_on = 1;
	for (int r = 0; r < NRANKS; r++)
		EXPECT_EQ(0, peer_reap(&self->joiners[r].peer));
	EXPECT_EQ(0, peer_reap(&self->server));
	EXPECT_EQ(0, self->served->error);
}

TEST_F(trust, a_rank_that_is_forked_does_not_come_in)
{
	self->served->ranks[0] = 1;
	self->served->nr_joined = 1;
	ASSERT_EQ(0, start_server(&self->server, self->served));
	REFUSED_RANK(-EBUSY, "pld_domain_connect: rank 0 is the server's own",
		     self->served->path, 0);
	ASSERT_EQ(0, start_joiner(&self->joiners[1], self->served, 1, gather));
	EXPECT_EQ(0, peer_reap(&self->joiners[1].peer));
	EXPECT_EQ(0, peer_reap(&self->server));
	EXPECT_EQ(0, self->served->error);
}

/* Where a window of the domain lies, in this process. */
static void *window_address(const char *path, struct __test_metadata *_metadata)
{
	pld_distributed_tensor view;
	pld_domain *domain;

	EXPECT_EQ(0, pld_domain_connect(path, 0, &domain))
	{
		return NULL;
	}
	EXPECT_EQ(0, pld_window(pld_domain_buffer(domain, 0), PLD_SHAPE(1, 1),
				PLD_INT64, &view));
	EXPECT_EQ(0, pld_domain_disconnect(domain, 0));
	return view.data;
}

TEST_F(trust, an_address_that_is_taken_is_told)
{
	char message[200];
	void *address;

	self->served->nranks = 1;
	self->served->again = 1;
	ASSERT_EQ(0, start_server(&self->server, self->served));
	address = window_address(self->served->path, _metadata);
	self->served->go_on = 1;
	ASSERT_TRUE(reaches(&self->served->listening, 2));
	ASSERT_EQ(address, mmap(address, 4096, PROT_READ,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	snprintf(message, sizeof(message),
		 "pld_domain_connect: window 0 belongs at %p to %p, where this process has something else",
		 address, (char *)address + 4096);
	REFUSED_RANK(-EADDRINUSE, message, self->served->path, 0);
	munmap(address, 4096);
	/* Nothing has happened to the others: it may try again. */
	EXPECT_EQ(address, window_address(self->served->path, _metadata));
	EXPECT_EQ(0, peer_reap(&self->server));
	EXPECT_EQ(0, self->served->error);
}

/* ---- strangers ---- */

/* Comes as nobody, in that group too; the error of the connection. */
struct stranger {
	const char *path;
	gid_t group;
	char message[PLD_MESSAGE_BYTES];
	int error;
};

static int come_as_nobody(struct peer *self, void *arg)
{
	struct stranger *stranger = arg;
	pld_domain *domain;

	(void)self;
	NEED(!setgroups(1, &stranger->group));
	NEED(!setresgid(NOBODY, NOBODY, NOBODY));
	NEED(!setresuid(NOBODY, NOBODY, NOBODY));
	stranger->error = pld_domain_connect(stranger->path, 0, &domain);
	snprintf(stranger->message, sizeof(stranger->message), "%s",
		 stranger->error ? pld_last_error() : "");
	if (!stranger->error)
		stranger->error =
			pld_domain_disconnect(domain, gather(domain, NULL));
	return 0;
}

static struct stranger *make_stranger(const struct served *served, gid_t group)
{
	struct stranger *stranger = mmap(NULL, sizeof(*stranger),
					 PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (stranger == MAP_FAILED)
		return NULL;
	*stranger = (struct stranger){ served->path, group, "", 0 };
	return stranger;
}

TEST_F(trust, a_stranger_is_not_let_in)
{
	struct stranger *stranger = make_stranger(self->served, NOBODY);
	char message[200];

	if (geteuid())
		SKIP(return, "only root can be somebody else");
	SERVE;
	EXPECT_EQ(0, peer_call(come_as_nobody, stranger));
	snprintf(message, sizeof(message),
		 "pld_domain_connect: no permission to connect to %s; its mode says who may",
		 self->served->path);
	EXPECT_EQ(-EACCES, stranger->error);
	EXPECT_STREQ(message, stranger->message);

	/* The path lets everybody in, the server does not. */
	ASSERT_EQ(0, chmod(self->served->path, 0666));
	EXPECT_EQ(0, peer_call(come_as_nobody, stranger));
	EXPECT_EQ(-EACCES, stranger->error);
	EXPECT_STREQ("pld_domain_connect: the server does not admit user 65534: its socket has mode 0600",
		     stranger->message);
}

/* Of a group that it has beside its own. */
TEST_F(trust, a_group_is_let_in_by_the_mode)
{
	struct stranger *stranger = make_stranger(self->served, getegid());
	struct stat stat;

	if (geteuid())
		SKIP(return, "only root can be somebody else");
	self->served->mode = 0660;
	umask(0077);
	SERVE;
	ASSERT_EQ(0, lstat(self->served->path, &stat));
	EXPECT_EQ(S_IFSOCK | 0660, stat.st_mode);
	stranger->group = NOBODY;
	EXPECT_EQ(0, peer_call(come_as_nobody, stranger));
	EXPECT_EQ(-EACCES, stranger->error);
	stranger->group = getegid();
	ASSERT_EQ(0, chmod(self->served->path, 0666));
	self->serving = false;
	ASSERT_EQ(0, start_joiner(&self->joiners[1], self->served, 1, gather));
	EXPECT_EQ(0, peer_call(come_as_nobody, stranger));
	if (stranger->error == -EACCES &&
	    strstr(stranger->message, "/dev/pld_sim")) {
		/* The group of the node is not root's: it was let in as far. */
		ASSERT_EQ(0, start_joiner(&self->joiners[0], self->served, 0,
					  gather));
		EXPECT_EQ(0, peer_reap(&self->joiners[0].peer));
	} else {
		EXPECT_EQ(0, stranger->error);
	}
	EXPECT_EQ(0, peer_reap(&self->joiners[1].peer));
	EXPECT_EQ(0, peer_reap(&self->server));
	EXPECT_EQ(0, self->served->error);
}

LIB_TEST_MAIN
