/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges whether a site grows, from its state at earlier reports. Pure arithmetic. Times are
 * nanoseconds since tracing began unless stated otherwise. With sampling, numbers are estimates
 * unless they are said to count sampled blocks.
 */
#ifndef REPORT_TREND_H
#define REPORT_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/snapshot.h"

/* Number of spans. A span is a minimum age of blocks: 2^10 ms, then four times more for each. */
#define SPAN_CNT 7

/* Returns the first age class of a span; 0 for SPAN_CNT, which stands for all blocks. */
static inline size_t span_class(size_t span)
{
	return span < SPAN_CNT ? 11 + 2 * span : 0;
}

/* State of a site at a report. */
struct moment {
	uint64_t elapsed_ns;
	uint64_t bytes;
	uint64_t count;
	uint64_t process_bytes; /* all sites of the process; equals bytes without one */
	uint64_t process_blocks;
	struct earlier_frees earlier; /* frees in the process since tracing began */
	/* Sampled blocks older than each span; the last entries count all blocks. 0 with -C. */
	float held_bytes[SPAN_CNT + 1];
	uint32_t held[SPAN_CNT + 1];
	uint32_t freed[SPAN_CNT + 1]; /* blocks of earlier reports that were freed since */
};

/*
 * Minimum reports, and minimum seconds, for a verdict. Fewer than five rising values are never
 * significant in the trend test.
 */
#define TREND_LEAST_MOMENTS 5
#define TREND_LEAST_S 10

#define MOMENT_CNT 32
/* Number of latest moments that are kept without gaps; older moments are thinned out. */
#define RECENT_MOMENTS 8

enum tendency {
	TENDENCY_UNKNOWN,  /* too few reports, or the next step may not be due yet */
	TENDENCY_FLAT,     /* no trend: unchanged, or up and down */
	TENDENCY_STEADY,   /* grows from report to report */
	TENDENCY_STEPS,    /* grows now and then */
	TENDENCY_LEVELLED, /* grew, but no longer does */
	TENDENCY_SHRINKS,
	TENDENCY_CNT,
};

/*
 * How likely a site leaks; all numbers but older_ns are in [0, 1]. Judges all blocks or, if these
 * do not grow, the blocks older than some span: blocks that a site soon frees say nothing about the
 * blocks that it leaks.
 */
struct leak_score {
	double total;      /* growth * unfreed, or growth * risen if unfreed is not known */
	double growth;     /* confidence that blocks grow, reduced by the part given back */
	double risen;      /* growth in the window divided by the present size */
	double unfreed;    /* probability that the next block is never freed; NAN if not known */
	uint64_t older_ns; /* minimum age of the judged blocks; 0 for all blocks */
};

/* Why a site does not count as growing. */
enum objection {
	OBJECTION_NONE,
	OBJECTION_EARLY,   /* too few reports */
	OBJECTION_TREND,   /* the trend may be chance */
	OBJECTION_RISES,   /* the site rose too few times */
	OBJECTION_LATELY,  /* no recent growth */
	OBJECTION_FREED,   /* too many blocks were freed */
	OBJECTION_SITE,    /* blocks only got older: the site as a whole did not grow */
	OBJECTION_PROCESS, /* the process as a whole did not grow */
	OBJECTION_EARLIER, /* may only replace freed blocks from before tracing began */
};

/* Facts behind a verdict, measured in the window, which is the later part of a site's past. */
struct reasons {
	enum objection objection;
	uint64_t window_ns;
	double confidence; /* confidence of the trend; negative if it is downwards */
	uint32_t rises;
	int64_t gained_bytes;
	int64_t gained; /* number of blocks gained */
	uint64_t freed;
	double freed_most; /* maximum freed blocks of a growing site */
	double lately;     /* recent rate of growth divided by the rate before */
};

struct trend {
	enum tendency tendency;
	uint64_t since_ns;  /* how long the site has been growing, or has been level */
	double bytes_per_s; /* rate while growing, else in the window; NAN if not known; low and
			       high are its 95 % confidence limits */
	double low;
	double high;
	struct leak_score score;
	struct reasons reasons;
	/* Blocks grow, but may only replace freed blocks from before tracing began. */
	bool undecided;
	bool between_steps; /* the site grew in steps; the next step may not be due yet */
};

struct site_history {
	uint64_t id;
	struct moment *moments; /* oldest first; the last one is the present */
	size_t moment_cnt, moment_cap;
	uint64_t seen; /* sampled blocks in all reports so far; 0 with -C */
	/* Sampled blocks that are gone by now, by their age when last seen. */
	uint64_t freed[AGE_CLASS_CNT];
	struct trend trend;
};

/* Returns the number of freed blocks in an age class and all older ones. */
uint64_t history_freed(const struct site_history *history, size_t age_class);

/* Returns the age below which 90 % of the freed blocks were last seen; 0 if none was freed. */
uint64_t history_lifetime_ns(const struct site_history *history);

/*
 * Returns the bytes that a site gained since its last moment up to since_ns. Counts only sampled
 * blocks older than older_ns of struct leak_score, or all blocks if older_ns is 0.
 */
double history_gain(const struct site_history *history, uint64_t older_ns, uint64_t since_ns);

/* True if a site grows and its leak score makes it a suspect. */
bool trend_is_suspect(const struct trend *trend);

/* Returns the name in reports: "unknown", "flat", "steady", "steps", "levelled" or "shrinks". */
const char *tendency_name(enum tendency tendency);

/* Returns the text of an objection; "" for OBJECTION_NONE. */
const char *objection_words(enum objection objection);

/* Judges a site by its history. */
void trend_of(const struct site_history *history, struct trend *ret);

#endif
