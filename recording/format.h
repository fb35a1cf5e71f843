/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file format shared by recorder and reader. Private to recording/. */
#ifndef RECORDING_FORMAT_H
#define RECORDING_FORMAT_H

#include <stdio.h>

#include "base/byte_buffer.h"
#include "report/snapshot.h"

#define RECORDING_VERSION 15
/* Format version that introduced each feature. */
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
#define RECORDING_WITH_GROWTHS 13   /* growing caches and lines of code of the kernel */
#define RECORDING_WITH_HUGE 13      /* `huge` of struct rss, RSS_UNREAD */
#define RECORDING_WITH_ITEMS 13     /* allocator of Python, and sites of the items of containers */
#define RECORDING_WITH_PLACES 14    /* places of the objects of Python's classes */
#define RECORDING_WITH_ALLOCATOR 14 /* allocator of Python even without classes */
#define RECORDING_WITH_BIRTHS 14    /* births of blocks, RECLAIM_UNKNOWN */
#define RECORDING_WITH_UNCOUNTED 15 /* Python's objects that were not counted in time */
#define RECORDING_WITH_ADDERS 15    /* lines that add items to Python's containers */

/*
 * Kind of the entry with Python's allocator and uncounted objects. Lower kinds: enum python_name,
 * and a class.
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
/* Maximum inflated size of a chunk; a million blocks take about 20 MB. */
#define CHUNK_BYTES_MAX (512U << 20)

struct recording_header recording_header_now(unsigned int flags);
void recording_header_put(const struct recording_header *header, uint8_t *bytes);
/*
 * Parses a header. Returns 0, -ENOEXEC if the file is no recording, or -ENOTSUP if the recording is
 * of a newer version.
 */
int recording_header_take(const uint8_t *bytes, struct recording_header *ret);

/*
 * Compresses payload into a chunk, which the caller must free. Returns 0, -EFBIG if the payload is
 * too large, or -ENOMEM.
 */
int recording_pack(const struct byte_buffer *payload, uint8_t **ret, size_t *ret_len);
/*
 * Reads the next chunk, which the caller must free. Returns 1 if there is one, 0 at the end of the
 * file, -EBADMSG, -ENOMEM or -EIO.
 */
int recording_unpack(FILE *file, uint8_t **ret, size_t *ret_len);

/* Flags in the tally of a process. */
#define RECORDING_TALLY_FOOTPRINT 1U
#define RECORDING_TALLY_ENDED 2U
#define RECORDING_TALLY_RSS 4U
#define RECORDING_TALLY_ENDED_HERE 8U
#define RECORDING_TALLY_STOPPED 16U
#define RECORDING_TALLY_TRACED_CHILDREN 32U

/* Number of words of each part of a snapshot. */
#define HEAD_WORDS 11
#define STAT_WORDS(header) (8 + (header)->shape_cnt + 2 * (header)->table_cnt)
#define PROOF_WORDS (7 + 2 * REACH_CNT)
#define CENSUS_WORDS (16 + 2 * HEAP_CLASSES * HEAP_USE_CNT)
#define COST_WORDS 6
#define KERNEL_WORDS 6
#define TAIL_WORDS (3 + PROOF_WORDS + CENSUS_WORDS + COST_WORDS + KERNEL_WORDS)
#define SNAPSHOT_WORDS(header)                                                                     \
	(HEAD_WORDS + (header)->lost_cnt + SPACE_CNT * STAT_WORDS(header) + TAIL_WORDS)

void recording_snapshot_words(const struct recording_header *header, const struct snapshot *snap,
			      bool final, uint64_t *words);
void recording_snapshot_from(const struct recording_header *header, const uint64_t *words,
			     struct snapshot *snap, bool *final);
/* Reads the proof of a snapshot from its words. Returns false if the snapshot has no proof. */
bool recording_proof_from(const struct recording_header *header, const uint64_t *words,
			  struct proof_facts *ret);
/* Reads the census of a snapshot from its words. Returns false if the snapshot has no census. */
bool recording_census_from(const struct recording_header *header, const uint64_t *words,
			   struct heap_census *ret);

/* Words of a site's state. All are 0 while the site is in no snapshot. */
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
	SITE_LAST_COMM, /* number of a string, like SITE_CACHE */
	SITE_CACHE,
	SITE_MARKS,
	SITE_AGES, /* three words for each age class: bytes, count, kept */
	SITE_UNSEEN_FREES = SITE_AGES + 3 * AGE_CLASS_CNT,
	SITE_PROVED,
	SITE_REACH, /* two words for each result of a proof: bytes, count */
	SITE_LOST_BYTES = SITE_REACH + 2 * REACH_CNT,
	SITE_LOST_COUNT,
	SITE_LOST_WITH_BYTES,
	SITE_LOST_WITH_COUNT,
	SITE_LOST_PER_S,
	SITE_LOST_SINCE,
	SITE_OWNER_PID,
	SITE_OWNER_COMM, /* number of a string */
	SITE_PINNED,
	SITE_WORDS,
};

/* Convert a site to its words and back. The caller converts the strings. */
void recording_site_words(const struct site *site, uint64_t t0_ns, uint64_t *words);
void recording_site_from(const uint64_t *words, uint64_t t0_ns, struct site *site);

/* Words of births: bytes and count of each class. */
#define BIRTH_WORDS (2 * AGE_CLASS_CNT)

void recording_birth_words(const struct ages *births, uint64_t *words);
void recording_births_from(const uint64_t *words, struct ages *births);
/* Moves births to the classes that they have after `now` has replaced the moments `before`. */
void recording_births_move(struct ages *births, const struct moments *before,
			   const struct moments *now);

#define SUMMARY_WORDS(header) (6 + (header)->shape_cnt)

void recording_summary_words(const struct process_summary *summary, uint64_t *words);
void recording_summary_from(const struct recording_header *header, const uint64_t *words,
			    struct process_summary *summary);

/*
 * Converts an age to a time of birth, which stays constant while the block ages. An unknown age is
 * converted to 0.
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
