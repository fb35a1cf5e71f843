/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges whether a site grows, from its state at earlier reports. Pure arithmetic. Unless a comment
 * says otherwise, times are nanoseconds since tracing began and, with sampling, numbers of blocks
 * and bytes are estimates for all blocks.
 */
#ifndef REPORT_TREND_H
#define REPORT_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/snapshot.h"

/*
 * Number of spans. A span is an age that blocks may reach. The first span is 2^10 ms, and each
 * other span is four times as long as the previous one.
 */
#define SPAN_CNT 7

/* Returns the first age class above a span; 0 for SPAN_CNT, which stands for all blocks. */
static inline size_t span_class(size_t span)
{
	return span < SPAN_CNT ? 11 + 2 * span : 0;
}

/* State of a site at the time of a snapshot. */
struct history_point {
	uint64_t elapsed_ns;
	uint64_t bytes;
	uint64_t count;
	/*
	 * Bytes of all sites of the process; equal to `bytes` if the site belongs to no single
	 * process.
	 */
	uint64_t process_bytes;
	uint64_t process_blocks;
	/* Frees, by the process, of blocks that had been allocated before tracing began. */
	struct earlier_frees earlier;
	/*
	 * Sampled blocks older than each span. The entry with index SPAN_CNT covers all sampled
	 * blocks. All 0 with -C.
	 */
	float held_bytes[SPAN_CNT + 1];
	uint32_t held[SPAN_CNT + 1];
	/*
	 * For each span, number of freed blocks that were older than the span when they were last
	 * seen.
	 */
	uint32_t freed[SPAN_CNT + 1];
};

/*
 * Minimum number of reports for a verdict, and minimum time in seconds that they cover. With fewer
 * than five values, the trend test never finds a significant rise.
 */
#define TREND_LEAST_MOMENTS 5
#define TREND_LEAST_S 10

/*
 * Maximum number of points of a site. The times of the points are thinned out as in struct moments.
 */
#define HISTORY_POINTS_MAX MOMENTS_MAX
/* Number of latest points that are always kept. Of the older points, only some are kept. */
#define RECENT_POINTS RECENT_MOMENTS

enum tendency {
	/*
	 * There are too few reports, the next step of the growth may not be due yet, or the blocks
	 * may just replace freed blocks from before tracing.
	 */
	TENDENCY_UNKNOWN,
	TENDENCY_FLAT,     /* no trend: does not change, or goes up and down */
	TENDENCY_STEADY,   /* grows in the majority of the reports */
	TENDENCY_STEPS,    /* grows in steps, in some of the reports */
	TENDENCY_LEVELLED, /* grew, but does not grow any more */
	TENDENCY_SHRINKS,
	TENDENCY_CNT,
};

/*
 * How likely it is that a site leaks. All numbers except older_ns are in [0, 1]. The score judges
 * all blocks of the site. If all blocks together do not grow, but the blocks older than some span
 * do, it judges only these older blocks: younger blocks that are soon freed may hide blocks that
 * leak.
 */
struct leak_score {
	/* `growth` times `unfreed`, or `growth` times `risen` if `unfreed` is not known */
	double total;
	/*
	 * Confidence that blocks grow, multiplied by 1 - F. F is the largest fall in the window,
	 * divided by the difference between maximum and minimum.
	 */
	double growth;
	double risen;      /* growth of the site in the window, divided by its present size */
	double unfreed;    /* probability that the next block is never freed; NAN if not known */
	uint64_t older_ns; /* age that the judged blocks exceed; 0 if all blocks are judged */
};

/* Reasons why a site does not count as growing. */
enum objection {
	OBJECTION_NONE,
	OBJECTION_EARLY,   /* too few reports */
	OBJECTION_TREND,   /* the trend may be due to chance */
	OBJECTION_RISES,   /* the site had too few rises */
	OBJECTION_LATELY,  /* no recent growth */
	OBJECTION_FREED,   /* too many blocks were freed */
	OBJECTION_SITE,    /* the blocks only got older: the site did not grow as a whole */
	OBJECTION_PROCESS, /* the process did not grow as a whole */
	OBJECTION_EARLIER, /* the blocks may just replace freed blocks from before tracing */
};

/* Facts behind a verdict. They are measured in the window: the later part of a site's past. */
struct reasons {
	enum objection objection;
	uint64_t window_ns;
	double confidence; /* confidence of the trend; negative if the trend is downward */
	uint32_t rises;
	int64_t gained_bytes;
	int64_t gained; /* number of blocks by which the site grew; negative if it shrank */
	uint64_t freed;
	double freed_most; /* maximum value of `freed` for a site that counts as growing */
	double lately;     /* recent rate of growth, divided by the earlier rate */
};

struct trend {
	enum tendency tendency;
	/* Duration of the growth; for TENDENCY_LEVELLED, time since the growth ended. */
	uint64_t since_ns;
	/*
	 * Rate during the growth, or in the window if the site does not grow; NAN if not known.
	 * `low` and `high` are the 95 % confidence limits of the rate.
	 */
	double bytes_per_s;
	double low;
	double high;
	/*
	 * bytes_per_s minus the rate in the recent past, if growth has become much slower, as in a
	 * cache that fills up; otherwise 0.
	 */
	double slowed_per_s;
	struct leak_score score;
	struct reasons reasons;
	/*
	 * True if the site grows, but its blocks may just replace other blocks, from before tracing
	 * or of other sites.
	 */
	bool undecided;
	/*
	 * True if the site does not count as growing yet, but it is too early to rule out a leak:
	 * the next step of its growth may still come, or it grows although it frees blocks.
	 */
	bool pending;
};

struct site_history {
	uint64_t id;
	/* States of the site, oldest first. Several histories may share a point. */
	const struct history_point **points;
	size_t point_cnt, point_cap;
	uint64_t seen; /* number of sampled blocks ever seen; 0 with -C */
	/* Sampled blocks that have been freed, by the age at which they were last seen. */
	uint64_t freed[AGE_CLASS_CNT];
	struct trend trend;
};

/*
 * Returns how many freed blocks of the site were in age class `age_class` or an older one when they
 * were last seen.
 */
uint64_t history_freed(const struct site_history *history, size_t age_class);

/*
 * Returns an age that 90 % of the freed blocks had not reached when they were last seen; 0 if no
 * block was freed; UINT64_MAX if more than 10 % were in the last age class.
 */
uint64_t history_lifetime_ns(const struct site_history *history);

/*
 * Returns the bytes that a site gained between since_ns and its last point. Unless older_ns is 0,
 * counts only sampled blocks older than older_ns, as in struct leak_score.
 */
double history_gain(const struct site_history *history, uint64_t older_ns, uint64_t since_ns);

/* True if a site grows and its leak score is high enough for a suspect. */
bool trend_is_suspect(const struct trend *trend);

/*
 * Returns the name of a tendency in reports: "unknown", "flat", "steady", "steps", "levelled" or
 * "shrinks".
 */
const char *tendency_name(enum tendency tendency);

/* Returns an objection in words; "" for OBJECTION_NONE. */
const char *objection_words(enum objection objection);

void trend_of(const struct site_history *history, struct trend *ret);

#endif
