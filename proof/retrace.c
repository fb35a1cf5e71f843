// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A place is an address in a block whose holders are searched for. Each step compares all words of
 * memory with all places. For each place, it keeps the words with the highest value at or below the
 * place: these are pointers to the assumed start of the block that contains the place.
 */
#include "proof/retrace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/order.h"
#include "base/parallel.h"
#include "proof/python_variable.h"
#include "proof/root_kind.h"
#include "proof/scan.h"
#include "proof/window.h"

#define WORD sizeof(uint64_t)
#define PIECE_BYTES (1ULL << 20)

#define STEPS_MOST 6
#define PLACES_MOST 256

/*
 * Minimum time limit of a search, in nanoseconds. If the proof took longer, the limit is the
 * duration of the proof.
 */
#define LEAST_NS 100000000ULL

/*
 * Maximum distance in bytes from the target of a pointer up to a place, if the pointer is in
 * SIGHT_LAST memory, such as a stack. Pointers with a larger distance are ignored.
 */
#define STACK_BYTES 512

/* A piece of memory to search, of one kind. */
struct piece {
	uint64_t start;
	uint64_t end;
	enum sight_of sort;
};

struct worker {
	struct window window;
	/* pointers that this worker has found, by place and kind of memory */
	struct sight (*sights)[SIGHT_CNT];
};

struct round {
	const struct retrace *retrace;
	const struct heap_proof *proof;
	const struct heap_picture *picture;
	struct piece *pieces;
	size_t piece_cnt;
	size_t piece_cap;
	size_t next_piece;
	/* places from which this step searches, sorted by their field `high` */
	struct retrace_place **places;
	uint64_t *highs; /* field `high` of each element of `places` */
	size_t cnt;
	/* lowest field `low` of all `places`: pointers to lower addresses are ignored */
	uint64_t low;
	/* size in bytes of the range from `low` to the highest field `high` of all `places` */
	uint64_t span;
	struct worker *workers;
	size_t worker_cnt;
	uint64_t deadline_ns;
	bool is_late;
};

static struct retrace_place *find(const struct retrace *retrace, uint64_t addr, bool is_begin)
{
	for (size_t i = 0; i < retrace->cnt; i++)
		if (retrace->places[i].addr == addr && retrace->places[i].is_begin == is_begin)
			return &retrace->places[i];
	return NULL;
}

const struct retrace_place *retrace_find(const struct retrace *retrace,
					 const struct heap_block *block, uint64_t slot)
{
	const struct retrace_place *place = block ? find(retrace, block->addr, true) : NULL;

	if (!place || !place->is_rooted)
		place = find(retrace, slot, false);
	return place && place->is_rooted ? place : NULL;
}

static int add_place(struct retrace *retrace, uint64_t addr, bool is_begin)
{
	if (retrace->cnt == PLACES_MOST || find(retrace, addr, is_begin))
		return 0;
	if (array_reserve(&retrace->places, &retrace->cap, retrace->cnt + 1))
		return -ENOMEM;
	retrace->places[retrace->cnt++] =
		(struct retrace_place){.addr = addr, .is_begin = is_begin, .next = RETRACE_NONE};
	return 0;
}

int retrace_add(struct retrace *retrace, const struct heap_block *block, uint64_t slot)
{
	int err = block ? add_place(retrace, block->addr, true) : 0;

	return err || !slot ? err : add_place(retrace, slot, false);
}

void retrace_deinit(struct retrace *retrace)
{
	free(retrace->places);
	memset(retrace, 0, sizeof(*retrace));
}

static void add_slot(struct sight *sight, uint64_t target, uint64_t slot)
{
	if (target > sight->target)
		*sight = (struct sight){.target = target};
	if (target == sight->target && sight->cnt < RETRACE_SLOTS)
		sight->slots[sight->cnt++] = slot;
}

/* True if the slot is not in the free memory of an allocator heap. */
static bool is_in_use(const struct heap_proof *proof, uint64_t slot)
{
	return !heap_proof_is_free(proof, slot);
}

/*
 * Adds the word at `slot`, which may be a pointer to the start of a block, to the places that may
 * be in this block, in ascending order. Stops at the first place with a better pointer (one to a
 * higher address), because all places above it have a better pointer, too. Also stops at a place
 * that already has RETRACE_SLOTS pointers to the address `word`.
 */
static void consider(const struct round *round, struct worker *worker, enum sight_of sort,
		     uint64_t word, uint64_t slot)
{
	for (size_t i = bisect_numbers(round->highs, round->cnt, word);
	     i < round->cnt && word >= round->places[i]->low; i++) {
		struct sight *sight = &worker->sights[i][sort];

		if (word < sight->target || (word == sight->target && sight->cnt == RETRACE_SLOTS))
			break;
		/*
		 * Ignore a pointer from the block to itself: it says nothing about the block's
		 * holder.
		 */
		if (slot >= word && slot <= round->highs[i])
			continue;
		if (!is_in_use(round->proof, slot))
			break;
		add_slot(sight, word, slot);
	}
}

static void read_piece(const struct round *round, struct worker *worker, const struct piece *piece)
{
	uint64_t at = piece->start;

	while (at < piece->end) {
		size_t len = piece->end - at;
		const uint64_t *words = window_get(&worker->window, at, len, &len);

		if (!words) {
			at = (at | 4095) + 1;
			continue;
		}
		for (size_t i = 0; i < len / WORD; i++)
			if (words[i] - round->low < round->span)
				consider(round, worker, piece->sort, words[i], at + i * WORD);
		at += len;
	}
}

static void work(void *arg, size_t number)
{
	struct round *round = arg;

	for (;;) {
		size_t at = __atomic_fetch_add(&round->next_piece, 1, __ATOMIC_RELAXED);

		if (at >= round->piece_cnt)
			return;
		if (clock_ns(CLOCK_MONOTONIC) > round->deadline_ns) {
			__atomic_store_n(&round->is_late, true, __ATOMIC_RELAXED);
			return;
		}
		read_piece(round, &round->workers[number], &round->pieces[at]);
	}
}

static int add_piece(struct round *round, uint64_t start, uint64_t end, enum sight_of sort)
{
	for (; start < end; start += PIECE_BYTES) {
		if (array_reserve(&round->pieces, &round->piece_cap, round->piece_cnt + 1))
			return -ENOMEM;
		round->pieces[round->piece_cnt++] = (struct piece){
			start, end - start < PIECE_BYTES ? end : start + PIECE_BYTES, sort};
	}
	return 0;
}

/* Classifies the memory at addr. False if it must not be searched. */
static bool sort_of(const struct heap_picture *picture, uint64_t addr, enum sight_of *ret)
{
	switch (root_hint(picture, addr)) {
	case ROOT_HINT_RUNTIME:
		return false;
	case ROOT_HINT_NONE:
		*ret = SIGHT_MEMORY;
		break;
	case ROOT_HINT_GOOD:
		*ret = root_kind(picture, addr) == HOLDER_STACK ? SIGHT_LAST : SIGHT_VARIABLE;
		break;
	case ROOT_HINT_WEAK:
		*ret = SIGHT_LAST;
		break;
	}
	return true;
}

/* Adds a range of memory to search. It may span several mappings. */
static int add_range(struct round *round, const struct root_range *range)
{
	const struct proc_maps *maps = &round->picture->memory->maps;
	enum sight_of sort = SIGHT_MEMORY;
	int err = 0;

	for (uint64_t at = range->start; !err && at < range->end;) {
		const struct mapping *mapping = proc_maps_find(maps, at);
		uint64_t end = mapping && mapping->end < range->end ? mapping->end : range->end;

		if (sort_of(round->picture, at, &sort))
			err = add_piece(round, at, end, sort);
		at = end;
	}
	return err;
}

/*
 * Adds all written memory that is not executable to the memory to search, inside and outside of
 * blocks.
 */
static int add_memory(struct round *round)
{
	const struct block_index no_blocks = {0};
	const struct root_ranges no_heaps = {0};
	struct root_memory memory;
	int err = roots_find(round->picture->memory, round->picture->threads, &no_blocks, &no_heaps,
			     &memory);

	if (err)
		return err;
	for (size_t i = 0; !err && i < memory.data.cnt; i++)
		err = add_range(round, &memory.data.items[i]);
	root_memory_deinit(&memory);
	return err;
}

/* Size of the header that CPython's garbage collector has before each object, in bytes. */
#define PYTHON_GC_BYTES 16

static void set_bounds(const struct round *round, struct retrace_place *place)
{
	const struct mapping *mapping = proc_maps_find(&round->picture->memory->maps, place->addr);
	uint32_t below = heap_proof_blocks_upto(round->proof, place->addr);
	const struct heap_block *block = below ? &round->proof->blocks[below - 1] : NULL;
	uint64_t end = block ? block->addr + block->size : 0;

	place->high = place->addr;
	if (place->is_begin && round->picture->is_python)
		place->high += PYTHON_GC_BYTES;
	if (place->is_begin)
		place->low = place->addr;
	else if (place->addr < end)
		place->low = block->addr;
	else
		place->low = mapping && mapping->start > end ? mapping->start : end;
}

static int by_high(const void *a, const void *b)
{
	return ORDER((*(struct retrace_place *const *)a)->high,
		     (*(struct retrace_place *const *)b)->high);
}

/* Prepares a step, which searches from all places with the index `first` or above. */
static void begin_step(struct round *round, size_t first)
{
	const struct retrace *retrace = round->retrace;

	round->next_piece = 0;
	round->cnt = retrace->cnt - first;
	for (size_t i = 0; i < round->cnt; i++) {
		round->places[i] = &retrace->places[first + i];
		set_bounds(round, round->places[i]);
	}
	qsort(round->places, round->cnt, sizeof(*round->places), by_high);
	for (size_t i = 0; i < round->cnt; i++)
		round->highs[i] = round->places[i]->high;
	round->low = round->places[0]->low;
	round->span = round->highs[round->cnt - 1] + 1 - round->low;
	for (size_t i = 0; i < round->worker_cnt; i++)
		memset(round->workers[i].sights, 0, round->cnt * sizeof(*round->workers[i].sights));
}

static void join_sights(struct round *round)
{
	for (size_t i = 0; i < round->cnt; i++)
		for (size_t j = 0; j < round->worker_cnt; j++)
			for (size_t sort = 0; sort < SIGHT_CNT; sort++) {
				const struct sight *seen = &round->workers[j].sights[i][sort];

				for (size_t at = 0; at < seen->cnt; at++)
					add_slot(&round->places[i]->sights[sort], seen->target,
						 seen->slots[at]);
			}
}

static struct retrace_way way_of(const struct round *round, uint64_t slot)
{
	uint32_t block = heap_proof_find(round->proof, slot);
	struct retrace_way way = {.slot = slot};
	char name[2 * PYTHON_NAME_BYTES];

	/* In a Python script, continue from the slot itself: objects on the way may have names. */
	if (round->picture->is_python) {
		way.is_end = python_variable(round->picture->memory, slot, name);
		return way;
	}
	if (block != NO_BLOCK) {
		if (!heap_proof_top_of(round->proof, block, &block, &way.slot))
			return (struct retrace_way){0};
		way.block = &round->proof->blocks[block];
	}
	way.is_end = way.slot & HOLDER_IS_WORD ||
		     (way.slot && root_hint(round->picture, way.slot) == ROOT_HINT_GOOD);
	return way;
}

/*
 * Returns where the search continues from slot number `at` of a place. Results are cached, because
 * finding them is slow and they are needed several times. Call with ascending numbers.
 */
static struct retrace_way next_way(const struct round *round, struct retrace_place *place,
				   size_t at)
{
	const struct sight *memory = &place->sights[SIGHT_MEMORY];
	char name[2 * PYTHON_NAME_BYTES];

	if (at == place->way_cnt) {
		place->ways[at] = way_of(round, memory->slots[at]);
		place->ways[at].is_end |= round->picture->is_python &&
					  python_attribute(round->picture->memory, place->addr,
							   memory->target, memory->slots[at], name);
		place->way_cnt++;
	}
	return place->ways[at];
}

/* Checks the pointers found to a place. True if the way from the place to a root is now known. */
static bool resolve(const struct round *round, struct retrace_place *place)
{
	const struct sight *global = &place->sights[SIGHT_VARIABLE];
	const struct sight *memory = &place->sights[SIGHT_MEMORY];

	if (global->cnt && global->target >= memory->target) {
		place->is_rooted = true;
		place->slot = global->slots[0];
	}
	for (size_t i = 0; !place->is_rooted && i < memory->cnt; i++) {
		struct retrace_way way = next_way(round, place, i);
		const struct retrace_place *next =
			way.is_end ? NULL : retrace_find(round->retrace, way.block, way.slot);

		if (!way.is_end && !next)
			continue;
		place->is_rooted = true;
		place->slot = memory->slots[i];
		if (next)
			place->next = (size_t)(next - round->retrace->places);
	}
	return place->is_rooted;
}

static void resolve_all(const struct round *round)
{
	for (bool any = true; any;) {
		any = false;
		for (size_t i = 0; i < round->retrace->cnt; i++) {
			struct retrace_place *place = &round->retrace->places[i];

			any |= !place->is_rooted && resolve(round, place);
		}
	}
}

/*
 * Adds the places where the search continues from the places with an index of at least `first` and
 * below `end`, unless their way to a root is known.
 */
static int add_next(const struct round *round, struct retrace *retrace, size_t first, size_t end)
{
	int err = 0;

	for (size_t i = first; i < end; i++) {
		size_t cnt = retrace->places[i].sights[SIGHT_MEMORY].cnt;

		for (size_t j = 0; !err && !retrace->places[i].is_rooted && j < cnt; j++) {
			struct retrace_way way = next_way(round, &retrace->places[i], j);

			err = retrace_add(retrace, way.block, way.slot);
		}
	}
	return err;
}

/*
 * Uses a slot in SIGHT_LAST memory, such as a stack, as the holder of each place without another
 * holder. This comes last because stacks often have stale pointers, or copies of pointers from
 * elsewhere.
 */
static void resolve_by_stacks(const struct round *round)
{
	for (size_t i = 0; i < round->retrace->cnt; i++) {
		struct retrace_place *place = &round->retrace->places[i];
		const struct sight *stack = &place->sights[SIGHT_LAST];

		if (place->is_rooted || !stack->cnt ||
		    stack->target < place->sights[SIGHT_MEMORY].target ||
		    place->high - stack->target > STACK_BYTES)
			continue;
		place->is_rooted = true;
		place->slot = stack->slots[0];
	}
	resolve_all(round);
}

static bool is_done(const struct retrace *retrace, size_t begin_cnt)
{
	for (size_t i = 0; i < begin_cnt; i++)
		if (!retrace->places[i].is_rooted)
			return false;
	return true;
}

static bool lasts(const struct heap_picture *picture)
{
	return !picture->lasts || picture->lasts(picture->arg);
}

static int take_steps(struct round *round, struct retrace *retrace)
{
	size_t begin_cnt = retrace->cnt, first = 0;
	uint64_t took_ns = 0;
	int err = 0;

	for (size_t step = 0; !err && step < STEPS_MOST && first < retrace->cnt; step++) {
		uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
		size_t end = retrace->cnt;

		if (begin_ns + took_ns > round->deadline_ns)
			break;
		begin_step(round, first);
		parallel_run(round->worker_cnt, work, round);
		if (round->is_late || !lasts(round->picture))
			break;
		join_sights(round);
		resolve_all(round);
		if (is_done(retrace, begin_cnt))
			return 0;
		err = add_next(round, retrace, first, end);
		first = end;
		took_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	}
	if (!err)
		resolve_by_stacks(round);
	return err;
}

static int round_init(struct round *round)
{
	int err = 0;

	round->places = calloc(PLACES_MOST, sizeof(*round->places));
	round->highs = calloc(PLACES_MOST, sizeof(*round->highs));
	round->workers = calloc(round->worker_cnt, sizeof(*round->workers));
	if (!round->places || !round->highs || !round->workers)
		return -ENOMEM;
	for (size_t i = 0; !err && i < round->worker_cnt; i++) {
		struct worker *worker = &round->workers[i];

		worker->sights = calloc(PLACES_MOST, sizeof(*worker->sights));
		err = worker->sights ? window_init(round->picture->memory, SCAN_WINDOW_BYTES,
						   &worker->window)
				     : -ENOMEM;
	}
	return err;
}

static void round_deinit(struct round *round)
{
	for (size_t i = 0; round->workers && i < round->worker_cnt; i++) {
		window_deinit(&round->workers[i].window);
		free(round->workers[i].sights);
	}
	free(round->workers);
	free(round->places);
	free(round->highs);
	free(round->pieces);
}

int retrace_run(struct retrace *retrace, const struct heap_proof *proof,
		const struct heap_picture *picture)
{
	struct round round = {
		.retrace = retrace,
		.proof = proof,
		.picture = picture,
		.worker_cnt = parallel_worker_cnt(),
		.deadline_ns =
			clock_deadline_ns(proof->took_ns > LEAST_NS ? proof->took_ns : LEAST_NS),
	};
	int err;

	if (!retrace->cnt || !lasts(picture))
		return 0;
	err = round_init(&round);
	if (!err)
		err = add_memory(&round);
	if (!err)
		err = take_steps(&round, retrace);
	round_deinit(&round);
	return err == -ENOMEM ? err : 0;
}
