/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sink turns a report into bytes of one format. Adding a format is one file and one line in
 * sink.c. Sinks write to a memory stream, so a report reaches its file whole or not at all.
 */
#ifndef SINK_H
#define SINK_H

#include <stdio.h>

#include "report/counts.h"
#include "report/report.h"

/* One allocation or free as it happens (-t). */
struct trace_event {
	int64_t wall_ns;
	bool is_free;
	pid_t pid;
	pid_t tid;
	const char *comm;
	const char *function; /* NULL: unknown */
	uint64_t addr;
	uint64_t size;                   /* MEMLEAK_SIZE_UNKNOWN: a block that is not tracked */
	const struct report_site *stack; /* with -tt, else NULL */
};

struct sink {
	const char *name;
	bool document;    /* a file holds one report: each takes the place of the one before */
	bool binary;      /* nothing for a terminal */
	bool says_losses; /* else they are said on stderr */
	void (*header)(FILE *out); /* once, before the first report; NULL: none */
	/* 0 or -ENOMEM */
	int (*report)(FILE *out, const struct report *report);
	/* NULL, these: options refuses what they are for. */
	void (*event)(FILE *out, const struct trace_event *event);
	void (*counts)(FILE *out, const struct counts_report *report);
};

extern const struct sink sink_text;
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
	const char *words;  /* "%PRIu64 allocations not tracked" without the number */
	const char *remedy; /* NULL: none */
};
extern const struct lost_text lost_texts[MEMLEAK_LOST_CNT];

#endif
