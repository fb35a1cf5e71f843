// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads recordings, one chunk after another. */
#include "recording/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "recording/reader.h"

#define SUMMARY_BYTES_MIN 2
#define TALLY_BYTES_MIN 2

static struct recording *recording_of(struct symbol_backend *self)
{
	return (struct recording *)((char *)self - offsetof(struct recording, symbols));
}

static int recording__prepare(struct symbol_backend *self, const struct site *const *sites,
			      size_t cnt, uint64_t deadline_ns)
{
	return 0;
}

/*
 * Returns the location of a frame of a site; NULL if the site lacks the frame. A location has the
 * same index as its frame in the snapshot's array of frames. The caller may pass a copy of the
 * site, because the copy's `frames` points into the same array.
 */
static const struct sym_location *recording__lookup(struct symbol_backend *self,
						    const struct site *site, uint64_t frame)
{
	const struct recording *recording = recording_of(self);

	for (size_t i = 0; i < site->frame_cnt; i++)
		if (site->frames[i] == frame)
			return recording->frame_locations[site->frames + i - recording->frames];
	return NULL;
}

int recording__new(FILE *file, struct recording **ret)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	uint8_t header[HEADER_BYTES] = {0};
	int err = -ENOEXEC;

	if (!recording) {
		fclose(file);
		return -ENOMEM;
	}
	recording->file = file;
	recording->memory_left = RECORDING_MEMORY_MAX;
	recording->symbols = (struct symbol_backend){
		.prepare = recording__prepare,
		.lookup = recording__lookup,
		.names_follow = true,
	};
	if (fseek(file, 0, SEEK_CUR))
		err = -errno;
	else if (fread(header, 1, sizeof(header), file) == sizeof(header))
		err = recording_header_take(header, &recording->header);
	else if (ferror(file))
		err = -errno;
	if (!err) {
		recording->words =
			calloc(SNAPSHOT_WORDS(&recording->header), sizeof(*recording->words));
		err = recording->words ? 0 : -ENOMEM;
	}
	if (err) {
		recording__free(recording);
		return err;
	}
	*ret = recording;
	return 0;
}

static void forget_snapshot(struct recording *recording)
{
	free(recording->summaries);
	free(recording->tallies);
	recording->summaries = NULL;
	recording->tallies = NULL;
	recording->summary_cnt = 0;
	recording->tally_cnt = 0;
	recording->python = (struct python_growth){.class_cnt = 0};
	recording->has_python = false;
	recording->growth_cnt = 0;
	recording_free_chains(recording);
	recording_free_hanging(recording);
}

void recording__free(struct recording *recording)
{
	if (!recording)
		return;
	fclose(recording->file);
	forget_snapshot(recording);
	recording_free_sites(recording);
	recording_free_names(recording);
	free(recording->peak.sites);
	free(recording->frame_locations);
	free(recording->words);
	free(recording);
}

unsigned int recording__flags(const struct recording *recording)
{
	return recording->header.flags;
}

bool recording__same_run(const struct recording *a, const struct recording *b)
{
	return memcmp(a->header.run, b->header.run, RUN_ID_BYTES) == 0;
}

struct symbol_backend *recording__symbols(struct recording *recording)
{
	return &recording->symbols;
}

/*
 * Reads the changes of the fields of fixed size. Rejects a snapshot whose time is before that of
 * the previous one.
 */
static int take_head(struct recording *recording, struct byte_reader *from)
{
	const uint64_t *words = recording->words;
	uint64_t elapsed_ns = words[3];

	bytes_take_changes(from, recording->words, SNAPSHOT_WORDS(&recording->header));
	if (from->failed || (recording->begun && words[3] < elapsed_ns) ||
	    words[4] > SAMPLING_STEPS || (words[4] && !words[5]))
		return -EBADMSG;
	recording->begun = true;
	return 0;
}

static int take_summary(struct recording *recording, struct byte_reader *from)
{
	struct read_process *process = recording_take_process_ref(recording, from);
	size_t word_cnt = SUMMARY_WORDS(&recording->header);

	if (!process)
		return -EBADMSG;
	if (!process->summary) {
		if (!recording_take_memory(recording, word_cnt + 2, sizeof(uint64_t)))
			return -EFBIG;
		process->summary = calloc(word_cnt, sizeof(uint64_t));
	}
	if (!process->summary)
		return -ENOMEM;
	bytes_take_changes(from, process->summary, word_cnt);
	recording->summaries[recording->summary_cnt].process = &process->process;
	recording_summary_from(&recording->header, process->summary,
			       &recording->summaries[recording->summary_cnt++]);
	return from->failed ? -EBADMSG : 0;
}

static int take_summaries(struct recording *recording, struct byte_reader *from)
{
	size_t cnt = bytes_take_cnt(from, SUMMARY_BYTES_MIN);
	int err = from->failed ? -EBADMSG : 0;

	/* A process has at most one summary. */
	if (!err && cnt > recording->process_cnt)
		err = -EBADMSG;
	if (!err)
		recording->summaries = calloc(cnt + 1, sizeof(*recording->summaries));
	if (!err && !recording->summaries)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < cnt; i++)
		err = take_summary(recording, from);
	return err;
}

/* Returns the first version of the format that has a part of resident memory. */
static uint32_t first_with_part(enum rss_part part)
{
	if (part == RSS_PYTHON)
		return RECORDING_WITH_POOLS;
	return part == RSS_UNREAD ? RECORDING_WITH_HUGE : 0;
}

static void take_rss(struct byte_reader *from, uint32_t version, struct rss *rss)
{
	for (enum rss_part i = 0; i < RSS_PART_CNT; i++)
		if (version >= first_with_part(i))
			rss->parts[i] = bytes_take_number(from);
	rss->arenas = bytes_take_number(from);
	rss->torn_arenas = bytes_take_number(from);
	rss->skipped_arenas = bytes_take_number(from);
	rss->allocator = (enum rss_allocator)bytes_take_number(from);
	if ((unsigned int)rss->allocator >= ALLOCATOR_CNT)
		rss->allocator = ALLOCATOR_NONE;
	rss->has_blocks = bytes_take_number(from);
	rss->outside = bytes_take_number(from);
	for (size_t i = 0; rss->has_blocks && i < HEAP_CLASSES; i++) {
		rss->older[i].bytes = bytes_take_number(from);
		rss->older[i].count = bytes_take_number(from);
	}
	if (version >= RECORDING_WITH_PINNED)
		rss->pinned_by_older = bytes_take_number(from);
	if (version >= RECORDING_WITH_HUGE)
		rss->huge = bytes_take_number(from);
	if (version >= RECORDING_WITH_SWAPPED)
		rss->swapped = bytes_take_number(from);
	if (version >= RECORDING_WITH_MAIN_TOP)
		rss->main_top = bytes_take_number(from);
	else if (rss->arenas == 1)
		rss->main_top = rss->parts[RSS_TOP];
	if (version >= RECORDING_WITH_ROOM)
		rss->room = bytes_take_number(from);
}

/* Returns the number of parts of a footprint in this version of the format. */
static size_t footprint_parts(uint32_t version)
{
	if (version < RECORDING_WITH_FILES)
		return FOOTPRINT_FILES;
	if (version < RECORDING_WITH_CHILDREN)
		return FOOTPRINT_CHILDREN;
	if (version < RECORDING_WITH_ZOMBIES)
		return FOOTPRINT_ZOMBIES;
	if (version < RECORDING_WITH_UNMAPPED)
		return FOOTPRINT_UNMAPPED;
	if (version < RECORDING_WITH_TOO_YOUNG)
		return FOOTPRINT_TOO_YOUNG;
	if (version < RECORDING_WITH_MAPPINGS)
		return FOOTPRINT_MAPPINGS;
	if (version < RECORDING_WITH_SOCKETS)
		return FOOTPRINT_SOCKETS;
	return version < RECORDING_WITH_TIMERS ? FOOTPRINT_TIMERS : FOOTPRINT_CNT;
}

static void take_name(const struct recording *recording, struct byte_reader *from, char *ret)
{
	snprintf(ret, FOOTPRINT_NAME_BYTES, "%s", recording_take_string_ref(recording, from) ?: "");
}

static void take_parts(const struct recording *recording, struct byte_reader *from,
		       struct footprint *ret)
{
	size_t cnt = footprint_parts(recording->header.version);

	for (size_t i = 0; i < cnt; i++)
		ret->parts[i] = bytes_take_number(from);
	if (recording->header.version < RECORDING_WITH_MAPPINGS)
		return;
	ret->mappings_max = bytes_take_number(from);
	ret->virtual_max = bytes_take_number(from);
	take_name(recording, from, ret->mapped);
	take_name(recording, from, ret->orphan);
}

static void take_footprint(const struct recording *recording, struct byte_reader *from,
			   struct process_tally *tally)
{
	uint64_t flags = bytes_take_number(from);

	tally->ended = flags & RECORDING_TALLY_ENDED;
	tally->ended_here = flags & RECORDING_TALLY_ENDED_HERE;
	tally->out_of_memory = flags & RECORDING_TALLY_OUT_OF_MEMORY;
	tally->killed_by = (int)(flags >> RECORDING_TALLY_KILLED_BY & RECORDING_TALLY_SIGNAL);
	tally->footprint.is_known = flags & RECORDING_TALLY_FOOTPRINT;
	tally->footprint.is_stopped = flags & RECORDING_TALLY_STOPPED;
	tally->footprint.has_traced_children = flags & RECORDING_TALLY_TRACED_CHILDREN;
	tally->footprint.has_other_network = flags & RECORDING_TALLY_OTHER_NETWORK;
	if (tally->footprint.is_known)
		take_parts(recording, from, &tally->footprint);
	if (flags & RECORDING_TALLY_RSS)
		take_rss(from, recording->header.version, &tally->rss);
}

static int take_tallies(struct recording *recording, struct byte_reader *from)
{
	size_t cnt = bytes_take_cnt(from, TALLY_BYTES_MIN);

	if (from->failed || cnt > recording->process_cnt)
		return -EBADMSG;
	recording->tallies = calloc(cnt + 1, sizeof(*recording->tallies));
	if (!recording->tallies)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		struct read_process *process = recording_take_process_ref(recording, from);
		struct process_tally *tally = &recording->tallies[recording->tally_cnt++];

		if (!process)
			return -EBADMSG;
		tally->process = &process->process;
		tally->refused = bytes_take_number(from);
		if (recording->header.version < RECORDING_WITH_EARLIER_FREES)
			continue;
		tally->earlier.cnt = bytes_take_number(from);
		tally->earlier.sized = bytes_take_number(from);
		tally->earlier.bytes = bytes_take_number(from);
		if (recording->header.version >= RECORDING_WITH_FOOTPRINTS)
			take_footprint(recording, from, tally);
	}
	return from->failed ? -EBADMSG : 0;
}

/* The sections of a chunk, in their order in the file. */
static const struct {
	int (*take)(struct recording *recording, struct byte_reader *from);
	/* minimum size of an item, in bytes; 0 if take() reads the whole section */
	size_t item_bytes;
	unsigned int since; /* first version of the format with this section */
} sections[] = {
	{take_head, 0, 1},
	{recording_take_string, 1, 1},
	{recording_take_location, 5, 1},
	{recording_take_process, 4, 1},
	{recording_take_site, 8, 1},
	{recording_take_site_names, 1, 1},
	{recording_take_states, 0, 1},
	{recording_take_site_blocks, 2, 1},
	{take_summaries, 0, 1},
	{take_tallies, 0, 1},
	{recording_take_peak, 0, 1},
	{recording_take_chain, 4, RECORDING_WITH_HOLDERS},
	{recording_take_hanging, 4, RECORDING_WITH_HANGING},
	{recording_take_python, 2, RECORDING_WITH_UNMAPPED},
	{recording_take_growth, 5, RECORDING_WITH_GROWTHS},
	{recording_take_births, 0, RECORDING_WITH_BIRTHS},
};

static int take_section(struct recording *recording, struct byte_reader *from, size_t section)
{
	size_t item_bytes = sections[section].item_bytes;
	size_t cnt = item_bytes ? bytes_take_cnt(from, item_bytes) : 1;
	int err = from->failed ? -EBADMSG : 0;

	for (size_t i = 0; !err && i < cnt; i++)
		err = sections[section].take(recording, from);
	return err;
}

static int take_chunk(struct recording *recording, const uint8_t *bytes, size_t len)
{
	struct byte_reader from = {bytes, bytes + len, false};
	int err = 0;

	forget_snapshot(recording);
	recording->snapshots++;
	for (size_t i = 0; !err && i < sizeof(sections) / sizeof(sections[0]); i++)
		if (recording->header.version >= sections[i].since)
			err = take_section(recording, &from, i);
	if (!err && from.at != from.end)
		err = -EBADMSG;
	return err || recording_has_room(recording) ? err : -EFBIG;
}

/* Reads and applies the next chunk. Returns what recording__next() returns. */
static int read_chunk(struct recording *recording)
{
	cleanup_free uint8_t *bytes = NULL;
	size_t len;
	int got = recording->ended ? 0 : recording_unpack(recording->file, &bytes, &len);
	int err = got == 1 ? take_chunk(recording, bytes, len) : 0;

	got = err ? err : got;
	recording->ended = got <= 0;
	return got;
}

int recording__next(struct recording *recording, struct snapshot *ret, bool *final)
{
	struct snapshot snap = {0};
	int got = read_chunk(recording), err;

	if (got <= 0)
		return got;
	recording_snapshot_from(&recording->header, recording->words, &snap, final);
	err = recording_make_snapshot(recording, &snap);
	if (err) {
		recording->ended = true;
		snapshot_deinit(&snap);
		return err;
	}
	*ret = snap;
	return 1;
}

int recording__skip(struct recording *recording, struct recorded_moment *ret)
{
	struct snapshot head = {0};
	int got = read_chunk(recording);
	bool final;

	if (got <= 0)
		return got;
	recording_snapshot_from(&recording->header, recording->words, &head, &final);
	*ret = (struct recorded_moment){head.wall_ns, head.elapsed_ns, head.between};
	return 1;
}
