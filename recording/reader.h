/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a recording being read. Private to recording.c and reader_*.c. Functions that read
 * from a chunk return 0, -EBADMSG, -EFBIG or -ENOMEM. Even on failure, the state stays valid and
 * bounded.
 */
#ifndef RECORDING_READER_H
#define RECORDING_READER_H

#include "recording/format.h"
#include "report/peak.h"
#include "report/symbol_backend.h"

/* Maximum memory for sites, names, blocks and the snapshot, whatever the file contains. */
#ifndef RECORDING_MEMORY_MAX
#define RECORDING_MEMORY_MAX (2ULL << 30)
#endif

/* Maximum frames of a stack. No source records longer stacks. */
#define FRAMES_MAX 512

struct read_process {
	struct process process;
	uint64_t *summary; /* words of the process's summary; NULL before the first summary */
};

struct read_site {
	struct site fixed;                     /* constant part of the site; owns its frames */
	const struct sym_location **locations; /* names of each frame; NULL if unknown */
	uint64_t words[SITE_WORDS];
	uint64_t absent_since; /* snapshot in which the site disappeared; 0 if it never did */
	struct block *blocks;  /* blocks, with times of birth instead of ages */
	size_t block_cnt;
	struct ages *births; /* NULL if not recorded */
};

struct read_peak_site {
	size_t site;
	uint64_t words[SITE_WORDS];
};

/* The chain of holders of a site's blocks, in the current snapshot. */
struct read_chain {
	size_t site;
	struct holder *holders; /* holders, whose field `site` is not set: see `sites` */
	/* Number of each holder's site, counted from 1; 0 if the holder has no site. */
	size_t *sites;
	size_t cnt;
};

struct recording {
	FILE *file;
	struct recording_header header;
	struct symbol_backend symbols;
	size_t memory_left; /* remaining memory budget */
	uint64_t snapshots; /* number of snapshots whose reading has begun */
	bool ended;
	bool begun;
	uint64_t *words; /* words of the current snapshot */

	/* In the arrays below, the item with number N is at index N - 1. */
	char **strings;
	size_t string_cnt, string_cap;
	struct sym_location **locations;
	size_t location_cnt, location_cap;
	struct read_process **processes;
	size_t process_cnt, process_cap;

	struct read_site *sites; /* sites; the site with number N is at index N */
	size_t site_cnt, site_cap;

	/* Data of the current snapshot. */
	struct process_summary *summaries;
	size_t summary_cnt;
	struct process_tally *tallies;
	size_t tally_cnt;
	struct peak peak; /* times and totals; the arrays are allocated anew for each snapshot */
	bool has_peak;
	struct read_peak_site *peak_sites;
	size_t peak_site_cnt;
	struct proof_facts proof;
	struct heap_census census;
	struct read_chain *chains;
	size_t chain_cnt, chain_cap;
	struct hanging_sum *hanging;
	size_t hanging_cnt, hanging_cap;
	struct python_growth python;
	bool has_python; /* the latest snapshot has the growth of Python's objects */
	struct kernel_growth growths[KERNEL_GROWTH_KIND_CNT * KERNEL_GROWTHS_MAX];
	size_t growth_cnt;
	struct moments earlier;
	const uint64_t *frames; /* frames of the current snapshot */
	size_t frame_cnt;
	const struct sym_location **frame_locations; /* location of each of the frames */
};

/* Takes memory from the budget. Returns false if too little of the budget remains. */
bool recording_take_memory(struct recording *recording, size_t cnt, size_t item_bytes);

int recording_take_string(struct recording *recording, struct byte_reader *from);
int recording_take_location(struct recording *recording, struct byte_reader *from);
int recording_take_process(struct recording *recording, struct byte_reader *from);
void recording_free_names(struct recording *recording);

/*
 * Return the item with the given number; NULL for number 0 and after a failure. The functions with
 * "take" in their names read the number from the chunk.
 */
const char *recording_string_at(const struct recording *recording, uint64_t number);
const char *recording_take_string_ref(const struct recording *recording, struct byte_reader *from);
const struct sym_location *recording_take_location_ref(const struct recording *recording,
						       struct byte_reader *from);
struct read_process *recording_take_process_ref(const struct recording *recording,
						struct byte_reader *from);

int recording_take_site(struct recording *recording, struct byte_reader *from);
int recording_take_site_names(struct recording *recording, struct byte_reader *from);
int recording_take_states(struct recording *recording, struct byte_reader *from);
int recording_take_site_blocks(struct recording *recording, struct byte_reader *from);
int recording_take_peak(struct recording *recording, struct byte_reader *from);
void recording_free_sites(struct recording *recording);

int recording_take_chain(struct recording *recording, struct byte_reader *from);
void recording_free_chains(struct recording *recording);
/*
 * Adds the holders to the sites of a snapshot. index has, for each site number, the site's index in
 * the snapshot, or SIZE_MAX if the snapshot does not have the site.
 */
void recording_give_chains(struct recording *recording, struct snapshot *snap, const size_t *index);

int recording_take_hanging(struct recording *recording, struct byte_reader *from);
void recording_free_hanging(struct recording *recording);
/* Adds to a snapshot the sums of memory that is reachable only from lost blocks. */
void recording_give_hanging(struct recording *recording, struct snapshot *snap);

int recording_take_python(struct recording *recording, struct byte_reader *from);
int recording_take_growth(struct recording *recording, struct byte_reader *from);
int recording_take_births(struct recording *recording, struct byte_reader *from);
void recording_free_births(struct recording *recording, struct read_site *site);

/* True if the memory budget suffices for the snapshot. */
bool recording_has_room(const struct recording *recording);
/* Makes a snapshot from the most recently read data. */
int recording_make_snapshot(struct recording *recording, struct snapshot *ret);

#endif
