/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a recorder. Private to recorder*.c. */
#ifndef RECORDING_RECORDER_H
#define RECORDING_RECORDER_H

#include "base/intern.h"
#include "recording/format.h"
#include "report/symbol_backend.h"

/* Sections of a chunk, in their order in the file. */
enum section {
	SECTION_STRINGS,
	SECTION_LOCATIONS,
	SECTION_PROCESSES,
	SECTION_SITES,
	SECTION_NAMES,
	SECTION_STATES,
	SECTION_BLOCKS,
	SECTION_SUMMARIES,
	SECTION_TALLIES,
	SECTION_PEAK,
	SECTION_HOLDERS,
	SECTION_HANGING,
	SECTION_PYTHON,
	SECTION_GROWTHS,
	SECTION_BIRTHS,
	SECTION_CNT,
};

struct section_buffer {
	struct byte_buffer bytes;
	uint64_t cnt;
};

/* The state of a site as it was recorded last. */
struct recorded_site {
	uint64_t id;
	size_t number;
	uint64_t definition;  /* hash of the constant part of the site; 0 if not recorded yet */
	uint64_t names;       /* hash of the frames' locations; 0 if not recorded yet */
	uint64_t blocks_hash; /* hash of the blocks; 0 if not recorded yet */
	/* number of the latest snapshot with the site among its sites or in its peak */
	uint64_t last;
	/* number of the snapshot at which names are looked up again; 0 if all names are known */
	uint64_t retry_at;
	uint64_t retry_gap;
	uint64_t words[SITE_WORDS];
	/* blocks by time of allocation, as recorded last; NULL if not recorded */
	struct ages *births;
	/* The fields from `site` on are for the snapshot that is being added. */
	/* the site in this snapshot; NULL if it is neither among its sites nor in its peak */
	const struct site *site;
	bool present; /* true if among the snapshot's sites, not only in its peak */
	const struct block *blocks;
	size_t block_cnt;
};

struct recorder {
	struct recording_header header;
	int fd;
	uint64_t snapshots;
	struct section_buffer sections[SECTION_CNT];
	struct intern strings;
	struct intern locations;
	struct intern processes;
	uint64_t **summaries; /* words of each process's latest summary, by the process's number */
	size_t summary_cnt;
	size_t summary_cap;
	struct recorded_site **sites; /* states of sites, by number; NULL for an unused number */
	size_t site_cnt;
	size_t site_cap;
	struct hash_map by_id; /* elements of `sites`, keyed by site id */
	/* words of the latest snapshot, then of the snapshot that is being added */
	uint64_t *words;
	/* list of earlier times of the latest snapshot, which define classes of births */
	struct moments earlier;
	uint64_t peak_t0_ns;
	uint64_t peak_highest_bytes;
};

/*
 * Set *ret to the number of a string or process, 0 for NULL. Record the string or process if it is
 * new. Return 0 or -ENOMEM.
 */
int recorder_string(struct recorder *recorder, const char *text, uint64_t *ret);
int recorder_process(struct recorder *recorder, const struct process *process, uint64_t *ret);

/*
 * Looks up and records names of frames that are not known yet. If `all` is false, skips sites for
 * which the time of the next retry has not come. Returns 0 or a negative errno.
 */
int recorder_add_names(struct recorder *recorder, struct symbol_backend *symbols, bool all,
		       uint64_t deadline_ns);

/*
 * Finds or creates the state of each site of a snapshot and of its peak. Records the constant parts
 * of sites that are new or have changed. Returns 0 or -ENOMEM.
 */
int recorder_add_sites(struct recorder *recorder, const struct snapshot *snap);
/*
 * Records changes of the states of sites, and the blocks of sites if these have changed. Then
 * forgets sites that have been absent for FORGET_AFTER snapshots. Returns 0 or -ENOMEM.
 */
int recorder_add_states(struct recorder *recorder, const struct snapshot *snap);
int recorder_add_peak(struct recorder *recorder, const struct snapshot *snap);
void recorder_free_sites(struct recorder *recorder);

/*
 * Records the chains of holders of the snapshot's sites. Call recorder_add_sites() first. `symbols`
 * may be NULL. Returns 0 or a negative errno.
 */
int recorder_add_holders(struct recorder *recorder, const struct snapshot *snap,
			 struct symbol_backend *symbols, uint64_t deadline_ns);

/* Records which memory is reachable only from lost blocks, as sums for each pair of sites. */
void recorder_add_hanging(struct recorder *recorder, const struct snapshot *snap);

int recorder_add_python(struct recorder *recorder, const struct snapshot *snap);
int recorder_add_growths(struct recorder *recorder, const struct snapshot *snap);
/*
 * Records blocks by time of allocation, for each site whose sums have changed. Call
 * recorder_add_sites() first. Returns 0 or -ENOMEM.
 */
int recorder_add_births(struct recorder *recorder, const struct snapshot *snap);

#endif
