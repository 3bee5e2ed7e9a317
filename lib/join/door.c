// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Who comes to the door, from the connection to the start. What the two sides
 * say: wire.h.
 *
 * A guest's process is known by a pidfd. Where the kernel makes none from the
 * socket, its number is taken from there; it is still the guest's own if the
 * guest answers afterwards, as it must.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"
#include "fd.h"
#include "join/door.h"
#include "join/place.h"
#include "join/wire.h"
#include "platform/platform.h"
#include "watch.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* Guests that have not shown yet that they are ranks; the rest queue outside. */
#define MOST_STRANGERS 16
#define MOST_GUESTS (MOST_STRANGERS + PLD_MAX_RANKS)
/* From the connection until all that it takes was said. */
#define PATIENCE_NS (5 * PLD_NS_PER_S)
/* Out of descriptors: the next look at who waits outside. */
#define PAUSE_NS (100 * PLD_NS_PER_MS)

enum state {
	FREE,
	/* its hello is to come */
	NEW,
	/* packets wait for room in its socket */
	TOLD,
	/* its ready is to come */
	ASKED,
	CAME,
};

struct guest {
	enum state state;
	int socket;
	int pidfd;
	pid_t pid;
	/* with TOLD and later */
	int rank;
	/* the packet to send, 0 for the welcome, then the windows */
	int next;
	/* of that window: whose dma-buf is to send, -1 for itself */
	int import;
	int64_t deadline;
};

struct pld_door {
	pld_domain *domain;
	const pld_serve_options *options;
	struct pld_place place;
	int epoll;
	int64_t deadline;
	bool started;
	bool expected[PLD_MAX_RANKS];
	/* the process that has the rank, or 0 */
	pid_t holders[PLD_MAX_RANKS];
	struct guest guests[MOST_GUESTS];
	int strangers;
	/* does not look outside until then; 0: looks */
	int64_t deaf_until;
};

/* What epoll says of the door's own two; a guest's number otherwise. */
#define OUTSIDE (MOST_GUESTS + 1u)
#define STOP (MOST_GUESTS + 2u)

static void tell(const struct pld_door *door, pld_serve_event event, int rank,
		 int pid)
{
	if (door->options->progress)
		door->options->progress(door->options->progress_arg, event,
					rank, pid);
}

static int set_epoll(const struct pld_door *door, int how, int fd,
		     uint32_t events, uint32_t number)
{
	struct epoll_event event = { .events = events, .data.u32 = number };

	return epoll_ctl(door->epoll, how, fd, &event);
}

static void watch_guest(struct pld_door *door, const struct guest *guest,
			uint32_t events)
{
	set_epoll(door, EPOLL_CTL_MOD, guest->socket, events,
		  (uint32_t)(guest - door->guests));
}

/* Looks outside while there is room for a stranger, and a descriptor. */
static void listen_or_not(struct pld_door *door)
{
	bool listens = door->strangers < MOST_STRANGERS && !door->deaf_until;

	set_epoll(door, EPOLL_CTL_MOD, door->place.socket,
		  listens ? EPOLLIN : 0, OUTSIDE);
}

static void set_state(struct pld_door *door, struct guest *guest,
		      enum state state)
{
	bool was_stranger = guest->state != FREE && guest->state != CAME;
	bool is_stranger = state != FREE && state != CAME;

	door->strangers += is_stranger - was_stranger;
	guest->state = state;
	listen_or_not(door);
}

/* Of epoll too: a descriptor that a rank has inherited would be told of for ever. */
static void hand_over(struct pld_door *door, struct guest *guest)
{
	epoll_ctl(door->epoll, EPOLL_CTL_DEL, guest->socket, NULL);
	set_state(door, guest, FREE);
}

static void part_with(struct pld_door *door, struct guest *guest)
{
	if (guest->rank >= 0)
		door->holders[guest->rank] = 0;
	hand_over(door, guest);
	close(guest->socket);
	if (guest->pidfd >= 0)
		close(guest->pidfd);
}

/* With pld_last_error()'s sentence. What it has said must not hide it: read. */
static void refuse(struct pld_door *door, struct guest *guest, int error)
{
	union pld_packet packet = { 0 };

	packet.refusal.error = error;
	snprintf(packet.refusal.message, sizeof(packet.refusal.message), "%s",
		 pld_last_error());
	shutdown(guest->socket, SHUT_RD);
	pld_packet_send(guest->socket, &packet, PLD_PACKET_REFUSAL,
			sizeof(packet.refusal), -1);
	while (pld_packet_receive(guest->socket, &packet, NULL) > 0)
		;
	part_with(door, guest);
}

/*
 * Packets.
 */

static void fill_welcome(const struct pld_door *door,
			 struct pld_welcome *welcome)
{
	const pld_domain *domain = door->domain;
	const pld_serve_options *options = door->options;

	*welcome = (struct pld_welcome){
		.nranks = domain->nranks,
		.epoch = domain->epoch,
		.buffers = (uint32_t)pld_domain_buffers(domain),
		.note_bytes = (uint32_t)options->note_bytes,
		.timeout_ns = domain->timeout_ns,
		.tile_bytes = domain->tile_bytes,
		.patience_ns = INT64_MAX,
	};
	if (door->deadline != INT64_MAX) {
		int64_t left = door->deadline - pld_now();

		welcome->patience_ns = left > 0 ? left : 0;
	}
	snprintf(welcome->platform, sizeof(welcome->platform), "%s",
		 domain->platform->name);
	memcpy(welcome->devices, domain->devices, sizeof(welcome->devices));
	if (options->note_bytes)
		memcpy(welcome->note, options->note, options->note_bytes);
}

static int send_welcome(const struct pld_door *door, const struct guest *guest)
{
	const pld_domain *domain = door->domain;
	union pld_packet packet;

	fill_welcome(door, &packet.welcome);
	return pld_packet_send(guest->socket, &packet, PLD_PACKET_WELCOME,
			       sizeof(packet.welcome),
			       domain->platform->domain_fd(domain));
}

static int send_window(const struct pld_door *door, const struct guest *guest,
		       const pld_window_buffer *buffer)
{
	const struct pld_platform *platform = door->domain->platform;
	int fd = platform->window_fd(buffer);
	union pld_packet packet;

	packet.window = (struct pld_window_packet){
		.window = buffer->window,
		.has_fd = fd >= 0,
		.bytes = buffer->bytes,
		.cells = buffer->cells,
		.base = (uintptr_t)buffer->base,
		.stride = buffer->stride,
		.mmap_offset = buffer->mmap_offset,
	};
	for (int rank = 0; rank < door->domain->nranks; rank++) {
		packet.window.imported[rank] = buffer->imported[rank];
		packet.window.imports += platform->import_fd(buffer, rank) >= 0;
	}
	return pld_packet_send(guest->socket, &packet, PLD_PACKET_WINDOW,
			       sizeof(packet.window), fd);
}

/* Where the ranks do not map it themselves there is nothing to send. */
static int send_import(const struct pld_door *door, const struct guest *guest,
		       const pld_window_buffer *buffer)
{
	int fd = door->domain->platform->import_fd(buffer, guest->import);
	union pld_packet packet = { .import.rank = guest->import };

	if (fd < 0)
		return 0;
	return pld_packet_send(guest->socket, &packet, PLD_PACKET_IMPORT,
			       sizeof(packet.import), fd);
}

/* With the dma-bufs that follow it; goes on where it has stopped. */
static int send_whole_window(const struct pld_door *door, struct guest *guest)
{
	const pld_window_buffer *buffer =
		pld_domain_buffer(door->domain, guest->next - 1);

	for (; guest->import < door->domain->nranks; guest->import++) {
		int error = guest->import < 0 ? send_window(door, guest, buffer)
					      : send_import(door, guest, buffer);

		if (error)
			return error;
	}
	guest->import = -1;
	return 0;
}

static void send_more(struct pld_door *door, struct guest *guest)
{
	while (guest->next <= pld_domain_buffers(door->domain)) {
		int error = guest->next ? send_whole_window(door, guest)
					: send_welcome(door, guest);

		if (error == -EAGAIN) {
			watch_guest(door, guest, EPOLLOUT);
			return;
		}
		if (error) {
			pld_error(-error,
				  "pld_domain_connect: the server cannot send window %d: %s",
				  guest->next - 1, strerror(-error));
			refuse(door, guest, error);
			return;
		}
		guest->next++;
	}
	set_state(door, guest, ASKED);
	watch_guest(door, guest, EPOLLIN);
}

/* 0, or why that hello is refused. */
static int check_hello(const struct pld_door *door, union pld_packet *packet,
		       ssize_t bytes)
{
	static const char op[] = "pld_domain_connect";
	int rank = packet->hello.rank;

	if (!pld_packet_sound(packet, bytes))
		return pld_error(EPROTO, "%s: what came is no hello of libpld",
				 op);
	if (strcmp(packet->head.version, PLD_VERSION))
		return pld_error(EPROTO,
				 "%s: version mismatch: the server has pld %s, this rank %s",
				 op, PLD_VERSION, packet->head.version);
	if (!pld_packet_is(packet, bytes, PLD_PACKET_HELLO,
			   sizeof(packet->hello)))
		return pld_error(EPROTO, "%s: what came is no hello of libpld",
				 op);
	if (rank < 0 || rank >= door->domain->nranks)
		return pld_error(ERANGE, "%s: rank is %d, wanted 0 to %d", op,
				 rank, door->domain->nranks - 1);
	if (!door->expected[rank])
		return pld_error(EBUSY, "%s: rank %d is the server's own", op,
				 rank);
	if (door->holders[rank])
		return pld_error(EBUSY, "%s: rank %d is taken by process %d",
				 op, rank, (int)door->holders[rank]);
	return 0;
}

static void take_hello(struct pld_door *door, struct guest *guest,
		       union pld_packet *packet, ssize_t bytes)
{
	int error = check_hello(door, packet, bytes);

	if (error) {
		refuse(door, guest, error);
		return;
	}
	guest->rank = packet->hello.rank;
	guest->next = 0;
	guest->import = -1;
	/* Its number is not known in another namespace of processes. */
	door->holders[guest->rank] = guest->pid > 0 ? guest->pid : -1;
	set_state(door, guest, TOLD);
	send_more(door, guest);
}

static void take_ready(struct pld_door *door, struct guest *guest,
		       const union pld_packet *packet, ssize_t bytes)
{
	if (!pld_packet_is(packet, bytes, PLD_PACKET_READY,
			   sizeof(packet->head))) {
		part_with(door, guest);
		return;
	}
	guest->deadline = INT64_MAX;
	set_state(door, guest, CAME);
	tell(door, PLD_SERVE_CAME, guest->rank, (int)guest->pid);
}

static void hear(struct pld_door *door, struct guest *guest)
{
	union pld_packet packet = { 0 };
	ssize_t bytes = pld_packet_receive(guest->socket, &packet, NULL);

	if (bytes == -EAGAIN)
		return;
	if (guest->state == CAME) {
		part_with(door, guest);
		tell(door, PLD_SERVE_WENT, guest->rank, (int)guest->pid);
	} else if (guest->state == NEW && (bytes > 0 || bytes == -EBADMSG)) {
		take_hello(door, guest, &packet, bytes);
	} else if (guest->state == ASKED && bytes > 0) {
		take_ready(door, guest, &packet, bytes);
	} else {
		part_with(door, guest);
	}
}

/*
 * Guests.
 */

static int open_pidfd(int socket, pid_t pid)
{
	socklen_t bytes = sizeof(int);
	int fd;

	if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &fd, &bytes))
		fd = pidfd_open(pid, 0);
	return pld_fd_above_stdio(fd);
}

static struct guest *free_guest(struct pld_door *door)
{
	for (int i = 0; i < MOST_GUESTS; i++)
		if (door->guests[i].state == FREE)
			return &door->guests[i];
	return NULL;
}

/* 0, or why who is at the other end cannot be a rank. */
static int check_who(const struct pld_door *door, const struct guest *guest,
		     const struct ucred *who, int no_pidfd)
{
	if (!pld_place_admits(&door->place, guest->socket, who->uid, who->gid))
		return pld_error(EACCES,
				 "pld_domain_connect: the server does not admit user %u: its socket has mode 0%o",
				 who->uid, door->place.mode);
	if (guest->pidfd < 0)
		return pld_error(no_pidfd,
				 "pld_domain_connect: the server cannot watch process %d: %s",
				 (int)who->pid, strerror(no_pidfd));
	return 0;
}

/* The descriptor is the guest's from here on. */
static void let_in(struct pld_door *door, int socket)
{
	struct guest *guest = free_guest(door);
	struct ucred who = { 0 };
	socklen_t bytes = sizeof(who);
	int error;

	if (!guest || set_epoll(door, EPOLL_CTL_ADD, socket, EPOLLIN,
				(uint32_t)(guest - door->guests))) {
		close(socket);
		return;
	}
	getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &bytes);
	*guest = (struct guest){
		.socket = socket,
		.pidfd = open_pidfd(socket, who.pid),
		.pid = who.pid,
		.rank = -1,
		.deadline = pld_deadline(PATIENCE_NS),
	};
	error = errno;
	set_state(door, guest, NEW);
	error = check_who(door, guest, &who, error);
	if (error)
		refuse(door, guest, error);
}

static void look_outside(struct pld_door *door)
{
	while (door->strangers < MOST_STRANGERS) {
		int fd = accept4(door->place.socket, NULL, NULL,
				 SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		fd = pld_fd_above_stdio(fd);
		if (fd < 0 && errno != EAGAIN) {
			door->deaf_until = pld_deadline(PAUSE_NS);
			listen_or_not(door);
		}
		if (fd < 0)
			return;
		let_in(door, fd);
	}
}

static void look_at_guest(struct pld_door *door, struct guest *guest,
			  uint32_t events)
{
	if (guest->state == FREE)
		return;
	if (guest->state == TOLD && events & (EPOLLHUP | EPOLLERR))
		part_with(door, guest);
	else if (guest->state == TOLD)
		send_more(door, guest);
	else
		hear(door, guest);
}

static void look_at_clock(struct pld_door *door)
{
	int64_t now = pld_now();

	if (door->deaf_until && now >= door->deaf_until) {
		door->deaf_until = 0;
		listen_or_not(door);
	}
	for (int i = 0; i < MOST_GUESTS; i++) {
		struct guest *guest = &door->guests[i];

		if (guest->state == FREE || now < guest->deadline)
			continue;
		pld_error(ETIMEDOUT, "pld_domain_connect: nothing came for %d s",
			  (int)(PATIENCE_NS / PLD_NS_PER_S));
		refuse(door, guest, -ETIMEDOUT);
	}
}

bool pld_door_look(struct pld_door *door)
{
	struct epoll_event events[32];
	int count = epoll_wait(door->epoll, events, 32, 0);
	eventfd_t asked;
	bool stop = false;

	for (int i = 0; i < count; i++) {
		uint32_t number = events[i].data.u32;

		if (number == STOP)
			stop = !eventfd_read(door->domain->stop_fd, &asked);
		else if (number == OUTSIDE)
			look_outside(door);
		else
			look_at_guest(door, &door->guests[number],
				      events[i].events);
	}
	look_at_clock(door);
	return stop;
}

int pld_door_fd(const struct pld_door *door)
{
	return door->epoll;
}

int64_t pld_door_deadline(const struct pld_door *door)
{
	int64_t first = door->started ? INT64_MAX : door->deadline;

	if (door->deaf_until && door->deaf_until < first)
		first = door->deaf_until;
	for (int i = 0; i < MOST_GUESTS; i++)
		if (door->guests[i].state != FREE &&
		    door->guests[i].deadline < first)
			first = door->guests[i].deadline;
	return first;
}

bool pld_door_lacks(const struct pld_door *door, int rank)
{
	if (!door->expected[rank])
		return false;
	for (int i = 0; i < MOST_GUESTS; i++)
		if (door->guests[i].state == CAME && door->guests[i].rank == rank)
			return false;
	return true;
}

void pld_door_start(struct pld_door *door, struct pld_watch *watch)
{
	union pld_packet packet = { 0 };

	door->started = true;
	for (int i = 0; i < MOST_GUESTS; i++) {
		struct guest *guest = &door->guests[i];

		if (guest->state != CAME)
			continue;
		/* One that has gone meanwhile is a death, seen by the watch. */
		pld_packet_send(guest->socket, &packet, PLD_PACKET_START,
				sizeof(packet.head), -1);
		hand_over(door, guest);
		pld_watch_joined(watch, guest->rank, guest->pid, guest->pidfd,
				 guest->socket);
	}
	tell(door, PLD_SERVE_STARTED, -1, -1);
}

static int open_epoll(struct pld_door *door)
{
	door->epoll = pld_fd_above_stdio(epoll_create1(EPOLL_CLOEXEC));
	if (door->epoll < 0 ||
	    set_epoll(door, EPOLL_CTL_ADD, door->place.socket, EPOLLIN, OUTSIDE) ||
	    set_epoll(door, EPOLL_CTL_ADD, door->domain->stop_fd, EPOLLIN, STOP))
		return pld_error(errno, "pld_domain_serve: epoll: %s",
				 strerror(errno));
	return 0;
}

int pld_door_open(pld_domain *domain, const pld_serve_options *options,
		  const bool *expected, int64_t deadline, struct pld_door **out)
{
	struct pld_door *door = calloc(1, sizeof(*door));
	int error;

	if (!door)
		return pld_error(ENOMEM, "pld_domain_serve: out of memory");
	door->domain = domain;
	door->options = options;
	door->deadline = deadline;
	door->epoll = -1;
	memcpy(door->expected, expected, sizeof(door->expected));
	error = pld_place_open(&door->place, options->path, options->mode);
	if (error) {
		free(door);
		return error;
	}
	error = open_epoll(door);
	if (error) {
		pld_door_close(door, error);
		return error;
	}
	tell(door, PLD_SERVE_LISTENING, -1, -1);
	*out = door;
	return 0;
}

void pld_door_close(struct pld_door *door, int error)
{
	if (!error)
		error = pld_error(ECONNREFUSED,
				  "pld_domain_connect: the server has ended its launch");
	for (int i = 0; i < MOST_GUESTS; i++)
		if (door->guests[i].state != FREE)
			refuse(door, &door->guests[i], error);
	if (door->epoll >= 0)
		close(door->epoll);
	pld_place_close(&door->place);
	free(door);
}

void pld_door_forget(struct pld_door *door)
{
	for (int i = 0; i < MOST_GUESTS; i++) {
		if (door->guests[i].state == FREE)
			continue;
		close(door->guests[i].socket);
		close(door->guests[i].pidfd);
	}
	close(door->epoll);
	close(door->domain->stop_fd);
	door->domain->stop_fd = 0;
	pld_place_forget(&door->place);
}
