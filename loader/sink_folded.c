// SPDX-License-Identifier: GPL-2.0-or-later
/* Folded stacks: what flamegraph.pl, speedscope, inferno and others make flame graphs of. */
#include "loader/sink_folded.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "loader/escape.h"
#include "loader/frame_walk.h"
#include "loader/sink.h"

/* A semicolon ends a name, and digits after a blank at the end of a line are a second number. */
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

/* name: from malloc, NULL: no memory. */
static int write_name(FILE *out, char *name)
{
	if (!name)
		return -ENOMEM;
	make_harmless(name);
	escape_puts(out, name);
	free(name);
	return 0;
}

int folded_write_stack(FILE *out, const struct report_site *shown)
{
	const struct site *site = shown->site;
	const char *missing = frame_missing(site);
	struct frame_walk walk;
	int err = write_name(out, strdup(stack_root(site)));

	if (missing)
		fprintf(out, ";%s", missing);
	frame_walk_begin(&walk, shown);
	while (!err && frame_walk_next(&walk)) {
		fputc(';', out);
		err = write_name(out, frame_name(&walk));
	}
	if (site->kind != MEMLEAK_KIND_HEAP)
		fprintf(out, ";[%s]", kind_name(site->kind));
	return err;
}

static int folded_report(FILE *out, const struct report *report)
{
	int err = 0;

	for (size_t i = 0; !err && i < report->site_cnt; i++) {
		err = folded_write_stack(out, &report->sites[i]);
		fprintf(out, " %" PRIu64 "\n", report->sites[i].site->bytes);
	}
	return err;
}

const struct sink sink_folded = {
	.name = "folded",
	.document = true,
	.report = folded_report,
};
