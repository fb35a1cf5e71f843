/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder's insides. Private to recorder*.c. */
#ifndef RECORDING_RECORDER_H
#define RECORDING_RECORDER_H

#include "base/intern.h"
#include "recording/format.h"
#include "report/symbol_backend.h"

/* In the order of a chunk. */
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

/* What the file says of a site so far. */
struct recorded_site {
	uint64_t id;
	size_t number;
	uint64_t definition;  /* a hash; 0: there is none */
	uint64_t names;       /* the same of its locations */
	uint64_t blocks_hash; /* and of its blocks; 0: there are none */
	uint64_t last;        /* the snapshot that had it last, or whose peak had */
	uint64_t retry_at;    /* the snapshot that looks for its names; 0: it has all */
	uint64_t retry_gap;
	uint64_t words[SITE_WORDS];
	/* Of the snapshot that is being added. */
	const struct site *site; /* NULL: neither there nor in its peak */
	bool present;            /* there */
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
	uint64_t **summaries; /* words, by the number of the process */
	size_t summary_cnt;
	size_t summary_cap;
	struct recorded_site **sites; /* by number; NULL: nobody's at present */
	size_t site_cnt;
	size_t site_cap;
	struct hash_map by_id; /* the same */
	uint64_t *words;       /* of the last snapshot, and of this one */
	uint64_t peak_t0_ns;
	uint64_t peak_highest_bytes;
};

/* Numbers of what may be new to the file. 0 or -ENOMEM. NULL is 0. */
int recorder_string(struct recorder *recorder, const char *text, uint64_t *ret);
int recorder_process(struct recorder *recorder, const struct process *process, uint64_t *ret);

/* Names of sites that have none yet. */
int recorder_add_names(struct recorder *recorder, struct symbol_backend *symbols, bool all,
		       uint64_t deadline_ns);

/* Finds or makes the entries of a snapshot's sites, and says what never changes of them. */
int recorder_add_sites(struct recorder *recorder, const struct snapshot *snap);
/* What has changed of them; then forgets those that have not been there for long. */
int recorder_add_states(struct recorder *recorder, const struct snapshot *snap);
int recorder_add_peak(struct recorder *recorder, const struct snapshot *snap);
void recorder_free_sites(struct recorder *recorder);

/* Who holds what, of sites that recorder_add_sites() was told of; symbols may be NULL. */
int recorder_add_holders(struct recorder *recorder, const struct snapshot *snap,
			 struct symbol_backend *symbols, uint64_t deadline_ns);

/* What hangs from whose lost blocks; of the same sites. */
void recorder_add_hanging(struct recorder *recorder, const struct snapshot *snap);

#endif
