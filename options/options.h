/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds the command line as data: filled once by options_parse(), then const. It knows nothing of
 * the effects of options.
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

/* Same order as format_words in table.c */
enum output_format {
	FORMAT_TEXT,
	FORMAT_BCC, /* text in the format of bcc's memleak */
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

/* A function of the target that allocates or frees memory, from --alloc or --free. */
struct pool_function {
	char *name;
	enum memleak_shape shape;
};

/* The command: tracing, or work on files */
enum mode { MODE_TRACE, MODE_REPORT, MODE_DIFF, MODE_CORE, MODE_CNT };

/* The key by which --count counts calls */
enum count_by { COUNT_BY_NOTHING, COUNT_BY_CGROUP, COUNT_BY_PROCESS, COUNT_BY_FUNCTION };

struct options {
	enum mode mode;
	/* Recordings, FILE or FILE@TIME; or a core file and, optionally, its program */
	const char *files[2];
	size_t file_cnt;
	const char *record; /* file of the recording to write; NULL if there is none */
	bool all;           /* print a report for each snapshot of a recording */
	bool live;          /* show reports on a screen */
	pid_t *pids;        /* -p; no duplicates */
	size_t pid_cnt;
	size_t pid_cap;
	char **command;   /* -c or -- CMD, NULL-terminated; NULL if there is none */
	const char *user; /* user that runs the command; NULL for memleak's own user */
	bool all_processes;
	const char *comm; /* trace processes of this name; NULL if not given */
	const char *cgroup;
	bool agent;         /* read the accounts of agents in the processes */
	bool follow;        /* trace children, too */
	unsigned int trace; /* 1 prints events, 2 adds their stacks */
	bool show_allocs;
	uint64_t older_ns;
	bool older_given;
	uint64_t warmup_ns; /* 0 if not given */
	bool largest;
	bool peak;
	enum count_by count_by;
	bool stats;
	bool summary;
	enum summary_sort summary_sort;
	bool combined_only;
	bool wa_missing_free;
	uint32_t sample_rate;
	uint64_t sample_bytes; /* 0 if off */
	uint32_t top;
	uint32_t max_records; /* 0 means the value of top; in the summary, all */
	uint64_t min_size;
	uint64_t max_size; /* UINT64_MAX if there is no limit */
	const char *object;
	const char *symbols_prefix;
	struct pool_function *pool_functions; /* names are unique */
	size_t pool_function_cnt;
	size_t pool_function_cap;
	bool kernel; /* trace the kernel (-K) */
	bool fds;    /* trace descriptors instead of memory */
	bool percpu;
	bool movable; /* kernel: include user memory and page cache */
	bool force;   /* trace even processes that probes could harm */
	struct suppressions suppressions;
	bool gen_suppressions;
	bool why;
	bool prove;
	bool census;
	bool rss;             /* print the use of resident memory, and exit */
	uint32_t prove_every; /* reports for each proof; at least 1 */
	bool no_default_suppressions;
	char **own; /* files and directories of the program; if none, chosen by their location */
	size_t own_cnt;
	size_t own_cap;
	bool reserved; /* count reserved address space as memory */
	bool ended;    /* include blocks of ended processes */
	enum sort_order sort;
	enum group_by by;
	uint32_t stack_storage_size; /* maximum stacks in the table; 0 to choose by the machine's
					memory */
	uint32_t stack_depth;
	enum memleak_unwind unwind;
	uint32_t max_allocs;
	uint64_t
		max_memory; /* maximum bytes of the tables; 0 for a share of the machine's memory */
	enum output_format format;
	enum colour colour;
	bool all_frames;
	const char *output; /* NULL for stdout */
	struct listen_address listen;
	int error_exitcode;   /* 0 if off */
	unsigned int verbose; /* 0 to 2 */
	uint64_t interval_ns;
	uint64_t count;       /* maximum reports; 0 if not limited */
	uint64_t duration_ns; /* duration of tracing; 0 if not limited */
};

/*
 * True if the format supports all options. These formats show ten stacks by default; all others
 * show every stack.
 */
static inline bool format_shows_all(enum output_format format)
{
	return format == FORMAT_TEXT || format == FORMAT_BCC || format == FORMAT_JSON;
}

/* True if a file in this format can hold several reports. */
static inline bool format_holds_reports(enum output_format format)
{
	return format_shows_all(format) || format == FORMAT_CSV;
}

void options_deinit(struct options *opts);

/*
 * True if processes are chosen by a property (all, name or cgroup), including processes that start
 * later.
 */
bool options_find_processes(const struct options *opts);
/* True if some calls are not recorded at all, because of their size or of sampling. */
bool options_leave_out_calls(const struct options *opts);
/* True if processes are traced. */
bool options_trace_processes(const struct options *opts);

/* True if an option is given that only applies to user memory. */
bool options_ask_for_users(const struct options *opts);

/* True if the cgroups of processes are needed. */
bool options_want_cgroups(const struct options *opts);

/* True if the threads that allocated blocks are shown. */
bool options_want_threads(const struct options *opts);

/* True if probes fire in every process that maps a probed file, not in a single process. */
bool options_share_probes(const struct options *opts);

#endif
