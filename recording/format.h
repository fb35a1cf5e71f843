/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What both ends of a recording must agree on. Private to this room. */
#ifndef RECORDING_FORMAT_H
#define RECORDING_FORMAT_H

#include <stdio.h>

#include "base/byte_buffer.h"
#include "report/snapshot.h"

#define RECORDING_VERSION 6
/* From these versions on: */
#define RECORDING_WITH_EARLIER_FREES 2
#define RECORDING_WITH_HOLDERS 3
#define RECORDING_WITH_HANGING 4
#define RECORDING_WITH_FOOTPRINTS 5
#define RECORDING_WITH_PROGRAM_NAMES 6
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
/* A million blocks take some 20 MB. */
#define CHUNK_BYTES_MAX (512U << 20)

struct recording_header recording_header_now(unsigned int flags);
void recording_header_put(const struct recording_header *header, uint8_t *bytes);
/* -ENOEXEC, -ENOTSUP */
int recording_header_take(const uint8_t *bytes, struct recording_header *ret);

/* The chunk of what is in payload: to be freed; -EFBIG: it is too much for one. */
int recording_pack(const struct byte_buffer *payload, uint8_t **ret, size_t *ret_len);
/* The next chunk, to be freed. 1; 0: none follows; -EBADMSG, -ENOMEM, -EIO. */
int recording_unpack(FILE *file, uint8_t **ret, size_t *ret_len);

/* Flags of a process's tally. */
#define RECORDING_TALLY_FOOTPRINT 1U
#define RECORDING_TALLY_ENDED 2U
#define RECORDING_TALLY_RSS 4U

/* A snapshot's own words. */
#define HEAD_WORDS 11
#define STAT_WORDS(header) (8 + (header)->shape_cnt + 2 * (header)->table_cnt)
#define PROOF_WORDS (7 + 2 * REACH_CNT)
#define CENSUS_WORDS (16 + 2 * HEAP_CLASSES * HEAP_USE_CNT)
#define TAIL_WORDS (3 + PROOF_WORDS + CENSUS_WORDS)
#define SNAPSHOT_WORDS(header)                                                                     \
	(HEAD_WORDS + (header)->lost_cnt + SPACE_CNT * STAT_WORDS(header) + TAIL_WORDS)

void recording_snapshot_words(const struct recording_header *header, const struct snapshot *snap,
			      bool final, uint64_t *words);
void recording_snapshot_from(const struct recording_header *header, const uint64_t *words,
			     struct snapshot *snap, bool *final);
/* Whether the snapshot has a proof. */
bool recording_proof_from(const struct recording_header *header, const uint64_t *words,
			  struct proof_facts *ret);
/* The same of a census. */
bool recording_census_from(const struct recording_header *header, const uint64_t *words,
			   struct heap_census *ret);

/* A site's words: what it holds. All are 0 while a snapshot does not have it. */
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
	SITE_LAST_COMM, /* the number of a string; so is the next */
	SITE_CACHE,
	SITE_MARKS,
	SITE_AGES, /* of each class in turn: bytes, count, kept */
	SITE_UNSEEN_FREES = SITE_AGES + 3 * AGE_CLASS_CNT,
	SITE_PROVED,
	SITE_REACH, /* of each kind in turn: bytes, count */
	SITE_LOST_BYTES = SITE_REACH + 2 * REACH_CNT,
	SITE_LOST_COUNT,
	SITE_LOST_WITH_BYTES,
	SITE_LOST_WITH_COUNT,
	SITE_LOST_PER_S,
	SITE_LOST_SINCE,
	SITE_OWNER_PID,
	SITE_OWNER_COMM, /* the number of a string */
	SITE_WORDS,
};

/* All but those that are strings. */
void recording_site_words(const struct site *site, uint64_t t0_ns, uint64_t *words);
void recording_site_from(const uint64_t *words, uint64_t t0_ns, struct site *site);

#define SUMMARY_WORDS(header) (6 + (header)->shape_cnt)

void recording_summary_words(const struct process_summary *summary, uint64_t *words);
void recording_summary_from(const struct recording_header *header, const uint64_t *words,
			    struct process_summary *summary);

/* A time from an age, so that it stays the same; 0: the age is not known. */
static inline uint64_t birth_of(uint64_t t0_ns, uint64_t age_ns)
{
	return age_ns == AGE_UNKNOWN ? 0 : t0_ns - age_ns + 1;
}

static inline uint64_t age_of(uint64_t t0_ns, uint64_t birth)
{
	return birth ? t0_ns - (birth - 1) : AGE_UNKNOWN;
}

#endif
