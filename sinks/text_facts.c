// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the totals of a report, their accuracy, and what was lost. */
#include "sinks/text_facts.h"

#include <inttypes.h>

#include "base/escape.h"
#include "sinks/sink.h"
#include "sinks/stats.h"
#include "sinks/suppressions.h"

/*
 * Writes that all stacks are complete, or the percentage of bytes or descriptors that have complete
 * stacks, rounded down, so that it is below 100 %.
 */
void text_write_complete(FILE *out, const struct report *report)
{
	unsigned int permille;

	if (!report->bytes || report->snapshot->core)
		return;
	if (report->complete_bytes == report->bytes) {
		fputs("; all stacks are complete", out);
		return;
	}
	permille = (unsigned int)((long double)report->complete_bytes * 1000 / report->bytes);
	fprintf(out, "; %u.%u %% of the %s have complete stacks", permille / 10, permille % 10,
		report->snapshot->descriptors.are_traced ? "descriptors" : "bytes");
}

static void write_sampling(const struct text_part *part)
{
	const struct report *report = part->report;
	const struct sampling *sampling = &report->snapshot->sampling;

	if (sampling->mode == SAMPLING_NONE)
		return;
	if (sampling->mode == SAMPLING_COUNT) {
		fprintf(part->out, "\testimates: one allocation in %" PRIu64 " is sampled; ",
			sampling->rate);
	} else {
		fputs("\testimates: one sample is taken every ", part->out);
		text_write_bytes(part, sampling->rate);
		fputs(sampling->mode == SAMPLING_STEPS ? " on average, or at times more; "
						       : " on average; ",
		      part->out);
	}
	text_write_error(part, report->bytes_variance, report->count_variance);
	fputc('\n', part->out);
}

static void write_baseline(FILE *out, uint64_t baseline_ns)
{
	if (!baseline_ns)
		return;
	fputs("\tbaseline: what was allocated in the first ", out);
	text_write_seconds(out, baseline_ns);
	fputs(" s of tracing is left out\n", out);
}

static void write_ended(const struct text_part *part, const struct ended *ended)
{
	if (!ended->processes)
		return;
	fputs("\tended since the last report: ", part->out);
	text_write_count(part->out, ended->processes, "process");
	fputs(" with ", part->out);
	text_write_bytes(part, ended->bytes);
	fputs(" in ", part->out);
	text_write_blocks(part, ended->count);
	fputs(", which are not counted\n", part->out);
}

/*
 * Writes the number of open descriptors in the report, the numbers of descriptors that are not in
 * the report and why, and the number of processes whose open descriptors could not be read.
 */
static void write_descriptors(const struct text_part *part, bool has_head)
{
	const struct report *report = part->report;
	FILE *out = part->out;
	const struct descriptor_facts *facts = &report->snapshot->descriptors;

	fputs("\topen: ", out);
	text_write_count(out, report->count, "descriptor");
	fputs(", ", out);
	text_write_count(out, report->sites_total, "site");
	if (!has_head)
		text_write_complete(out, report);
	fputc('\n', out);
	if (facts->older) {
		fputs("\tolder: ", out);
		text_write_count(out, facts->older, "more descriptor");
		fputs(", open since before tracing began\n", out);
	}
	if (facts->missed) {
		fputs("\tmissed: ", out);
		text_write_count(out, facts->missed, "more descriptor");
		fputs(", opened in a way that is not traced (io_uring, ioctl())\n", out);
	}
	if (facts->closed_unseen) {
		fputs("\tleft out: ", out);
		text_write_count(out, facts->closed_unseen, "descriptor");
		fputs(", closed in a way that is not traced\n", out);
	}
	if (facts->unread) {
		fputs("\tnot compared: ", out);
		text_write_count(out, facts->unread, "process");
		fputs(", whose open descriptors cannot be read\n", out);
	}
	write_baseline(out, report->snapshot->baseline_ns);
}

/* Writes the totals. Except in bcc's format, the exact number of bytes follows the rounded one. */
static void write_outstanding(const struct text_part *part, bool has_head)
{
	const struct report *report = part->report;
	FILE *out = part->out;

	fputs("\toutstanding: ", out);
	text_write_sums(part, report->bytes, report->count, report->sites_total);
	if (report->by != BY_STACK) {
		fputs(" of ", out);
		text_write_count(out, report->groups_total, text_group_word(report->by));
	}
	if (part->look != LOOK_BCC && report->bytes >= 1024)
		fprintf(out, " (%" PRIu64 " bytes)", report->bytes);
	if (!has_head)
		text_write_complete(out, report);
	fputc('\n', out);
}

static void write_inherited(const struct text_part *part)
{
	const struct report *report = part->report;

	if (!report->inherited_count)
		return;
	fputs("\tinherited: ", part->out);
	text_write_sum(part, report->inherited_bytes, report->inherited_count);
	fputs(" that forked children inherited, in memory that is shared with the parent until one "
	      "of them writes to it\n",
	      part->out);
}

static void write_totals(const struct text_part *part, bool has_head)
{
	const struct snapshot *snap = part->report->snapshot;

	write_outstanding(part, has_head);
	write_inherited(part);
	text_write_reserved(part, &snap->reserved);
	write_ended(part, &snap->ended);
	suppressions_write_text(part);
	write_baseline(part->out, snap->baseline_ns);
	write_sampling(part);
}

/*
 * Writes how many frees were inferred because no event showed them, and which kernel allocations
 * and frees cannot be seen at all. These numbers are not losses, but limit the accuracy of a
 * report.
 */
static void write_inferred(const struct text_part *part)
{
	const struct snapshot *snap = part->report->snapshot;
	FILE *out = part->out;

	if (snap->replaced) {
		fputs("\tinferred: ", out);
		text_write_count(out, snap->replaced, "unseen free");
		fputs(", from addresses that were allocated again\n", out);
	}
	if (snap->gone_with_page) {
		fputs("\tinferred: ", out);
		text_write_count(out, snap->gone_with_page, "unseen free");
		fputs(", from slab pages that were freed\n", out);
	}
	if (snap->beyond_caches) {
		fputs("\tinferred: up to ", out);
		text_write_count(out, snap->beyond_caches, "unseen free");
		fputs(", because the slab caches grew less than the outstanding blocks\n", out);
	}
	if (snap->vmalloc_hidden) {
		fputs("\tnot seen: ", out);
		text_write_bytes(part, snap->vmalloc_hidden);
		fputs(" that vmalloc() took in bulk since tracing began, for any process (thread "
		      "stacks, terminals)\n",
		      out);
	}
	if (snap->frees_hidden)
		fputs("\tnot seen: bulk frees and frees after a grace period: this kernel's "
		      "functions cannot be hooked\n",
		      out);
}

static void write_losses(FILE *out, const struct snapshot *snap)
{
	for (size_t i = 0; i < snap->tally_cnt; i++) {
		const struct process *process = snap->tallies[i].process;

		if (!snap->tallies[i].refused)
			continue;
		fprintf(out, "\tof these, %" PRIu64 " of pid %d", snap->tallies[i].refused,
			process->pid);
		text_write_name(out, process->comm ? process->comm : "?");
		fputs(", which had used up its share of the block table\n", out);
	}
}

/*
 * Limit, in thousandths of all allocations or bytes, above which a loss gets a line near the top of
 * the report
 */
#define MUCH_LOST 10

static void write_missing(FILE *out, const struct report *report, enum loss loss, uint64_t lost,
			  uint64_t all, const char *what)
{
	const struct lost_text *text = &lost_texts[loss];
	unsigned int permille = all ? (unsigned int)((long double)lost * 1000 / all) : 0;

	if (permille > MUCH_LOST)
		fprintf(out, "\tincomplete: %u.%u %% of the %s %s (%s)\n", permille / 10,
			permille % 10, what, text->how,
			lost_remedy(loss, report_may_advise(report, ADVISED_SAMPLE_RATE)));
}

void text_write_incomplete(FILE *out, const struct report *report)
{
	static const enum loss of_blocks[] = {LOSS_ALLOCS_FULL, LOSS_QUOTA_FULL, LOSS_SITES_FULL,
					      LOSS_NO_MEMORY};
	const struct snapshot *snap = report->snapshot;
	uint64_t bytes = 0, bare_bytes = 0;

	for (size_t i = 0; i < sizeof(of_blocks) / sizeof(*of_blocks); i++) {
		uint64_t lost = snap->lost[of_blocks[i]];

		write_missing(out, report, of_blocks[i], lost, lost + report->count,
			      "allocations were");
	}
	write_missing(out, report, LOSS_UNREAD, snap->lost[LOSS_UNREAD],
		      snap->lost[LOSS_UNREAD] + report->count, "blocks were");
	if (!snap->lost[LOSS_STACKS_FULL])
		return;
	for (size_t i = 0; i < snap->site_cnt; i++) {
		bytes += snap->sites[i].bytes;
		bare_bytes += snap->sites[i].frame_cnt ? 0 : snap->sites[i].bytes;
	}
	write_missing(out, report, LOSS_STACKS_FULL, bare_bytes, bytes,
		      "bytes have stacks that were");
}

static const char *method_words(enum proof_method method)
{
	switch (method) {
	case PROOF_STILL:
		return "while no thread ran";
	case PROOF_CLONE:
		return "in a copy";
	case PROOF_FREEZE:
		return "in place";
	case PROOF_ENDED:
		return "at the end of the process";
	case PROOF_CORE:
		return "in the core";
	case PROOF_NONE:
	case PROOF_METHOD_CNT:
		break;
	}
	return "in no way";
}

static void write_proven(const struct text_part *part, const struct proof_facts *proof)
{
	FILE *out = part->out;

	fputs("\tproof: ", out);
	for (size_t i = 0; i < REACH_CNT; i++) {
		if (i)
			fputs("; ", out);
		text_write_reach(part, i, &proof->of[i]);
	}
	fputs(". ", out);
	text_write_bytes(part, proof->scanned_bytes);
	fprintf(out, " of memory searched %s", method_words(proof->method));
	if (proof->stopped_ns)
		fprintf(out, ", threads stopped for %.1f ms", (double)proof->stopped_ns / 1e6);
	fputc('\n', out);
}

static void write_proof(const struct text_part *part)
{
	const struct proof_facts *proof = part->report->snapshot->proof;
	FILE *out = part->out;

	if (!proof)
		return;
	if (proof->processes > proof->unproved)
		write_proven(part, proof);
	if (proof->unproved) {
		fputs("\tno proof for ", out);
		text_write_count(out, proof->unproved, "process");
		fputs(", whose memory changed while it was read, or whose memory or epoll data "
		      "could not be read\n",
		      out);
	}
}

void text_write_facts(const struct text_part *part, bool has_head)
{
	const struct report *report = part->report;
	FILE *out = part->out;

	if (report->snapshot->descriptors.are_traced)
		write_descriptors(part, has_head);
	else
		write_totals(part, has_head);
	write_proof(part);
	write_inferred(part);
	if (report->show_stats)
		stats_write_text(out, report->snapshot);
	text_write_lost(out, report->snapshot->lost, report_may_advise(report, ADVISED_SAMPLE_RATE),
			report->show_stats);
	write_losses(out, report->snapshot);
}

void text_write_target(FILE *out, const struct report *report)
{
	const struct snapshot *snap = report->snapshot;
	bool several = text_several_processes(snap), kernel = false;
	const struct process *process = NULL;

	for (size_t i = 0; i < snap->site_cnt; i++) {
		kernel |= snap->sites[i].space == SPACE_KERNEL;
		process = snap->sites[i].process ? snap->sites[i].process : process;
	}
	if (!kernel && !process && snap->tally_cnt == 1)
		process = snap->tallies[0].process;
	if (kernel)
		fputs(process ? "the kernel and " : "the kernel", out);
	else if (!process)
		fputs("nothing outstanding", out);
	if (several) {
		fputs("several processes", out);
	} else if (process) {
		escape_puts(out, process->comm ? process->comm : "?");
		fprintf(out, " (%d)", process->pid);
	}
}
