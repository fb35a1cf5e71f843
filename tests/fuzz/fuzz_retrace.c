// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes tracing pointers back through memory whose blocks are unknown, and naming the variables of
 * Python scripts; "make fuzz" builds and runs it. An input is a byte with the flags IS_*, and the
 * contents of memory from BASE on; the rest of the memory is zeros.
 */
#include <ctype.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proof/python_variable.h"
#include "proof/retrace.h"
#include "proof/root_kind.h"

/* Small addresses have few significant bytes, so that the fuzzer soon finds pointers. */
#define BASE 0x10000ULL
#define PAGE 512ULL
#define END (BASE + 12 * PAGE)
#define HEAP (BASE + 3 * PAGE)
#define OTHER (BASE + 9 * PAGE)
#define STACK (BASE + 11 * PAGE)
#define BLOCK (HEAP + 0x100)

#define IS_PYTHON (1 << 0)
#define IS_KNOWN_HEAP (1 << 1)
#define IS_LOST (1 << 2)

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct mapping mappings[] = {
	{.start = BASE, .end = BASE + PAGE, .writable = true, .path = "/bin/program"},
	{.start = BASE + PAGE, .end = BASE + 2 * PAGE, .writable = true, .path = ""},
	{.start = HEAP, .end = HEAP + 6 * PAGE, .writable = true, .path = "[heap]"},
	{.start = OTHER, .end = OTHER + PAGE, .writable = true, .path = ""},
	{.start = STACK, .end = STACK + PAGE, .writable = true, .path = "[stack]"},
};

struct image {
	struct memory memory;
	uint8_t bytes[END - BASE];
};

static ssize_t read_image(const struct memory *memory, uint64_t addr, void *buf, size_t len)
{
	const struct image *image = (const struct image *)memory;
	const struct mapping *mapping = proc_maps_find(&memory->maps, addr);

	if (!mapping)
		return 0;
	if (len > mapping->end - addr)
		len = mapping->end - addr;
	memcpy(buf, image->bytes + (addr - BASE), len);
	return (ssize_t)len;
}

static int visit_all(const struct memory *memory, const struct mapping *mapping, uint64_t start,
		     uint64_t end, memory_visit_fn *visit, void *arg)
{
	return visit(arg, start, end);
}

static const struct memory_ops ops = {.read = read_image, .visit_written = visit_all};

/*
 * For each place that was traced back to a root, checks that the way to the root ends, and leads
 * through mapped memory only.
 */
static void check_ways(const struct retrace *retrace, const struct image *image)
{
	for (size_t i = 0; i < retrace->cnt; i++) {
		const struct retrace_place *place = &retrace->places[i];
		size_t steps = 0;

		for (; place && place->is_rooted; place = retrace_next(retrace, place))
			if (steps++ == retrace->cnt ||
			    !proc_maps_find(&image->memory.maps, place->slot))
				abort();
	}
}

static void check_names(const struct image *image)
{
	char name[2 * PYTHON_NAME_BYTES];

	for (uint64_t slot = BASE - 16; slot < END + 16; slot += 8) {
		if (!python_variable(&image->memory, slot, name) &&
		    !python_attribute(&image->memory, slot, slot & ~0xffULL, slot + 8, name))
			continue;
		for (const char *at = name; at == name || *at; at++)
			if (!isalnum((unsigned char)*at) && *at != '_' && *at != '.')
				abort();
	}
}

/*
 * Allows only one CPU, so that there is only one worker thread: more threads take time and reach no
 * other code.
 */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct image image;
	struct thread_state thread = {.tid = 1, .known = true, .sp = STACK + 0x40};
	struct thread_states threads = {.items = &thread, .cnt = 1};
	struct heap_block block = {.addr = BLOCK, .size = 64};
	struct root_range heap = {HEAP, HEAP + 6 * PAGE};
	uint64_t slot = BLOCK + 0x118;
	uint8_t is = size ? data[0] : 0, kind = is & IS_LOST ? MARK_DEFINITE : MARK_REACHABLE;
	uint32_t holder = is & IS_LOST ? 0 : MARKS_SLOT;
	struct heap_proof proof = {.blocks = &block,
				   .cnt = 1,
				   .marks = {.kinds = &kind, .holders = &holder, .slots = &slot}};
	struct heap_picture picture = {
		.memory = &image.memory, .threads = &threads, .is_python = is & IS_PYTHON};
	struct retrace retrace = {0};

	image.memory = (struct memory){
		.ops = &ops,
		.page_size = PAGE,
		.maps = {.mappings = (struct mapping *)mappings,
			 .cnt = sizeof(mappings) / sizeof(mappings[0])},
	};
	memset(image.bytes, 0, sizeof(image.bytes));
	if (size > 1)
		memcpy(image.bytes, data + 1,
		       size - 1 < sizeof(image.bytes) ? size - 1 : sizeof(image.bytes));
	if (is & IS_KNOWN_HEAP)
		proof.heaps = (struct root_ranges){.items = &heap, .cnt = 1};
	if (retrace_add(&retrace, &block, slot) || retrace_add(&retrace, NULL, OTHER + 8) ||
	    retrace_run(&retrace, &proof, &picture))
		abort();
	check_ways(&retrace, &image);
	check_names(&image);
	retrace_deinit(&retrace);
	return 0;
}
