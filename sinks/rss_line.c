// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the parts of resident memory, and the functions whose blocks pin free memory of the heap.
 * Parts below one per cent are combined at the end of the line.
 */
#include "sinks/rss_line.h"

#include <stdlib.h>

#include "base/escape.h"
#include "base/order.h"
#include "sinks/json_parts.h"
#include "sinks/text_part.h"
#include "sinks/verdict_line.h"

#define SMALL_PART 100

/* Maximum number of processes that each have a line; for more, one line shows their sum */
#define LINES_MAX 3

/*
 * Blocks from before tracing began are mentioned if they are at least 1/OLDER_PART of resident
 * memory.
 */
#define OLDER_PART 10
/* Maximum number of size classes in the line about blocks from before tracing began */
#define CLASSES_MAX 5

/* An allocator is named if it keeps at least 1/KEEPER_PART of what all allocators keep. */
#define KEEPER_PART 10

/* Number of arenas of glibc above which MALLOC_ARENA_MAX is suggested */
#define MANY_ARENAS 4

static const char *const words[] = {
	[RSS_LIVE] = "live",
	[RSS_PINNED] = "pinned below live blocks",
	[RSS_TRIMMABLE] = "that malloc_trim would return",
	[RSS_TOP] = "at the ends of heaps",
	[RSS_PYTHON] = "kept by python",
	[RSS_MAPPED] = "other anonymous memory",
	[RSS_STACKS] = "stacks",
	[RSS_FILES] = "files",
	[RSS_SHARED] = "shared",
	[RSS_UNREAD] = "not read",
	[RSS_OTHER] = "other",
};

_Static_assert(sizeof(words) / sizeof(*words) == RSS_PART_CNT, "each part has words");

static void write_amount(FILE *out, uint64_t bytes, const char *what)
{
	char text[AMOUNT_TEXT_SIZE];

	text_amount((double)bytes, text);
	fprintf(out, "%s%s%s", text, *what ? " " : "", what);
}

/*
 * Writes a part of resident memory as a term of the sum. If the part is below 1/SMALL_PART of the
 * whole, adds its bytes to `rest` instead.
 */
static void write_term(FILE *out, const char **between, uint64_t bytes, const char *what,
		       uint64_t whole, uint64_t *rest)
{
	if (bytes < whole / SMALL_PART || !bytes) {
		*rest += bytes;
		return;
	}
	fputs(*between, out);
	*between = " + ";
	write_amount(out, bytes, what);
}

static void write_kept(FILE *out, const struct rss *rss)
{
	static const enum rss_part parts[] = {RSS_PINNED, RSS_TRIMMABLE, RSS_TOP};
	const char *between = " (";

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (rss->parts[parts[i]] < rss_kept(rss) / SMALL_PART)
			continue;
		fputs(between, out);
		between = ", ";
		write_amount(out, rss->parts[parts[i]], words[parts[i]]);
	}
	fprintf(out, "; %llu %s)", (unsigned long long)rss->arenas,
		rss->arenas == 1 ? "arena" : "arenas");
}

static void write_sum(FILE *out, const struct rss *rss)
{
	uint64_t whole = rss_total(rss), rest = 0;
	const char *between = " = ";

	fputs("RSS ", out);
	write_amount(out, whole, "");
	if (rss->torn_arenas)
		between = " = about ";
	write_term(out, &between, rss->parts[RSS_LIVE], "live in glibc's heap", whole, &rest);
	if (rss_kept(rss) >= whole / SMALL_PART && rss_kept(rss)) {
		write_term(out, &between, rss_kept(rss), "kept by glibc", whole, &rest);
		write_kept(out, rss);
	} else {
		rest += rss_kept(rss);
	}
	for (enum rss_part part = RSS_PYTHON; part < RSS_OTHER; part++)
		write_term(out, &between, rss->parts[part], words[part], whole, &rest);
	rest += rss->parts[RSS_OTHER];
	if (rest) {
		fputs(between, out);
		write_amount(out, rest, words[RSS_OTHER]);
	}
	if (rss_has_many_huge(rss)) {
		fputs(", of it ", out);
		write_amount(out, rss->huge, "in huge pages");
	}
	if (rss->swapped && rss->swapped >= whole / SMALL_PART) {
		fputs("; besides, ", out);
		write_amount(out, rss->swapped, "is swapped out");
	}
}

static void write_signed(FILE *out, uint64_t before, uint64_t now)
{
	fputc(now < before ? '-' : '+', out);
	write_amount(out, now < before ? before - now : now - before, "");
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

/*
 * A term of the sum of resident memory. before: its bytes in the first known values; now: in the
 * latest ones.
 */
struct term_change {
	enum rss_part part;
	uint64_t before, now;
};

/*
 * Sorts terms that have grown before terms that have shrunk, and the terms of each kind by the size
 * of the change, largest first.
 */
static int by_growth(const void *left, const void *right)
{
	const struct term_change *a = left, *b = right;

	return ORDER(a->now < a->before, b->now < b->before) ?:
	       ORDER(distance(b->before, b->now), distance(a->before, a->now)) ?:
	       ORDER(a->part, b->part);
}

/* Writes the change of a term; nothing if the change is below 1/SMALL_PART of the whole. */
static void write_term_change(FILE *out, const char **between, const struct term_change *change,
			      uint64_t whole)
{
	if (distance(change->before, change->now) < whole / SMALL_PART ||
	    change->before == change->now)
		return;
	fputs(*between, out);
	*between = ", ";
	fprintf(out, "%s ", change->part == RSS_PINNED ? "kept by glibc" : words[change->part]);
	write_signed(out, change->before, change->now);
}

void rss_write_change(FILE *out, const struct rss *first, const struct rss *rss)
{
	struct term_change changes[RSS_PART_CNT];
	const char *between = ": ";

	for (enum rss_part part = 0; part < RSS_PART_CNT; part++)
		changes[part] =
			(struct term_change){part, rss_term(first, part), rss_term(rss, part)};
	qsort(changes, RSS_PART_CNT, sizeof(*changes), by_growth);
	write_signed(out, rss_total(first), rss_total(rss));
	for (size_t i = 0; i < RSS_PART_CNT; i++)
		if (rss_can_compare(first, rss, changes[i].part))
			write_term_change(out, &between, &changes[i], rss_total(rss));
}

void rss_write_grown(FILE *out, enum rss_part part, uint64_t bytes)
{
	const char *what = part == RSS_LIVE     ? "memory in use in glibc's heap"
			   : part == RSS_PINNED ? "free memory that glibc keeps"
			   : part == RSS_PYTHON ? "free memory that python keeps"
			   : part == RSS_FILES  ? "pages of mapped files"
						: words[part];

	fprintf(out, "%s +", what);
	write_amount(out, bytes, "");
}

/* Writes how much an allocator keeps, unless it is a small part of what all allocators keep. */
static void write_keeper(FILE *out, const char **between, const char *name, uint64_t bytes,
			 const struct rss *rss)
{
	if (!bytes || bytes < rss_all_kept(rss) / KEEPER_PART)
		return;
	fprintf(out, "%s%s keeps ", *between, name);
	*between = " and ";
	write_amount(out, bytes, "");
}

void rss_write_kept(FILE *out, const struct rss *rss)
{
	const char *between = "";

	write_keeper(out, &between, "glibc", rss_kept(rss), rss);
	write_keeper(out, &between, "python", rss->parts[RSS_PYTHON], rss);
	fputs(" that the program has freed", out);
}

/*
 * Returns the bytes that malloc_trim() returns: whole pages of free chunks in all arenas, and the
 * end of the main heap, but not the ends of the heaps of threads.
 */
static uint64_t returnable(const struct rss *rss)
{
	return rss->parts[RSS_TRIMMABLE] + rss->main_top;
}

static void write_advice(FILE *out, const struct rss *rss)
{
	bool has_many_arenas = rss->arenas > MANY_ARENAS;

	if (!rss_is_mostly_kept(rss))
		return;
	rss_write_kept(out, rss);
	fputs(", which is not a leak; ", out);
	if (rss->parts[RSS_PYTHON] > rss_kept(rss))
		fputs("python returns an arena of 1 MiB when all objects in it are freed", out);
	else if (returnable(rss) > rss_kept(rss) / 2)
		fprintf(out, "malloc_trim(0) returns most of it%s",
			has_many_arenas ? ", and with MALLOC_ARENA_MAX=2 glibc keeps less" : "");
	else
		fprintf(out, "%sanother allocator, such as jemalloc, keeps less",
			has_many_arenas ? "MALLOC_ARENA_MAX=2 or " : "");
	fputc('\n', out);
}

/*
 * Returns the class, not written yet, that holds most bytes of blocks from before tracing began;
 * HEAP_CLASSES if all are written.
 */
static size_t next_class(const struct rss *rss, const bool *written)
{
	size_t found = HEAP_CLASSES;

	for (size_t i = 0; i < HEAP_CLASSES; i++)
		if (!written[i] && rss->older[i].bytes &&
		    (found == HEAP_CLASSES || rss->older[i].bytes > rss->older[found].bytes))
			found = i;
	return found;
}

static void write_classes(FILE *out, const struct rss *rss)
{
	bool written[HEAP_CLASSES] = {false};

	for (size_t i = 0; i < CLASSES_MAX; i++) {
		size_t class = next_class(rss, written);

		if (class == HEAP_CLASSES)
			return;
		written[class] = true;
		fputs(i ? ", " : "; by size: ", out);
		write_amount(out, rss->older[class].bytes, "up to ");
		write_amount(out, heap_class_upto(class), "each");
	}
}

/*
 * Writes the line about blocks from before tracing began, unless they are a small part of resident
 * memory. The amount includes blocks that the program allocates while memleak is reading the heap.
 * If an arena changed while it was read (torn_arenas), the amount is an upper bound, which may grow
 * by chance, so its growth is not written.
 */
static void write_older(FILE *out, const struct rss *rss, const struct rss *first)
{
	const struct reach_sum older = rss_older(rss);
	uint64_t before = first && first->has_blocks ? rss_older(first).bytes : older.bytes;

	if (!rss->has_blocks || older.bytes < rss_total(rss) / OLDER_PART)
		return;
	if (rss->torn_arenas)
		fputs("at most ", out);
	write_amount(out, older.bytes, "in ");
	fprintf(out, "%llu blocks are older than this trace", (unsigned long long)older.count);
	if (before > older.bytes || (before < older.bytes && !rss->torn_arenas)) {
		fputs(", ", out);
		write_signed(out, before, older.bytes);
		fputs(" since the start", out);
	}
	write_classes(out, rss);
	fputc('\n', out);
}

/*
 * Writes an upper bound of the memory that allocators other than glibc's keep. If this is not
 * known, says so, but only in the first line about a process.
 */
static void write_others(FILE *out, const struct rss *rss, bool is_first)
{
	const char *name = rss_allocator_name(rss->allocator);
	uint64_t untraced = rss_others_keep(rss);

	if (rss->has_blocks && (rss->outside || !rss->arenas)) {
		if (untraced < rss_total(rss) / SMALL_PART)
			return;
		fprintf(out, "%s keep%s at most ", name ?: "other allocators", name ? "s" : "");
		write_amount(out, untraced, "");
		fputs(": other anonymous memory that is not in traced blocks, but may be in older "
		      "ones\n",
		      out);
	} else if (name && is_first) {
		fprintf(out,
			"memory kept by %s is not known: only a trace of every block shows it\n",
			name);
	} else if (!rss->arenas && is_first) {
		fputs("no glibc heap found: memory kept by other allocators is not known\n", out);
	}
}

void rss_write_line(FILE *out, const struct rss *rss, const struct rss *first)
{
	write_sum(out, rss);
	if (first && distance(rss_total(first), rss_total(rss)) >= rss_total(rss) / SMALL_PART) {
		fputs("; since the start ", out);
		rss_write_change(out, first, rss);
	}
	fputc('\n', out);
	write_older(out, rss, first);
	write_advice(out, rss);
	if (rss->skipped_arenas)
		fprintf(out, "%llu of glibc's arenas cannot be parsed: %s memory is not read\n",
			(unsigned long long)rss->skipped_arenas,
			rss->skipped_arenas == 1 ? "its" : "their");
	else
		write_others(out, rss, !first);
}

void rss_write_process(FILE *out, const char *comm, pid_t pid)
{
	escape_puts(out, comm ?: "?");
	fprintf(out, " (%d)", pid);
}

/* Writes the line about one process in a report of several processes. */
static void write_process_line(FILE *out, const struct process_rss *item)
{
	rss_write_process(out, item->process->comm, item->process->pid);
	fputs(": ", out);
	rss_write_line(out, item->rss, item->first);
}

static void write_sum_line(FILE *out, const struct processes_rss *all)
{
	struct rss first;
	bool has_first;
	struct rss sum = processes_rss_sum(all, &first, &has_first);

	if (all->cnt < all->living)
		fprintf(out, "%zu of ", all->cnt);
	fprintf(out, "%zu processes (the largest: ", all->living);
	rss_write_process(out, all->items[0].process->comm, all->items[0].process->pid);
	fputs(", ", out);
	write_amount(out, rss_total(all->items[0].rss), "");
	fputs("): ", out);
	rss_write_line(out, &sum, has_first ? &first : NULL);
}

void rss_write_lines(const struct text_part *part)
{
	const struct processes_rss *all = &part->report->processes_rss;

	if (part->report->rss)
		rss_write_line(part->out, part->report->rss, part->report->first_rss);
	else if (all->living > RSS_PROCESSES_MAX)
		fprintf(part->out,
			"RSS is not broken down for %zu processes: for one process, use "
			"memleak --rss -p PID\n",
			all->living);
	else if (all->cnt && all->living > LINES_MAX)
		write_sum_line(part->out, all);
	else
		for (size_t i = 0; i < all->cnt; i++)
			write_process_line(part->out, &all->items[i]);
}

void rss_write_pinners(const struct text_part *part)
{
	const struct report *report = part->report;
	const struct rss *rss = report->rss;
	const char *between = "pinned: ";
	bool has_function = false;

	for (size_t i = 0; i < report->pinner_cnt; i++) {
		const struct pinner *pinner = &report->pinners[i];

		if (pinner->bytes < rss->parts[RSS_PINNED] / SMALL_PART)
			break;
		fputs(between, part->out);
		between = ", ";
		has_function = true;
		write_amount(part->out, pinner->bytes, "by ");
		if (pinner->site->site->frame_cnt)
			verdict_write_function(part->out, pinner->site, pinner->site->blamed);
		else
			fputs("an unknown stack", part->out);
	}
	if (rss && rss_pins_matter(rss) &&
	    rss->pinned_by_older >= rss->parts[RSS_PINNED] / SMALL_PART && rss->pinned_by_older) {
		fputs(between, part->out);
		between = ", ";
		write_amount(part->out, rss->pinned_by_older, "by blocks older than this trace");
	}
	if (*between == ',')
		fputs(has_function && !report->by_pin && report_may_advise(report, ADVISED_BY_PIN)
			      ? " (--by pin)\n"
			      : "\n",
		      part->out);
	else if (report->by_pin && !report->has_pinned)
		fputs("what the blocks pin is not known yet: stacks are in order of size\n",
		      part->out);
}

static void write_json_older(struct json_writer *json, const struct rss *rss)
{
	const struct reach_sum sum = rss_older(rss);

	json_begin_object(json, "older");
	json_unsigned(json, "bytes", sum.bytes);
	json_unsigned(json, "count", sum.count);
	json_begin_array(json, "classes");
	for (size_t i = 0; i < HEAP_CLASSES; i++) {
		if (!rss->older[i].count)
			continue;
		json_begin_object(json, NULL);
		json_unsigned(json, "upto_bytes", heap_class_upto(i));
		json_unsigned(json, "bytes", rss->older[i].bytes);
		json_unsigned(json, "count", rss->older[i].count);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

void rss_write_json(struct json_writer *json, const struct rss *rss)
{
	const char *allocator = rss_allocator_name(rss->allocator);

	if (!allocator && rss->arenas)
		allocator = "glibc";
	json_begin_object(json, "memory");
	json_unsigned(json, "rss", rss_total(rss));
	json_unsigned(json, "kept", rss_kept(rss));
	for (enum rss_part part = 0; part < RSS_PART_CNT; part++)
		json_unsigned(json, rss_part_name(part), rss->parts[part]);
	json_unsigned(json, "huge", rss->huge);
	json_unsigned(json, "swapped", rss->swapped);
	json_unsigned(json, "room", rss->room);
	json_unsigned(json, "arenas", rss->arenas);
	json_unsigned(json, "torn_arenas", rss->torn_arenas);
	json_unsigned(json, "skipped_arenas", rss->skipped_arenas);
	json_string(json, "allocator", allocator);
	json_bool(json, "exact", !rss->torn_arenas && !rss->skipped_arenas);
	if (rss->has_blocks) {
		json_unsigned(json, "others_tracked", rss->outside);
		json_unsigned(json, "others_keep_at_most", rss_others_keep(rss));
		json_unsigned(json, "pinned_by_older", rss->pinned_by_older);
		write_json_older(json, rss);
	}
	json_end_object(json);
}

void rss_write_json_report(struct json_writer *json, const struct report *report)
{
	const struct processes_rss *all = &report->processes_rss;

	if (report->rss)
		rss_write_json(json, report->rss);
	if (!all->cnt)
		return;
	json_begin_array(json, "memory_by_process");
	for (size_t i = 0; i < all->cnt; i++) {
		json_begin_object(json, NULL);
		json_write_process(json, all->items[i].process);
		rss_write_json(json, all->items[i].rss);
		json_end_object(json);
	}
	json_end_array(json);
}
