/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line as data. options_parse fills the struct once; afterwards it is const and
 * passed down. It knows nothing of what the options cause.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "bpf/count.h"
#include "bpf/memleak.h"
#include "metrics/listen_address.h"
#include "report/suppressions.h"

enum output_format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_FOLDED,
	FORMAT_PPROF,
	FORMAT_SPEEDSCOPE,
	FORMAT_HEAPTRACK,
	FORMAT_HTML,
};
enum group_by { BY_STACK, BY_PROCESS, BY_MODULE, BY_THREAD, BY_CGROUP };
enum summary_sort {
	SUMMARY_BY_OUTSTANDING,
	SUMMARY_BY_ALLOCATED,
	SUMMARY_BY_FREED,
	SUMMARY_BY_PEAK,
	SUMMARY_BY_LARGEST,
	SUMMARY_BY_CALLS,
	SUMMARY_BY_PID,
};
enum sort_order { SORT_SIZE, SORT_COUNT, SORT_GROWTH, SORT_SCORE };

/* A function of the target's that gives memory or takes it back. */
struct pool_function {
	char *name;
	enum memleak_shape shape;
};

/* What is done: tracing, or work on recordings. */
enum work { WORK_TRACE, WORK_REPORT, WORK_DIFF, WORK_CNT };

struct options {
	enum work work;
	const char *files[2]; /* recordings that are read, each perhaps with a moment: FILE@TIME */
	size_t file_cnt;
	const char *record; /* where a recording is written; NULL: none */
	bool all;           /* a report of each snapshot */
	pid_t *pids;        /* -p; no duplicates */
	size_t pid_cnt;
	char **command; /* -c or -- CMD, NULL-terminated; NULL: none */
	bool all_processes;
	const char *comm; /* NULL: any; so below */
	const char *cgroup;
	bool follow;        /* children of those */
	unsigned int trace; /* 1: events, 2: with their stacks */
	bool show_allocs;
	uint64_t older_ns;
	bool older_given;
	uint64_t warmup_ns; /* 0: none */
	bool largest;
	bool peak;
	enum memleak_count_by count_by;
	bool stats;
	bool summary;
	enum summary_sort summary_sort;
	bool combined_only;
	bool wa_missing_free;
	uint32_t sample_rate;
	uint64_t sample_bytes; /* 0: off */
	uint32_t top;
	uint32_t max_records; /* 0: as many as top, in the summary all */
	uint64_t min_size;
	uint64_t max_size; /* UINT64_MAX: no bound */
	const char *object;
	const char *symbols_prefix;
	struct pool_function *pool_functions; /* no name twice */
	size_t pool_function_cnt;
	bool kernel; /* -K */
	bool percpu;
	bool movable; /* kernel: user memory and page cache, too */
	bool force;   /* what probes could hurt, too */
	struct suppressions suppressions;
	bool gen_suppressions;
	bool no_default_suppressions;
	enum sort_order sort;
	enum group_by by;
	uint32_t stack_storage_size;
	uint32_t stack_depth;
	enum memleak_unwind unwind;
	uint32_t verify_unwind; /* 0: off */
	uint32_t max_allocs;
	enum output_format format;
	const char *output; /* NULL: stdout */
	struct listen_address listen;
	int error_exitcode;   /* 0: off */
	unsigned int verbose; /* 0, 1, 2 */
	uint64_t interval_ns;
	uint64_t count;       /* 0: until the end */
	uint64_t duration_ns; /* 0: the same */
};

enum options_result { OPTIONS_RUN, OPTIONS_EXIT_OK, OPTIONS_EXIT_USAGE, OPTIONS_EXIT_FAILED };

/*
 * Parses argv. OPTIONS_EXIT_OK: --help or --version was printed to stdout; OPTIONS_EXIT_USAGE:
 * one line on stderr said what is wrong; OPTIONS_EXIT_FAILED: so it did, but what failed was
 * printing. ret needs options_deinit in every case.
 */
enum options_result options_parse(int argc, char **argv, struct options *ret);
void options_deinit(struct options *opts);

/* Whether processes are traced that are found by what they are, also those that begin later. */
bool options_find_processes(const struct options *opts);
/* Whether processes are traced at all. */
bool options_trace_processes(const struct options *opts);

/* Whether something is asked for that user memory alone has. */
bool options_ask_for_users(const struct options *opts);

/* Whether it must be known of processes in which cgroup they are. */
bool options_want_cgroups(const struct options *opts);

/* Whether probes are in whatever process maps a file, and not in one alone. */
bool options_share_probes(const struct options *opts);

/* What the man page and the shell completion are made from. */
void options_print_help(FILE *out);
void options_print_man(FILE *out);
void options_print_completion(FILE *out);

#endif
