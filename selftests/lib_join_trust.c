// SPDX-License-Identifier: GPL-2.0
/*
 * Serving and connecting among people who do not trust each other: who is let
 * in, what is refused and how, and that neither garbage nor silence at either
 * end harms the other.
 */
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib_join.h"

#define NRANKS 2
#define NOBODY 65534

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

/* ---- garbage and silence at the server ---- */

/* A connection by hand. */
static int knock(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The packets as they were first given out; they are the same for ever. */
struct hello {
	char magic[8];
	char version[24];
	uint32_t kind;
	uint32_t bytes;
	int32_t rank;
};

struct refusal {
	char magic[8];
	char version[24];
	uint32_t kind;
	uint32_t bytes;
	int32_t error;
	char message[PLD_MESSAGE_BYTES];
};

static struct hello good_hello(int rank)
{
	struct hello hello = { .magic = "pldjoin",
			       .kind = 1,
			       .bytes = sizeof(hello),
			       .rank = rank };

	snprintf(hello.version, sizeof(hello.version), "%s", pld_version());
	return hello;
}

#define REFUSED_HELLO(number, sentence, hello)                                 \
	do {                                                                   \
		struct refusal refusal = { 0 };                                \
		int fd = knock(self->served->path);                            \
		ASSERT_LE(0, fd);                                              \
		EXPECT_LT(0, send(fd, &(hello), sizeof(hello), MSG_NOSIGNAL)); \
		EXPECT_EQ(sizeof(refusal),                                     \
			  recv(fd, &refusal, sizeof(refusal), 0));             \
		EXPECT_EQ(number, refusal.error);                              \
		EXPECT_STREQ(sentence, refusal.message);                       \
		EXPECT_GE(0, recv(fd, &refusal, sizeof(refusal), 0));          \
		close(fd);                                                     \
	} while (0)

TEST_F(trust, another_version_is_refused)
{
	struct hello hello = good_hello(0);
	char sentence[200];

	SERVE;
	strcpy(hello.version, "99.1.2");
	snprintf(sentence, sizeof(sentence),
		 "pld_domain_connect: version mismatch: the server has pld %s, this rank 99.1.2",
		 pld_version());
	REFUSED_HELLO(-EPROTO, sentence, hello);
	memset(hello.version, 'x', sizeof(hello.version));
	snprintf(sentence, sizeof(sentence),
		 "pld_domain_connect: version mismatch: the server has pld %s, this rank xxxxxxxxxxxxxxxxxxxxxxx",
		 pld_version());
	REFUSED_HELLO(-EPROTO, sentence, hello);
}

static unsigned int draw(unsigned int *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* Random bytes, some with a head that is nearly right. */
static size_t draw_packet(unsigned int *seed, unsigned char *bytes, size_t most)
{
	size_t count = draw(seed) % most + 1;
	struct hello hello = good_hello((int)draw(seed) % NRANKS);

	for (size_t i = 0; i < count; i++)
		bytes[i] = (unsigned char)draw(seed);
	if (draw(seed) % 2) {
		hello.bytes = (uint32_t)count;
		hello.kind = draw(seed) % 8;
		memcpy(bytes, &hello,
		       count < sizeof(hello) ? count : sizeof(hello));
	}
	return count;
}

TEST_F(trust, garbage_harms_nobody)
{
	static const char not_a_hello[] =
		"pld_domain_connect: what came is no hello of libpld";
	struct hello hello = good_hello(0);
	unsigned char bytes[9000];
	unsigned int seed = 77;

	SERVE;
	hello.magic[3] = 'x';
	REFUSED_HELLO(-EPROTO, not_a_hello, hello);
	hello = good_hello(0);
	hello.bytes++;
	REFUSED_HELLO(-EPROTO, not_a_hello, hello);
	hello = good_hello(0);
	hello.kind = 5;
	REFUSED_HELLO(-EPROTO, not_a_hello, hello);
	hello = good_hello(0);
	hello.version[1] = '\n';
	REFUSED_HELLO(-EPROTO, not_a_hello, hello);
	for (int i = 0; i < times(300, 20); i++) {
		int fd = knock(self->served->path);

		ASSERT_LE(0, fd);
		for (unsigned int n = draw(&seed) % 4; n; n--)
			send(fd, bytes, draw_packet(&seed, bytes, sizeof(bytes)),
			     MSG_NOSIGNAL | MSG_DONTWAIT);
		if (draw(&seed) % 4 == 0)
			fd_send(fd, fd);
		close(fd);
	}
}

/* They do not keep those out who come later, nor do they take a rank for ever. */
TEST_F(trust, the_silent_keep_nobody_waiting)
{
	int silent[10];

	SERVE;
	for (int i = 0; i < 10; i++) {
		silent[i] = knock(self->served->path);
		ASSERT_LE(0, silent[i]);
	}
	/* The teardown's ranks come in beside them. */
}

/* One that comes in properly, and then writes nonsense or all too much. */
static int flood(pld_domain *domain, void *arg)
{
	char record[2000] = { 0 };

	(void)arg;
	if (pld_rank(domain))
		return wait_long(domain, arg);
	for (int fd = 3; fd < 64; fd++)
		while (send(fd, record, sizeof(record),
			    MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
			;
	return 0;
}

TEST_F(trust, a_rank_that_floods_is_dead)
{
	ASSERT_EQ(0, start_server(&self->server, self->served));
	for (int r = 0; r < NRANKS; r++)
		ASSERT_EQ(0, start_joiner(&self->joiners[r], self->served, r,
					  flood));
	for (int r = 0; r < NRANKS; r++)
		EXPECT_GE(2, peer_reap(&self->joiners[r].peer));
	EXPECT_EQ(0, peer_reap(&self->server));
	EXPECT_EQ(-EOWNERDEAD, self->served->error);
	EXPECT_EQ(-EOWNERDEAD, self->served->reports[1].error);
}

/* ---- a server that is none ---- */

struct liar {
	const char *path;
	unsigned int seed;
	int rounds;
	atomic_int listening;
};

/* A byte with descriptors, 1 to 3, of which a packet of libpld has one at most. */
static void send_fds(int socket, int fd, int count)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(3 * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec part = { &control, 1 };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int)),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
	for (int i = 0; i < count; i++)
		memcpy(CMSG_DATA(header) + i * sizeof(fd), &fd, sizeof(fd));
	sendmsg(socket, &message, MSG_NOSIGNAL);
}

/* Answers a hello with packets that are more or less wrong, and descriptors. */
static int lie(struct peer *self, void *arg)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct liar *liar = arg;
	unsigned char bytes[6000];
	int door = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	(void)self;
	strcpy(address.sun_path, liar->path);
	NEED(!bind(door, (struct sockaddr *)&address, sizeof(address)));
	NEED(!listen(door, 8));
	liar->listening = 1;
	for (int i = 0; i < liar->rounds; i++) {
		int fd = accept(door, NULL, NULL);

		recv(fd, bytes, sizeof(bytes), 0);
		for (unsigned int n = draw(&liar->seed) % 3; n; n--) {
			size_t count = draw_packet(&liar->seed, bytes, 6000);

			if (draw(&liar->seed) % 4 == 0)
				send_fds(fd, door, 1 + draw(&liar->seed) % 3);
			send(fd, bytes, count, MSG_NOSIGNAL);
		}
		close(fd);
	}
	return 0;
}

TEST_F(trust, a_server_that_lies_harms_no_rank)
{
	struct liar *liar = mmap(NULL, sizeof(*liar), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int files, mappings;
	pld_domain *domain;
	struct peer peer;

	ASSERT_NE(MAP_FAILED, liar);
	*liar = (struct liar){ self->served->path, 99, times(300, 20), 0 };
	ASSERT_EQ(0, peer_start(&peer, lie, liar));
	ASSERT_TRUE(reaches(&liar->listening, 1));
	files = count_files();
	mappings = count_mappings();
	for (int i = 0; i < liar->rounds; i++) {
		int error = pld_domain_connect(self->served->path, 0, &domain);

		EXPECT_TRUE(error == -EPROTO || error == -ECONNRESET)
		{
			TH_LOG("round %d: %d, %s", i, error, pld_last_error());
		}
	}
	EXPECT_EQ(files, count_files());
	EXPECT_GE(mappings + OWN_MAPPINGS, count_mappings());
	EXPECT_EQ(0, peer_reap(&peer));
}

/* A packet as it came, and the descriptor that came with it, or -1. */
struct packet {
	unsigned char bytes[6000];
	size_t count;
	int fd;
};

static void receive(int socket, struct packet *packet)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { packet->bytes, sizeof(packet->bytes) };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);

	NEED(count > 0);
	packet->count = (size_t)count;
	packet->fd = -1;
	if (CMSG_FIRSTHDR(&message))
		memcpy(&packet->fd, CMSG_DATA(CMSG_FIRSTHDR(&message)),
		       sizeof(packet->fd));
}

static void forward(int socket, const struct packet *packet, int fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec part = { (void *)packet->bytes, packet->count };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *header;

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	}
	sendmsg(socket, &message, MSG_NOSIGNAL);
}

/* The head is fuzzed above; a note may be anything; what follows has no meaning. */
#define HEAD_BYTES 40
#define WELCOME_BYTES 72

/*
 * The true answers of a server with something changed: a few bytes of a packet,
 * a packet or a descriptor that is left out or is another. True when all of them
 * are there.
 */
static bool lie_a_little(unsigned int *seed, int socket,
			 const struct packet *packets)
{
	unsigned int wrong = draw(seed) % 3, how = draw(seed) % 8;
	struct packet packet;

	for (unsigned int i = 0; i < 3; i++) {
		int fd = packets[i].fd;

		packet = packets[i];
		if (i == wrong && how == 0)
			continue;
		if (i == wrong && how == 1)
			fd = fd < 0 ? socket : -1;
		if (i == wrong && how == 2)
			fd = packets[(i + 1) % 3].fd;
		for (unsigned int n = how; i == wrong && n > 4; n--)
			packet.bytes[HEAD_BYTES +
				     draw(seed) % (i ? packet.count - HEAD_BYTES
						     : WELCOME_BYTES)] =
				(unsigned char)(draw(seed) % 2 ? draw(seed) : 0);
		forward(socket, &packet, fd);
	}
	return how;
}

struct middleman {
	struct liar liar;
	const char *path;
};

static int lie_in_the_middle(struct peer *self, void *arg)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct middleman *man = arg;
	struct hello hello = good_hello(0), start = hello;
	struct packet packets[3];
	char byte;
	int door = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int server = knock(man->path);

	(void)self;
	start.kind = 6;
	start.bytes = offsetof(struct hello, rank);
	NEED(send(server, &hello, sizeof(hello), 0) > 0);
	for (int i = 0; i < 3; i++)
		receive(server, &packets[i]);
	strcpy(address.sun_path, man->liar.path);
	NEED(!bind(door, (struct sockaddr *)&address, sizeof(address)));
	NEED(!listen(door, 8));
	man->liar.listening = 1;
	for (int i = 0; i < man->liar.rounds; i++) {
		int fd = accept(door, NULL, NULL);

		recv(fd, &byte, 1, 0);
		if (lie_a_little(&man->liar.seed, fd, packets) &&
		    poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, 200) > 0 &&
		    recv(fd, &byte, 1, 0) > 0)
			send(fd, &start, start.bytes, MSG_NOSIGNAL);
		else
			shutdown(fd, SHUT_WR);
		while (recv(fd, &byte, 1, 0) > 0)
			;
		close(fd);
	}
	return 0;
}

/* Whatever it says: memory that is mapped is there. */
static int touch_all(pld_domain *domain)
{
	pld_window_buffer *buffer;
	pld_view view;
	pld_tile tile;

	PLD_TRY(pld_tile_alloc(&tile, 64));
	for (int i = 0; (buffer = pld_domain_buffer(domain, i)); i++) {
		if (pld_window(buffer, PLD_SHAPE(1, 1), PLD_INT64, &view) &&
		    pld_window(buffer, PLD_SHAPE(1, 1), PLD_INT32, &view))
			continue;
		for (int peer = 0; peer < pld_nranks(domain); peer++)
			pld_tile_remote_load(&view, peer, PLD_AT(0, 0),
					     PLD_SHAPE(1, 1), &tile);
	}
	pld_tile_free(&tile);
	return 0;
}

TEST_F_TIMEOUT(trust, a_true_answer_that_is_changed_harms_no_rank, 120)
{
	struct middleman *man = mmap(NULL, sizeof(*man), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char path[60];
	int files, mappings, refused = 0;
	pld_domain *domain;
	struct peer peer;

	ASSERT_NE(MAP_FAILED, man);
	snprintf(path, sizeof(path), "%s/liar", self->folder);
	*man = (struct middleman){ { path, 5, times(500, 40), 0 },
				   self->served->path };
	ASSERT_EQ(0, start_server(&self->server, self->served));
	ASSERT_EQ(0, peer_start(&peer, lie_in_the_middle, man));
	ASSERT_TRUE(reaches(&man->liar.listening, 1));
	files = count_files();
	mappings = count_mappings();
	for (int i = 0; i < man->liar.rounds; i++) {
		/* What was changed may have no meaning before the work. */
		if (pld_domain_connect(path, 0, &domain))
			refused++;
		else
			pld_domain_disconnect(domain, touch_all(domain));
	}
	EXPECT_LT(man->liar.rounds / 4, refused);
	EXPECT_EQ(files, count_files());
	/* A thread leaves its stack and its heap for the next. */
	EXPECT_GE(mappings + 4 + OWN_MAPPINGS, count_mappings());
	EXPECT_EQ(0, peer_reap(&peer));
	peer_kill(&self->server);
	unlink(path);
}

LIB_TEST_MAIN
