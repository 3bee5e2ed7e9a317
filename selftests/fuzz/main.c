// SPDX-License-Identifier: GPL-2.0
/*
 * pld-fuzz: random programs of calls of the module, kept when they come by places
 * of it that no program came by before; or one program again.
 *
 *	pld-fuzz run [-b] [-m MINUTES] [-s SEED] [-c FOLDER] -p PATTERNS
 *	pld-fuzz replay [-p PATTERNS] FILE...
 *
 * PATTERNS: a file of what the kernel's log must not have. FOLDER: of programs to
 * begin with. -b: blind, on kernels that have neither KCOV nor kmemleak. Ends with 1
 * when something was found, with 2 when it cannot do what it is to: also when it was
 * too slow to have looked at anything.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "corpus.h"
#include "execute.h"
#include "generate.h"
#include "watch.h"

#define SECOND INT64_C(1000000000)
/* Of programs that are executed. Two processors that others use too do 20 and more. */
#define LEAST_A_MINUTE 5

static struct fuzz_corpus corpus;
static const char *patterns;
static unsigned long executed;

static void print_answers(const struct fuzz_program *program)
{
	char text[1024];

	for (int i = 0; i < program->nr; i++) {
		int64_t value = fuzz_answer_of(i)->value;

		fuzz_print_line(program, i, text, sizeof(text));
		if (value == FUZZ_NOT_DONE)
			printf("%-60s # not done\n", text);
		else if (value < 0 && strerrorname_np(-value))
			printf("%-60s # %s\n", text, strerrorname_np(-value));
		else
			printf("%-60s # %" PRId64 "\n", text, value);
	}
	fflush(stdout);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return;
	fputs(text, file);
	fclose(file);
}

/*
 * A fault of the kernel is to be told, with its program: not to end the guest.
 * Calls that are to fail (fail-nth) do so in silence, whatever they ask for.
 */
static void prepare_kernel(void)
{
	static const char *const kinds[] = { "failslab", "fail_page_alloc",
					     "fail_usercopy" };
	char path[128];

	write_text("/proc/sys/kernel/panic_on_oops", "0");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/verbose",
			 kinds[i]);
		write_text(path, "0");
		snprintf(path, sizeof(path),
			 "/sys/kernel/debug/%s/ignore-gfp-wait", kinds[i]);
		write_text(path, "N");
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/min-order",
			 kinds[i]);
		write_text(path, "0");
	}
}

/* With no program where it is not one's alone. */
static _Noreturn void end_with_finding(const char *why,
				       const struct fuzz_program *program)
{
	printf("finding: %s\n", why);
	if (program)
		print_answers(program);
	printf("%lu executions, 1 finding\n", executed);
	exit(1);
}

/* Runs a program; whoever finds something ends here. */
static void execute(const struct fuzz_program *program,
		    struct fuzz_covered *covered)
{
	char why[1024] = "a process cannot be killed";

	executed++;
	if (covered)
		memset(covered, 0, sizeof(*covered));
	if (fuzz_execute(program, covered) &&
	    (!patterns || fuzz_watch(why, sizeof(why))))
		return;
	end_with_finding(why, program);
}

/* Takes out what its new steps do not need. */
static void minimise(struct fuzz_program *program,
		     const struct fuzz_covered *fresh)
{
	static struct fuzz_covered covered;
	struct fuzz_program shorter;

	for (int i = program->nr - 1; i >= 0 && program->nr > 1; i--) {
		shorter = *program;
		fuzz_remove_line(&shorter, i);
		execute(&shorter, &covered);
		if (fuzz_cover_has(&covered, fresh))
			*program = shorter;
	}
}

/* Steps that do not come again when the program does are chance. */
static bool confirm(const struct fuzz_program *program,
		    struct fuzz_covered *fresh)
{
	static struct fuzz_covered covered;

	execute(program, &covered);
	for (size_t i = 0; i < sizeof(fresh->steps); i++)
		fresh->steps[i] &= covered.steps[i];
	return fuzz_count_bits(fresh->steps, FUZZ_STEPS);
}

/* True when the program is new to the corpus, which has it then. */
static bool try_program(struct fuzz_program *program, bool shorten)
{
	static struct fuzz_covered covered, fresh;
	bool keep;

	execute(program, &covered);
	if (!fuzz_cover_new(&fresh, &covered, &corpus.known))
		return false;
	fuzz_cover_merge(&corpus.known, &covered);
	keep = confirm(program, &fresh);
	if (!keep)
		return false;
	if (shorten) {
		minimise(program, &fresh);
		execute(program, &covered);
	}
	fuzz_corpus_add(&corpus, program, &covered);
	return true;
}

static void read_corpus(const char *folder)
{
	struct dirent **names;
	struct fuzz_program program;
	char path[512];
	int nr = scandir(folder, &names, NULL, alphasort);

	if (nr < 0) {
		perror(folder);
		exit(2);
	}
	for (int i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
		if (!strstr(path, ".prog"))
			continue;
		if (!fuzz_read_program(path, &program))
			exit(2);
		try_program(&program, false);
	}
}

static void print_state(int64_t begun)
{
	printf("%" PRId64
	       " s: %lu executions, %u places, %u steps, %d programs\n",
	       (fuzz_now() - begun) / SECOND, executed,
	       fuzz_count_bits(corpus.known.places, FUZZ_PLACES),
	       fuzz_count_bits(corpus.known.steps, FUZZ_STEPS), corpus.nr);
	fflush(stdout);
}

static const struct fuzz_program *draw_program(struct fuzz_random *random)
{
	return &corpus.entries[fuzz_below(random, corpus.nr)].program;
}

/* False when the kernel has not looked. */
static bool look_for_leaks(void)
{
	char why[1024];

	if (!fuzz_watch_leaks())
		return false;
	if (!fuzz_watch(why, sizeof(why)))
		end_with_finding(why, NULL);
	return true;
}

/* Of a run without a finding: its status. */
static int print_end(int64_t spent)
{
	double a_minute = executed * 60.0 * SECOND / spent;
	bool enough = a_minute >= LEAST_A_MINUTE;

	printf("%lu executions, %.1f a minute, no finding\n", executed,
	       a_minute);
	if (!enough)
		printf("not a run: fewer than %d executions a minute\n",
		       LEAST_A_MINUTE);
	return enough ? 0 : 2;
}

static int run(double minutes, uint64_t seed, const char *folder)
{
	struct fuzz_random random = { seed };
	int64_t begun = fuzz_now(), told = begun, spent;
	int64_t end = begun + (int64_t)(minutes * 60 * SECOND);
	struct fuzz_program program;

	printf("seed %" PRIu64 "\n", seed);
	if (folder)
		read_corpus(folder);
	print_state(begun);
	while (fuzz_now() < end) {
		if (!corpus.nr || fuzz_percent(&random, 10)) {
			fuzz_generate(&random, &program);
		} else {
			program = *draw_program(&random);
			fuzz_mutate(&random, &program, draw_program(&random));
		}
		try_program(&program, true);
		if (fuzz_now() > told + 30 * SECOND) {
			told = fuzz_now();
			print_state(begun);
		}
	}
	fuzz_corpus_print_few(&corpus);
	print_state(begun);
	spent = fuzz_now() - begun;
	return look_for_leaks() ? print_end(spent) : 2;
}

static int replay(char **files)
{
	struct fuzz_program program;

	for (; *files; files++) {
		if (!fuzz_read_program(*files, &program))
			return 2;
		printf("# %s\n", *files);
		execute(&program, NULL);
		print_answers(&program);
	}
	return 0;
}

static int usage(void)
{
	fputs("usage: pld-fuzz run [-b] [-m MINUTES] [-s SEED] [-c FOLDER] -p PATTERNS\n"
	      "       pld-fuzz replay [-p PATTERNS] FILE...\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	const char *folder = NULL;
	double minutes = 1;
	uint64_t seed = 1;
	bool running, blind = false;
	int option;

	if (argc < 2)
		return usage();
	running = !strcmp(argv[1], "run");
	if (!running && strcmp(argv[1], "replay"))
		return usage();
	argv++;
	argc--;
	while ((option = getopt(argc, argv, "bm:s:c:p:")) != -1) {
		switch (option) {
		case 'b':
			blind = true;
			break;
		case 'm':
			minutes = atof(optarg);
			break;
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'c':
			folder = optarg;
			break;
		case 'p':
			patterns = optarg;
			break;
		default:
			return usage();
		}
	}
	if (!seed || (running && !patterns) || (!running && !argv[optind]))
		return usage();
	if (getenv("PLD_GUEST"))
		prepare_kernel();
	if ((patterns && !fuzz_watch_open(patterns)) ||
	    (running && !blind && !fuzz_watch_leaks_open()) ||
	    !fuzz_execute_open(running && !blind))
		return 2;
	return running ? run(minutes, seed, folder) : replay(argv + optind);
}
