// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chooses the probe place of each function from the function's code, and searches the segments of
 * the file for jumps that would bypass the probe.
 */
#include "prober/server/function_places.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/*
 * Number of bytes to read of a function whose size is unknown or above FUNCTION_BYTES_MAX. The
 * probe of this function stays at the entry.
 */
#define FUNCTION_START 64

/*
 * Maximum number of functions in a file. If there are more, all probes stay at the entries, which
 * bounds the time. Allocators define fewer functions.
 */
#define FUNCTION_CNT_MAX 256

#define CHUNK (1 << 20)
/*
 * Maximum size, in bytes, of the code that is searched for jumps. The largest programs have about
 * as much code; searching it takes 0.1 s.
 */
#define SCAN_MAX (256 << 20)

struct place_search {
	int fd;
	uint16_t machine;
	const struct elf_function *functions;
	const unsigned int *argument_cnts;
	size_t cnt;
	struct probe_place *places;
	/*
	 * entered[i]: true if a jump may lead to an instruction of functions[i] that is after the
	 * entry, but not after the probe
	 */
	bool *entered;
	uint64_t scanned;
};

/* Reads `size` bytes, or fewer at the end of the file or on an error. Returns their number. */
static size_t read_at(int fd, uint64_t offset, uint8_t *bytes, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t cnt = pread(fd, bytes + len, size - len, (off_t)(offset + len));

		if (cnt <= 0)
			break;
		len += (size_t)cnt;
	}
	return len;
}

static void find_place(struct place_search *search, size_t i, bool move)
{
	const struct elf_function *function = &search->functions[i];
	size_t size = function->size && function->size <= FUNCTION_BYTES_MAX
			      ? (size_t)function->size
			      : FUNCTION_START;
	cleanup_free uint8_t *bytes = malloc(size);
	struct function_code code = {
		.machine = search->machine,
		.bytes = bytes,
		.address = function->offset,
		.room = function->room,
		.argument_cnt = search->argument_cnts[i],
	};

	search->places[i] = (struct probe_place){0};
	if (!bytes)
		return;
	code.len = read_at(search->fd, function->offset, bytes, size);
	code.whole = code.len == function->size;
	if (move)
		probe_place_find(&code, &search->places[i]);
	else
		probe_place_at_entry(&code, &search->places[i]);
}

static void note_target(void *arg, uint64_t target)
{
	struct place_search *search = arg;

	for (size_t i = 0; i < search->cnt; i++) {
		uint64_t distance = target - search->functions[i].offset;

		if (distance && distance <= search->places[i].offset)
			search->entered[i] = true;
	}
}

/*
 * Searches a segment for jumps that lead into a function, to an instruction after its entry, and
 * sets `entered`. Cold parts of functions jump there. In stripped files, cold parts have no
 * symbols, so it is unknown where their instructions begin: all bytes that look like a jump count
 * as a jump. Returns false if the segment cannot be read, or if all segments together exceed
 * SCAN_MAX.
 */
static bool scan_segment(struct place_search *search, uint64_t offset, uint64_t size)
{
	cleanup_free uint8_t *bytes = malloc(CHUNK);
	uint64_t at = 0;

	if (!bytes || size > SCAN_MAX - search->scanned)
		return false;
	search->scanned += size;
	while (at < size) {
		size_t len = size - at < CHUNK ? (size_t)(size - at) : CHUNK;

		if (read_at(search->fd, offset + at, bytes, len) != len)
			return false;
		probe_place_branches(bytes, len, offset + at, note_target, search);
		if (len < CHUNK)
			return true;
		/* Let the next chunk overlap this one, which may end within a branch. */
		at += len - (PROBE_PLACE_BRANCH_MAX - 1);
	}
	return true;
}

/*
 * Returns a function whose probe is not at its entry, and whose segment was not yet searched; NULL
 * if there is none.
 */
static const struct elf_function *next_segment(const struct place_search *search,
					       const bool *scanned)
{
	for (size_t i = 0; i < search->cnt; i++)
		if (search->places[i].offset && !scanned[i])
			return &search->functions[i];
	return NULL;
}

static void scan_segments(struct place_search *search)
{
	cleanup_free bool *scanned = calloc(search->cnt + 1, sizeof(*scanned));
	const struct elf_function *in;

	if (!scanned) {
		memset(search->entered, true, search->cnt * sizeof(*search->entered));
		return;
	}
	while ((in = next_segment(search, scanned))) {
		bool ok = scan_segment(search, in->segment.offset, in->segment.size);

		for (size_t i = 0; i < search->cnt; i++) {
			if (search->functions[i].segment.offset != in->segment.offset)
				continue;
			scanned[i] = true;
			search->entered[i] |= !ok;
		}
	}
}

void function_places_find(int fd, uint16_t machine, const struct elf_function *functions,
			  const unsigned int *argument_cnts, size_t cnt, bool at_entry,
			  struct probe_place *ret)
{
	cleanup_free bool *entered = calloc(cnt + 1, sizeof(*entered));
	bool move = entered && cnt <= FUNCTION_CNT_MAX && !at_entry;
	struct place_search search = {
		.fd = fd,
		.machine = machine,
		.functions = functions,
		.argument_cnts = argument_cnts,
		.cnt = cnt,
		.places = ret,
		.entered = entered,
	};

	for (size_t i = 0; i < cnt; i++)
		find_place(&search, i, move);
	if (!move)
		return;
	scan_segments(&search);
	for (size_t i = 0; i < cnt; i++) {
		if (!entered[i])
			continue;
		free(ret[i].insn);
		find_place(&search, i, false);
	}
}

void function_places_deinit(struct probe_place *places, size_t cnt)
{
	for (size_t i = 0; places && i < cnt; i++)
		free(places[i].insn);
}
