// SPDX-License-Identifier: GPL-2.0-or-later
/* What the report for people says of a site beyond bcc's line: in parentheses, below its frames. */
#include "sinks/sink_text.h"

#include <inttypes.h>
#include <math.h>

#include "sinks/escape.h"

#define NSEC_PER_SEC 1000000000

static const char *kind_words(enum memleak_kind kind)
{
	switch (kind) {
	case MEMLEAK_KIND_HEAP:
		return NULL;
	case MEMLEAK_KIND_RESERVE:
		return "mmap, PROT_NONE reserve";
	case MEMLEAK_KIND_STACK:
		return "thread stack";
	case MEMLEAK_KIND_PERCPU:
		return "percpu, the size of one copy";
	default:
		return kind_name(kind);
	}
}

void sink_text_write_seconds(FILE *out, uint64_t ns)
{
	uint64_t tenths = ns / (NSEC_PER_SEC / 10);

	fprintf(out, "%" PRIu64 ".%" PRIu64, tenths / 10, tenths % 10);
}

void sink_text_write_error(FILE *out, double bytes_variance, double count_variance)
{
	fputs("standard error ", out);
	if (!isnan(bytes_variance))
		fprintf(out, "%" PRIu64 " bytes, ", estimate_error(bytes_variance));
	fprintf(out, "%" PRIu64 " allocations", estimate_error(count_variance));
}

static void write_ages(FILE *out, const struct site *site)
{
	if (site->oldest_ns == AGE_UNKNOWN || site->newest_ns == AGE_UNKNOWN)
		return;
	fputs("; ", out);
	if (site->newest_ns / (NSEC_PER_SEC / 10) != site->oldest_ns / (NSEC_PER_SEC / 10)) {
		sink_text_write_seconds(out, site->newest_ns);
		fputs(" to ", out);
	}
	sink_text_write_seconds(out, site->oldest_ns);
	fputs(" s old", out);
}

/* Also the whole of what is new: the reader knows that from the line above. */
static bool has_grown(const struct site *site, int64_t bytes, int64_t count)
{
	if (!bytes && !count)
		return false;
	return (uint64_t)bytes != site->bytes || (uint64_t)count != site->count;
}

/* A line in parentheses, written piece by piece; none if there is no piece. */
struct note {
	FILE *out;
	const char *indent;
	const char *before; /* NULL: this is the first piece */
};

static void note_begin(struct note *note)
{
	if (note->before)
		fputs(note->before, note->out);
	else
		fprintf(note->out, "%s\t(", note->indent);
	note->before = "; ";
}

static void note_name(struct note *note, const char *name)
{
	escape_puts(note->out, name ? name : "?");
}

static void write_end(struct note *note, enum unwind_end end)
{
	static const char *const words[UNWIND_END_CNT] = {
		[UNWIND_END_TRUNCATED] = "outer frames cut, see --perf-max-stack-depth",
		[UNWIND_END_NO_CODE] = "outer frames not known: no code at the return address",
		[UNWIND_END_NO_RULE] = "outer frames not known: code without unwind information",
		[UNWIND_END_READ] = "outer frames not known: stack memory cannot be read",
	};

	if (!words[end])
		return;
	note_begin(note);
	fputs(words[end], note->out);
}

void sink_text_write_end(const struct text_part *part, enum unwind_end end)
{
	struct note note = {.out = part->out, .indent = part->indent};

	write_end(&note, end);
	if (note.before)
		fputs(")\n", part->out);
}

/* Kernel memory: which cache it is from, and who asked for it. */
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
	if (origin->interrupt) {
		note_begin(note);
		fputs("in interrupts", note->out);
	} else if (!site->process && origin->last_comm) {
		note_begin(note);
		fprintf(note->out, "last by pid %d ", origin->last_pid);
		note_name(note, origin->last_comm);
		if (origin->several_pids)
			fputs(", others before", note->out);
	}
}

/* What a forked child has of its parent. */
static void write_inherited(struct note *note, const struct site *site)
{
	if (!site->inherited_count)
		return;
	note_begin(note);
	fputs("inherited", note->out);
	if (site->inherited_count != site->count)
		fprintf(note->out, ": %" PRIu64 " bytes in %" PRIu64 " allocations",
			site->inherited_bytes, site->inherited_count);
}

static void write_growth(struct note *note, const struct site *site, int64_t bytes, int64_t count)
{
	if (!has_grown(site, bytes, count))
		return;
	note_begin(note);
	fprintf(note->out, "%+" PRId64 " bytes in %+" PRId64 " allocations since the last report",
		bytes, count);
}

static void write_sampled(struct note *note, const struct report *report, const struct site *site)
{
	if (report->snapshot->sampling.mode == SAMPLING_NONE)
		return;
	note_begin(note);
	sink_text_write_error(note->out, site->bytes_variance, site->count_variance);
}

/* Ages alone are no reason for a line. */
static void note_end(struct note *note, const struct site *site)
{
	if (!note->before)
		return;
	write_ages(note->out, site);
	fputs(")\n", note->out);
}

/* What there is to say beyond bcc's line. */
void sink_text_write_notes(const struct text_part *part, const struct report_site *shown)
{
	const struct site *site = shown->site;
	const char *kind = kind_words(site->kind);
	struct note note = {.out = part->out, .indent = part->indent};

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
	write_sampled(&note, part->report, site);
	write_end(&note, site->end);
	note_end(&note, site);
}

void sink_text_write_group_notes(const struct text_part *part, const struct report_group *group)
{
	struct note note = {.out = part->out, .indent = part->indent};

	write_growth(&note, group->sum, group->growth_bytes, group->growth_count);
	write_sampled(&note, part->report, group->sum);
	note_end(&note, group->sum);
}
