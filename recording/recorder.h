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

/* State of a site as recorded so far. */
struct recorded_site {
	uint64_t id;
	size_t number;
	uint64_t definition;  /* hash of the site's constant part; 0 if not recorded yet */
	uint64_t names;       /* hash of the locations; 0 if not recorded yet */
	uint64_t blocks_hash; /* hash of the blocks; 0 if not recorded yet */
	uint64_t last;     /* latest snapshot that had the site, either directly or in its peak */
	uint64_t retry_at; /* snapshot at which names are looked up again; 0 if all are known */
	uint64_t retry_gap;
	uint64_t words[SITE_WORDS];
	struct ages *births; /* births as recorded; NULL if none were recorded */
	/* Data of the snapshot being added. */
	const struct site *site; /* site; NULL if it is neither in the snapshot nor in its peak */
	bool present;            /* true if the site is in the snapshot, not only in its peak */
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
	uint64_t **summaries; /* words of summaries, indexed by process number */
	size_t summary_cnt;
	size_t summary_cap;
	/* entries of sites, indexed by number; NULL if the number is unused */
	struct recorded_site **sites;
	size_t site_cnt;
	size_t site_cap;
	struct hash_map by_id; /* entries of sites, with the site's id as key */
	uint64_t *words;       /* words of two snapshots: the latest one, and the one being added */
	struct moments earlier; /* moments of the latest snapshot */
	uint64_t peak_t0_ns;
	uint64_t peak_highest_bytes;
};

/*
 * Set *ret to the number of a string or process, or to 0 for NULL. The string or process is
 * recorded if it is new. Return 0 or -ENOMEM.
 */
int recorder_string(struct recorder *recorder, const char *text, uint64_t *ret);
int recorder_process(struct recorder *recorder, const struct process *process, uint64_t *ret);

/*
 * Looks up and records the names of frames that have no names yet. If `all` is false, skips sites
 * whose next retry is not due.
 */
int recorder_add_names(struct recorder *recorder, struct symbol_backend *symbols, bool all,
		       uint64_t deadline_ns);

/*
 * Finds or creates the entries of a snapshot's sites, and records the constant parts of the sites.
 */
int recorder_add_sites(struct recorder *recorder, const struct snapshot *snap);
/*
 * Records changes in the states of sites. Then drops sites that have been absent for a long time.
 */
int recorder_add_states(struct recorder *recorder, const struct snapshot *snap);
int recorder_add_peak(struct recorder *recorder, const struct snapshot *snap);
void recorder_free_sites(struct recorder *recorder);

/* Records the holders of the sites that recorder_add_sites() has added. symbols may be NULL. */
int recorder_add_holders(struct recorder *recorder, const struct snapshot *snap,
			 struct symbol_backend *symbols, uint64_t deadline_ns);

/* Records, for the sites of the snapshot, which memory is reachable only from their lost blocks. */
void recorder_add_hanging(struct recorder *recorder, const struct snapshot *snap);

int recorder_add_python(struct recorder *recorder, const struct snapshot *snap);
int recorder_add_growths(struct recorder *recorder, const struct snapshot *snap);
/* Records the births of the sites that recorder_add_sites() has added. */
int recorder_add_births(struct recorder *recorder, const struct snapshot *snap);

#endif
