// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Coming in as a rank, and leaving. The server may be anybody: what it sends is
 * looked at before it is used, and nothing waits for it for ever.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"
#include "fd.h"
#include "join/joined.h"
#include "join/wire.h"
#include "launch.h"
#include "platform/platform.h"
#include "watch.h"

static const char op[] = "pld_domain_connect";

/* For all that the server itself has to say, whatever the others do. */
#define PATIENCE_NS (10 * PLD_NS_PER_S)
/* While too many others wait at the door. */
#define QUEUE_PAUSE_MS 10
#define MOST_BUFFERS 65536

/*
 * The connection.
 */

static int say_no_connection(const char *path, int error)
{
	switch (error) {
	case ENOENT:
	case ECONNREFUSED:
		return pld_error(error, "%s: nobody serves at %s", op, path);
	case EACCES:
		return pld_error(EACCES,
				 "%s: no permission to connect to %s; its mode says who may",
				 op, path);
	case EPROTOTYPE:
		return pld_error(EPROTO,
				 "%s: what answers at %s is no server of libpld",
				 op, path);
	default:
		return pld_error(error, "%s: cannot connect to %s: %s", op,
				 path, strerror(error));
	}
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int64_t deadline = pld_deadline(PATIENCE_NS);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
			0);

	fd = pld_fd_above_stdio(fd);
	if (fd < 0)
		return pld_error(errno, "%s: socket: %s", op, strerror(errno));
	strcpy(address.sun_path, path);
	while (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		int error = errno;

		if ((error == EAGAIN || error == EINTR) && pld_now() < deadline) {
			poll(NULL, 0, QUEUE_PAUSE_MS);
			continue;
		}
		close(fd);
		return say_no_connection(path, error);
	}
	return fd;
}

static int say_refusal(struct pld_refusal *refusal)
{
	pld_peers_text(refusal->message, sizeof(refusal->message));
	if (refusal->error >= 0 || refusal->error < -PLD_LARGEST_ERRNO)
		refusal->error = -EPROTO;
	return pld_error(-refusal->error, "%s", refusal->message);
}

static int check_packet(union pld_packet *packet, ssize_t bytes,
			enum pld_packet_kind kind, size_t wanted)
{
	if (bytes == 0 || bytes == -ECONNRESET)
		return pld_error(ECONNRESET,
				 "%s: the server has closed the connection", op);
	if (!pld_packet_sound(packet, bytes))
		return pld_error(EPROTO,
				 "%s: what answers is no server of libpld", op);
	if (packet->head.kind == PLD_PACKET_REFUSAL &&
	    bytes == sizeof(packet->refusal))
		return say_refusal(&packet->refusal);
	if (strcmp(packet->head.version, PLD_VERSION))
		return pld_error(EPROTO,
				 "%s: version mismatch: the server has pld %s, this rank %s",
				 op, packet->head.version, PLD_VERSION);
	if (!pld_packet_is(packet, bytes, kind, wanted))
		return pld_error(EPROTO,
				 "%s: packet %u of %zd bytes from the server, wanted %u of %zu",
				 op, packet->head.kind, bytes, kind, wanted);
	return 0;
}

/* The server's next packet, which must be that one. */
static int expect(int socket, union pld_packet *packet,
		  enum pld_packet_kind kind, size_t wanted, int *fd,
		  int64_t deadline)
{
	struct pollfd poll_socket = { socket, POLLIN, 0 };
	ssize_t bytes;
	int error;

	while ((bytes = pld_packet_receive(socket, packet, fd)) == -EAGAIN) {
		if (pld_now() >= deadline)
			return pld_error(ETIMEDOUT,
					 "%s: the server has said nothing for too long",
					 op);
		poll(&poll_socket, 1, pld_timeout_ms(deadline));
	}
	error = check_packet(packet, bytes, kind, wanted);
	if (error && fd && *fd >= 0)
		close(*fd);
	return error;
}

/* One who was refused before it could speak finds the answer all the same. */
static int say(int socket, union pld_packet *packet, enum pld_packet_kind kind,
	       size_t bytes)
{
	int error = pld_packet_send(socket, packet, kind, bytes, -1);

	if (!error || error == -EPIPE)
		return 0;
	return pld_error(-error, "%s: send: %s", op, strerror(-error));
}

/*
 * The domain.
 */

static const struct pld_platform *find_platform(const char *name)
{
	if (!strcmp(name, pld_platform_kmod.name))
		return &pld_platform_kmod;
	if (!strcmp(name, pld_platform_memfd.name))
		return &pld_platform_memfd;
	return NULL;
}

static int bad_welcome(const char *what)
{
	return pld_error(EPROTO, "%s: the server's welcome has a wrong %s", op,
			 what);
}

static int check_welcome(struct pld_welcome *welcome, int rank)
{
	welcome->platform[sizeof(welcome->platform) - 1] = '\0';
	if (!find_platform(welcome->platform))
		return bad_welcome("platform");
	if (welcome->nranks < 1 || welcome->nranks > PLD_MAX_RANKS ||
	    rank >= welcome->nranks)
		return bad_welcome("number of ranks");
	if (welcome->buffers > MOST_BUFFERS)
		return bad_welcome("number of windows");
	if (welcome->note_bytes > PLD_MAX_NOTE)
		return bad_welcome("note");
	if (welcome->timeout_ns <= 0 || welcome->patience_ns < 0)
		return bad_welcome("timeout");
	if (welcome->tile_bytes < 8 || welcome->tile_bytes > (size_t)1 << 30)
		return bad_welcome("staging tile");
	return 0;
}

static int take_welcome(pld_domain *domain, struct pld_welcome *welcome,
			int rank, int fd)
{
	struct pld_joined *joined = domain->joined;
	int error = check_welcome(welcome, rank);

	if (!error) {
		domain->platform = find_platform(welcome->platform);
		domain->nranks = welcome->nranks;
		domain->epoch = welcome->epoch;
		domain->timeout_ns = welcome->timeout_ns;
		domain->tile_bytes = welcome->tile_bytes;
		memcpy(domain->devices, welcome->devices,
		       sizeof(domain->devices));
		strcpy(domain->platform_reason, "it is the server's");
		domain->oversubscribed = pld_oversubscribed(domain->nranks);
		joined->note_bytes = welcome->note_bytes;
		memcpy(joined->note, welcome->note, joined->note_bytes);
		error = domain->platform->adopt(domain, fd);
	}
	if (error && fd >= 0)
		close(fd);
	return error;
}

static int check_window(const pld_domain *domain,
			const struct pld_window_packet *window, int fd)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), span, end;
	int64_t bytes;

	if (window->base && window->base % page == 0 && window->stride &&
	    window->stride % page == 0 && window->bytes &&
	    window->bytes <= window->stride && window->cells >= 0 &&
	    !__builtin_mul_overflow(window->stride, (uint64_t)domain->nranks,
				    &span) &&
	    !__builtin_add_overflow(window->base, span, &end) &&
	    end <= PTRDIFF_MAX &&
	    !__builtin_mul_overflow(window->cells, (int64_t)PLD_CELL_STRIDE,
				    &bytes) &&
	    (!window->cells || (uint64_t)bytes == window->bytes) &&
	    window->has_fd == (fd >= 0))
		return 0;
	return pld_error(EPROTO,
			 "%s: the server has sent a window that cannot be", op);
}

static int reserve_addresses(const pld_window_buffer *buffer, int index)
{
	size_t span = pld_span(buffer);
	char *there = mmap(buffer->base, span, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				   MAP_FIXED_NOREPLACE,
			   -1, 0);

	if (there == buffer->base)
		return 0;
	if (there != MAP_FAILED)
		munmap(there, span);
	return pld_error(EADDRINUSE,
			 "%s: window %d belongs at %p to %p, where this process has something else",
			 op, index, (void *)buffer->base,
			 (void *)(buffer->base + span));
}

static int set_up_window(pld_window_buffer *buffer, int index, int fd,
			 const int *imports)
{
	const struct pld_platform *platform = buffer->domain->platform;
	int error = reserve_addresses(buffer, index);

	if (error)
		return error;
	error = platform->window_adopt(buffer, fd, imports);
	if (error)
		munmap(buffer->base, pld_span(buffer));
	return error;
}

static int take_window(pld_domain *domain,
		       const struct pld_window_packet *window, int index,
		       int fd, const int *imports)
{
	pld_window_buffer *buffer;
	int error;

	PLD_TRY(check_window(domain, window, fd));
	buffer = calloc(1, sizeof(*buffer));
	if (!buffer)
		return pld_error(ENOMEM, "%s: out of memory", op);
	buffer->domain = domain;
	buffer->bytes = window->bytes;
	buffer->cells = window->cells;
	buffer->base = (char *)(uintptr_t)window->base;
	buffer->stride = window->stride;
	buffer->window = window->window;
	buffer->mmap_offset = window->mmap_offset;
	buffer->fd = -1;
	for (int rank = 0; rank < domain->nranks; rank++)
		buffer->imported[rank] = window->imported[rank];
	error = set_up_window(buffer, index, fd, imports);
	if (error) {
		free(buffer);
		return error;
	}
	buffer->next = domain->buffers;
	domain->buffers = buffer;
	return 0;
}

/* Each to the rank that it says, which the window said too, and once. */
static int receive_imports(const pld_domain *domain, int socket,
			   const struct pld_window_packet *window, int *imports,
			   int64_t deadline)
{
	union pld_packet packet;
	int fd, rank;

	for (uint32_t i = 0; i < window->imports; i++) {
		PLD_TRY(expect(socket, &packet, PLD_PACKET_IMPORT,
			       sizeof(packet.import), &fd, deadline));
		rank = packet.import.rank;
		if (fd >= 0 && rank >= 0 && rank < domain->nranks &&
		    window->imported[rank] && imports[rank] < 0) {
			imports[rank] = fd;
			continue;
		}
		if (fd >= 0)
			close(fd);
		return pld_error(EPROTO,
				 "%s: the server has sent a dma-buf that belongs nowhere",
				 op);
	}
	return 0;
}

static int receive_window(pld_domain *domain, int socket, int index,
			  int64_t deadline)
{
	int imports[PLD_MAX_RANKS];
	union pld_packet packet;
	int error, fd;

	PLD_TRY(expect(socket, &packet, PLD_PACKET_WINDOW,
		       sizeof(packet.window), &fd, deadline));
	for (int rank = 0; rank < PLD_MAX_RANKS; rank++)
		imports[rank] = -1;
	error = receive_imports(domain, socket, &packet.window, imports,
				deadline);
	if (!error)
		error = take_window(domain, &packet.window, index, fd,
				    packet.window.imports ? imports : NULL);
	for (int rank = 0; rank < PLD_MAX_RANKS; rank++)
		if (imports[rank] >= 0)
			close(imports[rank]);
	if (error && fd >= 0)
		close(fd);
	return error;
}

static int receive_windows(pld_domain *domain, int socket, uint32_t buffers,
			   int64_t deadline)
{
	for (uint32_t i = 0; i < buffers; i++)
		PLD_TRY(receive_window(domain, socket, (int)i, deadline));
	return 0;
}

/* All that can be wrong is found before the others count on this rank. */
static int come_in(pld_domain *domain, int rank)
{
	int socket = domain->joined->socket;
	union pld_packet packet = { .hello = { .rank = rank } };
	int64_t deadline = pld_deadline(PATIENCE_NS), patience;
	uint32_t buffers;
	int fd;

	PLD_TRY(say(socket, &packet, PLD_PACKET_HELLO, sizeof(packet.hello)));
	PLD_TRY(expect(socket, &packet, PLD_PACKET_WELCOME,
		       sizeof(packet.welcome), &fd, deadline));
	patience = pld_deadline(packet.welcome.patience_ns);
	buffers = packet.welcome.buffers;
	PLD_TRY(take_welcome(domain, &packet.welcome, rank, fd));
	PLD_TRY(receive_windows(domain, socket, buffers, deadline));
	PLD_TRY(say(socket, &packet, PLD_PACKET_READY, sizeof(packet.head)));
	if (__builtin_add_overflow(patience, PATIENCE_NS, &patience))
		patience = INT64_MAX;
	return expect(socket, &packet, PLD_PACKET_START, sizeof(packet.head),
		      NULL, patience);
}

/* Not what a child of the rank has not inherited: other things may lie there. */
static void unmap(pld_domain *domain)
{
	for (pld_window_buffer *b = domain->buffers; b; b = b->next)
		munmap(b->base, pld_span(b));
	if (domain->platform)
		domain->platform->detach(domain);
	pld_rank_unmark(domain);
}

static void discard(pld_domain *domain, bool inherited)
{
	if (inherited && domain->platform_fd >= 0)
		close(domain->platform_fd);
	if (!inherited)
		unmap(domain);
	for (pld_window_buffer *b = domain->buffers, *next; b; b = next) {
		next = b->next;
		free(b->imports);
		free(b);
	}
	/* The last: to the server it is the end. */
	close(domain->joined->socket);
	free(domain->joined);
	free(domain);
}

static int start(pld_domain *domain, int rank)
{
	int socket = domain->joined->socket;
	int error;

	fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) & ~O_NONBLOCK);
	domain->launcher_fd = socket;
	domain->rank = rank;
	error = pld_rank_attach(domain);
	if (!error)
		error = pld_joined_watch(domain);
	/* Where it has no pages to tell others by, its end tells them. */
	if (error && domain->status)
		pld_rank_end(domain, error);
	return error;
}

static pld_domain *make_domain(int socket)
{
	pld_domain *domain = calloc(1, sizeof(*domain));
	struct pld_joined *joined = calloc(1, sizeof(*joined));

	if (!domain || !joined) {
		free(domain);
		free(joined);
		return NULL;
	}
	joined->socket = socket;
	domain->joined = joined;
	domain->platform_fd = -1;
	domain->domain_fd = -1;
	domain->rank = -1;
	return domain;
}

int pld_domain_connect(const char *path, int rank, pld_domain **out)
{
	pld_domain *domain;
	int socket, error;

	if (!path || !out)
		return pld_error(EINVAL, "%s: path and domain must not be NULL",
				 op);
	if (strlen(path) > PLD_MAX_SERVE_PATH)
		return pld_error(ENAMETOOLONG,
				 "%s: path of %zu bytes, wanted at most %d", op,
				 strlen(path), PLD_MAX_SERVE_PATH);
	if (rank < 0)
		return pld_error(ERANGE, "%s: rank is %d, wanted 0 or more", op,
				 rank);
	socket = connect_to(path);
	if (socket < 0)
		return socket;
	domain = make_domain(socket);
	if (!domain) {
		close(socket);
		return pld_error(ENOMEM, "%s: out of memory", op);
	}
	error = come_in(domain, rank);
	if (!error)
		error = start(domain, rank);
	if (error) {
		discard(domain, false);
		return error;
	}
	*out = domain;
	return 0;
}

int pld_domain_disconnect(pld_domain *domain, int result)
{
	bool inherited, gone;

	if (!domain)
		return pld_error(EINVAL,
				 "pld_domain_disconnect: domain must not be NULL");
	if (!domain->joined)
		return pld_error(EPERM,
				 "pld_domain_disconnect: domain is none of pld_domain_connect()");
	inherited = !*domain->alive;
	if (inherited) {
		discard(domain, true);
		return pld_error(EPERM,
				 "pld_domain_disconnect: this process was forked by the rank and is not a rank itself");
	}
	gone = pld_server_gone(domain, 0);
	if (!gone)
		pld_rank_end(domain, result > 0 ? 0 : result);
	pld_joined_unwatch(domain);
	discard(domain, false);
	if (gone)
		return pld_error(ECONNRESET,
				 "pld_domain_disconnect: the server has gone away");
	return 0;
}
