// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Judges whether sites grow. Uses the trend test of Mann (1945) and Kendall, the slope of Theil and
 * Sen (1968) with its confidence limits, and Laplace's rule of succession.
 */
#include "report/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

#define LEAST_CONFIDENCE 0.95
/*
 * Length of the window, as a fraction of the site's past. The window is the latest part of the
 * past, and only the window is judged. It is long enough to see temporary memory being freed.
 */
#define LATER_PART 0.6
#define LEAST_SCORE 0.4
/*
 * Minimum number of rises of a site for it to count as growing. A site that grows in steps needs
 * LEAST_STEPS, because memory also grows in a few steps while a program loads.
 */
#define LEAST_RISES 3
#define LEAST_STEPS 5
#define STEADY_RISES 0.7
/*
 * Maximum duration of a step, relative to the duration of the previous step. Each step of a vector
 * that doubles lasts twice as long as the step before; the factor is larger because a report may
 * show a step late.
 */
#define WIDENING 3
/*
 * Minimum rate of the latest step, relative to the average rate. With a lower rate, the site is
 * levelling off.
 */
#define STEP_RATE 0.5
/*
 * MOST_OF_ALL: a site counts as level once it has reached this fraction of its maximum.
 * LONGEST_QUIET_S: maximum time in seconds for which a site may be level while more growth is still
 * expected. A leak that comes in bursts is quiet between them.
 */
#define MOST_OF_ALL 0.9
#define LONGEST_QUIET_S 60.0
/*
 * Minimum length of the recent past, which is the last part of the growth: LATE_REPORTS reports;
 * for growth in steps, also LATE_STEPS times the average duration of a step.
 */
#define LATE_REPORTS 4
#define LATE_STEPS 4
/* Minimum recent rate of growth, relative to the earlier rate. */
#define STILL_GROWING 0.2
/*
 * The growth of a site that grew steadily has stalled (for example, because a cache is full) if its
 * rate in the last STALL_REPORTS reports is less than STALLED times its earlier rate. This is
 * judged only if the earlier rate would have added at least STALL_BLOCKS blocks in these reports.
 */
#define STALL_REPORTS 2
#define STALL_BLOCKS 5
#define STALLED 0.1
/*
 * Young growth, shorter than YOUNG_S seconds, that has slowed down to less than SLOWED times its
 * earlier rate may be a pool that warms up: it is no leak yet. A few blocks may come late by
 * chance, so the difference from an even rate must exceed Z_SLOWED standard deviations.
 */
#define YOUNG_S 120.0
#define SLOWED 0.6
#define Z_SLOWED Z_95
/*
 * Growth counts as even on three conditions: its confidence is at least EVEN_CONFIDENCE; its recent
 * rate is at least EVEN_RATE times its earlier rate; and the lower confidence limit of its rate is
 * at least EVEN_RATE times the rate.
 */
#define EVEN_CONFIDENCE 0.99
#define EVEN_RATE 0.5
/*
 * Maximum number of freed blocks, as a fraction of the blocks by which a site grew. Also the
 * maximum fall of a site, as a fraction of its rise or of its maximum. Above this limit, the blocks
 * may be temporary, with lifetimes that vary by orders of magnitude: half of the blocks that reach
 * an age t are freed before the age 2t.
 */
#define MOST_FREED 0.125
/*
 * Lifetime in seconds that counts as unlimited. Blocks that are freed only after a long time are
 * rarely freed within a short window, so a short window needs a stricter limit on freed blocks:
 * window / LONG_LIFE_S instead of MOST_FREED, if that is less.
 */
#define LONG_LIFE_S 3600.0
/*
 * Blocks that replace each other count as one growing buffer if their bytes rose at least
 * REPLACED_RISES times. If the sizes of the blocks are random, the probability of 7 rises in a row
 * is 1/8! = 1/40320. Several blocks may have sizes that repeat in turn, so that their sum rises and
 * falls slowly: they must also have grown by the fraction REPLACED_GAIN.
 */
#define REPLACED_RISES 7
#define REPLACED_GAIN 0.125
/*
 * Minimum growth, as a number of blocks, for a verdict on the blocks older than a span. The
 * probability that 8 rises are due to chance is 2^-8.
 */
#define LEAST_OLD_GAIN 8
/*
 * Minimum tracing time for a verdict on blocks older than a span, as a multiple of the span. After
 * that time, most of the temporary blocks that outlived the span have been freed.
 */
#define LEAST_SPANS 1.5
/*
 * Minimum growth of a whole (site or process), relative to the growth of a part of its blocks. The
 * size of a whole varies, so FALLS times its largest fall between two reports is added to its
 * growth before the comparison.
 */
#define LEAST_SHARE 0.5
#define FALLS 3
/*
 * Factor that replaces FALLS if frees of blocks from before tracing have been subtracted from the
 * growth of the whole. It is less than FALLS, because growth that only replaces freed blocks is no
 * leak.
 */
#define NET_FALLS 2
/*
 * Minimum fraction of frees with a known size, for the freed bytes to be used. In practice, either
 * nearly all sizes can be read, or none.
 */
#define MOST_SIZED 0.9
/* Quantile of the normal distribution, for confidence limits of 95 %. */
#define Z_95 1.959964
#define NSEC_PER_SEC 1e9

/*
 * Values of a site at its points, for all blocks or for the blocks older than a span. All blocks
 * together are judged by bytes, because a single block may grow larger and larger. Blocks older
 * than a span are judged by number, because the free of one large block would hide many small
 * blocks that stay.
 */
struct series {
	double at_s[HISTORY_POINTS_MAX];
	double bytes[HISTORY_POINTS_MAX];
	double held[HISTORY_POINTS_MAX];
	size_t cnt;
	size_t past;   /* number of earlier points that are not in the series */
	double past_s; /* seconds since the site's first point */
	/*
	 * Minimum number of rises if the site grows in steps. For blocks older than a span, the
	 * minimum is higher: their number may rise twice in one step.
	 */
	uint32_t least_steps;
};

/* Result of examining a series. */
struct finding {
	double growth; /* see struct leak_score */
	double risen;
	size_t since;   /* history index of the point at which the window begins */
	size_t late;    /* history index of the point at which the recent past begins */
	size_t first;   /* index into the series at which the growth begins */
	double level_s; /* time at which the series reached its maximum */
	bool steady;
	bool shrinks;
	struct reasons reasons;
};

static const char *const tendency_names[] = {
	[TENDENCY_UNKNOWN] = "unknown",   [TENDENCY_FLAT] = "flat",
	[TENDENCY_STEADY] = "steady",     [TENDENCY_STEPS] = "steps",
	[TENDENCY_LEVELLED] = "levelled", [TENDENCY_SHRINKS] = "shrinks",
};

_Static_assert(sizeof(tendency_names) / sizeof(tendency_names[0]) == TENDENCY_CNT,
	       "each tendency has a name");

const char *tendency_name(enum tendency tendency)
{
	return tendency_names[tendency];
}

const char *objection_words(enum objection objection)
{
	static const char *const words[] = {
		[OBJECTION_NONE] = "",
		[OBJECTION_EARLY] = "too few reports",
		[OBJECTION_TREND] = "the growth may be due to chance",
		[OBJECTION_RISES] = "it rose too few times",
		[OBJECTION_LATELY] = "it has almost stopped growing",
		[OBJECTION_FREED] = "too many were freed",
		[OBJECTION_SITE] = "the blocks have only become older",
		[OBJECTION_PROCESS] = "the process did not grow with it",
		[OBJECTION_EARLIER] = "as many blocks from before tracing began were freed",
	};

	return words[objection];
}

bool trend_is_suspect(const struct trend *trend)
{
	return (trend->tendency == TENDENCY_STEADY || trend->tendency == TENDENCY_STEPS) &&
	       trend->score.total >= LEAST_SCORE;
}

static uint64_t span_ns(size_t span)
{
	return age_class_ns(span_class(span));
}

/*
 * Makes the series of the blocks older than a span, or of all blocks if the span is SPAN_CNT.
 * Leaves out the points at which no block could be that old.
 */
static void series_of(const struct site_history *history, size_t span, struct series *ret)
{
	const struct history_point *const *points = history->points;
	uint64_t least_ns = span_ns(span);
	size_t cnt = history->point_cnt;
	bool all = span == SPAN_CNT;

	*ret = (struct series){
		.least_steps = all ? LEAST_STEPS : 2 * LEAST_STEPS,
		.past_s = (double)(points[cnt - 1]->elapsed_ns - points[0]->elapsed_ns) /
			  NSEC_PER_SEC,
	};
	for (size_t i = 0; i < cnt; i++) {
		const struct history_point *point = points[i];

		if (point->elapsed_ns < least_ns) {
			ret->past++;
			continue;
		}
		ret->at_s[ret->cnt] = (double)point->elapsed_ns / NSEC_PER_SEC;
		ret->bytes[ret->cnt] = all ? (double)point->bytes : (double)point->held_bytes[span];
		ret->held[ret->cnt++] = all ? (double)point->bytes : point->held[span];
	}
}

static bool is_level(const double *values, size_t first, size_t cnt)
{
	for (size_t i = first + 1; i < cnt; i++)
		if (values[i] != values[first])
			return false;
	return true;
}

/*
 * Returns Kendall's S of the values from `first` on. Sets *ret_variance to the variance of S,
 * corrected for ties.
 */
static double kendall(const struct series *series, size_t first, double *ret_variance)
{
	double n = (double)(series->cnt - first), variance = n * (n - 1) * (2 * n + 5);
	const double *held = series->held;
	int s = 0;

	/* Most sites are level. Their S and its variance are 0. */
	*ret_variance = 0;
	if (is_level(held, first, series->cnt))
		return 0;
	for (size_t i = first; i < series->cnt; i++) {
		int ties = 0;

		for (size_t j = i + 1; j < series->cnt; j++) {
			s += ORDER(held[j], held[i]);
			ties += held[j] == held[i];
		}
		/* For t equal values, these sum up to t * (t - 1) * (2 * t + 5). */
		variance -= 6.0 * ties * (ties + 2);
	}
	*ret_variance = variance / 18;
	return s;
}

/*
 * Returns the confidence that a series has a trend, from 0 to 1; negative if the trend is downward.
 */
static double confidence(const struct series *series)
{
	double variance, s = kendall(series, 0, &variance), z;

	if (variance <= 0 || s == 0)
		return 0;
	z = (fabs(s) - 1) / sqrt(variance);
	return copysign(erf(z / M_SQRT2), s);
}

/* Faster than fmax(), which is a call because of NAN. */
static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

static double median_of_three(double a, double b, double c)
{
	return larger(smaller(a, b), smaller(larger(a, b), c));
}

/*
 * Returns the smoothed value at i. Smoothing removes a dip of one report, because a block may count
 * as too young just after it was reallocated.
 */
static double smooth(const struct series *series, size_t i)
{
	const double *held = series->held;

	if (!i || i + 1 == series->cnt)
		return held[i];
	return median_of_three(held[i - 1], held[i], held[i + 1]);
}

/* Returns the largest fall of a series, divided by the difference of its maximum and minimum. */
static double given_back(const struct series *series)
{
	double least = series->held[0], most = least, fall = 0, top = least;

	for (size_t i = 1; i < series->cnt; i++) {
		double held = smooth(series, i);

		top = larger(top, held);
		fall = larger(fall, top - held);
		least = smaller(least, held);
		most = larger(most, held);
	}
	return most > least ? fall / (most - least) : 0;
}

/*
 * Returns the index of the latest point at which a series was still about as low as at its first
 * point.
 */
static size_t beginning(const struct series *series)
{
	size_t last = series->cnt - 1, first = 0;
	double little = series->held[0] + 0.02 * (series->held[last] - series->held[0]);

	for (size_t i = 0; i < last; i++)
		if (smooth(series, i) <= little)
			first = i;
	return first;
}

/* Returns the part of a series from index `first` on. */
static struct series part_of(const struct series *series, size_t first)
{
	struct series ret = *series;

	ret.cnt -= first;
	ret.past += first;
	memcpy(ret.at_s, series->at_s + first, ret.cnt * sizeof(ret.at_s[0]));
	memcpy(ret.bytes, series->bytes + first, ret.cnt * sizeof(ret.bytes[0]));
	memcpy(ret.held, series->held + first, ret.cnt * sizeof(ret.held[0]));
	return ret;
}

static double length_s(const struct series *series, size_t first)
{
	return series->at_s[series->cnt - 1] - series->at_s[first];
}

/*
 * Returns the window: the later part of a series, but at least its latest RECENT_POINTS points.
 * After some time, the window no longer contains the start of the program or of its workload,
 * during which few blocks are freed.
 */
static struct series window_of(const struct series *series)
{
	size_t first = 0;

	while (first + RECENT_POINTS < series->cnt &&
	       length_s(series, first + 1) >= LATER_PART * series->past_s)
		first++;
	return part_of(series, first);
}

/*
 * Returns how many times a series reached a new maximum after the point `first`. Sets *ret_level_s
 * to the time of the latest maximum.
 */
static uint32_t rises_of(const struct series *series, size_t first, double *ret_level_s)
{
	double most = series->held[first];
	uint32_t rises = 0;

	*ret_level_s = series->at_s[first];
	for (size_t i = first + 1; i < series->cnt; i++) {
		if (series->held[i] <= most)
			continue;
		most = series->held[i];
		*ret_level_s = series->at_s[i];
		rises++;
	}
	return rises;
}

/* Returns the part of a series until its latest maximum. */
static struct series until_level(const struct series *series, double level_s)
{
	struct series ret = *series;

	while (ret.cnt && ret.at_s[ret.cnt - 1] > level_s)
		ret.cnt--;
	return ret;
}

/*
 * Returns the confidence that a series has a trend. Values after the maximum do not make an upward
 * trend more certain: if nothing grows any more, no new verdict is due.
 */
static double confidence_until(const struct series *series, double level_s)
{
	struct series until = until_level(series, level_s);

	return smaller(confidence(series), confidence(&until));
}

/*
 * Returns the index at which the growth of a series began. Goes back from `first`, a few reports at
 * a time, as long as the rate of growth is similar to the rate after `first`. Stops at a much lower
 * rate, and at a much higher rate, such as the rate while a program loads.
 */
static size_t extended(const struct series *series, size_t first)
{
	double rate = (series->held[series->cnt - 1] - series->held[first]) /
		      fmax(length_s(series, first), 1);

	while (first) {
		size_t before = first > LATE_REPORTS ? first - LATE_REPORTS : 0;
		double gained = series->held[first] - series->held[before];
		double even = rate * (series->at_s[first] - series->at_s[before]);

		if (gained < STILL_GROWING * even || gained > even / STILL_GROWING)
			break;
		first = before;
	}
	return first;
}

static bool is_steady(const struct series *series, size_t first, uint32_t rises)
{
	return rises >= STEADY_RISES * (double)(series->cnt - 1 - first);
}

/*
 * Returns the index at which the recent past begins. The recent past has LATE_REPORTS reports; for
 * growth in steps, it has more reports if LATE_STEPS average steps take longer.
 */
static size_t late_of(const struct series *series, const struct finding *found)
{
	double growing_s = found->level_s - series->at_s[found->first];
	double steps_s = found->steady || !found->reasons.rises
				 ? 0
				 : LATE_STEPS * growing_s / found->reasons.rises;
	size_t last = series->cnt - 1, late = last;

	while (late > found->first &&
	       (last - late < LATE_REPORTS || length_s(series, late) < steps_s))
		late--;
	return late;
}

/*
 * Returns the rate of growth after the point `late`, divided by the rate from `first` to `late`. If
 * there was no growth before `late`, returns 1 if there was growth afterwards, else 0. If both
 * points are the same, returns 1.
 */
static double lately(const struct series *series, size_t first, size_t late)
{
	double before_s = series->at_s[late] - series->at_s[first];
	double before = series->held[late] - series->held[first];
	double since = series->held[series->cnt - 1] - series->held[late];

	if (late == first)
		return 1;
	return before > 0 ? since / length_s(series, late) / (before / before_s) : since > 0;
}

/*
 * Returns the reason why a series does not grow in the window; OBJECTION_NONE if it grows.
 * Considers neither frees nor the other sites of the process.
 */
static enum objection object(const struct series *series, const struct series *window,
			     const struct finding *found)
{
	const struct reasons *reasons = &found->reasons;

	if (window->cnt < TREND_LEAST_MOMENTS || series->past_s < TREND_LEAST_S)
		return OBJECTION_EARLY;
	if (reasons->confidence < LEAST_CONFIDENCE)
		return OBJECTION_TREND;
	if (found->growth <= 0 || reasons->rises < LEAST_RISES ||
	    (!found->steady && reasons->rises < series->least_steps))
		return OBJECTION_RISES;
	if (reasons->lately < STILL_GROWING)
		return OBJECTION_LATELY;
	return OBJECTION_NONE;
}

static struct finding find(const struct series *series)
{
	struct series window = window_of(series);
	size_t since = window.past - series->past;
	struct finding ret = {.since = window.past, .first = since + beginning(&window)};
	struct reasons *reasons = &ret.reasons;
	double last = window.held[window.cnt - 1];

	ret.first = extended(series, ret.first);
	reasons->window_ns = (uint64_t)(length_s(&window, 0) * NSEC_PER_SEC);
	reasons->rises = rises_of(series, ret.first, &ret.level_s);
	reasons->confidence = confidence_until(&window, ret.level_s);
	ret.steady = is_steady(series, ret.first, reasons->rises);
	ret.late = late_of(series, &ret);
	reasons->lately = lately(series, ret.first, ret.late);
	ret.late += series->past;
	ret.shrinks = reasons->confidence <= -LEAST_CONFIDENCE;
	if (reasons->confidence > 0)
		ret.growth = reasons->confidence * (1 - given_back(&window));
	ret.risen = last > 0 ? fmax(1 - window.held[0] / last, 0) : 0;
	reasons->objection = object(series, &window, &ret);
	return ret;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return ORDER(*x, *y);
}

/*
 * Sets the rate of a trend to the median of the slopes between all pairs of points. Sets the 95 %
 * confidence limits of the rate.
 */
static void slope_of(const struct series *series, size_t first, struct trend *ret)
{
	double slopes[HISTORY_POINTS_MAX * (HISTORY_POINTS_MAX - 1) / 2], variance, half;
	size_t cnt = 0;

	if (length_s(series, first) <= 0)
		return;
	if (is_level(series->bytes, first, series->cnt)) {
		ret->bytes_per_s = ret->low = ret->high = 0;
		return;
	}
	for (size_t i = first; i < series->cnt; i++)
		for (size_t j = i + 1; j < series->cnt; j++)
			if (series->at_s[j] > series->at_s[i])
				slopes[cnt++] = (series->bytes[j] - series->bytes[i]) /
						(series->at_s[j] - series->at_s[i]);
	qsort(slopes, cnt, sizeof(*slopes), by_value);
	kendall(series, first, &variance);
	half = Z_95 * sqrt(fmax(variance, 0));
	ret->bytes_per_s = cnt % 2 ? slopes[cnt / 2] : (slopes[cnt / 2 - 1] + slopes[cnt / 2]) / 2;
	ret->low = slopes[(size_t)fmax(((double)cnt - half) / 2 - 1, 0)];
	ret->high = slopes[(size_t)fmin(((double)cnt + half) / 2, (double)(cnt - 1))];
}

uint64_t history_freed(const struct site_history *history, size_t age_class)
{
	uint64_t freed = 0;

	for (size_t i = age_class; i < AGE_CLASS_CNT; i++)
		freed += history->freed[i];
	return freed;
}

uint64_t history_lifetime_ns(const struct site_history *history)
{
	uint64_t freed = history_freed(history, 0), older = freed;
	size_t i = 0;

	while (older && older * 10 > freed)
		older -= history->freed[i++];
	return i < AGE_CLASS_CNT ? age_class_ns(i) : UINT64_MAX;
}

static double bytes_of(const struct history_point *point, size_t span)
{
	return span < SPAN_CNT ? (double)point->held_bytes[span] : (double)point->bytes;
}

double history_gain(const struct site_history *history, uint64_t older_ns, uint64_t since_ns)
{
	const struct history_point *const *points = history->points;
	size_t span = SPAN_CNT, at = history->point_cnt;
	double now;

	for (size_t i = 0; older_ns && i < SPAN_CNT; i++)
		if (span_ns(i) == older_ns)
			span = i;
	if (!at)
		return 0;
	now = bytes_of(points[at - 1], span);
	while (at && points[at - 1]->elapsed_ns > since_ns)
		at--;
	return at ? now - bytes_of(points[at - 1], span) : now;
}

/*
 * Returns the probability, by Laplace's rule, that the next block that outlives the span is never
 * freed; NAN if not known.
 */
static double unfreed(const struct site_history *history, size_t span, uint64_t freed)
{
	double kept = history->points[history->point_cnt - 1]->held[span];

	return history->seen ? (kept + 1) / (kept + (double)freed + 2) : NAN;
}

/*
 * Returns the number of blocks or bytes that a site, or its process, held at a point of the
 * history. Some of these functions subtract frees of blocks from before tracing.
 */
typedef double amount_fn(const struct history_point *point, size_t span);

static double blocks_of(const struct history_point *point, size_t span)
{
	return point->held[span];
}

static double process_bytes_of(const struct history_point *point, size_t span)
{
	return (double)point->process_bytes;
}

/*
 * Returns the bytes that a process holds, minus the bytes that the process has freed of blocks from
 * before tracing.
 */
static double net_bytes_of(const struct history_point *point, size_t span)
{
	return (double)point->process_bytes - (double)point->earlier.bytes;
}

static double net_blocks_of(const struct history_point *point, size_t span)
{
	return (double)point->process_blocks - (double)point->earlier.cnt;
}

struct amount {
	amount_fn *of;
	size_t span;
	bool is_net; /* true if frees of blocks from before tracing are subtracted */
};

static double change(const struct site_history *history, size_t since, struct amount amount)
{
	const struct history_point *const *points = history->points;

	return amount.of(points[history->point_cnt - 1], amount.span) -
	       amount.of(points[since], amount.span);
}

/*
 * True if, since a point, a whole (site or process) has grown at least LEAST_SHARE times as much as
 * a part of its blocks. `fall` is the largest fall of the whole, for which the comparison allows
 * (see FALLS). Also true if `fall` is at least the growth of the part.
 */
static bool grew_since(const struct site_history *history, size_t since, struct amount whole,
		       struct amount part, double fall)
{
	double gained = change(history, since, part);
	double falls = whole.is_net ? NET_FALLS : FALLS;

	return fall >= gained ||
	       change(history, since, whole) + falls * fall >= LEAST_SHARE * gained;
}

/*
 * True if a part of a whole (site or process) grew together with the whole, both since the window
 * began and since the recent past began: see grew_since().
 */
static bool grew_with(const struct site_history *history, const struct finding *found,
		      struct amount whole, struct amount part)
{
	const struct history_point *const *points = history->points;
	double fall = 0;

	for (size_t i = found->since; i + 1 < history->point_cnt; i++)
		fall = fmax(fall,
			    whole.of(points[i], whole.span) - whole.of(points[i + 1], whole.span));
	return grew_since(history, found->since, whole, part, fall) &&
	       grew_since(history, found->late, whole, part, fall);
}

static bool site_grew_with(const struct site_history *history, const struct finding *found,
			   size_t span)
{
	const struct amount part = {.of = blocks_of, .span = span};

	for (size_t i = 0; i < span; i++)
		if (!grew_with(history, found, (struct amount){.of = blocks_of, .span = i}, part))
			return false;
	return grew_with(history, found, (struct amount){.of = blocks_of, .span = SPAN_CNT}, part);
}

/*
 * True if the blocks of a site only replace each other: in the window, their number never changed
 * and their bytes never fell, and they grew as much as REPLACED_RISES demands.
 */
static bool are_replaced(const struct site_history *history, const struct finding *found)
{
	const struct history_point *const *points = history->points;
	const struct history_point *now = points[history->point_cnt - 1];
	double gain = (double)now->bytes - (double)points[found->since]->bytes;

	for (size_t i = found->since; i + 1 < history->point_cnt; i++)
		if (points[i + 1]->count != points[i]->count ||
		    points[i + 1]->bytes < points[i]->bytes)
			return false;
	return found->reasons.rises >= REPLACED_RISES &&
	       (now->count == 1 || gain >= REPLACED_GAIN * (double)now->bytes);
}

/*
 * True if growing blocks possibly just replace freed blocks from before tracing. This is possible
 * if there are enough such frees, and if the growth of the process, in blocks or in bytes, is too
 * small when these frees are subtracted.
 */
static bool replace_earlier(const struct site_history *history, const struct finding *found,
			    const struct reasons *reasons, struct amount blocks,
			    struct amount bytes)
{
	const struct earlier_frees *now = &history->points[history->point_cnt - 1]->earlier;
	const struct earlier_frees *then = &history->points[found->since]->earlier;
	double frees = (double)now->cnt - (double)then->cnt;
	double sized = (double)now->sized - (double)then->sized;
	double freed_bytes = (double)now->bytes - (double)then->bytes;

	/*
	 * The number of frees becomes 0 when it is no longer known, as after lost events. `frees`
	 * is then 0 or negative.
	 */
	if (frees <= 0 || frees < LEAST_SHARE * (double)reasons->gained)
		return false;
	if (!grew_with(history, found, (struct amount){.of = net_blocks_of, .is_net = true},
		       blocks))
		return true;
	return sized >= MOST_SIZED * frees &&
	       freed_bytes >= LEAST_SHARE * (double)reasons->gained_bytes &&
	       !grew_with(history, found, (struct amount){.of = net_bytes_of, .is_net = true},
			  bytes);
}

/*
 * Returns the reason why growth of a site's blocks is not also growth of the process;
 * OBJECTION_NONE if it is. The process may have grown less than the blocks, or the blocks may just
 * replace blocks from before tracing.
 */
static enum objection weigh_process(const struct site_history *history, size_t span,
				    const struct finding *found, const struct reasons *reasons)
{
	struct amount blocks = {.of = blocks_of, .span = span},
		      bytes = {.of = bytes_of, .span = span};

	if (!grew_with(history, found, (struct amount){.of = process_bytes_of, .span = span},
		       bytes))
		return OBJECTION_PROCESS;
	return replace_earlier(history, found, reasons, blocks, bytes) ? OBJECTION_EARLIER
								       : OBJECTION_NONE;
}

/*
 * Computes how many blocks a site gained and freed in the window. Returns the reason why its blocks
 * do not count as growing, such as too many frees; OBJECTION_NONE if they do.
 */
static enum objection weigh(const struct site_history *history, size_t span,
			    const struct finding *found, struct reasons *reasons)
{
	const struct history_point *now = history->points[history->point_cnt - 1];
	double window_s = (double)reasons->window_ns / NSEC_PER_SEC;
	struct amount blocks = {.of = blocks_of, .span = span},
		      bytes = {.of = bytes_of, .span = span};

	reasons->freed = now->freed[span] - history->points[found->since]->freed[span];
	reasons->gained = (int64_t)change(history, found->since, blocks);
	reasons->gained_bytes = (int64_t)change(history, found->since, bytes);
	reasons->freed_most =
		fmax((double)reasons->gained, 0) * fmin(MOST_FREED, window_s / LONG_LIFE_S);
	if (reasons->objection)
		return reasons->objection;
	if (reasons->freed && span == SPAN_CNT && are_replaced(history, found))
		reasons->freed = 0;
	if ((double)reasons->freed > reasons->freed_most)
		return OBJECTION_FREED;
	if (span < SPAN_CNT && (reasons->gained < LEAST_OLD_GAIN ||
				(double)now->elapsed_ns < LEAST_SPANS * (double)span_ns(span)))
		return OBJECTION_EARLY;
	if (span < SPAN_CNT && !site_grew_with(history, found, span))
		return OBJECTION_SITE;
	return weigh_process(history, span, found, reasons);
}

static enum tendency tendency_of(const struct series *series, const struct finding *found)
{
	switch (found->reasons.objection) {
	case OBJECTION_EARLY:
	case OBJECTION_EARLIER:
		return TENDENCY_UNKNOWN;
	case OBJECTION_NONE:
	case OBJECTION_FREED:
	case OBJECTION_SITE:
	case OBJECTION_PROCESS:
		return found->steady ? TENDENCY_STEADY : TENDENCY_STEPS;
	case OBJECTION_TREND:
	case OBJECTION_RISES:
	case OBJECTION_LATELY:
		break;
	}
	if (found->shrinks)
		return TENDENCY_SHRINKS;
	return confidence(series) >= LEAST_CONFIDENCE &&
			       series->at_s[series->cnt - 1] > found->level_s
		       ? TENDENCY_LEVELLED
		       : TENDENCY_FLAT;
}

/*
 * True if a series grows in steps and the next step may not be due yet. False if the latest step is
 * smaller than the step before it, or much slower than the average, as in a cache that fills up.
 */
static bool is_between_steps(const struct series *series)
{
	double most = series->held[0], least = most, gained = most, gained_before = 0, gap_s = 0;
	/* Count the first value as a rise, because the site held nothing before tracing. */
	uint32_t rises = most > 0;
	size_t step = 0;

	for (size_t i = 1; i < series->cnt; i++) {
		if (series->held[i] <= most)
			continue;
		gap_s = series->at_s[i] - series->at_s[step];
		gained_before = gained;
		gained = series->held[i] - most;
		most = series->held[i];
		step = i;
		rises++;
	}
	return rises >= LEAST_RISES && given_back(series) <= MOST_FREED &&
	       length_s(series, step) < WIDENING * gap_s && gained >= gained_before &&
	       gained * (series->at_s[step] - series->at_s[0]) >=
		       STEP_RATE * (most - least) * gap_s;
}

/*
 * True if a series may still go on growing: it kept what it gained, and it has been level for less
 * than LONGEST_QUIET_S and for less time than it took to grow. The growth is assumed to have begun
 * with tracing, when the site held nothing.
 */
static bool grew_lately(const struct series *series)
{
	size_t last = series->cnt - 1, end = last;
	double most = series->held[0];

	for (size_t i = 1; i <= last; i++)
		most = larger(most, series->held[i]);
	if (series->at_s[last] < TREND_LEAST_S || series->held[last] < (1 - MOST_FREED) * most)
		return false;
	while (end && series->held[end - 1] >= MOST_OF_ALL * most)
		end--;
	return length_s(series, end) < fmin(series->at_s[end], LONGEST_QUIET_S);
}

/*
 * True if a series does not count as growing by the trend test, but the next step of its growth may
 * still come. This includes sites that have few reports.
 */
static bool is_pending(const struct series *series, const struct finding *found)
{
	const struct reasons *reasons = &found->reasons;

	if (found->shrinks ||
	    (double)reasons->freed > MOST_FREED * fmax((double)reasons->gained, 0))
		return false;
	switch (reasons->objection) {
	case OBJECTION_TREND:
	case OBJECTION_RISES:
	case OBJECTION_LATELY:
		return is_between_steps(series) || grew_lately(series);
	case OBJECTION_EARLY:
		return grew_lately(series);
	case OBJECTION_NONE:
	case OBJECTION_FREED:
	case OBJECTION_SITE:
	case OBJECTION_PROCESS:
	case OBJECTION_EARLIER:
		break;
	}
	return false;
}

/* Returns the average growth in bytes per second since a point. */
static double rate_since(const struct series *series, size_t since)
{
	double for_s = length_s(series, since);

	return for_s > 0 ? (series->bytes[series->cnt - 1] - series->bytes[since]) / for_s : 0;
}

static void judge(const struct site_history *history, size_t span, const struct series *series,
		  const struct finding *found, struct trend *ret)
{
	bool grows = ret->tendency == TENDENCY_STEADY || ret->tendency == TENDENCY_STEPS;
	double now_s = series->at_s[series->cnt - 1];
	struct leak_score *score = &ret->score;

	score->unfreed = unfreed(history, span, found->reasons.freed);
	score->older_ns = span_ns(span);
	if (ret->tendency == TENDENCY_UNKNOWN)
		return;
	if (grows)
		ret->since_ns = (uint64_t)((now_s - series->at_s[found->first]) * NSEC_PER_SEC);
	else if (ret->tendency == TENDENCY_LEVELLED)
		ret->since_ns = (uint64_t)((now_s - found->level_s) * NSEC_PER_SEC);
	slope_of(series, grows ? found->first : found->since - series->past, ret);
	if (grows && found->reasons.lately < EVEN_RATE)
		ret->slowed_per_s =
			fmax(ret->bytes_per_s - rate_since(series, found->late - series->past), 0);
	if (found->reasons.objection)
		return;
	score->growth = found->growth;
	score->risen = found->risen;
	score->total = score->growth * (isnan(score->unfreed) ? score->risen : score->unfreed);
}

/*
 * True if a site and its process grow at an even rate although the site frees blocks. An example is
 * a queue whose reader is too slow.
 */
static bool outgrows_frees(const struct site_history *history, const struct finding *found,
			   const struct trend *trend)
{
	return found->reasons.objection == OBJECTION_FREED && found->steady &&
	       found->reasons.confidence >= EVEN_CONFIDENCE && found->reasons.lately >= EVEN_RATE &&
	       trend->low >= EVEN_RATE * trend->bytes_per_s &&
	       !weigh_process(history, SPAN_CNT, found, &found->reasons);
}

/* True if the steady growth of all blocks has stalled. */
static bool has_stalled(const struct site_history *history, const struct series *series,
			const struct finding *found)
{
	size_t last = series->cnt - 1, late = last - STALL_REPORTS;
	const struct history_point *const *points = history->points;
	double before_s, blocks;

	if (last < found->first + LATE_REPORTS + STALL_REPORTS)
		return false;
	/* A stall begins when the site becomes level, so that it stays a stall while it lasts. */
	while (late > found->first + LATE_REPORTS && series->held[late - 1] == series->held[last])
		late--;
	if (found->reasons.rises < STEADY_RISES * (double)(late - found->first))
		return false;
	before_s = series->at_s[late] - series->at_s[found->first];
	blocks = (double)points[late]->count - (double)points[found->first]->count;
	return blocks * length_s(series, late) >= STALL_BLOCKS * before_s &&
	       lately(series, found->first, late) < STALLED;
}

/*
 * True if the growth of all blocks has begun lately and has become slower: see YOUNG_S. Judges the
 * growth at the latest rise, so that the answer stays the same while the site is level.
 */
static bool warms_up(const struct site_history *history, const struct series *series,
		     const struct finding *found)
{
	const struct history_point *const *points = history->points;
	struct series until = until_level(series, found->level_s);
	size_t last = until.cnt - 1, first = found->first, since = late_of(&until, found);
	double late_s = length_s(&until, since), grows_s = length_s(&until, first);
	double blocks = (double)points[last]->count - (double)points[first]->count;
	double late = (double)points[last]->count - (double)points[since]->count;
	double even = blocks * late_s / grows_s;

	/* The number of late blocks has a binomial distribution if the rate is even. */
	return since > first && grows_s < YOUNG_S && lately(&until, first, since) < SLOWED &&
	       even - late > Z_SLOWED * sqrt(even * (1 - late_s / grows_s));
}

/* Judges the growth of all blocks. If they do not grow, decides whether the site is pending. */
static void judge_pending(const struct site_history *history, const struct series *series,
			  const struct finding *found, struct trend *ret)
{
	ret->pending = is_pending(series, found);
	if (ret->pending)
		ret->tendency = TENDENCY_UNKNOWN;
	judge(history, SPAN_CNT, series, found, ret);
	ret->pending |= outgrows_frees(history, found, ret);
}

/*
 * Judges the blocks older than a span, or all blocks if the span is SPAN_CNT. Returns true if they
 * grow. Sets *ret_since to the history index of the point at which the window begins.
 */
static bool look(const struct site_history *history, size_t span, struct trend *ret,
		 size_t *ret_since)
{
	struct finding found;
	struct series series;

	*ret_since = 0;
	series_of(history, span, &series);
	if (!series.cnt)
		return false;
	found = find(&series);
	*ret_since = found.since;
	if (span == SPAN_CNT && !found.reasons.objection && has_stalled(history, &series, &found))
		found.reasons.objection = OBJECTION_LATELY;
	found.reasons.objection = weigh(history, span, &found, &found.reasons);
	if (span == SPAN_CNT && !found.reasons.objection && warms_up(history, &series, &found))
		found.reasons.objection = OBJECTION_LATELY;
	ret->undecided |= found.reasons.objection == OBJECTION_EARLIER ||
			  (found.reasons.objection == OBJECTION_PROCESS && span == SPAN_CNT);
	if (span < SPAN_CNT && found.reasons.objection)
		return false;
	ret->reasons = found.reasons;
	ret->tendency = tendency_of(&series, &found);
	if (span == SPAN_CNT)
		judge_pending(history, &series, &found, ret);
	else
		judge(history, span, &series, &found, ret);
	return !found.reasons.objection;
}

/*
 * True if the older blocks of a site cannot count as growing: the number of all blocks has not
 * changed in the window, or the site has stopped growing and no block was freed. Then the number of
 * older blocks grows only because blocks get older.
 */
static bool can_only_age(const struct site_history *history, const struct reasons *reasons,
			 size_t since)
{
	const struct history_point *const *points = history->points;

	if (reasons->objection == OBJECTION_LATELY && !reasons->freed)
		return true;
	for (size_t i = since; i < history->point_cnt; i++)
		if (points[i]->held[SPAN_CNT] != points[since]->held[SPAN_CNT])
			return false;
	return true;
}

/*
 * Judges all blocks of a site. If they do not grow, judges the blocks older than the shortest span,
 * then those older than the next span, until some blocks grow.
 */
void trend_of(const struct site_history *history, struct trend *ret)
{
	size_t since, other;

	*ret = (struct trend){.bytes_per_s = NAN, .low = NAN, .high = NAN};
	if (!look(history, SPAN_CNT, ret, &since)) {
		if (can_only_age(history, &ret->reasons, since))
			return;
		for (size_t i = 0; !look(history, i, ret, &other);)
			if (++i == SPAN_CNT)
				return;
	}
	ret->undecided = ret->pending = false;
}
