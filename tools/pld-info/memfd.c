// SPDX-License-Identifier: GPL-2.0
/*
 * Domains of platform memfd have no name anywhere. They are found where
 * processes that this one may look into have their control pages open, which
 * the process that made the domain has for as long as it is there. What is open
 * there is opened once more, for reading only.
 *
 * Who is a rank: the process that says so in the control pages, and has them
 * mapped.
 *
 * What a window is: its name says so, and which domain it is of. Anybody may
 * give a memfd any name; it is believed where the domain's owner made it.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gather.h"
#include "index.h"
#include "parse.h"

#define LARGEST_CONTROL ((PLD_SIM_MAX_RANKS + 1) * PLD_SIM_DOORBELL_STRIDE)
/* Control pages that are read of one user, so that nobody keeps others waiting. */
#define MOST_OF_USER 256

/* A memfd that some process has open, as that one's descriptor. */
struct found_window {
	ino_t inode;
	uint32_t owner;
	uint64_t size;
	int pid;
	int fd;
	struct window_name name;
	/* processes that have it open or mapped, and the last one counted */
	int users;
	int last_user;
};

struct found_domain {
	ino_t inode;
	/* it is one: control says what is in it */
	bool shown;
	struct control control;
	/* those that are its own, by their ids */
	struct found_window **windows;
	size_t nr_windows;
};

struct search {
	struct info *info;
	/* all control pages; those that were read, as few as that may be */
	struct index controls;
	struct found_domain **domains;
	size_t nr_domains;
	struct index memories;
	struct found_window **windows;
	size_t nr_windows;
	/* how many control pages and windows are not shown, why the first is not */
	size_t bad_controls;
	char bad_control[SENTENCE_BYTES];
	size_t bad_windows;
	/* a process could not be looked into */
	bool closed;
	/* the file system of all memfds */
	struct statx memory;
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/*
 * A handle on what descriptor fd of process pid is open on; -1 when that is no
 * memfd by now. It may be anything by the time it is looked at, a file of a
 * file system that somebody serves and lets hang: nothing is asked of it but
 * what the kernel knows by itself, which is enough to see that it lies where
 * all memfds do.
 */
static int hold_memory(const struct search *search, int pid, int fd,
		       struct statx *found)
{
	char path[64];
	int handle;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	handle = open(path, O_PATH | O_CLOEXEC);
	if (handle < 0)
		return -1;
	if (!statx(handle, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		   STATX_BASIC_STATS, found) &&
	    S_ISREG(found->stx_mode) &&
	    found->stx_dev_major == search->memory.stx_dev_major &&
	    found->stx_dev_minor == search->memory.stx_dev_minor)
		return handle;
	close(handle);
	return -1;
}

/* The same, opened for reading. */
static int open_memory(const struct search *search, int pid, int fd,
		       struct statx *found)
{
	int handle = hold_memory(search, pid, fd, found), opened;
	char path[64];

	if (handle < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
	opened = open(path, O_RDONLY | O_CLOEXEC);
	close(handle);
	return opened;
}

/* Where memfds lie: a memfd tells. */
static bool find_memory(struct statx *memory)
{
	int fd = memfd_create("pld-info", MFD_CLOEXEC);
	int error;

	if (fd < 0)
		return false;
	error = statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, memory);
	close(fd);
	return !error;
}

static bool read_whole(int fd, void *bytes, size_t length)
{
	size_t done = 0;

	while (done < length) {
		ssize_t got = pread(fd, (char *)bytes + done, length - done,
				    (off_t)done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

static bool read_control(int opened, const struct statx *st,
			 struct control *control, char why[SENTENCE_BYTES])
{
	bool taken;
	void *bytes;

	if (!st->stx_size || st->stx_size > LARGEST_CONTROL)
		return false;
	bytes = malloc(st->stx_size);
	taken = bytes && read_whole(opened, bytes, st->stx_size) &&
		parse_control(bytes, st->stx_size, now_ns(), control, why);
	free(bytes);
	return taken;
}

/* Whether as many of that user were read as may be. */
static bool enough_of(const struct search *search, uint32_t owner)
{
	size_t count = 0;

	for (size_t i = 0; i < search->nr_domains; i++)
		count += search->domains[i]->control.domain.owner == owner;
	return count >= MOST_OF_USER;
}

static void take_new_control(struct search *search, int pid, int opened,
			     const struct statx *st)
{
	struct found_domain *found =
		add_inode(&search->controls, st->stx_ino, sizeof(*found));
	char why[SENTENCE_BYTES] = "it cannot be read";

	if (enough_of(search, st->stx_uid)) {
		snprintf(why, sizeof(why), "user %u has more than %d",
			 st->stx_uid, MOST_OF_USER);
	} else {
		*GROW(search->domains, search->nr_domains) = found;
		found->shown = read_control(opened, st, &found->control, why);
		found->control.domain.id = st->stx_ino;
		found->control.domain.owner = st->stx_uid;
	}
	if (!found->shown && !search->bad_controls++)
		snprintf(search->bad_control, sizeof(search->bad_control),
			 "domain %llu of memfd, open in process %d, is not shown: %.300s",
			 (unsigned long long)st->stx_ino, pid, why);
}

static void take_control(struct search *search, int pid, int fd)
{
	struct statx st;
	int opened = open_memory(search, pid, fd, &st);

	if (opened < 0)
		return;
	if (!find_inode(&search->controls, st.stx_ino))
		take_new_control(search, pid, opened, &st);
	close(opened);
}

/* Its descriptors and mappings come one after the other. */
static void count_user(struct found_window *window, int pid)
{
	if (window->last_user == pid)
		return;
	window->users++;
	window->last_user = pid;
}

static void take_window(struct search *search, int pid, int fd,
			const struct window_name *name)
{
	struct found_window *window;
	struct statx st;
	int handle = hold_memory(search, pid, fd, &st);

	if (handle < 0)
		return;
	close(handle);
	window = find_inode(&search->memories, st.stx_ino);
	if (!window) {
		window = add_inode(&search->memories, st.stx_ino,
				   sizeof(*window));
		window->owner = st.stx_uid;
		window->size = st.stx_size;
		window->pid = pid;
		window->fd = fd;
		window->name = *name;
		*GROW(search->windows, search->nr_windows) = window;
	}
	count_user(window, pid);
}

static void look_at_link(struct search *search, int pid, int dir,
			 const char *entry)
{
	struct window_name name;
	char link[256];
	ssize_t length = readlinkat(dir, entry, link, sizeof(link) - 1);

	if (length < 0)
		return;
	link[length] = '\0';
	if (is_control_name(link))
		take_control(search, pid, atoi(entry));
	else if (parse_window_name(link, &name))
		take_window(search, pid, atoi(entry), &name);
}

static void look_into(struct search *search, int pid)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir) {
		search->closed |= errno == EACCES || errno == EPERM;
		return;
	}
	while ((entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			look_at_link(search, pid, dirfd(dir), entry->d_name);
	closedir(dir);
}

static void each_process(struct search *search,
			 void (*look)(struct search *search, int pid))
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	if (!dir) {
		hide(search->info, "domains of memfd are not shown: /proc: %s",
		     strerror(errno));
		return;
	}
	while ((entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			look(search, atoi(entry->d_name));
	closedir(dir);
}

/* The process's id in the innermost of its pid namespaces, or 0. */
static uint32_t own_pid(int pid)
{
	char path[64], line[512], *last;
	uint32_t own = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && !own && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		last = strrchr(line, '\t');
		own = last ? (uint32_t)strtoul(last + 1, NULL, 10) : 0;
	}
	if (file)
		fclose(file);
	return own;
}

/* The rank that a process with that id of its own says it is, or NULL. */
static struct rank *claimed_rank(struct found_domain *found, uint32_t own)
{
	struct domain *domain = &found->control.domain;

	for (size_t i = 0; i < domain->nr_ranks; i++)
		if (domain->ranks[i].state == PLD_RANK_JOINED &&
		    found->control.pids[i] == own)
			return &domain->ranks[i];
	return NULL;
}

static bool concerns(struct search *search, uint32_t own)
{
	for (size_t i = 0; i < search->nr_domains; i++)
		if (search->domains[i]->control.host == own ||
		    claimed_rank(search->domains[i], own))
			return true;
	return false;
}

static void take_mapped(struct search *search, int pid, uint32_t own,
			ino_t inode)
{
	struct found_domain *found = find_inode(&search->controls, inode);
	struct found_window *window = find_inode(&search->memories, inode);
	struct rank *rank;

	if (found) {
		rank = claimed_rank(found, own);
		if (rank)
			rank->pid = pid;
		if (found->control.host == own)
			found->control.domain.maker = pid;
	}
	if (window)
		count_user(window, pid);
}

/* Which of what was found it has mapped; mappings may lie in pieces. */
static void look_at_maps(struct search *search, int pid)
{
	uint32_t own = own_pid(pid);
	unsigned long long inode;
	char path[64], *line = NULL;
	size_t size = 0;
	FILE *file;

	if (!own || !concerns(search, own))
		return;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	while (file && getline(&line, &size, file) > 0)
		if (strstr(line, " /memfd:pld-") &&
		    sscanf(line, "%*s %*s %*s %*s %llu", &inode) == 1)
			take_mapped(search, pid, own, (ino_t)inode);
	free(line);
	if (file)
		fclose(file);
}

/* By id; of those that say the same, the one that is likely to be the first. */
static int by_id(const void *left, const void *right)
{
	const struct found_window *l = *(struct found_window *const *)left;
	const struct found_window *r = *(struct found_window *const *)right;

	if (l->name.id != r->name.id)
		return l->name.id < r->name.id ? -1 : 1;
	return l->inode < r->inode ? -1 : l->inode > r->inode;
}

static int id_is(const void *id, const void *element)
{
	const struct found_window *window =
		*(struct found_window *const *)element;
	uint32_t wanted = *(const uint32_t *)id;

	return wanted < window->name.id ? -1 : wanted > window->name.id;
}

/* Windows come by their ids. */
static bool owns(const struct found_domain *found,
		 const struct found_window *window)
{
	const struct domain *domain = &found->control.domain;
	size_t before = found->nr_windows;

	return window->owner == domain->owner &&
	       window->name.bytes <= window->size / domain->nr_ranks &&
	       (!before ||
		found->windows[before - 1]->name.id != window->name.id);
}

/* Each to the domain that it names, if that is believed. */
static void sort_windows(struct search *search)
{
	/* qsort() wants an array. */
	if (search->windows)
		qsort(search->windows, search->nr_windows,
		      sizeof(*search->windows), by_id);
	for (size_t i = 0; i < search->nr_windows; i++) {
		struct found_window *window = search->windows[i];
		struct found_domain *found =
			find_inode(&search->controls, window->name.control);

		if (!found || !found->shown)
			continue;
		if (owns(found, window))
			*GROW(found->windows, found->nr_windows) = window;
		else
			search->bad_windows++;
	}
}

static const struct found_window *window_of(const struct found_domain *found,
					    uint32_t id)
{
	struct found_window **window = NULL;

	/* bsearch() too. */
	if (found->windows)
		window = bsearch(&id, found->windows, found->nr_windows,
				 sizeof(*found->windows), id_is);
	return window ? *window : NULL;
}

static void look_at_cell(const struct search *search,
			 const struct found_domain *found, uint64_t rank,
			 struct cell *cell)
{
	const struct found_window *window = window_of(found, cell->window);
	uint64_t stride;
	struct statx st;
	off_t at;
	int fd;

	if (!window)
		return;
	stride = window->size / found->control.domain.nr_ranks;
	if (cell->offset % sizeof(cell->value) ||
	    cell->offset >= window->name.bytes || cell->offset >= stride)
		return;
	fd = open_memory(search, window->pid, window->fd, &st);
	if (fd < 0)
		return;
	at = (off_t)(rank * stride + cell->offset);
	/* A hole is there where a rank's memory was imported. */
	cell->has_value = st.stx_ino == window->inode &&
			  lseek(fd, at, SEEK_DATA) == at &&
			  pread(fd, &cell->value, sizeof(cell->value), at) ==
				  (ssize_t)sizeof(cell->value);
	close(fd);
}

static void look_at_cells(const struct search *search,
			  const struct found_domain *found)
{
	const struct domain *domain = &found->control.domain;

	for (size_t r = 0; r < domain->nr_ranks; r++)
		for (size_t w = 0; w < domain->ranks[r].nr_waits; w++) {
			struct wait *wait = &domain->ranks[r].waits[w];

			for (size_t c = 0; c < wait->nr_cells; c++)
				look_at_cell(search, found, r, &wait->cells[c]);
		}
}

static void add_windows(struct found_domain *found)
{
	struct domain *domain = &found->control.domain;

	for (size_t i = 0; i < found->nr_windows; i++) {
		const struct found_window *window = found->windows[i];

		*GROW(domain->windows, domain->nr_windows) = (struct window){
			.id = window->name.id,
			.bytes = window->name.bytes,
			.stride = window->size / domain->nr_ranks,
			.signal = window->name.signal,
			.users = window->users,
			.imported = -1,
		};
	}
}

static struct device *device_of(struct info *info, uint32_t id)
{
	for (size_t i = 0; i < info->nr_devices; i++)
		if (info->devices[i].platform == MEMFD &&
		    info->devices[i].id == id)
			return &info->devices[i];
	*GROW(info->devices, info->nr_devices) = (struct device){
		.platform = MEMFD,
		.id = id,
		.waits = -1,
	};
	return &info->devices[info->nr_devices - 1];
}

/* A file may say that it has all bytes that there are. */
static void add_memory(struct device *device, uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t used =
		(uint64_t)device->used + (bytes + page - 1) / page * page;

	device->used = used > INT64_MAX ? INT64_MAX : (int64_t)used;
}

/* As far as they can be seen: there is nothing behind a device of memfd. */
static void add_devices(struct info *info, const struct domain *domain)
{
	for (size_t r = 0; r < domain->nr_ranks; r++) {
		const struct rank *rank = &domain->ranks[r];
		struct device *device;

		/* The pages may name any. */
		if ((int64_t)rank->device >= info->platforms[MEMFD].devices)
			continue;
		device = device_of(info, rank->device);
		device->ranks += rank->state == PLD_RANK_JOINED;
		device->waiters += rank->sleeping;
		device->rings = -1;
		device->windows += (int64_t)domain->nr_windows;
		for (size_t w = 0; w < domain->nr_windows; w++)
			add_memory(device, domain->windows[w].bytes);
	}
}

static void add_domain(struct search *search, struct found_domain *found)
{
	struct info *info = search->info;

	look_at_cells(search, found);
	add_windows(found);
	add_devices(info, &found->control.domain);
	*GROW(info->domains, info->nr_domains) = found->control.domain;
	free(found->control.pids);
	free(found->windows);
}

/* A line each, however many there are. */
static void tell_hidden(const struct search *search)
{
	if (search->bad_controls == 1)
		hide(search->info, "%s", search->bad_control);
	else if (search->bad_controls)
		hide(search->info, "%s; nor are %zu more", search->bad_control,
		     search->bad_controls - 1);
	if (search->bad_windows)
		hide(search->info,
		     "windows of memfd that are not shown: %zu; another user than their domain's made them, or they are not what their names say",
		     search->bad_windows);
}

void gather_memfd(struct info *info)
{
	struct search search = { .info = info };

	if (!find_memory(&search.memory)) {
		hide(info,
		     "domains of memfd are not shown: no memfd can be made: %s",
		     strerror(errno));
		return;
	}
	each_process(&search, look_into);
	if (search.nr_domains)
		each_process(&search, look_at_maps);
	sort_windows(&search);
	for (size_t i = 0; i < search.nr_domains; i++)
		if (search.domains[i]->shown)
			add_domain(&search, search.domains[i]);
	free(search.domains);
	free(search.windows);
	free_index(&search.controls);
	free_index(&search.memories);
	tell_hidden(&search);
	if (search.closed)
		hide(info,
		     "of memfd, only domains of processes that user %u may look into are shown",
		     geteuid());
}
