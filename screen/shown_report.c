// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies what the screen shows of a report. The text of each function is made once and shared by
 * all stacks.
 */
#include "screen/shown_report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/hash_map.h"
#include "base/path.h"
#include "report/blame.h"
#include "report/fold.h"
#include "report/trend.h"
#include "sinks/text_facts.h"
#include "sinks/verdict.h"

#define NAME_MOST 100
/* Number of rows that are copied between two calls of breathe(). */
#define ROWS_AT_ONCE 200

struct builder {
	const struct report *report;
	struct shown_report *shown;
	/* key: address of a location; value: the lines of its functions, the innermost first */
	struct hash_map lines;
	/* key: address of a process, module or caller in the report; value: its text */
	struct hash_map names;
	/* key: address of a source path in the report; value: copy of the path */
	struct hash_map files;
	FILE *out; /* stream for composing one text at a time; see take_text() */
	char *buf;
	size_t len;
};

/*
 * Returns a copy of the text that was written to `out` since the previous call; NULL if out of
 * memory.
 */
static const char *take_text(struct builder *b)
{
	const char *ret;

	fputc(0, b->out);
	if (fflush(b->out))
		return NULL;
	/* Most stacks have no notes. */
	ret = *b->buf ? arena_copy(&b->shown->arena, b->buf, b->len) : "";
	rewind(b->out);
	return ret;
}

static void write_function(FILE *out, const struct report *report,
			   const struct sym_location *location, const struct sym_frame *frame)
{
	if (!sym_is_known(frame->symbol)) {
		if (location->addr)
			fprintf(out, "0x%" PRIx64 " ", location->addr);
		text_write_place(out, location);
		return;
	}
	text_write_function(out, frame->symbol, NAME_MOST);
	if (text_has_source(frame)) {
		text_write_short_source(out, frame);
	} else if (sym_is_known(location->module) && !report->snapshot->core) {
		fputc(' ', out);
		text_write_short_module(out, location->known_as ?: location->module);
	}
}

static int add_line(struct builder *b, struct screen_line *line)
{
	struct shown_report *shown = b->shown;

	line->text = take_text(b);
	if (!line->text || array_reserve(&shown->lines, &shown->line_cap, shown->line_cnt + 1))
		return -ENOMEM;
	shown->lines[shown->line_cnt++] = line;
	return 0;
}

static const char *keep_file(struct builder *b, const char *file)
{
	uint64_t key = (uintptr_t)file;
	char *copy = hash_map_get(&b->files, key);

	if (copy)
		return copy;
	copy = arena_copy(&b->shown->arena, file, strlen(file) + 1);
	return copy && !hash_map_set(&b->files, key, copy) ? copy : NULL;
}

/*
 * Returns the lines of the functions at a location, which must have at least one function; NULL if
 * out of memory.
 */
static struct screen_line *lines_of(struct builder *b, const struct sym_location *location)
{
	uint64_t key = (uintptr_t)location;
	struct screen_line *lines = hash_map_get(&b->lines, key);

	if (lines)
		return lines;
	lines = arena_take(&b->shown->arena, location->frame_cnt * sizeof(*lines));
	if (!lines || hash_map_set(&b->lines, key, lines))
		return NULL;
	for (size_t i = 0; i < location->frame_cnt; i++) {
		const struct sym_frame *frame = &location->frames[i];

		lines[i] = (struct screen_line){.line = frame->line};
		if (sym_is_known(frame->file) && frame->line) {
			lines[i].file = keep_file(b, frame->file);
			if (!lines[i].file)
				return NULL;
		}
		write_function(b->out, b->report, location, frame);
		if (add_line(b, &lines[i]))
			return NULL;
	}
	return lines;
}

/*
 * Returns the line for an address of which neither function nor module is known; NULL if out of
 * memory.
 */
static struct screen_line *unknown_line(struct builder *b, uint64_t frame)
{
	struct screen_line *line = arena_take(&b->shown->arena, sizeof(*line));

	if (!line)
		return NULL;
	*line = (struct screen_line){0};
	if (!frame_is_in_file(frame))
		fprintf(b->out, "0x%" PRIx64 " ", frame_addr(frame));
	text_write_place(b->out, NULL);
	return add_line(b, line) ? NULL : line;
}

static bool is_named(const struct sym_location *location)
{
	return location && location->frame_cnt;
}

/* Copies the functions of a stack. Leaves out start-up code, which is alike in all programs. */
static int copy_stack(struct builder *b, const struct report_site *site, struct screen_row *row)
{
	size_t first = site->first_frame, end = fold_start(site), cnt = 0;

	if (first >= site->site->frame_cnt)
		first = 0;
	for (size_t i = first; i < end; i++)
		cnt += is_named(site->locations[i]) ? site->locations[i]->frame_cnt : 1;
	row->lines = arena_take(&b->shown->arena, (cnt + 1) * sizeof(*row->lines));
	if (!row->lines)
		return -ENOMEM;
	for (size_t i = first; i < end; i++) {
		const struct sym_location *location = site->locations[i];
		size_t of_frame = is_named(location) ? location->frame_cnt : 1;
		struct screen_line *lines = is_named(location)
						    ? lines_of(b, location)
						    : unknown_line(b, site->site->frames[i]);

		if (!lines)
			return -ENOMEM;
		if (i == site->blamed.frame)
			row->culprit = row->line_cnt + site->blamed.function;
		for (size_t j = 0; j < of_frame; j++)
			row->lines[row->line_cnt++] = &lines[j];
	}
	if (row->culprit >= row->line_cnt)
		row->culprit = 0;
	row->name = row->line_cnt ? row->lines[row->culprit]->text : "(stack not known)";
	return 0;
}

static int copy_notes(struct builder *b, const struct report_site *site, struct screen_row *row)
{
	const struct text_part part = {b->out, b->report, "", false, LOOK_PLAIN, NULL, false};

	text_write_notes(&part, site);
	if (site->held_by_cnt) {
		fputs("  (held by: ", b->out);
		text_write_chain(b->out, site);
		fputs(")\n", b->out);
	}
	row->notes = take_text(b);
	return row->notes ? 0 : -ENOMEM;
}

/*
 * Returns the text that keep_text() has stored for a process, module or caller; NULL if there is
 * none.
 */
static const char *kept_text(struct builder *b, const void *key)
{
	return hash_map_get(&b->names, (uintptr_t)key);
}

static const char *keep_text(struct builder *b, const void *key)
{
	const char *text = take_text(b);

	if (text && hash_map_set(&b->names, (uintptr_t)key, (void *)text))
		return NULL;
	return text;
}

/*
 * Sets row->caller to the caller of the blamed function, if the line of a verdict would name a
 * caller.
 */
static int copy_caller(struct builder *b, const struct report_site *site, struct screen_row *row)
{
	struct stack_pos pos = site->blamed;
	const struct sym_frame *frame;

	if (pos.frame >= site->site->frame_cnt ||
	    (site->objects && !sym_is_script(site->locations[pos.frame])) ||
	    !blame_next_caller(site, &pos))
		return 0;
	frame = &site->locations[pos.frame]->frames[pos.function];
	row->caller = kept_text(b, frame);
	if (!row->caller) {
		text_write_function(b->out, frame->symbol, NAME_MOST);
		row->caller = keep_text(b, frame);
	}
	return row->caller ? 0 : -ENOMEM;
}

static int copy_owner(struct builder *b, const struct report_site *site, struct screen_row *row)
{
	const struct process *process = site->site->process;
	size_t first = site->first_frame;
	const struct sym_location *location =
		first < site->site->frame_cnt ? site->locations[first] : NULL;
	const char *module = location ? location->module : NULL;

	row->process = site->site->space == SPACE_KERNEL ? "the kernel" : "several processes";
	if (process) {
		row->pid = process->pid;
		row->process = kept_text(b, process);
	}
	if (!row->process) {
		escape_puts(b->out, process->comm ? process->comm : "?");
		fprintf(b->out, " (%d)", process->pid);
		row->process = keep_text(b, process);
	}
	row->module = sym_is_known(module) ? kept_text(b, module) : "(not known)";
	if (!row->module) {
		escape_puts(b->out, path_name(module));
		if (path_name(module) != module)
			text_write_name(b->out, module);
		row->module = keep_text(b, module);
	}
	return row->process && row->module ? 0 : -ENOMEM;
}

static int by_tid(const void *a, const void *b)
{
	const struct screen_thread *one = a, *other = b;

	return one->tid < other->tid ? -1 : one->tid > other->tid;
}

/*
 * Sums up the blocks of a stack by thread. If blocks are sampled, scales the sums up to the totals
 * of the stack.
 */
static int copy_threads(struct builder *b, const struct report_site *site, struct screen_row *row)
{
	struct screen_thread *threads;
	size_t cnt = 0;
	double bytes = 0;

	if (!site->block_cnt)
		return 0;
	threads = arena_take(&b->shown->arena, site->block_cnt * sizeof(*threads));
	if (!threads)
		return -ENOMEM;
	for (size_t i = 0; i < site->block_cnt; i++) {
		threads[i] =
			(struct screen_thread){site->blocks[i].tid, site->blocks[i].size, 1, NAN};
		bytes += (double)site->blocks[i].size;
	}
	qsort(threads, site->block_cnt, sizeof(*threads), by_tid);
	for (size_t i = 0; i < site->block_cnt; i++) {
		if (cnt && threads[cnt - 1].tid == threads[i].tid) {
			threads[cnt - 1].bytes += threads[i].bytes;
			threads[cnt - 1].count++;
		} else {
			threads[cnt++] = threads[i];
		}
	}
	for (size_t i = 0; i < cnt && b->shown->estimated; i++) {
		threads[i].bytes = (uint64_t)((double)threads[i].bytes *
					      ((double)row->bytes / (bytes > 0 ? bytes : 1)));
		threads[i].count = threads[i].count * row->count / site->block_cnt;
	}
	row->threads = threads;
	row->thread_cnt = cnt;
	return 0;
}

/*
 * Stores the outstanding bytes at SPARK_CNT points in time, which are at equal intervals. The last
 * point is the time of the report.
 */
static void make_spark(const struct site_history *history, uint64_t elapsed_ns,
		       uint64_t ret[SPARK_CNT])
{
	size_t at = 0;

	for (size_t i = 0; i < SPARK_CNT; i++) {
		while (at < history->point_cnt &&
		       history->points[at]->elapsed_ns * SPARK_CNT <= elapsed_ns * (i + 1))
			at++;
		ret[i] = at ? history->points[at - 1]->bytes : 0;
	}
	if (history->point_cnt)
		ret[SPARK_CNT - 1] = history->points[history->point_cnt - 1]->bytes;
}

static void copy_past(const struct report *report, const struct report_site *site,
		      struct screen_row *row)
{
	const struct site_history *history = site->history;

	row->bytes_per_s = NAN;
	row->growth = (double)site->growth_bytes;
	if (!history)
		return;
	row->has_past = true;
	row->bytes_per_s = history->trend.bytes_per_s;
	row->tendency = history->trend.tendency;
	row->score = history->trend.score.total;
	row->suspect = report_marks_suspect(report, site);
	make_spark(history, report->snapshot->elapsed_ns, row->spark);
}

static int copy_site(struct builder *b, const struct report_site *site, struct screen_row *row)
{
	int err;

	*row = (struct screen_row){
		.id = site->site->id,
		.bytes = site->site->bytes,
		.count = site->site->count,
		.oldest_ns = site->site->oldest_ns,
		.newest_ns = site->site->newest_ns,
		.runtime_init = site->runtime_init,
		.lost = site->site->reach.lost,
		.definite = site->site->reach.of[REACH_DEFINITE],
	};
	memcpy(row->ages, site->site->ages.count, sizeof(row->ages));
	screen_row_set_median(row);
	copy_past(b->report, site, row);
	err = copy_stack(b, site, row);
	if (!err)
		err = copy_caller(b, site, row);
	if (!err)
		err = copy_notes(b, site, row);
	if (!err)
		err = copy_owner(b, site, row);
	return err ? err : copy_threads(b, site, row);
}

static int copy_texts(struct builder *b)
{
	const struct report *report = b->report;
	const struct text_part part = {b->out, report, "", false, LOOK_PLAIN, NULL, false};
	struct shown_report *shown = b->shown;

	text_write_target(b->out, report);
	shown->target = take_text(b);
	verdict_write_text(&part);
	shown->verdict = take_text(b);
	text_write_facts(&part, false);
	shown->facts = take_text(b);
	return shown->target && shown->verdict && shown->facts ? 0 : -ENOMEM;
}

static void copy_sums(const struct report *report, struct shown_report *shown)
{
	const struct snapshot *snap = report->snapshot;
	size_t most = sizeof(shown->past) / sizeof(shown->past[0]);
	size_t skipped = report->past_cnt > most ? report->past_cnt - most : 0;

	shown->wall_ns = snap->wall_ns;
	shown->elapsed_ns = snap->elapsed_ns;
	shown->bytes = report->bytes;
	shown->count = report->count;
	shown->final = report->final;
	shown->estimated = snap->sampling.mode != SAMPLING_NONE;
	shown->proved = snap->proof && snap->proof->processes > snap->proof->unproved;
	shown->proof_ns = shown->proved ? snap->wall_ns : 0;
	shown->has_threads = report->show_allocs;
	for (size_t i = 0; i < LOSS_CNT; i++) {
		shown->lost += snap->lost[i] > 0;
		shown->lost_events += snap->lost[i];
	}
	for (size_t i = skipped; i < report->past_cnt; i++)
		shown->past[shown->past_cnt++] = report->past[i];
	shown->peak_bytes = report->past_peak_bytes;
	shown->bytes_per_s = report->past_per_s;
}

static int copy(struct builder *b, void (*breathe)(void))
{
	struct shown_report *shown = b->shown;
	int err = copy_texts(b);

	copy_sums(b->report, shown);
	shown->rows = calloc(b->report->site_cnt + 1, sizeof(*shown->rows));
	if (!shown->rows)
		return -ENOMEM;
	for (size_t i = 0; !err && i < b->report->site_cnt; i++) {
		err = copy_site(b, &b->report->sites[i], &shown->rows[shown->row_cnt++]);
		if (breathe && i % ROWS_AT_ONCE == ROWS_AT_ONCE - 1)
			breathe();
	}
	return err;
}

int shown_report__new(const struct report *report, void (*breathe)(void), struct shown_report **ret)
{
	struct builder b = {.report = report, .shown = calloc(1, sizeof(*b.shown))};
	int err = -ENOMEM;

	if (!b.shown)
		return err;
	b.out = open_memstream(&b.buf, &b.len);
	if (b.out) {
		err = copy(&b, breathe);
		fclose(b.out);
	}
	free(b.buf);
	hash_map_deinit(&b.lines);
	hash_map_deinit(&b.names);
	hash_map_deinit(&b.files);
	if (err)
		shown_report__free(b.shown);
	else
		*ret = b.shown;
	return err;
}

void shown_report__free(struct shown_report *shown)
{
	if (!shown)
		return;
	free(shown->rows);
	free(shown->lines);
	arena_deinit(&shown->arena);
	free(shown);
}

static int keep_notes(struct shown_report *shown, struct screen_row *row, const char *before)
{
	const char *held = strstr(before, "  (held by: ");
	char *notes;

	if (!held)
		return 0;
	notes = arena_take(&shown->arena, strlen(row->notes) + strlen(held) + 1);
	if (!notes)
		return -ENOMEM;
	stpcpy(stpcpy(notes, row->notes), held);
	row->notes = notes;
	return 0;
}

int shown_report__keep_proof(struct shown_report *shown, const struct shown_report *before)
{
	struct hash_map rows = {0};
	int err = 0;

	if (shown->proved || !before->proof_ns || shown->wall_ns < before->wall_ns)
		return 0;
	shown->proof_ns = before->proof_ns;
	for (size_t i = 0; !err && i < before->row_cnt; i++)
		if (before->rows[i].definite.count || before->rows[i].lost.count ||
		    strstr(before->rows[i].notes, "  (held by: "))
			err = hash_map_set(&rows, before->rows[i].id, &before->rows[i]);
	for (size_t i = 0; !err && i < shown->row_cnt; i++) {
		struct screen_row *row = &shown->rows[i];
		const struct screen_row *old = hash_map_get(&rows, row->id);

		if (!old)
			continue;
		row->lost = old->lost;
		row->definite = old->definite;
		err = keep_notes(shown, row, old->notes);
	}
	hash_map_deinit(&rows);
	return err;
}

static uint64_t bytes_of_thread(const struct screen_row *row, pid_t tid)
{
	for (size_t i = 0; row && i < row->thread_cnt; i++)
		if (row->threads[i].tid == tid)
			return row->threads[i].bytes;
	return 0;
}

int shown_report__compare_threads(struct shown_report *shown, const struct shown_report *before)
{
	struct hash_map rows = {0};
	int err = 0;

	if (!shown->has_threads || !before->has_threads)
		return 0;
	for (size_t i = 0; !err && i < before->row_cnt; i++)
		err = hash_map_set(&rows, before->rows[i].id, &before->rows[i]);
	for (size_t i = 0; !err && i < shown->row_cnt; i++) {
		const struct screen_row *row = &shown->rows[i];
		const struct screen_row *old = hash_map_get(&rows, row->id);

		for (size_t j = 0; j < row->thread_cnt; j++)
			row->threads[j].change = (double)row->threads[j].bytes -
						 (double)bytes_of_thread(old, row->threads[j].tid);
	}
	hash_map_deinit(&rows);
	return err;
}

/*
 * Estimates an age in an age class. `part` is the share of the class's blocks that are younger.
 * Assumes that the blocks are spread evenly over the ages of the class.
 */
static uint64_t age_within(const struct screen_row *row, size_t class, double part)
{
	uint64_t low = age_class_ns(class), high = row->oldest_ns;

	if (class + 1 < AGE_CLASS_CNT && age_class_ns(class + 1) < high)
		high = age_class_ns(class + 1);
	low = low > row->newest_ns ? low : row->newest_ns;
	return high > low ? low + (uint64_t)((double)(high - low) * part) : high;
}

void screen_row_set_median(struct screen_row *row)
{
	uint64_t cnt = 0, below = 0;
	size_t class = 0;

	for (size_t i = 0; i < AGE_CLASS_CNT; i++)
		cnt += row->ages[i];
	row->median_ns = row->newest_ns == row->oldest_ns ? row->oldest_ns : AGE_UNKNOWN;
	if (!cnt || row->median_ns != AGE_UNKNOWN || row->oldest_ns == AGE_UNKNOWN)
		return;
	while (2 * (below + row->ages[class]) < cnt)
		below += row->ages[class ++];
	row->median_ns = age_within(row, class,
				    ((double)cnt / 2 - (double)below) / (double)row->ages[class]);
}

void short_amount(double bytes, char ret[SHORT_AMOUNT_SIZE])
{
	static const char units[] = " KMGTPE";
	size_t unit = 0;
	double value = fabs(bytes);

	while (value >= 999.5 && units[unit + 1]) {
		value /= 1024;
		unit++;
	}
	snprintf(ret, SHORT_AMOUNT_SIZE, "%s%.*f%.1s", bytes < 0 ? "-" : "",
		 unit && value < 9.995   ? 2
		 : unit && value < 99.95 ? 1
					 : 0,
		 value, unit ? &units[unit] : "");
}

void short_age(uint64_t ns, char ret[SHORT_AMOUNT_SIZE])
{
	uint64_t seconds = ns / 1000000000;

	if (ns == AGE_UNKNOWN)
		snprintf(ret, SHORT_AMOUNT_SIZE, "-");
	else if (seconds < 100)
		snprintf(ret, SHORT_AMOUNT_SIZE, "%" PRIu64 "s", seconds);
	else if (seconds < 6000)
		snprintf(ret, SHORT_AMOUNT_SIZE, "%" PRIu64 "m", seconds / 60);
	else if (seconds < 48 * 3600)
		snprintf(ret, SHORT_AMOUNT_SIZE, "%" PRIu64 "h", seconds / 3600);
	else
		snprintf(ret, SHORT_AMOUNT_SIZE, "%" PRIu64 "d", seconds / 86400);
}
