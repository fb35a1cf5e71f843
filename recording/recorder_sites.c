// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records sites: their constant parts, the changes of their states, and their blocks. The number of
 * a site is reused after the site has been absent for a long time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "recording/recorder.h"
#include "report/peak.h"
#include "report/trend.h"

/*
 * Snapshots without a site after which its number may be reused. Readers reject a number that is
 * reused while reports still remember the old site.
 */
#define FORGET_AFTER 64
_Static_assert(FORGET_AFTER > HISTORY_POINTS_MAX, "numbers are free when reports have forgotten");

/*
 * Advances *from to the lowest unused number; all lower numbers than *from must be in use. Returns
 * 0 or -ENOMEM.
 */
static int free_number(struct recorder *recorder, size_t *from)
{
	while (*from < recorder->site_cnt && recorder->sites[*from])
		++*from;
	if (*from < recorder->site_cnt)
		return 0;
	if (array_reserve(&recorder->sites, &recorder->site_cap, recorder->site_cnt + 1))
		return -ENOMEM;
	recorder->sites[recorder->site_cnt++] = NULL;
	return 0;
}

static int get_site(struct recorder *recorder, uint64_t id, size_t *from,
		    struct recorded_site **ret)
{
	struct recorded_site *entry = hash_map_get(&recorder->by_id, id);

	*ret = entry;
	if (entry)
		return 0;
	entry = calloc(1, sizeof(*entry));
	if (!entry || free_number(recorder, from) || hash_map_set(&recorder->by_id, id, entry)) {
		free(entry);
		return -ENOMEM;
	}
	entry->id = id;
	entry->number = *from;
	recorder->sites[*from] = entry;
	*ret = entry;
	return 0;
}

static uint64_t definition_of(const struct site *site, uint64_t process)
{
	uint64_t hash = hash_word(process, (uint64_t)site->space << 32 | site->kind);

	hash = hash_word(hash, (uint64_t)site->tid << 32 | site->end);
	hash = hash_word(hash, intern_hash(site->frames, site->frame_cnt * sizeof(*site->frames)));
	return hash ? hash : 1;
}

static void put_definition(struct section_buffer *section, const struct recorded_site *entry,
			   uint64_t process)
{
	const struct site *site = entry->site;
	struct byte_buffer *bytes = &section->bytes;
	uint64_t last = 0;

	bytes_put_number(bytes, entry->number);
	bytes_put_number(bytes, site->id);
	bytes_put_number(bytes, site->space);
	bytes_put_number(bytes, site->kind);
	bytes_put_number(bytes, site->end);
	bytes_put_number(bytes, (uint32_t)site->tid);
	bytes_put_number(bytes, process);
	bytes_put_number(bytes, site->frame_cnt);
	for (size_t i = 0; i < site->frame_cnt; i++) {
		bytes_put_signed(bytes, (int64_t)(site->frames[i] - last));
		last = site->frames[i];
	}
	section->cnt++;
}

/*
 * Records the constant part of a site if it is new or has changed, e.g. when frames of its stack
 * are resolved later.
 */
static int define(struct recorder *recorder, struct recorded_site *entry)
{
	uint64_t process, definition;
	int err = recorder_process(recorder, entry->site->process, &process);

	if (err)
		return err;
	definition = definition_of(entry->site, process);
	if (definition == entry->definition)
		return 0;
	put_definition(&recorder->sections[SECTION_SITES], entry, process);
	entry->definition = definition;
	entry->names = 0;
	entry->retry_at = recorder->snapshots;
	entry->retry_gap = 0;
	return 0;
}

static int add_site(struct recorder *recorder, const struct site *site, size_t *from,
		    struct recorded_site **ret)
{
	struct recorded_site *entry;
	int err = get_site(recorder, site->id, from, &entry);

	if (err)
		return err;
	entry->last = recorder->snapshots;
	if (!entry->site)
		entry->site = site;
	*ret = entry;
	return 0;
}

int recorder_add_sites(struct recorder *recorder, const struct snapshot *snap)
{
	const struct block *block = snap->blocks, *end = block + snap->block_cnt;
	struct recorded_site *entry;
	size_t from = 0;
	int err = 0;

	for (size_t i = 0; !err && i < snap->site_cnt; i++) {
		err = add_site(recorder, &snap->sites[i], &from, &entry);
		if (err)
			return err;
		entry->present = true;
		entry->blocks = block;
		while (block < end && block->site == i)
			block++;
		entry->block_cnt = (size_t)(block - entry->blocks);
		err = define(recorder, entry);
	}
	/*
	 * Also add the sites that are only in the peak. Their stacks are those that were known at
	 * the time of the peak.
	 */
	for (size_t i = 0; !err && snap->peak && i < snap->peak->site_cnt; i++) {
		err = add_site(recorder, &snap->peak->sites[i], &from, &entry);
		if (!err && !entry->present)
			err = define(recorder, entry);
	}
	return err;
}

static void put_blocks(struct recorder *recorder, struct recorded_site *entry, uint64_t t0_ns)
{
	struct section_buffer *section = &recorder->sections[SECTION_BLOCKS];
	struct byte_buffer *bytes = &section->bytes;
	struct block last = {0};
	uint64_t last_birth = 0, hash = 0;
	size_t start = bytes->len;

	bytes_put_number(bytes, entry->number);
	bytes_put_number(bytes, entry->block_cnt);
	for (size_t i = 0; i < entry->block_cnt; i++) {
		const struct block *block = &entry->blocks[i];
		uint64_t birth = birth_of(t0_ns, block->age_ns);

		bytes_put_signed(bytes, (int64_t)(block->addr - last.addr));
		bytes_put_signed(bytes, (int64_t)(block->size - last.size));
		bytes_put_signed(bytes, (int64_t)(block->sampled_size - block->size));
		bytes_put_signed(bytes, (int64_t)(birth - last_birth));
		bytes_put_signed(bytes, (int64_t)block->tid - last.tid);
		bytes_put_number(bytes, block->inherited);
		last = *block;
		last_birth = birth;
	}
	if (!bytes->failed)
		hash = intern_hash(bytes->bytes + start, bytes->len - start);
	if (!bytes->failed && entry->block_cnt && hash != entry->blocks_hash)
		section->cnt++;
	else
		bytes->len = start;
	entry->blocks_hash = hash;
}

static int words_of(struct recorder *recorder, const struct site *site, uint64_t t0_ns,
		    uint64_t *words)
{
	int err = recorder_string(recorder, site->origin.last_comm, &words[SITE_LAST_COMM]);

	if (!err)
		err = recorder_string(recorder, site->origin.cache, &words[SITE_CACHE]);
	if (!err)
		err = recorder_string(recorder, site->origin.owner_comm, &words[SITE_OWNER_COMM]);
	recording_site_words(site, t0_ns, words);
	return err;
}

static int add_state(struct recorder *recorder, struct recorded_site *entry, uint64_t t0_ns,
		     size_t *next)
{
	struct section_buffer *section = &recorder->sections[SECTION_STATES];
	uint64_t words[SITE_WORDS] = {0};
	int err = 0;

	if (entry->present)
		err = words_of(recorder, entry->site, t0_ns, words);
	if (err)
		return err;
	if (memcmp(words, entry->words, sizeof(words)) != 0) {
		bytes_put_number(&section->bytes, entry->number - *next);
		bytes_put_changes(&section->bytes, entry->words, words, SITE_WORDS);
		section->cnt++;
		*next = entry->number + 1;
		memcpy(entry->words, words, sizeof(words));
	}
	if (entry->present)
		put_blocks(recorder, entry, t0_ns);
	else
		entry->blocks_hash = 0;
	return 0;
}

static void forget_old(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->site_cnt; i++) {
		struct recorded_site *entry = recorder->sites[i];

		if (!entry)
			continue;
		entry->site = NULL;
		entry->present = false;
		if (recorder->snapshots - entry->last < FORGET_AFTER)
			continue;
		hash_map_remove(&recorder->by_id, entry->id);
		free(entry);
		recorder->sites[i] = NULL;
	}
}

int recorder_add_states(struct recorder *recorder, const struct snapshot *snap)
{
	size_t next = 0;
	int err = 0;

	for (size_t i = 0; !err && i < recorder->site_cnt; i++)
		if (recorder->sites[i])
			err = add_state(recorder, recorder->sites[i], snap->t0_ns, &next);
	if (!err)
		forget_old(recorder);
	return err;
}

/* Records the whole peak if it has changed. */
int recorder_add_peak(struct recorder *recorder, const struct snapshot *snap)
{
	struct section_buffer *section = &recorder->sections[SECTION_PEAK];
	const struct peak *peak = snap->peak;
	const uint64_t none[SITE_WORDS] = {0};

	if (!peak || (peak->t0_ns == recorder->peak_t0_ns &&
		      peak->highest_bytes == recorder->peak_highest_bytes))
		return 0;
	recorder->peak_t0_ns = peak->t0_ns;
	recorder->peak_highest_bytes = peak->highest_bytes;
	section->cnt = 1;
	bytes_put_signed(&section->bytes, peak->wall_ns);
	bytes_put_number(&section->bytes, peak->t0_ns);
	bytes_put_number(&section->bytes, peak->bytes);
	bytes_put_number(&section->bytes, peak->count);
	bytes_put_number(&section->bytes, peak->highest_bytes);
	bytes_put_number(&section->bytes, peak->site_cnt);
	for (size_t i = 0; i < peak->site_cnt; i++) {
		const struct recorded_site *entry =
			hash_map_get(&recorder->by_id, peak->sites[i].id);
		uint64_t words[SITE_WORDS] = {0};
		int err = words_of(recorder, &peak->sites[i], peak->t0_ns, words);

		if (err)
			return err;
		bytes_put_number(&section->bytes, entry->number);
		bytes_put_changes(&section->bytes, none, words, SITE_WORDS);
	}
	return 0;
}

void recorder_free_sites(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->site_cnt; i++) {
		if (recorder->sites[i])
			free(recorder->sites[i]->births);
		free(recorder->sites[i]);
	}
	free(recorder->sites);
	hash_map_deinit(&recorder->by_id);
}
