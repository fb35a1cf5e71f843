// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the data of an HTML report as three JSON values: strings, functions and the report.
 * Functions refer to strings by index, and sites refer to functions by index, so each name is in
 * the page only once.
 */
#include "sinks/html_data.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/intern.h"
#include "base/source_lines.h"
#include "report/fold.h"
#include "report/frame_walk.h"
#include "report/function_name.h"
#include "report/peak.h"
#include "report/runtime_objects.h"
#include "sinks/json_parts.h"
#include "sinks/json_writer.h"
#include "sinks/text_part.h"

#define NSEC_PER_MSEC 1000000

/* A JSON value that is written piece by piece. */
struct value {
	struct json_writer json;
	FILE *stream;
	char *text;
	size_t len;
};

/* A process for which the page draws amounts over time. */
struct past {
	const struct process *process;
	/*
	 * The longest history of any site of the process. Its points also have the amounts of the
	 * whole process. NULL if no site has one.
	 */
	const struct site_history *history;
};

struct page {
	struct value strings;
	struct value functions;
	struct value report;
	struct intern string_numbers;
	struct intern function_numbers;
	struct intern process_numbers;
	struct past *pasts; /* indexed by the number of the process */
	size_t past_cnt, past_cap;
	struct source_lines *source; /* NULL without --source */
	bool failed;                 /* true if memory has run out */
};

static bool value_begin(struct value *value)
{
	value->stream = open_memstream(&value->text, &value->len);
	json_init(&value->json, value->stream);
	value->json.in_html = true;
	return value->stream;
}

static bool value_end(struct value *value)
{
	bool whole = value->stream && !fclose(value->stream);

	value->stream = NULL;
	return whole;
}

static void value_write(FILE *out, const char *id, struct value *value)
{
	fprintf(out, "<script type=\"application/json\" id=\"%s\">%s</script>\n", id, value->text);
}

/* Returns the index, from 0, of a sequence of bytes in `table`. */
static size_t number_of(struct page *page, struct intern *table, const void *bytes, size_t len,
			bool *is_new)
{
	size_t number = intern_get(table, bytes, len, is_new);

	page->failed |= !number;
	return number ? number - 1 : 0;
}

/*
 * Returns the index of a string. Escapes the string as for terminals, because browsers, too, obey
 * characters that change the direction of writing.
 */
static size_t string_number(struct page *page, const char *text)
{
	cleanup_free char *escaped = NULL;
	bool is_new;
	size_t number;

	if (!text)
		text = "";
	number = number_of(page, &page->string_numbers, text, strlen(text), &is_new);
	if (!is_new)
		return number;
	escaped = escape_dup(text);
	page->failed |= !escaped;
	json_string(&page->strings.json, NULL, escaped);
	return number;
}

/*
 * Returns the index of a frame's name: its short symbol; without a symbol, an offset in a module
 * such as "+0x1f", or an address.
 */
static size_t name_number(struct page *page, const struct frame_walk *walk)
{
	const char *module = walk->location ? walk->location->module : NULL;
	char text[32];

	if (walk->frame && sym_is_known(walk->frame->symbol)) {
		cleanup_free char *name = function_name_short(walk->frame->symbol);

		page->failed |= !name;
		return string_number(page, name);
	}
	if (module && *module)
		snprintf(text, sizeof(text), "+0x%" PRIx64, walk->location->module_offset);
	else
		snprintf(text, sizeof(text), "0x%" PRIx64, walk->addr);
	return string_number(page, walk->addr || (module && *module) ? text : "[unknown]");
}

struct function {
	size_t name;
	size_t file;
	size_t line;
	size_t module;
	size_t inlined;
	size_t source;
};

static size_t function_number(struct page *page, const struct function *function)
{
	struct json_writer *json = &page->functions.json;
	bool is_new;
	size_t number =
		number_of(page, &page->function_numbers, function, sizeof(*function), &is_new);

	if (!is_new)
		return number;
	json_begin_array(json, NULL);
	json_unsigned(json, NULL, function->name);
	json_unsigned(json, NULL, function->file);
	json_unsigned(json, NULL, function->line);
	json_unsigned(json, NULL, function->module);
	json_unsigned(json, NULL, function->inlined);
	if (function->source)
		json_unsigned(json, NULL, function->source - 1);
	json_end_array(json);
	return number;
}

/*
 * Returns 1 + the index of the string with a function's line of source code; 0 if the page does not
 * show this line.
 */
static size_t source_number(struct page *page, const struct frame_walk *walk, const char *file,
			    unsigned int line)
{
	const char *text =
		page->source && walk->shown->has_source && file
			? source_lines__ask(page->source, walk->shown->source_uid, file, line)
			: NULL;

	return text ? string_number(page, text) + 1 : 0;
}

/* Returns the index of a frame's function. */
static size_t function_of(struct page *page, const struct frame_walk *walk)
{
	unsigned int line;
	cleanup_free char *file = frame_file(walk->frame, &line);
	const struct function function = {
		.name = name_number(page, walk),
		.file = string_number(page, file),
		.line = line,
		.module = string_number(page, walk->location ? walk->location->module : NULL),
		.inlined = walk->frame && walk->frame->inlined,
		.source = source_number(page, walk, file, line),
	};

	return function_number(page, &function);
}

/*
 * Writes the functions of a stack, from the outermost to the one that called the allocator. Sets
 * *blamed and *through to the positions of the functions shown->blamed and shown->through. Returns
 * the number of functions.
 */
static size_t write_functions(struct page *page, const struct report_site *shown, size_t *blamed,
			      size_t *through)
{
	struct json_writer *json = &page->report.json;
	const char *missing = frame_missing(shown->site);
	struct frame_walk walk;
	size_t cnt = 0;

	if (missing) {
		const struct function no_function = {.name = string_number(page, missing),
						     .file = string_number(page, ""),
						     .module = string_number(page, "")};

		json_unsigned(json, NULL, function_number(page, &no_function));
		cnt++;
	}
	frame_walk_begin(&walk, shown);
	while (frame_walk_next(&walk)) {
		if (frame_walk_at_blamed(&walk))
			*blamed = cnt;
		if (shown->has_through && frame_walk_at(&walk, &shown->through))
			*through = cnt;
		cnt++;
		json_unsigned(json, NULL, function_of(page, &walk));
	}
	return cnt;
}

/*
 * Returns the name of a row that stands for folded frames: the library that all these frames are
 * in, or the function that a recursion repeats; NULL if out of memory.
 */
static char *row_name(const struct fold *fold)
{
	const struct spot *spot = &fold->spot;
	cleanup_free char *function = NULL;
	char *name;

	if (fold->repeats)
		function = spot_has_symbol(spot) ? function_name_short(spot->frame->symbol)
						 : strdup("[unknown]");
	if (fold->repeats && !function)
		return NULL;
	if (asprintf(&name, "\u2026 %s%s", function ? function : fold_file_name(fold),
		     fold->repeats && fold->recursion.period > 1 ? " and its callers" : "") < 0)
		return NULL;
	return name;
}

/*
 * Writes three numbers of the JSON array "inside" for a row that stands for folded frames: the
 * index of the first frame, their number, and the index of a made-up function with the row's name.
 */
static void write_row(struct page *page, const struct fold *fold, size_t at)
{
	cleanup_free char *name = row_name(fold);
	struct function row = {.file = string_number(page, ""), .module = row.file};

	if (!name) {
		page->failed = true;
		return;
	}
	row.name = string_number(page, name);
	json_unsigned(&page->report.json, NULL, at);
	json_unsigned(&page->report.json, NULL, fold->cnt);
	json_unsigned(&page->report.json, NULL, function_number(page, &row));
}

/*
 * Writes which frames a text report folds. The array "inside" has the folded rows, beginning with
 * the innermost one. "start" is the number of start-up frames at the outer end of the stack.
 */
static void write_folds(struct page *page, const struct report_site *shown, size_t cnt)
{
	struct json_writer *json = &page->report.json;
	struct fold fold;
	size_t left = cnt;

	json_begin_array(json, "inside");
	fold_begin(&fold, shown, shown->site->frame_cnt);
	while (left && fold_next(&fold)) {
		left -= fold.cnt < left ? fold.cnt : left;
		if (fold.inside || fold.repeats)
			write_row(page, &fold, left);
	}
	json_end_array(json);
	json_unsigned(json, "start", fold.at_start && !frame_missing(shown->site) ? left : 0);
}

static void write_frames(struct page *page, const struct report_site *shown)
{
	struct json_writer *json = &page->report.json;
	size_t blamed = 0, through = 0, cnt;

	json_begin_array(json, "frames");
	cnt = write_functions(page, shown, &blamed, &through);
	json_end_array(json);
	json_unsigned(json, "culprit", blamed);
	if (shown->has_through)
		json_unsigned(json, "through", through);
	write_folds(page, shown, cnt);
}

static void write_moment(struct json_writer *json, uint64_t elapsed_ns, uint64_t bytes,
			 uint64_t count)
{
	json_begin_array(json, NULL);
	json_unsigned(json, NULL, elapsed_ns / NSEC_PER_MSEC);
	json_unsigned(json, NULL, bytes);
	json_unsigned(json, NULL, count);
	json_end_array(json);
}

static void write_moments(struct json_writer *json, const struct report *report,
			  const struct report_site *shown)
{
	const struct site_history *history = shown->history;

	json_begin_array(json, "moments");
	for (size_t i = 0; history && i < history->point_cnt; i++)
		write_moment(json, history->points[i]->elapsed_ns, history->points[i]->bytes,
			     history->points[i]->count);
	if (!history)
		write_moment(json, report->snapshot->elapsed_ns, shown->site->bytes,
			     shown->site->count);
	json_end_array(json);
}

/* Writes a value, times 1000, as a whole number; null if it is not finite or too large. */
static void write_thousandths(struct json_writer *json, const char *key, double value)
{
	if (isfinite(value) && fabs(value) < 1e15)
		json_signed(json, key, llround(value * 1000));
	else
		json_null(json, key);
}

static void write_trend(struct json_writer *json, const struct report *report,
			const struct report_site *shown)
{
	static const struct site_history no_history = {
		.trend = {.bytes_per_s = NAN, .score = {NAN, NAN, NAN, NAN, 0}}};
	const struct site_history *history = shown->history;
	const struct trend *trend = history ? &history->trend : &no_history.trend;

	json_bool(json, "suspect", report_marks_suspect(report, shown));
	json_string(json, "tendency", tendency_name(trend->tendency));
	json_unsigned(json, "since_ms", trend->since_ns / NSEC_PER_MSEC);
	write_thousandths(json, "rate", trend->bytes_per_s);
	write_thousandths(json, "score",
			  trend->tendency == TENDENCY_UNKNOWN ? NAN : trend->score.total);
	json_begin_array(json, "parts");
	write_thousandths(json, NULL, trend->score.growth);
	write_thousandths(json, NULL, trend->score.unfreed);
	write_thousandths(json, NULL, trend->score.risen);
	json_end_array(json);
	json_unsigned(json, "seen", history ? history->seen : 0);
	json_unsigned(json, "freed", history ? history_freed(history, 0) : 0);
}

/*
 * Writes the notes that a text report has in parentheses below a site, except those about a proof,
 * which the page shows elsewhere.
 */
static void write_notes(struct page *page, const struct report *report,
			const struct report_site *shown)
{
	cleanup_free char *notes = NULL;
	size_t len;
	FILE *memory = open_memstream(&notes, &len);
	const struct text_part part = {memory, report, "", false, LOOK_PLAIN, NULL, false};
	struct report_site unproved = *shown;
	struct site site = *shown->site;

	if (!memory) {
		page->failed = true;
		return;
	}
	site.reach = (struct site_reach){0};
	unproved.site = &site;
	text_write_notes(&part, &unproved);
	if (fclose(memory)) {
		page->failed = true;
		return;
	}
	notes[strcspn(notes, "\n")] = 0;
	json_string(&page->report.json, "notes", notes + strspn(notes, "\t "));
}

static void write_sum(struct json_writer *json, const char *key, const struct reach_sum *sum)
{
	json_begin_array(json, key);
	json_unsigned(json, NULL, sum->bytes);
	json_unsigned(json, NULL, sum->count);
	json_end_array(json);
}

/* Writes the result of a proof for a site; nothing if it did not cover the site. */
static void write_reach(struct page *page, const struct report_site *shown)
{
	struct json_writer *json = &page->report.json;
	const struct site_reach *reach = &shown->site->reach;

	if (!reach->proved)
		return;
	json_begin_object(json, "reach");
	for (size_t i = 0; i < REACH_CNT; i++)
		write_sum(json, reach_name(i), &reach->of[i]);
	json_end_object(json);
	write_sum(json, "lost", &reach->lost);
	write_sum(json, "with_them", &reach->hanging);
	json_begin_array(json, "held_by");
	for (size_t i = 0; i < shown->held_by_cnt; i++)
		json_unsigned(json, NULL, string_number(page, shown->held_by[i]));
	json_end_array(json);
}

/*
 * Writes the key "process", whose value is an index into "processes"; nothing if the site belongs
 * to no single process.
 */
static void write_process(struct page *page, const struct report_site *shown)
{
	const struct process *process = shown->site->process;
	const struct site_history *history = shown->history;
	struct past *past;
	uint64_t key;
	bool is_new;
	size_t number;

	if (!process)
		return;
	/*
	 * Image numbers count the execs of one run, and a difference may compare two runs, so the
	 * pid is part of the key.
	 */
	key = (uint64_t)process->image << 32 | (uint32_t)process->pid;
	number = number_of(page, &page->process_numbers, &key, sizeof(key), &is_new);
	if (page->failed)
		return;
	if (is_new) {
		if (array_reserve(&page->pasts, &page->past_cap, page->past_cnt + 1)) {
			page->failed = true;
			return;
		}
		page->pasts[page->past_cnt++] = (struct past){.process = process};
	}
	past = &page->pasts[number];
	if (history && (!past->history || history->point_cnt > past->history->point_cnt))
		past->history = history;
	json_unsigned(&page->report.json, "process", number);
}

/*
 * Writes an entry of the JSON arrays "ages", "births" and "sizes": number of the class, bytes and
 * blocks. Skips a class without blocks.
 */
static void write_class(struct json_writer *json, size_t class, uint64_t bytes, uint64_t count)
{
	if (!count)
		return;
	json_unsigned(json, NULL, class);
	json_unsigned(json, NULL, bytes);
	json_unsigned(json, NULL, count);
}

static void write_ages(struct json_writer *json, const char *key, const struct ages *ages)
{
	json_begin_array(json, key);
	for (size_t i = 0; i < AGE_CLASS_CNT; i++)
		write_class(json, i, ages->bytes[i], ages->count[i]);
	json_end_array(json);
}

/*
 * Writes the sum of a site's blocks in each class of age, of allocation time ("births") and of
 * size. "births" is left out if the snapshot has no list of earlier times; class c of "births" has
 * the blocks that were allocated after the first c of these times. "sizes" is left out if the
 * report does not list blocks; class c of "sizes" has the blocks from 2^(c-1) to 2^c - 1 bytes.
 */
static void write_classes(struct json_writer *json, const struct report *report,
			  const struct report_site *shown)
{
	uint64_t bytes[65] = {0}, count[65] = {0};

	write_ages(json, "ages", &shown->site->ages);
	if (report->snapshot->earlier.cnt && shown->site->births)
		write_ages(json, "births", shown->site->births);
	if (!shown->block_cnt)
		return;
	for (size_t i = 0; i < shown->block_cnt; i++) {
		uint64_t size = shown->blocks[i].size;
		int class = size ? 64 - __builtin_clzll(size) : 0;

		bytes[class] += size;
		count[class]++;
	}
	json_begin_array(json, "sizes");
	for (size_t i = 0; i < 65; i++)
		write_class(json, i, bytes[i], count[i]);
	json_end_array(json);
}

/* Adds to an object the keys that identify a site. */
static void write_identity(struct page *page, const struct report_site *shown)
{
	struct json_writer *json = &page->report.json;

	json_write_id(json, shown->site->id);
	write_process(page, shown);
	if (shown->site->kind != KIND_HEAP)
		json_string(json, "kind", kind_name(shown->site->kind));
	write_frames(page, shown);
}

static void write_site_keys(struct page *page, const struct report *report,
			    const struct report_site *shown)
{
	struct json_writer *json = &page->report.json;
	const struct site *site = shown->site;

	write_identity(page, shown);
	json_unsigned(json, "bytes", site->bytes);
	json_unsigned(json, "count", site->count);
	if (shown->objects)
		json_string(json, "objects", shown->objects->words);
	write_notes(page, report, shown);
	write_trend(json, report, shown);
	write_moments(json, report, shown);
	write_classes(json, report, shown);
	write_reach(page, shown);
}

static void write_site(struct page *page, const struct report *report,
		       const struct report_site *shown)
{
	json_begin_object(&page->report.json, NULL);
	write_site_keys(page, report, shown);
	json_end_object(&page->report.json);
}

/*
 * Writes the sites of proven losses and then of suspects, in the order of their lines in the
 * report.
 */
static void write_verdict_sites(struct page *page, const struct report *report)
{
	json_begin_array(&page->report.json, "told");
	for (size_t i = 0; i < report->loss_cnt && !page->failed; i++)
		write_site(page, report, report->losses[i].site);
	for (size_t i = 0; i < report->suspect_cnt && !page->failed; i++)
		if (!report->suspects[i].is_slight &&
		    !suspect_is_lost(&report->suspects[i], report->losses, report->loss_cnt))
			write_site(page, report, report->suspects[i].site);
	json_end_array(&page->report.json);
}

static void write_peak_site(struct page *page, const struct report_site *shown)
{
	struct json_writer *json = &page->report.json;

	json_begin_object(json, NULL);
	write_identity(page, shown);
	json_unsigned(json, "bytes", shown->site->bytes);
	json_unsigned(json, "count", shown->site->count);
	json_end_object(json);
}

static void write_peak(struct page *page, const struct report *report)
{
	const struct snapshot *snap = report->snapshot;
	struct json_writer *json = &page->report.json;

	if (!report->peak_cnt)
		return;
	json_begin_object(json, "peak");
	json_unsigned(json, "ms",
		      (snap->elapsed_ns - (snap->t0_ns - snap->peak->t0_ns)) / NSEC_PER_MSEC);
	json_unsigned(json, "bytes", snap->peak->bytes);
	json_begin_array(json, "sites");
	for (size_t i = 0; i < report->peak_cnt && !page->failed; i++)
		write_peak_site(page, &report->peak[i]);
	json_end_array(json);
	json_end_object(json);
}

/*
 * Writes, for each process, its name and its total amounts over time, at the points of its site
 * with the longest history.
 */
static void write_processes(struct page *page)
{
	struct json_writer *json = &page->report.json;

	json_begin_array(json, "processes");
	for (size_t i = 0; i < page->past_cnt && !page->failed; i++) {
		const struct past *past = &page->pasts[i];
		cleanup_free char *name = NULL;

		json_begin_object(json, NULL);
		if (asprintf(&name, "%s (%d)", past->process->comm ?: "?", past->process->pid) < 0)
			name = NULL;
		json_unsigned(json, "name", string_number(page, name));
		json_begin_array(json, "moments");
		for (size_t j = 0; past->history && j < past->history->point_cnt; j++) {
			const struct history_point *point = past->history->points[j];

			write_moment(json, point->elapsed_ns, point->process_bytes,
				     point->process_blocks);
		}
		json_end_array(json);
		json_end_object(json);
	}
	json_end_array(json);
}

/* Writes the parts of resident memory over time, in the order of enum rss_part. */
static void write_rss(struct json_writer *json, const struct rss_past *past)
{
	json_begin_array(json, "rss");
	for (size_t i = 0; past && i < past->cnt; i++) {
		json_begin_array(json, NULL);
		json_unsigned(json, NULL, past->points[i].elapsed_ns / NSEC_PER_MSEC);
		for (size_t part = 0; part < RSS_PART_CNT; part++)
			json_unsigned(json, NULL, past->points[i].parts[part]);
		json_end_array(json);
	}
	json_end_array(json);
}

/* Writes the times that separate the classes of "births" (see write_classes()), in milliseconds. */
static void write_earlier(struct json_writer *json, const struct moments *earlier)
{
	if (!earlier->cnt)
		return;
	json_begin_array(json, "earlier");
	for (size_t i = 0; i < earlier->cnt; i++)
		json_unsigned(json, NULL, earlier->ns[i] / NSEC_PER_MSEC);
	json_end_array(json);
}

static void write_report(struct page *page, const void *about)
{
	const struct report *report = about;
	struct json_writer *json = &page->report.json;

	page->source = report->source;
	json_unsigned(json, "bytes", report->bytes);
	json_unsigned(json, "count", report->count);
	json_unsigned(json, "ms", report->snapshot->elapsed_ns / NSEC_PER_MSEC);
	json_bool(json, "proved", report->snapshot->proof != NULL);
	write_earlier(json, &report->snapshot->earlier);
	json_begin_array(json, "sites");
	for (size_t i = 0; i < report->site_cnt && !page->failed; i++)
		write_site(page, report, &report->sites[i]);
	json_end_array(json);
	write_verdict_sites(page, report);
	write_peak(page, report);
	write_processes(page);
	write_rss(json, report->rss_past);
}

/* Writes a difference between two snapshots: the shown sites, with their amounts in both. */
static void write_diff(struct page *page, const void *about)
{
	struct json_writer *json = &page->report.json;
	const struct diff *diff = about;

	json_unsigned(json, "bytes", diff->sides[1].bytes);
	json_unsigned(json, "count", diff->sides[1].count);
	json_bool(json, "diff", true);
	json_begin_array(json, "sites");
	for (size_t i = 0; i < diff->shown_cnt && !page->failed; i++) {
		const struct diff_site *site = &diff->sites[i];

		json_begin_object(json, NULL);
		write_identity(page, &site->shown);
		json_string(json, "change", change_name(site->change));
		json_unsigned(json, "bytes", site->parts[1].bytes);
		json_unsigned(json, "count", site->parts[1].count);
		write_sum(json, "before",
			  &(struct reach_sum){site->parts[0].bytes, site->parts[0].count});
		json_end_object(json);
	}
	json_end_array(json);
	write_processes(page);
}

typedef void write_about(struct page *page, const void *about);

static void write_values(struct page *page, write_about *write, const void *about)
{
	json_begin_array(&page->strings.json, NULL);
	json_begin_array(&page->functions.json, NULL);
	json_begin_object(&page->report.json, NULL);
	write(page, about);
	json_end_object(&page->report.json);
	json_end_array(&page->functions.json);
	json_end_array(&page->strings.json);
}

static void page_deinit(struct page *page)
{
	intern_deinit(&page->string_numbers);
	intern_deinit(&page->function_numbers);
	intern_deinit(&page->process_numbers);
	free(page->pasts);
	free(page->strings.text);
	free(page->functions.text);
	free(page->report.text);
}

static int write_data(FILE *out, write_about *write, const void *about)
{
	struct page page = {0};
	bool begun = value_begin(&page.strings);

	begun = value_begin(&page.functions) && begun;
	begun = value_begin(&page.report) && begun;
	if (begun)
		write_values(&page, write, about);
	begun = value_end(&page.strings) && begun;
	begun = value_end(&page.functions) && begun;
	begun = value_end(&page.report) && begun;
	page.failed |= !begun;
	if (!page.failed) {
		value_write(out, "strings", &page.strings);
		value_write(out, "functions", &page.functions);
		value_write(out, "report", &page.report);
	}
	page_deinit(&page);
	return page.failed ? -ENOMEM : 0;
}

int html_write_data(FILE *out, const struct report *report)
{
	return write_data(out, write_report, report);
}

int html_write_diff_data(FILE *out, const struct diff *diff)
{
	return write_data(out, write_diff, diff);
}
