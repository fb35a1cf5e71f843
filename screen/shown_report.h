/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A copy of the part of a report that the screen shows. It outlives the report. Texts are escaped
 * for a terminal. Knows neither keys nor curses.
 */
#ifndef SCREEN_SHOWN_REPORT_H
#define SCREEN_SHOWN_REPORT_H

#include "report/report.h"

/* Number of equal intervals into which charts divide the time since tracing began. */
#define SPARK_CNT 16

/* A function in a stack, and its text on the screen. Shared by all stacks that contain it. */
struct screen_line {
	const char *text;
	const char *file; /* source path from DWARF; NULL if unknown */
	unsigned int line;
	bool found; /* true if the function matches the filter; set by the model */
};

struct screen_thread {
	pid_t tid;
	uint64_t bytes;
	uint64_t count;
	double change; /* growth in bytes since the previous report; NAN if unknown */
};

/* A stack, or the sums of a group of stacks. */
struct screen_row {
	uint64_t id;
	const char *name; /* the blamed function, or the group's name */
	uint64_t bytes;
	uint64_t count;
	double growth; /* growth in bytes since the previous report */
	/* set by the model: growth since the mark, or `growth` without a mark; NAN if unknown */
	double change;
	double bytes_per_s; /* rate of growth; NAN if unknown */
	/* Ages of the oldest, the median and the newest block; AGE_UNKNOWN if unknown. */
	uint64_t oldest_ns;
	uint64_t median_ns;
	uint64_t newest_ns;
	uint32_t ages[AGE_CLASS_CNT]; /* number of blocks in each age class, as in struct ages */
	uint64_t spark[SPARK_CNT];
	/* true if the row has a history: bytes_per_s, spark and the trend are known */
	bool has_past;
	bool suspect;
	bool runtime_init;
	enum tendency tendency;
	double score;
	struct reach_sum lost; /* `lost` and `definite` are results of the latest proof */
	struct reach_sum definite;
	/* The fields from `pid` to `thread_cnt` are set only for stacks, not for groups. */
	pid_t pid;           /* pid of the process; 0 if the stack belongs to no single process */
	const char *process; /* "node (4711)" */
	const char *module;  /* module whose code called the allocator */
	struct screen_line **lines;
	size_t line_cnt;
	size_t culprit;     /* index of the blamed function in `lines` */
	const char *caller; /* caller of the blamed function; NULL if not to be shown */
	const char *notes;  /* lines of text below the functions: notes, and the chain of holders */
	struct screen_thread *threads;
	size_t thread_cnt;
};

/* Load that tracing has caused since the previous report. A value is NAN if it is not known. */
struct screen_load {
	double cpu_percent; /* CPU time of memleak and its helpers; 100 is one CPU */
	double calls_per_s; /* allocator calls that are traced */
};

struct shown_report {
	struct screen_row *rows;
	size_t row_cnt;
	struct screen_line **lines; /* all lines that rows refer to */
	size_t line_cnt, line_cap;
	const char *target;
	/* the sentence of the verdict, and a line for each loss, suspect and note */
	const char *verdict;
	const char *facts; /* totals and losses */
	int64_t wall_ns;
	uint64_t elapsed_ns;
	uint64_t bytes;
	uint64_t count;
	uint64_t past[24];
	size_t past_cnt;
	uint64_t peak_bytes;     /* maximum outstanding bytes in all reports since the baseline */
	double bytes_per_s;      /* growth rate over the time of `past`; NAN if not known */
	uint64_t lost;           /* number of kinds of losses (enum loss) that occurred */
	uint64_t lost_events;    /* number of losses of all kinds */
	struct screen_load load; /* not copied from the report: set by the caller */
	bool estimated;
	bool proved;
	int64_t proof_ns; /* time of the latest proof; 0 if none */
	bool has_threads;
	bool final;
	struct arena arena;
};

/*
 * Copies what the screen shows of a report. Unless breathe() is NULL, calls it at intervals, so
 * that other threads can work. Returns 0 or -ENOMEM.
 */
int shown_report__new(const struct report *report, void (*breathe)(void),
		      struct shown_report **ret);
void shown_report__free(struct shown_report *shown);

/*
 * If `shown` has no proof, copies the results of the latest proof from the earlier report `before`
 * to the stacks that are in both. Returns 0 or -ENOMEM.
 */
int shown_report__keep_proof(struct shown_report *shown, const struct shown_report *before);

/*
 * Sets the change of each thread since `before`, the previous report. It stays unknown if that
 * report has no threads. Returns 0 or -ENOMEM.
 */
int shown_report__compare_threads(struct shown_report *shown, const struct shown_report *before);

/*
 * Sets the row's median age from its other ages and from its number of blocks by age. The result is
 * exact if all blocks have the same age, else interpolated within an age class.
 */
void screen_row_set_median(struct screen_row *row);

/* Formats an amount, such as "1.20M", in at most 5 columns; 6 columns if it is negative. */
#define SHORT_AMOUNT_SIZE 16
void short_amount(double bytes, char ret[SHORT_AMOUNT_SIZE]);
/* Formats an age, such as "35s". */
void short_age(uint64_t ns, char ret[SHORT_AMOUNT_SIZE]);

#endif
