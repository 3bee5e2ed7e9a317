// SPDX-License-Identifier: GPL-2.0
/* Coverage: cover.h. */
#include <fcntl.h>
#include <linux/kcov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cover.h"

#define ENTRIES (16 << 10)

#define TEXT "/sys/module/pld_sim/sections/.text"

/* Where the module's text begins. */
static uint64_t text_start;

static bool read_text_start(void)
{
	FILE *file = fopen(TEXT, "r");
	char line[32];

	if (!file)
		return false;
	if (fgets(line, sizeof(line), file))
		text_start = strtoull(line, NULL, 16);
	fclose(file);
	return text_start;
}

bool fuzz_cover_open(struct fuzz_cover *cover)
{
	if (!text_start && !read_text_start()) {
		perror(TEXT);
		return false;
	}
	cover->fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	if (cover->fd < 0 || ioctl(cover->fd, KCOV_INIT_TRACE, ENTRIES)) {
		perror("/sys/kernel/debug/kcov");
		return false;
	}
	cover->trace = mmap(NULL, ENTRIES * sizeof(uint64_t),
			    PROT_READ | PROT_WRITE, MAP_SHARED, cover->fd, 0);
	return cover->trace != MAP_FAILED;
}

void fuzz_cover_enable(struct fuzz_cover *cover)
{
	if (cover->trace)
		ioctl(cover->fd, KCOV_ENABLE, KCOV_TRACE_PC);
}

void fuzz_cover_clear(struct fuzz_cover *cover)
{
	if (cover->trace)
		__atomic_store_n(cover->trace, 0, __ATOMIC_RELAXED);
}

static void set_bit(uint8_t *bits, unsigned int bit)
{
	bits[bit / 8] |= 1 << bit % 8;
}

void fuzz_cover_take(const struct fuzz_cover *cover,
		     struct fuzz_covered *covered)
{
	uint64_t nr, last = 0;

	if (!cover->trace)
		return;
	nr = __atomic_load_n(cover->trace, __ATOMIC_RELAXED);
	for (uint64_t i = 1; i <= nr && i < ENTRIES; i++) {
		uint64_t place = cover->trace[i] - text_start;

		if (place >= FUZZ_PLACES)
			continue;
		set_bit(covered->places, place);
		set_bit(covered->steps,
			(last * 31 + place) * 0x9e3779b97f4a7c15ULL >> 48);
		last = place;
	}
}

unsigned int fuzz_count_bits(const uint8_t *bits, unsigned int nr)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < nr / 8; i++)
		count += __builtin_popcount(bits[i]);
	return count;
}

unsigned int fuzz_cover_new(struct fuzz_covered *fresh,
			    const struct fuzz_covered *from,
			    const struct fuzz_covered *known)
{
	for (size_t i = 0; i < sizeof(fresh->steps); i++)
		fresh->steps[i] = from->steps[i] & ~known->steps[i];
	for (size_t i = 0; i < sizeof(fresh->places); i++)
		fresh->places[i] = from->places[i] & ~known->places[i];
	return fuzz_count_bits(fresh->steps, FUZZ_STEPS);
}

unsigned int fuzz_cover_merge(struct fuzz_covered *to,
			      const struct fuzz_covered *from)
{
	unsigned int before = fuzz_count_bits(to->steps, FUZZ_STEPS);

	for (size_t i = 0; i < sizeof(to->steps); i++)
		to->steps[i] |= from->steps[i];
	for (size_t i = 0; i < sizeof(to->places); i++)
		to->places[i] |= from->places[i];
	return fuzz_count_bits(to->steps, FUZZ_STEPS) - before;
}

bool fuzz_cover_has(const struct fuzz_covered *have,
		    const struct fuzz_covered *wanted)
{
	for (size_t i = 0; i < sizeof(have->steps); i++)
		if (wanted->steps[i] & ~have->steps[i])
			return false;
	return true;
}
