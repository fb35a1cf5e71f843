// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Marks blocks in rounds, breadth first. Each round takes the blocks that the previous round
 * reached, in address order, and follows their stored links, or reads the blocks to find pointers.
 * If a round has few blocks, as in a long list, one worker continues alone.
 */
#include "proof/marking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/huge_pages.h"
#include "base/order.h"
#include "base/parallel.h"
#include "proof/links.h"
#include "proof/lost_blocks.h"
#include "proof/scan.h"

#define WORD sizeof(uint64_t)

/*
 * Maximum size of a piece, in bytes. Larger blocks are split, so that several workers can read
 * them.
 */
#define PIECE_BYTES (1ULL << 20)

/* Number of blocks whose links are followed together. */
#define BATCH 64

/* Minimum number of blocks for a round to use several threads. */
#define ROUND_MIN 8192
/* Number of blocks that a worker takes at a time. */
#define SHARE 1024

/*
 * How a block was reached so far, worst first. REACHED_INSIDE: by an interior pointer in a root or
 * in a reachable block. REACHED_POSSIBLE: the second pass sets this for blocks with REACHED_INSIDE,
 * and for all blocks that it reaches from these. REACHED_REACHABLE: by pointers to starts of blocks
 * alone.
 */
enum reached_how { REACHED_NOT, REACHED_INSIDE, REACHED_POSSIBLE, REACHED_REACHABLE };

struct piece {
	uint64_t start;
	uint64_t end;
	uint32_t holder; /* block that contains the piece, NO_BLOCK for root memory */
	bool is_code;
};

struct reached_blocks {
	uint32_t *blocks;
	size_t cnt;
	size_t cap;
};

struct pieces {
	struct piece *items;
	size_t cnt;
	size_t cap;
};

struct worker {
	struct crew *crew;
	struct scan scan;
	struct reached_blocks reached; /* blocks reached in this round */
	struct pieces pieces;          /* pieces of large blocks reached in this round */
	int err;
};

struct crew {
	const struct marking_request *request;
	const struct block_index *index;
	struct links links;
	uint8_t *reached_as;
	uint32_t *holders;
	/* root slots with the pointers by which blocks were reached; see marks.h */
	uint64_t *slots;
	uint32_t slot_cnt;
	enum reached_how pass; /* current pass: first REACHED_REACHABLE, then REACHED_POSSIBLE */
	struct worker *workers;
	size_t worker_cnt;
	/*
	 * Work of this round: pieces and reached blocks; next_piece and next_reached are the
	 * indexes of the first ones not yet taken by a worker.
	 */
	struct pieces pieces;
	size_t next_piece;
	struct reached_blocks reached;
	size_t next_reached;
	bool stopped;
};

static bool failed(struct crew *crew, struct worker *worker)
{
	const struct marking_request *request = crew->request;

	if (!worker->err)
		worker->err = worker->scan.window.err;
	if (request->stop && request->stop(request->arg))
		__atomic_store_n(&crew->stopped, true, __ATOMIC_RELAXED);
	return worker->err || __atomic_load_n(&crew->stopped, __ATOMIC_RELAXED);
}

static void set_holder(struct crew *crew, uint32_t block, uint32_t holder, uint64_t slot)
{
	if (holder == NO_BLOCK) {
		uint32_t at = __atomic_fetch_add(&crew->slot_cnt, 1, __ATOMIC_RELAXED);

		/*
		 * `slots` has room for two slots per block: one is added when the block's interior
		 * is reached, another when its start is reached.
		 */
		if (at >= 2 * (size_t)crew->index->cnt)
			return;
		crew->slots[at] = slot;
		holder = MARKS_SLOT | at;
	}
	__atomic_store_n(&crew->holders[block], holder, __ATOMIC_RELAXED);
}

static void push_large(struct worker *worker, const struct heap_block *reached, uint32_t block)
{
	uint64_t end = reached->addr + reached->size;

	for (uint64_t at = reached->addr; at < end; at += PIECE_BYTES) {
		uint64_t piece_end = end - at < PIECE_BYTES ? end : at + PIECE_BYTES;
		struct pieces *pieces = &worker->pieces;

		if (array_reserve(&pieces->items, &pieces->cap, pieces->cnt + 1)) {
			worker->err = -ENOMEM;
			return;
		}
		pieces->items[pieces->cnt++] = (struct piece){at, piece_end, block, false};
	}
}

/* Queues a block for the next round if it may have links. */
static void push(struct crew *crew, struct worker *worker, uint32_t block)
{
	const struct heap_block *reached = &crew->index->blocks[block];
	uint32_t first = crew->links.first[block];

	if (first == LINKS_NONE)
		return;
	if (first == LINKS_UNREAD && reached->size > PIECE_BYTES)
		push_large(worker, reached, block);
	else if (array_reserve(&worker->reached.blocks, &worker->reached.cap,
			       worker->reached.cnt + 1))
		worker->err = -ENOMEM;
	else
		worker->reached.blocks[worker->reached.cnt++] = block;
}

/*
 * Records how a block was reached. False if it was already reached in this way or in a better one.
 */
static bool improve(struct crew *crew, uint32_t block, enum reached_how wanted)
{
	uint8_t was = __atomic_load_n(&crew->reached_as[block], __ATOMIC_RELAXED);

	do
		if (was >= wanted)
			return false;
	while (!__atomic_compare_exchange_n(&crew->reached_as[block], &was, (uint8_t)wanted, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return true;
}

static bool is_reached(const struct crew *crew, uint32_t block)
{
	return __atomic_load_n(&crew->reached_as[block], __ATOMIC_RELAXED) >= crew->pass;
}

/*
 * Handles a pointer to a block. holder: block that contains the pointer, NO_BLOCK if a root
 * contains it; slot: address of the pointer if it is in a root.
 */
static void reach(struct crew *crew, struct worker *worker, struct link link, uint32_t holder,
		  uint64_t slot)
{
	const struct heap_block *block = &crew->index->blocks[link.block];
	enum reached_how wanted = crew->pass;

	if (is_reached(crew, link.block))
		return;
	if (wanted == REACHED_REACHABLE && link.offset &&
	    !interior_is_begin(&worker->scan.interior, block, link.offset))
		wanted = REACHED_INSIDE;
	if (!improve(crew, link.block, wanted))
		return;
	set_holder(crew, link.block, holder, slot);
	if (wanted != REACHED_INSIDE)
		push(crew, worker, link.block);
}

/* Must be inlined: otherwise gcc assumes that it has no effect, and removes calls of it. */
static inline __attribute__((always_inline)) void prefetch(const struct crew *crew, uint32_t block)
{
	__builtin_prefetch(&crew->reached_as[block], 1);
	__builtin_prefetch(&crew->holders[block], 1);
	__builtin_prefetch(&crew->links.first[block]);
}

/*
 * Handles a batch of pointers. Prefetches the holders and links only of blocks that were not
 * reached before, which are often few.
 */
static void found(void *arg, const struct pointer *pointers, size_t cnt)
{
	struct worker *worker = arg;
	struct crew *crew = worker->crew;

	for (size_t i = 0; i < cnt; i++)
		__builtin_prefetch(&crew->reached_as[pointers[i].block], 1);
	for (size_t i = 0; i < cnt; i++)
		if (!is_reached(crew, pointers[i].block))
			prefetch(crew, pointers[i].block);
	for (size_t i = 0; i < cnt; i++)
		reach(crew, worker, (struct link){pointers[i].block, pointers[i].offset},
		      pointers[i].holder, pointers[i].slot);
}

/* Follows the links of a batch of blocks together, so that cache misses overlap. */
static void follow(struct crew *crew, struct worker *worker, const uint32_t *blocks, size_t cnt)
{
	struct link links[BATCH * LINKS_MOST];
	uint32_t holders[BATCH * LINKS_MOST];
	const struct links *all = &crew->links;
	size_t link_cnt = 0;

	for (size_t i = 0; i < cnt; i++)
		if (all->first[blocks[i]] & LINKS_MANY)
			__builtin_prefetch(links_many(all, all->first[blocks[i]]));
	for (size_t i = 0; i < cnt; i++) {
		size_t here = links_of(all, blocks[i], links + link_cnt);

		for (size_t end = link_cnt + here; link_cnt < end; link_cnt++) {
			holders[link_cnt] = blocks[i];
			prefetch(crew, links[link_cnt].block);
		}
	}
	for (size_t i = 0; i < link_cnt; i++)
		reach(crew, worker, links[i], holders[i], 0);
}

/*
 * Follows the links of blocks, which must be sorted by address. Reads the blocks whose links are
 * not stored.
 */
static void follow_all(struct crew *crew, struct worker *worker, const uint32_t *blocks, size_t cnt)
{
	uint32_t known[BATCH], unread[SHARE];
	size_t known_cnt = 0, unread_cnt = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (crew->links.first[blocks[i]] == LINKS_UNREAD) {
			unread[unread_cnt++] = blocks[i];
			continue;
		}
		known[known_cnt++] = blocks[i];
		if (known_cnt == BATCH) {
			follow(crew, worker, known, known_cnt);
			known_cnt = 0;
		}
	}
	if (known_cnt)
		follow(crew, worker, known, known_cnt);
	if (unread_cnt) {
		scan_blocks(&worker->scan, unread, unread_cnt);
		scan_flush(&worker->scan);
	}
}

/* Scans a range of root memory, except for the blocks in it. */
static void scan_around_blocks(struct crew *crew, struct worker *worker, uint64_t start,
			       uint64_t end)
{
	const struct block_index *index = crew->index;
	uint32_t block = block_index_from(index, start);

	while (start < end) {
		const struct heap_block *next = block < index->cnt ? &index->blocks[block] : NULL;
		uint64_t until = next && next->addr < end ? next->addr : end;

		if (start < until)
			scan_memory(&worker->scan, start, until, NO_BLOCK, end - start);
		if (!next || next->addr >= end)
			return;
		if (next->addr + next->size > start)
			start = (next->addr + next->size + WORD - 1) & ~7ULL;
		block++;
	}
}

static void scan_piece(struct crew *crew, struct worker *worker, const struct piece *piece)
{
	if (piece->is_code)
		scan_code(&worker->scan, piece->start, piece->end);
	else if (piece->holder == NO_BLOCK)
		scan_around_blocks(crew, worker, piece->start, piece->end);
	else
		scan_memory(&worker->scan, piece->start, piece->end, piece->holder,
			    piece->end - piece->start);
	scan_flush(&worker->scan);
}

static void work(void *arg, size_t number)
{
	struct crew *crew = arg;
	struct worker *worker = &crew->workers[number];

	while (!failed(crew, worker)) {
		size_t at = __atomic_fetch_add(&crew->next_piece, 1, __ATOMIC_RELAXED);

		if (at >= crew->pieces.cnt)
			break;
		scan_piece(crew, worker, &crew->pieces.items[at]);
	}
	while (!failed(crew, worker)) {
		size_t at = __atomic_fetch_add(&crew->next_reached, SHARE, __ATOMIC_RELAXED);

		if (at >= crew->reached.cnt)
			break;
		follow_all(crew, worker, crew->reached.blocks + at,
			   crew->reached.cnt - at < SHARE ? crew->reached.cnt - at : SHARE);
	}
}

static int order_blocks(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return ORDER(*x, *y);
}

/*
 * Sorts the reached blocks by address: a few with qsort(), many with a bitmap of all blocks.
 * Returns 0 or -ENOMEM.
 */
static int sort_reached(const struct crew *crew, struct reached_blocks *reached)
{
	size_t word_cnt = crew->index->cnt / 64 + 1, cnt = 0;
	uint64_t *bits;

	if (reached->cnt < word_cnt) {
		if (reached->cnt > 1)
			qsort(reached->blocks, reached->cnt, sizeof(*reached->blocks),
			      order_blocks);
		return 0;
	}
	bits = calloc(word_cnt, sizeof(*bits));
	if (!bits)
		return -ENOMEM;
	for (size_t i = 0; i < reached->cnt; i++)
		bits[reached->blocks[i] / 64] |= 1ULL << reached->blocks[i] % 64;
	for (size_t i = 0; i < word_cnt; i++)
		for (uint64_t left = bits[i]; left; left &= left - 1)
			reached->blocks[cnt++] = (uint32_t)(i * 64 + (size_t)__builtin_ctzll(left));
	free(bits);
	return 0;
}

/* Collects the blocks and pieces that the workers reached. They are the work of the next round. */
static int gather(struct crew *crew)
{
	crew->pieces.cnt = crew->reached.cnt = 0;
	crew->next_piece = crew->next_reached = 0;
	for (size_t i = 0; i < crew->worker_cnt; i++) {
		struct worker *worker = &crew->workers[i];
		struct pieces *pieces = &worker->pieces;
		struct reached_blocks *reached = &worker->reached;

		if (worker->err)
			return worker->err;
		if (array_reserve(&crew->pieces.items, &crew->pieces.cap,
				  crew->pieces.cnt + pieces->cnt) ||
		    array_reserve(&crew->reached.blocks, &crew->reached.cap,
				  crew->reached.cnt + reached->cnt))
			return -ENOMEM;
		if (pieces->cnt)
			memcpy(crew->pieces.items + crew->pieces.cnt, pieces->items,
			       pieces->cnt * sizeof(*pieces->items));
		if (reached->cnt)
			memcpy(crew->reached.blocks + crew->reached.cnt, reached->blocks,
			       reached->cnt * sizeof(*reached->blocks));
		crew->pieces.cnt += pieces->cnt;
		crew->reached.cnt += reached->cnt;
		pieces->cnt = reached->cnt = 0;
	}
	return crew->stopped ? -ECANCELED : sort_reached(crew, &crew->reached);
}

static bool is_narrow(const struct crew *crew)
{
	return crew->reached.cnt < ROUND_MIN && !crew->pieces.cnt;
}

/*
 * Runs rounds with one worker until a round is large, or nothing new is reached. In small rounds,
 * several threads would mostly wait for each other.
 */
static int follow_alone(struct crew *crew)
{
	struct worker *worker = &crew->workers[0];
	int err = 0;

	for (size_t i = 0; !err && is_narrow(crew) && crew->reached.cnt && !worker->pieces.cnt;
	     i++) {
		struct reached_blocks reached = crew->reached;

		if (i % SHARE == 0 && failed(crew, worker))
			return 0;
		for (size_t at = 0; at < reached.cnt; at += SHARE)
			follow_all(crew, worker, reached.blocks + at,
				   reached.cnt - at < SHARE ? reached.cnt - at : SHARE);
		crew->reached = worker->reached;
		reached.cnt = 0;
		worker->reached = reached;
		err = sort_reached(crew, &crew->reached);
	}
	return err;
}

/* Runs rounds until nothing new is reached. */
static int run_rounds(struct crew *crew)
{
	for (;;) {
		int err = gather(crew);

		if (err || (!crew->reached.cnt && !crew->pieces.cnt))
			return err;
		err = follow_alone(crew);
		if (err)
			return err;
		if (crew->reached.cnt || crew->pieces.cnt)
			parallel_run(is_narrow(crew) ? 1 : crew->worker_cnt, work, crew);
	}
}

/*
 * Splits ranges of root memory into pieces, and adds these to the work of the next round. Pieces of
 * code overlap by seven bytes, because pointers in code may be at any byte.
 */
static int add_ranges(struct crew *crew, const struct root_range *ranges, size_t cnt, bool is_code)
{
	struct pieces *pieces = &crew->workers[0].pieces;

	for (size_t i = 0; i < cnt; i++) {
		uint64_t end = ranges[i].end;

		for (uint64_t at = ranges[i].start; at < end; at += PIECE_BYTES) {
			uint64_t most = PIECE_BYTES + (is_code ? WORD - 1 : 0);
			uint64_t piece_end = end - at < most ? end : at + most;

			if (array_reserve(&pieces->items, &pieces->cap, pieces->cnt + 1))
				return -ENOMEM;
			pieces->items[pieces->cnt++] =
				(struct piece){at, piece_end, NO_BLOCK, is_code};
		}
	}
	return 0;
}

static int add_roots(struct crew *crew)
{
	const struct roots *roots = &crew->request->roots;
	int err;

	for (size_t i = 0; i < roots->words_cnt; i++) {
		const struct root_words *words = &roots->words[i];

		for (size_t j = 0; j < words->cnt; j++)
			scan_word(&crew->workers[0].scan, words->words[j], HOLDER_IS_WORD | i);
	}
	scan_flush(&crew->workers[0].scan);
	err = add_ranges(crew, roots->ranges, roots->range_cnt, false);
	return err ? err : add_ranges(crew, roots->code_ranges, roots->code_range_cnt, true);
}

static int add_late_roots(struct crew *crew)
{
	const struct roots *roots = &crew->request->roots;

	for (uint32_t i = 0; i < crew->index->cnt; i++) {
		if (heap_block_is_judged(&crew->index->blocks[i]) ||
		    crew->reached_as[i] == REACHED_REACHABLE)
			continue;
		crew->reached_as[i] = REACHED_REACHABLE;
		push(crew, &crew->workers[0], i);
	}
	return add_ranges(crew, roots->late_ranges, roots->late_range_cnt, false);
}

/*
 * Begins the second pass, once all reachable blocks are known: queues the blocks that were reached
 * only by interior pointers.
 */
static void add_possible(struct crew *crew)
{
	crew->pass = REACHED_POSSIBLE;
	for (uint32_t i = 0; i < crew->index->cnt; i++) {
		if (crew->reached_as[i] != REACHED_INSIDE)
			continue;
		crew->reached_as[i] = REACHED_POSSIBLE;
		push(crew, &crew->workers[0], i);
	}
}

static int crew_init(struct crew *crew)
{
	size_t cnt = crew->index->cnt;
	int err = 0;

	crew->reached_as = malloc(cnt + 1);
	crew->holders = malloc((cnt + 1) * sizeof(*crew->holders));
	crew->slots = malloc((2 * cnt + 1) * sizeof(*crew->slots));
	crew->workers = calloc(crew->worker_cnt, sizeof(*crew->workers));
	if (!crew->reached_as || !crew->holders || !crew->slots || !crew->workers)
		return -ENOMEM;
	huge_pages_use(crew->reached_as, cnt + 1);
	huge_pages_use(crew->holders, cnt * sizeof(*crew->holders));
	memset(crew->reached_as, REACHED_NOT, cnt + 1);
	memset(crew->holders, 0xff, (cnt + 1) * sizeof(*crew->holders));
	for (size_t i = 0; !err && i < crew->worker_cnt; i++) {
		struct worker *worker = &crew->workers[i];

		worker->crew = crew;
		err = scan_init(crew->request->memory, crew->index, found, worker, &worker->scan);
	}
	return err;
}

static void crew_deinit(struct crew *crew)
{
	for (size_t i = 0; crew->workers && i < crew->worker_cnt; i++) {
		struct worker *worker = &crew->workers[i];

		scan_deinit(&worker->scan);
		free(worker->reached.blocks);
		free(worker->pieces.items);
	}
	free(crew->workers);
	free(crew->pieces.items);
	free(crew->reached.blocks);
	links_deinit(&crew->links);
	free(crew->reached_as);
	free(crew->holders);
	free(crew->slots);
}

static void give_marks(struct crew *crew, struct marks *ret)
{
	*ret = (struct marks){
		.kinds = crew->reached_as,
		.holders = crew->holders,
		.slots = crew->slots,
		.scanned_bytes = crew->links.read_bytes,
	};
	for (size_t i = 0; i < crew->worker_cnt; i++)
		ret->scanned_bytes += crew->workers[i].scan.window.read_bytes;
	for (uint32_t i = 0; i < crew->index->cnt; i++)
		ret->kinds[i] = crew->reached_as[i] == REACHED_REACHABLE  ? MARK_REACHABLE
				: crew->reached_as[i] == REACHED_POSSIBLE ? MARK_POSSIBLE
									  : MARK_DEFINITE;
	crew->reached_as = NULL;
	crew->holders = NULL;
	crew->slots = NULL;
}

int marking_run(const struct marking_request *request, struct marks *ret)
{
	struct crew crew = {
		.request = request,
		.index = request->index,
		.pass = REACHED_REACHABLE,
		.worker_cnt = request->worker_cnt ? request->worker_cnt : 1,
	};
	const struct links_request links = {
		.memory = request->memory,
		.index = request->index,
		.worker_cnt = crew.worker_cnt,
		.stop = request->stop,
		.arg = request->arg,
	};
	int err = links_init(&links, &crew.links);

	if (!err)
		err = crew_init(&crew);
	if (!err)
		err = add_roots(&crew);
	if (!err)
		err = run_rounds(&crew);
	if (!err)
		err = add_late_roots(&crew);
	if (!err)
		err = run_rounds(&crew);
	if (!err)
		add_possible(&crew);
	if (!err)
		err = run_rounds(&crew);
	if (!err) {
		give_marks(&crew, ret);
		err = lost_blocks_sort_out(request->memory, request->index, &crew.links, ret);
		if (err)
			marks_deinit(ret);
	}
	crew_deinit(&crew);
	return err;
}
