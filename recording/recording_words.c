// SPDX-License-Identifier: GPL-2.0-or-later
/* Snapshots, sites and summaries as words, and back: the two directions side by side. */
#include <math.h>
#include <string.h>

#include "recording/recording_parts.h"

static uint64_t word_of(double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

static double double_of(uint64_t word)
{
	double value;

	memcpy(&value, &word, sizeof(value));
	return value;
}

static void figures_words(const struct figures *figures, uint64_t *word)
{
	*word++ = figures->known;
	*word++ = figures->calls;
	*word++ = figures->failed;
	*word++ = figures->walked;
	*word++ = figures->recalled;
	*word++ = figures->checked;
	*word++ = figures->disagreed;
	*word++ = figures->stored;
	for (size_t i = 0; i < MEMLEAK_SHAPE_CNT; i++)
		*word++ = figures->calls_of[i];
	for (size_t i = 0; i < TABLE_CNT; i++) {
		*word++ = figures->fills[i].used;
		*word++ = figures->fills[i].size;
	}
}

static void figures_from(const struct recording_header *header, const uint64_t *word,
			 struct figures *figures)
{
	figures->known = *word++ != 0;
	figures->calls = *word++;
	figures->failed = *word++;
	figures->walked = *word++;
	figures->recalled = *word++;
	figures->checked = *word++;
	figures->disagreed = *word++;
	figures->stored = *word++;
	for (size_t i = 0; i < header->shape_cnt; i++)
		figures->calls_of[i] = *word++;
	for (size_t i = 0; i < header->table_cnt; i++) {
		figures->fills[i].used = *word++;
		figures->fills[i].size = *word++;
	}
}

void recording_snapshot_words(const struct recording_header *header, const struct snapshot *snap,
			      bool final, uint64_t *words)
{
	const uint64_t head[HEAD_WORDS] = {
		(uint64_t)snap->wall_ns,
		snap->t0_ns,
		snap->walk_ns,
		snap->elapsed_ns,
		snap->sampling.mode,
		snap->sampling.rate,
		snap->calls,
		snap->replaced,
		snap->gone_with_page,
		final,
		snap->baseline_ns,
	};

	memcpy(words, head, sizeof(head));
	words += HEAD_WORDS;
	memcpy(words, snap->lost, sizeof(snap->lost));
	words += header->lost_cnt;
	for (size_t i = 0; i < SPACE_CNT; i++, words += FIGURE_WORDS(header))
		figures_words(&snap->figures[i], words);
}

void recording_snapshot_from(const struct recording_header *header, const uint64_t *words,
			     struct snapshot *snap, bool *final)
{
	snap->wall_ns = (int64_t)words[0];
	snap->t0_ns = words[1];
	snap->walk_ns = words[2];
	snap->elapsed_ns = words[3];
	if (words[4] <= SAMPLING_BYTES)
		snap->sampling.mode = (enum sampling_mode)words[4];
	snap->sampling.rate = words[5];
	snap->calls = words[6];
	snap->replaced = words[7];
	snap->gone_with_page = words[8];
	*final = words[9] != 0;
	snap->baseline_ns = words[10];
	words += HEAD_WORDS;
	memcpy(snap->lost, words, header->lost_cnt * sizeof(*words));
	words += header->lost_cnt;
	for (size_t i = 0; i < SPACE_CNT; i++, words += FIGURE_WORDS(header))
		figures_from(header, words, &snap->figures[i]);
}

enum {
	MARK_SEVERAL_PIDS = 1 << 0,
	MARK_INTERRUPT = 1 << 1,
	MARK_SEVERAL_CACHES = 1 << 2,
	MARK_RECLAIMABLE = 1 << 3,
};

static uint64_t marks_of(const struct site_origin *origin)
{
	return (origin->several_pids ? MARK_SEVERAL_PIDS : 0) |
	       (origin->interrupt ? MARK_INTERRUPT : 0) |
	       (origin->several_caches ? MARK_SEVERAL_CACHES : 0) |
	       (origin->reclaimable ? MARK_RECLAIMABLE : 0);
}

void recording_site_words(const struct site *site, uint64_t t0_ns, uint64_t *words)
{
	const struct block *largest = &site->largest;

	words[SITE_PRESENT] = 1;
	words[SITE_BYTES] = site->bytes;
	words[SITE_COUNT] = site->count;
	words[SITE_BYTES_VARIANCE] = word_of(site->bytes_variance);
	words[SITE_COUNT_VARIANCE] = word_of(site->count_variance);
	words[SITE_INHERITED_BYTES] = site->inherited_bytes;
	words[SITE_INHERITED_COUNT] = site->inherited_count;
	words[SITE_OLDEST] = birth_of(t0_ns, site->oldest_ns);
	words[SITE_NEWEST] = birth_of(t0_ns, site->newest_ns);
	if (largest->addr) {
		words[SITE_LARGEST_ADDR] = largest->addr;
		words[SITE_LARGEST_SIZE] = largest->size;
		words[SITE_LARGEST_SAMPLED_SIZE] = largest->sampled_size;
		words[SITE_LARGEST_BIRTH] = birth_of(t0_ns, largest->age_ns);
		words[SITE_LARGEST_TID] = (uint64_t)largest->tid;
		words[SITE_LARGEST_INHERITED] = largest->inherited;
	}
	words[SITE_LAST_PID] = (uint64_t)site->origin.last_pid;
	words[SITE_MARKS] = marks_of(&site->origin);
	for (size_t i = 0; i < AGE_CLASS_CNT; i++) {
		words[SITE_AGES + 3 * i] = site->ages.bytes[i];
		words[SITE_AGES + 3 * i + 1] = site->ages.count[i];
		words[SITE_AGES + 3 * i + 2] = site->kept[i];
	}
}

void recording_site_from(const uint64_t *words, uint64_t t0_ns, struct site *site)
{
	site->bytes = words[SITE_BYTES];
	site->count = words[SITE_COUNT];
	site->bytes_variance = double_of(words[SITE_BYTES_VARIANCE]);
	site->count_variance = double_of(words[SITE_COUNT_VARIANCE]);
	site->inherited_bytes = words[SITE_INHERITED_BYTES];
	site->inherited_count = words[SITE_INHERITED_COUNT];
	site->oldest_ns = age_of(t0_ns, words[SITE_OLDEST]);
	site->newest_ns = age_of(t0_ns, words[SITE_NEWEST]);
	if (words[SITE_LARGEST_ADDR])
		site->largest = (struct block){
			.addr = words[SITE_LARGEST_ADDR],
			.size = words[SITE_LARGEST_SIZE],
			.sampled_size = words[SITE_LARGEST_SAMPLED_SIZE],
			.age_ns = age_of(t0_ns, words[SITE_LARGEST_BIRTH]),
			.tid = (pid_t)words[SITE_LARGEST_TID],
			.inherited = words[SITE_LARGEST_INHERITED] != 0,
		};
	site->origin.last_pid = (pid_t)words[SITE_LAST_PID];
	site->origin.several_pids = words[SITE_MARKS] & MARK_SEVERAL_PIDS;
	site->origin.interrupt = words[SITE_MARKS] & MARK_INTERRUPT;
	site->origin.several_caches = words[SITE_MARKS] & MARK_SEVERAL_CACHES;
	site->origin.reclaimable = words[SITE_MARKS] & MARK_RECLAIMABLE;
	for (size_t i = 0; i < AGE_CLASS_CNT; i++) {
		site->ages.bytes[i] = words[SITE_AGES + 3 * i];
		site->ages.count[i] = (uint32_t)words[SITE_AGES + 3 * i + 1];
		site->kept[i] = (uint32_t)words[SITE_AGES + 3 * i + 2];
	}
}

void recording_summary_words(const struct process_summary *summary, uint64_t *words)
{
	*words++ = summary->allocated;
	*words++ = summary->freed;
	*words++ = summary->outstanding;
	*words++ = summary->peak;
	*words++ = summary->largest;
	*words++ = summary->calls;
	memcpy(words, summary->calls_of, sizeof(summary->calls_of));
}

void recording_summary_from(const struct recording_header *header, const uint64_t *words,
			    struct process_summary *summary)
{
	summary->allocated = *words++;
	summary->freed = *words++;
	summary->outstanding = *words++;
	summary->peak = *words++;
	summary->largest = *words++;
	summary->calls = *words++;
	memcpy(summary->calls_of, words, header->shape_cnt * sizeof(*words));
}
