/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sink turns a report into bytes of one format. Sinks write to a memory stream, so a report
 * reaches its file whole or not at all.
 */
#ifndef SINKS_SINK_H
#define SINKS_SINK_H

#include <stdio.h>

#include "report/counts.h"
#include "report/report.h"
#include "report/trace_event.h"

struct sink {
	const char *name;
	bool binary;               /* nothing for a terminal */
	bool says_losses;          /* else they are said on stderr */
	void (*header)(FILE *out); /* once, before the first report; NULL: none */
	/* 0 or -ENOMEM */
	int (*report)(FILE *out, const struct report *report);
	/* NULL, these: options refuses what they are for. */
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

const struct sink *sink_for(enum output_format format);

/* What each way of losing something is called in JSON, and in words with the option that helps. */
struct lost_text {
	const char *key;
	const char *one; /* what was lost: "allocation" */
	const char *many;
	const char *how;    /* the same for one and for many */
	const char *remedy; /* NULL: none */
};
extern const struct lost_text lost_texts[LOSS_CNT];

/* "2 stacks cut: the outer frames are not known", from malloc; NULL: out of memory. */
char *lost_describe(enum loss lost, uint64_t cnt);

#endif
