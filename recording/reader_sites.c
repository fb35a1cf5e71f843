// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the sites of a recording, the changes of their state, their blocks, and the peak. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "recording/reader.h"
#include "report/trend.h"

#define STATE_BYTES_MIN 2
#define BLOCK_BYTES_MIN 6
#define PEAK_SITE_BYTES_MIN 2
#define FRAME_MEMORY (sizeof(uint64_t) + sizeof(struct sym_location *))

static void free_stack(struct recording *recording, struct read_site *site)
{
	recording->memory_left += site->fixed.frame_cnt * FRAME_MEMORY;
	free((void *)site->fixed.frames);
	free(site->locations);
	site->fixed = (struct site){0};
	site->locations = NULL;
}

static void free_blocks(struct recording *recording, struct read_site *site)
{
	recording->memory_left += site->block_cnt * sizeof(*site->blocks);
	free(site->blocks);
	site->blocks = NULL;
	site->block_cnt = 0;
}

static int take_frames(struct recording *recording, struct byte_reader *from, size_t cnt,
		       struct read_site *site)
{
	uint64_t last = 0, *frames;

	if (!recording_take_memory(recording, cnt, FRAME_MEMORY))
		return -EFBIG;
	frames = calloc(cnt + 1, sizeof(*frames));
	site->locations = calloc(cnt + 1, sizeof(*site->locations));
	site->fixed.frames = frames;
	site->fixed.frame_cnt = cnt;
	if (!frames || !site->locations)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		last += (uint64_t)bytes_take_signed(from);
		frames[i] = last;
	}
	return from->failed ? -EBADMSG : 0;
}

/* Finds a site by its number. If the number is the lowest unused one, adds a site. */
static int find_or_add(struct recording *recording, uint64_t number, struct read_site **ret)
{
	if (number == recording->site_cnt) {
		if (!recording_take_memory(recording, 2, sizeof(*recording->sites)))
			return -EFBIG;
		if (array_reserve(&recording->sites, &recording->site_cap, recording->site_cnt + 1))
			return -ENOMEM;
		recording->sites[recording->site_cnt++] = (struct read_site){0};
	}
	*ret = &recording->sites[number];
	return 0;
}

/*
 * True if the number of a site may be given to another site: the old site was never present, or
 * reports no longer remember it. A recording that reuses a number earlier is rejected, so reports
 * never remember more sites than there are numbers.
 */
static bool is_free(const struct recording *recording, const struct read_site *site)
{
	if (site->words[SITE_PRESENT])
		return false;
	return !site->absent_since ||
	       recording->snapshots - site->absent_since >= HISTORY_POINTS_MAX;
}

int recording_take_site(struct recording *recording, struct byte_reader *from)
{
	uint64_t number = bytes_take_below(from, recording->site_cnt + 1);
	struct site fixed = {.id = bytes_take_number(from)};
	struct read_process *process;
	struct read_site *site;
	size_t frame_cnt;
	int err;

	fixed.space = (enum address_space)bytes_take_below(from, SPACE_CNT);
	fixed.kind = (enum block_kind)bytes_take_below(from, KIND_CNT);
	fixed.end = (enum stack_end)bytes_take_below(from, STACK_END_CNT);
	fixed.tid = (pid_t)bytes_take_below(from, 1ULL << 32);
	process = recording_take_process_ref(recording, from);
	frame_cnt = bytes_take_cnt(from, 1);
	if (from->failed || frame_cnt > FRAMES_MAX)
		return -EBADMSG;
	err = find_or_add(recording, number, &site);
	if (err)
		return err;
	if (fixed.id != site->fixed.id && !is_free(recording, site))
		return -EBADMSG;
	free_stack(recording, site);
	fixed.process = process ? &process->process : NULL;
	site->fixed = fixed;
	return take_frames(recording, from, frame_cnt, site);
}

int recording_take_site_names(struct recording *recording, struct byte_reader *from)
{
	uint64_t number = bytes_take_below(from, recording->site_cnt);
	struct read_site *site = from->failed ? NULL : &recording->sites[number];

	for (size_t i = 0; site && i < site->fixed.frame_cnt; i++)
		site->locations[i] = recording_take_location_ref(recording, from);
	return from->failed ? -EBADMSG : 0;
}

int recording_take_states(struct recording *recording, struct byte_reader *from)
{
	size_t cnt = bytes_take_cnt(from, STATE_BYTES_MIN), next = 0;

	for (size_t i = 0; !from->failed && i < cnt; i++) {
		size_t number = next + (size_t)bytes_take_below(from, recording->site_cnt - next);
		struct read_site *site;
		bool was_present;

		if (from->failed)
			break;
		site = &recording->sites[number];
		was_present = site->words[SITE_PRESENT];
		bytes_take_changes(from, site->words, SITE_WORDS);
		if (!site->words[SITE_PRESENT])
			free_blocks(recording, site);
		if (was_present && !site->words[SITE_PRESENT])
			site->absent_since = recording->snapshots;
		next = number + 1;
	}
	return from->failed ? -EBADMSG : 0;
}

static void take_block(struct byte_reader *from, const struct block *last, struct block *ret)
{
	ret->addr = last->addr + (uint64_t)bytes_take_signed(from);
	ret->size = last->size + (uint64_t)bytes_take_signed(from);
	ret->sampled_size = ret->size + (uint64_t)bytes_take_signed(from);
	ret->age_ns = last->age_ns + (uint64_t)bytes_take_signed(from);
	ret->tid = (pid_t)((uint64_t)last->tid + (uint64_t)bytes_take_signed(from));
	ret->inherited = bytes_take_below(from, 2);
}

int recording_take_site_blocks(struct recording *recording, struct byte_reader *from)
{
	uint64_t number = bytes_take_below(from, recording->site_cnt);
	size_t cnt = bytes_take_cnt(from, BLOCK_BYTES_MIN);
	struct block last = {0};
	struct read_site *site;

	if (from->failed)
		return -EBADMSG;
	site = &recording->sites[number];
	free_blocks(recording, site);
	if (!recording_take_memory(recording, cnt, sizeof(*site->blocks)))
		return -EFBIG;
	site->blocks = calloc(cnt + 1, sizeof(*site->blocks));
	if (!site->blocks)
		return -ENOMEM;
	site->block_cnt = cnt;
	for (size_t i = 0; i < cnt; i++) {
		take_block(from, &last, &site->blocks[i]);
		last = site->blocks[i];
	}
	return from->failed ? -EBADMSG : 0;
}

static int take_peak_sites(struct recording *recording, struct byte_reader *from)
{
	size_t cnt = bytes_take_cnt(from, PEAK_SITE_BYTES_MIN);

	recording->memory_left += recording->peak_site_cnt * sizeof(*recording->peak_sites);
	free(recording->peak_sites);
	recording->peak_sites = NULL;
	recording->peak_site_cnt = 0;
	if (from->failed)
		return -EBADMSG;
	if (!recording_take_memory(recording, cnt, sizeof(*recording->peak_sites)))
		return -EFBIG;
	recording->peak_sites = calloc(cnt + 1, sizeof(*recording->peak_sites));
	if (!recording->peak_sites)
		return -ENOMEM;
	recording->peak_site_cnt = cnt;
	for (size_t i = 0; i < cnt && !from->failed; i++) {
		struct read_peak_site *site = &recording->peak_sites[i];

		site->site = (size_t)bytes_take_below(from, recording->site_cnt);
		bytes_take_changes(from, site->words, SITE_WORDS);
	}
	return from->failed ? -EBADMSG : 0;
}

int recording_take_peak(struct recording *recording, struct byte_reader *from)
{
	struct peak *peak = &recording->peak;

	if (!bytes_take_below(from, 2))
		return from->failed ? -EBADMSG : 0;
	peak->wall_ns = bytes_take_signed(from);
	peak->t0_ns = bytes_take_number(from);
	peak->bytes = bytes_take_number(from);
	peak->count = bytes_take_number(from);
	peak->highest_bytes = bytes_take_number(from);
	recording->has_peak = true;
	return take_peak_sites(recording, from);
}

void recording_free_sites(struct recording *recording)
{
	for (size_t i = 0; i < recording->site_cnt; i++) {
		free_stack(recording, &recording->sites[i]);
		free_blocks(recording, &recording->sites[i]);
		recording_free_births(recording, &recording->sites[i]);
	}
	free(recording->sites);
	free(recording->peak_sites);
}
