// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums up the kernel memory of a report by slab cache, and writes it as text and as JSON. */
#include "sinks/kernel_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/order.h"

/* Maximum number of slab caches that are named */
#define CACHES_MOST 4

struct cache_sum {
	const char *name;
	bool is_cache; /* true if `name` is a slab cache, false if it is a kind of memory */
	uint64_t bytes;
	uint64_t count;
	size_t stacks;
};

/*
 * Sums of kernel memory by slab cache; memory that belongs to no slab cache is summed by its kind
 */
struct cache_sums {
	struct cache_sum *items;
	size_t cnt, cap;
	uint64_t bytes;
};

static void add(struct cache_sums *sums, const struct site *site)
{
	const char *name = site->origin.cache ?: kind_name(site->kind);
	size_t i = 0;

	sums->bytes += site->bytes;
	while (i < sums->cnt && strcmp(sums->items[i].name, name) != 0)
		i++;
	if (i == sums->cnt) {
		if (array_reserve(&sums->items, &sums->cap, sums->cnt + 1))
			return;
		sums->items[sums->cnt++] =
			(struct cache_sum){.name = name, .is_cache = site->origin.cache};
	}
	sums->items[i].bytes += site->bytes;
	sums->items[i].count += site->count;
	sums->items[i].stacks++;
}

static int by_bytes(const void *left, const void *right)
{
	const struct cache_sum *a = left, *b = right;

	return ORDER(b->bytes, a->bytes) ?: strcmp(a->name, b->name);
}

static void write_amount(FILE *out, double bytes)
{
	char text[AMOUNT_TEXT_SIZE];

	text_amount(bytes, text);
	fputs(text, out);
}

/* Completes a line with the largest entries of `sums`, and frees `sums`. */
static void write_caches(FILE *out, struct cache_sums *sums)
{
	uint64_t left = sums->bytes;

	for (size_t i = 0; i < sums->cnt && i < CACHES_MOST; i++) {
		fputs(i ? ", " : ": ", out);
		escape_puts(out, sums->items[i].name);
		fputc(' ', out);
		write_amount(out, sums->items[i].bytes);
		left -= sums->items[i].bytes;
	}
	if (sums->cnt > CACHES_MOST) {
		fputs(", others ", out);
		write_amount(out, left);
	}
	fputc('\n', out);
	free(sums->items);
}

/*
 * Sums up the outstanding kernel memory that the kernel can reclaim or, if `reclaimable` is false,
 * that it cannot.
 */
static struct cache_sums sum_up(const struct snapshot *snap, bool reclaimable)
{
	struct cache_sums sums = {0};

	for (size_t i = 0; i < snap->site_cnt; i++)
		if (snap->sites[i].space == SPACE_KERNEL && snap->sites[i].bytes &&
		    snap->sites[i].origin.reclaimable == reclaimable)
			add(&sums, &snap->sites[i]);
	if (sums.cnt)
		qsort(sums.items, sums.cnt, sizeof(*sums.items), by_bytes);
	return sums;
}

/*
 * Writes how much of the outstanding kernel memory the kernel can reclaim, and how much it cannot;
 * nothing if none is outstanding.
 */
static void write_outstanding(const struct text_part *part)
{
	const struct snapshot *snap = part->report->snapshot;
	struct cache_sums cache = sum_up(snap, true), kept = sum_up(snap, false);

	if (!cache.bytes && !kept.bytes)
		return;
	text_begin_line(part);
	fputs("the kernel can reclaim ", part->out);
	write_amount(part->out, cache.bytes);
	fputs(" of ", part->out);
	write_amount(part->out, cache.bytes + kept.bytes);
	fputs(" outstanding", part->out);
	write_caches(part->out, &cache);
	text_begin_line(part);
	fputs("it cannot reclaim ", part->out);
	write_amount(part->out, kept.bytes);
	write_caches(part->out, &kept);
}

/*
 * Writes which slab caches or lines of kernel code, as selected by `kind`, have grown most. Writes
 * the text `before` first. Writes nothing if none has grown.
 */
static void write_growths(FILE *out, const struct snapshot *snap, enum kernel_growth_kind kind,
			  const char *before)
{
	size_t cnt = 0;

	for (size_t i = 0; i < snap->kernel_growth_cnt && cnt < CACHES_MOST; i++) {
		const struct kernel_growth *growth = &snap->kernel_growths[i];

		if (growth->kind != kind)
			continue;
		fputs(cnt++ ? ", " : before, out);
		escape_puts(out, growth->name);
		fputs(" +", out);
		write_amount(out, growth->grown_bytes);
		if (growth->reclaim == RECLAIM_YES)
			fputs(" (reclaimable)", out);
	}
}

static bool has_grown(const struct snapshot *snap, enum kernel_growth_kind kind)
{
	for (size_t i = 0; i < snap->kernel_growth_cnt; i++)
		if (snap->kernel_growths[i].kind == kind)
			return true;
	return false;
}

/*
 * Writes how much slab memory has grown, how much of this the kernel can reclaim, and which slab
 * caches have grown.
 */
static void write_slab_growth(const struct text_part *part)
{
	const struct snapshot *snap = part->report->snapshot;
	const struct kernel_memory *now = &snap->kernel_memory;
	const struct kernel_memory *before = &snap->kernel_memory_before;
	double reclaimable = (double)now->reclaimable - (double)before->reclaimable;
	double grown = (double)now->unreclaimable - (double)before->unreclaimable + reclaimable;

	if (grown <= 0 && !has_grown(snap, GROWTH_OF_CACHE))
		return;
	text_begin_line(part);
	if (grown > 0) {
		if (reclaimable < 0 || reclaimable > grown)
			reclaimable = reclaimable < 0 ? 0 : grown;
		fputs("slab grew by ", part->out);
		write_amount(part->out, grown);
		fputs(" since the start, of which the kernel can reclaim ", part->out);
		write_amount(part->out, reclaimable);
		fprintf(part->out, " (%.0f %%)", 100 * reclaimable / grown);
		write_growths(part->out, snap, GROWTH_OF_CACHE, "; grew most: ");
	} else {
		fputs("slab as a whole did not grow since the start", part->out);
		write_growths(part->out, snap, GROWTH_OF_CACHE, ", but these caches did: ");
	}
	fputc('\n', part->out);
}

static void write_line_growth(const struct text_part *part)
{
	const struct snapshot *snap = part->report->snapshot;

	if (!has_grown(snap, GROWTH_OF_LINE))
		return;
	text_begin_line(part);
	write_growths(part->out, snap, GROWTH_OF_LINE, "grew most by /proc/allocinfo: ");
	fputc('\n', part->out);
}

static void write_total(FILE *out, uint64_t bytes, uint64_t before, const char *what)
{
	write_amount(out, bytes);
	fprintf(out, " of %s (%s", what, bytes < before ? "-" : "+");
	write_amount(out, bytes < before ? before - bytes : bytes - before);
	fputs(" since the start)", out);
}

void kernel_write_lines(const struct text_part *part)
{
	const struct snapshot *snap = part->report->snapshot;
	const struct kernel_memory *now = &snap->kernel_memory;
	const struct kernel_memory *before = &snap->kernel_memory_before;

	if (!now->unreclaimable)
		return;
	text_begin_line(part);
	fputs("kernel memory: ", part->out);
	write_total(part->out, now->unreclaimable, before->unreclaimable, "unreclaimable slab");
	fputs(", ", part->out);
	write_total(part->out, now->vmalloc, before->vmalloc, "vmalloc");
	fputc('\n', part->out);
	write_slab_growth(part);
	write_line_growth(part);
	write_outstanding(part);
}

void kernel_write_reclaimable(const struct text_part *part, size_t most)
{
	const struct report *report = part->report;
	struct cache_sums sums = sum_up(report->snapshot, true);

	for (size_t i = 0; i < sums.cnt && i < most; i++) {
		const struct cache_sum *sum = &sums.items[i];

		fputs(part->indent, part->out);
		text_write_held_in_blocks(part, sum->bytes, sum->count);
		fputs(" at ", part->out);
		text_write_count(part->out, sum->stacks, "stack");
		fputs(sum->is_cache ? " (slab " : " (", part->out);
		escape_puts(part->out, sum->name);
		fputs(", reclaimable)\n", part->out);
	}
	if (sums.cnt > most)
		text_write_more(part->out, part->indent, sums.cnt - most, "reclaimable cache");
	fprintf(part->out, "%s(reclaimable stacks: --all-frames -T %zu)\n", part->indent,
		report->sites_total);
	free(sums.items);
}

static void write_kernel_memory(struct json_writer *json, const char *key,
				const struct kernel_memory *memory)
{
	json_begin_object(json, key);
	json_unsigned(json, "unreclaimable", memory->unreclaimable);
	json_unsigned(json, "reclaimable", memory->reclaimable);
	json_unsigned(json, "vmalloc", memory->vmalloc);
	json_end_object(json);
}

static void write_growths_json(struct json_writer *json, const char *key,
			       const struct snapshot *snap, enum kernel_growth_kind kind)
{
	json_begin_array(json, key);
	for (size_t i = 0; i < snap->kernel_growth_cnt; i++) {
		const struct kernel_growth *growth = &snap->kernel_growths[i];

		if (growth->kind != kind)
			continue;
		json_begin_object(json, NULL);
		json_string(json, "name", growth->name);
		json_unsigned(json, "bytes", growth->bytes);
		json_unsigned(json, "grown_bytes", growth->grown_bytes);
		if (kind == GROWTH_OF_CACHE && growth->reclaim == RECLAIM_UNKNOWN)
			json_null(json, "reclaimable");
		else if (kind == GROWTH_OF_CACHE)
			json_bool(json, "reclaimable", growth->reclaim == RECLAIM_YES);
		json_end_object(json);
	}
	json_end_array(json);
}

void kernel_write_json(struct json_writer *json, const struct snapshot *snap)
{
	if (!snap->kernel_memory.unreclaimable)
		return;
	write_kernel_memory(json, "kernel_memory", &snap->kernel_memory);
	write_kernel_memory(json, "kernel_memory_before", &snap->kernel_memory_before);
	json_begin_object(json, "kernel_growth");
	write_growths_json(json, "caches", snap, GROWTH_OF_CACHE);
	write_growths_json(json, "lines", snap, GROWTH_OF_LINE);
	json_end_object(json);
}
