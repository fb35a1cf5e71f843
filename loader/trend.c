// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Judges sites by the rank trend test of Mann (1945) and Kendall, the slope of Theil and Sen
 * (1968) with its limits of confidence, Laplace's rule of succession and Little's law.
 */
#include "loader/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_MOMENTS 5
#define LEAST_RISES 3
/* What is asked of a site that is said to grow; a suspect's score. */
#define LEAST_CONFIDENCE 0.95
#define LEAST_SCORE 0.4
/* Growth in the recent past is expected to be at least this part of what it was before. */
#define STILL_GROWING 0.1
/* Blocks that are older than so many usual lifetimes are not like the others. */
#define LIFETIMES 8
/* The normal distribution's, for 95 % between low and high. */
#define Z_95 1.959964
#define NSEC_PER_SEC 1e9

/* What a site held at its moments, of all blocks or of those of some age. */
struct series {
	double at_s[MOMENT_CNT];
	double bytes[MOMENT_CNT];
	size_t cnt;
};

/* What a series says. */
struct finding {
	double growth; /* see struct leak_score */
	double rises;  /* how often it became more than it ever was */
	size_t first;  /* where the growth begins */
	bool grows;
	bool levelled;
	bool shrinks;
	double level_s; /* when it became what it is at most */
};

static const char *const tendency_names[TENDENCY_CNT] = {
	[TENDENCY_UNKNOWN] = "unknown",   [TENDENCY_FLAT] = "flat",
	[TENDENCY_STEADY] = "steady",     [TENDENCY_STEPS] = "steps",
	[TENDENCY_LEVELLED] = "levelled", [TENDENCY_SHRINKS] = "shrinks",
};

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
		ret->bytes[i] =
			span < SPAN_CNT ? (double)moment->old_bytes[span] : (double)moment->bytes;
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
			double diff = series->bytes[j] - series->bytes[i];

			s += (diff > 0) - (diff < 0);
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

/* The part of what it rose from its least that it has ever given back. */
static double given_back(const struct series *series)
{
	double least = series->bytes[0], most = least, fall = 0, top = least;

	for (size_t i = 1; i < series->cnt; i++) {
		double bytes = series->bytes[i];

		top = fmax(top, bytes);
		fall = fmax(fall, top - bytes);
		least = fmin(least, bytes);
		most = fmax(most, bytes);
	}
	return most > least ? fall / (most - least) : 0;
}

/* The last moment at which it was about what it was at first. */
static size_t beginning(const struct series *series)
{
	size_t last = series->cnt - 1, first = 0;
	double little = series->bytes[0] + 0.02 * (series->bytes[last] - series->bytes[0]);

	for (size_t i = 0; i < last; i++)
		if (series->bytes[i] <= little)
			first = i;
	return first;
}

/*
 * Whether it still grows: its growth in the recent past, which is as long as a few of its steps
 * took, against that before.
 */
static bool still_grows(const struct series *series, const struct finding *found)
{
	size_t last = series->cnt - 1, back = last;
	double whole_s = series->at_s[last] - series->at_s[found->first];
	double step_s = (found->level_s - series->at_s[found->first]) / found->rises;
	double gained, expected;

	while (back > found->first && (last - back < LEAST_MOMENTS - 1 ||
				       series->at_s[last] - series->at_s[back] < 4 * step_s))
		back--;
	gained = series->bytes[last] - series->bytes[back];
	expected = (series->bytes[last] - series->bytes[found->first]) *
		   (series->at_s[last] - series->at_s[back]) / whole_s;
	return gained >= STILL_GROWING * expected;
}

static struct finding find(const struct series *series)
{
	struct finding ret = {.first = beginning(series)};
	double most = series->bytes[ret.first], sure;

	ret.level_s = series->at_s[ret.first];
	for (size_t i = ret.first + 1; i < series->cnt; i++) {
		if (series->bytes[i] <= most)
			continue;
		most = series->bytes[i];
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
	return ret;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
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

/* By Little's law: how many there are on average, to how many are freed each second. */
static double lifetime_ns(const struct site_history *history)
{
	const struct moment *moments = history->moments;
	size_t last = history->moment_cnt - 1;
	double area = 0;

	if (!history->freed || !last)
		return NAN;
	for (size_t i = 1; i <= last; i++)
		area += (double)(moments[i].sampled + moments[i - 1].sampled) / 2 *
			(double)(moments[i].elapsed_ns - moments[i - 1].elapsed_ns);
	return area / (double)history->freed;
}

/* The first span that is several lifetimes long; SPAN_CNT: none is. */
static size_t span_beyond(double lifetime)
{
	size_t span = 0;

	if (isnan(lifetime))
		return SPAN_CNT;
	while (span < SPAN_CNT && (double)age_class_ns(SPAN_CLASS(span)) < LIFETIMES * lifetime)
		span++;
	return span;
}

/*
 * Blocks that are older than those that are freed ever get: how many of so many, less one that may
 * be there by chance.
 */
static double aged(const struct site_history *history, size_t span)
{
	double old;

	if (span == SPAN_CNT)
		return NAN;
	old = history->moments[history->moment_cnt - 1].old_count[span];
	return old / (old + 1);
}

static void score(const struct site_history *history, size_t span, const struct finding *found,
		  struct leak_score *ret)
{
	double kept = (double)(history->seen - history->freed);

	ret->growth = found->growth;
	ret->aged = aged(history, span);
	ret->unfreed = history->seen ? (kept + 1) / ((double)history->seen + 2) : NAN;
	/* fmax takes the other if one is not a number. */
	ret->total = ret->growth * (1 + fmax(0, fmax(ret->unfreed, ret->aged))) / 2;
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

void trend_of(const struct site_history *history, struct trend *ret)
{
	struct series all, old;
	struct finding found;
	size_t span;

	*ret = (struct trend){
		.bytes_per_s = NAN,
		.low = NAN,
		.high = NAN,
		.lifetime_ns = lifetime_ns(history),
	};
	span = span_beyond(ret->lifetime_ns);
	series_of(history, SPAN_CNT, &all);
	found = find(&all);
	if (span < SPAN_CNT) {
		struct finding other;

		series_of(history, span, &old);
		other = find(&old);
		if (other.growth > found.growth) {
			found = other;
			all = old;
		}
	}
	score(history, span, &found, &ret->score);
	if (history->moment_cnt < LEAST_MOMENTS)
		return;
	ret->tendency = tendency_of(&all, &found);
	ret->since_ns = since_ns(&all, &found);
	slope_of(&all, found.first, ret);
}
