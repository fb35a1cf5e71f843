// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes folded stacks, the input of flamegraph.pl, speedscope, inferno and other tools. */
#include "sinks/folded.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "report/frame_walk.h"
#include "report/listing.h"
#include "sinks/sink.h"

struct line {
	FILE *out;
	bool begun;
};

/*
 * Replaces characters that have a meaning in the format: a semicolon separates frames, and digits
 * after a blank at the end of a line are read as a count.
 */
static void make_harmless(char *name)
{
	size_t end = strlen(name);

	for (char *at = strchr(name, ';'); at; at = strchr(at, ';'))
		*at = ':';
	while (end && (isdigit((unsigned char)name[end - 1]) || name[end - 1] == '.'))
		end--;
	if (end && name[end] && isspace((unsigned char)name[end - 1]))
		name[end - 1] = '_';
}

static int write_name(void *arg, const char *name, const struct frame_walk *walk)
{
	cleanup_free char *harmless = strdup(name);
	struct line *line = arg;

	if (!harmless)
		return -ENOMEM;
	if (line->begun)
		fputc(';', line->out);
	line->begun = true;
	make_harmless(harmless);
	escape_puts(line->out, harmless);
	return 0;
}

int folded_write_stack(FILE *out, const struct report_site *shown)
{
	struct line line = {.out = out};

	return stack_for_each(shown, write_name, &line);
}

static int folded_report(FILE *out, const struct report *report)
{
	cleanup_free const struct report_site **sites = NULL;
	size_t cnt;
	int err = report_list(report, report->site_cnt, &cnt, &sites);

	for (size_t i = 0; !err && i < cnt; i++) {
		err = folded_write_stack(out, sites[i]);
		fprintf(out, " %" PRIu64 "\n", sites[i]->site->bytes);
	}
	return err;
}

const struct sink sink_folded = {
	.name = "folded",
	.report = folded_report,
};
