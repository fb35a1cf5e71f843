// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a snapshot from the current state of a recording. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "recording/reader.h"
#include "recording/recording.h"
#include "report/snapshot_own.h"

/* A snapshot that is being made, and where its next frame's location is stored. */
struct maker {
	size_t *index; /* for each site number: position of the site in the snapshot, or SIZE_MAX */
	struct recording *recording;
	struct snapshot *snap;
	const struct sym_location **next_location;
};

static bool is_present(const struct read_site *site)
{
	return site->words[SITE_PRESENT] != 0;
}

static struct site make_site(struct maker *maker, const struct read_site *from,
			     const uint64_t *words, uint64_t t0_ns)
{
	struct site site = from->fixed;
	size_t cnt = site.frame_cnt;

	recording_site_from(words, t0_ns, &site);
	site.origin.last_comm = recording_string_at(maker->recording, words[SITE_LAST_COMM]);
	site.origin.cache = recording_string_at(maker->recording, words[SITE_CACHE]);
	site.origin.owner_comm = recording_string_at(maker->recording, words[SITE_OWNER_COMM]);
	for (size_t i = 0; i < cnt; i++)
		*maker->next_location++ = from->locations[i];
	return site;
}

static void add_blocks(struct snapshot *snap, const struct read_site *site)
{
	for (size_t i = 0; i < site->block_cnt; i++) {
		struct block *block = &snap->blocks[snap->block_cnt++];

		*block = site->blocks[i];
		block->site = snap->site_cnt;
		block->age_ns = age_of(snap->t0_ns, block->age_ns);
	}
}

/* Lengths of a snapshot's arrays, in elements. */
struct room {
	size_t site_cnt, block_cnt, frame_cnt;
};

static struct room room_of(const struct recording *recording)
{
	struct room room = {0};

	for (size_t i = 0; i < recording->site_cnt; i++) {
		if (!is_present(&recording->sites[i]))
			continue;
		room.site_cnt++;
		room.block_cnt += recording->sites[i].block_cnt;
		room.frame_cnt += recording->sites[i].fixed.frame_cnt;
	}
	/* A peak may list a site several times, so count the frames of the site each time. */
	for (size_t i = 0; i < recording->peak_site_cnt; i++)
		room.frame_cnt += recording->sites[recording->peak_sites[i].site].fixed.frame_cnt;
	return room;
}

bool recording_has_room(const struct recording *recording)
{
	struct room room = room_of(recording);
	/* The snapshot has a copy of the peak, so its sites count twice. */
	uint64_t bytes = (room.site_cnt + 2 * recording->peak_site_cnt) * sizeof(struct site) +
			 room.block_cnt * sizeof(struct block) +
			 room.frame_cnt * (sizeof(uint64_t) + sizeof(struct sym_location *));

	return bytes <= recording->memory_left;
}

static int make_room(struct recording *recording, struct snapshot *snap)
{
	struct room room = room_of(recording);

	snap->sites = calloc(room.site_cnt + 1, sizeof(*snap->sites));
	snap->blocks = calloc(room.block_cnt + 1, sizeof(*snap->blocks));
	free(recording->frame_locations);
	recording->frame_locations =
		calloc(room.frame_cnt + 1, sizeof(*recording->frame_locations));
	recording->frame_cnt = room.frame_cnt;
	free(recording->peak.sites);
	recording->peak.sites =
		calloc(recording->peak_site_cnt + 1, sizeof(*recording->peak.sites));
	return snap->sites && snap->blocks && recording->frame_locations && recording->peak.sites
		       ? 0
		       : -ENOMEM;
}

static void make_peak(struct maker *maker)
{
	struct recording *recording = maker->recording;
	struct peak *peak = &recording->peak;

	peak->site_cnt = recording->peak_site_cnt;
	for (size_t i = 0; i < peak->site_cnt; i++) {
		const struct read_peak_site *from = &recording->peak_sites[i];

		peak->sites[i] =
			make_site(maker, &recording->sites[from->site], from->words, peak->t0_ns);
	}
	maker->snap->peak = peak;
}

static void make_sites(struct maker *maker)
{
	struct recording *recording = maker->recording;
	struct snapshot *snap = maker->snap;

	for (size_t i = 0; i < recording->site_cnt; i++) {
		const struct read_site *site = &recording->sites[i];

		maker->index[i] = SIZE_MAX;
		if (!is_present(site))
			continue;
		add_blocks(snap, site);
		maker->index[i] = snap->site_cnt;
		snap->sites[snap->site_cnt] = make_site(maker, site, site->words, snap->t0_ns);
		snap->sites[snap->site_cnt++].births = site->births;
	}
	recording_give_chains(recording, snap, maker->index);
}

static struct run_facts run_facts_from(unsigned int flags)
{
	return (struct run_facts){
		.had_begun = flags & RECORDING_HAD_BEGUN,
		.was_young = flags & RECORDING_WAS_YOUNG,
		.has_size_filters = flags & RECORDING_SIZE_FILTERS,
	};
}

int recording_make_snapshot(struct recording *recording, struct snapshot *ret)
{
	struct snapshot *snap = ret;
	cleanup_free size_t *index = calloc(recording->site_cnt + 1, sizeof(*index));
	struct maker maker = {.index = index, .recording = recording, .snap = snap};
	int err = index ? make_room(recording, snap) : -ENOMEM;

	if (err)
		return err;
	snap->run = run_facts_from(recording->header.flags);
	maker.next_location = recording->frame_locations;
	make_sites(&maker);
	if (recording->has_peak)
		make_peak(&maker);
	if (recording_proof_from(&recording->header, recording->words, &recording->proof))
		snap->proof = &recording->proof;
	recording_give_hanging(recording, snap);
	if (recording_census_from(&recording->header, recording->words, &recording->census))
		snap->census = &recording->census;
	if (recording->has_python)
		snap->python = &recording->python;
	if (recording->growth_cnt)
		snap->kernel_growths = recording->growths;
	snap->kernel_growth_cnt = recording->growth_cnt;
	snap->earlier = recording->earlier;
	snap->summaries = recording->summaries;
	snap->summary_cnt = recording->summary_cnt;
	snap->tallies = recording->tallies;
	snap->tally_cnt = recording->tally_cnt;
	recording->summaries = NULL;
	recording->tallies = NULL;
	err = snapshot_own(snap);
	recording->frames = snap->frames;
	return err;
}
