// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a heap census: a table of chunks by size, the totals of the heap, and how much of the
 * resident and swapped memory of the processes is in the heap.
 */
#include "sinks/census.h"

#include <inttypes.h>
#include <string.h>

#include "sinks/json_parts.h"
#include "sinks/text_part.h"

struct column {
	enum heap_use use;
	const char *word;  /* heading of the column in the table by chunk size */
	const char *words; /* description of the column's sum in the line "heap:" */
};

/*
 * Columns of the table for a core file, which only shows whether a chunk was in use, and not who
 * allocated it.
 */
static const struct column columns_of_core[] = {{HEAP_OLDER, "used", "used"},
						{HEAP_FREE, "free", "free"}};
static const struct column columns[] = {
	{HEAP_KNOWN, "known", "known to memleak"},
	{HEAP_OLDER, "older", "older or not tracked"},
	{HEAP_FREE, "free", "free"},
};

struct shown_table {
	const struct heap_census *census;
	const struct column *columns;
	size_t column_cnt;
};

/* Selects the census and the columns of its table. Returns false if the report has no census. */
static bool table_of(const struct report *report, struct shown_table *ret)
{
	const struct snapshot *snap = report->snapshot;
	const bool is_core = snap->core;

	if (!snap->census)
		return false;
	*ret = (struct shown_table){
		.census = snap->census,
		.columns = is_core ? columns_of_core : columns,
		.column_cnt = is_core ? sizeof(columns_of_core) / sizeof(*columns_of_core)
				      : sizeof(columns) / sizeof(*columns),
	};
	return true;
}

static bool has_something(const struct shown_table *table, size_t class)
{
	for (size_t i = 0; i < table->column_cnt; i++)
		if (table->census->classes[class][table->columns[i].use].count)
			return true;
	return false;
}

#define CLASS_NAME_SIZE (AMOUNT_TEXT_SIZE + 8)

static void class_name(size_t class, char *ret, size_t size)
{
	const uint64_t upto = heap_class_upto(class);
	char amount[AMOUNT_TEXT_SIZE];

	char *fraction;

	text_amount((double)heap_class_upto(upto == UINT64_MAX ? class - 1 : class), amount);
	fraction = strstr(amount, ".0 ");
	if (fraction)
		memmove(fraction, fraction + 2, strlen(fraction + 2) + 1);
	snprintf(ret, size, "%s %s", upto == UINT64_MAX ? "above" : "up to", amount);
}

static void take_all(const struct heap_census *census, struct reach_sum ret[HEAP_USE_CNT])
{
	for (size_t use = 0; use < HEAP_USE_CNT; use++)
		ret[use] = heap_census_all(census, (enum heap_use)use);
}

/* Writes a cell of a row. Pads all cells except the last, so that no line ends in blanks. */
static void write_cell(FILE *out, const struct reach_sum *sum, bool is_last)
{
	char amount[AMOUNT_TEXT_SIZE] = "-", count[32] = "";

	if (sum->count) {
		text_amount((double)sum->bytes, amount);
		snprintf(count, sizeof(count), " in %" PRIu64, sum->count);
	}
	fprintf(out, " %11s%*s", amount, is_last ? 0 : -14, count);
}

static void write_row(FILE *out, const struct shown_table *table, const char *name,
		      const struct reach_sum *of)
{
	fprintf(out, "\t%21s", name);
	for (size_t i = 0; i < table->column_cnt; i++)
		write_cell(out, &of[table->columns[i].use], i + 1 == table->column_cnt);
	fputc('\n', out);
}

static void write_table(FILE *out, const struct shown_table *table)
{
	const struct heap_census *census = table->census;
	struct reach_sum all[HEAP_USE_CNT];
	char name[CLASS_NAME_SIZE];

	fputs("\theap by size of chunk", out);
	for (size_t i = 0; i < table->column_cnt; i++)
		fprintf(out, "%12s%*s", table->columns[i].word, i + 1 < table->column_cnt ? 14 : 0,
			"");
	fputc('\n', out);
	for (size_t class = 0; class < heap_census_cnt(census); class ++) {
		class_name(class, name, sizeof(name));
		if (has_something(table, class))
			write_row(out, table, name, census->classes[class]);
	}
	take_all(census, all);
	write_row(out, table, "all", all);
}

static void write_amount(FILE *out, uint64_t bytes)
{
	char amount[AMOUNT_TEXT_SIZE];

	text_amount((double)bytes, amount);
	fputs(amount, out);
}

/*
 * Writes the texts `before` and `words` with the amount `bytes` between them; nothing if it is 0.
 */
static void write_part(FILE *out, const char *before, uint64_t bytes, const char *words)
{
	if (!bytes)
		return;
	fputs(before, out);
	write_amount(out, bytes);
	fputs(words, out);
}

static void write_heap(FILE *out, const struct shown_table *table)
{
	const struct heap_census *census = table->census;

	fputs("\theap: ", out);
	write_amount(out, census->heap_bytes);
	fputs(" in ", out);
	text_write_count(out, census->arenas, "arena");
	fputs(" = ", out);
	for (size_t i = 0; i < table->column_cnt; i++) {
		write_amount(out, heap_census_all(census, table->columns[i].use).bytes);
		fprintf(out, " %s + ", table->columns[i].words);
	}
	write_amount(out, heap_census_own(census));
	fputs(" of the allocator's own", out);
	write_part(out, " (", census->spare_bytes, " of it free at the ends of heaps)");
	fputc('\n', out);
}

static void write_memory(FILE *out, const struct heap_census *census)
{
	const struct memory_use *memory = &census->memory;
	const uint64_t resident = memory_use_resident(memory);

	if (!resident)
		return;
	fputs("\tmemory: ", out);
	write_amount(out, resident);
	fputs(" resident", out);
	write_part(out, " + ", memory->swapped, " swapped out");
	fputs(" = ", out);
	write_amount(out, census->present_bytes);
	fputs(" of the heap", out);
	write_part(out, " + ", heap_census_other(census),
		   " of stacks, variables and other mappings");
	write_part(out, " + ", memory->file, " of files");
	write_part(out, " + ", memory->shared, " shared");
	fputc('\n', out);
}

/*
 * Writes the gaps in the census: blocks that are in no parsed heap, skipped arenas, truncated free
 * lists, and processes without a glibc heap.
 */
static void write_unknown(FILE *out, const struct heap_census *census)
{
	if (census->elsewhere.count) {
		fputs("\tfound in no heap: ", out);
		write_amount(out, census->elsewhere.bytes);
		fputs(" in ", out);
		text_write_count(out, census->elsewhere.count, "known block");
		fputs(" of another allocator, or where glibc's heap could not be parsed\n", out);
	}
	if (census->skipped_arenas) {
		fputs("\tnot parsed: ", out);
		text_write_count(out, census->skipped_arenas, "arena");
		fputs(" that a thread was changing; the heap numbers exclude this memory\n", out);
	}
	if (census->cut_lists) {
		fputs("\ttruncated: ", out);
		text_write_count(out, census->cut_lists, "list");
		fputs(" of free chunks, too long to read; the remaining chunks count as used\n",
		      out);
	}
	if (census->without_heap) {
		fputs("\tno glibc heap: in ", out);
		text_write_count(out, census->without_heap, "process");
		fputs(census->processes == 1 ? "" : ", which the heap numbers exclude", out);
		fputc('\n', out);
	}
}

void census_write_facts(FILE *out, const struct report *report)
{
	const struct heap_census *census = report->snapshot->census;
	uint64_t known;
	struct shown_table table;

	if (!table_of(report, &table))
		return;
	if (census->arenas)
		write_heap(out, &table);
	known = heap_census_all(census, HEAP_KNOWN).bytes;
	if (known > census->requested_bytes)
		write_part(out, "\trounded up: known chunks have ", known - census->requested_bytes,
			   " more than was requested\n");
	if (census->heap_bytes > census->present_bytes)
		write_part(out, "\tnot in memory: ", census->heap_bytes - census->present_bytes,
			   " of the heap, never touched or returned to the kernel\n");
	write_memory(out, census);
	write_unknown(out, census);
}

void census_write_text(FILE *out, const struct report *report)
{
	struct shown_table table;

	if (!table_of(report, &table))
		return;
	if (heap_census_cnt(table.census))
		write_table(out, &table);
	census_write_facts(out, report);
}

static void write_html_cells(FILE *out, const struct reach_sum *sum)
{
	fputs("<td>", out);
	if (sum->count)
		write_amount(out, sum->bytes);
	fputs("</td><td>", out);
	if (sum->count)
		fprintf(out, "%" PRIu64, sum->count);
	fputs("</td>", out);
}

static void write_html_row(FILE *out, const struct shown_table *table, const char *name,
			   const struct reach_sum *of)
{
	fprintf(out, "<tr><th>%s</th>", name);
	for (size_t i = 0; i < table->column_cnt; i++)
		write_html_cells(out, &of[table->columns[i].use]);
	fputs("</tr>\n", out);
}

void census_write_html(FILE *out, const struct report *report)
{
	struct reach_sum all[HEAP_USE_CNT];
	char name[CLASS_NAME_SIZE];
	struct shown_table table;

	if (!table_of(report, &table) || !heap_census_cnt(table.census))
		return;
	fputs("<h2>The heap by size of chunk</h2>\n<div class=\"panel\"><table id=\"census\">\n"
	      "<thead><tr><th></th>",
	      out);
	for (size_t i = 0; i < table.column_cnt; i++)
		fprintf(out, "<th>%s</th><th>chunks</th>", table.columns[i].word);
	fputs("</tr></thead>\n", out);
	for (size_t class = 0; class < heap_census_cnt(table.census); class ++) {
		class_name(class, name, sizeof(name));
		if (has_something(&table, class))
			write_html_row(out, &table, name, table.census->classes[class]);
	}
	take_all(table.census, all);
	write_html_row(out, &table, "all", all);
	fputs("</table></div>\n", out);
}

static const char *const keys[HEAP_USE_CNT] = {
	[HEAP_KNOWN] = "known", [HEAP_OLDER] = "older", [HEAP_FREE] = "free"};

static void write_json_classes(struct json_writer *json, const struct heap_census *census)
{
	json_begin_array(json, "classes");
	for (size_t i = 0; i < heap_census_cnt(census); i++) {
		json_begin_object(json, NULL);
		if (heap_class_upto(i) == UINT64_MAX)
			json_null(json, "upto_bytes");
		else
			json_unsigned(json, "upto_bytes", heap_class_upto(i));
		for (size_t use = 0; use < HEAP_USE_CNT; use++)
			json_write_totals(json, keys[use], census->classes[i][use].bytes,
					  census->classes[i][use].count);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_json_memory(struct json_writer *json, const struct heap_census *census)
{
	const struct memory_use *memory = &census->memory;

	if (!memory_use_resident(memory)) {
		json_null(json, "memory");
		return;
	}
	json_begin_object(json, "memory");
	json_unsigned(json, "resident_bytes", memory_use_resident(memory));
	json_unsigned(json, "swapped_bytes", memory->swapped);
	json_unsigned(json, "heap_bytes", census->present_bytes);
	json_unsigned(json, "other_bytes", heap_census_other(census));
	json_unsigned(json, "file_bytes", memory->file);
	json_unsigned(json, "shared_bytes", memory->shared);
	json_end_object(json);
}

void census_write_json(struct json_writer *json, const struct heap_census *census)
{
	if (!census)
		return;
	json_begin_object(json, "census");
	write_json_classes(json, census);
	for (size_t use = 0; use < HEAP_USE_CNT; use++) {
		const struct reach_sum all = heap_census_all(census, (enum heap_use)use);

		json_write_totals(json, keys[use], all.bytes, all.count);
	}
	json_unsigned(json, "requested_bytes", census->requested_bytes);
	json_begin_object(json, "allocator");
	json_unsigned(json, "bytes", heap_census_own(census));
	json_unsigned(json, "spare_bytes", census->spare_bytes);
	json_end_object(json);
	json_unsigned(json, "heap_bytes", census->heap_bytes);
	json_unsigned(json, "present_bytes", census->present_bytes);
	json_unsigned(json, "arenas", census->arenas);
	json_write_totals(json, "elsewhere", census->elsewhere.bytes, census->elsewhere.count);
	json_unsigned(json, "skipped_arenas", census->skipped_arenas);
	json_unsigned(json, "cut_lists", census->cut_lists);
	json_unsigned(json, "processes", census->processes);
	json_unsigned(json, "without_heap", census->without_heap);
	write_json_memory(json, census);
	json_end_object(json);
}
