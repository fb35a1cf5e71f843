// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions for snapshots from any source. */
#include "report/snapshot.h"

#include <stdlib.h>
#include <string.h>

#define NSEC_PER_MSEC 1000000ULL

bool site_is_memory(const struct site *site)
{
	return site->count && site->kind != KIND_RESERVE && site->kind != KIND_STACK;
}

/*
 * With SAMPLING_COUNT, the factor is a whole number, so the sums are products of integers, which
 * are exact up to 64 bits.
 */
void site_set_sums(struct site *site, const struct sampling *sampling, uint64_t bytes,
		   uint64_t count, const struct estimate *estimate)
{
	uint64_t scale = sampling->mode == SAMPLING_COUNT ? sampling->rate : 1;

	site->bytes = bytes * scale;
	site->count = count * scale;
	if (sampling->mode == SAMPLING_BYTES || sampling->mode == SAMPLING_STEPS) {
		site->bytes = estimate_rounded(estimate->bytes);
		site->count = estimate_rounded(estimate->count);
	}
	site->bytes_variance = estimate->bytes_variance;
	site->count_variance = estimate->count_variance;
}

void site_set_inherited(struct site *site, const struct sampling *sampling,
			const struct part *inherited)
{
	struct site sums;

	site_set_sums(&sums, sampling, inherited->bytes, inherited->count, &inherited->estimate);
	site->inherited_bytes = sums.bytes;
	site->inherited_count = sums.count;
}

static void reach_sum_add(struct reach_sum *sum, const struct reach_sum *part)
{
	sum->bytes += part->bytes;
	sum->count += part->count;
}

/* Adds up the results of a proof. Holders are left out, because they differ from site to site. */
static void reach_add(struct site_reach *sum, const struct site_reach *reach)
{
	for (size_t i = 0; i < REACH_CNT; i++)
		reach_sum_add(&sum->of[i], &reach->of[i]);
	reach_sum_add(&sum->lost, &reach->lost);
	reach_sum_add(&sum->hanging, &reach->hanging);
	sum->lost_per_s += reach->lost_per_s;
	if (reach->lost_for_ns > sum->lost_for_ns)
		sum->lost_for_ns = reach->lost_for_ns;
	sum->proved |= reach->proved;
}

void site_add_sums(struct site *sum, const struct site *site)
{
	sum->bytes += site->bytes;
	sum->count += site->count;
	sum->bytes_variance += site->bytes_variance;
	sum->count_variance += site->count_variance;
	if (site->oldest_ns > sum->oldest_ns)
		sum->oldest_ns = site->oldest_ns;
	if (site->newest_ns < sum->newest_ns)
		sum->newest_ns = site->newest_ns;
	sum->pinned_bytes += site->pinned_bytes;
	sum->births = NULL;
	reach_add(&sum->reach, &site->reach);
}

void site_join(struct site *sum, const struct site *site)
{
	site_add_sums(sum, site);
	ages_join(&sum->ages, &site->ages);
	for (size_t i = 0; i < AGE_CLASS_CNT; i++)
		sum->kept[i] += site->kept[i];
}

void part_add(struct part *part, const struct sampling *sampling, const struct block *block)
{
	part->bytes += block->size;
	part->count++;
	if (sampling->mode)
		estimate_add(&part->estimate, sampling, block->size, block->sampled_size);
}

size_t age_class(uint64_t age_ns)
{
	uint64_t age_ms = age_ns / NSEC_PER_MSEC;
	size_t bits = age_ms ? 64 - (size_t)__builtin_clzll(age_ms) : 0;

	return bits < AGE_CLASS_CNT ? bits : AGE_CLASS_CNT - 1;
}

uint64_t age_class_ns(size_t at)
{
	return at ? NSEC_PER_MSEC << (at - 1) : 0;
}

void ages_add(struct ages *ages, uint64_t age_ns, uint64_t bytes)
{
	ages_add_to(ages, age_class(age_ns), bytes);
}

void ages_add_to(struct ages *ages, size_t class, uint64_t bytes)
{
	ages->bytes[class] += bytes;
	ages->count[class]++;
}

void ages_join(struct ages *ages, const struct ages *part)
{
	for (size_t i = 0; i < AGE_CLASS_CNT; i++) {
		ages->bytes[i] += part->bytes[i];
		ages->count[i] += part->count[i];
	}
}

void block_take_larger(struct block *block, const struct block *other)
{
	bool same = other->size == block->size;

	if (other->size > block->size || !block->addr || (same && other->age_ns > block->age_ns) ||
	    (same && other->age_ns == block->age_ns && other->addr < block->addr))
		*block = *other;
}

bool process_tally_is_living(const struct process_tally *tally)
{
	return tally->footprint.is_known && !tally->ended;
}

size_t snapshot_living(const struct snapshot *snap)
{
	size_t cnt = 0;

	for (size_t i = 0; i < snap->tally_cnt; i++)
		cnt += process_tally_is_living(&snap->tallies[i]);
	return cnt;
}

const struct process_tally *snapshot_only_rss(const struct snapshot *snap)
{
	const struct process_tally *found = NULL;

	for (size_t i = 0; i < snap->tally_cnt; i++) {
		if (!rss_total(&snap->tallies[i].rss))
			continue;
		if (found)
			return NULL;
		found = &snap->tallies[i];
	}
	return snapshot_living(snap) > 1 ? NULL : found;
}

void snapshot_drop_heaps(struct snapshot *snap)
{
	for (size_t i = 0; i < snap->heap_cnt; i++)
		free(snap->heaps[i].blocks);
	free(snap->heaps);
	snap->heaps = NULL;
	snap->heap_cnt = 0;
}

void snapshot_deinit(struct snapshot *snap)
{
	free(snap->sites);
	free(snap->blocks);
	snapshot_drop_heaps(snap);
	free(snap->summaries);
	free(snap->tallies);
	arena_deinit(&snap->arena);
	memset(snap, 0, sizeof(*snap));
}
