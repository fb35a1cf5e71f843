// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes parts of reports for people: times, names, frames, and notes in parentheses. */
#include "sinks/text_part.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "report/function_name.h"
#include "sinks/sink.h"

#define NSEC_PER_SEC 1000000000
#define SHOWN_PATH_PARTS 2
/* Maximum bytes of a file's path, and maximum bytes of a function's name with its parameters */
#define PATH_MOST 80
#define SYMBOL_MOST 200

static const char *const group_words[] = {
	[BY_STACK] = "stack",   [BY_PROCESS] = "process", [BY_MODULE] = "module",
	[BY_THREAD] = "thread", [BY_CGROUP] = "cgroup",
};

_Static_assert(sizeof(group_words) / sizeof(group_words[0]) == BY_CNT, "each grouping has a word");

void text_begin_style(const struct text_part *part, enum text_style style)
{
	static const char *const codes[STYLE_CNT] = {
		[STYLE_LOST] = "31", [STYLE_GROWS] = "33",  [STYLE_STEADY] = "1",
		[STYLE_OPEN] = "1",  [STYLE_CULPRIT] = "1", [STYLE_DIM] = "2",
		[STYLE_BOLD] = "1",
	};

	if (part->look == LOOK_COLOUR)
		fprintf(part->out, "\x1b[%sm", codes[style]);
	else if (part->look == LOOK_MARKED)
		fputc(TEXT_MARK_BEGIN + (int)style, part->out);
}

void text_end_style(const struct text_part *part)
{
	if (part->look == LOOK_COLOUR)
		fputs("\x1b[0m", part->out);
	else if (part->look == LOOK_MARKED)
		fputc(TEXT_MARK_END, part->out);
}

void text_write_sign(const struct text_part *part, enum text_style style)
{
	static const char *const signs[STYLE_CNT] = {
		[STYLE_LOST] = "\u2717 ",
		[STYLE_GROWS] = "\u25b2 ",
		[STYLE_STEADY] = "= ",
		[STYLE_OPEN] = "? ",
	};

	if (part->look != LOOK_BCC && part->look != LOOK_UNSIGNED)
		fputs(signs[style], part->out);
}

/* Returns the additional indentation of the lines below a site's line. */
static const char *step_of(enum text_look look)
{
	return look == LOOK_BCC ? "\t" : "    ";
}

void text_begin_line(const struct text_part *part)
{
	if (part->look != LOOK_BCC)
		return;
	fputc('[', part->out);
	text_write_clock(part->out, part->report->snapshot->wall_ns);
	fputs("] ", part->out);
}

const char *text_group_word(enum group_by by)
{
	return group_words[by];
}

const char *text_plural(const char *word)
{
	return word[strlen(word) - 1] == 's' ? "es" : "s";
}

void text_write_count(FILE *out, uint64_t cnt, const char *word)
{
	fprintf(out, "%" PRIu64 " %s%s", cnt, word, cnt == 1 ? "" : text_plural(word));
}

void text_write_more(FILE *out, const char *indent, size_t cnt, const char *word)
{
	fprintf(out, "%s(%zu more %s%s)\n", indent, cnt, word, cnt == 1 ? "" : text_plural(word));
}

void text_amount(double bytes, char ret[AMOUNT_TEXT_SIZE])
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	size_t unit = 0;

	/* Values from 1023.5 on would be rounded to 1024. */
	while (fabs(bytes) >= 1023.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		bytes /= 1024;
		unit++;
	}
	snprintf(ret, AMOUNT_TEXT_SIZE, "%.*f %s", unit && fabs(bytes) < 100 ? 1 : 0, bytes,
		 !unit && fabs(bytes) >= 0.5 && fabs(bytes) < 1.5 ? "byte" : units[unit]);
}

void text_write_bytes(const struct text_part *part, uint64_t bytes)
{
	char text[AMOUNT_TEXT_SIZE];

	if (part->look == LOOK_BCC) {
		text_write_count(part->out, bytes, "byte");
		return;
	}
	text_amount((double)bytes, text);
	fputs(text, part->out);
}

void text_write_blocks(const struct text_part *part, uint64_t count)
{
	text_write_count(part->out, count, part->look == LOOK_BCC ? "allocation" : "block");
}

void text_write_sum(const struct text_part *part, uint64_t bytes, uint64_t count)
{
	text_write_bytes(part, bytes);
	fputs(part->look == LOOK_BCC ? ", " : " in ", part->out);
	text_write_blocks(part, count);
}

void text_write_sums(const struct text_part *part, uint64_t bytes, uint64_t count, size_t site_cnt)
{
	text_write_sum(part, bytes, count);
	fputs(part->look == LOOK_BCC ? ", " : " at ", part->out);
	text_write_count(part->out, site_cnt, "site");
}

bool text_is_of_descriptors(const struct text_part *part)
{
	return part->report && part->report->snapshot->descriptors.are_traced;
}

/* Writes an amount, such as "1.2 MiB", or "3 descriptors" if the report is of descriptors. */
static void write_held(const struct text_part *part, uint64_t bytes)
{
	char text[AMOUNT_TEXT_SIZE];

	if (text_is_of_descriptors(part)) {
		text_write_count(part->out, bytes, "descriptor");
		return;
	}
	text_amount((double)bytes, text);
	fputs(text, part->out);
}

void text_write_change(const struct text_part *part, uint64_t bytes)
{
	if (text_is_of_descriptors(part))
		fprintf(part->out, "%" PRIu64, bytes);
	else
		write_held(part, bytes);
}

void text_write_held_in_blocks(const struct text_part *part, uint64_t bytes, uint64_t count)
{
	text_begin_style(part, STYLE_BOLD);
	write_held(part, bytes);
	text_end_style(part);
	if (text_is_of_descriptors(part))
		return;
	fputs(" in ", part->out);
	text_write_count(part->out, count, "block");
}

void text_write_reach(const struct text_part *part, enum reach reach, const struct reach_sum *sum)
{
	fprintf(part->out, "%s: ", reach_name(reach));
	text_write_bytes(part, sum->bytes);
	fputs(" in ", part->out);
	text_write_count(part->out, sum->count, "block");
}

void text_write_reserved(const struct text_part *part, const struct reserved *reserved)
{
	if (!reserved->sites)
		return;
	fputs("\treserved: ", part->out);
	text_write_sums(part, reserved->bytes, reserved->count, reserved->sites);
	fputs(", of address space that holds no memory (--reserved)\n", part->out);
}

void text_write_clock(FILE *out, int64_t wall_ns)
{
	time_t seconds = wall_ns / NSEC_PER_SEC;
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		fprintf(out, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
	else
		fputs("--:--:--", out);
}

void text_write_seconds(FILE *out, uint64_t ns)
{
	uint64_t tenths = ns / (NSEC_PER_SEC / 10);

	fprintf(out, "%" PRIu64 ".%" PRIu64, tenths / 10, tenths % 10);
}

void text_write_name(FILE *out, const char *name)
{
	fputs(" (", out);
	escape_puts(out, name);
	fputc(')', out);
}

void text_write_error(const struct text_part *part, double bytes_variance, double count_variance)
{
	fputs("standard error ", part->out);
	if (!isnan(bytes_variance)) {
		text_write_bytes(part, estimate_error(bytes_variance));
		fputs(", ", part->out);
	}
	text_write_blocks(part, estimate_error(count_variance));
}

void text_write_lost(FILE *out, const uint64_t *lost, bool can_sample, bool all)
{
	for (size_t i = 0; i < LOSS_CNT; i++) {
		const struct lost_text *text = &lost_texts[i];
		const char *remedy = lost_remedy(i, can_sample);

		if (!lost[i] && !all)
			continue;
		fprintf(out, "\tlost: %" PRIu64 " %s %s", lost[i],
			lost[i] == 1 ? text->one : text->many, text->how);
		if (remedy && lost[i])
			fprintf(out, " (%s)", remedy);
		fputc('\n', out);
	}
}

/* True if the snapshot's sites, shown or not, belong to several processes. */
bool text_several_processes(const struct snapshot *snap)
{
	const struct process *first = NULL;

	for (size_t i = 0; i < snap->site_cnt; i++) {
		const struct process *process = snap->sites[i].process;

		if (!process)
			continue;
		if (first && first->pid != process->pid)
			return true;
		first = process;
	}
	return false;
}

void text_write_of_process(const struct text_part *part, const struct process *process)
{
	if (!part->with_process || !process)
		return;
	fprintf(part->out, " of process %d (", process->pid);
	escape_puts(part->out, process->comm ? process->comm : "?");
	fputc(')', part->out);
}

/*
 * Returns the last `parts` names in a path: folders, and the name of the file. Folders help to
 * distinguish files of the same name.
 */
static const char *path_tail(const char *path, unsigned int parts)
{
	const char *at = path + strlen(path);

	while (at > path) {
		if (at[-1] == '/' && *at && --parts == 0)
			break;
		at--;
	}
	return at;
}

/*
 * Writes the name of a module in brackets, such as "[libc.so.6]". A name such as "[vdso]" already
 * has brackets.
 */
static void write_module(FILE *out, const char *module)
{
	if (*module == '[') {
		escape_puts(out, module);
		return;
	}
	fputc('[', out);
	escape_puts(out, path_tail(module, 1));
	fputc(']', out);
}

/*
 * Returns a copy, to be freed, of the last `parts` names of a path. Cuts the copy to PATH_MOST
 * bytes. Returns NULL if out of memory.
 */
static char *short_path(const char *path, unsigned int parts)
{
	char *ret = strdup(path_tail(path, parts));

	if (ret)
		function_name_cut(ret, PATH_MOST);
	return ret;
}

void text_write_short_module(FILE *out, const char *module)
{
	cleanup_free char *path = short_path(module, 1);

	if (path)
		write_module(out, path);
}

void text_write_place(FILE *out, const struct sym_location *location)
{
	if (location && sym_is_known(location->module)) {
		escape_puts(out, location->known_as ?: path_tail(location->module, 1));
		fprintf(out, "+0x%" PRIx64, location->module_offset);
	} else {
		fputs("[unknown]", out);
	}
}

void text_write_unnamed(FILE *out, uint64_t frame, const struct sym_location *location)
{
	uint64_t addr = frame_address(frame, location);

	/* In generated code, the offset equals the address: text_write_place() writes it. */
	if (addr && (!location || addr != location->module_offset))
		fprintf(out, "0x%" PRIx64 " ", addr);
	text_write_place(out, location);
}

/*
 * True if the report is of a core file: a site is then a class of blocks, with a name instead of a
 * stack.
 */
static bool is_of_core(const struct text_part *part)
{
	return part->report && part->report->snapshot->core;
}

static void write_unnamed(const struct text_part *part, uint64_t frame,
			  const struct sym_location *location)
{
	fprintf(part->out, "%s\t", part->indent);
	text_write_unnamed(part->out, frame, location);
	fputc('\n', part->out);
}

void text_write_source(FILE *out, const struct sym_frame *frame)
{
	if (!sym_is_known(frame->file))
		return;
	fputc(' ', out);
	escape_puts(out, path_tail(frame->file, SHOWN_PATH_PARTS));
	if (frame->line)
		fprintf(out, ":%u", frame->line);
}

bool text_has_source(const struct sym_frame *frame)
{
	struct script_function script;

	return sym_is_known(frame->file) ||
	       (frame->symbol && script_function_of(frame->symbol, &script));
}

void text_write_short_source(FILE *out, const struct sym_frame *frame)
{
	struct script_function script;
	cleanup_free char *path = NULL;
	struct sym_frame place = *frame;

	if (sym_is_known(frame->file)) {
		path = short_path(frame->file, SHOWN_PATH_PARTS);
	} else if (frame->symbol && script_function_of(frame->symbol, &script)) {
		path = strndup(script.path, script.path_len);
		place.line = script.line;
	}
	place.file = path;
	text_write_source(out, &place);
}

static void write_symbol(const struct text_part *part, const char *symbol)
{
	if (!part->short_names || strlen(symbol) <= SYMBOL_MOST)
		escape_puts(part->out, symbol);
	else
		text_write_function(part->out, symbol, SYMBOL_MOST);
}

static void write_frame(const struct text_part *part, uint64_t addr,
			const struct sym_location *location, const struct sym_frame *frame)
{
	FILE *out = part->out;

	if (!sym_is_known(frame->symbol)) {
		write_unnamed(part, addr, location);
		return;
	}
	fprintf(out, "%s\t", part->indent);
	write_symbol(part, frame->symbol);
	if (!frame->inlined && !is_of_core(part))
		fprintf(out, "+0x%" PRIx64, frame->offset);
	text_write_source(out, frame);
	if (sym_is_known(location->module)) {
		fputc(' ', out);
		write_module(out, location->module);
	}
	fputs(frame->inlined ? " (inlined)\n" : "\n", out);
}

/* Writes a name, and frees it. The name may be NULL. */
static void write_name(FILE *out, char *name, size_t max)
{
	if (!name)
		return;
	function_name_cut(name, max);
	escape_puts(out, name);
	free(name);
}

void text_write_function(FILE *out, const char *symbol, size_t max)
{
	write_name(out, function_name_short(symbol), max);
}

void text_write_template(FILE *out, const char *symbol, size_t max)
{
	write_name(out, function_name_template(symbol) ?: function_name_short(symbol), max);
}

void text_write_no_stack(const struct text_part *part)
{
	fprintf(part->out, "%s%s(stack not known%s)\n", part->indent, step_of(part->look),
		part->report && part->report->snapshot->lost[LOSS_STACKS_FULL]
			? ": the stack table was full, raise --max-memory or --stack-storage-size"
			: "");
}

void text_write_stack(const struct text_part *part, const struct report_site *shown)
{
	const struct site *site = shown->site;

	if (!site->frame_cnt)
		text_write_no_stack(part);
	for (size_t i = shown->first_frame; i < site->frame_cnt; i++) {
		const struct sym_location *location = shown->locations[i];

		if (!location || !location->frame_cnt)
			write_unnamed(part, site->frames[i], location);
		for (size_t j = 0; location && j < location->frame_cnt; j++)
			write_frame(part, site->frames[i], location, &location->frames[j]);
	}
}

static const char *kind_words(enum block_kind kind)
{
	switch (kind) {
	case KIND_HEAP:
	case KIND_DESCRIPTOR:
		return NULL;
	case KIND_RESERVE:
		return "mmap, reserved address space";
	case KIND_STACK:
		return "thread stack";
	case KIND_PERCPU:
		return "percpu, the size of one copy";
	default:
		return kind_name(kind);
	}
}

static void write_ages(FILE *out, const struct site *site)
{
	if (site->oldest_ns == AGE_UNKNOWN || site->newest_ns == AGE_UNKNOWN)
		return;
	fputs("; ", out);
	if (site->newest_ns / (NSEC_PER_SEC / 10) != site->oldest_ns / (NSEC_PER_SEC / 10)) {
		text_write_seconds(out, site->newest_ns);
		fputs(" to ", out);
	}
	text_write_seconds(out, site->oldest_ns);
	fputs(" s old", out);
}

/*
 * True if the change of a site's size has to be written. The change of a new site is its whole
 * size, which the site's first line shows already.
 */
static bool has_grown(const struct site *site, int64_t bytes, int64_t count)
{
	if (!bytes && !count)
		return false;
	return (uint64_t)bytes != site->bytes || (uint64_t)count != site->count;
}

/*
 * A line of notes in parentheses, which is written note by note; if there are none, no line is
 * written.
 */
struct note {
	FILE *out;
	const char *indent;
	/* text between the previous note and the next; NULL before the first note */
	const char *before;
	enum text_look look;
	bool of_descriptors;
};

static struct note note_of(const struct text_part *part)
{
	return (struct note){
		.out = part->out,
		.indent = part->indent,
		.look = part->look,
		.of_descriptors = text_is_of_descriptors(part),
	};
}

static void note_begin(struct note *note)
{
	if (note->before)
		fputs(note->before, note->out);
	else
		fprintf(note->out, "%s%s(", note->indent, step_of(note->look));
	note->before = "; ";
}

static void note_bytes(const struct note *note, uint64_t bytes)
{
	char text[AMOUNT_TEXT_SIZE];

	if (note->look == LOOK_BCC) {
		fprintf(note->out, "%" PRIu64 " bytes", bytes);
		return;
	}
	text_amount((double)bytes, text);
	fputs(text, note->out);
}

/* Writes a number of blocks; in bcc's format, they are called allocations. */
static void note_count(const struct note *note, uint64_t cnt)
{
	if (note->look == LOOK_BCC)
		fprintf(note->out, "%" PRIu64 " allocations", cnt);
	else
		text_write_count(note->out, cnt, "block");
}

static void note_name(struct note *note, const char *name)
{
	escape_puts(note->out, name ? name : "?");
}

static void write_end(struct note *note, enum stack_end end)
{
	static const char *const words[STACK_END_CNT] = {
		[STACK_END_TRUNCATED] = "outer frames cut, see --perf-max-stack-depth",
		[STACK_END_NO_CODE] = "outer frames not known: no code at the return address",
		[STACK_END_NO_RULE] = "outer frames not known: code without unwind information",
		[STACK_END_READ] = "outer frames not known: stack memory cannot be read",
	};

	if (!words[end])
		return;
	note_begin(note);
	fputs(words[end], note->out);
}

void text_write_end(const struct text_part *part, enum stack_end end)
{
	struct note note = note_of(part);

	write_end(&note, end);
	if (note.before)
		fputs(")\n", part->out);
}

/*
 * Writes notes on kernel memory: the slab cache, whether the kernel can reclaim the memory, frees
 * that were not seen, and the process that allocated it.
 */
static void write_origin(struct note *note, const struct site *site)
{
	const struct site_origin *origin = &site->origin;

	if (origin->cache) {
		fputc(' ', note->out);
		note_name(note, origin->cache);
		if (origin->several_caches)
			fputs(" and others", note->out);
	}
	if (origin->reclaimable)
		fputs(", reclaimable", note->out);
	if (origin->unseen_frees > site->count / 2) {
		note_begin(note);
		fprintf(note->out, "up to %" PRIu64 " freed unseen", origin->unseen_frees);
	}
	if (origin->interrupt) {
		note_begin(note);
		fputs("in interrupts", note->out);
	} else if (origin->owner_comm && origin->several_pids) {
		note_begin(note);
		fprintf(note->out, "most by pid %d ", origin->owner_pid);
		note_name(note, origin->owner_comm);
	} else if (!site->process && origin->last_comm) {
		note_begin(note);
		fprintf(note->out, "last by pid %d ", origin->last_pid);
		note_name(note, origin->last_comm);
		if (origin->several_pids)
			fputs(", others before", note->out);
	}
}

/* Writes the note on memory that a forked child has inherited from its parent. */
static void write_inherited(struct note *note, const struct site *site)
{
	if (!site->inherited_count)
		return;
	note_begin(note);
	fputs("inherited", note->out);
	if (site->inherited_count == site->count)
		return;
	fputs(": ", note->out);
	note_bytes(note, site->inherited_bytes);
	fputs(" in ", note->out);
	note_count(note, site->inherited_count);
}

static void write_growth(struct note *note, const struct site *site, int64_t bytes, int64_t count)
{
	if (!has_grown(site, bytes, count))
		return;
	note_begin(note);
	if (note->look == LOOK_BCC) {
		fprintf(note->out, "%+" PRId64 " bytes in %+" PRId64 " allocations", bytes, count);
	} else if (note->of_descriptors) {
		fprintf(note->out, "%+" PRId64 " descriptor%s", count,
			count == 1 || count == -1 ? "" : "s");
	} else {
		fputs(bytes < 0 ? "-" : "+", note->out);
		note_bytes(note, bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes);
		fprintf(note->out, " in %+" PRId64 " block%s", count,
			count == 1 || count == -1 ? "" : "s");
	}
	fputs(" since the last report", note->out);
}

static void write_sampled(struct note *note, const struct text_part *part, const struct site *site)
{
	if (part->report->snapshot->sampling.mode == SAMPLING_NONE)
		return;
	note_begin(note);
	text_write_error(part, site->bytes_variance, site->count_variance);
}

/*
 * Writes notes on the blocks that a proof found definite, indirect or possible, but not on
 * reachable blocks.
 */
static void write_reach(struct note *note, const struct site_reach *reach)
{
	for (size_t i = 0; i < REACH_REACHABLE; i++) {
		if (!reach->of[i].count)
			continue;
		note_begin(note);
		fprintf(note->out, "%s: ", reach_name(i));
		note_bytes(note, reach->of[i].bytes);
		fputs(" in ", note->out);
		text_write_count(note->out, reach->of[i].count, "block");
	}
}

/*
 * Adds the ages of the site's blocks to the notes, and ends the line. If there are no notes, writes
 * nothing.
 */
static void note_end(struct note *note, const struct site *site)
{
	if (!note->before)
		return;
	write_ages(note->out, site);
	fputs(")\n", note->out);
}

/* Writes the line of notes on a site. The original bcc tool has no such line. */
void text_write_notes(const struct text_part *part, const struct report_site *shown)
{
	const struct site *site = shown->site;
	const char *kind = kind_words(site->kind);
	struct note note = note_of(part);

	if (part->with_process && site->process) {
		note_begin(&note);
		fprintf(part->out, "pid %d ", site->process->pid);
		note_name(&note, site->process->comm);
	}
	if (kind) {
		note_begin(&note);
		fputs(kind, part->out);
	}
	if (site->space == SPACE_KERNEL)
		write_origin(&note, site);
	write_inherited(&note, site);
	write_growth(&note, site, shown->growth_bytes, shown->growth_count);
	write_sampled(&note, part, site);
	write_reach(&note, &site->reach);
	write_end(&note, site->end);
	note_end(&note, site);
}

void text_write_chain(FILE *out, const struct report_site *shown)
{
	for (size_t i = 0; i < shown->held_by_cnt; i++) {
		if (i)
			fputs(" -> ", out);
		escape_puts(out, shown->held_by[i]);
	}
}

static void write_held_by(const struct text_part *part, const struct report_site *shown)
{
	if (!shown->held_by_cnt)
		return;
	fprintf(part->out, "%s%s(held by: ", part->indent, step_of(part->look));
	text_write_chain(part->out, shown);
	fputs(")\n", part->out);
}

/*
 * Writes why a site seems to leak, or does not: for each condition, the value found and the limit.
 */
static void write_why(const struct text_part *part, const struct site_history *history)
{
	const struct reasons *reasons = &history->trend.reasons;
	FILE *out = part->out;

	fprintf(out, "%s%s(why: ", part->indent, step_of(part->look));
	if (history->trend.score.older_ns)
		fprintf(out, "blocks older than %" PRIu64 " s, ",
			history->trend.score.older_ns / NSEC_PER_SEC);
	fprintf(out,
		"in %" PRIu64 " s: trend at %.1f %% (95), %" PRIu32 " new maxima (3; in steps 5), ",
		reasons->window_ns / NSEC_PER_SEC, 100 * reasons->confidence, reasons->rises);
	fprintf(out, "recent rate %.2f of the earlier one (minimum 0.2), ", reasons->lately);
	fputc(reasons->gained_bytes < 0 ? '-' : '+', out);
	text_write_bytes(part, reasons->gained_bytes < 0 ? -(uint64_t)reasons->gained_bytes
							 : (uint64_t)reasons->gained_bytes);
	fprintf(out, " in %+" PRId64 " blocks, ", reasons->gained);
	fprintf(out, "%" PRIu64 " freed (at most %.1f): %s%s", reasons->freed, reasons->freed_most,
		reasons->objection ? "no leak, " : "a leak", objection_words(reasons->objection));
	if (history->trend.score.total > 0)
		fprintf(out, ", score %.2f", history->trend.score.total);
	fputs(")\n", out);
}

static void write_site_sums(const struct text_part *part, const struct report_site *shown)
{
	const struct site *site = shown->site;

	if (part->look == LOOK_BCC) {
		fprintf(part->out, "%s%" PRIu64 " bytes in %" PRIu64 " allocations %s\n",
			part->indent, site->bytes, site->count,
			is_of_core(part) ? "of the sort" : "from stack");
		return;
	}
	fputs(part->indent, part->out);
	text_write_held_in_blocks(part, site->bytes, site->count);
	if (part->report && (part->report->pinner_cnt || part->report->by_pin) &&
	    site->pinned_bytes) {
		char pinned[AMOUNT_TEXT_SIZE];

		text_amount((double)site->pinned_bytes, pinned);
		fprintf(part->out, ", pins %s", pinned);
	}
	if (shown->depth_cnt)
		fprintf(part->out,
			", the sum of %zu listed stacks that differ in recursion depth alone",
			shown->depth_cnt);
	fputs(is_of_core(part) ? " of the sort\n" : "\n", part->out);
}

void text_write_site(const struct text_part *part, const struct report_site *shown)
{
	write_site_sums(part, shown);
	if (part->look == LOOK_BCC || is_of_core(part))
		text_write_stack(part, shown);
	else
		text_write_folded_stack(part, shown);
	text_write_notes(part, shown);
	write_held_by(part, shown);
	if (part->report && part->report->show_why && shown->history)
		write_why(part, shown->history);
}

void text_write_group_notes(const struct text_part *part, const struct report_group *group)
{
	struct note note = note_of(part);

	write_growth(&note, group->sum, group->growth_bytes, group->growth_count);
	write_sampled(&note, part, group->sum);
	write_reach(&note, &group->sum->reach);
	note_end(&note, group->sum);
}
