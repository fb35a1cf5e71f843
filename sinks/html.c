// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A page that needs nothing but itself: the facts in words, then pictures, which html/report.js
 * draws in the browser from JSON in the page.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "sinks/html_data.h"
#include "sinks/sink.h"
#include "sinks/text_facts.h"
#include "sinks/text_part.h"

#define NSEC_PER_SEC 1000000000
/* A browser may run what is written here and nothing else, and load nothing at all. */
#define POLICY "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

static const char style[] =
#include "sinks/html/report.css.inc"
	;
static const char script[] =
#include "sinks/html/data.js.inc"
#include "sinks/html/report.js.inc"
	;
static const char body[] =
#include "sinks/html/body.html.inc"
	;

/* Text of an element, from a string that is printable UTF-8. */
static void write_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else
			fputc(*text, out);
	}
}

static int write_target(FILE *out, const struct report *report)
{
	cleanup_free char *target = NULL;
	size_t len;
	FILE *memory = open_memstream(&target, &len);

	if (!memory)
		return -ENOMEM;
	text_write_target(memory, report);
	if (fclose(memory))
		return -ENOMEM;
	write_text(out, target);
	return 0;
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

/* The lines that end a text report, as a list. */
static int write_facts(FILE *out, const struct report *report)
{
	cleanup_free char *facts = NULL;
	size_t len;
	FILE *memory = open_memstream(&facts, &len);
	char *rest;

	if (!memory)
		return -ENOMEM;
	text_write_facts(memory, report);
	if (fclose(memory))
		return -ENOMEM;
	fputs("<ul class=\"facts\">\n", out);
	for (char *line = strtok_r(facts, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		line += strspn(line, "\t");
		fputs(strncmp(line, "lost:", 5) ? "<li>" : "<li class=\"lost\">", out);
		write_text(out, line);
		fputs("</li>\n", out);
	}
	fputs("</ul>\n", out);
	return 0;
}

static int html_report(FILE *out, const struct report *report)
{
	int err;

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"" POLICY "\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>memleak: ",
	      out);
	err = write_target(out, report);
	fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
	err = err ? err : write_target(out, report);
	fputs("</h1>\n", out);
	write_when(out, report);
	err = err ? err : write_facts(out, report);
	fputs(body, out);
	err = err ? err : html_write_data(out, report);
	fprintf(out, "<script>\n%s</script>\n</body>\n</html>\n", script);
	return err;
}

const struct sink sink_html = {
	.name = "html",
	.says_losses = true,
	.report = html_report,
};
