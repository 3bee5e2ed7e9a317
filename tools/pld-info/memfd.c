// SPDX-License-Identifier: GPL-2.0
/*
 * Domains of platform memfd have no name anywhere. They are found where
 * processes that this one may look into have their control pages open, which
 * the process that made the domain has for as long as it is there. What is open
 * there is opened once more, for reading only.
 *
 * Who is a rank: the process that says so in the control pages, and has them
 * mapped.
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
#include "parse.h"

#define LARGEST_CONTROL ((PLD_SIM_MAX_RANKS + 1) * PLD_SIM_DOORBELL_STRIDE)

/* A memfd that some process has open, as that one's descriptor. */
struct found_window {
	ino_t inode;
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
	struct control control;
};

struct search {
	struct info *info;
	struct found_domain *domains;
	size_t nr_domains;
	struct found_window *windows;
	size_t nr_windows;
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

static bool known_domain(const struct search *search, ino_t inode)
{
	for (size_t i = 0; i < search->nr_domains; i++)
		if (search->domains[i].inode == inode)
			return true;
	return false;
}

static struct found_window *known_window(const struct search *search,
					 ino_t inode)
{
	for (size_t i = 0; i < search->nr_windows; i++)
		if (search->windows[i].inode == inode)
			return &search->windows[i];
	return NULL;
}

static void take_control(struct search *search, int pid, int fd)
{
	char why[SENTENCE_BYTES] = "it cannot be read";
	struct control control;
	bool taken = false;
	struct statx st;
	void *bytes;
	int opened = open_memory(search, pid, fd, &st);

	if (opened < 0)
		return;
	if (known_domain(search, st.stx_ino)) {
		close(opened);
		return;
	}
	if (st.stx_size > 0 && st.stx_size <= LARGEST_CONTROL) {
		bytes = malloc(st.stx_size);
		taken = bytes && read_whole(opened, bytes, st.stx_size) &&
			parse_control(bytes, st.stx_size, now_ns(), &control,
				      why);
		free(bytes);
	}
	close(opened);
	if (taken) {
		control.domain.id = st.stx_ino;
		control.domain.owner = st.stx_uid;
		*GROW(search->domains, search->nr_domains) =
			(struct found_domain){ st.stx_ino, control };
	} else {
		hide(search->info,
		     "domain %llu of memfd, open in process %d, is not shown: %s",
		     (unsigned long long)st.stx_ino, pid, why);
	}
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
	window = known_window(search, st.stx_ino);
	if (!window) {
		window = GROW(search->windows, search->nr_windows);
		*window = (struct found_window){
			.inode = st.stx_ino,
			.size = st.stx_size,
			.pid = pid,
			.fd = fd,
			.name = *name,
		};
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
		if (search->domains[i].control.host == own ||
		    claimed_rank(&search->domains[i], own))
			return true;
	return false;
}

static void take_mapped(struct search *search, int pid, uint32_t own,
			ino_t inode)
{
	for (size_t i = 0; i < search->nr_domains; i++) {
		struct found_domain *found = &search->domains[i];
		struct rank *rank;

		if (found->inode != inode)
			continue;
		rank = claimed_rank(found, own);
		if (rank)
			rank->pid = pid;
		if (found->control.host == own)
			found->control.domain.maker = pid;
	}
	for (size_t i = 0; i < search->nr_windows; i++)
		if (search->windows[i].inode == inode)
			count_user(&search->windows[i], pid);
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

static const struct found_window *window_of(const struct search *search,
					    const struct found_domain *found,
					    uint32_t id)
{
	for (size_t i = 0; i < search->nr_windows; i++)
		if (search->windows[i].name.control == found->inode &&
		    search->windows[i].name.id == id)
			return &search->windows[i];
	return NULL;
}

static void look_at_cell(const struct search *search,
			 const struct found_domain *found, uint64_t rank,
			 struct cell *cell)
{
	const struct found_window *window =
		window_of(search, found, cell->window);
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

static int by_id(const void *left, const void *right)
{
	const struct window *l = left, *r = right;

	return l->id < r->id ? -1 : l->id > r->id;
}

static void add_windows(const struct search *search, struct found_domain *found)
{
	struct domain *domain = &found->control.domain;

	for (size_t i = 0; i < search->nr_windows; i++) {
		const struct found_window *window = &search->windows[i];

		if (window->name.control != found->inode)
			continue;
		*GROW(domain->windows, domain->nr_windows) = (struct window){
			.id = window->name.id,
			.bytes = window->name.bytes,
			.stride = window->size / domain->nr_ranks,
			.signal = window->name.signal,
			.users = window->users,
			.imported = -1,
		};
	}
	/* qsort() wants an array. */
	if (domain->windows)
		qsort(domain->windows, domain->nr_windows,
		      sizeof(*domain->windows), by_id);
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

static int64_t whole_pages(uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (int64_t)((bytes + page - 1) / page * page);
}

/* As far as they can be seen: there is nothing behind a device of memfd. */
static void add_devices(struct info *info, const struct domain *domain)
{
	for (size_t r = 0; r < domain->nr_ranks; r++) {
		const struct rank *rank = &domain->ranks[r];
		struct device *device = device_of(info, rank->device);

		device->ranks += rank->state == PLD_RANK_JOINED;
		device->waiters += rank->sleeping;
		device->rings = -1;
		device->windows += (int64_t)domain->nr_windows;
		for (size_t w = 0; w < domain->nr_windows; w++)
			device->used += whole_pages(domain->windows[w].bytes);
	}
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
	for (size_t i = 0; i < search.nr_domains; i++) {
		struct found_domain *found = &search.domains[i];

		look_at_cells(&search, found);
		add_windows(&search, found);
		add_devices(info, &found->control.domain);
		*GROW(info->domains, info->nr_domains) = found->control.domain;
		free(found->control.pids);
	}
	free(search.domains);
	free(search.windows);
	if (search.closed)
		hide(info,
		     "of memfd, only domains of processes that user %u may look into are shown",
		     geteuid());
}
