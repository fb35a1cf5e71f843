// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the output format of heaptrack's interpreter (file format 3) for heaptrack_print and
 * heaptrack_gui. The file lists events in order of time, from the oldest point in the history of a
 * site to the last report:
 *     v VERSION FORMAT   X COMMAND   c MILLISECONDS   # COMMENT
 *     s LENGTH TEXT   i ADDRESS MODULE [FUNCTION FILE LINE]...   t CODE PARENT   a SIZE TRACE
 *     + ALLOCATION    - ALLOCATION
 * Numbers are in hexadecimal. The numbers of s, i and t begin with 1, those of a with 0.
 *
 * Each allocation and each free takes a line. The blocks that are added to a site between two
 * reports are written with their average size, rounded so that the sum of bytes is exact. If a site
 * has many blocks, a block of the file stands for several of them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/order.h"
#include "report/frame_walk.h"
#include "report/listing.h"
#include "sinks/heaptrack_names.h"
#include "sinks/sink.h"
#include "sinks/text_facts.h"
#include "sinks/text_part.h"

#define NSEC_PER_MSEC 1000000
/*
 * Maximum number of blocks in the file, where each site counts with the most blocks that it ever
 * has. Limits the file to a few hundred kilobytes.
 */
#define MAX_BLOCKS 100000

/* Blocks of a site that have the same size and, in the file, are allocated at the same time. */
struct batch {
	uint64_t size;
	size_t allocation;
	uint64_t cnt;
};

struct site_output {
	const struct report_site *shown;
	size_t trace;
	uint64_t unit; /* number of real blocks that one block of the file stands for */
	uint64_t bytes;
	uint64_t blocks;
	struct batch *batches;
	size_t batch_cnt;
};

struct event {
	uint64_t elapsed_ns;
	struct site_output *output;
	uint64_t bytes;
	uint64_t blocks;
};

struct heaptrack_file {
	FILE *out;
	struct heaptrack_names names;
	struct intern allocations;
	const struct report_site **sites;
	size_t site_cnt;
	struct site_output *outputs;
	struct event *events;
	size_t event_cnt;
	struct batch *batch_store;
	bool several; /* true if the report covers several processes */
};

/*
 * Returns a stack of made-up functions with facts about a site: its process, how many allocations
 * each block of the file stands for, and why the stack is incomplete. The site's own functions
 * become its callees.
 */
static size_t outer_trace(struct heaptrack_file *file, const struct site_output *output)
{
	const struct site *site = output->shown->site;
	const char *missing = frame_missing(site);
	size_t trace = 0;

	if (file->several && site->process)
		trace = heaptrack_remark(&file->names, trace, "%s (%d)",
					 site->process->comm ? site->process->comm : "?",
					 site->process->pid);
	if (output->unit > 1)
		trace = heaptrack_remark(&file->names, trace,
					 "[each stands for %" PRIu64 " allocations]", output->unit);
	return missing ? heaptrack_remark(&file->names, trace, "%s", missing) : trace;
}

static void write_stack(struct heaptrack_file *file, struct site_output *output)
{
	const struct report_site *shown = output->shown;
	const struct site *site = shown->site;
	size_t trace = outer_trace(file, output);

	for (size_t i = site->frame_cnt; i-- > shown->first_frame;)
		trace = heaptrack_call(&file->names, trace, site->frames[i], shown->locations[i]);
	if (site->kind != KIND_HEAP)
		trace = heaptrack_remark(&file->names, trace, "[%s]", kind_name(site->kind));
	output->trace = trace;
}

static size_t point_cnt(const struct report_site *shown)
{
	return shown->history ? shown->history->point_cnt : 1;
}

static uint64_t most_allocations(const struct report_site *shown)
{
	uint64_t most = shown->site->count;

	for (size_t i = 0; shown->history && i < shown->history->point_cnt; i++)
		if (shown->history->points[i]->count > most)
			most = shown->history->points[i]->count;
	return most;
}

static bool fits(const struct heaptrack_file *file, uint64_t share)
{
	uint64_t blocks = 0;

	for (size_t i = 0; i < file->site_cnt; i++) {
		uint64_t most = most_allocations(file->sites[i]);

		blocks += most < share ? most : share;
	}
	return blocks <= MAX_BLOCKS;
}

/*
 * Returns the maximum number of blocks of each site in the file, at least 1, so that all sites
 * together have at most MAX_BLOCKS.
 */
static uint64_t share_of(const struct heaptrack_file *file)
{
	uint64_t share = 1;

	for (uint64_t bit = MAX_BLOCKS; bit; bit /= 2)
		while (share + bit <= MAX_BLOCKS && fits(file, share + bit))
			share += bit;
	return share;
}

static void add_event(struct heaptrack_file *file, struct site_output *output, uint64_t elapsed_ns,
		      uint64_t bytes, uint64_t count)
{
	uint64_t blocks = count / output->unit + (count % output->unit != 0);

	file->events[file->event_cnt++] =
		(struct event){elapsed_ns, output, bytes, bytes && !blocks ? 1 : blocks};
}

static void add_events(struct heaptrack_file *file, struct site_output *output, uint64_t now_ns)
{
	const struct report_site *shown = output->shown;

	/* Reserve two batches per event: the blocks that an event adds have at most two sizes. */
	output->batches = file->batch_store + 2 * file->event_cnt;
	for (size_t i = 0; shown->history && i < shown->history->point_cnt; i++) {
		const struct history_point *point = shown->history->points[i];

		add_event(file, output, point->elapsed_ns, point->bytes, point->count);
	}
	if (!shown->history)
		add_event(file, output, now_ns, shown->site->bytes, shown->site->count);
}

static int by_time(const void *left, const void *right)
{
	const struct event *a = left, *b = right;

	return ORDER(a->elapsed_ns, b->elapsed_ns) ?: ORDER(a->output, b->output);
}

/*
 * Writes frees of the site's blocks until the site can reach the totals of the event by allocations
 * alone. The block that was written last is freed first.
 */
static void write_frees(struct heaptrack_file *file, const struct event *event)
{
	struct site_output *output = event->output;

	while (output->bytes > event->bytes || output->blocks > event->blocks ||
	       (output->blocks == event->blocks && output->bytes < event->bytes)) {
		struct batch *last = &output->batches[output->batch_cnt - 1];

		fprintf(file->out, "- %zx\n", last->allocation);
		output->bytes -= last->size;
		output->blocks--;
		if (!--last->cnt)
			output->batch_cnt--;
	}
}

static void write_blocks(struct heaptrack_file *file, struct site_output *output, uint64_t size,
			 uint64_t cnt)
{
	const uint64_t key[] = {size, output->trace};
	struct batch *batch = &output->batches[output->batch_cnt];
	bool is_new;
	size_t number;

	if (!cnt)
		return;
	number = heaptrack_number(&file->names, &file->allocations, key, sizeof(key), &is_new);
	if (is_new)
		fprintf(file->out, "a %" PRIx64 " %zx\n", size, output->trace);
	*batch = (struct batch){size, number, cnt};
	output->batch_cnt++;
	output->bytes += size * cnt;
	output->blocks += cnt;
	for (uint64_t i = 0; i < cnt; i++)
		fprintf(file->out, "+ %zx\n", number);
}

static void write_allocations(struct heaptrack_file *file, const struct event *event)
{
	uint64_t cnt = event->blocks - event->output->blocks;
	uint64_t bytes = event->bytes - event->output->bytes;

	if (!cnt)
		return;
	write_blocks(file, event->output, bytes / cnt, cnt - bytes % cnt);
	write_blocks(file, event->output, bytes / cnt + 1, bytes % cnt);
}

/*
 * Writes all events in order of time; of one report, frees before allocations, so that the file
 * does not show a false peak.
 */
static void write_events(struct heaptrack_file *file)
{
	for (size_t first = 0, end; first < file->event_cnt && !file->names.failed; first = end) {
		uint64_t elapsed_ns = file->events[first].elapsed_ns;

		fprintf(file->out, "c %" PRIx64 "\n", elapsed_ns / NSEC_PER_MSEC);
		for (end = first; end < file->event_cnt; end++) {
			if (file->events[end].elapsed_ns != elapsed_ns)
				break;
			write_frees(file, &file->events[end]);
		}
		for (size_t i = first; i < end; i++)
			write_allocations(file, &file->events[i]);
	}
}

static void write_sites(struct heaptrack_file *file, const struct report *report)
{
	uint64_t share = share_of(file);

	for (size_t i = 0; i < file->site_cnt && !file->names.failed; i++) {
		struct site_output *output = &file->outputs[i];
		uint64_t most = most_allocations(file->sites[i]);

		output->shown = file->sites[i];
		output->unit = most / share + (most % share != 0);
		write_stack(file, output);
		/*
		 * Skip number 0: heaptrack would take a free of it for a free of the latest
		 * allocation.
		 */
		if (!i)
			fprintf(file->out, "a 0 %zx\n", output->trace);
		add_events(file, output, report->snapshot->elapsed_ns);
	}
	qsort(file->events, file->event_cnt, sizeof(*file->events), by_time);
	write_events(file);
}

/* Writes facts about the report as comment lines: the file format has no other place for them. */
static void write_facts(struct heaptrack_file *file, const struct report *report)
{
	cleanup_free char *facts = NULL;
	size_t len;
	FILE *memory = open_memstream(&facts, &len);
	const struct text_part part = {.out = memory, .report = report, .look = LOOK_BCC};
	char *rest;

	if (!memory)
		return;
	text_write_facts(&part, false);
	if (fclose(memory))
		return;
	for (char *line = strtok_r(facts, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		fprintf(file->out, "# %s\n", line + strspn(line, "\t"));
}

static int heaptrack_report(FILE *out, const struct report *report)
{
	struct heaptrack_file file = {
		.out = out, .names.out = out, .several = text_several_processes(report->snapshot)};
	size_t events = 0;
	int err = report_list(report, report->site_cnt, &file.site_cnt, &file.sites);

	if (err)
		return err;
	for (size_t i = 0; i < file.site_cnt; i++)
		events += point_cnt(file.sites[i]);
	file.outputs = calloc(file.site_cnt + 1, sizeof(*file.outputs));
	file.events = calloc(events + 1, sizeof(*file.events));
	file.batch_store = calloc(2 * events + 1, sizeof(*file.batch_store));
	file.names.failed = !file.outputs || !file.events || !file.batch_store;
	/* The first number is a version of heaptrack that writes this file format. */
	fputs("v 10400 3\nX memleak: ", out);
	text_write_target(out, report);
	fputc('\n', out);
	write_facts(&file, report);
	if (!file.names.failed)
		write_sites(&file, report);
	fprintf(out, "c %" PRIx64 "\n", report->snapshot->elapsed_ns / NSEC_PER_MSEC);
	heaptrack_names_deinit(&file.names);
	intern_deinit(&file.allocations);
	free(file.sites);
	free(file.outputs);
	free(file.events);
	free(file.batch_store);
	return file.names.failed ? -ENOMEM : 0;
}

const struct sink sink_heaptrack = {
	.name = "heaptrack",
	.report = heaptrack_report,
};
