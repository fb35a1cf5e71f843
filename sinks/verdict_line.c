// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the line of a suspect or of a proven loss, with as many details as fit into the line. */
#include "sinks/verdict_line.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/path.h"
#include "report/blame.h"
#include "report/function_name.h"
#include "report/pools.h"
#include "report/runtime_objects.h"
#include "sinks/python_line.h"

#define NSEC_PER_SEC 1000000000
#define NSEC_PER_MSEC 1000000

/*
 * Maximum bytes of a line, without the newline. A line may be longer if it does not even fit with
 * names of NAME_LEAST bytes.
 */
#define WIDTH 120

/*
 * If growth has slowed by more than this fraction, a line has the recent rate, instead of a word
 * for how the site grows.
 */
#define MUCH_SLOWER 0.5

#define NAME_MOST 60
#define NAME_LEAST 20

/* The details that a line has. */
struct detail {
	/* maximum number of callers of the blamed function that are named */
	unsigned int callers;
	bool blocks;
	bool manner;     /* true if the line says how the site grows */
	size_t name_max; /* maximum bytes of a name */
};

/*
 * Sets of details, in the order in which they are tried until the line fits. The nearest caller is
 * left out last, because it says more than the counts of blocks. If no set fits, names are cut more
 * and more.
 */
static const struct detail details[] = {
	{2, true, true, SIZE_MAX},   {1, true, true, SIZE_MAX}, {1, false, true, SIZE_MAX},
	{1, false, false, SIZE_MAX}, {0, true, true, SIZE_MAX}, {0, false, true, SIZE_MAX},
	{0, false, false, SIZE_MAX},
};

static void write_amount(FILE *out, double bytes)
{
	char text[AMOUNT_TEXT_SIZE];

	text_amount(bytes, text);
	fputs(text, out);
}

static void write_span(FILE *out, uint64_t ns)
{
	if (ns < NSEC_PER_SEC)
		fprintf(out, "%" PRIu64 " ms", ns / NSEC_PER_MSEC);
	else
		fprintf(out, "%" PRIu64 " s", ns / NSEC_PER_SEC);
}

static void write_blocks(FILE *out, const struct text_part *part, const struct suspect *suspect)
{
	const struct site_history *history = suspect->site->history;
	const char *words = text_is_of_descriptors(part) ? "descriptors closed" : "blocks freed";

	if (!suspect->seen)
		return;
	if (!suspect->freed && suspect->seen == 1) {
		fputs(text_is_of_descriptors(part) ? "; its one descriptor was not closed"
						   : "; its one block was not freed",
		      out);
		return;
	}
	if (!suspect->freed) {
		fprintf(out, "; none of %" PRIu64 " %s", suspect->seen, words);
		return;
	}
	fprintf(out, "; %" PRIu64 " of %" PRIu64 " %s", suspect->freed, suspect->seen, words);
	if (!history->trend.score.older_ns)
		return;
	fputs(", but those older than ", out);
	write_span(out, history->trend.score.older_ns);
	fputs(" stay", out);
}

/* Returns in words how a suspect grows; "" for a tendency that no suspect can have. */
static const char *manner_of(enum tendency tendency)
{
	switch (tendency) {
	case TENDENCY_STEADY:
		return "steadily";
	case TENDENCY_STEPS:
		return "in steps";
	case TENDENCY_UNKNOWN:
	case TENDENCY_FLAT:
	case TENDENCY_LEVELLED:
	case TENDENCY_SHRINKS:
	case TENDENCY_CNT:
		break;
	}
	return "";
}

/*
 * State for writing the blamed function and its callers. Only the first function whose source is
 * known is written with its file and line.
 */
struct row {
	FILE *out;
	unsigned int cnt;
	bool has_source;
	/* true if a template function is written by the name that all its instances share */
	bool has_instances;
	size_t name_max;
};

static const struct sym_frame *frame_of(const struct sym_location *location, size_t function)
{
	return location && location->frame_cnt ? &location->frames[function] : NULL;
}

static void write_function(struct row *row, const struct sym_location *location, size_t function)
{
	const struct sym_frame *frame = frame_of(location, function);

	row->cnt++;
	if (!frame || !sym_is_known(frame->symbol)) {
		text_write_place(row->out, location);
		return;
	}
	if (row->has_instances)
		text_write_template(row->out, frame->symbol, row->name_max);
	else
		text_write_function(row->out, frame->symbol, row->name_max);
	if (row->has_source)
		return;
	text_write_short_source(row->out, frame);
	row->has_source = text_has_source(frame);
}

void verdict_write_function(FILE *out, const struct report_site *site, struct stack_pos pos)
{
	struct row row = {.out = out, .name_max = NAME_MOST};

	write_function(&row, site->locations[pos.frame], pos.function);
}

/* Writes callers of the blamed function, the nearest first, until `most` callers are written. */
static void write_callers(struct row *row, const struct report_site *shown, unsigned int most)
{
	struct stack_pos pos = shown->blamed;

	while (row->cnt <= most && blame_next_caller(shown, &pos)) {
		fputs(row->cnt == 1 ? ", called by " : " < ", row->out);
		write_function(row, shown->locations[pos.frame], pos.function);
	}
}

/*
 * Writes the library function that the blamed function called. If the library function has no name,
 * writes its module.
 */
static void write_call(FILE *out, const struct report_site *shown, size_t name_max)
{
	const struct sym_location *location = shown->locations[shown->through.frame];
	const struct sym_frame *frame = frame_of(location, shown->through.function);

	if (frame && sym_is_known(frame->symbol))
		text_write_function(out, frame->symbol, name_max);
	else
		escape_puts(out, path_name(location->module));
}

/*
 * Returns the maximum number of callers that are named. If the suspect stands for several instances
 * of a template, only the nearest caller may be named, and only if all instances share it.
 */
static unsigned int callers_shown(const struct suspect *suspect, const struct detail *detail)
{
	if (!suspect->has_instances)
		return detail->callers;
	return detail->callers && !suspect->has_other_callers;
}

/*
 * Writes who holds the memory: the blamed function or, for memory of a language runtime, the kind
 * of its objects. Adds the library function that the blamed function called, the callers, the
 * thread and the process, if they are to be shown. If any of these is added, ends with a comma.
 */
static void write_owner(FILE *out, const struct text_part *part, const struct suspect *suspect,
			const struct detail *detail)
{
	const struct report_site *shown = suspect->site;
	const struct site *site = shown->site;
	struct row row = {
		.out = out, .has_instances = suspect->has_instances, .name_max = detail->name_max};

	if (shown->objects) {
		fputs(shown->objects->words, out);
	} else if (shown->chunks.function == POOL_UNKNOWN) {
		fputs("a pool", out);
	} else if (site->frame_cnt) {
		write_function(&row, shown->locations[shown->blamed.frame], shown->blamed.function);
		if (shown->has_through) {
			fputs(", through ", out);
			write_call(out, shown, detail->name_max);
		}
		write_callers(&row, shown, callers_shown(suspect, detail));
	} else {
		fputs("an unknown stack", out);
	}
	if (site->tid)
		fprintf(out, ", of thread %d", site->tid);
	if (site->space == SPACE_USER && part->with_process && site->process) {
		if (suspect->process_cnt > 1)
			fprintf(out, ", of %zu processes (", suspect->process_cnt);
		else
			fprintf(out, ", of process %d (", site->process->pid);
		escape_puts(out, site->process->comm ? site->process->comm : "?");
		fputs(suspect->has_other_names ? " and others)," : "),", out);
	} else if (site->tid || row.cnt > 1 || (shown->has_through && !shown->objects)) {
		fputc(',', out);
	}
}

bool verdict_is_part(const struct report *report, const struct suspect *suspect)
{
	const struct pool *pool = report->unclear;

	return pool && suspect->site->objects == pool->objects &&
	       suspect->site->site->process == pool->sum.process;
}

/* A suspect or a loss, and the function that writes the line about it. */
struct verdict_line {
	const void *what;
	enum text_style style;
	void (*write)(FILE *out, const struct text_part *part, const struct verdict_line *verdict,
		      const struct detail *detail);
};

/*
 * Writes the script line that ran most often when the runtime extended its pools. This line need
 * not be the one that leaks: a pool grows in steps of 1 MiB, and the step is charged to the line
 * that needed memory when the pool was full.
 */
static void write_steps(FILE *out, const struct report_site *shown,
			const struct sym_location *location, size_t name_max)
{
	const struct sym_frame *frame = &location->frames[shown->blamed.function];

	fputs("; most steps of 1 MiB were taken at ", out);
	text_write_function(out, frame->symbol, name_max);
	text_write_source(out, frame);
	fputs(", which may not be the line that leaks (PYTHONMALLOC=malloc shows more)", out);
}

/* True if a shown stack of the report has a frame of a script. */
static bool has_script(const struct report *report)
{
	for (size_t i = 0; i < report->site_cnt; i++) {
		const struct report_site *shown = &report->sites[i];

		for (size_t j = 0; j < shown->site->frame_cnt; j++)
			if (sym_is_script(shown->locations[j]))
				return true;
	}
	return false;
}

static const char *advice_of(const struct report *report, const struct runtime_objects *objects,
			     bool in_pools)
{
	const char *lineless = in_pools ? objects->lineless_advice : objects->lineless_block_advice;

	if (lineless && !has_script(report))
		return lineless;
	return in_pools || !objects->advises_only_pools ? objects->advice : NULL;
}

static void write_meanwhile(FILE *out, const struct report *report, const struct detail *detail)
{
	fputs("; meanwhile ", out);
	python_write_growth(out, report, detail->name_max);
}

static void write_advice(FILE *out, const struct report *report, const struct suspect *suspect,
			 const struct detail *detail)
{
	const struct runtime_objects *objects = suspect->site->objects;
	const struct report_site *shown = suspect->site;
	const struct sym_location *blamed =
		shown->site->frame_cnt ? shown->locations[shown->blamed.frame] : NULL;
	const char *advice = advice_of(report, objects, suspect->in_pools);

	if (suspect->in_pools && python_names_growth(report) &&
	    !strcmp(objects->runtime, "python")) {
		write_meanwhile(out, report, detail);
	} else if (suspect->in_pools && sym_is_script(blamed)) {
		write_steps(out, shown, blamed, detail->name_max);
	} else if (advice) {
		fprintf(out, "; %s", advice);
	}
}

/*
 * Returns the pid of the process for which the kernel holds the memory. Returns 0 for user memory,
 * or if the process is not known.
 */
static pid_t kernel_owner_of(const struct suspect *suspect)
{
	const struct site *site = suspect->site->site;

	if (site->space != SPACE_KERNEL)
		return 0;
	return site->process ? site->process->pid : site->origin.owner_pid;
}

static void write_kernel_owner(FILE *out, const struct suspect *suspect)
{
	const struct site *site = suspect->site->site;
	const char *comm = site->process ? site->process->comm : site->origin.owner_comm;
	pid_t pid = kernel_owner_of(suspect);

	if (!pid)
		return;
	fputs(" for ", out);
	escape_puts(out, comm ?: "?");
	fprintf(out, " (pid %d)", pid);
	if (suspect->process_cnt > 1 || suspect->has_other_owners)
		fputs(" and others", out);
}

static bool slows_down(const struct suspect *suspect)
{
	return suspect->slowed_per_s > MUCH_SLOWER * suspect->bytes_per_s;
}

static void write_rate(FILE *out, const struct suspect *suspect, bool is_part)
{
	fputs(suspect->site->objects ? " grow " : " grows ", out);
	if (is_part)
		fputs("at least ", out);
	write_amount(out, suspect->bytes_per_s);
	fputs("/s", out);
	if (slows_down(suspect)) {
		fputs(" (lately ", out);
		write_amount(out, suspect->bytes_per_s - suspect->slowed_per_s);
		fputs("/s)", out);
	}
	if (suspect->site->site->kind == KIND_STACK)
		fputs(" in thread stacks", out);
	write_kernel_owner(out, suspect);
}

static void write_descriptor_rate(FILE *out, double per_s)
{
	fprintf(out, " grows by %.*f descriptors/s", per_s < 10 ? 1 : 0, per_s);
}

/* Writes the size of a pool's chunks, and a caller if the pool's function is not known. */
static void write_chunks(FILE *out, const struct report_site *shown, size_t name_max)
{
	struct row row = {.out = out, .name_max = name_max};

	fputs(" (chunks of ", out);
	write_amount(out, (double)shown->chunks.bytes);
	fprintf(out, " from %zu callers", shown->chunks.callers);
	if (shown->chunks.function == POOL_UNKNOWN) {
		fputs(", such as ", out);
		write_function(&row, shown->locations[shown->blamed.frame], shown->blamed.function);
	}
	fputc(')', out);
}

static void write_line(FILE *out, const struct text_part *part, const struct verdict_line *verdict,
		       const struct detail *detail)
{
	const struct suspect *suspect = verdict->what;
	const struct trend *trend = &suspect->site->history->trend;
	bool is_part = verdict_is_part(part->report, suspect);
	bool has_filler =
		suspect->site->chunks.bytes && suspect->site->chunks.function != POOL_UNKNOWN;

	if (has_filler)
		fputs("the pool that ", out);
	write_owner(out, part, suspect, detail);
	if (has_filler)
		fputs(" fills", out);
	if (text_is_of_descriptors(part))
		write_descriptor_rate(out, suspect->bytes_per_s);
	else
		write_rate(out, suspect, is_part);
	if (detail->manner && !slows_down(suspect))
		fprintf(out, ", %s", manner_of(trend->tendency));
	fprintf(out, " for %" PRIu64 " s", suspect->since_ns / NSEC_PER_SEC);
	if (suspect->site->chunks.bytes)
		write_chunks(out, suspect->site, detail->name_max);
	else if (suspect->path_cnt > 1 && !suspect->site->objects)
		fprintf(out, ", %zu paths", suspect->path_cnt);
	if (suspect->site->objects && suspect->holder) {
		fputs(", held by ", out);
		escape_puts(out, suspect->holder);
		return;
	}
	if (suspect->site->objects) {
		write_advice(out, part->report, suspect, detail);
		return;
	}
	if (suspect->site->held_by_cnt) {
		fputs(", held by ", out);
		escape_puts(out, suspect->site->held_by[0]);
	}
	if (suspect->may_be_reused)
		write_meanwhile(out, part->report, detail);
	else if (detail->blocks)
		write_blocks(out, part, suspect);
}

/*
 * Returns the line of a suspect or loss with the given details, to be freed; NULL if out of memory.
 */
static char *line_of(const struct text_part *part, const struct verdict_line *verdict,
		     const struct detail *detail)
{
	char *line = NULL;
	size_t len;
	FILE *out = open_memstream(&line, &len);
	struct text_part inner = *part;

	if (!out)
		return NULL;
	inner.out = out;
	text_begin_line(&inner);
	verdict->write(out, &inner, verdict, detail);
	fclose(out);
	return line;
}

void verdict_write_undecided(const struct text_part *part)
{
	size_t cnt = part->report->undecided;

	text_begin_line(part);
	fprintf(part->out, "not known yet whether %zu site%s: other blocks are freed as fast\n",
		cnt, cnt == 1 ? " leaks" : "s leak");
}

void verdict_write_pending(const struct text_part *part)
{
	size_t cnt = part->report->pending, freed_cnt = part->report->pending_freed;

	text_begin_line(part);
	fprintf(part->out, "not known yet whether %zu site%s: %s\n", cnt,
		cnt == 1 ? " leaks" : "s leak",
		freed_cnt < cnt ? "the next step of growth may still come"
		: cnt == 1      ? "it grows, although many of its blocks are freed"
				: "they grow, although many of their blocks are freed");
}

void verdict_write_settling(const struct text_part *part, const struct report_site *path)
{
	uint64_t since_s = path->history->trend.since_ns / NSEC_PER_SEC;
	double slight = objects_slight_gain(path->history, part->report->bytes);
	char amount[AMOUNT_TEXT_SIZE];

	text_amount(slight, amount);
	text_begin_line(part);
	fprintf(part->out, "not known yet whether %s", path->objects->words);
	text_write_of_process(part, path->site->process);
	fputs(" grow: ", part->out);
	if (since_s < TREND_LEAST_S)
		fprintf(part->out, "they have grown for only %" PRIu64 " s\n", since_s);
	else if (slight > 0)
		fprintf(part->out, "they have grown by only %s\n", amount);
	else
		fputs("the process may still be starting\n", part->out);
}

/*
 * Returns the free bytes in pools of Python if they are at least half of the pool's bytes; else 0.
 * With several processes, it is not known which of them has the free memory.
 */
static uint64_t mostly_free(const struct report *report, const struct pool *pool)
{
	uint64_t bytes = report->latest_rss.parts[RSS_PYTHON];

	if (!bytes || bytes < pool->sum.bytes / 2 || snapshot_living(report->snapshot) > 1 ||
	    strcmp(pool->objects->runtime, "python") != 0)
		return 0;
	return bytes;
}

void verdict_write_unclear(const struct text_part *part, const struct pool *pool)
{
	const char *advice = advice_of(part->report, pool->objects, true);
	uint64_t free_bytes = mostly_free(part->report, pool);

	text_begin_line(part);
	fprintf(part->out, "not known yet %s %s",
		python_names_growth(part->report) ? "how fast" : "whether", pool->objects->words);
	text_write_of_process(part, pool->sum.process);
	fputs(" grow: they have taken memory in steps of ", part->out);
	write_amount(part->out, (double)pool->step_bytes);
	if (free_bytes) {
		fputs(", but ", part->out);
		write_amount(part->out, (double)free_bytes);
		fputs(" in python's pools is free", part->out);
	} else if (advice && !part->report->suspect_cnt) {
		/* If there is a suspect, its line already has the advice. */
		fprintf(part->out, "; %s", advice);
	}
	fputc('\n', part->out);
}

static void write_reach(FILE *out, const struct reach_sum *sum, const char *word)
{
	fprintf(out, "%" PRIu64 " %s (", sum->count, word);
	write_amount(out, (double)sum->bytes);
	fputc(')', out);
}

static void write_loss(FILE *out, const struct text_part *part, const struct verdict_line *verdict,
		       const struct detail *detail)
{
	const struct proven_loss *loss = verdict->what;
	const struct suspect owner = {.site = loss->site,
				      .has_instances = loss->has_instances,
				      .has_other_callers = loss->has_other_callers,
				      .has_other_names = loss->has_other_names,
				      .process_cnt = loss->process_cnt};
	bool is_one = loss->lost.count == 1;

	write_owner(out, part, &owner, detail);
	fputs(" has lost ", out);
	write_reach(out, &loss->lost, is_one ? "block" : "blocks");
	if (loss->hanging.count) {
		fputs(is_one ? ", and with it " : ", and with them ", out);
		write_reach(out, &loss->hanging, "more");
	}
	if (detail->manner && loss->for_ns >= NSEC_PER_SEC) {
		fputs(", for ", out);
		write_span(out, loss->for_ns);
	}
	if (loss->per_s > 0)
		fprintf(out, "; +%.*f/s", loss->per_s < 10 ? 1 : 0, loss->per_s);
	if (detail->blocks && loss->path_cnt > 1)
		fprintf(out, ", %zu paths", loss->path_cnt);
}

/*
 * Returns the line of a suspect or loss with as many details as fit, to be freed; NULL if out of
 * memory. If possible, it has at most WIDTH - `taken` bytes: the caller writes `taken` bytes before
 * it.
 */
static char *fit_line(const struct text_part *part, const struct verdict_line *verdict,
		      size_t taken)
{
	size_t cnt = sizeof(details) / sizeof(details[0]), most = WIDTH - taken;
	struct detail detail = details[cnt - 1];
	char *line = NULL;

	for (size_t i = 0; i < cnt && (!line || strlen(line) > most); i++) {
		free(line);
		line = line_of(part, verdict, &details[i]);
	}
	for (detail.name_max = NAME_MOST;
	     line && strlen(line) > most && detail.name_max >= NAME_LEAST; detail.name_max -= 2) {
		free(line);
		line = line_of(part, verdict, &detail);
	}
	return line;
}

static void write_fitting(const struct text_part *part, const struct verdict_line *verdict)
{
	cleanup_free char *line = fit_line(part, verdict, 0);

	if (!line)
		return;
	text_begin_style(part, verdict->style);
	text_write_sign(part, verdict->style);
	fputs(line, part->out);
	text_end_style(part);
	fputc('\n', part->out);
}

char *verdict_suspect_line(const struct text_part *part, const struct suspect *suspect,
			   size_t taken)
{
	return fit_line(part, &(struct verdict_line){suspect, STYLE_GROWS, write_line}, taken);
}

char *verdict_loss_line(const struct text_part *part, const struct proven_loss *loss, size_t taken)
{
	return fit_line(part, &(struct verdict_line){loss, STYLE_LOST, write_loss}, taken);
}

void verdict_write_line(const struct text_part *part, const struct suspect *suspect)
{
	write_fitting(part, &(struct verdict_line){suspect, STYLE_GROWS, write_line});
}

void verdict_write_loss(const struct text_part *part, const struct proven_loss *loss)
{
	write_fitting(part, &(struct verdict_line){loss, STYLE_LOST, write_loss});
}
