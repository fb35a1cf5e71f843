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

#define LEAST_CONFIDENCE 0.95
/* Of its past, what a site is judged by: so that what comes and goes is seen to go each time. */
#define LATER_PART 0.6
#define LEAST_SCORE 0.4
/* So often it must have risen, and if that was now and then: a program may load in a few steps. */
#define LEAST_RISES 3
#define LEAST_STEPS 5
#define STEADY_RISES 0.7
/* Times that a step may take of the one before: a vector that doubles takes two, as far as reports
 * show when it did.
 */
#define WIDENING 3
/* Part of the rate until then that a step must have had, or it levels off. */
#define STEP_RATE 0.5
/* Reports, and times that a step takes on average: what is of late. */
#define LATE_REPORTS 4
#define LATE_STEPS 4
/* Growth of late is at least this part of what it was before. */
#define STILL_GROWING 0.2
/*
 * For each block that it grew by so few may be freed meanwhile. Where lifetimes are scattered over
 * orders of magnitude about half of those that reach an age are freed by the time that they are
 * twice as old, so that an eighth speaks against any lifetimes that may be met.
 */
#define MOST_FREED 0.125
/*
 * In a short while even blocks that live for long are not freed: what grows for so many seconds may
 * have freed half of that for a lifetime of an hour, which is as good as never.
 */
#define LONG_LIFE_S 3600.0
/*
 * A buffer that is made larger is another block each time, as is one of any size that takes the
 * place of another: so often in a row larger ones come by chance once in 8! = 40320 times.
 */
#define REPLACED_RISES 7
/* Blocks of some age: few come to be so old, and chance makes more of few. 2^-8 is rare enough. */
#define LEAST_OLD_GAIN 8
/* For so long a span must have been watched: most that reached it and are freed were by then. */
#define LEAST_SPANS 1.5
/*
 * What they are among must have grown by this part of what they did, but for its ups and downs:
 * some times the largest fall between two reports.
 */
#define LEAST_SHARE 0.5
#define FALLS 3
/* Fewer where frees of earlier blocks are subtracted: what replaces those grows without a leak. */
#define NET_FALLS 2
/* Where sizes can be read at all, they can be of nearly all blocks. */
#define MOST_SIZED 0.9
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
	size_t past;   /* moments before these */
	double past_s; /* since the first of all */
	/* When it grows in steps, it rose so often: a step may be two of blocks of some age. */
	uint32_t least_steps;
};

/* What a series says. */
struct finding {
	double growth; /* see struct leak_score */
	double risen;
	size_t since;   /* the moment where the window begins */
	size_t late;    /* and what is of late */
	size_t first;   /* of the series: where the growth does, perhaps before */
	double level_s; /* when it became what it is at most */
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
		[OBJECTION_TREND] = "it may be chance",
		[OBJECTION_RISES] = "it rose too few times",
		[OBJECTION_LATELY] = "no more of late",
		[OBJECTION_FREED] = "too many were freed",
		[OBJECTION_SITE] = "the blocks have only become older",
		[OBJECTION_PROCESS] = "the process did not grow by it",
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

/* span: SPAN_CNT means all blocks. Before a span has passed there are none so old. */
static void series_of(const struct site_history *history, size_t span, struct series *ret)
{
	const struct moment *moments = history->moments;
	size_t cnt = history->moment_cnt;
	bool all = span == SPAN_CNT;

	*ret = (struct series){
		.least_steps = all ? LEAST_STEPS : 2 * LEAST_STEPS,
		.past_s = (double)(moments[cnt - 1].elapsed_ns - moments[0].elapsed_ns) /
			  NSEC_PER_SEC,
	};
	for (size_t i = 0; i < cnt; i++) {
		const struct moment *moment = &moments[i];

		if (moment->elapsed_ns < span_ns(span)) {
			ret->past++;
			continue;
		}
		ret->at_s[ret->cnt] = (double)moment->elapsed_ns / NSEC_PER_SEC;
		ret->bytes[ret->cnt] =
			all ? (double)moment->bytes : (double)moment->held_bytes[span];
		ret->held[ret->cnt++] = all ? (double)moment->bytes : moment->held[span];
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
 * The later part, or the last moments if these are more: what a program did at its start, and
 * traffic until as much is freed as comes, are over some time.
 */
static struct series window_of(const struct series *series)
{
	size_t first = 0;

	while (first + RECENT_MOMENTS < series->cnt &&
	       length_s(series, first + 1) >= LATER_PART * series->past_s)
		first++;
	return part_of(series, first);
}

/* How often it became more than it ever was since a moment. */
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

/*
 * Where it began to grow as it does in the window: before it, too, while some reports together
 * gained neither much less nor much more, as a program does that loads.
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

/* The moment before the last few reports, or before the time that a few steps took. */
static size_t late_of(const struct series *series, const struct finding *found)
{
	double growing_s = length_s(series, found->first);
	double steps_s = found->steady ? 0 : LATE_STEPS * growing_s / (found->reasons.rises + 1);
	size_t last = series->cnt - 1, late = last;

	while (late > found->first &&
	       (last - late < LATE_REPORTS || length_s(series, late) < steps_s))
		late--;
	return late;
}

/* The rate since then, of that before. */
static double lately(const struct series *series, size_t first, size_t late)
{
	double before_s = series->at_s[late] - series->at_s[first];
	double before = series->held[late] - series->held[first];
	double since = series->held[series->cnt - 1] - series->held[late];

	if (late == first)
		return 1;
	return before > 0 ? since / length_s(series, late) / (before / before_s) : since > 0;
}

/* Whether the window's growth is one at all. */
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
	reasons->confidence = confidence(&window);
	reasons->rises = rises_of(series, ret.first, &ret.level_s);
	ret.steady = is_steady(series, ret.first, reasons->rises);
	ret.late = late_of(series, &ret);
	reasons->lately = lately(series, ret.first, ret.late);
	ret.late += series->past;
	ret.shrinks = reasons->confidence <= -LEAST_CONFIDENCE;
	ret.growth = fmax(reasons->confidence, 0) * (1 - given_back(&window));
	ret.risen = last > 0 ? fmax(1 - window.held[0] / last, 0) : 0;
	reasons->objection = object(series, &window, &ret);
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

static double bytes_of(const struct moment *moment, size_t span)
{
	return span < SPAN_CNT ? (double)moment->held_bytes[span] : (double)moment->bytes;
}

double history_gain(const struct site_history *history, uint64_t older_ns, uint64_t since_ns)
{
	const struct moment *moments = history->moments;
	size_t span = SPAN_CNT, at = history->moment_cnt;
	double now;

	for (size_t i = 0; older_ns && i < SPAN_CNT; i++)
		if (span_ns(i) == older_ns)
			span = i;
	if (!at)
		return 0;
	now = bytes_of(&moments[at - 1], span);
	while (at && moments[at - 1].elapsed_ns > since_ns)
		at--;
	return at ? now - bytes_of(&moments[at - 1], span) : now;
}

/* What Laplace's rule says of the next of the blocks of a span. */
static double unfreed(const struct site_history *history, size_t span, uint64_t freed)
{
	double kept = history->moments[history->moment_cnt - 1].held[span];

	return history->seen ? (kept + 1) / (kept + (double)freed + 2) : NAN;
}

/* What a site held at a moment, of which its process held more. */
typedef double amount_fn(const struct moment *moment, size_t span);

static double blocks_of(const struct moment *moment, size_t span)
{
	return moment->held[span];
}

static double process_bytes_of(const struct moment *moment, size_t span)
{
	return (double)moment->process_bytes;
}

/* The same, less what was freed so far of what the process had before tracing began. */
static double net_bytes_of(const struct moment *moment, size_t span)
{
	return (double)moment->process_bytes - (double)moment->earlier.bytes;
}

static double net_blocks_of(const struct moment *moment, size_t span)
{
	return (double)moment->process_blocks - (double)moment->earlier.cnt;
}

struct amount {
	amount_fn *of;
	size_t span;
	bool is_net; /* less what was there before tracing began */
};

static double change(const struct site_history *history, size_t since, struct amount amount)
{
	const struct moment *moments = history->moments;

	return amount.of(&moments[history->moment_cnt - 1], amount.span) -
	       amount.of(&moments[since], amount.span);
}

/* Whether the whole grew with a part of it since a moment, as far as its ups and downs show. */
static bool grew_since(const struct site_history *history, size_t since, struct amount whole,
		       struct amount part, double fall)
{
	double gained = change(history, since, part);
	double falls = whole.is_net ? NET_FALLS : FALLS;

	return fall >= gained ||
	       change(history, since, whole) + falls * fall >= LEAST_SHARE * gained;
}

/* Whether what some blocks are among grew with them, in the window and of late. */
static bool grew_with(const struct site_history *history, const struct finding *found,
		      struct amount whole, struct amount part)
{
	const struct moment *moments = history->moments;
	double fall = 0;

	for (size_t i = found->since; i + 1 < history->moment_cnt; i++)
		fall = fmax(fall, whole.of(&moments[i], whole.span) -
					  whole.of(&moments[i + 1], whole.span));
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

/* Whether there have been as many blocks all along, and never less in them. */
static bool are_replaced(const struct site_history *history, const struct finding *found)
{
	const struct moment *moments = history->moments;

	for (size_t i = found->since; i + 1 < history->moment_cnt; i++)
		if (moments[i + 1].count != moments[i].count ||
		    moments[i + 1].bytes < moments[i].bytes)
			return false;
	return found->reasons.rises >= REPLACED_RISES;
}

/*
 * Whether that many blocks from before tracing began were freed, or so much, that what was gained
 * may have taken their place, and all of the process grew as if it had.
 */
static bool replace_earlier(const struct site_history *history, const struct finding *found,
			    const struct reasons *reasons, struct amount blocks,
			    struct amount bytes)
{
	const struct earlier_frees *now = &history->moments[history->moment_cnt - 1].earlier;
	const struct earlier_frees *then = &history->moments[found->since].earlier;
	double frees = (double)now->cnt - (double)then->cnt;
	double sized = (double)now->sized - (double)then->sized;
	double freed_bytes = (double)now->bytes - (double)then->bytes;

	/* Less than before: since something was lost they are not known any more. */
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

/* Whether blocks that grow are likely to be freed, or have only become older, or moved. */
static enum objection weigh(const struct site_history *history, size_t span,
			    const struct finding *found, struct reasons *reasons)
{
	const struct moment *now = &history->moments[history->moment_cnt - 1];
	double window_s = (double)reasons->window_ns / NSEC_PER_SEC;
	struct amount blocks = {.of = blocks_of, .span = span},
		      bytes = {.of = bytes_of, .span = span};

	reasons->freed = now->freed[span] - history->moments[found->since].freed[span];
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
	if (!grew_with(history, found, (struct amount){.of = process_bytes_of, .span = span},
		       bytes))
		return OBJECTION_PROCESS;
	if (replace_earlier(history, found, reasons, blocks, bytes))
		return OBJECTION_EARLIER;
	return OBJECTION_NONE;
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
 * True if the next step may not be due yet: the last one was no smaller than the one before, nor
 * much smaller for its time than all of them, as those of a cache that fills up are.
 */
static bool is_between_steps(const struct series *series)
{
	double most = series->held[0], least = most, gained = most, gained_before = 0, gap_s = 0;
	uint32_t rises = most > 0; /* it was nothing when tracing began */
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
	if (found->reasons.objection)
		return;
	score->growth = found->growth;
	score->risen = found->risen;
	score->total = score->growth * (isnan(score->unfreed) ? score->risen : score->unfreed);
}

/* Looks at the blocks older than a span, or at all; true: they grow. */
static bool look(const struct site_history *history, size_t span, struct trend *ret)
{
	struct finding found;
	struct series series;

	series_of(history, span, &series);
	if (!series.cnt)
		return false;
	found = find(&series);
	found.reasons.objection = weigh(history, span, &found, &found.reasons);
	ret->undecided |= found.reasons.objection == OBJECTION_EARLIER;
	if (span < SPAN_CNT && found.reasons.objection)
		return false;
	ret->reasons = found.reasons;
	ret->tendency = tendency_of(&series, &found);
	ret->between_steps =
		(ret->tendency == TENDENCY_FLAT || ret->tendency == TENDENCY_LEVELLED) &&
		is_between_steps(&series);
	if (ret->between_steps)
		ret->tendency = TENDENCY_UNKNOWN;
	judge(history, span, &series, &found, ret);
	return !found.reasons.objection;
}

/*
 * Beside all blocks those are looked at that have outlived most that were freed: of the youngest
 * span that grows.
 */
void trend_of(const struct site_history *history, struct trend *ret)
{
	*ret = (struct trend){.bytes_per_s = NAN, .low = NAN, .high = NAN};
	for (size_t i = 0; i <= SPAN_CNT; i++) {
		if (!look(history, i ? i - 1 : SPAN_CNT, ret))
			continue;
		ret->undecided = false;
		return;
	}
}
