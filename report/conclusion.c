// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the verdict on a whole report: the gravest verdict that applies. */
#include "report/conclusion.h"

#include <string.h>

#define NSEC_PER_SEC UINT64_C(1000000000)

/* Minimum leak scores of a suspect for the levels "medium" and "high" */
#define MEDIUM_SCORE 0.6
#define HIGH_SCORE 0.8

bool conclusion_is_early(const struct report *report)
{
	return !report->judged && (report->watched.cnt < TREND_LEAST_MOMENTS ||
				   report->watched.ns < TREND_LEAST_S * NSEC_PER_SEC);
}

bool conclusion_has_ended(const struct report *report)
{
	const struct ended_processes *ended = report->ended;

	if (!ended || !ended->total)
		return false;
	return ended->total > 1 || !report->only_runtime_init || ended->named[0].out_of_memory;
}

bool conclusion_is_stopped(const struct report *report)
{
	const struct snapshot *snap = report->snapshot;
	bool has_stopped = false;

	for (size_t i = 0; i < snap->tally_cnt; i++) {
		if (!snap->tallies[i].footprint.is_known)
			continue;
		if (!snap->tallies[i].footprint.is_stopped)
			return false;
		has_stopped = true;
	}
	return has_stopped;
}

static bool is_mostly_kept(const struct report *report)
{
	return !report->snapshot->descriptors.are_traced && rss_is_mostly_kept(&report->latest_rss);
}

enum conclusion conclusion_of(const struct report *report)
{
	if (report->loss_cnt)
		return CONCLUSION_LOST;
	if (report->suspect_cnt)
		return CONCLUSION_GROWS;
	if (report->untraced.cnt)
		return CONCLUSION_UNTRACED;
	if (report->unclear || report->settling || report->undecided || report->snapshot->core ||
	    conclusion_is_stopped(report))
		return CONCLUSION_UNKNOWN;
	if (conclusion_is_early(report))
		return CONCLUSION_EARLY;
	if (report->pending || report->untraced.explained.process ||
	    report->untraced.too_young.process || report->untraced.pending.process)
		return CONCLUSION_UNKNOWN;
	if (conclusion_has_ended(report))
		return CONCLUSION_ENDED;
	return is_mostly_kept(report) ? CONCLUSION_KEEPS : CONCLUSION_CLEAR;
}

const char *conclusion_name(enum conclusion conclusion)
{
	static const char *const names[CONCLUSION_CNT] = {
		[CONCLUSION_LOST] = "lost",         [CONCLUSION_GROWS] = "grows",
		[CONCLUSION_UNTRACED] = "untraced", [CONCLUSION_UNKNOWN] = "unknown",
		[CONCLUSION_EARLY] = "early",       [CONCLUSION_ENDED] = "ended",
		[CONCLUSION_KEEPS] = "keeps",       [CONCLUSION_CLEAR] = "clear",
	};

	return names[conclusion];
}

/* True if processes of a program were traced, and all of them have ended. */
static bool has_ended(const struct snapshot *snap, const struct process *program)
{
	bool ret = false;

	for (size_t i = 0; program && i < snap->tally_cnt; i++) {
		const struct process_tally *tally = &snap->tallies[i];
		const char *comm = tally->process->comm;

		if (tally->process != program &&
		    !(comm && program->comm && !strcmp(comm, program->comm)))
			continue;
		if (!tally->ended && !tally->ended_here)
			return false;
		ret = true;
	}
	return ret;
}

bool conclusion_grew_to_end(const struct report *report)
{
	for (size_t i = 0; i < report->suspect_cnt; i++) {
		const struct site *site = report->suspects[i].site->site;

		if (!report->suspects[i].is_slight &&
		    (site->space == SPACE_KERNEL || !has_ended(report->snapshot, site->process)))
			return false;
	}
	return report->suspect_cnt;
}

static const char *level_of(const struct report *report)
{
	double score = report->suspects[0].site->history->trend.score.total;

	if (score >= HIGH_SCORE && !conclusion_grew_to_end(report))
		return "high";
	return score >= MEDIUM_SCORE ? "medium" : "low";
}

const char *conclusion_level(const struct report *report)
{
	static const char *const levels[CONCLUSION_CNT] = {
		[CONCLUSION_LOST] = "high",   [CONCLUSION_UNTRACED] = "medium",
		[CONCLUSION_UNKNOWN] = "low", [CONCLUSION_EARLY] = "low",
		[CONCLUSION_ENDED] = "low",   [CONCLUSION_KEEPS] = "none",
		[CONCLUSION_CLEAR] = "none",
	};
	enum conclusion conclusion = conclusion_of(report);

	return conclusion == CONCLUSION_GROWS ? level_of(report) : levels[conclusion];
}
