/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What a server and a rank that comes in say to each other: whole packets over
 * a socket of SOCK_SEQPACKET, in this order.
 *
 *	rank	hello: I want to be that rank
 *	server	welcome, with the domain's descriptor; a packet per window, each
 *		followed by those of the dma-bufs that are ranks' memory in it,
 *		where the platform has the ranks map them
 *	rank	ready: all of it is good, and my addresses are free
 *	server	start, when every rank is ready
 *	rank	records, as over a forked rank's pipe (launch.h)
 *
 * In place of each of its packets the server may send a refusal. The head and
 * the refusal are the same in every version of libpld. Neither side believes
 * anything that it has not looked at.
 */
#ifndef PLD_WIRE_H
#define PLD_WIRE_H

#include <sys/types.h>

#include "domain.h"
#include "pld_join.h"

#define PLD_JOIN_MAGIC "pldjoin"

enum pld_packet_kind {
	PLD_PACKET_HELLO = 1,
	PLD_PACKET_REFUSAL = 2,
	PLD_PACKET_WELCOME = 3,
	PLD_PACKET_WINDOW = 4,
	PLD_PACKET_READY = 5,
	PLD_PACKET_START = 6,
	PLD_PACKET_IMPORT = 7,
};

struct pld_packet_head {
	char magic[8];
	char version[24];
	uint32_t kind;
	/* of the whole packet */
	uint32_t bytes;
};

struct pld_hello {
	struct pld_packet_head head;
	int32_t rank;
};

struct pld_refusal {
	struct pld_packet_head head;
	/* a negative errno */
	int32_t error;
	char message[PLD_MESSAGE_BYTES];
};

struct pld_welcome {
	struct pld_packet_head head;
	char platform[16];
	int32_t nranks;
	uint32_t epoch;
	uint32_t buffers;
	uint32_t note_bytes;
	int64_t timeout_ns;
	uint64_t tile_bytes;
	/* how long the server waits for other ranks, from now on */
	int64_t patience_ns;
	uint32_t devices[PLD_MAX_RANKS];
	char note[PLD_MAX_NOTE];
};

struct pld_window_packet {
	struct pld_packet_head head;
	uint32_t window;
	uint32_t has_fd;
	uint64_t bytes;
	int64_t cells;
	uint64_t base;
	uint64_t stride;
	uint64_t mmap_offset;
	/* packets of dma-bufs that follow, in the order of their ranks */
	uint32_t imports;
	/* of each rank, 0 or 1 */
	uint8_t imported[PLD_MAX_RANKS];
};

struct pld_import_packet {
	struct pld_packet_head head;
	int32_t rank;
};

union pld_packet {
	struct pld_packet_head head;
	struct pld_hello hello;
	struct pld_refusal refusal;
	struct pld_welcome welcome;
	struct pld_window_packet window;
	struct pld_import_packet import;
};

/*
 * Fills in the head and sends the packet, with a descriptor unless fd is -1.
 * Does not block. 0 or a negative errno, without a sentence.
 */
int pld_packet_send(int socket, union pld_packet *packet,
		    enum pld_packet_kind kind, size_t bytes, int fd);

/*
 * The next packet's bytes, 0 at the end, or a negative errno without a sentence;
 * -EBADMSG for more descriptors than one. Does not block. fd is NULL where none
 * is wanted, else gets the descriptor or -1.
 */
ssize_t pld_packet_receive(int socket, union pld_packet *packet, int *fd);

/* Makes a peer's text one that ends, and that no terminal obeys. */
void pld_peers_text(char *text, size_t size);

/* Is it a packet of libpld at all, of any version? Ends the strings in it. */
bool pld_packet_sound(union pld_packet *packet, ssize_t bytes);
/* And a packet of this version and kind, which is that long? */
bool pld_packet_is(const union pld_packet *packet, ssize_t bytes,
		   enum pld_packet_kind kind, size_t wanted);

#endif
