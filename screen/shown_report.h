/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A copy of the part of a report that the screen shows. It outlives the report. Texts are escaped
 * for a terminal. Knows neither keys nor curses.
 */
#ifndef SCREEN_SHOWN_REPORT_H
#define SCREEN_SHOWN_REPORT_H

#include "report/report.h"

/* Number of equal parts into which the time since tracing began is divided. */
#define SPARK_CNT 16

/* A function in a stack, shared by all stacks that contain it. */
struct screen_line {
	const char *text;
	const char *file; /* source path from DWARF; NULL if unknown */
	unsigned int line;
	bool found; /* matches the filter; set by the model */
};

struct screen_thread {
	pid_t tid;
	uint64_t bytes;
	uint64_t count;
};

/* A stack, or the sums of a group of stacks. */
struct screen_row {
	uint64_t id;
	const char *name; /* the blamed function, or the group's name */
	uint64_t bytes;
	uint64_t count;
	int64_t change; /* bytes gained since the mark; without a mark, since the previous report */
	double bytes_per_s; /* rate of growth; NAN if unknown */
	/* Ages of the oldest, the median and the newest block; AGE_UNKNOWN if unknown. */
	uint64_t oldest_ns;
	uint64_t median_ns;
	uint64_t newest_ns;
	uint32_t ages[AGE_CLASS_CNT]; /* number of blocks by age, as in struct ages */
	uint64_t spark[SPARK_CNT];
	bool has_past; /* change, bytes_per_s and spark are known */
	bool suspect;
	bool runtime_init;
	enum tendency tendency;
	double score;
	struct reach_sum lost; /* lost and definite are results of the latest proof */
	struct reach_sum definite;
	/* The fields below are only set for stacks. */
	pid_t pid;           /* pid of the process; 0 if the stack belongs to no single process */
	const char *process; /* "node (4711)" */
	const char *module;  /* module whose code requested the memory */
	struct screen_line **lines;
	size_t line_cnt;
	size_t culprit;     /* index of the blamed function in lines */
	const char *caller; /* function that called the blamed one; NULL if none is worth naming */
	const char *notes;  /* additional lines of text */
	const struct screen_thread *threads;
	size_t thread_cnt;
};

/* Load that tracing causes, since the previous report; NAN if it is not known. */
struct screen_load {
	double cpu_percent; /* CPU time of memleak and its helpers; 100 is one CPU */
	double calls_per_s; /* allocator calls that are traced */
};

struct shown_report {
	struct screen_row *rows;
	size_t row_cnt;
	struct screen_line **lines; /* all lines used by rows */
	size_t line_cnt, line_cap;
	const char *target;
	const char *verdict; /* the verdict; a line for each loss, suspect and note */
	const char *facts;   /* totals and losses */
	int64_t wall_ns;
	uint64_t elapsed_ns;
	uint64_t bytes;
	uint64_t count;
	uint64_t past[24];
	size_t past_cnt;
	uint64_t peak_bytes;     /* largest outstanding bytes at any report since the baseline */
	double bytes_per_s;      /* growth over `past`; NAN if not known */
	uint64_t lost;           /* number of kinds of losses that occurred */
	uint64_t lost_events;    /* sum of all losses */
	struct screen_load load; /* set by the caller */
	bool estimated;
	bool proved;
	int64_t proof_ns; /* time of the latest proof; 0 if there was none */
	bool has_threads;
	bool final;
	struct arena arena;
};

/*
 * Copies a report. Calls breathe(), which may be NULL, now and then, so that other threads can
 * work. Returns 0 or -ENOMEM.
 */
int shown_report__new(const struct report *report, void (*breathe)(void),
		      struct shown_report **ret);
void shown_report__free(struct shown_report *shown);

/*
 * If `shown` has no proof, copies the results of the latest proof from the earlier report `before`.
 * Returns 0 or -ENOMEM.
 */
int shown_report__keep_proof(struct shown_report *shown, const struct shown_report *before);

/*
 * Sets the row's median age, from its other ages. It is exact for one block, and otherwise an
 * interpolation within an age class.
 */
void screen_row_set_median(struct screen_row *row);

/* Formats an amount, such as "1.20M", in at most 5 columns, or 6 with a sign. */
#define SHORT_AMOUNT_SIZE 16
void short_amount(double bytes, char ret[SHORT_AMOUNT_SIZE]);
/* Formats an age, such as "35s". */
void short_age(uint64_t ns, char ret[SHORT_AMOUNT_SIZE]);

#endif
