// SPDX-License-Identifier: GPL-2.0
/*
 * Ranks that come in: that neither garbage nor silence at either end harms the
 * other, whatever it says it is.
 */
#include <poll.h>

#include "lib_join_trust.h"

/* ---- garbage and silence at the server ---- */

/* A connection by hand. */
static int knock(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	if (TEMP_FAILURE_RETRY(connect(fd, (struct sockaddr *)&address,
				       sizeof(address)))) {
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
			  TEMP_FAILURE_RETRY(                                  \
				  recv(fd, &refusal, sizeof(refusal), 0)));    \
		EXPECT_EQ(number, refusal.error);                              \
		EXPECT_STREQ(sentence, refusal.message);                       \
		EXPECT_GE(0, TEMP_FAILURE_RETRY(                               \
				     recv(fd, &refusal, sizeof(refusal), 0))); \
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
	TEMP_FAILURE_RETRY(sendmsg(socket, &message, MSG_NOSIGNAL));
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
		int fd = TEMP_FAILURE_RETRY(accept(door, NULL, NULL));

		TEMP_FAILURE_RETRY(recv(fd, bytes, sizeof(bytes), 0));
		for (unsigned int n = draw(&liar->seed) % 3; n; n--) {
			size_t count = draw_packet(&liar->seed, bytes, 6000);

			if (draw(&liar->seed) % 4 == 0)
				send_fds(fd, door, 1 + draw(&liar->seed) % 3);
			TEMP_FAILURE_RETRY(send(fd, bytes, count, MSG_NOSIGNAL));
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
	ssize_t count =
		TEMP_FAILURE_RETRY(recvmsg(socket, &message, MSG_CMSG_CLOEXEC));

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
	TEMP_FAILURE_RETRY(sendmsg(socket, &message, MSG_NOSIGNAL));
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
	NEED(TEMP_FAILURE_RETRY(send(server, &hello, sizeof(hello), 0)) > 0);
	for (int i = 0; i < 3; i++)
		receive(server, &packets[i]);
	strcpy(address.sun_path, man->liar.path);
	NEED(!bind(door, (struct sockaddr *)&address, sizeof(address)));
	NEED(!listen(door, 8));
	man->liar.listening = 1;
	for (int i = 0; i < man->liar.rounds; i++) {
		int fd = TEMP_FAILURE_RETRY(accept(door, NULL, NULL));

		TEMP_FAILURE_RETRY(recv(fd, &byte, 1, 0));
		if (lie_a_little(&man->liar.seed, fd, packets) &&
		    TEMP_FAILURE_RETRY(poll(&(struct pollfd){ fd, POLLIN, 0 },
					    1, 200)) > 0 &&
		    TEMP_FAILURE_RETRY(recv(fd, &byte, 1, 0)) > 0)
			TEMP_FAILURE_RETRY(
				send(fd, &start, start.bytes, MSG_NOSIGNAL));
		else
			shutdown(fd, SHUT_WR);
		while (TEMP_FAILURE_RETRY(recv(fd, &byte, 1, 0)) > 0)
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
