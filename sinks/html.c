// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a self-contained HTML page. The page has the head and the facts of a text report, in the
 * same words, and charts, which html/report.js draws in the browser from JSON data in the page.
 */
#include "sinks/html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "sinks/census.h"
#include "sinks/diff.h"
#include "sinks/html_data.h"
#include "sinks/peak.h"
#include "sinks/sink.h"
#include "sinks/text.h"
#include "sinks/text_facts.h"

#define NSEC_PER_SEC 1000000000
static const char style[] =
#include "sinks/html/report.css.inc"
	;
static const char script[] =
#include "sinks/html/data.js.inc"
#include "sinks/html/report.js.inc"
	;
static const char live_script[] =
#include "sinks/html/live.js.inc"
	;
static const char body[] =
#include "sinks/html/body.html.inc"
	;

/*
 * Writes the text of an HTML element. Escapes HTML, and turns the control characters TEXT_MARK_…
 * that begin and end a style into tags. The text must be printable UTF-8.
 */
static void write_text(FILE *out, const char *text)
{
	static const char *const classes[STYLE_CNT] = {
		[STYLE_LOST] = "lost", [STYLE_GROWS] = "grows",     [STYLE_STEADY] = "steady",
		[STYLE_OPEN] = "open", [STYLE_CULPRIT] = "culprit", [STYLE_DIM] = "quiet",
		[STYLE_BOLD] = "bold",
	};

	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (*text >= TEXT_MARK_BEGIN && *text < TEXT_MARK_BEGIN + STYLE_CNT)
			fprintf(out, "<b class=\"%s\">", classes[*text - TEXT_MARK_BEGIN]);
		else if (*text == TEXT_MARK_END)
			fputs("</b>", out);
		else
			fputc(*text, out);
	}
}

/* Writes a text about a report, or about a difference between two snapshots. */
typedef void write_words(FILE *out, const void *about);

/* Returns the output of write(), to be freed by the caller; NULL if out of memory. */
static char *words_of(write_words *write, const void *about)
{
	char *words = NULL;
	size_t len;
	FILE *memory = open_memstream(&words, &len);

	if (!memory)
		return NULL;
	write(memory, about);
	if (!fclose(memory))
		return words;
	free(words);
	return NULL;
}

static void write_lines(FILE *out, char *lines, const char *class)
{
	char *rest;

	fprintf(out, "<ul class=\"%s\">\n", class);
	for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		line += strspn(line, "\t");
		fputs(!strncmp(line, "lost:", 5) || !strncmp(line, "incomplete:", 11)
			      ? "<li class=\"warn\">"
			      : "<li>",
		      out);
		write_text(out, line);
		fputs("</li>\n", out);
	}
	fputs("</ul>\n", out);
}

/* Writes lines of a text report as an HTML list. */
static int write_facts(FILE *out, write_words *write, const void *about)
{
	cleanup_free char *facts = words_of(write, about);

	if (!facts)
		return -ENOMEM;
	write_lines(out, facts, "facts");
	return 0;
}

/* Writes the head of a text report. Its first line becomes the heading of the page. */
static int write_head(FILE *out, write_words *write, const void *about)
{
	cleanup_free char *head = words_of(write, about);
	char *end = head ? strchrnul(head, '\n') : NULL;

	if (!head)
		return -ENOMEM;
	fputs("<h1>", out);
	if (*end)
		*end++ = 0;
	write_text(out, head);
	fputs("</h1>\n", out);
	write_lines(out, end, "head");
	return 0;
}

static void head_words(FILE *out, const void *about)
{
	const struct report *report = about;
	const struct text_part part = {.out = out,
				       .report = report,
				       .indent = "",
				       .with_process = text_several_processes(report->snapshot),
				       .look = LOOK_MARKED};

	text_write_head(&part);
}

static void target_words(FILE *out, const void *about)
{
	text_write_target(out, about);
}

static void fact_words(FILE *out, const void *about)
{
	const struct report *report = about;
	const struct text_part part = {.out = out, .report = report, .look = LOOK_PLAIN};

	if (report->show_peak)
		peak_write_fact(&part);
	text_write_facts(&part, true);
}

static void census_words(FILE *out, const void *about)
{
	census_write_facts(out, about);
}

static void diff_head_words(FILE *out, const void *about)
{
	diff_write_moments(out, about);
}

static void diff_fact_words(FILE *out, const void *about)
{
	diff_write_sums(out, about);
}

static void write_when(FILE *out, const struct report *report)
{
	time_t seconds = report->snapshot->wall_ns / NSEC_PER_SEC;
	struct tm tm;
	char text[64];

	fputs("<p class=\"quiet\">", out);
	if (localtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%F %T %z", &tm))
		fprintf(out, "%s, ", text);
	text_write_seconds(out, report->snapshot->elapsed_ns);
	fprintf(out, " s after tracing began%s", report->final ? "; the final report" : "");
	if (report->site_cnt < report->sites_total)
		fprintf(out, "; the first %zu of %zu sites are in this page", report->site_cnt,
			report->sites_total);
	fputs("</p>\n", out);
}

static int write_census(FILE *out, const struct report *report)
{
	if (!report->snapshot->census)
		return 0;
	census_write_html(out, report);
	return write_facts(out, census_words, report);
}

static void write_begin(FILE *out, const char *title, bool live)
{
	fprintf(out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n"
		"<meta name=\"viewport\" content=\"width=device-width\">\n<title>memleak: ",
		live ? HTML_POLICY_LIVE : HTML_POLICY);
	write_text(out, title);
	fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", style);
}

static void write_end(FILE *out, bool live)
{
	fprintf(out, "<script>\n%s%s</script>\n</body>\n</html>\n", script,
		live ? live_script : "");
}

static int write_report(FILE *out, const struct report *report, bool live)
{
	cleanup_free char *title = words_of(target_words, report);
	int err;

	if (!title)
		return -ENOMEM;
	write_begin(out, title, live);
	err = write_head(out, head_words, report);
	write_when(out, report);
	fprintf(out, "%s<h2>Totals</h2>\n", body);
	err = err ? err : write_facts(out, fact_words, report);
	err = err ? err : write_census(out, report);
	err = err ? err : html_write_data(out, report);
	write_end(out, live);
	return err;
}

int html_write_live(FILE *out, const struct report *report)
{
	return write_report(out, report, true);
}

int html_write_diff(FILE *out, const struct diff *diff)
{
	int err;

	write_begin(out, "what has changed", false);
	err = write_head(out, diff_head_words, diff);
	fprintf(out, "%s<h2>Totals</h2>\n", body);
	err = err ? err : write_facts(out, diff_fact_words, diff);
	err = err ? err : html_write_diff_data(out, diff);
	write_end(out, false);
	return err;
}

static int html_report(FILE *out, const struct report *report)
{
	return write_report(out, report, false);
}

const struct sink sink_html = {
	.name = "html",
	.says_losses = true,
	.report = html_report,
};
