// SPDX-License-Identifier: GPL-2.0
/*
 * A rank that comes in, and a server that says anything. Input: packets, each
 * a kind, how it is sent, with which descriptor, the length of what is said behind
 * its head, and that; the rest is zeroes. Most heads are made right.
 */
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bytes.h"
#include "join/wire.h"
#include "platform/control.h"

#define MOST_PACKETS 8
#define PAGE 4096

int __wrap_socket(int domain, int type, int protocol);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length);

static int ranks_end;

/* Of the rank: the server has said all already, and has gone. */
int __wrap_socket(int domain, int type, int protocol)
{
	(void)domain;
	(void)type;
	(void)protocol;
	return ranks_end;
}

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length)
{
	(void)fd;
	(void)address;
	(void)length;
	return 0;
}

enum descriptor {
	NONE,
	CONTROL, /* as it should be */
	WINDOW, /* the same */
	EVENTFD,
	UNSEALED,
	DESCRIPTORS,
};

static int make_memfd(size_t size, int seals)
{
	int fd = memfd_create("pld-fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (ftruncate(fd, (off_t)size) || fcntl(fd, F_ADD_SEALS, seals))
		abort();
	return fd;
}

static int make_control(int others)
{
	size_t size = (size_t)(others + 2) * PAGE;
	struct pld_control *control;
	int fd = make_memfd(size, 0);

	control = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	control->magic = PLD_CONTROL_MAGIC;
	control->layout = PLD_CONTROL_LAYOUT;
	control->status.nranks = (uint32_t)others + 1;
	control->status.epoch = 1;
	munmap(control, PAGE);
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	return fd;
}

static int make_descriptor(enum descriptor kind, const union pld_packet *packet)
{
	switch (kind) {
	case CONTROL:
		return make_control(
			(int)(((uint32_t)packet->welcome.nranks - 1) & 3));
	case WINDOW:
		return make_memfd(packet->window.stride * 4 & 0x3ffff,
				  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	case UNSEALED:
		return make_memfd(PAGE, 0);
	case EVENTFD:
		return eventfd(0, EFD_CLOEXEC);
	default:
		return -1;
	}
}

static size_t packet_bytes(enum pld_packet_kind kind)
{
	switch (kind) {
	case PLD_PACKET_REFUSAL:
		return sizeof(struct pld_refusal);
	case PLD_PACKET_WELCOME:
		return sizeof(struct pld_welcome);
	case PLD_PACKET_WINDOW:
		return sizeof(struct pld_window_packet);
	case PLD_PACKET_IMPORT:
		return sizeof(struct pld_import_packet);
	default:
		return sizeof(struct pld_packet_head);
	}
}

/* What would be refused at once is seldom worth sending. */
static void be_likely(union pld_packet *packet, enum pld_packet_kind kind)
{
	struct pld_welcome *welcome = &packet->welcome;

	if (kind == PLD_PACKET_WELCOME) {
		memset(welcome->platform, 0, sizeof(welcome->platform));
		memcpy(welcome->platform, "memfd", 6);
		welcome->nranks = (welcome->nranks & 3) + 1;
		welcome->timeout_ns = 1 + (welcome->timeout_ns & 0xffff);
		welcome->patience_ns = 0;
		welcome->tile_bytes = 8 + (welcome->tile_bytes & 0xffff);
		welcome->buffers &= 3;
		welcome->note_bytes &= 0xfff;
	} else if (kind == PLD_PACKET_WINDOW) {
		packet->window.base = (packet->window.base & 0xfffff000) +
				      (UINT64_C(1) << 45);
		packet->window.stride = (packet->window.stride & 0x7000) + PAGE;
		packet->window.bytes &= 0xfff;
		packet->window.imports &= 3;
	}
}

static void send_packet(int socket, struct bytes *in)
{
	enum pld_packet_kind kind = take_byte(in) % (PLD_PACKET_IMPORT + 1);
	uint8_t how = take_byte(in);
	enum descriptor descriptor = take_byte(in) % DESCRIPTORS;
	uint8_t said[UINT8_MAX] = { 0 };
	union pld_packet packet;
	size_t bytes = packet_bytes(kind), body = bytes - sizeof(packet.head);
	int fd;

	memset(&packet, 0, sizeof(packet));
	take(in, said, take_byte(in));
	memcpy((char *)&packet + sizeof(packet.head), said,
	       body < sizeof(said) ? body : sizeof(said));
	if (!(how & 1))
		be_likely(&packet, kind);
	fd = make_descriptor(descriptor, &packet);
	if (how & 2) {
		packet.window.has_fd ^= 1;
		bytes -= (how >> 2) % bytes;
	} else if (kind == PLD_PACKET_WINDOW) {
		packet.window.has_fd = fd >= 0;
	}
	pld_packet_send(socket, &packet, kind, bytes, fd);
	if (fd >= 0)
		close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data, size };
	pld_domain *domain;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		       0, pair))
		abort();
	ranks_end = pair[0];
	for (int i = 0; i < MOST_PACKETS && in.left; i++)
		send_packet(pair[1], &in);
	close(pair[1]);
	if (!pld_domain_connect("/fuzz", 0, &domain))
		pld_domain_disconnect(domain, 0);
	return 0;
}
