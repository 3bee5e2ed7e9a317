// SPDX-License-Identifier: GPL-2.0
/*
 * A server of one rank, and a guest that says anything: before the start to the
 * door, afterwards as a rank's records. Input: packets of up to 255 bytes, each
 * after its length; the heads of most are made right.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bytes.h"
#include "clock.h"
#include "join/door.h"
#include "join/wire.h"
#include "watch.h"

#define MOST_PACKETS 8

static pld_domain *make_domain(void)
{
	const pld_domain_options options = { .platform = "memfd" };
	const int devices[] = { 0 };
	pld_window_buffer *buffer;
	pld_domain *domain;

	if (pld_domain_create(devices, 1, &options, &domain) ||
	    pld_alloc_window_buffer(domain, 4096, &buffer))
		abort();
	/* Never readable: nobody asks this server to stop. */
	domain->stop_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return domain;
}

static int come(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
			0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		abort();
	return fd;
}

/* Head, and what is said in it, mostly as they should be. */
static void say(int socket, struct bytes *in, enum pld_packet_kind kind)
{
	uint8_t how = take_byte(in), bytes[256] = { 0 };
	size_t size = take_byte(in);
	union pld_packet packet = { 0 };

	if (how & 1) {
		packet.hello.rank = (int8_t)(how & 2 ? take_byte(in) : 0);
		pld_packet_send(socket, &packet, kind,
				kind == PLD_PACKET_HELLO ? sizeof(packet.hello)
							 : sizeof(packet.head),
				how & 4 ? socket : -1);
		return;
	}
	take(in, bytes, size);
	send(socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void say_record(int socket, struct bytes *in)
{
	struct pld_record record = { 0 };
	uint8_t size = take_byte(in);

	take(in, &record, size);
	if (size & 1)
		record.kind &= 3;
	send(socket, &record, size & 2 ? size : sizeof(record),
	     MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* What came in runs: its records, and its end. */
static void run(struct pld_door *door, struct pld_watch *watch, int socket,
		struct bytes *in)
{
	pld_door_start(door, watch);
	for (int i = 0; i < MOST_PACKETS && in->left; i++)
		say_record(socket, in);
	shutdown(socket, SHUT_RDWR);
	close(socket);
	watch->deadline = pld_now();
	pld_watch_all(watch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static pld_domain *domain;
	static char path[64];
	const bool expected[PLD_MAX_RANKS] = { true };
	const pld_serve_options options = { .path = path };
	struct bytes in = { data, size };
	pld_rank_report reports[PLD_MAX_RANKS];
	struct pld_watch *watch;
	struct pld_door *door;
	int socket;

	if (!domain) {
		domain = make_domain();
		snprintf(path, sizeof(path), "/tmp/pld-fuzz-%d", getpid());
	}
	if (domain->broken)
		pld_domain_reset(domain);
	if (domain->broken ||
	    pld_watch_begin(domain, "pld_domain_serve", &watch) ||
	    pld_door_open(domain, &options, expected, pld_now() + PLD_NS_PER_S,
			  &door)) {
		fprintf(stderr, "%s\n", pld_last_error());
		abort();
	}
	socket = come(path);
	pld_door_look(door);
	say(socket, &in, PLD_PACKET_HELLO);
	pld_door_look(door);
	say(socket, &in, PLD_PACKET_READY);
	pld_door_look(door);
	if (!pld_door_lacks(door, 0)) {
		run(door, watch, socket, &in);
		pld_door_close(door, 0);
		pld_watch_end(watch, reports);
	} else {
		close(socket);
		pld_door_close(door, -ECANCELED);
		pld_watch_drop(watch);
	}
	return 0;
}
