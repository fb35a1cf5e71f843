// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the output format of heaptrack's interpreter (file format 3) for heaptrack_print and
 * heaptrack_gui. The file lists events in order of time, from the oldest known moment to now:
 *     v VERSION FORMAT   X COMMAND   c MILLISECONDS   # what is skipped
 *     s LENGTH TEXT   i ADDRESS MODULE [FUNCTION FILE LINE]...   t CODE PARENT   a SIZE TRACE
 *     + ALLOCATION    - ALLOCATION
 * in hexadecimal. Numbers of s, i and t begin with 1, those of a with 0.
 *
 * Each allocation and each free takes a line. The blocks of a site have its average size. If there
 * are many, a block of the file stands for several blocks. Bytes are exact at each moment.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/order.h"
#include "report/frame_walk.h"
#include "sinks/heaptrack_names.h"
#include "sinks/sink.h"
#include "sinks/text_facts.h"
#include "sinks/text_part.h"

#define NSEC_PER_MSEC 1000000
/*
 * Maximum blocks in the file if each site is at its peak. This limits the file to a few hundred
 * kilobytes.
 */
#define MAX_BLOCKS 100000

/* Blocks of the same size. */
struct batch {
	uint64_t size;
	size_t allocation;
	uint64_t cnt;
};

/* A site whose events are written to the file */
struct teller {
	const struct report_site *shown;
	size_t trace;
	uint64_t unit; /* number of the site's blocks that one block of the file stands for */
	uint64_t bytes;
	uint64_t blocks;
	struct batch *batches;
	size_t batch_cnt;
};

struct event {
	uint64_t elapsed_ns;
	struct teller *teller;
	uint64_t bytes;
	uint64_t blocks;
};

struct story {
	FILE *out;
	struct heaptrack_names names;
	struct intern allocations;
	struct teller *tellers;
	size_t teller_cnt;
	struct event *events;
	size_t event_cnt;
	struct batch *batch_store;
	bool several; /* true if the report covers several processes */
};

/*
 * Returns a stack with facts about all blocks of a site: the process, the scale, and why the stack
 * is incomplete. The facts are frames outside the site's outermost function.
 */
static size_t outer_trace(struct story *story, const struct teller *teller)
{
	const struct site *site = teller->shown->site;
	const char *missing = frame_missing(site);
	size_t trace = 0;

	if (story->several && site->process)
		trace = heaptrack_remark(&story->names, trace, "%s (%d)",
					 site->process->comm ? site->process->comm : "?",
					 site->process->pid);
	if (teller->unit > 1)
		trace = heaptrack_remark(&story->names, trace,
					 "[each stands for %" PRIu64 " allocations]", teller->unit);
	return missing ? heaptrack_remark(&story->names, trace, "%s", missing) : trace;
}

static void tell_stack(struct story *story, struct teller *teller)
{
	const struct report_site *shown = teller->shown;
	const struct site *site = shown->site;
	size_t trace = outer_trace(story, teller);

	for (size_t i = site->frame_cnt; i-- > shown->first_frame;)
		trace = heaptrack_call(&story->names, trace, site->frames[i], shown->locations[i]);
	if (site->kind != KIND_HEAP)
		trace = heaptrack_remark(&story->names, trace, "[%s]", kind_name(site->kind));
	teller->trace = trace;
}

static size_t moment_cnt(const struct report_site *shown)
{
	return shown->history ? shown->history->moment_cnt : 1;
}

static uint64_t most_allocations(const struct report_site *shown)
{
	uint64_t most = shown->site->count;

	for (size_t i = 0; shown->history && i < shown->history->moment_cnt; i++)
		if (shown->history->moments[i].count > most)
			most = shown->history->moments[i].count;
	return most;
}

static bool fits(const struct report *report, uint64_t share)
{
	uint64_t blocks = 0;

	for (size_t i = 0; i < report->site_cnt; i++) {
		uint64_t most = most_allocations(&report->sites[i]);

		blocks += most < share ? most : share;
	}
	return blocks <= MAX_BLOCKS;
}

/*
 * Returns the maximum blocks that one site may have in the file, so that all sites together have at
 * most MAX_BLOCKS. Returns at least 1.
 */
static uint64_t share_of(const struct report *report)
{
	uint64_t share = 1;

	for (uint64_t bit = MAX_BLOCKS; bit; bit /= 2)
		while (share + bit <= MAX_BLOCKS && fits(report, share + bit))
			share += bit;
	return share;
}

static void add_event(struct story *story, struct teller *teller, uint64_t elapsed_ns,
		      uint64_t bytes, uint64_t count)
{
	uint64_t blocks = count / teller->unit + (count % teller->unit != 0);

	story->events[story->event_cnt++] =
		(struct event){elapsed_ns, teller, bytes, bytes && !blocks ? 1 : blocks};
}

static void add_events(struct story *story, struct teller *teller, uint64_t now_ns)
{
	const struct report_site *shown = teller->shown;

	/* Reserve two batches per event: the blocks that an event adds have at most two sizes. */
	teller->batches = story->batch_store + 2 * story->event_cnt;
	for (size_t i = 0; shown->history && i < shown->history->moment_cnt; i++) {
		const struct moment *moment = &shown->history->moments[i];

		add_event(story, teller, moment->elapsed_ns, moment->bytes, moment->count);
	}
	if (!shown->history)
		add_event(story, teller, now_ns, shown->site->bytes, shown->site->count);
}

static int by_time(const void *left, const void *right)
{
	const struct event *a = left, *b = right;

	return ORDER(a->elapsed_ns, b->elapsed_ns) ?: ORDER(a->teller, b->teller);
}

/*
 * Frees the newest blocks of a site in the file, until allocations are enough to reach the totals
 * of the event.
 */
static void tell_frees(struct story *story, const struct event *event)
{
	struct teller *teller = event->teller;

	while (teller->bytes > event->bytes || teller->blocks > event->blocks ||
	       (teller->blocks == event->blocks && teller->bytes < event->bytes)) {
		struct batch *last = &teller->batches[teller->batch_cnt - 1];

		fprintf(story->out, "- %zx\n", last->allocation);
		teller->bytes -= last->size;
		teller->blocks--;
		if (!--last->cnt)
			teller->batch_cnt--;
	}
}

static void tell_batch(struct story *story, struct teller *teller, uint64_t size, uint64_t cnt)
{
	const uint64_t key[] = {size, teller->trace};
	struct batch *batch = &teller->batches[teller->batch_cnt];
	bool is_new;
	size_t number;

	if (!cnt)
		return;
	number = heaptrack_number(&story->names, &story->allocations, key, sizeof(key), &is_new);
	if (is_new)
		fprintf(story->out, "a %" PRIx64 " %zx\n", size, teller->trace);
	*batch = (struct batch){size, number, cnt};
	teller->batch_cnt++;
	teller->bytes += size * cnt;
	teller->blocks += cnt;
	for (uint64_t i = 0; i < cnt; i++)
		fprintf(story->out, "+ %zx\n", number);
}

static void tell_allocations(struct story *story, const struct event *event)
{
	uint64_t cnt = event->blocks - event->teller->blocks;
	uint64_t bytes = event->bytes - event->teller->bytes;

	if (!cnt)
		return;
	tell_batch(story, event->teller, bytes / cnt, cnt - bytes % cnt);
	tell_batch(story, event->teller, bytes / cnt + 1, bytes % cnt);
}

/*
 * Writes the frees of a moment before its allocations, so that the file does not show a false peak.
 */
static void tell_events(struct story *story)
{
	for (size_t first = 0, end; first < story->event_cnt && !story->names.failed; first = end) {
		uint64_t elapsed_ns = story->events[first].elapsed_ns;

		fprintf(story->out, "c %" PRIx64 "\n", elapsed_ns / NSEC_PER_MSEC);
		for (end = first; end < story->event_cnt; end++) {
			if (story->events[end].elapsed_ns != elapsed_ns)
				break;
			tell_frees(story, &story->events[end]);
		}
		for (size_t i = first; i < end; i++)
			tell_allocations(story, &story->events[i]);
	}
}

static void tell_sites(struct story *story, const struct report *report)
{
	uint64_t share = share_of(report);

	for (size_t i = 0; i < report->site_cnt && !story->names.failed; i++) {
		struct teller *teller = &story->tellers[i];
		uint64_t most = most_allocations(&report->sites[i]);

		teller->shown = &report->sites[i];
		teller->unit = most / share + (most % share != 0);
		tell_stack(story, teller);
		/*
		 * Do not use number 0: heaptrack would take a free of number 0 for a free of the
		 * latest allocation.
		 */
		if (!i)
			fprintf(story->out, "a 0 %zx\n", teller->trace);
		add_events(story, teller, report->snapshot->elapsed_ns);
	}
	qsort(story->events, story->event_cnt, sizeof(*story->events), by_time);
	tell_events(story);
}

/*
 * Writes facts about the report as comment lines, because the format has no other place for them.
 */
static void tell_facts(struct story *story, const struct report *report)
{
	cleanup_free char *facts = NULL;
	size_t len;
	FILE *memory = open_memstream(&facts, &len);
	char *rest;

	if (!memory)
		return;
	text_write_facts(memory, report);
	if (fclose(memory))
		return;
	for (char *line = strtok_r(facts, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		fprintf(story->out, "# %s\n", line + strspn(line, "\t"));
}

static int heaptrack_report(FILE *out, const struct report *report)
{
	struct story story = {
		.out = out, .names.out = out, .several = text_several_processes(report->snapshot)};
	size_t events = 0;

	for (size_t i = 0; i < report->site_cnt; i++)
		events += moment_cnt(&report->sites[i]);
	story.tellers = calloc(report->site_cnt + 1, sizeof(*story.tellers));
	story.events = calloc(events + 1, sizeof(*story.events));
	story.batch_store = calloc(2 * events + 1, sizeof(*story.batch_store));
	story.names.failed = !story.tellers || !story.events || !story.batch_store;
	/* The first number is a version of heaptrack that writes this file format. */
	fputs("v 10400 3\nX memleak: ", out);
	text_write_target(out, report);
	fputc('\n', out);
	tell_facts(&story, report);
	if (!story.names.failed)
		tell_sites(&story, report);
	fprintf(out, "c %" PRIx64 "\n", report->snapshot->elapsed_ns / NSEC_PER_MSEC);
	heaptrack_names_deinit(&story.names);
	intern_deinit(&story.allocations);
	free(story.tellers);
	free(story.events);
	free(story.batch_store);
	return story.names.failed ? -ENOMEM : 0;
}

const struct sink sink_heaptrack = {
	.name = "heaptrack",
	.report = heaptrack_report,
};
