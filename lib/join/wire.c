// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Sending and receiving one packet.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fd.h"
#include "join/wire.h"

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static void attach_fd(struct msghdr *message, union control *control, int fd)
{
	struct cmsghdr *header;

	message->msg_control = control;
	message->msg_controllen = sizeof(*control);
	header = CMSG_FIRSTHDR(message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
}

int pld_packet_send(int socket, union pld_packet *packet,
		    enum pld_packet_kind kind, size_t bytes, int fd)
{
	struct iovec part = { packet, bytes };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	union control control = { .bytes = { 0 } };
	ssize_t sent;

	packet->head = (struct pld_packet_head){
		.magic = PLD_JOIN_MAGIC,
		.version = PLD_VERSION,
	};
	packet->head.kind = kind;
	packet->head.bytes = (uint32_t)bytes;
	if (fd >= 0)
		attach_fd(&message, &control, fd);
	do
		sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return -errno;
	return sent == (ssize_t)bytes ? 0 : -EMSGSIZE;
}

static int take_fd(struct msghdr *message, int *fd)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);

	*fd = -1;
	if (!header)
		return 0;
	if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
	    header->cmsg_len != CMSG_LEN(sizeof(*fd)))
		return -EBADMSG;
	memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	*fd = pld_fd_above_stdio(*fd);
	return *fd < 0 ? -errno : 0;
}

/*
 * There is room for one descriptor: CMSG_SPACE() would have it for two. What there
 * is no room for, the kernel closes.
 */
ssize_t pld_packet_receive(int socket, union pld_packet *packet, int *fd)
{
	struct iovec part = { packet, sizeof(*packet) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	union control control;
	ssize_t bytes;
	int error = 0;

	if (fd) {
		*fd = -1;
		message.msg_control = &control;
		message.msg_controllen = CMSG_LEN(sizeof(*fd));
	}
	do
		bytes = recvmsg(socket, &message,
				MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (bytes < 0 && errno == EINTR);
	if (bytes < 0)
		return -errno;
	if (fd)
		error = take_fd(&message, fd);
	if (!error && message.msg_flags & (MSG_CTRUNC | MSG_TRUNC))
		error = -EBADMSG;
	if (!error)
		return bytes;
	if (fd && *fd >= 0)
		close(*fd);
	if (fd)
		*fd = -1;
	return error;
}

void pld_peers_text(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (char *c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

bool pld_packet_sound(union pld_packet *packet, ssize_t bytes)
{
	struct pld_packet_head *head = &packet->head;

	if (bytes < (ssize_t)sizeof(*head) || head->bytes != bytes ||
	    memcmp(head->magic, PLD_JOIN_MAGIC, sizeof(head->magic)))
		return false;
	head->version[sizeof(head->version) - 1] = '\0';
	for (const char *c = head->version; *c; c++)
		if (*c < ' ' || *c > '~')
			return false;
	return true;
}

bool pld_packet_is(const union pld_packet *packet, ssize_t bytes,
		   enum pld_packet_kind kind, size_t wanted)
{
	return bytes == (ssize_t)wanted && packet->head.kind == kind &&
	       !strcmp(packet->head.version, PLD_VERSION);
}
