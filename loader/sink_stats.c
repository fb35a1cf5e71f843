// SPDX-License-Identifier: GPL-2.0-or-later
/* Figures of each address space, as lines and as JSON. */
#include "loader/sink_stats.h"

#include <inttypes.h>

static const char *const space_names[SPACE_CNT] = {
	[SPACE_USER] = "user",
	[SPACE_KERNEL] = "kernel",
};

/* Functions that were called, each after what separates it from the one before. */
static void write_calls(FILE *out, const struct figures *figures)
{
	const char *before = ": ";

	fprintf(out, "%" PRIu64 " calls", figures->calls);
	for (unsigned int i = 0; i < MEMLEAK_SHAPE_CNT; i++) {
		if (!figures->calls_of[i] || !shape_name(i))
			continue;
		fprintf(out, "%s%" PRIu64 " %s", before, figures->calls_of[i], shape_name(i));
		before = ", ";
	}
	if (figures->failed)
		fprintf(out, "; %" PRIu64 " failed", figures->failed);
}

static void write_tables(FILE *out, const struct figures *figures)
{
	const char *before = "tables: ";

	for (unsigned int i = 0; i < TABLE_CNT; i++) {
		const struct fill *fill = &figures->fills[i];

		if (!fill->size)
			continue;
		fprintf(out, "%s%" PRIu64 " of %" PRIu64 " %s", before, fill->used, fill->size,
			table_name(i));
		before = ", ";
	}
}

void sink_stats_write_text(FILE *out, const struct snapshot *snap)
{
	for (unsigned int i = 0; i < SPACE_CNT; i++) {
		const struct figures *figures = &snap->figures[i];

		if (!figures->known)
			continue;
		fprintf(out, "\t%s: ", space_names[i]);
		write_calls(out, figures);
		fprintf(out,
			"\n\t%s: stacks: %" PRIu64 " walked, %" PRIu64
			" recognised without, %" PRIu64 " stored; %" PRIu64
			" recognised and walked all the same, %" PRIu64 " of them others\n\t%s: ",
			space_names[i], figures->walked, figures->recalled, figures->stored,
			figures->checked, figures->disagreed, space_names[i]);
		write_tables(out, figures);
		fputc('\n', out);
	}
}

static void write_functions(struct json_writer *json, const struct figures *figures)
{
	json_begin_object(json, "functions");
	for (unsigned int i = 0; i < MEMLEAK_SHAPE_CNT; i++)
		if (shape_name(i))
			json_unsigned(json, shape_name(i), figures->calls_of[i]);
	json_end_object(json);
}

static void write_fill(struct json_writer *json, const char *name, const struct fill *fill)
{
	if (!fill->size) {
		json_null(json, name);
		return;
	}
	json_begin_object(json, name);
	json_unsigned(json, "used", fill->used);
	json_unsigned(json, "size", fill->size);
	json_end_object(json);
}

static void write_space(struct json_writer *json, enum address_space space,
			const struct figures *figures)
{
	json_begin_object(json, space_names[space]);
	json_unsigned(json, "calls", figures->calls);
	if (space == SPACE_USER) {
		write_functions(json, figures);
		json_unsigned(json, "failed", figures->failed);
	}
	json_begin_object(json, "stacks");
	json_unsigned(json, "walked", figures->walked);
	json_unsigned(json, "recognised", figures->recalled);
	json_unsigned(json, "stored", figures->stored);
	json_unsigned(json, "checked", figures->checked);
	json_unsigned(json, "wrong", figures->disagreed);
	json_end_object(json);
	json_begin_object(json, "tables");
	for (unsigned int i = 0; i < TABLE_CNT; i++)
		write_fill(json, table_name(i), &figures->fills[i]);
	json_end_object(json);
	json_end_object(json);
}

void sink_stats_write_json(struct json_writer *json, const struct snapshot *snap)
{
	json_begin_object(json, "stats");
	for (unsigned int i = 0; i < SPACE_CNT; i++) {
		if (snap->figures[i].known)
			write_space(json, i, &snap->figures[i]);
		else
			json_null(json, space_names[i]);
	}
	json_end_object(json);
}
