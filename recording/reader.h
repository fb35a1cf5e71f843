/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that is being read. Private to recording.c and reader_*.c. Functions that take from a
 * chunk return 0, -EBADMSG, -EFBIG or -ENOMEM; what they have taken stays valid and bounded in any
 * case.
 */
#ifndef RECORDING_READER_H
#define RECORDING_READER_H

#include "recording/format.h"
#include "report/peak.h"
#include "report/symbol_backend.h"

/* That all sites, names and blocks, and the snapshot of them, may take, whatever a file says. */
#ifndef RECORDING_MEMORY_MAX
#define RECORDING_MEMORY_MAX (2ULL << 30)
#endif

/* Of a stack: no source keeps more. */
#define FRAMES_MAX 512

struct read_process {
	struct process process;
	uint64_t *summary; /* words; NULL: none was told of yet */
};

struct read_site {
	struct site fixed;                     /* what never changes; frames are its own */
	const struct sym_location **locations; /* one for each frame, NULL: not known */
	uint64_t words[SITE_WORDS];
	uint64_t left;        /* the first snapshot without it; 0: none had it */
	struct block *blocks; /* with births as ages */
	size_t block_cnt;
};

struct read_peak_site {
	size_t site;
	uint64_t words[SITE_WORDS];
};

/* Who holds the blocks of a site, in the present snapshot. */
struct read_chain {
	size_t site;
	struct holder *holders; /* without sites, which are: */
	size_t *sites;          /* numbers counted from 1; 0: none */
	size_t cnt;
};

struct recording {
	FILE *file;
	struct recording_header header;
	struct symbol_backend symbols;
	size_t memory_left; /* that what is read may take */
	uint64_t snapshots; /* begun to read */
	bool ended;
	bool begun;
	uint64_t *words; /* of the snapshot */

	/* By their numbers - 1. */
	char **strings;
	size_t string_cnt, string_cap;
	struct sym_location **locations;
	size_t location_cnt, location_cap;
	struct read_process **processes;
	size_t process_cnt, process_cap;

	struct read_site *sites; /* by their numbers */
	size_t site_cnt, site_cap;

	/* Of the present snapshot. */
	struct process_summary *summaries;
	size_t summary_cnt;
	struct process_tally *tallies;
	size_t tally_cnt;
	struct peak peak; /* its times and sums; arrays are made for each snapshot */
	bool has_peak;
	struct read_peak_site *peak_sites;
	size_t peak_site_cnt;
	struct proof_facts proof;
	struct heap_census census;
	struct read_chain *chains;
	size_t chain_cnt, chain_cap;
	struct hanging_sum *hanging;
	size_t hanging_cnt, hanging_cap;
	const uint64_t *frames; /* the snapshot's */
	size_t frame_cnt;
	const struct sym_location **frame_locations; /* beside them */
};

/* Whether there is room for so much; takes it. */
bool recording_take_memory(struct recording *recording, size_t cnt, size_t item_bytes);

int recording_take_string(struct recording *recording, struct byte_reader *from);
int recording_take_location(struct recording *recording, struct byte_reader *from);
int recording_take_process(struct recording *recording, struct byte_reader *from);
void recording_free_names(struct recording *recording);

/* References: NULL for 0, and after a failure. */
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
 * Gives sites of a snapshot who holds them. index: where the site of each number is in it;
 * SIZE_MAX: it is not.
 */
void recording_give_chains(struct recording *recording, struct snapshot *snap, const size_t *index);

int recording_take_hanging(struct recording *recording, struct byte_reader *from);
void recording_free_hanging(struct recording *recording);
/* Gives a snapshot what hangs from what. */
void recording_give_hanging(struct recording *recording, struct snapshot *snap);

/* Whether there is room for the snapshot of what was read so far. */
bool recording_has_room(const struct recording *recording);
/* That snapshot. */
int recording_make_snapshot(struct recording *recording, struct snapshot *ret);

#endif
