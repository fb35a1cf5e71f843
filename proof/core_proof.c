// SPDX-License-Identifier: GPL-2.0-or-later
/* Marks the heap of a core, and adds up the blocks of each site by reachability. */
#include "proof/core_proof.h"

#include <errno.h>

#include "proof/hanging_sums.h"
#include "proof/heap_proof.h"
#include "proof/holders.h"
#include "proof/root_kind.h"

static const enum reach kinds[MARK_CNT] = {
	[MARK_DEFINITE] = REACH_DEFINITE,
	[MARK_INDIRECT] = REACH_INDIRECT,
	[MARK_POSSIBLE] = REACH_POSSIBLE,
	[MARK_REACHABLE] = REACH_REACHABLE,
};

static void add_to(struct reach_sum *sum, uint64_t bytes)
{
	sum->bytes += bytes;
	sum->count++;
}

static int add_blocks(const struct heap_proof *proof, struct snapshot *snap,
		      struct proof_facts *facts)
{
	struct hanging_sums hanging = {0};
	int err = 0;

	for (uint32_t i = 0; !err && i < proof->cnt; i++) {
		const struct heap_block *block = &proof->blocks[i], *head;
		struct site_reach *reach = &snap->sites[block->site].reach;
		enum mark mark = proof->marks.kinds[i];

		reach->proved = true;
		add_to(&reach->of[kinds[mark]], block->size);
		add_to(&facts->of[kinds[mark]], block->size);
		if (mark == MARK_DEFINITE) {
			add_to(&reach->lost, block->size);
		} else if (mark == MARK_INDIRECT) {
			head = &proof->blocks[proof->marks.holders[i]];
			add_to(&snap->sites[head->site].reach.hanging, block->size);
			err = hanging_sums_add(&hanging, head->site, block->site, block->size);
		}
	}
	if (!err)
		err = hanging_sums_fill(&hanging, snap);
	hanging_sums_deinit(&hanging);
	return err;
}

int core_proof_fill(const struct core_file *core, struct heap *heap, marking_stop_fn *stop,
		    void *arg, struct snapshot *snap)
{
	const struct heap_picture picture = {.memory = &core->memory,
					     .threads = &core->notes.threads,
					     .is_python = root_is_python(&core->memory.maps)};
	struct proof_facts facts = {.method = PROOF_CORE, .pictures = 1, .processes = 1};
	struct holders *holders;
	struct heap_proof proof;
	int err = heap_proof_init(&picture, heap, stop, arg, &proof);

	if (err)
		return err;
	err = add_blocks(&proof, snap, &facts);
	facts.scanned_bytes = proof.scanned_bytes;
	if (!err)
		err = holders_search(&proof, &picture, NULL, snap, &holders);
	if (!err) {
		err = holders_fill(holders, snap);
		holders_free(holders);
	}
	heap_proof_deinit(&proof);
	if (!err) {
		snap->proof = arena_copy(&snap->arena, &facts, sizeof(facts));
		err = snap->proof ? 0 : -ENOMEM;
	}
	for (size_t i = 0; err && i < snap->site_cnt; i++)
		snap->sites[i].reach = (struct site_reach){0};
	return err;
}
