// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A first search of memory finds the pointers to the objects. If these pointers are not values of
 * variables, a second search finds the pointers to the blocks that contain the pointers found
 * first.
 */
#include "proof/python_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "proof/python_pool.h"
#include "proof/python_variable.h"

#define WINDOW_BYTES (1U << 18)
#define WORD sizeof(uint64_t)

/*
 * Limits per search: number of bytes to search, and number of pointers to follow for each object.
 */
#define SEARCH_BYTES (2ULL << 30)
#define POINTERS_MAX 1024U
#define LATER_MAX 16U /* maximum number of targets per object in the second search */
#define TARGETS_MAX (LATER_MAX * PYTHON_NAMED_MAX)

/*
 * An object may have thousands of bound methods, such as set.discard(). In each of them, the
 * pointer to the object directly follows the same word. Following a few of these pointers is
 * enough. SAME_KEYS_MAX: maximum number of pointers to an object that the first search follows for
 * each preceding word. KEYS_MAX: maximum number of preceding words remembered per object; the
 * oldest is evicted first.
 */
#define SAME_KEYS_MAX 4U
#define KEYS_MAX 8U

/*
 * Bytes before a pointer at which its block may begin if it is in glibc's heap. There, blocks are
 * found only by their pointers, not by their places as in pools.
 */
#define HEAP_BYTES 256U
/* Minimum and maximum size of a chunk in glibc's heap, and the flags in the word with its size. */
#define CHUNK_MIN 32U
#define CHUNK_MAX (1ULL << 40)
#define CHUNK_FLAGS 7ULL

/* Words that may precede an object in its block: see find_class() in python_heap.c. */
static const uint64_t words_before[] = {2, 4, 0};

struct key {
	uint64_t word;
	unsigned int cnt; /* number of pointers that directly follow this word */
};

struct target {
	uint64_t start, end; /* pointers into this range are searched for */
	size_t object;       /* index of the object to be named */
	uint64_t slot; /* address of the pointer to the object to be named; 0 in the first search */
	bool in_heap;  /* true if `slot` is in no pool, so it may be in glibc's heap */
};

/*
 * Number of bits in the filter, which quickly rejects most words. Each 16 bytes of a target range
 * set one bit, selected by their address.
 */
#define FILTER_BITS 4096U

struct search {
	const struct memory *memory;
	struct python_named *objects;
	unsigned int pointers[PYTHON_NAMED_MAX], laters[PYTHON_NAMED_MAX];
	struct key keys[PYTHON_NAMED_MAX][KEYS_MAX];
	unsigned int key_cnt[PYTHON_NAMED_MAX];
	struct target targets[TARGETS_MAX];
	size_t target_cnt;
	struct target later[TARGETS_MAX]; /* targets of the second search */
	size_t later_cnt;
	uint64_t filter[FILTER_BITS / 64];
	uint64_t *window;
	uint64_t bytes; /* bytes that this search has read */
	uint64_t deadline_ns;
};

/* Sets the name of an object, unless it already has a name that is as good (enum python_name). */
static void set_name(struct search *search, size_t object, enum python_name by, const char *name)
{
	struct python_named *named = &search->objects[object];

	if (by <= named->named_by)
		return;
	named->named_by = by;
	snprintf(named->name, sizeof(named->name), "%s", name);
}

/* Finds the block of CPython's allocator that contains `slot`. False if it is in no pool. */
static bool find_block(const struct memory *memory, uint64_t slot, struct target *ret)
{
	uint64_t addr = slot & ~(uint64_t)(PYTHON_POOL_BYTES - 1), in_blocks;
	unsigned char header[PYTHON_POOL_HEADER_BYTES];
	struct python_pool pool;

	if (memory->ops->read(memory, addr, header, sizeof(header)) != (ssize_t)sizeof(header) ||
	    !python_pool_parse_header(header, addr, &pool) ||
	    slot < addr + PYTHON_POOL_HEADER_BYTES)
		return false;
	in_blocks = slot - addr - PYTHON_POOL_HEADER_BYTES;
	ret->start =
		addr + PYTHON_POOL_HEADER_BYTES + in_blocks / pool.block_bytes * pool.block_bytes;
	ret->end = ret->start + pool.block_bytes;
	return true;
}

/* Adds a target to the second search: pointers to the block that contains `slot`. */
static void search_later(struct search *search, size_t object, uint64_t slot)
{
	struct target *target = &search->later[search->later_cnt];

	if (search->laters[object] == LATER_MAX || slot < HEAP_BYTES)
		return;
	*target = (struct target){.object = object, .slot = slot};
	if (!find_block(search->memory, slot, target)) {
		target->start = slot - HEAP_BYTES;
		target->end = slot + 1;
		target->in_heap = true;
	}
	search->laters[object]++;
	search->later_cnt++;
}

/* Reads the size of the chunk of glibc's heap whose block begins at addr. */
static bool read_chunk_size(const struct memory *memory, uint64_t addr, uint64_t *ret)
{
	uint64_t size;

	if (memory->ops->read(memory, addr - WORD, &size, WORD) != (ssize_t)WORD)
		return false;
	size &= ~CHUNK_FLAGS;
	*ret = size;
	return size >= CHUNK_MIN && size < CHUNK_MAX && size % (2 * WORD) == 0;
}

/* True if the block of glibc's heap with the object at addr also contains `slot`. */
static bool is_in_block_of(const struct memory *memory, uint64_t addr, uint64_t slot)
{
	uint64_t size, next;

	for (size_t i = 0; i < sizeof(words_before) / sizeof(*words_before); i++) {
		uint64_t block = addr - words_before[i] * WORD;

		if (slot >= block && read_chunk_size(memory, block, &size) &&
		    slot - block < size - WORD && read_chunk_size(memory, block + size, &next))
			return true;
	}
	return false;
}

/*
 * Counts a pointer to an object that directly follows `word` in memory. True if SAME_KEYS_MAX
 * pointers after this word were counted before.
 */
static bool has_enough(struct search *search, size_t object, uint64_t word)
{
	struct key *keys = search->keys[object];

	for (size_t i = 0; i < KEYS_MAX; i++)
		if (keys[i].cnt && keys[i].word == word)
			return keys[i].cnt++ >= SAME_KEYS_MAX;
	keys[search->key_cnt[object]++ % KEYS_MAX] = (struct key){word, 1};
	return false;
}

/* Takes a pointer to the container itself, which the first search found at `slot`. */
static void take_direct(struct search *search, size_t object, uint64_t slot)
{
	char name[2 * PYTHON_NAME_BYTES];

	if (python_variable(search->memory, slot, name)) {
		set_name(search, object, PYTHON_VARIABLE, name);
		return;
	}
	if (python_key(search->memory, slot, name))
		set_name(search, object, PYTHON_KEY, name);
	search_later(search, object, slot);
}

/*
 * Takes a pointer at `slot` to the block, or to memory before it, that has a pointer to the
 * container. value: the pointer at `slot`.
 */
static void take_indirect(struct search *search, const struct target *target, uint64_t slot,
			  uint64_t value)
{
	const struct memory *memory = search->memory;
	char name[2 * PYTHON_NAME_BYTES];

	if (python_attribute(memory, target->slot, value, slot, name))
		set_name(search, target->object, PYTHON_VARIABLE, name);
	else if (target->in_heap && !is_in_block_of(memory, value, target->slot))
		return;
	else if (python_variable(memory, slot, name) ||
		 (target->in_heap &&
		  python_cached_function(memory, value - words_before[0] * WORD, name)))
		set_name(search, target->object, PYTHON_HOLDER, name);
}

static void take_pointer(struct search *search, const struct target *target, uint64_t slot,
			 uint64_t value)
{
	if (search->pointers[target->object]++ >= POINTERS_MAX)
		return;
	if (target->slot)
		take_indirect(search, target, slot, value);
	else
		take_direct(search, target->object, slot);
}

static void take_word(struct search *search, uint64_t slot, uint64_t before, uint64_t word)
{
	uint64_t bit = word / 16 % FILTER_BITS;

	if (!(search->filter[bit / 64] >> bit % 64 & 1))
		return;
	for (size_t i = 0; i < search->target_cnt; i++)
		if (word >= search->targets[i].start && word < search->targets[i].end &&
		    (search->targets[i].slot ||
		     !has_enough(search, search->targets[i].object, before)))
			take_pointer(search, &search->targets[i], slot, word);
}

static int visit_run(void *arg, uint64_t start, uint64_t end)
{
	struct search *search = arg;

	for (uint64_t at = start; at < end; at += WINDOW_BYTES) {
		size_t len = end - at < WINDOW_BYTES ? end - at : WINDOW_BYTES;
		ssize_t got = search->memory->ops->read(search->memory, at, search->window, len);

		if (search->bytes > SEARCH_BYTES ||
		    clock_ns(CLOCK_MONOTONIC) >= search->deadline_ns)
			return 1;
		search->bytes += len;
		for (ssize_t i = 0; i < got / (ssize_t)WORD; i++)
			take_word(search, at + (uint64_t)i * WORD, i ? search->window[i - 1] : 0,
				  search->window[i]);
	}
	return 0;
}

static void set_filter(struct search *search)
{
	memset(search->filter, 0, sizeof(search->filter));
	for (size_t i = 0; i < search->target_cnt; i++) {
		const struct target *target = &search->targets[i];

		for (uint64_t at = target->start / 16; at <= (target->end - 1) / 16; at++)
			search->filter[at % FILTER_BITS / 64] |= 1ULL << at % 64;
	}
}

/* Searches all written memory for pointers to the targets. */
static void run(struct search *search)
{
	const struct memory *memory = search->memory;

	set_filter(search);
	search->bytes = 0;
	memset(search->pointers, 0, sizeof(search->pointers));
	for_each_mapping (mapping, &memory->maps)
		if (!mapping->shared && mapping->writable &&
		    mapping->end - mapping->start <= PYTHON_MAPPING_BYTES_MAX &&
		    clock_ns(CLOCK_MONOTONIC) < search->deadline_ns &&
		    memory->ops->visit_written(memory, mapping, mapping->start, mapping->end,
					       visit_run, search))
			return;
}

/*
 * Makes `later` the targets of the second search. Leaves out targets of objects that already have a
 * name at least as good as any that the second search can find.
 */
static void take_later(struct search *search)
{
	search->target_cnt = 0;
	for (size_t i = 0; i < search->later_cnt; i++)
		if (search->objects[search->later[i].object].named_by < PYTHON_HOLDER)
			search->targets[search->target_cnt++] = search->later[i];
}

/*
 * Names the caches of functions after the functions. Caches that a module's variable holds already
 * have a name, which includes the module.
 */
static void name_caches(struct search *search)
{
	char name[PYTHON_NAME_BYTES];

	for (size_t i = 0; i < search->target_cnt; i++)
		if (!search->targets[i].in_heap &&
		    python_cached_function(search->memory, search->targets[i].start, name))
			set_name(search, search->targets[i].object, PYTHON_HOLDER, name);
}

int python_names_find(const struct memory *memory, struct python_named *objects, size_t cnt,
		      uint64_t deadline_ns)
{
	/* The kernel copies between page-aligned addresses two to three times as fast as others. */
	cleanup_free uint64_t *window = aligned_alloc(memory->page_size, WINDOW_BYTES);
	struct search search = {.memory = memory,
				.objects = objects,
				.window = window,
				.target_cnt = cnt,
				.deadline_ns = deadline_ns};

	if (!window)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		objects[i] = (struct python_named){.addr = objects[i].addr};
		search.targets[i] = (struct target){
			.start = objects[i].addr, .end = objects[i].addr + 1, .object = i};
	}
	run(&search);
	take_later(&search);
	if (!search.target_cnt)
		return 0;
	run(&search);
	name_caches(&search);
	return 0;
}
