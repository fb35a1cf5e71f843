// SPDX-License-Identifier: GPL-2.0-or-later
/* Follows chains of holders up to roots. */
#include "proof/holders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/order.h"
#include "base/proc.h"
#include "proof/frame_finder.h"
#include "proof/python_variable.h"
#include "proof/retrace.h"
#include "proof/root_kind.h"

/*
 * Holders are found for the SITES_MOST sites with the most bytes, and for the SITES_MOST sites that
 * grew most.
 */
#define SITES_MOST 64
/*
 * LINKS_MOST: maximum number of holders shown per chain. STEPS_MOST: maximum number of blocks to
 * follow from a block to the root of its chain.
 */
#define LINKS_MOST 32
#define STEPS_MOST 1000000

/*
 * Boyer-Moore majority vote among the blocks of a site: finds the holder of more than half of the
 * blocks, else any holder.
 */
struct vote {
	uint64_t holder; /* the holder that leads, as returned by vote_of() */
	uint32_t block;  /* a block that has this holder */
	uint32_t lead;
	bool is_cast;   /* true if at least one block has voted */
	bool is_chosen; /* true if a chain of holders is reported for this site */
};

struct holders {
	const struct heap_proof *proof;
	const struct heap_picture *picture;
	const struct snapshot *snap;
	struct vote *votes; /* one vote for each site */
	const uint64_t *before;
	struct retrace retrace;
};

#define ROOT_FLAG (1ULL << 63)

/* Returns a key for the holder of a block: the holder's site, or the root slot with ROOT_FLAG. */
static uint64_t vote_of(const struct holders *holders, uint32_t block)
{
	const struct marks *marks = &holders->proof->marks;
	uint32_t holder = marks->holders[block];

	if (holder & MARKS_SLOT)
		return ROOT_FLAG | marks->slots[holder & ~MARKS_SLOT];
	/* For an unjudged holder, this value includes the flag HEAP_BLOCK_UNJUDGED. */
	return holders->proof->blocks[holder].site;
}

static void vote(struct holders *holders)
{
	for (uint32_t i = 0; i < holders->proof->cnt; i++) {
		const struct heap_block *block = &holders->proof->blocks[i];
		struct vote *vote;
		uint64_t holder;

		if (!heap_block_is_judged(block) ||
		    holders->proof->marks.kinds[i] != MARK_REACHABLE ||
		    holders->proof->marks.holders[i] == NO_BLOCK)
			continue;
		vote = &holders->votes[block->site];
		holder = vote_of(holders, i);
		if (vote->lead && vote->holder != holder) {
			vote->lead--;
			continue;
		}
		if (!vote->lead)
			*vote = (struct vote){.holder = holder, .block = i, .is_cast = true};
		vote->lead++;
	}
}

/*
 * Describes a slot on a thread's stack. Finding its frame requires unwinding the stack, so
 * frame_finder_find() does this only for few slots.
 */
static int describe_stack(const struct holders *holders, const struct thread_state *thread,
			  struct arena *arena, struct holder *ret)
{
	const struct heap_picture *picture = holders->picture;
	cleanup_free char *comm = picture->pid ? proc_thread_comm(picture->pid, thread->tid) : NULL;

	ret->tid = thread->tid;
	if (picture->frames)
		ret->code = frame_finder_find(picture->frames, picture, thread, ret->addr);
	if (!comm)
		return 0;
	ret->path = arena_copy(arena, comm, strlen(comm) + 1);
	return ret->path ? 0 : -ENOMEM;
}

static int describe_place(const struct holders *holders, uint64_t addr, struct arena *arena,
			  struct holder *ret)
{
	const struct mapping *mapping = proc_maps_find(&holders->picture->memory->maps, addr);
	const struct mapping *file = mapping ? root_file(holders->picture, mapping) : NULL;
	const char *path = file ? file->path : mapping && *mapping->path ? mapping->path : NULL;

	*ret = (struct holder){.kind = root_kind(holders->picture, addr), .addr = addr};
	if (ret->kind == HOLDER_STACK)
		return describe_stack(holders, root_thread(holders->picture, mapping), arena, ret);
	if (!path)
		return 0;
	ret->path = arena_copy(arena, path, strlen(path) + 1);
	return ret->path ? 0 : -ENOMEM;
}

/*
 * Writes the name of the Python variable or attribute that contains the pointer at `slot`. place:
 * as in struct chain, may be NULL. False if there is no name.
 */
static bool script_name(const struct heap_picture *picture, const struct retrace_place *place,
			uint64_t slot, char ret[2 * PYTHON_NAME_BYTES])
{
	if (!picture->is_python || slot & HOLDER_IS_WORD)
		return false;
	return python_variable(picture->memory, slot, ret) ||
	       (place && python_attribute(picture->memory, place->addr,
					  place->sights[SIGHT_MEMORY].target, slot, ret));
}

static int describe_root(const struct holders *holders, const struct retrace_place *place,
			 uint64_t slot, struct arena *arena, struct holder *ret)
{
	const struct thread_states *threads = holders->picture->threads;
	uint64_t number = slot & ~HOLDER_IS_WORD;
	char name[2 * PYTHON_NAME_BYTES];

	if (script_name(holders->picture, place, slot, name)) {
		*ret = (struct holder){.kind = HOLDER_SCRIPT,
				       .addr = slot,
				       .path = arena_copy(arena, name, strlen(name) + 1)};
		return ret->path ? 0 : -ENOMEM;
	}
	if (!(slot & HOLDER_IS_WORD))
		return describe_place(holders, slot, arena, ret);
	*ret = (struct holder){.kind = HOLDER_KERNEL};
	if (number < threads->cnt) {
		ret->kind = HOLDER_REGISTER;
		ret->tid = threads->items[number].tid;
	}
	return 0;
}

/* The holder of a block, the holder of this holder, and so on up to the root. */
struct chain {
	struct holder links[LINKS_MOST];
	size_t cnt;
	/* known block nearest to the root: the last one that follow() reached */
	const struct heap_block *top;
	/* root slot with the pointer to the last block of the chain; 0 if unknown */
	uint64_t slot;
	bool is_likely; /* true if retrace_run() has inferred some holders of the chain */
	/* place (retrace.h) from which retrace_run() found `slot`; NULL if found without it */
	const struct retrace_place *place;
};

/* Adds a block, or NO_BLOCK for an unknown one. False if the chain is full. */
static bool add_block(const struct holders *holders, struct chain *chain, uint32_t block)
{
	struct holder *last = chain->cnt ? &chain->links[chain->cnt - 1] : NULL;
	uint32_t number = block == NO_BLOCK ? HEAP_BLOCK_NO_SITE
					    : heap_block_site(&holders->proof->blocks[block]);
	const struct site *site =
		number == HEAP_BLOCK_NO_SITE ? NULL : &holders->snap->sites[number];

	if (last && last->site == site) {
		last->repeats++;
		return true;
	}
	/* Leave room for the root. */
	if (chain->cnt == LINKS_MOST - 1)
		return false;
	chain->links[chain->cnt++] =
		(struct holder){.kind = HOLDER_BLOCK, .site = site, .repeats = 1};
	return true;
}

/* Adds the holders of a block up to a root to the chain. False if the chain is too long. */
static bool follow(const struct holders *holders, uint32_t block, struct chain *chain)
{
	const struct marks *marks = &holders->proof->marks;

	for (size_t steps = 0; steps < STEPS_MOST; steps++) {
		uint32_t holder = marks->holders[block];

		chain->top = &holders->proof->blocks[block];
		if (holder == NO_BLOCK || holder & MARKS_SLOT) {
			chain->slot = holder == NO_BLOCK ? 0 : marks->slots[holder & ~MARKS_SLOT];
			return true;
		}
		if (!add_block(holders, chain, holder))
			return false;
		block = holder;
	}
	return false;
}

/*
 * Extends a chain to a root that identifies an owner, if retrace_run() found a way there. Adds each
 * block on the way. Except in a Python script, retrace_run() skips from a known block to the last
 * block in its chain of holders, so this function also adds the blocks in between.
 */
static void follow_places(const struct holders *holders, struct chain *chain)
{
	const struct heap_proof *proof = holders->proof;
	const struct retrace_place *place =
		retrace_find(&holders->retrace, chain->top, chain->slot);
	struct chain longer = *chain;

	longer.is_likely = true;
	for (; place; place = retrace_next(&holders->retrace, place)) {
		uint32_t block = heap_proof_find(proof, place->slot);

		if (!place->is_begin &&
		    !add_block(holders, &longer, heap_proof_find(proof, place->addr)))
			return;
		longer.slot = place->slot;
		longer.place = place;
		if (block != NO_BLOCK && !holders->picture->is_python &&
		    (!add_block(holders, &longer, block) || !follow(holders, block, &longer)))
			return;
		*chain = longer;
	}
}

static int fill_site(const struct holders *holders, struct snapshot *snap, size_t site)
{
	struct site_reach *reach = &snap->sites[site].reach;
	struct chain chain = {0};
	struct holder *links, *root;
	int err;

	if (holders->picture->is_python) {
		chain.top = &holders->proof->blocks[holders->votes[site].block];
		follow_places(holders, &chain);
	}
	if (!chain.slot && !follow(holders, holders->votes[site].block, &chain))
		return 0;
	if (!holders->picture->is_python)
		follow_places(holders, &chain);
	if (!chain.slot)
		return 0;
	root = &chain.links[chain.cnt++];
	err = describe_root(holders, chain.place, chain.slot, &snap->arena, root);
	root->is_likely = chain.is_likely;
	links = arena_take(&snap->arena, chain.cnt * sizeof(*links));
	if (err || !links)
		return -ENOMEM;
	for (size_t i = 0; i < chain.cnt; i++)
		links[i] = chain.links[chain.cnt - 1 - i];
	reach->held_by = links;
	reach->held_by_cnt = chain.cnt;
	return 0;
}

static int64_t growth_of(const struct holders *holders, size_t site)
{
	uint64_t now = holders->snap->sites[site].reach.of[REACH_REACHABLE].count;

	return holders->before ? (int64_t)(now - holders->before[site]) : 0;
}

static int by_bytes(const void *left, const void *right, void *arg)
{
	const struct holders *holders = arg;
	const struct site *a = &holders->snap->sites[*(const size_t *)left];
	const struct site *b = &holders->snap->sites[*(const size_t *)right];

	return ORDER(b->reach.of[REACH_REACHABLE].bytes, a->reach.of[REACH_REACHABLE].bytes);
}

static int by_growth(const void *left, const void *right, void *arg)
{
	const struct holders *holders = arg;

	return ORDER(growth_of(holders, *(const size_t *)right),
		     growth_of(holders, *(const size_t *)left));
}

/*
 * Sorts the sites with `order`, and chooses the first SITES_MOST of them. For each, adds the places
 * from which retrace_run() searches. In a Python process, the search begins at a block of the site,
 * because each object on the way to the root may have a name. In other processes, it begins at the
 * last block in the chain of holders of a block of the site, but only if the pointer to this last
 * block is in memory that does not identify an owner.
 */
static int choose_first(struct holders *holders, size_t *sites, size_t cnt,
			int (*order)(const void *left, const void *right, void *arg))
{
	int err = 0;

	qsort_r(sites, cnt, sizeof(*sites), order, holders);
	for (size_t i = 0; !err && i < cnt && i < SITES_MOST; i++) {
		struct vote *vote = &holders->votes[sites[i]];
		uint32_t top;
		uint64_t slot;

		vote->is_chosen = true;
		if (holders->picture->is_python)
			err = retrace_add(&holders->retrace, &holders->proof->blocks[vote->block],
					  0);
		else if (heap_proof_top_of(holders->proof, vote->block, &top, &slot) &&
			 !(slot & HOLDER_IS_WORD) &&
			 root_hint(holders->picture, slot) != ROOT_HINT_GOOD)
			err = retrace_add(&holders->retrace, &holders->proof->blocks[top], slot);
	}
	return err;
}

/*
 * True if at least as many blocks of the site are reachable as are lost. If fewer are reachable,
 * their holders are irrelevant.
 */
static bool is_held(const struct site_reach *reach)
{
	return reach->of[REACH_REACHABLE].count >=
	       reach->of[REACH_DEFINITE].count + reach->of[REACH_INDIRECT].count;
}

static int choose(struct holders *holders)
{
	cleanup_free size_t *sites = calloc(holders->snap->site_cnt + 1, sizeof(*sites));
	size_t cnt = 0;
	int err;

	if (!sites)
		return -ENOMEM;
	for (size_t i = 0; i < holders->snap->site_cnt; i++)
		if (holders->votes[i].is_cast && is_held(&holders->snap->sites[i].reach))
			sites[cnt++] = i;
	err = choose_first(holders, sites, cnt, by_bytes);
	return err || !holders->before ? err : choose_first(holders, sites, cnt, by_growth);
}

int holders_search(const struct heap_proof *proof, const struct heap_picture *picture,
		   const uint64_t *before, const struct snapshot *snap, struct holders **ret)
{
	struct holders *holders = calloc(1, sizeof(*holders));
	int err;

	if (!holders)
		return -ENOMEM;
	*holders = (struct holders){
		.proof = proof,
		.picture = picture,
		.snap = snap,
		.before = before,
		.votes = calloc(snap->site_cnt + 1, sizeof(*holders->votes)),
	};
	err = holders->votes ? 0 : -ENOMEM;
	if (!err) {
		vote(holders);
		err = choose(holders);
	}
	if (!err)
		err = retrace_run(&holders->retrace, proof, picture);
	if (err)
		holders_free(holders);
	else
		*ret = holders;
	return err;
}

int holders_fill(const struct holders *holders, struct snapshot *snap)
{
	int err = 0;

	for (size_t i = 0; !err && i < snap->site_cnt; i++)
		if (holders->votes[i].is_chosen)
			err = fill_site(holders, snap, i);
	return err;
}

void holders_free(struct holders *holders)
{
	if (!holders)
		return;
	retrace_deinit(&holders->retrace);
	free(holders->votes);
	free(holders);
}
