/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sink turns a report into the bytes of one format. Sinks write to a stream in memory, so a
 * report is written to its file whole or not at all.
 */
#ifndef SINKS_SINK_H
#define SINKS_SINK_H

#include <stdio.h>

#include "report/counts.h"
#include "report/report.h"
#include "report/trace_event.h"

struct sink {
	const char *name;
	bool binary; /* true if this format must not be written to a terminal */
	/* true if the format shows losses; if false, they are printed on stderr */
	bool says_losses;
	/* Writes text that comes once, before the first report; may be NULL. */
	void (*header)(FILE *out);
	/* Writes a report. Returns 0 or -ENOMEM. */
	int (*report)(FILE *out, const struct report *report);
	/*
	 * `event` writes an event of --trace, `counts` a report of --count. Each is NULL if the
	 * format cannot write it: options/ then rejects --trace or --count.
	 */
	void (*event)(FILE *out, const struct trace_event *event);
	void (*counts)(FILE *out, const struct counts_report *report);
};

extern const struct sink sink_text;
extern const struct sink sink_bcc;
extern const struct sink sink_json;
extern const struct sink sink_csv;
extern const struct sink sink_folded;
extern const struct sink sink_pprof;
extern const struct sink sink_speedscope;
extern const struct sink sink_heaptrack;
extern const struct sink sink_html;
extern const struct sink sink_verdict;

const struct sink *sink_for(enum output_format format);

/* Words for one kind of loss, in JSON and in text, and advice against it. */
struct lost_text {
	const char *key;
	const char *one; /* the singular of what was lost, such as "allocation" */
	const char *many;
	/* text after `one` or `many`, such as "not tracked: the block table was full" */
	const char *how;
	/* what the user can do without sampling; NULL if nothing helps (see lost_remedy()) */
	const char *remedy;
};
extern const struct lost_text lost_texts[LOSS_CNT];

/*
 * Returns what the user can do against a loss; NULL if nothing helps. can_sample: whether the run
 * supports --sample-rate.
 */
const char *lost_remedy(enum loss lost, bool can_sample);

/*
 * Returns a text such as "2 stacks cut: the outer frames are not known", which is to be freed; NULL
 * if out of memory.
 */
char *lost_describe(enum loss lost, uint64_t cnt);

#endif
