/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a site grows, judged by what it was at earlier reports: pure arithmetic. Times are
 * nanoseconds since tracing began unless they say otherwise; blocks are counted as sampled where
 * that is said, all else are estimates with sampling.
 */
#ifndef REPORT_TREND_H
#define REPORT_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/snapshot.h"

/* Older than so much: 2^10 ms, and for each further span four times as long. */
#define SPAN_CNT 7

/* The first class of age of a span; SPAN_CNT means all blocks. */
static inline size_t span_class(size_t span)
{
	return span < SPAN_CNT ? 11 + 2 * span : 0;
}

/* A site at a report. */
struct moment {
	uint64_t elapsed_ns;
	uint64_t bytes;
	uint64_t count;
	uint64_t process_bytes; /* of all sites of the process; its own if it is nobody's */
	uint64_t process_blocks;
	struct earlier_frees earlier; /* of the process, so far */
	/* As sampled, of blocks older than each span; the last of each are of all. 0 with -C. */
	float held_bytes[SPAN_CNT + 1];
	uint32_t held[SPAN_CNT + 1];
	uint32_t freed[SPAN_CNT + 1]; /* so far: a report had them, and a later one did not */
};

/*
 * What grows cannot be told before so many reports, and seconds: five that rise are the fewest of
 * which the trend test can be sure.
 */
#define TREND_LEAST_MOMENTS 5
#define TREND_LEAST_S 10

#define MOMENT_CNT 32
/* The last ones of them are of one report after the other. */
#define RECENT_MOMENTS 8

enum tendency {
	TENDENCY_UNKNOWN,  /* too few reports, or the next step may not be due yet */
	TENDENCY_FLAT,     /* as it was, or up and down */
	TENDENCY_STEADY,   /* grows from report to report */
	TENDENCY_STEPS,    /* grows now and then */
	TENDENCY_LEVELLED, /* grew, and does no more */
	TENDENCY_SHRINKS,
	TENDENCY_CNT,
};

/*
 * Each part and the whole are in [0, 1]. They are of all blocks or, if these do not grow, of those
 * older than some span that do: what a place allocates and soon frees says nothing of what it
 * leaks.
 */
struct leak_score {
	double total;   /* growth * unfreed, or * risen if that is not known */
	double growth;  /* how sure it is that they grow, and how little of that was given back */
	double risen;   /* what they grew by, of what they are now */
	double unfreed; /* the next of them is never freed, by Laplace's rule; NAN: not known */
	uint64_t older_ns; /* the span; 0: of all blocks */
};

/* Why a site is not said to grow. */
enum objection {
	OBJECTION_NONE,
	OBJECTION_EARLY,   /* too few reports */
	OBJECTION_TREND,   /* it may be chance */
	OBJECTION_RISES,   /* it rose too few times */
	OBJECTION_LATELY,  /* no more of late */
	OBJECTION_FREED,   /* too many were freed */
	OBJECTION_SITE,    /* all blocks of the site, or the younger ones, did not grow by it */
	OBJECTION_PROCESS, /* nor did all of the process */
	OBJECTION_EARLIER, /* it may take the place of blocks from before tracing began */
};

/* What a verdict is made from: what the blocks did in the window, the later half of their past. */
struct reasons {
	enum objection objection;
	uint64_t window_ns;
	double confidence; /* that there is a trend; less than 0: downwards */
	uint32_t rises;
	int64_t gained_bytes;
	int64_t gained; /* blocks */
	uint64_t freed;
	double freed_most; /* of which no more may be freed */
	double lately;     /* its rate of late, of that before */
};

struct trend {
	enum tendency tendency;
	uint64_t since_ns;  /* for how long it has been growing; or since it levelled off */
	double bytes_per_s; /* while it has been growing, else of late; NAN: not known; low and
			       high: 95 % sure */
	double low;
	double high;
	struct leak_score score;
	struct reasons reasons;
	/* All blocks or those of some age grow, but perhaps only replace older ones. */
	bool undecided;
	bool between_steps; /* it grew in steps, and the next one may not be due yet */
};

struct site_history {
	uint64_t id;
	struct moment *moments; /* oldest first, the last is now; recent ones are close together */
	size_t moment_cnt, moment_cap;
	uint64_t seen; /* blocks, as sampled, that reports had; 0 with -C */
	/* Those of them that a later report had no more, by their age when they were last seen. */
	uint64_t freed[AGE_CLASS_CNT];
	struct trend trend;
};

/* Of all ages that are at least that of the class. */
uint64_t history_freed(const struct site_history *history, size_t age_class);

/* An age under which nine in ten of the blocks that were freed were last seen; 0: none was. */
uint64_t history_lifetime_ns(const struct site_history *history);

/*
 * Bytes of blocks older than a span of 0 or struct leak_score, as sampled, that it holds more than
 * at its last moment up to since_ns.
 */
double history_gain(const struct site_history *history, uint64_t older_ns, uint64_t since_ns);

/* Whether it says of the site that it grows, and so much that it should be looked at. */
bool trend_is_suspect(const struct trend *trend);

/* In reports: "unknown", "flat", "steady", "steps", "levelled", "shrinks". */
const char *tendency_name(enum tendency tendency);

/* What is said against growth; "": nothing. */
const char *objection_words(enum objection objection);

/* Judges the past of a site. */
void trend_of(const struct site_history *history, struct trend *ret);

#endif
