// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The data of an HTML report: three values of JSON. Functions name strings by their place in the
 * first, sites name functions by theirs in the second; so a name is in the page but once.
 */
#include "sinks/html_data.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/intern.h"
#include "report/frame_walk.h"
#include "report/runtime_objects.h"
#include "report/site_order.h"
#include "sinks/json_parts.h"
#include "sinks/json_writer.h"
#include "sinks/text_part.h"

#define NSEC_PER_MSEC 1000000

/* One of the values, written as its parts become known. */
struct value {
	struct json_writer json;
	FILE *stream;
	char *text;
	size_t len;
};

struct page {
	struct value strings;
	struct value functions;
	struct value report;
	struct intern string_numbers;
	struct intern function_numbers;
	bool failed; /* no memory */
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

/* Counted from 0, like the entries of an array. */
static size_t number_of(struct page *page, struct intern *table, const void *bytes, size_t len,
			bool *is_new)
{
	size_t number = intern_get(table, bytes, len, is_new);

	page->failed |= !number;
	return number ? number - 1 : 0;
}

/* Browsers, too, obey what turns the direction of writing: strings are escaped as on terminals. */
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

/* Its symbol, or "+0x1f" for a place in its module, or its address. */
static size_t name_number(struct page *page, const struct frame_walk *walk)
{
	const char *module = walk->location ? walk->location->module : NULL;
	char text[32];

	if (walk->frame && walk->frame->symbol && *walk->frame->symbol)
		return string_number(page, walk->frame->symbol);
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
	json_end_array(json);
	return number;
}

/* From the outermost function to the one that called the allocator. */
static void write_frames(struct page *page, const struct report_site *shown)
{
	struct json_writer *json = &page->report.json;
	const char *missing = frame_missing(shown->site);
	size_t cnt = 0, blamed = 0, through = 0;
	struct frame_walk walk;

	json_begin_array(json, "frames");
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
			blamed = cnt;
		if (shown->has_through && frame_walk_at(&walk, &shown->through))
			through = cnt;
		cnt++;
		const struct function function = {
			.name = name_number(page, &walk),
			.file = string_number(page, walk.frame ? walk.frame->file : NULL),
			.line = walk.frame ? walk.frame->line : 0,
			.module = string_number(page, walk.location ? walk.location->module : NULL),
			.inlined = walk.frame && walk.frame->inlined,
		};

		json_unsigned(json, NULL, function_number(page, &function));
	}
	json_end_array(json);
	json_unsigned(json, "culprit", blamed);
	if (shown->has_through)
		json_unsigned(json, "through", through);
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
	for (size_t i = 0; history && i < history->moment_cnt; i++)
		write_moment(json, history->moments[i].elapsed_ns, history->moments[i].bytes,
			     history->moments[i].count);
	if (!history)
		write_moment(json, report->snapshot->elapsed_ns, shown->site->bytes,
			     shown->site->count);
	json_end_array(json);
}

/* In thousandths. */
static void write_thousandths(struct json_writer *json, const char *key, double value)
{
	if (isfinite(value) && fabs(value) < 1e15)
		json_signed(json, key, llround(value * 1000));
	else
		json_null(json, key);
}

static void write_trend(struct json_writer *json, const struct report_site *shown)
{
	static const struct site_history no_history = {
		.trend = {.bytes_per_s = NAN, .score = {NAN, NAN, NAN, NAN, 0}}};
	const struct site_history *history = shown->history;
	const struct trend *trend = history ? &history->trend : &no_history.trend;

	json_bool(json, "suspect", history && site_is_suspect(shown->site, history));
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

/* What a text report says of the site in parentheses. */
static void write_notes(struct page *page, const struct report *report,
			const struct report_site *shown)
{
	cleanup_free char *notes = NULL;
	size_t len;
	FILE *memory = open_memstream(&notes, &len);
	const struct text_part part = {memory, report, "", true};

	if (!memory) {
		page->failed = true;
		return;
	}
	text_write_notes(&part, shown);
	if (fclose(memory)) {
		page->failed = true;
		return;
	}
	notes[strcspn(notes, "\n")] = 0;
	json_string(&page->report.json, "notes", notes + strspn(notes, "\t"));
}

/* Within an object. */
static void write_site_keys(struct page *page, const struct report *report,
			    const struct report_site *shown)
{
	struct json_writer *json = &page->report.json;
	const struct site *site = shown->site;

	json_write_id(json, site->id);
	json_unsigned(json, "bytes", site->bytes);
	json_unsigned(json, "count", site->count);
	write_notes(page, report, shown);
	write_trend(json, shown);
	write_moments(json, report, shown);
	write_frames(page, shown);
}

static void write_site(struct page *page, const struct report *report,
		       const struct report_site *shown)
{
	json_begin_object(&page->report.json, NULL);
	write_site_keys(page, report, shown);
	json_end_object(&page->report.json);
}

static void write_suspect(struct page *page, const struct report *report,
			  const struct suspect *suspect)
{
	struct json_writer *json = &page->report.json;

	json_begin_object(json, NULL);
	write_site_keys(page, report, suspect->site);
	json_unsigned(json, "paths", suspect->path_cnt);
	json_unsigned(json, "processes", suspect->process_cnt);
	if (suspect->site->objects)
		json_string(json, "objects", suspect->site->objects->words);
	write_thousandths(json, "rate_of_paths", suspect->bytes_per_s);
	json_end_object(json);
}

static void write_values(struct page *page, const struct report *report)
{
	struct json_writer *json = &page->report.json;

	json_begin_array(&page->strings.json, NULL);
	json_begin_array(&page->functions.json, NULL);
	json_begin_object(json, NULL);
	json_unsigned(json, "bytes", report->bytes);
	json_unsigned(json, "count", report->count);
	json_unsigned(json, "sites_total", report->sites_total);
	json_begin_array(json, "sites");
	for (size_t i = 0; i < report->site_cnt && !page->failed; i++)
		write_site(page, report, &report->sites[i]);
	json_end_array(json);
	json_begin_array(json, "suspects");
	for (size_t i = 0; i < report->suspect_cnt && !page->failed; i++)
		write_suspect(page, report, &report->suspects[i]);
	json_end_array(json);
	json_unsigned(json, "suspects_total", report->suspects_total);
	json_bool(json, "undecided", report->undecided || report->unclear);
	json_end_object(json);
	json_end_array(&page->functions.json);
	json_end_array(&page->strings.json);
}

int html_write_data(FILE *out, const struct report *report)
{
	struct page page = {0};
	bool begun = value_begin(&page.strings);

	begun = value_begin(&page.functions) && begun;
	begun = value_begin(&page.report) && begun;
	if (begun)
		write_values(&page, report);
	begun = value_end(&page.strings) && begun;
	begun = value_end(&page.functions) && begun;
	begun = value_end(&page.report) && begun;
	page.failed |= !begun;
	if (!page.failed) {
		value_write(out, "strings", &page.strings);
		value_write(out, "functions", &page.functions);
		value_write(out, "report", &page.report);
	}
	intern_deinit(&page.string_numbers);
	intern_deinit(&page.function_numbers);
	free(page.strings.text);
	free(page.functions.text);
	free(page.report.text);
	return page.failed ? -ENOMEM : 0;
}
