/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a recording that is being read. Private to recording.c and reader_*.c. Functions
 * that read from a chunk return 0, -EBADMSG, -EFBIG or -ENOMEM. Whatever the file contains, and
 * even after a failure, the state stays valid and its memory limited.
 */
#ifndef RECORDING_READER_H
#define RECORDING_READER_H

#include "recording/format.h"
#include "report/peak.h"
#include "report/symbol_backend.h"

/*
 * Memory budget in bytes for the kept data of a recording (sites, names, blocks) plus one snapshot,
 * whatever the file contains.
 */
#ifndef RECORDING_MEMORY_MAX
#define RECORDING_MEMORY_MAX (2ULL << 30)
#endif

/* Maximum frames of a stack. No recorder writes longer stacks. */
#define FRAMES_MAX 512

struct read_process {
	struct process process;
	uint64_t *summary; /* words of the process's latest summary; NULL if there was none */
};

struct read_site {
	struct site fixed;                     /* constant part of the site; owns its `frames` */
	const struct sym_location **locations; /* location of each frame; NULL if not known */
	uint64_t words[SITE_WORDS];
	/* number of the snapshot at which the site last disappeared; 0 if it never disappeared */
	uint64_t absent_since;
	struct block *blocks; /* the site's blocks; age_ns has the time of allocation */
	size_t block_cnt;
	struct ages *births; /* blocks by time of allocation; NULL if not recorded */
};

struct read_peak_site {
	size_t site;
	uint64_t words[SITE_WORDS];
};

/* The chain of holders of a site's blocks in the current snapshot. */
struct read_chain {
	size_t site;
	/* holders; their field `site` is filled in from `sites` when the snapshot is made */
	struct holder *holders;
	/* Number of each holder's site, plus 1; 0 if the holder has no site. */
	size_t *sites;
	size_t cnt;
};

struct recording {
	FILE *file;
	struct recording_header header;
	struct symbol_backend symbols;
	size_t memory_left; /* bytes left of the memory budget */
	/* snapshots read, including one that is being read */
	uint64_t snapshots;
	bool ended;
	bool begun;
	uint64_t *words; /* fields of fixed size of the current snapshot */

	/* In `strings`, `locations` and `processes`, the item with number N is at index N - 1. */
	char **strings;
	size_t string_cnt, string_cap;
	struct sym_location **locations;
	size_t location_cnt, location_cap;
	struct read_process **processes;
	size_t process_cnt, process_cap;

	struct read_site *sites; /* the site with number N is at index N */
	size_t site_cnt, site_cap;

	/* Data of the current snapshot: the fields from `summaries` to `frame_locations`. */
	struct process_summary *summaries;
	size_t summary_cnt;
	struct process_tally *tallies;
	size_t tally_cnt;
	/* the latest peak; its array of sites is allocated anew for each snapshot */
	struct peak peak;
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
	bool has_python; /* true if the current snapshot has the growth of Python's objects */
	struct kernel_growth growths[KERNEL_GROWTH_KIND_CNT * KERNEL_GROWTHS_MAX];
	size_t growth_cnt;
	struct moments earlier;
	const uint64_t *frames; /* frames of all sites of the current snapshot */
	size_t frame_cnt;
	const struct sym_location **frame_locations; /* location of each element of `frames` */
};

/* Takes cnt * item_bytes bytes from the memory budget. False if too little is left. */
bool recording_take_memory(struct recording *recording, size_t cnt, size_t item_bytes);

int recording_take_string(struct recording *recording, struct byte_reader *from);
int recording_take_location(struct recording *recording, struct byte_reader *from);
int recording_take_process(struct recording *recording, struct byte_reader *from);
void recording_free_names(struct recording *recording);

/*
 * Return the item with a given number; NULL if the number is 0 or invalid. The functions with
 * "take" in their names read the number from the chunk, whose reading fails if the number is
 * invalid.
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
 * Sets the holders of the sites of a snapshot. index[N] is the position in the snapshot of the site
 * with number N; SIZE_MAX if the snapshot does not have it.
 */
void recording_give_chains(struct recording *recording, struct snapshot *snap, const size_t *index);

int recording_take_hanging(struct recording *recording, struct byte_reader *from);
void recording_free_hanging(struct recording *recording);
/* Copies to a snapshot the sums of memory that is reachable only from lost blocks. */
void recording_give_hanging(struct recording *recording, struct snapshot *snap);

int recording_take_python(struct recording *recording, struct byte_reader *from);
int recording_take_growth(struct recording *recording, struct byte_reader *from);
int recording_take_births(struct recording *recording, struct byte_reader *from);
void recording_free_births(struct recording *recording, struct read_site *site);

/* True if the memory budget suffices for a snapshot of the current state. */
bool recording_has_room(const struct recording *recording);
/* Makes a snapshot of the current state. Returns 0 or a negative errno. */
int recording_make_snapshot(struct recording *recording, struct snapshot *ret);

#endif
