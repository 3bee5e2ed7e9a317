/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libpld: ranks that come in by themselves. The host side serves a domain at a
 * Unix socket, in place of launching it; a process that nobody forked for it
 * connects as a rank: under a debugger, or written in another language.
 *
 * Both sides are of one version of libpld and one machine.
 */
#ifndef PLD_JOIN_H
#define PLD_JOIN_H

#include <pld.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Longest path of a socket, in bytes without the terminating zero. */
#define PLD_MAX_SERVE_PATH 107
/** Longest note of the server to the ranks, in bytes. */
#define PLD_MAX_NOTE 4096

/* ---- host side ---- */

/** What a server tells while it waits. */
typedef enum pld_serve_event {
	PLD_SERVE_LISTENING, /* rank and pid are -1 */
	PLD_SERVE_CAME, /* that rank is here, that process */
	PLD_SERVE_WENT, /* it went away before the start: its place is free */
	PLD_SERVE_STARTED, /* all are here; rank and pid are -1 */
} pld_serve_event;

typedef struct pld_serve_options {
	/** Where the socket is made. */
	const char *path;
	/**
	 * Its mode, whatever the umask: who may write to it, by user, group and
	 * other, may come in; 0: 0600, the own user.
	 */
	int mode;
	/** The ranks that come in, nranks of them; NULL: all. */
	const int *ranks;
	int nranks;
	/** How long to wait for them, in ns; 0: as long as a wait of the domain. */
	int64_t timeout_ns;
	/** What the other ranks run, which are forked as by pld_launch(). */
	pld_kernel *kernel;
	void *arg;
	/** Given to every rank that comes in, up to PLD_MAX_NOTE bytes. */
	const void *note;
	size_t note_bytes;
	/** Called by pld_domain_serve() with progress_arg, or NULL. */
	void (*progress)(void *progress_arg, pld_serve_event event, int rank,
			 int pid);
	void *progress_arg;
} pld_serve_options;

/**
 * Like pld_launch(), for ranks that come in through the socket. When all of them
 * are here, the others are forked, and everything starts; from then on a rank
 * whose process ends or closes its files without pld_domain_disconnect() has
 * died. Returns when every rank has ended, with the results and reports of
 * pld_launch(). A rank that came in is never killed: where a forked one would
 * be, it is cut off, with -ECANCELED in its report, and the domain cannot be
 * reset before its process has left or ended.
 *
 * The socket is there until the end. A socket that nobody listens at any more is
 * replaced, if it is the own user's. -ENAMETOOLONG: path is longer than
 * PLD_MAX_SERVE_PATH. -EEXIST, -EADDRINUSE: path is no socket; somebody serves
 * there. -EOPNOTSUPP: the domain has sub-domains, or observes. -EINVAL: mode,
 * ranks or note are wrong, or no kernel for ranks that do not come in.
 * -ETIMEDOUT: not all ranks came; the sentence names those that did not, and the
 * domain is whole. -ECANCELED: also after pld_domain_serve_stop().
 */
PLD_API int pld_domain_serve(pld_domain *domain,
			     const pld_serve_options *options,
			     pld_rank_report *reports);

/**
 * Ends pld_domain_serve(): before the start, the domain stays whole; later, its
 * forked ranks are killed and the others cut off. From a signal handler or
 * another thread, while it runs.
 */
PLD_API void pld_domain_serve_stop(pld_domain *domain);

/* ---- rank side ---- */

/**
 * Connects to the server at path as that rank, waits until all ranks are there,
 * and makes this process a rank of the domain: its windows at the addresses that
 * they have in every other. All calls of the rank side work, and the domain ends
 * with pld_domain_disconnect() alone. -ENOENT, -ECONNREFUSED: nobody serves
 * there. -EACCES: the server does not admit this user, or /dev/pld_sim does not.
 * -ERANGE: no such rank. -EBUSY: the rank is another process's. -EPROTO: another
 * version of libpld, or no server. -EADDRINUSE: something of this process lies
 * where a window belongs. -ETIMEDOUT, -ECANCELED, -ECONNRESET: the server gave
 * up, was stopped, or went away.
 */
PLD_API int pld_domain_connect(const char *path, int rank, pld_domain **domain);

/**
 * Ends the rank as a return of result from a kernel does: with a negative one it
 * has failed, with the sentence of this thread's last failure if that is it.
 * Unmaps everything and frees the domain, whatever it returns. -EPERM: domain is
 * not one of pld_domain_connect(), which stays, or this is a child that the rank
 * forked.
 */
PLD_API int pld_domain_disconnect(pld_domain *domain, int result);

/* ---- both sides ---- */

/** Number of window buffers and signals of the domain. */
PLD_API int pld_domain_buffers(const pld_domain *domain);
/**
 * The index-th of them, from 0, in the order of their allocation; NULL: there is
 * none.
 */
PLD_API pld_window_buffer *pld_domain_buffer(const pld_domain *domain,
					     int index);
/** The server's note, and its bytes; NULL and 0 on the host side. */
PLD_API const void *pld_domain_note(const pld_domain *domain, size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
