/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file format of recordings. Private to recording/. */
#ifndef RECORDING_FORMAT_H
#define RECORDING_FORMAT_H

#include <stdio.h>

#include "base/byte_buffer.h"
#include "report/snapshot.h"

#define RECORDING_VERSION 21
/* First format version with each kind of data. */
#define RECORDING_WITH_EARLIER_FREES 2
#define RECORDING_WITH_HOLDERS 3
#define RECORDING_WITH_HANGING 4
#define RECORDING_WITH_FOOTPRINTS 5
#define RECORDING_WITH_PROGRAM_NAMES 6
#define RECORDING_WITH_FILES 7      /* FOOTPRINT_FILES */
#define RECORDING_WITH_CHILDREN 8   /* FOOTPRINT_CHILDREN */
#define RECORDING_WITH_PINNED 9     /* pinned_by_older of struct rss, SITE_PINNED */
#define RECORDING_WITH_ZOMBIES 10   /* FOOTPRINT_ZOMBIES */
#define RECORDING_WITH_UNMAPPED 11  /* FOOTPRINT_UNMAPPED, growing objects of Python */
#define RECORDING_WITH_TOO_YOUNG 12 /* FOOTPRINT_TOO_YOUNG */
#define RECORDING_WITH_GROWTHS 13   /* growing slab caches and lines of kernel code */
#define RECORDING_WITH_HUGE 13      /* `huge` of struct rss, RSS_UNREAD */
/* Python's allocator, and sites at which containers allocate items */
#define RECORDING_WITH_ITEMS 13
#define RECORDING_WITH_PLACES 14    /* lines that create the objects of a Python class */
#define RECORDING_WITH_ALLOCATOR 14 /* Python's allocator even if no class grows */
#define RECORDING_WITH_BIRTHS 14    /* blocks by time of allocation, RECLAIM_UNKNOWN */
#define RECORDING_WITH_UNCOUNTED 15 /* number of Python objects not counted in time */
#define RECORDING_WITH_ADDERS 15    /* script lines that add items to Python containers */
#define RECORDING_WITH_MAPPINGS 16  /* FOOTPRINT_MAPPINGS and further parts, limits and names */
#define RECORDING_WITH_POOLS 17     /* RSS_PYTHON */
#define RECORDING_WITH_SWAPPED 17   /* `swapped` of struct rss */
#define RECORDING_WITH_SOCKETS 17   /* FOOTPRINT_SOCKETS */
#define RECORDING_WITH_TIMERS 18    /* FOOTPRINT_TIMERS, FOOTPRINT_QUEUES */
#define RECORDING_WITH_MAIN_TOP 19  /* `main_top` of struct rss */
#define RECORDING_WITH_ROOM 21      /* `room` of struct rss */

/*
 * Kind of the entry of the section "python" with Python's allocator and the number of uncounted
 * objects. Lower kinds are those of containers (enum python_name) and of classes (PYTHON_NAME_CNT).
 */
#define RECORDING_PYTHON_ALLOCATOR (PYTHON_NAME_CNT + 1)
#define RUN_ID_BYTES 16

struct recording_header {
	unsigned int version;
	unsigned int flags;
	uint8_t run[RUN_ID_BYTES];
	size_t lost_cnt;
	size_t shape_cnt;
	size_t table_cnt;
};

#define HEADER_BYTES 40
#define CHUNK_HEAD_BYTES 12
/* Maximum inflated size of a chunk in bytes. A million blocks take about 20 MB. */
#define CHUNK_BYTES_MAX (512U << 20)

struct recording_header recording_header_now(unsigned int flags);
void recording_header_put(const struct recording_header *header, uint8_t *bytes);
/*
 * Parses a header. Returns 0, -ENOEXEC if the file is no recording or its header is damaged, or
 * -ENOTSUP if it was written by a newer version of memleak.
 */
int recording_header_take(const uint8_t *bytes, struct recording_header *ret);

/*
 * Compresses `payload` into a chunk with its head, which the caller must free. Returns 0, -EFBIG if
 * the payload is too large, or -ENOMEM.
 */
int recording_pack(const struct byte_buffer *payload, uint8_t **ret, size_t *ret_len);
/*
 * Reads and inflates the next chunk, which the caller must free. Returns 1 on success, 0 at the end
 * of the file, -EBADMSG if the chunk is truncated or damaged, -ENOMEM or -EIO.
 */
int recording_unpack(FILE *file, uint8_t **ret, size_t *ret_len);

/* Flags of a process's entry in the section "tallies". */
#define RECORDING_TALLY_FOOTPRINT 1U
#define RECORDING_TALLY_ENDED 2U
#define RECORDING_TALLY_RSS 4U
#define RECORDING_TALLY_ENDED_HERE 8U
#define RECORDING_TALLY_STOPPED 16U
#define RECORDING_TALLY_TRACED_CHILDREN 32U
#define RECORDING_TALLY_OTHER_NETWORK 64U
#define RECORDING_TALLY_OUT_OF_MEMORY 128U
/* Position and maximum of the signal that ended the process */
#define RECORDING_TALLY_KILLED_BY 8
#define RECORDING_TALLY_SIGNAL 127

/* Number of 64-bit words for each part of a snapshot's fields of fixed size. */
#define HEAD_WORDS 11
#define STAT_WORDS(header) (8 + (header)->shape_cnt + 2 * (header)->table_cnt)
#define PROOF_WORDS (7 + 2 * REACH_CNT)
#define CENSUS_WORDS (16 + 2 * HEAP_CLASSES * HEAP_USE_CNT)
#define COST_WORDS 6
#define KERNEL_WORDS 6
#define OVERHEAD_WORDS 2 /* --max-overhead */
#define TAIL_WORDS (3 + PROOF_WORDS + CENSUS_WORDS + COST_WORDS + KERNEL_WORDS + OVERHEAD_WORDS)
#define SNAPSHOT_WORDS(header)                                                                     \
	(HEAD_WORDS + (header)->lost_cnt + SPACE_CNT * STAT_WORDS(header) + TAIL_WORDS)

void recording_snapshot_words(const struct recording_header *header, const struct snapshot *snap,
			      bool final, uint64_t *words);
void recording_snapshot_from(const struct recording_header *header, const uint64_t *words,
			     struct snapshot *snap, bool *final);
/* Converts words back to a proof. Returns false if the snapshot has none. */
bool recording_proof_from(const struct recording_header *header, const uint64_t *words,
			  struct proof_facts *ret);
/* Converts words back to a census. Returns false if the snapshot has none. */
bool recording_census_from(const struct recording_header *header, const uint64_t *words,
			   struct heap_census *ret);

/* Indices of the words of a site's state. All words are 0 while the site is in no snapshot. */
enum {
	SITE_PRESENT,
	SITE_BYTES,
	SITE_COUNT,
	SITE_BYTES_VARIANCE,
	SITE_COUNT_VARIANCE,
	SITE_INHERITED_BYTES,
	SITE_INHERITED_COUNT,
	SITE_OLDEST,
	SITE_NEWEST,
	SITE_LARGEST_ADDR,
	SITE_LARGEST_SIZE,
	SITE_LARGEST_SAMPLED_SIZE,
	SITE_LARGEST_BIRTH,
	SITE_LARGEST_TID,
	SITE_LARGEST_INHERITED,
	SITE_LAST_PID,
	SITE_LAST_COMM, /* number of a recorded string; 0 for none */
	SITE_CACHE,
	SITE_MARKS,
	/*
	 * three words for each age class: bytes, count, and count of blocks in the previous
	 * snapshot
	 */
	SITE_AGES,
	SITE_UNSEEN_FREES = SITE_AGES + 3 * AGE_CLASS_CNT,
	SITE_PROVED,
	SITE_REACH, /* two words for each reachability: bytes, count */
	SITE_LOST_BYTES = SITE_REACH + 2 * REACH_CNT,
	SITE_LOST_COUNT,
	SITE_LOST_WITH_BYTES,
	SITE_LOST_WITH_COUNT,
	SITE_LOST_PER_S,
	SITE_LOST_SINCE,
	SITE_OWNER_PID,
	SITE_OWNER_COMM, /* number of a recorded string; 0 for none */
	SITE_PINNED,
	SITE_WORDS,
};

/*
 * Convert the state of a site to its words and back, except for numbers of strings: the caller
 * converts these.
 */
void recording_site_words(const struct site *site, uint64_t t0_ns, uint64_t *words);
void recording_site_from(const uint64_t *words, uint64_t t0_ns, struct site *site);

/*
 * Number of words for the `births` of a site: bytes and count for each class of allocation times.
 */
#define BIRTH_WORDS (2 * AGE_CLASS_CNT)

void recording_birth_words(const struct ages *births, uint64_t *words);
void recording_births_from(const uint64_t *words, struct ages *births);
/*
 * Converts a site's `births` when the earlier times that define its classes change from `before` to
 * `now`.
 */
void recording_births_move(struct ages *births, const struct moments *before,
			   const struct moments *now);

#define SUMMARY_WORDS(header) (6 + (header)->shape_cnt)

void recording_summary_words(const struct process_summary *summary, uint64_t *words);
void recording_summary_from(const struct recording_header *header, const uint64_t *words,
			    struct process_summary *summary);

/*
 * Converts the age of a block to its time of allocation, which stays constant while the block ages.
 * Returns 0 for an unknown age.
 */
static inline uint64_t birth_of(uint64_t t0_ns, uint64_t age_ns)
{
	return age_ns == AGE_UNKNOWN ? 0 : t0_ns - age_ns + 1;
}

static inline uint64_t age_of(uint64_t t0_ns, uint64_t birth)
{
	return birth ? t0_ns - (birth - 1) : AGE_UNKNOWN;
}

#endif
