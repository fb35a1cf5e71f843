/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a recorder. Private to recorder*.c. */
#ifndef RECORDING_RECORDER_H
#define RECORDING_RECORDER_H

#include "base/intern.h"
#include "recording/format.h"
#include "report/symbol_backend.h"

/* Sections in the order of a chunk. */
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
	SECTION_CNT,
};

struct section_buffer {
	struct byte_buffer bytes;
	uint64_t cnt;
};

/* State of a site as the file has it so far. */
struct recorded_site {
	uint64_t id;
	size_t number;
	uint64_t definition;  /* hash of the definition; 0 if there is none */
	uint64_t names;       /* hash of the locations; 0 if there are none */
	uint64_t blocks_hash; /* hash of the blocks; 0 if there are none */
	uint64_t last;        /* last snapshot that had the site, also in its peak */
	uint64_t retry_at;    /* snapshot at which names are looked up again; 0 if complete */
	uint64_t retry_gap;
	uint64_t words[SITE_WORDS];
	/* For the snapshot being added. */
	const struct site *site; /* NULL if neither in the snapshot nor in its peak */
	bool present;            /* present in the snapshot */
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
	uint64_t **summaries; /* words, by process number */
	size_t summary_cnt;
	size_t summary_cap;
	struct recorded_site **sites; /* by number; NULL if the number is unused */
	size_t site_cnt;
	size_t site_cap;
	struct hash_map by_id; /* the entries of sites by site id */
	uint64_t *words;       /* words of the last snapshot, then of the current one */
	uint64_t peak_t0_ns;
	uint64_t peak_highest_bytes;
};

/*
 * Return the number of a string or process, which is recorded if it is new; 0 for NULL. Return 0 or
 * -ENOMEM.
 */
int recorder_string(struct recorder *recorder, const char *text, uint64_t *ret);
int recorder_process(struct recorder *recorder, const struct process *process, uint64_t *ret);

/* Adds names of sites that are not completely named. all: even before their next retry. */
int recorder_add_names(struct recorder *recorder, struct symbol_backend *symbols, bool all,
		       uint64_t deadline_ns);

/* Finds or makes the entries of a snapshot's sites, and records their constant parts. */
int recorder_add_sites(struct recorder *recorder, const struct snapshot *snap);
/* Records changes of the sites' states, then drops sites that have been absent for long. */
int recorder_add_states(struct recorder *recorder, const struct snapshot *snap);
int recorder_add_peak(struct recorder *recorder, const struct snapshot *snap);
void recorder_free_sites(struct recorder *recorder);

/* Records the holders of sites added by recorder_add_sites(). symbols may be NULL. */
int recorder_add_holders(struct recorder *recorder, const struct snapshot *snap,
			 struct symbol_backend *symbols, uint64_t deadline_ns);

/* Records which memory is reachable only from lost blocks, for sites of the snapshot. */
void recorder_add_hanging(struct recorder *recorder, const struct snapshot *snap);

#endif
