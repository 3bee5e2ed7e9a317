// SPDX-License-Identifier: GPL-2.0
/*
 * What pld-info shows of a domain: the domain as the tests made it, and what can
 * be used here. (Of other users' domains, and of lies: lib_info_trust.c.)
 */
#include <signal.h>

#include "lib_test.h"

#if __has_include(<jansson.h>)
#include "lib_info.h"

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

TEST_F(info, domain_and_its_waits_are_shown_as_they_are)
{
	RUN(self->domain, held_in_waits, self);
}

static int left_one_by_one(pld_domain *domain, void *arg)
{
	FIXTURE_DATA(info) *self = arg;
	json_t *seen;

	(void)self;
	if (pld_rank(domain) != 2)
		return 0;
	json_decref(look_until(getppid(), "ranks.0.state", "\"left\""));
	seen = look_until(getppid(), "ranks.1.state", "\"left\"");
	CHECK_JSON("null", seen, "ranks.0.pid");
	CHECK_JSON("null", seen, "broken");
	CHECK_JSON("\"joined\"", seen, "ranks.2.state");
	json_decref(seen);
	return 0;
}

TEST_F(info, ranks_that_have_left_are_shown_so)
{
	RUN(self->domain, left_one_by_one, self);
}

TEST_F(info, domain_is_there_from_its_making_to_its_end)
{
	json_t *info = look(), *domain = domain_of(info, getpid());

	ASSERT_NE(NULL, info);
	EXPECT_JSON("\"absent\"", domain, "ranks.0.state");
	EXPECT_JSON("null", domain, "ranks.0.pid");
	EXPECT_EQ((json_int_t)geteuid(),
		  json_integer_value(member(domain, "owner")));
	json_decref(info);

	pld_free_window_buffer(self->data);
	info = look();
	domain = domain_of(info, getpid());
	EXPECT_JSON("1", domain, "windows.0.id");
	EXPECT_JSON("(nothing)", domain, "windows.1");
	json_decref(info);

	pld_domain_destroy(self->domain);
	self->domain = NULL;
	info = look();
	EXPECT_EQ(NULL, domain_of(info, getpid()));
	json_decref(info);
}

static int dies(pld_domain *domain, void *arg)
{
	(void)arg;
	return pld_rank(domain) == 1 ? raise(SIGKILL) : 0;
}

static int aborts(pld_domain *domain, void *arg)
{
	(void)arg;
	return pld_rank(domain) == 2 ? pld_abort(domain, 3) : 0;
}

TEST_F(info, broken_domain_is_shown_with_the_reason)
{
	json_t *info;

	EXPECT_EQ(-EOWNERDEAD, pld_launch(self->domain, dies, NULL, NULL));
	info = look();
	EXPECT_JSON("\"rank 1 died\"", domain_of(info, getpid()),
		    "broken.sentence");
	EXPECT_JSON("\"dead\"", domain_of(info, getpid()), "broken.reason");
	EXPECT_JSON("1", domain_of(info, getpid()), "broken.rank");
	EXPECT_JSON("\"dead\"", domain_of(info, getpid()), "ranks.1.state");
	json_decref(info);

	ASSERT_EQ(0, pld_domain_reset(self->domain));
	info = look();
	EXPECT_JSON("null", domain_of(info, getpid()), "broken");
	EXPECT_JSON("\"absent\"", domain_of(info, getpid()), "ranks.1.state");
	json_decref(info);

	EXPECT_EQ(-ECANCELED, pld_launch(self->domain, aborts, NULL, NULL));
	info = look();
	EXPECT_JSON("\"rank 2 aborted with code 3\"", domain_of(info, getpid()),
		    "broken.sentence");
	json_decref(info);
}

TEST_F(info, devices_are_shown_with_their_memory)
{
	json_t *info = look(), *found;

	ASSERT_NE(NULL, info);
	found = device_of(info, pld_domain_platform(self->domain), 5);
	ASSERT_NE(NULL, found);
	/* Others of the machine may use it too. */
	EXPECT_LE(8192 + 4096, json_integer_value(member(found, "memory_used")));
	EXPECT_LE(2, json_integer_value(member(found, "windows")));
	EXPECT_JSON("null", found, "memory_limit");
	json_decref(info);
}

TEST_F(info, platforms_and_versions_are_told)
{
	json_t *info = look();
	char wanted[64];

	ASSERT_NE(NULL, info);
	EXPECT_JSON("1", info, "version");
	snprintf(wanted, sizeof(wanted), "\"%s\"", pld_version());
	EXPECT_JSON(wanted, info, "library");
	EXPECT_JSON("\"kmod\"", info, "platforms.0.name");
	EXPECT_JSON("\"memfd\"", info, "platforms.1.name");
	EXPECT_JSON("true", info, "platforms.1.usable");
	EXPECT_JSON("64", info, "platforms.1.devices");
	if (!strcmp(pld_domain_platform(self->domain), "kmod")) {
		EXPECT_JSON("true", info, "platforms.0.usable");
		EXPECT_JSON("null", info, "platforms.0.why");
		EXPECT_JSON(wanted, info, "module.version");
		EXPECT_TRUE(json_equal(member(info, "header_abi"),
				       member(info, "module.abi")));
		EXPECT_JSON("\"20\"", info, "module.parameters.recheck_ms");
	} else if (access("/dev/pld_sim", F_OK)) {
		EXPECT_JSON("false", info, "platforms.0.usable");
		EXPECT_JSON("null", info, "module");
		EXPECT_JSON("\"platform kmod: no module: there is no /dev/pld_sim; load pld_sim.ko, or use platform memfd\"",
			    info, "platforms.0.why");
	}
	json_decref(info);
}

/* Puts the faults of the folder that this program is in before the tool. */
static json_t *look_with_fault(const char *fault)
{
	char self[PATH_MAX] = "", library[PATH_MAX + 16];
	json_t *info;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return NULL;
	snprintf(library, sizeof(library), "%s/faults.so", dirname(self));
	setenv("PLD_FAULT", fault, 1);
	setenv("LD_PRELOAD", library, 1);
	info = look();
	unsetenv("LD_PRELOAD");
	unsetenv("PLD_FAULT");
	return info;
}

TEST_F(info, platform_that_cannot_be_used_is_told_why)
{
	static const char prefix[] =
		"\"platform kmod: version mismatch: the loaded module has ABI version ";
	json_t *info;

	if (SANITIZED)
		SKIP(return,
			   "faults cannot be brought into a sanitizer's build");
	info = look_with_fault("no-permission");
	EXPECT_JSON("false", info, "platforms.0.usable");
	EXPECT_JSON("\"platform kmod: no permission to open /dev/pld_sim; join the group that owns it\"",
		    info, "platforms.0.why");
	json_decref(info);

	info = look_with_fault("other-version");
	EXPECT_EQ(0, strncmp(prefix, text_of(info, "platforms.0.why"),
			     strlen(prefix)));
	json_decref(info);
}

TEST_F(info, command_line_is_checked)
{
	static const struct {
		const char *arguments;
		int status;
		const char *text;
	} lines[] = {
		{ "--jsonn", 2,
		  "pld-info: there is no option '--jsonn'; see --help\n" },
		{ "--json=1", 2,
		  "pld-info: option '--json=1' takes no value; see --help\n" },
		{ "x", 2, "pld-info: 'x' is not an option; see --help\n" },
		{ "-x", 2, "pld-info: there is no option '-x'; see --help\n" },
	};
	char version[64];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		json_decref(run_tool(lines[i].arguments, &output));
		EXPECT_EQ(lines[i].status, output.status);
		EXPECT_STREQ(lines[i].text, output.text);
	}
	json_decref(run_tool("--version", &output));
	snprintf(version, sizeof(version), "pld-info %s\n", pld_version());
	EXPECT_EQ(0, output.status);
	EXPECT_STREQ(version, output.text);
	json_decref(run_tool("--help", &output));
	EXPECT_EQ(0, output.status);
	EXPECT_NE(NULL, strstr(output.text, "--json"));
	json_decref(run_tool("> /dev/full", &output));
	EXPECT_EQ(1, output.status);
}
#else
TEST(info)
{
	SKIP(return, "built without jansson's headers (libjansson-dev)");
}
#endif

LIB_TEST_MAIN
