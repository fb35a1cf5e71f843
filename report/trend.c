// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Judges sites by the rank trend test of Mann (1945) and Kendall, the slope of Theil and Sen
 * (1968) with its limits of confidence, Laplace's rule of succession.
 */
#include "report/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

#define LEAST_MOMENTS 5
#define LEAST_S 10
#define LEAST_RISES 3
/* Reports, and times that a step takes on average: what is the recent past. */
#define RECENT_REPORTS 3
#define RECENT_STEPS 4
/* What is asked of a site that is said to grow; a suspect's score. */
#define LEAST_CONFIDENCE 0.95
#define LEAST_SCORE 0.4
/* Of blocks of an age at which so many are kept none is expected to be freed. */
#define LIKELY_KEPT 0.75
#define STILL_CONFIDENCE 0.9
/* Growth in the recent past is expected to be at least this part of what it was before. */
#define STILL_GROWING 0.2
/* The normal distribution's, for 95 % between low and high. */
#define Z_95 1.959964
#define NSEC_PER_SEC 1e9

/*
 * What a site held at its moments, of all blocks or of those of some age. The former are judged by
 * their bytes: there may be one that is made larger and larger. The latter by their number: few
 * that stay would not be seen beside one of the large ones that go.
 */
struct series {
	double at_s[MOMENT_CNT];
	double bytes[MOMENT_CNT];
	double held[MOMENT_CNT];
	size_t cnt;
};

/* What a series says. */
struct finding {
	double growth; /* see struct leak_score */
	double risen;
	double rises; /* how often it became more than it ever was */
	size_t first; /* where the growth begins */
	bool grows;
	bool levelled;
	bool shrinks;
	double level_s; /* when it became what it is at most */
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

bool trend_is_suspect(const struct trend *trend)
{
	return (trend->tendency == TENDENCY_STEADY || trend->tendency == TENDENCY_STEPS) &&
	       trend->score.total >= LEAST_SCORE;
}

/* span: SPAN_CNT means all blocks. */
static void series_of(const struct site_history *history, size_t span, struct series *ret)
{
	ret->cnt = history->moment_cnt;
	for (size_t i = 0; i < ret->cnt; i++) {
		const struct moment *moment = &history->moments[i];

		ret->at_s[i] = (double)moment->elapsed_ns / NSEC_PER_SEC;
		if (span < SPAN_CNT) {
			ret->bytes[i] = (double)moment->old_bytes[span];
			ret->held[i] = moment->old_count[span];
		} else {
			ret->bytes[i] = ret->held[i] = (double)moment->bytes;
		}
	}
}

/* Kendall's S of the moments from first on, and its variance, of which ties take some. */
static double kendall(const struct series *series, size_t first, double *ret_variance)
{
	double n = (double)(series->cnt - first), variance = n * (n - 1) * (2 * n + 5), s = 0;
	bool tied[MOMENT_CNT] = {false};

	for (size_t i = first; i < series->cnt; i++) {
		double ties = 1;

		for (size_t j = i + 1; j < series->cnt; j++) {
			double diff = series->held[j] - series->held[i];

			s += ORDER(diff, 0);
			if (diff != 0 || tied[i])
				continue;
			tied[j] = true;
			ties++;
		}
		variance -= ties * (ties - 1) * (2 * ties + 5);
	}
	*ret_variance = variance / 18;
	return s;
}

/* How sure it is that there is a trend, in [0, 1]; less than 0: downwards. */
static double confidence(const struct series *series)
{
	double variance, s = kendall(series, 0, &variance), z;

	if (variance <= 0 || s == 0)
		return 0;
	z = (fabs(s) - 1) / sqrt(variance);
	return copysign(erf(z / M_SQRT2), s);
}

static double median_of_three(double a, double b, double c)
{
	return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Without gaps of one report: a block that was made larger may have been too recent for that one.
 */
static double smooth(const struct series *series, size_t i)
{
	const double *held = series->held;

	if (!i || i + 1 == series->cnt)
		return held[i];
	return median_of_three(held[i - 1], held[i], held[i + 1]);
}

/* The part of what it rose from its least that it has ever given back. */
static double given_back(const struct series *series)
{
	double least = series->held[0], most = least, fall = 0, top = least;

	for (size_t i = 1; i < series->cnt; i++) {
		double held = smooth(series, i);

		top = fmax(top, held);
		fall = fmax(fall, top - held);
		least = fmin(least, held);
		most = fmax(most, held);
	}
	return most > least ? fall / (most - least) : 0;
}

/* The last moment at which it was about what it was at first. */
static size_t beginning(const struct series *series)
{
	size_t last = series->cnt - 1, first = 0;
	double little = series->held[0] + 0.02 * (series->held[last] - series->held[0]);

	for (size_t i = 0; i < last; i++)
		if (smooth(series, i) <= little)
			first = i;
	return first;
}

/* The moments from first on. */
static struct series part_of(const struct series *series, size_t first)
{
	struct series ret = {.cnt = series->cnt - first};

	memcpy(ret.at_s, series->at_s + first, ret.cnt * sizeof(ret.at_s[0]));
	memcpy(ret.bytes, series->bytes + first, ret.cnt * sizeof(ret.bytes[0]));
	memcpy(ret.held, series->held + first, ret.cnt * sizeof(ret.held[0]));
	return ret;
}

/* Where the recent past begins. */
static size_t recent_of(const struct series *series)
{
	return series->cnt > RECENT_MOMENTS ? series->cnt - RECENT_MOMENTS : 0;
}

/* Whether it has grown since a moment at some part of the rate that it did in the whole. */
static bool has_gained(const struct series *series, const struct finding *found, size_t since)
{
	size_t last = series->cnt - 1;
	double gained = series->held[last] - series->held[since];
	double whole = series->held[last] - series->held[found->first];

	return gained >= STILL_GROWING * whole * (series->at_s[last] - series->at_s[since]) /
				 (series->at_s[last] - series->at_s[found->first]);
}

/* What never shrank is asked whether it has grown for as long as a few of its steps took. */
static bool still_climbs(const struct series *series, const struct finding *found)
{
	double step_s = (found->level_s - series->at_s[found->first]) / found->rises;
	size_t last = series->cnt - 1, since = last;

	while (since > found->first &&
	       (last - since < RECENT_REPORTS ||
		series->at_s[last] - series->at_s[since] < RECENT_STEPS * step_s))
		since--;
	return has_gained(series, found, since);
}

/* And what goes up and down whether there is a trend in its recent past alone. */
static bool still_grows(const struct series *series, const struct finding *found)
{
	size_t since = recent_of(series);
	struct series recent;

	if (given_back(series) == 0)
		return still_climbs(series, found);
	recent = part_of(series, since);
	return confidence(&recent) >= STILL_CONFIDENCE && given_back(&recent) <= 0.5 &&
	       (since <= found->first || has_gained(series, found, since));
}

static struct finding find(const struct series *series)
{
	struct finding ret = {.first = beginning(series)};
	double most = series->held[ret.first], sure;

	ret.level_s = series->at_s[ret.first];
	for (size_t i = ret.first + 1; i < series->cnt; i++) {
		if (series->held[i] <= most)
			continue;
		most = series->held[i];
		ret.level_s = series->at_s[i];
		ret.rises++;
	}
	sure = confidence(series);
	ret.shrinks = sure <= -LEAST_CONFIDENCE;
	if (sure < LEAST_CONFIDENCE || series->cnt < LEAST_MOMENTS)
		return ret;
	if (ret.rises < LEAST_RISES || !still_grows(series, &ret)) {
		ret.levelled = series->at_s[series->cnt - 1] > ret.level_s;
		return ret;
	}
	ret.grows = true;
	ret.growth = sure * (1 - given_back(series));
	ret.risen = 1 - series->held[ret.first] / series->held[series->cnt - 1];
	return ret;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return ORDER(*x, *y);
}

/* The median of the slopes between any two moments, and where it is with 95 % confidence. */
static void slope_of(const struct series *series, size_t first, struct trend *ret)
{
	double slopes[MOMENT_CNT * (MOMENT_CNT - 1) / 2], variance, half;
	size_t cnt = 0;

	for (size_t i = first; i < series->cnt; i++)
		for (size_t j = i + 1; j < series->cnt; j++)
			if (series->at_s[j] > series->at_s[i])
				slopes[cnt++] = (series->bytes[j] - series->bytes[i]) /
						(series->at_s[j] - series->at_s[i]);
	if (!cnt)
		return;
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

/* Of those older than a span, what Laplace's rule says of the next one. */
static double unfreed(const struct site_history *history, size_t span)
{
	const struct moment *now = &history->moments[history->moment_cnt - 1];
	double kept = span < SPAN_CNT ? now->old_count[span] : now->sampled;
	double freed = (double)history_freed(history, span < SPAN_CNT ? SPAN_CLASS(span) : 0);

	return history->seen ? (kept + 1) / (kept + freed + 2) : NAN;
}

static struct leak_score score_of(const struct site_history *history, size_t span,
				  const struct finding *found)
{
	struct leak_score ret = {
		.growth = found->growth,
		.risen = found->risen,
		.unfreed = unfreed(history, span),
		.older_ns = span < SPAN_CNT ? age_class_ns(SPAN_CLASS(span)) : 0,
	};

	/* fmax takes the other if one is not a number. */
	ret.total = ret.growth * fmax(span < SPAN_CNT ? 0 : ret.risen / 2, ret.unfreed);
	return ret;
}

static enum tendency tendency_of(const struct series *series, const struct finding *found)
{
	if (found->grows)
		return found->rises >= 0.7 * (double)(series->cnt - 1 - found->first)
			       ? TENDENCY_STEADY
			       : TENDENCY_STEPS;
	if (found->shrinks)
		return TENDENCY_SHRINKS;
	return found->levelled ? TENDENCY_LEVELLED : TENDENCY_FLAT;
}

static uint64_t since_ns(const struct series *series, const struct finding *found)
{
	double now_s = series->at_s[series->cnt - 1];
	double since_s = found->grows ? series->at_s[found->first] : found->level_s;

	return found->grows || found->levelled ? (uint64_t)((now_s - since_s) * NSEC_PER_SEC) : 0;
}

static bool is_constant(const struct series *series)
{
	for (size_t i = 1; i < series->cnt; i++)
		if (series->held[i] != series->held[0])
			return false;
	return true;
}

/* Looks at the blocks older than a span, or at all. */
static void look(const struct site_history *history, size_t span, struct trend *ret)
{
	struct series series = {.cnt = 0};
	struct leak_score score;
	struct finding found;

	series_of(history, span, &series);
	if (span < SPAN_CNT && is_constant(&series))
		return;
	found = find(&series);
	score = score_of(history, span, &found);
	if (span < SPAN_CNT && score.total <= ret->score.total)
		return;
	ret->score = score;
	ret->tendency = tendency_of(&series, &found);
	ret->since_ns = since_ns(&series, &found);
	slope_of(&series, found.grows ? found.first : recent_of(&series), ret);
}

/* Whatever begins to be traced seems to grow at first. */
static bool is_known_for_long(const struct site_history *history)
{
	const struct moment *moments = history->moments;
	size_t cnt = history->moment_cnt;

	return cnt >= LEAST_MOMENTS && (double)(moments[cnt - 1].elapsed_ns -
						moments[0].elapsed_ns) >= LEAST_S * NSEC_PER_SEC;
}

/*
 * Beside all blocks those are looked at that have outlived nearly all that were freed. Only where
 * there are such: what is older than a span goes on growing for as long when nothing else does.
 */
void trend_of(const struct site_history *history, struct trend *ret)
{
	size_t span = 0;

	*ret = (struct trend){.bytes_per_s = NAN, .low = NAN, .high = NAN};
	ret->score.unfreed = unfreed(history, SPAN_CNT);
	if (!is_known_for_long(history))
		return;
	look(history, SPAN_CNT, ret);
	while (span < SPAN_CNT && unfreed(history, span) < LIKELY_KEPT)
		span++;
	if (span < SPAN_CNT)
		look(history, span, ret);
}
