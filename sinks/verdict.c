// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes verdicts: lines for people; for programs, the numbers on which verdicts are based. */
#include "sinks/verdict.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "report/conclusion.h"
#include "report/pools.h"
#include "report/runtime_objects.h"
#include "report/trend.h"
#include "sinks/python_line.h"
#include "sinks/rss_line.h"
#include "sinks/text_part.h"
#include "sinks/verdict_line.h"

#define NSEC_PER_SEC UINT64_C(1000000000)
/* Maximum bytes of the name of a script's function in the sentence. */
#define SCRIPT_NAME_MOST 40

/*
 * Writes a line for each function with proven losses that the report shows, the largest loss first,
 * and a line with the number of all other such sites. is_named: the sentence of the verdict names
 * the only function, so the function has no line.
 */
static void write_losses(const struct text_part *part, bool is_named)
{
	const struct report *report = part->report;
	size_t left = report->losses_total;

	for (size_t i = 0; i < report->loss_cnt; i++) {
		if (!is_named)
			verdict_write_loss(part, &report->losses[i]);
		left -= report->losses[i].path_cnt;
	}
	if (!left)
		return;
	text_begin_line(part);
	text_write_count(part->out, left, "more site");
	fputs(left == 1 ? " has lost blocks\n" : " have lost blocks\n", part->out);
}

/* Sums over the suspects that have a line of their own. */
struct named {
	size_t lines; /* number of these suspects */
	size_t cnt;   /* number of sites of these suspects, except companions (kernel_paths.h) */
	double per_s; /* growth of these sites in bytes per second */
};

static struct named named_suspects(const struct report *report)
{
	struct named ret = {0};

	for (size_t i = 0; i < report->suspect_cnt; i++) {
		const struct suspect *suspect = &report->suspects[i];

		if (suspect->is_slight)
			continue;
		ret.lines++;
		ret.cnt += suspect->path_cnt - suspect->companion_cnt;
		ret.per_s += suspect->bytes_per_s - suspect->companions_per_s;
	}
	return ret;
}

/*
 * True if two or more growing sites have no line, and together grow faster than the sites that have
 * one.
 */
static bool is_mostly_unnamed(const struct report *report, struct named named)
{
	return report->suspects_total > named.cnt + 1 && report->suspects_per_s > 2 * named.per_s;
}

/* True if the verdict's sentence names the function to blame: it does if there is only one. */
static bool names_culprit(const struct report *report)
{
	enum conclusion conclusion = conclusion_of(report);
	struct named named = named_suspects(report);

	if (conclusion == CONCLUSION_LOST)
		return report->loss_cnt == 1;
	return conclusion == CONCLUSION_GROWS && named.lines == 1 &&
	       !is_mostly_unnamed(report, named);
}

/*
 * Writes that --why lists more sites; with --why and a full list, that it lists at most
 * REPORT_PATHS_MAX.
 */
static void write_more_hint(const struct text_part *part, size_t cnt)
{
	const struct report *report = part->report;

	if (!report->can_list_all || text_is_of_descriptors(part))
		return;
	if (!report->show_why)
		fputs(cnt == 1 ? " (--why shows it)" : " (--why lists them)", part->out);
	else if (report->path_cnt >= REPORT_PATHS_MAX)
		fprintf(part->out, " (--why lists at most %d sites)", REPORT_PATHS_MAX);
}

/*
 * Writes about the growing sites that have no line of their own: their growth rate, a function that
 * is on most of their stacks, and the option that lists them. If these sites are the larger part of
 * the growth, this line comes before the lines of suspects.
 */
static void write_more(const struct text_part *part, struct named named)
{
	const struct shared_caller *shared = &part->report->shared;
	size_t cnt = part->report->suspects_total - named.cnt;
	double per_s = part->report->suspects_per_s - named.per_s;
	char amount[AMOUNT_TEXT_SIZE];

	text_begin_line(part);
	text_write_count(part->out, cnt,
			 is_mostly_unnamed(part->report, named) ? "small site"
			 : named.cnt                            ? "more site"
								: "site");
	fputs(cnt == 1 ? " grows" : " grow", part->out);
	text_amount(per_s, amount);
	if (text_is_of_descriptors(part))
		fprintf(part->out, " by %.*f/s", per_s < 10 ? 1 : 0, per_s);
	else
		fprintf(part->out, " %s/s%s", amount, cnt == 1 ? "" : " together");
	if (shared->path) {
		fputs(shared->site_cnt < cnt ? ", most in calls of " : ", all in calls of ",
		      part->out);
		verdict_write_function(part->out, shared->path, shared->pos);
	}
	if (named.cnt)
		write_more_hint(part, cnt);
	fputc('\n', part->out);
}

/*
 * Returns what comes before the name of an option that a report advises: nothing, or that it must
 * be another run, because the option conflicts with those in use.
 */
static const char *run_for(const struct report *report, enum advised_option option)
{
	return report_may_advise(report, option) ? "" : "another run with ";
}

/*
 * Texts about each part of a footprint that may grow without being traced: its name, the options
 * that show more of it, and advice, which is written after the options.
 */
static const struct {
	const char *words;
	const char *options;
	const char *advice;
	enum advised_option first; /* first one of `options`, if there is advice on them */
} untraced_words[FOOTPRINT_CNT] = {
	[FOOTPRINT_ANONYMOUS] = {.words = "anonymous memory (RSS and swap)", .options = "--rss"},
	[FOOTPRINT_SHARED] = {.words = "shared memory",
			      .options = "-K --movable",
			      .advice = "shows who allocates it",
			      .first = ADVISED_KERNEL},
	[FOOTPRINT_HUGE] = {.words = "memory in huge pages",
			    .options = "-K",
			    .advice = "shows who allocates it",
			    .first = ADVISED_KERNEL},
	[FOOTPRINT_DESCRIPTORS] = {.words = "the number of open descriptors",
				   .options = "--fds",
				   .advice = "shows where they are opened",
				   .first = ADVISED_FDS},
	[FOOTPRINT_THREADS] = {.words = "the number of threads"},
	[FOOTPRINT_FILES] = {.words = "the memory of mapped files (RSS)"},
	[FOOTPRINT_CHILDREN] = {.words = "the number of child processes",
				.options = "-f",
				.advice = "traces them",
				.first = ADVISED_FOLLOW},
	[FOOTPRINT_ZOMBIES] = {.words = "the number of ended child processes (zombies)",
			       .advice = "the process does not wait for them"},
	[FOOTPRINT_UNMAPPED] = {.words = "open shared memory (memfd, tmpfs, System V)",
				.options = "-K --movable",
				.advice = "shows who allocates it",
				.first = ADVISED_KERNEL},
	[FOOTPRINT_PAGE_TABLES] = {.words = "the memory of page tables"},
	[FOOTPRINT_SOCKETS] = {.words = "the data that waits in sockets"},
	[FOOTPRINT_TIMERS] = {.words = "the number of POSIX timers"},
	[FOOTPRINT_QUEUES] = {.words = "the number of System V message queues",
			      .advice = "ipcs -q -p lists them"},
	[FOOTPRINT_VIRTUAL] = {.words = "the address space"},
	[FOOTPRINT_MAPPINGS] = {.words = "the number of mappings"},
	[FOOTPRINT_TMPFS] = {.words = "the tmpfs and System V memory of the user",
			     .options = "-K --movable",
			     .advice = "shows who allocates it",
			     .first = ADVISED_KERNEL},
};

static bool traces_kernel(const struct report *report)
{
	return report->snapshot->stats[SPACE_KERNEL].known;
}

static bool traces_children(const struct report *report)
{
	const struct snapshot *snap = report->snapshot;

	for (size_t i = 0; i < snap->tally_cnt; i++)
		if (snap->tallies[i].footprint.has_traced_children)
			return true;
	return false;
}

/*
 * True if this run is known to show what the options for this part of the footprint (see
 * untraced_words) would show.
 */
static bool has_options_of(const struct report *report, enum footprint_part footprint)
{
	switch (footprint) {
	case FOOTPRINT_ANONYMOUS:
		return report->rss || report->processes_rss.cnt;
	case FOOTPRINT_DESCRIPTORS:
		return report->snapshot->descriptors.are_traced;
	case FOOTPRINT_CHILDREN:
		return traces_children(report);
	case FOOTPRINT_HUGE:
		return traces_kernel(report);
	default:
		return false;
	}
}

const char *verdict_options_of(const struct report *report, enum footprint_part footprint)
{
	return has_options_of(report, footprint) ? NULL : untraced_words[footprint].options;
}

/*
 * Writes which part of resident memory has grown most, and returns this part. Considers only parts
 * up to `last` in the order of enum rss_part. If none is known to have grown, writes nothing and
 * returns RSS_PART_CNT.
 */
static enum rss_part write_grown(const struct text_part *part, enum rss_part last,
				 const char *before)
{
	const struct report *report = part->report;
	enum rss_part grown;
	uint64_t bytes;

	if (!report->first_rss ||
	    !rss_growth(report->first_rss, &report->latest_rss, last, &grown, &bytes))
		return RSS_PART_CNT;
	fputs(before, part->out);
	rss_write_grown(part->out, grown, bytes);
	return grown;
}

/*
 * Returns the last part of resident memory, in the order of enum rss_part, that may be the cause of
 * growth of anonymous memory. Pages of mapped files are anonymous only once the process has changed
 * them, so they are considered only if all other parts have grown by less than half as much.
 */
static enum rss_part last_cause(const struct report *report, const struct untraced_growth *growth)
{
	double gained = growth->per_s * (double)growth->since_ns / NSEC_PER_SEC;
	enum rss_part grown;
	uint64_t bytes = 0;

	if (report->first_rss)
		rss_growth(report->first_rss, &report->latest_rss, RSS_STACKS, &grown, &bytes);
	return (double)bytes < gained / 2 ? RSS_FILES : RSS_STACKS;
}

static const struct footprint *footprint_of(const struct report *report,
					    const struct process *process)
{
	static const struct footprint none;
	const struct snapshot *snap = report->snapshot;

	for (size_t i = 0; i < snap->tally_cnt; i++)
		if (snap->tallies[i].process == process)
			return &snap->tallies[i].footprint;
	return &none;
}

/*
 * Writes the command that shows more of a part of the footprint, if there is one. ss shows only the
 * sockets of its own network namespace.
 */
static void write_command(const struct text_part *part, const struct untraced_growth *growth)
{
	pid_t pid = growth->process->pid;

	if (growth->part == FOOTPRINT_TIMERS)
		fprintf(part->out, ": strace -k -e timer_create -p %d shows the calls", pid);
	if (growth->part != FOOTPRINT_SOCKETS)
		return;
	fputs(": ", part->out);
	if (footprint_of(part->report, growth->process)->has_other_network)
		fprintf(part->out, "nsenter -t %d -n ", pid);
	fputs("ss -tuxp shows the sockets", part->out);
}

/*
 * Writes how to find out which objects grow, if the process's name is that of a language runtime:
 * runtimes also fill memory that they have mapped before. For Python, the report has other lines.
 */
static void write_objects(const struct text_part *part, const struct process *process)
{
	const struct runtime_objects *objects = runtime_objects_of(process->comm);

	if (objects && objects->advice && !part->report->snapshot->python)
		fprintf(part->out, "; %s may grow there, %s", objects->words, objects->advice);
}

/* Writes how much memory other anonymous mappings still have for the program; see struct rss. */
static void write_room(const struct text_part *part)
{
	char amount[AMOUNT_TEXT_SIZE];

	if (!part->report->latest_rss.room)
		return;
	text_amount((double)part->report->latest_rss.room, amount);
	fprintf(part->out, ", in mappings with room for %s more", amount);
}

/*
 * Ends a line about untraced growth with a cause, if one is known: the part of resident memory that
 * grew most, or else the option that shows more, or advice.
 */
static void write_cause(const struct text_part *part, const struct untraced_growth *growth)
{
	const char *options = verdict_options_of(part->report, growth->part);
	const char *advice = untraced_words[growth->part].advice;
	enum rss_part grown = RSS_PART_CNT;

	if (growth->part == FOOTPRINT_ANONYMOUS)
		grown = write_grown(part, last_cause(part->report, growth), ": ");
	if (grown != RSS_PART_CNT) {
		fputs(" since the start", part->out);
		if (grown == RSS_MAPPED)
			write_room(part);
	} else if (growth->part == FOOTPRINT_ANONYMOUS && options)
		fprintf(part->out, ": %s -p %d shows its use", options, growth->process->pid);
	else if (advice && options)
		fprintf(part->out, ": %s%s %s",
			run_for(part->report, untraced_words[growth->part].first), options, advice);
	else if (advice && !untraced_words[growth->part].options)
		fprintf(part->out, ": %s", advice);
	else
		write_command(part, growth);
	if (growth->part == FOOTPRINT_ANONYMOUS)
		write_objects(part, growth->process);
	fputc('\n', part->out);
}

/* Writes `now` and `most` as amounts, or as numbers, and how soon growth reaches `most`. */
static void write_limit(FILE *out, const struct untraced_growth *growth, uint64_t now,
			uint64_t most)
{
	char now_text[AMOUNT_TEXT_SIZE], most_text[AMOUNT_TEXT_SIZE];
	double left_s = now < most ? (double)(most - now) / growth->per_s : 0;

	if (footprint_part_is_bytes(growth->part)) {
		text_amount((double)now, now_text);
		text_amount((double)most, most_text);
	} else {
		snprintf(now_text, sizeof(now_text), "%" PRIu64, now);
		snprintf(most_text, sizeof(most_text), "%" PRIu64, most);
	}
	fprintf(out, ": %s now, and mmap fails at %s, in ", now_text, most_text);
	if (left_s < 120)
		fprintf(out, "%.0f s", left_s);
	else if (left_s < 2 * 3600)
		fprintf(out, "%.0f min", left_s / 60);
	else
		fprintf(out, "%.0f h", left_s / 3600);
}

/*
 * Ends a line about mappings or address space: the kind of most new mappings, the limit, and the
 * tool that shows the calls, because memleak traces only mappings of private anonymous memory.
 */
static void write_mappings(const struct text_part *part, const struct untraced_growth *growth)
{
	const struct footprint *footprint = footprint_of(part->report, growth->process);
	uint64_t most = growth->part == FOOTPRINT_MAPPINGS ? footprint->mappings_max
							   : footprint->virtual_max;

	if (*footprint->mapped) {
		fputs(", mainly by mappings of ", part->out);
		escape_puts(part->out, footprint->mapped);
	}
	if (most)
		write_limit(part->out, growth, footprint->parts[growth->part], most);
	fprintf(part->out, "; strace -k -e mmap,mprotect -p %d shows the calls\n",
		growth->process->pid);
}

static void write_untraced(const struct text_part *part, const struct untraced_growth *growth)
{
	bool is_number = !footprint_part_is_bytes(growth->part);
	char amount[AMOUNT_TEXT_SIZE];
	FILE *out = part->out;

	text_begin_line(part);
	text_write_sign(part, STYLE_GROWS);
	fputs(untraced_words[growth->part].words, out);
	text_write_of_process(part, growth->process);
	text_amount(growth->per_s, amount);
	if (is_number)
		fprintf(out, " grows %.*f/s", growth->per_s < 10 ? 1 : 0, growth->per_s);
	else
		fprintf(out, " grows %s/s", amount);
	fprintf(out, " for %" PRIu64 " s", growth->since_ns / NSEC_PER_SEC);
	if (growth->part == FOOTPRINT_MAPPINGS || growth->part == FOOTPRINT_VIRTUAL) {
		write_mappings(part, growth);
		return;
	}
	if (growth->part == FOOTPRINT_ANONYMOUS) {
		text_amount(growth->traced_per_s, amount);
		fprintf(out, ", traced blocks %s/s", amount);
	} else if (!is_number || text_is_of_descriptors(part)) {
		fputs(" and is not traced", out);
	}
	write_cause(part, growth);
}

static void write_early(const struct text_part *part)
{
	const struct ranking_past *watched = &part->report->watched;
	uint64_t least_ns = TREND_LEAST_S * NSEC_PER_SEC;

	fputs("too early to say what grows: ", part->out);
	if (watched->cnt < 2)
		fprintf(part->out, "this needs at least %d reports and %d s of tracing",
			TREND_LEAST_MOMENTS, TREND_LEAST_S);
	else if (watched->ns < least_ns)
		fprintf(part->out, "this needs %" PRIu64 " s more",
			(least_ns - watched->ns + NSEC_PER_SEC - 1) / NSEC_PER_SEC);
	else
		fprintf(part->out, "this needs %" PRIu64 " more report%s",
			TREND_LEAST_MOMENTS - watched->cnt,
			TREND_LEAST_MOMENTS - watched->cnt == 1 ? "" : "s");
}

static void write_death(FILE *out, const struct ended_process *process)
{
	const char *name = process->killed_by ? sigabbrev_np(process->killed_by) : NULL;

	if (process->out_of_memory)
		fputs("was killed by the kernel because memory ran out,", out);
	else if (name)
		fprintf(out, "was killed by SIG%s", name);
	else if (process->killed_by)
		fprintf(out, "was killed by signal %d", process->killed_by);
	else
		fputs("ended", out);
}

static void write_ended_process(const struct text_part *part, const struct ended_process *process)
{
	char amount[AMOUNT_TEXT_SIZE];

	text_begin_line(part);
	escape_puts(part->out, process->comm ? process->comm : "?");
	text_amount((double)process->bytes, amount);
	fprintf(part->out, " (%d) ", process->pid);
	write_death(part->out, process);
	fprintf(part->out, " with %s in ", amount);
	text_write_count(part->out, process->count, "block");
	fputs(" outstanding\n", part->out);
}

/*
 * Writes how much memory processes held when they ended. Names those for which memory ran out and
 * those that held at least a tenth of it, and sums up the other processes.
 */
static void write_ended(const struct text_part *part)
{
	const struct ended_processes *ended = part->report->ended;
	uint64_t left = ended->bytes;
	char amount[AMOUNT_TEXT_SIZE];
	size_t cnt = 0;

	for (; cnt < ended->named_cnt &&
	       (ended->named[cnt].out_of_memory || ended->named[cnt].bytes >= ended->bytes / 10);
	     cnt++) {
		write_ended_process(part, &ended->named[cnt]);
		left -= ended->named[cnt].bytes;
	}
	if (cnt == ended->total)
		return;
	text_begin_line(part);
	text_write_count(part->out, ended->total - cnt, "more process");
	text_amount((double)left, amount);
	fprintf(part->out, " ended with %s outstanding\n", amount);
}

/*
 * True if the verdict is "unknown" for only one reason: a process grows because of traced blocks,
 * but no site seems to leak.
 */
static bool is_explained(const struct report *report)
{
	return conclusion_of(report) == CONCLUSION_UNKNOWN && report->untraced.explained.process &&
	       !report->pending && !report->unclear && !report->settling && !report->undecided &&
	       !report->snapshot->core && !conclusion_is_stopped(report) &&
	       report->untraced.too_young.process != report->untraced.explained.process &&
	       !report->untraced.pending.process;
}

/* Writes that untraced memory has grown and may go on growing. */
static void write_pending_growth(const struct text_part *part)
{
	const struct untraced_growths *growths = &part->report->untraced;
	const struct untraced_growth *growth = &growths->pending;
	char amount[AMOUNT_TEXT_SIZE], traced[AMOUNT_TEXT_SIZE];
	double for_s = (double)growth->since_ns / NSEC_PER_SEC;

	text_amount(growths->pending_bytes, amount);
	text_amount(growth->traced_per_s * for_s, traced);
	text_begin_line(part);
	text_write_sign(part, STYLE_OPEN);
	fprintf(part->out, "not known yet whether %s", untraced_words[growth->part].words);
	text_write_of_process(part, growth->process);
	fprintf(part->out, " leaks: it grew by %s in %.0f s, traced blocks by %s", amount, for_s,
		traced);
	write_cause(part, growth);
}

static void write_explained(const struct text_part *part, const struct untraced_growth *growth)
{
	char amount[AMOUNT_TEXT_SIZE];

	text_begin_line(part);
	text_amount(growth->per_s, amount);
	text_write_sign(part, STYLE_OPEN);
	fprintf(part->out, "not known yet whether memory leaks: RSS");
	text_write_of_process(part, growth->process);
	fprintf(part->out, " grows %s/s for %" PRIu64 " s, but no site seems to leak\n", amount,
		growth->since_ns / NSEC_PER_SEC);
}

/*
 * Writes how fast the largest heap block grows, if this block is younger than the minimum age of
 * blocks in the report. Does so even with suspects, because they may be the smaller part of the
 * growth.
 */
static void write_too_young(const struct text_part *part)
{
	const struct untraced_growth *growth = &part->report->untraced.too_young;
	enum conclusion conclusion = conclusion_of(part->report);
	char amount[AMOUNT_TEXT_SIZE];

	if (!growth->process || conclusion == CONCLUSION_EARLY)
		return;
	text_begin_line(part);
	text_amount(growth->per_s, amount);
	text_write_sign(part, STYLE_OPEN);
	if (conclusion == CONCLUSION_UNKNOWN)
		fputs("not known yet whether memory leaks: ", part->out);
	fputs("the largest heap block", part->out);
	text_write_of_process(part, growth->process);
	fprintf(part->out, " %s grows %s/s for %" PRIu64 " s%s\n",
		part->report->any_age ? "allocated while a report is made" : "younger than --older",
		amount, growth->since_ns / NSEC_PER_SEC,
		part->report->any_age ? "" : ": -o 0 shows it");
}

/* Returns the number of child processes of the traced processes that are not traced. */
static uint64_t untraced_children(const struct report *report)
{
	const struct snapshot *snap = report->snapshot;
	uint64_t cnt = 0;

	for (size_t i = 0; i < snap->tally_cnt; i++)
		cnt += snap->tallies[i].footprint.parts[FOOTPRINT_CHILDREN];
	return traces_children(report) ? 0 : cnt;
}

static void write_children(const struct text_part *part, uint64_t cnt)
{
	text_write_count(part->out, cnt, "child process");
	fprintf(part->out, " %s not traced (%s-f)", cnt == 1 ? "is" : "are",
		run_for(part->report, ADVISED_FOLLOW));
}

/*
 * Returns the number of processes of the same program that are not traced, because they are no
 * longer descendants of the traced ones. Sets *ret to the name of one of them.
 */
static uint64_t orphans_of(const struct report *report, const char **ret)
{
	const struct snapshot *snap = report->snapshot;
	uint64_t cnt = 0;

	for (size_t i = 0; i < snap->tally_cnt; i++) {
		const struct footprint *footprint = &snap->tallies[i].footprint;

		cnt += footprint->parts[FOOTPRINT_ORPHANS];
		if (footprint->parts[FOOTPRINT_ORPHANS])
			*ret = footprint->orphan;
	}
	return cnt;
}

static void write_orphans(const struct text_part *part, uint64_t cnt, const char *name)
{
	text_write_count(part->out, cnt, "process");
	fprintf(part->out, " of the same program whose %s not traced (--comm ",
		cnt == 1 ? "parent has ended is" : "parents have ended are");
	escape_puts(part->out, name);
	fputs(" or --cgroup)", part->out);
}

/* Writes which processes are not traced, each kind after `before`. */
static void write_untraced_processes(const struct text_part *part, const char *before)
{
	const char *name = NULL;
	uint64_t children = untraced_children(part->report);
	uint64_t orphans = orphans_of(part->report, &name);

	if (children) {
		fputs(before, part->out);
		write_children(part, children);
		before = "; ";
	}
	if (orphans) {
		fputs(before, part->out);
		write_orphans(part, orphans, name);
	}
}

/*
 * True if a line is needed about processes that are not traced: an all-clear mentions them itself,
 * and so does a line about their growing number.
 */
static bool tells_untraced_processes(const struct report *report)
{
	const char *name;

	for (size_t i = 0; i < report->untraced.cnt; i++)
		if (report->untraced.items[i].part == FOOTPRINT_CHILDREN)
			return false;
	return conclusion_of(report) < CONCLUSION_KEEPS &&
	       (untraced_children(report) || orphans_of(report, &name));
}

/*
 * Writes that no site grows steadily, or that all sites that grow steadily are of caches or
 * tracing.
 */
static void write_steady(const struct text_part *part)
{
	size_t cnt = part->report->sites_total, excluded = part->report->excluded_total;

	if (excluded) {
		fputs("only ", part->out);
		text_write_count(part->out, excluded, "site");
		fprintf(part->out, " of caches or tracing %s steadily",
			excluded == 1 ? "grows" : "grow");
	} else if (cnt < 2) {
		fputs(cnt ? "the one site does not grow steadily" : "nothing is outstanding",
		      part->out);
	} else {
		fprintf(part->out, "none of the %zu sites grows steadily", cnt);
	}
}

static void write_clear(const struct text_part *part)
{
	const struct report *report = part->report;
	bool is_of_memory = !text_is_of_descriptors(part);

	fprintf(part->out, "%s seems to leak: ", is_of_memory ? "nothing" : "no descriptor");
	if (conclusion_of(report) == CONCLUSION_KEEPS) {
		rss_write_kept(part->out, &report->latest_rss);
		fputs("; ", part->out);
	}
	write_steady(part);
	write_untraced_processes(part, "; ");
	if (is_of_memory && !traces_kernel(report))
		fprintf(part->out, "; kernel memory is not traced (%s-K)",
			run_for(report, ADVISED_KERNEL));
	write_grown(part, RSS_OTHER, "; RSS has grown: ");
}

/*
 * True if sites that may still grow ("pending") are to be mentioned. If there are suspects, pending
 * sites are mentioned only if they hold at least half of all memory.
 */
static bool tells_pending(const struct report *report)
{
	return report->pending && !conclusion_is_early(report) &&
	       (!report->suspect_cnt || report->pending_bytes >= report->bytes / 2);
}

#define LIKELY "a leak is likely: "
#define TO_END "memory leaked or was still in use at the end: "
#define PROVEN "a leak is proven: "

static void write_all_growth(const struct text_part *part)
{
	const struct report *report = part->report;
	const struct named named = named_suspects(report);
	bool is_of_sites = is_mostly_unnamed(report, named);
	char amount[AMOUNT_TEXT_SIZE];
	double per_s = is_of_sites ? report->suspects_per_s : 0;

	for (size_t i = 0; !is_of_sites && i < named.lines; i++)
		per_s += report->suspects[i].bytes_per_s;
	if (!is_of_sites && named.cnt < report->suspects_total)
		fputs("at least ", part->out);
	text_amount(per_s, amount);
	if (text_is_of_descriptors(part))
		fprintf(part->out, "%.*f descriptors/s", per_s < 10 ? 1 : 0, per_s);
	else
		fprintf(part->out, "%s/s", amount);
	fputs(" in ", part->out);
	text_write_count(part->out, is_of_sites ? report->suspects_total : named.lines,
			 is_of_sites ? "site" : "place");
}

/*
 * Writes the line of a suspect or loss into the sentence of the verdict, and frees the line. `line`
 * may be NULL.
 */
static void write_culprit(const struct text_part *part, char *line)
{
	fputs(line ?: "", part->out);
	free(line);
}

static void write_grows(const struct text_part *part)
{
	const char *words = conclusion_grew_to_end(part->report) ? TO_END : LIKELY;

	fputs(words, part->out);
	if (names_culprit(part->report))
		write_culprit(part,
			      verdict_suspect_line(part, part->report->suspects, strlen(words)));
	else
		write_all_growth(part);
}

static void write_all_losses(const struct text_part *part)
{
	const struct report *report = part->report;
	struct reach_sum sum = {0};
	char amount[AMOUNT_TEXT_SIZE];

	for (size_t i = 0; i < report->loss_cnt; i++) {
		sum.count += report->losses[i].lost.count + report->losses[i].hanging.count;
		sum.bytes += report->losses[i].lost.bytes + report->losses[i].hanging.bytes;
	}
	text_amount((double)sum.bytes, amount);
	text_write_count(part->out, sum.count, "block");
	fprintf(part->out, " (%s) %s lost", amount, sum.count == 1 ? "is" : "are");
}

static void write_lost(const struct text_part *part)
{
	fputs(PROVEN, part->out);
	if (names_culprit(part->report))
		write_culprit(part, verdict_loss_line(part, part->report->losses, strlen(PROVEN)));
	else
		write_all_losses(part);
}

static void write_untraced_growth(const struct text_part *part)
{
	const struct untraced_growths *growths = &part->report->untraced;
	bool is_of_children = true;

	for (size_t i = 0; i < growths->cnt; i++)
		is_of_children &= growths->items[i].part == FOOTPRINT_CHILDREN ||
				  growths->items[i].part == FOOTPRINT_ZOMBIES;
	fputs(is_of_children ? "there are more and more child processes"
			     : "something grows that is not traced",
	      part->out);
}

/* True if no traced process runs any more. */
static bool all_have_ended(const struct report *report)
{
	const struct snapshot *snap = report->snapshot;

	/*
	 * When the last process ends, it is paused for a proof, so it does not count as ended yet.
	 */
	if (report->final && snap->proof && snap->proof->method == PROOF_ENDED)
		return true;
	for (size_t i = 0; i < snap->tally_cnt; i++)
		if (!snap->tallies[i].ended_here)
			return false;
	return snap->tally_cnt;
}

/* True if only a longer run can show what grows: no note names an option that would show it. */
static bool needs_longer(const struct report *report)
{
	const struct untraced_growths *growths = &report->untraced;

	if (growths->too_young.process && !report->any_age)
		return false;
	return !growths->pending.process || !verdict_options_of(report, growths->pending.part);
}

static void write_unjudged(const struct text_part *part)
{
	bool is_over = all_have_ended(part->report);

	fprintf(part->out, "no leak found%s, but ", is_over ? "" : " yet");
	if (python_names_growth(part->report))
		python_write_growth(part->out, part->report, SCRIPT_NAME_MOST);
	else
		fputs("not all growth can be judged", part->out);
	if (!is_over && needs_longer(part->report))
		fputs(": trace for longer", part->out);
}

static void write_unknown(const struct text_part *part)
{
	if (conclusion_is_stopped(part->report))
		fputs("nothing can be judged: the traced processes are stopped, by a signal or a "
		      "debugger",
		      part->out);
	else if (part->report->snapshot->core)
		fputs("no leak found, but a core dump does not show whether memory grows",
		      part->out);
	else
		write_unjudged(part);
}

/*
 * The style and the text of the verdict's sentence. If `write` is NULL, the sentence is `text`;
 * else `write` writes it.
 */
static const struct {
	enum text_style style;
	const char *text;
	void (*write)(const struct text_part *part);
} sentences[CONCLUSION_CNT] = {
	[CONCLUSION_LOST] = {STYLE_LOST, .write = write_lost},
	[CONCLUSION_GROWS] = {STYLE_GROWS, .write = write_grows},
	[CONCLUSION_UNTRACED] = {STYLE_GROWS, .write = write_untraced_growth},
	[CONCLUSION_UNKNOWN] = {STYLE_OPEN, .write = write_unknown},
	[CONCLUSION_EARLY] = {STYLE_OPEN, .write = write_early},
	[CONCLUSION_ENDED] = {STYLE_OPEN,
			      .text = "nothing grows steadily; memory that processes held when "
				      "they ended may have leaked"},
	[CONCLUSION_KEEPS] = {STYLE_STEADY, .write = write_clear},
	[CONCLUSION_CLEAR] = {STYLE_STEADY, .write = write_clear},
};

void verdict_write_sentence(const struct text_part *part)
{
	enum conclusion conclusion = conclusion_of(part->report);
	enum text_style style = sentences[conclusion].style;

	text_begin_style(part, STYLE_BOLD);
	text_begin_style(part, style);
	text_write_sign(part, style);
	if (sentences[conclusion].write)
		sentences[conclusion].write(part);
	else
		fputs(sentences[conclusion].text, part->out);
	text_end_style(part);
	text_end_style(part);
}

/*
 * True if the report has the sentence of the verdict. In bcc's format, only if no other line
 * expresses the verdict. For a core file, only if losses are proven and the format is not bcc's.
 */
static bool has_sentence(const struct text_part *part)
{
	enum conclusion conclusion = conclusion_of(part->report);

	if (part->report->snapshot->core)
		return conclusion == CONCLUSION_LOST && part->look != LOOK_BCC;
	return conclusion >= CONCLUSION_EARLY || part->look != LOOK_BCC ||
	       (conclusion == CONCLUSION_UNKNOWN && conclusion_is_stopped(part->report));
}

void verdict_write_notes(const struct text_part *part)
{
	const struct report *report = part->report;
	bool same_objects = report->unclear && report->settling &&
			    report->settling->objects == report->unclear->objects;
	/*
	 * The lines about report->unclear (a pool) and report->settling (a pool or a site in it)
	 * may be about the same objects. If so, write only one: the line about settling if it is
	 * about the whole pool, else the line about unclear.
	 */
	bool is_written = !report->unclear ||
			  (same_objects && report->settling->site == &report->unclear->sum);
	bool settles = report->settling && (is_written || !same_objects);
	struct named named = named_suspects(report);

	for (size_t i = 0; i < report->suspect_cnt; i++) {
		is_written |= verdict_is_part(report, &report->suspects[i]);
		settles = settles && report->suspects[i].site->objects != report->settling->objects;
	}
	/*
	 * Write the line about the pool even if there are suspects elsewhere: they may be the
	 * smaller part of the growth.
	 */
	if (!is_written)
		verdict_write_unclear(part, report->unclear);
	if (settles)
		verdict_write_settling(part, report->settling);
	if (report->undecided)
		verdict_write_undecided(part);
	if (tells_pending(report))
		verdict_write_pending(part);
	if (report->suspects_total > named.cnt && !is_mostly_unnamed(report, named))
		write_more(part, named);
	for (size_t i = 0; i < report->untraced.cnt; i++)
		write_untraced(part, &report->untraced.items[i]);
	if (conclusion_has_ended(report))
		write_ended(part);
	if (is_explained(report))
		write_explained(part, &report->untraced.explained);
	write_too_young(part);
	if (conclusion_of(report) == CONCLUSION_UNKNOWN && report->untraced.pending.process)
		write_pending_growth(part);
	if (tells_untraced_processes(report)) {
		text_begin_line(part);
		write_untraced_processes(part, "");
		fputc('\n', part->out);
	}
}

void verdict_write_first(const struct text_part *part)
{
	if (!has_sentence(part))
		return;
	text_begin_line(part);
	verdict_write_sentence(part);
	fputc('\n', part->out);
}

void verdict_write_reasons(const struct text_part *part)
{
	const struct report *report = part->report;
	struct named named = named_suspects(report);
	bool is_named = has_sentence(part) && names_culprit(report);
	size_t first = is_named && !report->loss_cnt;

	write_losses(part, is_named);
	if (is_mostly_unnamed(report, named))
		write_more(part, named);
	for (size_t i = first; i < named.lines; i++)
		if (!suspect_is_lost(&report->suspects[i], report->losses, report->loss_cnt))
			verdict_write_line(part, &report->suspects[i]);
	verdict_write_notes(part);
}

void verdict_write_text(const struct text_part *part)
{
	verdict_write_first(part);
	verdict_write_reasons(part);
}

void verdict_write_trend(struct json_writer *json, const struct site_history *history)
{
	const struct trend *trend;

	if (!history) {
		json_null(json, "trend");
		return;
	}
	trend = &history->trend;
	json_begin_object(json, "trend");
	json_string(json, "tendency", tendency_name(trend->tendency));
	json_unsigned(json, "since_ns", trend->since_ns);
	json_real(json, "bytes_per_s", trend->bytes_per_s);
	json_real(json, "bytes_per_s_low", trend->low);
	json_real(json, "bytes_per_s_high", trend->high);
	json_unsigned(json, "seen", history->seen);
	json_unsigned(json, "freed", history_freed(history, 0));
	json_unsigned(json, "lifetime_ns", history_lifetime_ns(history));
	json_begin_object(json, "score");
	json_real(json, "total", trend->score.total);
	json_real(json, "growth", trend->score.growth);
	json_real(json, "risen", trend->score.risen);
	json_real(json, "unfreed", trend->score.unfreed);
	json_unsigned(json, "older_ns", trend->score.older_ns);
	json_end_object(json);
	json_end_object(json);
}

void verdict_write_ages(struct json_writer *json, const struct ages *ages)
{
	json_begin_array(json, "ages");
	for (size_t i = 0; i < AGE_CLASS_CNT; i++) {
		if (!ages->count[i])
			continue;
		json_begin_object(json, NULL);
		json_unsigned(json, "from_ns", age_class_ns(i));
		json_unsigned(json, "bytes", ages->bytes[i]);
		json_unsigned(json, "count", ages->count[i]);
		json_end_object(json);
	}
	json_end_array(json);
}
