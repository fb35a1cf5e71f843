// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the sites that suppressions match. The result for a site (verdict) is kept as long as
 * snapshots contain the site. Verdicts are sorted by site id.
 */
#include "report/suppressor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fair_lock.h"
#include "base/order.h"
#include "report/peak.h"

/*
 * Special values for the index of a pattern: the site matches no pattern, or it is not known yet
 * whether it matches one.
 */
#define NO_PATTERN SIZE_MAX
#define NOT_KNOWN (SIZE_MAX - 1)

struct verdict {
	uint64_t id;
	size_t pattern;
};

struct suppressor {
	const struct suppressions *suppressions;
	struct verdict *verdicts; /* verdicts on sites of the previous snapshot, sorted by id */
	size_t verdict_cnt;
	struct suppressed *sums; /* one sum per pattern */
	/*
	 * Peak without suppressed sites, for the view. The suppressor owns its array of sites; the
	 * snapshot owns the other data of the peak.
	 */
	struct peak peak;
	struct proof_facts proof;
};

/* The sites of a snapshot and of its peak, with the index of the pattern that each site matches. */
struct task {
	const struct site **sites;
	size_t *patterns;
	size_t cnt;
};

int suppressor__new(const struct suppressions *suppressions, struct suppressor **ret)
{
	struct suppressor *suppressor = calloc(1, sizeof(*suppressor));

	if (!suppressor)
		return -ENOMEM;
	suppressor->suppressions = suppressions;
	suppressor->sums = calloc(suppressions->cnt + 1, sizeof(*suppressor->sums));
	if (!suppressor->sums) {
		suppressor__free(suppressor);
		return -ENOMEM;
	}
	for (size_t i = 0; i < suppressions->cnt; i++)
		suppressor->sums[i].pattern = suppressions->patterns[i];
	*ret = suppressor;
	return 0;
}

void suppressor__free(struct suppressor *suppressor)
{
	if (!suppressor)
		return;
	free(suppressor->verdicts);
	free(suppressor->sums);
	free(suppressor->peak.sites);
	free(suppressor);
}

static int by_id(const void *left, const void *right)
{
	const struct verdict *a = left, *b = right;

	return ORDER(a->id, b->id);
}

static size_t known_pattern(const struct suppressor *suppressor, uint64_t id)
{
	size_t at = bisect_below(suppressor->verdicts, suppressor->verdict_cnt, id, id);
	bool found = at < suppressor->verdict_cnt && suppressor->verdicts[at].id == id;

	return found ? suppressor->verdicts[at].pattern : NOT_KNOWN;
}

static bool matches(const char *pattern, const struct sym_location *location)
{
	if (location->module && suppression_matches(pattern, location->module))
		return true;
	for (size_t i = 0; i < location->frame_cnt; i++) {
		const struct sym_frame *frame = &location->frames[i];

		if (frame->symbol && suppression_matches(pattern, frame->symbol))
			return true;
		if (frame->file && suppression_matches(pattern, frame->file))
			return true;
	}
	return false;
}

size_t suppressions_find(const struct suppressions *suppressions,
			 const struct sym_location *location)
{
	for (size_t i = 0; i < suppressions->cnt; i++)
		if (matches(suppressions->patterns[i], location))
			return i;
	return suppressions->cnt;
}

static bool has_names(const struct sym_location *location)
{
	for (size_t i = 0; i < location->frame_cnt; i++)
		if (!location->frames[i].symbol)
			return false;
	return true;
}

/*
 * Returns the index of the first pattern that matches a frame of a site. If no pattern does,
 * returns NOT_KNOWN if a frame may still get a name, else NO_PATTERN.
 */
static size_t find_pattern(const struct suppressor *suppressor, struct symbol_backend *symbols,
			   const struct site *site)
{
	size_t none = suppressor->suppressions->cnt, first = none;
	bool all_known = true;

	for (size_t i = 0; i < site->frame_cnt; i++) {
		const struct sym_location *location =
			symbols->lookup(symbols, site, site->frames[i]);
		size_t found = none;

		if (location)
			found = suppressions_find(suppressor->suppressions, location);
		if (!location || (symbols->names_follow && !has_names(location)))
			all_known = false;
		if (found < first)
			first = found;
	}
	if (first < none)
		return first;
	return all_known ? NO_PATTERN : NOT_KNOWN;
}

/*
 * Names the frames of the sites without a verdict, and compares them with the patterns. After the
 * deadline, a site that matches no pattern gets no verdict, because its frames may still get names
 * later.
 */
static int judge(const struct suppressor *suppressor, struct symbol_backend *symbols,
		 uint64_t deadline_ns, const struct task *task)
{
	cleanup_free const struct site **open = calloc(task->cnt + 1, sizeof(*open));
	size_t open_cnt = 0;
	bool in_time;
	int err;

	if (!open)
		return -ENOMEM;
	for (size_t i = 0; i < task->cnt; i++) {
		task->patterns[i] = known_pattern(suppressor, task->sites[i]->id);
		if (task->patterns[i] == NOT_KNOWN)
			open[open_cnt++] = task->sites[i];
	}
	if (!open_cnt)
		return 0;
	err = symbols->prepare(symbols, open, open_cnt, deadline_ns);
	in_time = clock_ns(CLOCK_MONOTONIC) < deadline_ns && !fair_lock_is_interrupted();
	for (size_t i = 0; !err && i < task->cnt; i++) {
		if (task->patterns[i] != NOT_KNOWN)
			continue;
		task->patterns[i] = find_pattern(suppressor, symbols, task->sites[i]);
		if (task->patterns[i] == NO_PATTERN && !in_time)
			task->patterns[i] = NOT_KNOWN;
	}
	return err;
}

static int remember(struct suppressor *suppressor, const struct task *task)
{
	struct verdict *verdicts = calloc(task->cnt + 1, sizeof(*verdicts));
	size_t cnt = 0;

	if (!verdicts)
		return -ENOMEM;
	for (size_t i = 0; i < task->cnt; i++)
		if (task->patterns[i] != NOT_KNOWN)
			verdicts[cnt++] = (struct verdict){task->sites[i]->id, task->patterns[i]};
	qsort(verdicts, cnt, sizeof(*verdicts), by_id);
	free(suppressor->verdicts);
	suppressor->verdicts = verdicts;
	suppressor->verdict_cnt = cnt;
	return 0;
}

static bool is_suppressed(size_t pattern)
{
	return pattern < NOT_KNOWN;
}

static void add_to(struct suppressed *sum, uint64_t bytes, uint64_t count)
{
	sum->bytes += bytes;
	sum->count += count;
}

/*
 * Returns the sum of a site's hanging blocks (struct hanging_sum) that are reachable only from
 * suppressed blocks. These hanging blocks are suppressed, too: adds them to the sums of the
 * patterns that match. If there are any, sets *ret_sum to the sum of one of these patterns.
 */
static struct reach_sum hanging_of(struct suppressor *suppressor, const struct snapshot *snap,
				   uint64_t site, struct suppressed **ret_sum)
{
	size_t at = bisect_below(snap->hanging, snap->hanging_cnt, site, site);
	struct reach_sum all = {0};

	for (; at < snap->hanging_cnt && snap->hanging[at].site == site; at++) {
		const struct reach_sum *of = &snap->hanging[at].of;
		size_t pattern = known_pattern(suppressor, snap->hanging[at].head);

		if (!is_suppressed(pattern))
			continue;
		*ret_sum = &suppressor->sums[pattern];
		add_to(*ret_sum, of->bytes, of->count);
		all.bytes += of->bytes;
		all.count += of->count;
	}
	return all;
}

/*
 * Computes the sums of all patterns. For each site i to leave out completely, sets left_out[i];
 * returns the number of these sites. For each other site i, sets hanging[i] to the sum of the
 * hanging blocks to leave out.
 */
static size_t add_sums(struct suppressor *suppressor, const struct snapshot *snap,
		       const size_t *patterns, bool *left_out, struct reach_sum *hanging)
{
	size_t cnt = 0;

	for (size_t i = 0; i < suppressor->suppressions->cnt; i++)
		suppressor->sums[i] = (struct suppressed){suppressor->sums[i].pattern, 0, 0, 0};
	for (size_t i = 0; i < snap->site_cnt; i++) {
		const struct site *site = &snap->sites[i];
		struct suppressed *sum = NULL;

		if (is_suppressed(patterns[i])) {
			sum = &suppressor->sums[patterns[i]];
			add_to(sum, site->bytes, site->count);
		} else {
			hanging[i] = hanging_of(suppressor, snap, site->id, &sum);
			if (!hanging[i].count || hanging[i].count < site->count)
				continue;
		}
		sum->sites++;
		left_out[i] = true;
		cnt++;
	}
	return cnt;
}

static void subtract(uint64_t *from, uint64_t number)
{
	*from -= number < *from ? number : *from;
}

static void subtract_sum(struct reach_sum *from, const struct reach_sum *sum)
{
	subtract(&from->bytes, sum->bytes);
	subtract(&from->count, sum->count);
}

static void replace_proof(struct suppressor *suppressor, struct snapshot_view *view,
			  const bool *left_out, const struct reach_sum *hanging)
{
	struct proof_facts *proof = &suppressor->proof;

	if (!view->snap.proof)
		return;
	*proof = *view->snap.proof;
	for (size_t i = 0; i < view->snap.site_cnt; i++) {
		for (size_t kind = 0; left_out[i] && kind < REACH_CNT; kind++)
			subtract_sum(&proof->of[kind], &view->snap.sites[i].reach.of[kind]);
		if (!left_out[i])
			subtract_sum(&proof->of[REACH_INDIRECT], &hanging[i]);
	}
	view->snap.proof = proof;
}

/*
 * Subtracts suppressed hanging blocks from the sites that stay in the view. `site` points to the
 * first site that stays. `left_out` and `hanging` have an entry for each site that the view had
 * before.
 */
static void leave_out_hanging(struct site *site, const bool *left_out,
			      const struct reach_sum *hanging, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		if (left_out[i])
			continue;
		subtract(&site->bytes, hanging[i].bytes);
		subtract(&site->count, hanging[i].count);
		subtract_sum(&site->reach.of[REACH_INDIRECT], &hanging[i]);
		site++;
	}
}

static int leave_out(struct suppressor *suppressor, struct snapshot_view *view,
		     const size_t *patterns)
{
	size_t cnt = view->snap.site_cnt;
	cleanup_free bool *left_out = calloc(cnt + 1, sizeof(*left_out));
	cleanup_free struct reach_sum *hanging = calloc(cnt + 1, sizeof(*hanging));
	int err = left_out && hanging ? 0 : -ENOMEM;

	if (err || !add_sums(suppressor, &view->snap, patterns, left_out, hanging))
		return err;
	replace_proof(suppressor, view, left_out, hanging);
	err = snapshot_view_leave_out(view, left_out);
	if (!err)
		leave_out_hanging(view->own_sites, left_out, hanging, cnt);
	return err;
}

/*
 * Gives the view a copy of the peak without suppressed sites; the snapshot's peak does not change.
 */
static int replace_peak(struct suppressor *suppressor, struct snapshot_view *view,
			const size_t *patterns)
{
	const struct peak *whole = view->snap.peak;
	struct peak *peak = &suppressor->peak;
	struct site *sites;
	size_t cnt = 0;

	if (!whole)
		return 0;
	sites = calloc(whole->site_cnt + 1, sizeof(*sites));
	if (!sites)
		return -ENOMEM;
	free(peak->sites);
	*peak = *whole;
	peak->sites = sites;
	for (size_t i = 0; i < whole->site_cnt; i++) {
		const struct site *site = &whole->sites[i];

		if (!is_suppressed(patterns[i])) {
			sites[cnt++] = *site;
			continue;
		}
		peak->bytes -= site->bytes;
		peak->count -= site->count;
		peak->highest_bytes -= site->bytes;
	}
	peak->site_cnt = cnt;
	view->snap.peak = peak;
	return 0;
}

static void collect(const struct snapshot *snap, struct task *task)
{
	for (size_t i = 0; i < snap->site_cnt; i++)
		task->sites[task->cnt++] = &snap->sites[i];
	for (size_t i = 0; snap->peak && i < snap->peak->site_cnt; i++)
		task->sites[task->cnt++] = &snap->peak->sites[i];
}

int suppressor__apply(struct suppressor *suppressor, struct symbol_backend *symbols,
		      uint64_t deadline_ns, struct snapshot_view *view)
{
	const struct snapshot *snap = &view->snap;
	size_t cnt = snap->site_cnt + (snap->peak ? snap->peak->site_cnt : 0);
	cleanup_free const struct site **sites = calloc(cnt + 1, sizeof(*sites));
	cleanup_free size_t *patterns = calloc(cnt + 1, sizeof(*patterns));
	struct task task = {.sites = sites, .patterns = patterns};
	int err = sites && patterns ? 0 : -ENOMEM;

	if (err)
		return err;
	collect(snap, &task);
	err = judge(suppressor, symbols, deadline_ns, &task);
	if (!err)
		err = remember(suppressor, &task);
	if (!err)
		err = replace_peak(suppressor, view, patterns + snap->site_cnt);
	if (!err)
		err = leave_out(suppressor, view, patterns);
	if (err)
		return err;
	view->snap.suppressed = suppressor->sums;
	view->snap.suppressed_cnt = suppressor->suppressions->cnt;
	return 0;
}
