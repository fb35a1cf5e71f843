// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes one copy of each object that a snapshot points to, even if many sites point to the object.
 */
#include "report/snapshot_own.h"

#include <errno.h>
#include <string.h>

#include "base/hash_map.h"
#include "report/counts.h"
#include "report/peak.h"

struct copier {
	struct arena *arena;
	struct hash_map copies; /* copies, by the address of the original */
	uint64_t *next_frame;
	bool failed;
};

static void *copy_bytes(struct copier *copier, const void *original, size_t len)
{
	void *copy = arena_copy(copier->arena, original, len);

	copier->failed |= !copy;
	return copy;
}

static void keep_copy(struct copier *copier, const void *original, void *copy)
{
	if (copy && hash_map_set(&copier->copies, (uintptr_t)original, copy))
		copier->failed = true;
}

static char *copy_string(struct copier *copier, const char *text)
{
	char *copy = text ? hash_map_get(&copier->copies, (uintptr_t)text) : NULL;

	if (!text || copy)
		return copy;
	copy = copy_bytes(copier, text, strlen(text) + 1);
	keep_copy(copier, text, copy);
	return copy;
}

static const struct process *copy_process(struct copier *copier, const struct process *process)
{
	struct process *copy = process ? hash_map_get(&copier->copies, (uintptr_t)process) : NULL;

	if (!process || copy)
		return copy;
	copy = copy_bytes(copier, process, sizeof(*process));
	if (!copy)
		return NULL;
	keep_copy(copier, process, copy);
	copy->comm = copy_string(copier, process->comm);
	copy->cgroup = copy_string(copier, process->cgroup);
	return copy;
}

/*
 * Copies a chain of holders. Pointers from holders to sites stay valid, because the snapshot owns
 * its sites.
 */
static const struct holder *copy_chain(struct copier *copier, const struct site_reach *reach)
{
	struct holder *chain;

	if (!reach->held_by_cnt)
		return NULL;
	chain = copy_bytes(copier, reach->held_by, reach->held_by_cnt * sizeof(*chain));
	for (size_t i = 0; chain && i < reach->held_by_cnt; i++) {
		chain[i].path = copy_string(copier, chain[i].path);
		chain[i].words = copy_string(copier, chain[i].words);
	}
	return chain;
}

static void own_sites(struct copier *copier, struct site *sites, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		struct site *site = &sites[i];

		site->process = copy_process(copier, site->process);
		if (site->births)
			site->births = copy_bytes(copier, site->births, sizeof(*site->births));
		site->origin.last_comm = copy_string(copier, site->origin.last_comm);
		site->origin.owner_comm = copy_string(copier, site->origin.owner_comm);
		site->origin.cache = copy_string(copier, site->origin.cache);
		site->reach.held_by = copy_chain(copier, &site->reach);
		if (site->frame_cnt)
			memcpy(copier->next_frame, site->frames,
			       site->frame_cnt * sizeof(*site->frames));
		site->frames = copier->next_frame;
		copier->next_frame += site->frame_cnt;
	}
}

static const struct peak *copy_peak(struct copier *copier, const struct peak *peak)
{
	struct peak *copy = copy_bytes(copier, peak, sizeof(*peak));
	struct site *sites = copy_bytes(copier, peak->sites, peak->site_cnt * sizeof(*sites));

	if (!copy || !sites)
		return NULL;
	own_sites(copier, sites, peak->site_cnt);
	copy->sites = sites;
	copy->arena = (struct arena){0};
	return copy;
}

static const struct counts *copy_counts(struct copier *copier, const struct counts *counts)
{
	struct counts *copy = copy_bytes(copier, counts, sizeof(*counts));
	struct count_row *rows = copy_bytes(copier, counts->rows, counts->cnt * sizeof(*rows));

	if (!copy || !rows)
		return NULL;
	for (size_t i = 0; i < counts->cnt; i++)
		rows[i].name = copy_string(copier, rows[i].name);
	copy->rows = rows;
	return copy;
}

static const struct kernel_growth *copy_growths(struct copier *copier, const struct snapshot *snap)
{
	struct kernel_growth *growths = copy_bytes(copier, snap->kernel_growths,
						   snap->kernel_growth_cnt * sizeof(*growths));

	for (size_t i = 0; growths && i < snap->kernel_growth_cnt; i++)
		growths[i].name = copy_string(copier, growths[i].name);
	return growths;
}

static size_t count_frames(const struct site *sites, size_t cnt)
{
	size_t frames = 0;

	for (size_t i = 0; i < cnt; i++)
		frames += sites[i].frame_cnt;
	return frames;
}

int snapshot_own(struct snapshot *snap)
{
	struct copier copier = {.arena = &snap->arena};
	size_t frame_cnt = count_frames(snap->sites, snap->site_cnt);

	if (snap->peak)
		frame_cnt += count_frames(snap->peak->sites, snap->peak->site_cnt);
	copier.next_frame = arena_take(copier.arena, frame_cnt * sizeof(uint64_t));
	if (!copier.next_frame)
		return -ENOMEM;
	snap->frames = copier.next_frame;
	own_sites(&copier, snap->sites, snap->site_cnt);
	if (snap->peak)
		snap->peak = copy_peak(&copier, snap->peak);
	if (snap->proof)
		snap->proof = copy_bytes(&copier, snap->proof, sizeof(*snap->proof));
	if (snap->hanging)
		snap->hanging = copy_bytes(&copier, snap->hanging,
					   snap->hanging_cnt * sizeof(*snap->hanging));
	if (snap->census)
		snap->census = copy_bytes(&copier, snap->census, sizeof(*snap->census));
	if (snap->python)
		snap->python = copy_bytes(&copier, snap->python, sizeof(*snap->python));
	if (snap->counts)
		snap->counts = copy_counts(&copier, snap->counts);
	if (snap->kernel_growths)
		snap->kernel_growths = copy_growths(&copier, snap);
	for (size_t i = 0; i < snap->summary_cnt; i++)
		snap->summaries[i].process = copy_process(&copier, snap->summaries[i].process);
	for (size_t i = 0; i < snap->tally_cnt; i++)
		snap->tallies[i].process = copy_process(&copier, snap->tallies[i].process);
	hash_map_deinit(&copier.copies);
	return copier.failed ? -ENOMEM : 0;
}
