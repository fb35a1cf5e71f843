/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the screen shows of a report: a copy that outlives it, with texts that a terminal may see.
 * It knows neither keys nor curses.
 */
#ifndef SCREEN_SHOWN_REPORT_H
#define SCREEN_SHOWN_REPORT_H

#include "report/report.h"

/* Equal parts of the time since tracing began. */
#define SPARK_CNT 16

/* A function of stacks, which all stacks share that it is in. */
struct screen_line {
	const char *text;
	const char *file; /* its source, as DWARF names it; NULL: not known */
	unsigned int line;
	bool found; /* by the filter; set by the model */
};

struct screen_thread {
	pid_t tid;
	uint64_t bytes;
	uint64_t count;
};

/* A stack, or what a group of them has together. */
struct screen_row {
	uint64_t id;
	const char *name; /* the function that it is for, or the group's */
	uint64_t bytes;
	uint64_t count;
	int64_t change;     /* in bytes, since the last report or the mark */
	double bytes_per_s; /* NAN: not known */
	uint64_t oldest_ns; /* AGE_UNKNOWN: not known */
	uint64_t spark[SPARK_CNT];
	bool has_past; /* change, rate and spark are known */
	bool suspect;
	bool runtime_init;
	enum tendency tendency;
	double score;
	struct reach_sum lost; /* by the last proof; so below */
	struct reach_sum definite;
	/* Of stacks alone: */
	pid_t pid;           /* 0: of no one process */
	const char *process; /* "node (4711)" */
	const char *module;  /* that asked for the memory */
	struct screen_line **lines;
	size_t line_cnt;
	size_t culprit;    /* among them */
	const char *notes; /* lines about it */
	const struct screen_thread *threads;
	size_t thread_cnt;
};

struct shown_report {
	struct screen_row *rows;
	size_t row_cnt;
	struct screen_line **lines; /* all that rows have */
	size_t line_cnt, line_cap;
	const char *target;
	const char *verdict; /* a line for each loss and suspect */
	const char *facts;   /* totals, and what was lost */
	int64_t wall_ns;
	uint64_t elapsed_ns;
	uint64_t bytes;
	uint64_t count;
	uint64_t past[24];
	size_t past_cnt;
	uint64_t lost; /* ways in which something was */
	bool estimated;
	bool proved;
	int64_t proof_ns; /* when the last proof was; 0: there was none */
	bool has_threads;
	bool final;
	struct arena arena;
};

/* breathe, which may be NULL, is called now and then: others may work meanwhile. 0 or -ENOMEM. */
int shown_report__new(const struct report *report, void (*breathe)(void),
		      struct shown_report **ret);
void shown_report__free(struct shown_report *shown);

/* What the last proof said, of a report that has none: text is copied. 0 or -ENOMEM. */
int shown_report__keep_proof(struct shown_report *shown, const struct shown_report *before);

/* "1.2M": 6 columns at most, 7 with a sign. */
#define SHORT_AMOUNT_SIZE 16
void short_amount(double bytes, char ret[SHORT_AMOUNT_SIZE]);
/* "35s" */
void short_age(uint64_t ns, char ret[SHORT_AMOUNT_SIZE]);

#endif
