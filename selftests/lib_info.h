/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What pld-info shows, read from its JSON with jansson, and the domain that tests
 * have it look at: at a moment that they chose, since it is a rank that runs it
 * while the others wait.
 *
 * pld-info is $PLD_INFO, or lies beside $PLD_ALLGATHER or in the PATH; a test
 * skips where it is not.
 */
#ifndef PLD_LIB_INFO_H
#define PLD_LIB_INFO_H

#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "lib_test.h"
#include "pld_proc.h"

/* What pld-info has printed, and its exit status. */
struct output {
	char text[1 << 20];
	size_t length;
	int status;
};

static char tool[PATH_MAX];

static inline void find_tool(void)
{
	const char *given = getenv("PLD_INFO");
	const char *other = getenv("PLD_ALLGATHER");
	char beside[PATH_MAX];

	if (given) {
		snprintf(tool, sizeof(tool), "%s", given);
	} else if (other) {
		snprintf(beside, sizeof(beside), "%s", other);
		snprintf(tool, sizeof(tool), "%.4000s/pld-info",
			 dirname(beside));
	} else {
		snprintf(tool, sizeof(tool), "pld-info");
	}
}

/* Nobody's JSON, or the object that was printed; out->status is the exit's. */
static inline json_t *run_tool(const char *arguments, struct output *out)
{
	char command[PATH_MAX + 64];
	FILE *pipe;
	ssize_t got;

	snprintf(command, sizeof(command), "exec '%s' %s 2>&1", tool, arguments);
	out->length = 0;
	pipe = popen(command, "re");
	while (pipe && out->length < sizeof(out->text) - 1 &&
	       (got = TEMP_FAILURE_RETRY(
			read(fileno(pipe), out->text + out->length,
			     sizeof(out->text) - 1 - out->length))) > 0)
		out->length += (size_t)got;
	out->text[out->length] = '\0';
	out->status = pipe ? pclose(pipe) : -1;
	if (WIFEXITED(out->status))
		out->status = WEXITSTATUS(out->status);
	return json_loads(out->text, JSON_REJECT_DUPLICATES, NULL);
}

/* Of the tests alone, which run one at a time. */
static struct output output;

static inline json_t *look(void)
{
	json_t *info = run_tool("--json", &output);

	if (!info || output.status)
		fprintf(stderr, "# status %d, and: %.2000s\n", output.status,
			output.text);
	return output.status ? NULL : info;
}

/* The domains of that maker; not all of a machine's are the test's. */
static inline json_t *domain_of(json_t *info, pid_t maker)
{
	json_t *domain;
	size_t i;

	json_array_foreach(json_object_get(info, "domains"), i,
			   domain) if (json_integer_value(json_object_get(domain,
									  "maker")) ==
				       maker) return domain;
	return NULL;
}

/* The member of a path such as "ranks.1.waits.0", or NULL. */
static inline json_t *member(json_t *json, const char *path)
{
	char name[64];

	while (json && *path) {
		size_t length = strcspn(path, ".");

		snprintf(name, sizeof(name), "%.*s", (int)length, path);
		json = json_is_array(json)
			       ? json_array_get(json, strtoul(name, NULL, 10))
			       : json_object_get(json, name);
		path += length + (path[length] == '.');
	}
	return json;
}

/* As JSON without spaces, its members in order; "(nothing)" where there is none. */
static const char *text_of(json_t *json, const char *path)
{
	static char text[4096];
	char *dumped =
		json_dumps(member(json, path),
			   JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);

	snprintf(text, sizeof(text), "%s", dumped ? dumped : "(nothing)");
	free(dumped);
	return text;
}

static inline int check_text(json_t *json, const char *path, const char *wanted,
			     const char *file, int line)
{
	char text[9000];

	if (!strcmp(wanted, text_of(json, path)))
		return 0;
	snprintf(text, sizeof(text), "%s is %s, wanted %.4000s", path,
		 text_of(json, path), wanted);
	return check_failed(file, line, text);
}

#define CHECK_JSON(wanted, json, path) \
	PLD_TRY(check_text(json, path, wanted, __FILE__, __LINE__))
#define EXPECT_JSON(wanted, json, path) \
	EXPECT_EQ(0, check_text(json, path, wanted, __FILE__, __LINE__))

static inline int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

#define HANG_NS (20000 * LIB_MS)

/* What the ranks of a test share besides their windows. */
struct shared {
	pid_t pids[3];
	int go;
};

FIXTURE(info)
{
	pld_domain *domain;
	pld_window_buffer *data;
	pld_window_buffer *signal;
	struct shared *shared;
};

FIXTURE_SETUP(info)
{
	const int devices[] = { 5, 1, 2 };

	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	ASSERT_EQ(0, pld_domain_create(devices, 3, NULL, &self->domain));
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, 5000, &self->data));
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(4, 1),
				      &self->signal));
}

FIXTURE_TEARDOWN(info)
{
	pld_domain_destroy(self->domain);
	munmap(self->shared, sizeof(*self->shared));
}

/* The domain as soon as that member of it is so, or NULL. */
static inline json_t *look_until(pid_t maker, const char *path,
				 const char *wanted)
{
	int64_t end = now_ns() + HANG_NS;
	json_t *info, *domain = NULL;

	do {
		json_decref(domain);
		info = look();
		domain = json_incref(domain_of(info, maker));
		json_decref(info);
		if (!strcmp(wanted, text_of(domain, path)))
			return domain;
	} while (now_ns() < end);
	fprintf(stderr, "# %s stays %s, wanted %s\n", path,
		text_of(domain, path), wanted);
	json_decref(domain);
	return NULL;
}

static inline int wait_for_one(const pld_distributed_tensor *signal)
{
	return pld_system_wait(signal, PLD_AT(1, 0), 5, PLD_GE);
}

static inline int wait_for_either(const pld_distributed_tensor *signal)
{
	const pld_condition either[] = {
		{ signal, PLD_AT(0, 0), -7, PLD_EQ },
		{ signal, PLD_AT(3, 0), 3, PLD_GE },
	};
	int index = pld_system_wait_any(either, 2, HANG_NS);

	return index < 0 ? index : 0;
}

static inline int check_waits(json_t *domain)
{
	CHECK_JSON("1", domain, "ranks.0.sleeping");
	CHECK_JSON("false", domain, "ranks.0.waits.0.any");
	CHECK_JSON("[{\"cmp\":\"ge\",\"expected\":5,\"offset\":128,\"value\":2,\"window\":1}]",
		   domain, "ranks.0.waits.0.cells");
	CHECK_JSON("1", domain, "ranks.1.sleeping");
	CHECK_JSON("true", domain, "ranks.1.waits.0.any");
	CHECK_JSON("[{\"cmp\":\"eq\",\"expected\":-7,\"offset\":0,\"value\":-1,\"window\":1},"
		   "{\"cmp\":\"ge\",\"expected\":3,\"offset\":384,\"value\":0,\"window\":1}]",
		   domain, "ranks.1.waits.0.cells");
	CHECK_JSON("[]", domain, "ranks.2.waits");
	CHECK_JSON("0", domain, "ranks.2.sleeping");
	return 0;
}

static inline int check_windows(json_t *domain)
{
	CHECK_JSON("0", domain, "windows.0.id");
	CHECK_JSON("5000", domain, "windows.0.bytes");
	CHECK_JSON("8192", domain, "windows.0.stride");
	CHECK_JSON("\"data\"", domain, "windows.0.kind");
	CHECK_JSON("1", domain, "windows.1.id");
	CHECK_JSON("512", domain, "windows.1.bytes");
	CHECK_JSON("4096", domain, "windows.1.stride");
	CHECK_JSON("\"signal\"", domain, "windows.1.kind");
	CHECK_JSON("(nothing)", domain, "windows.2");
	return 0;
}

static inline int check_domain(json_t *domain, const struct shared *shared)
{
	char number[16];

	CHECK_JSON("5", domain, "ranks.0.device");
	CHECK_JSON("1", domain, "ranks.1.device");
	CHECK_JSON("2", domain, "ranks.2.device");
	CHECK_JSON("(nothing)", domain, "ranks.3");
	for (int rank = 0; rank < 3; rank++) {
		char path[32];

		snprintf(path, sizeof(path), "ranks.%d.state", rank);
		CHECK_JSON("\"joined\"", domain, path);
		snprintf(path, sizeof(path), "ranks.%d.pid", rank);
		snprintf(number, sizeof(number), "%d", shared->pids[rank]);
		CHECK_JSON(number, domain, path);
	}
	CHECK_JSON("null", domain, "broken");
	return check_windows(domain);
}

/* In the form that people see it. */
static inline int check_table(void)
{
	json_decref(run_tool("", &output));
	CHECK_EQ(0, output.status);
	CHECK(strstr(output.text,
		     "     0       1       128  >= 5                     2  "));
	CHECK(strstr(output.text,
		     "     1       1         0  == -7                   -1  "));
	CHECK(strstr(output.text,
		     "    or       1       384  >= 3                     0\n"));
	CHECK(strstr(output.text, "       0  data        5000 B      8192 B  "));
	return 0;
}

static inline int held_in_waits(pld_domain *domain, void *arg)
{
	FIXTURE_DATA(info) *self = arg;
	int rank = pld_rank(domain);
	pld_distributed_tensor signal;
	json_t *seen;

	self->shared->pids[rank] = getpid();
	PLD_TRY(pld_window(self->signal, PLD_SHAPE(4, 1), PLD_INT32, &signal));
	/* A signal ends a wait for a moment, in which nobody would see it. */
	if (rank < 2)
		hold_signals();
	if (rank == 0)
		return wait_for_one(&signal);
	if (rank == 1)
		return wait_for_either(&signal);
	/* One that has slept, and is over. */
	CHECK_EQ(-ETIMEDOUT, pld_system_wait_timeout(&signal, PLD_AT(2, 0), 9,
						     PLD_GE, LIB_MS));
	PLD_TRY(pld_system_notify(&signal, 0, PLD_AT(1, 0), 2, PLD_SET));
	PLD_TRY(pld_system_notify(&signal, 1, PLD_AT(0, 0), -1, PLD_SET));
	json_decref(look_until(getppid(), "ranks.0.sleeping", "1"));
	seen = look_until(getppid(), "ranks.1.sleeping", "1");
	PLD_TRY(check_domain(seen, self->shared));
	PLD_TRY(check_waits(seen));
	json_decref(seen);
	PLD_TRY(check_table());
	PLD_TRY(pld_system_notify(&signal, 0, PLD_AT(1, 0), 3, PLD_ATOMIC_ADD));
	return pld_system_notify(&signal, 1, PLD_AT(3, 0), 3, PLD_SET);
}

static inline json_t *device_of(json_t *info, const char *platform, int id)
{
	json_t *devices = json_object_get(info, "devices");

	for (size_t i = 0; i < json_array_size(devices); i++) {
		json_t *device = json_array_get(devices, i);
		const char *name = json_string_value(member(device, "platform"));

		if (name && !strcmp(platform, name) &&
		    json_integer_value(member(device, "id")) == id)
			return device;
	}
	return NULL;
}

/* The shell's status when it finds no such program, or none that runs. */
static void __attribute__((constructor)) without_the_tool(void)
{
	find_tool();
	json_decref(run_tool("--version", &output));
	if (output.status == 127 || output.status == 126)
		ksft_exit_skip(
			"there is no pld-info: set PLD_INFO to its file\n");
}

#endif /* PLD_LIB_INFO_H */
