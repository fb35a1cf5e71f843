// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares a census of a program's heap (a list of its chunks) with the program's own records. */
#include "tests/unit/proof/heap_check.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bisect.h"
#include "proof/census.h"
#include "proof/census_table.h"
#include "proof/heap_map.h"
#include "tests/unit/proof/heap_program.h"
#include "tests/unit/proof/process_memory.h"

struct chunks {
	struct chunk *items;
	size_t cnt, cap;
	struct heap_census table;
};

static int keep(void *arg, const struct chunk *chunk)
{
	struct chunks *chunks = arg;

	census_table_add(&chunks->table, chunk, false);
	assert_int_equal(array_reserve(&chunks->items, &chunks->cap, chunks->cnt + 1), 0);
	if (chunks->cnt)
		assert_true(chunks->items[chunks->cnt - 1].addr +
				    chunks->items[chunks->cnt - 1].size <=
			    chunk->addr);
	chunks->items[chunks->cnt++] = *chunk;
	return 0;
}

/* Returns the chunk that contains addr, or NULL. */
static const struct chunk *chunk_at(const struct chunks *chunks, uint64_t addr)
{
	size_t upto = bisect_upto(chunks->items, chunks->cnt, addr, addr);
	const struct chunk *chunk = upto ? &chunks->items[upto - 1] : NULL;

	return chunk && addr < chunk->addr + chunk->size ? chunk : NULL;
}

/* True if the program has a used block at addr. */
static bool is_live(const struct heap_program *program, uint64_t addr)
{
	size_t at = bisect_below(program->blocks, program->used_cnt, addr, addr);

	return at < program->used_cnt && program->blocks[at].addr == addr;
}

/*
 * Looks up the memory of a freed block in the census. Counts the block in `freed`, unless blocks in
 * use have taken all of its memory. Counts it in `freed_used` if some of its memory is in a chunk
 * that the census wrongly reports as used.
 */
static void check_block(const struct heap_program *program, const struct chunks *chunks,
			const struct made_block *block, struct heap_check *check)
{
	const struct chunk *lost = NULL;
	uint64_t live_bytes = 0, end = block->addr + block->size;
	size_t at = bisect_upto(chunks->items, chunks->cnt, addr, block->addr);

	for (at -= at > 0; at < chunks->cnt && chunks->items[at].addr < end; at++) {
		const struct chunk *chunk = &chunks->items[at];
		uint64_t low = chunk->addr > block->addr ? chunk->addr : block->addr;
		uint64_t high = chunk->addr + chunk->size;

		high = high < end ? high : end;
		if (low >= high)
			continue;
		if (is_live(program, chunk->addr))
			live_bytes += high - low;
		else if (chunk->state == CHUNK_USED)
			lost = chunk;
	}
	check->freed += live_bytes < block->size;
	check->freed_used += lost != NULL;
	if (lost && getenv("HEAP_CHECK_TELL"))
		fprintf(stderr, "freed 0x%lx+%lu is used: 0x%lx+%lu\n", block->addr, block->size,
			lost->addr, lost->size);
}

/*
 * Returns the start of a large block's own mapping, from the offset in its header; 0 if the block
 * has no mapping.
 */
static uint64_t memory_start(const struct memory *memory, uint64_t addr)
{
	const uint64_t header = addr - CHUNK_HEADER;
	uint64_t words[2];

	assert_int_equal(memory->ops->read(memory, header, words, sizeof(words)), sizeof(words));
	return (words[1] & CHUNK_FLAGS) == CHUNK_MMAPPED ? header - words[0] : 0;
}

/*
 * True if the kernel has merged a large block's mapping with memory before it: a census finds it
 * only at the start of a mapping, or on the page right after another chunk.
 */
static bool has_neighbour(const struct memory *memory, const struct chunks *chunks, uint64_t addr)
{
	const struct mapping *mapping = proc_maps_find(&memory->maps, addr);
	uint64_t start = memory_start(memory, addr), end;
	size_t upto = bisect_upto(chunks->items, chunks->cnt, addr, start);

	if (!start || !mapping || start <= mapping->start)
		return false;
	end = mapping->start;
	if (upto && chunks->items[upto - 1].addr > mapping->start)
		end = chunks->items[upto - 1].addr + chunks->items[upto - 1].size;
	/* The chunk before the block may be a mapped one, which ends at a page boundary. */
	end += -end % memory->page_size;
	return end < start;
}

static void check_live(const struct heap_program *program, const struct memory *memory,
		       const struct chunks *chunks, struct heap_check *check)
{
	size_t used_cnt = 0, seen_cnt = 0;

	for (size_t i = 0; i < chunks->cnt; i++)
		used_cnt += chunks->items[i].state == CHUNK_USED;
	check->live += program->used_cnt;
	for (size_t i = 0; i < program->used_cnt; i++) {
		const struct made_block *block = &program->blocks[i];
		const struct chunk *chunk = chunk_at(chunks, block->addr);

		if (!chunk) {
			check->neighbours += has_neighbour(memory, chunks, block->addr);
			if (getenv("HEAP_CHECK_TELL"))
				fprintf(stderr, "live 0x%lx+%lu was not found\n", block->addr,
					block->size);
			continue;
		}
		if (chunk->state != CHUNK_USED) {
			check->live_free++;
			continue;
		}
		if (chunk->addr != block->addr || chunk->size < block->size)
			fail_msg("0x%lx+%lu is reported as 0x%lx+%lu", block->addr, block->size,
				 chunk->addr, chunk->size);
		seen_cnt++;
	}
	check->live_seen += seen_cnt;
	check->other_used += used_cnt - seen_cnt;
}

/*
 * Checks that all chunks and their headers are within the bytes of the heap, and that the present
 * pages cover these bytes.
 */
static void check_totals(const struct memory *memory, const struct census *census,
			 struct heap_census *table)
{
	const uint64_t used_bytes = census->used.bytes + census->mapped.bytes;
	const size_t ranges = census->heap_cnt + census->outside.cnt;

	assert_int_equal(census_table_finish(table, census, memory), 0);
	assert_int_equal(table->processes, 1);
	assert_int_equal(table->without_heap, 0);
	assert_int_equal(table->arenas, census->arena_cnt);
	assert_int_equal(heap_census_all(table, HEAP_OLDER).bytes, used_bytes);
	assert_int_equal(heap_census_all(table, HEAP_FREE).bytes, census->free_.bytes);
	assert_int_equal(heap_census_own(table),
			 table->heap_bytes - used_bytes - census->free_.bytes);
	/* Count only half of each header, because the other half overlaps the previous chunk. */
	assert_true(heap_census_own(table) >=
		    census->top_bytes +
			    (census->used.count + census->free_.count) * (CHUNK_HEADER / 2));
	/* Every page of these heaps is present. */
	assert_true(table->present_bytes >= table->heap_bytes);
	assert_true(table->present_bytes <= table->heap_bytes + 2 * ranges * memory->page_size);
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void take(struct heap_program *program, struct heap_check *check)
{
	struct process_memory memory;
	struct chunks chunks = {0};
	struct census census;
	uint64_t begin = cpu_ns();

	heap_program_read(program);
	assert_int_equal(process_memory_init(&memory, program->pid), 0);
	assert_int_equal(census_take(&memory.memory, keep, &chunks, &census), 0);
	check->cpu_ns += cpu_ns() - begin;
	check_live(program, &memory.memory, &chunks, check);
	for (size_t i = program->used_cnt; i < program->cnt; i++)
		check_block(program, &chunks, &program->blocks[i], check);
	check->arenas += census.arena_cnt;
	check->skipped += census.skipped_cnt;
	check->caches += census.cache_cnt;
	check->heaps += census.heap_cnt;
	check_totals(&memory.memory, &census, &chunks.table);
	for (size_t i = 0; i < census.heap_cnt; i++)
		check->heap_bytes += census.heaps[i].end - census.heaps[i].start;
	free(chunks.items);
	census_deinit(&census);
	process_memory_deinit(&memory);
}

void heap_check_run(char **argv, const char *tunables, struct heap_check *ret)
{
	struct heap_program program = {0};

	*ret = (struct heap_check){0};
	heap_program_start(&program, argv, tunables);
	take(&program, ret);
	heap_program_end(&program);
}

void heap_check_busy(char **argv, const char *tunables, size_t times, struct heap_check *ret)
{
	struct heap_program program = {0};
	int status;

	*ret = (struct heap_check){0};
	heap_program_start(&program, argv, tunables);
	for (size_t i = 0; i < times; i++) {
		usleep(2000 + i % 7 * 500);
		assert_int_equal(kill(program.pid, SIGSTOP), 0);
		assert_int_equal(waitpid(program.pid, &status, WUNTRACED), program.pid);
		assert_true(WIFSTOPPED(status));
		take(&program, ret);
		assert_int_equal(kill(program.pid, SIGCONT), 0);
	}
	heap_program_end(&program);
}
