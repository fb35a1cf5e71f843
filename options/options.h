/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line as data: filled once by options_parse(), const afterwards, and passed down. It
 * knows nothing of what the options cause.
 */
#ifndef OPTIONS_OPTIONS_H
#define OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/memleak.h"
#include "options/listen_address.h"
#include "options/suppressions.h"

/* In the order of format_words in table.c. */
enum output_format {
	FORMAT_TEXT,
	FORMAT_BCC, /* text as bcc's memleak has it */
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_FOLDED,
	FORMAT_PPROF,
	FORMAT_SPEEDSCOPE,
	FORMAT_HEAPTRACK,
	FORMAT_HTML,
	FORMAT_CNT,
};
enum group_by { BY_STACK, BY_PROCESS, BY_MODULE, BY_THREAD, BY_CGROUP, BY_CNT };
enum summary_sort {
	SUMMARY_BY_OUTSTANDING,
	SUMMARY_BY_ALLOCATED,
	SUMMARY_BY_FREED,
	SUMMARY_BY_PEAK,
	SUMMARY_BY_LARGEST,
	SUMMARY_BY_CALLS,
	SUMMARY_BY_PID,
};
enum colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };
enum sort_order { SORT_SIZE, SORT_COUNT, SORT_GROWTH, SORT_SCORE };

/* A function of the target's that gives memory or takes it back. */
struct pool_function {
	char *name;
	enum memleak_shape shape;
};

/* What is done: tracing, or work on files that were written before. */
enum mode { MODE_TRACE, MODE_REPORT, MODE_DIFF, MODE_CORE, MODE_CNT };

/* --count: by what calls are counted. */
enum count_by { COUNT_BY_NOTHING, COUNT_BY_CGROUP, COUNT_BY_PROCESS, COUNT_BY_FUNCTION };

struct options {
	enum mode mode;
	/* Recordings, each perhaps with a moment, FILE@TIME; a core, perhaps with its program. */
	const char *files[2];
	size_t file_cnt;
	const char *record; /* where a recording is written; NULL: none */
	bool all;           /* a report of each snapshot */
	bool live;          /* on a screen */
	pid_t *pids;        /* -p; no duplicates */
	size_t pid_cnt;
	size_t pid_cap;
	char **command;   /* -c or -- CMD, NULL-terminated; NULL: none */
	const char *user; /* as whom the command runs; NULL: as memleak does */
	bool all_processes;
	const char *comm; /* NULL: any; so below */
	const char *cgroup;
	bool agent;         /* their accounts are read */
	bool follow;        /* children of those */
	unsigned int trace; /* 1: events, 2: with their stacks */
	bool show_allocs;
	uint64_t older_ns;
	bool older_given;
	uint64_t warmup_ns; /* 0: none */
	bool largest;
	bool peak;
	enum count_by count_by;
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
	size_t pool_function_cap;
	bool kernel; /* -K */
	bool fds;    /* descriptors are traced instead of memory */
	bool percpu;
	bool movable; /* kernel: user memory and page cache, too */
	bool force;   /* what probes could hurt, too */
	struct suppressions suppressions;
	bool gen_suppressions;
	bool why;
	bool prove;
	bool census;
	bool rss;             /* say what resident memory is used for, and end */
	uint32_t prove_every; /* reports, one of which has a proof; at least 1 */
	bool no_default_suppressions;
	char **own; /* files and folders of the program; none: what lies where such do */
	size_t own_cnt;
	size_t own_cap;
	bool reserved; /* as if it were memory */
	bool ended;    /* what ended processes held counts, too */
	enum sort_order sort;
	enum group_by by;
	uint32_t stack_storage_size; /* 0: as the memory allows */
	uint32_t stack_depth;
	enum memleak_unwind unwind;
	uint32_t max_allocs; /* the same */
	uint64_t max_memory; /* for the tables; 0: a share of the machine's */
	enum output_format format;
	enum colour colour;
	bool all_frames;
	const char *output; /* NULL: stdout */
	struct listen_address listen;
	int error_exitcode;   /* 0: off */
	unsigned int verbose; /* 0, 1, 2 */
	uint64_t interval_ns;
	uint64_t count;       /* 0: until the end */
	uint64_t duration_ns; /* 0: the same */
};

/* Text and JSON show whatever can be asked for, and ten stacks; the others show every stack. */
static inline bool format_shows_all(enum output_format format)
{
	return format == FORMAT_TEXT || format == FORMAT_BCC || format == FORMAT_JSON;
}

/* Whether a file in this format can hold one report after the other. */
static inline bool format_holds_reports(enum output_format format)
{
	return format_shows_all(format) || format == FORMAT_CSV;
}

void options_deinit(struct options *opts);

/* Whether processes are traced that are found by what they are, also those that begin later. */
bool options_find_processes(const struct options *opts);
/* Whether calls are left out when they are made, by their size or by chance. */
bool options_leave_out_calls(const struct options *opts);
/* Whether processes are traced at all. */
bool options_trace_processes(const struct options *opts);

/* Whether something is asked for that user memory alone has. */
bool options_ask_for_users(const struct options *opts);

/* Whether it must be known of processes in which cgroup they are. */
bool options_want_cgroups(const struct options *opts);

/* True if the threads that allocated blocks are shown. */
bool options_want_threads(const struct options *opts);

/* Whether probes are in whatever process maps a file, and not in one alone. */
bool options_share_probes(const struct options *opts);

#endif
