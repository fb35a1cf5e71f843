// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the command that a report advises to run next, by its verdict. */
#include "sinks/next_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/conclusion.h"
#include "sinks/verdict.h"

#define NSEC_PER_SEC UINT64_C(1000000000)

/*
 * Arguments of the advised command: its interval in seconds and its number of reports. PROOF_TIMES
 * is used with --prove, TIMES without. Blocks count as lost only if two consecutive proofs find
 * them definite.
 */
#define PROOF_TIMES "15 2"
#define TIMES "5 12"

/* Number of reports of a longer run, and its minimum and maximum interval in seconds */
#define REPORTS 12
#define LEAST_INTERVAL_S 5
#define MOST_INTERVAL_S 300

/* True if a process is known to run at the time of the report. */
static bool is_running(const struct report *report, const struct process *process)
{
	const struct snapshot *snap = report->snapshot;

	if (snap->proof && snap->proof->method == PROOF_ENDED)
		return false;
	for (size_t i = 0; i < snap->tally_cnt; i++)
		if (snap->tallies[i].process->pid == process->pid &&
		    snap->tallies[i].footprint.is_known)
			return true;
	return false;
}

/*
 * Writes a command with which memleak shows more of a process, with the given options. Writes
 * nothing and returns false if `options` is NULL or the process is not running.
 */
static bool write_options(FILE *out, const struct report *report, const char *options,
			  const struct process *process)
{
	if (!options || !is_running(report, process))
		return false;
	if (!strcmp(options, "--rss"))
		fprintf(out, "memleak --json --rss -p %d", process->pid);
	else
		fprintf(out, "memleak --format verdict %s -p %d %s", options, process->pid,
			!strcmp(options, "--prove") ? PROOF_TIMES : TIMES);
	return true;
}

/* Writes the command for a proof of the first suspect in user memory. */
static void write_proof(FILE *out, const struct report *report)
{
	const struct snapshot *snap = report->snapshot;

	if (snap->proof || snap->descriptors.are_traced)
		return;
	for (size_t i = 0; i < report->suspect_cnt; i++) {
		const struct site *site = report->suspects[i].site->site;

		if (site->space == SPACE_USER && site->process &&
		    write_options(out, report, "--prove", site->process))
			return;
	}
}

/* Returns the running process if only one is traced; NULL if none or several are. */
static const struct process *only_process(const struct report *report)
{
	const struct snapshot *snap = report->snapshot;
	const struct process *ret = NULL;

	for (size_t i = 0; i < snap->tally_cnt; i++) {
		const struct process *process = snap->tallies[i].process;

		if (!is_running(report, process))
			continue;
		if (ret && ret->pid != process->pid)
			return NULL;
		ret = process;
	}
	return ret;
}

/*
 * Writes the options that this run is known to have. Leaves out -K if `added` is -f, because -K and
 * -f conflict.
 */
static void write_own_options(FILE *out, const struct report *report, const char *added)
{
	const struct snapshot *snap = report->snapshot;

	if (snap->stats[SPACE_KERNEL].known && strcmp(added, "-f"))
		fputs(" -K", out);
	if (snap->descriptors.are_traced)
		fputs(" --fds", out);
	if (!verdict_options_of(report, FOOTPRINT_CHILDREN))
		fputs(" -f", out);
	if (snap->proof)
		fputs(" --prove", out);
	if (report->any_age)
		fputs(" -o 0", out);
}

/*
 * Writes a command for one process, with the options of this run and one more, `added`. If the
 * process is not running, writes nothing and returns false.
 */
static bool write_again(FILE *out, const struct report *report, const char *added,
			const struct process *process)
{
	if (!is_running(report, process))
		return false;
	fputs("memleak --format verdict", out);
	write_own_options(out, report, added);
	fprintf(out, " %s -p %d %s", added, process->pid,
		report->snapshot->proof ? PROOF_TIMES : TIMES);
	return true;
}

/*
 * Writes the command for a run that takes twice as long as this run, but at least LEAST_INTERVAL_S
 * and at most MOST_INTERVAL_S per report. Writes nothing unless exactly one traced process is
 * running, or only the kernel is traced.
 */
static void write_longer(FILE *out, const struct report *report)
{
	const struct snapshot *snap = report->snapshot;
	const struct process *process = only_process(report);
	uint64_t interval_s = 2 * snap->elapsed_ns / NSEC_PER_SEC / REPORTS;

	if (!process && (snap->tally_cnt || !snap->stats[SPACE_KERNEL].known))
		return;
	if (interval_s < LEAST_INTERVAL_S)
		interval_s = LEAST_INTERVAL_S;
	if (interval_s > MOST_INTERVAL_S)
		interval_s = MOST_INTERVAL_S;
	fputs("memleak --format verdict", out);
	write_own_options(out, report, "");
	if (process)
		fprintf(out, " -p %d", process->pid);
	fprintf(out, " %" PRIu64 " %d", interval_s, REPORTS);
}

static void write_untraced(FILE *out, const struct report *report)
{
	for (size_t i = 0; i < report->untraced.cnt; i++) {
		const struct untraced_growth *growth = &report->untraced.items[i];

		if (write_options(out, report, verdict_options_of(report, growth->part),
				  growth->process))
			return;
	}
}

static void write_unknown(FILE *out, const struct report *report)
{
	const struct untraced_growth *pending = &report->untraced.pending;
	const struct untraced_growth *too_young = &report->untraced.too_young;

	if (conclusion_is_stopped(report))
		return;
	if (too_young->process && !report->any_age)
		write_again(out, report, "-o 0", too_young->process);
	else if (pending->process && verdict_options_of(report, pending->part))
		write_options(out, report, verdict_options_of(report, pending->part),
			      pending->process);
	else
		write_longer(out, report);
}

static void write_children(FILE *out, const struct report *report)
{
	const struct snapshot *snap = report->snapshot;
	const char *options = verdict_options_of(report, FOOTPRINT_CHILDREN);

	for (size_t i = 0; options && i < snap->tally_cnt; i++)
		if (snap->tallies[i].footprint.parts[FOOTPRINT_CHILDREN] &&
		    write_again(out, report, options, snap->tallies[i].process))
			return;
}

static void write_command(FILE *out, const struct report *report)
{
	switch (conclusion_of(report)) {
	case CONCLUSION_GROWS:
		write_proof(out, report);
		break;
	case CONCLUSION_UNTRACED:
		write_untraced(out, report);
		break;
	case CONCLUSION_UNKNOWN:
		write_unknown(out, report);
		break;
	case CONCLUSION_EARLY:
		write_longer(out, report);
		break;
	case CONCLUSION_KEEPS:
	case CONCLUSION_CLEAR:
		write_children(out, report);
		break;
	case CONCLUSION_LOST:
	case CONCLUSION_ENDED:
	case CONCLUSION_CNT:
		break;
	}
}

char *next_command(const struct report *report)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	if (report->recorded || report->snapshot->core)
		return NULL;
	out = open_memstream(&text, &len);
	if (!out)
		return NULL;
	write_command(out, report);
	if (!fclose(out) && len)
		return text;
	free(text);
	return NULL;
}
