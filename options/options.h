/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line as data: struct options. options_parse() fills the structure once; after that,
 * nothing changes it. This module knows nothing of the effects of options.
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

/* Output formats, in the same order as format_words in table.c */
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
	FORMAT_VERDICT,
	FORMAT_CNT,
};
enum group_by { BY_STACK, BY_PROCESS, BY_MODULE, BY_THREAD, BY_CGROUP, BY_CNT };
/*
 * Index of the word "pin" among the words of --by. It is no grouping: "--by pin" is stored as
 * BY_STACK with SORT_PINNED.
 */
#define BY_PIN BY_CNT
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
enum sort_order { SORT_SIZE, SORT_COUNT, SORT_GROWTH, SORT_SCORE, SORT_PINNED };

/*
 * A function of the traced program that allocates or frees memory, as given by --alloc or --free.
 */
struct custom_function {
	char *name;
	enum memleak_shape shape;
};

enum mode { MODE_TRACE, MODE_REPORT, MODE_DIFF, MODE_CORE, MODE_CNT };

/* Options that reports advise to add */
enum advised_option {
	ADVISED_SAMPLE_RATE,
	ADVISED_SAMPLE_BYTES,
	ADVISED_DURATION,
	ADVISED_FOLLOW,
	ADVISED_KERNEL,
	ADVISED_FDS,
	ADVISED_AGENT, /* --agent -- CMD instead of -p */
	ADVISED_BY_PIN,
	ADVISED_CNT,
};

/* How --count groups the calls */
enum count_by { COUNT_BY_NOTHING, COUNT_BY_CGROUP, COUNT_BY_PROCESS, COUNT_BY_FUNCTION };

/* Growth of the outstanding bytes (--at-growth): this many bytes within the period */
struct growth_limit {
	uint64_t bytes; /* 0 if not given */
	uint64_t period_ns;
};

struct options {
	enum mode mode;
	/*
	 * `memleak report` and `memleak diff`: recordings, each as FILE or FILE@TIME. `memleak
	 * core`: the core file and, optionally, the program that dumped it.
	 */
	const char *files[2];
	size_t file_cnt;
	const char *record; /* file to write the recording to; NULL if nothing is recorded */
	bool all;           /* show every report of a recording, instead of only the last */
	bool live;          /* show reports on an interactive screen */
	pid_t *pids;        /* processes to trace (-p), without duplicates */
	size_t pid_cnt;
	size_t pid_cap;
	/* command to run and trace: words of -c or after --, ending with NULL; NULL if not given */
	char **command;
	const char *user; /* user as whom the command runs; NULL for the user that runs memleak */
	bool all_processes;
	const char *comm; /* trace processes with this name; NULL if not given */
	const char *cgroup;
	/*
	 * read allocations from the shared memory of the agent in the processes, and place no
	 * probes
	 */
	bool agent;
	bool follow;        /* trace child processes, too */
	unsigned int trace; /* 0: print no events; 1: print events; 2: also print their stacks */
	bool show_allocs;
	uint64_t older_ns;
	bool older_given;
	/* leave out blocks that were allocated in this first part of tracing; 0 for no warm-up */
	uint64_t warmup_ns;
	bool largest;
	bool peak;
	enum count_by count_by;
	bool stats;
	bool summary;
	enum summary_sort summary_sort;
	bool combined_only;
	bool wa_missing_free;
	uint32_t sample_rate;
	uint64_t sample_bytes; /* mean bytes per sample; 0: no sampling by bytes */
	/*
	 * maximum share of the targets' CPU time that tracing may cost, in units of 0.01 %; 0 if
	 * not given
	 */
	uint32_t max_overhead;
	uint32_t top;
	/*
	 * maximum number of groups, or of rows of a table such as --largest; 0: the same maximum as
	 * `top`, but no limit for --summary
	 */
	uint32_t max_records;
	uint64_t min_size;
	uint64_t max_size; /* maximum bytes of a block that is traced; UINT64_MAX for no limit */
	const char *object;
	const char *symbols_prefix;
	/* functions of --alloc and --free, without duplicates */
	struct custom_function *custom_functions;
	size_t custom_function_cnt;
	size_t custom_function_cap;
	bool kernel; /* trace the kernel (-K) */
	bool fds;    /* trace descriptors instead of memory */
	bool percpu;
	bool movable; /* with -K: also trace user memory and page cache */
	bool force;   /* trace processes even if probes could harm them */
	struct suppressions suppressions;
	bool gen_suppressions;
	bool why;
	bool prove;
	bool census;
	bool rss;             /* print the use of resident memory, then exit */
	uint32_t prove_every; /* a proof is made once per this number of reports; at least 1 */
	bool no_default_suppressions;
	/*
	 * files and folders that are the program's own (--own); if empty, report/own.h decides
	 * which are
	 */
	char **own;
	size_t own_cnt;
	size_t own_cap;
	bool reserved; /* treat reserved address space as memory */
	bool ended;    /* show the blocks of processes that have ended */
	enum sort_order sort;
	enum group_by by;
	/* Maximum number of stacks in the stack table; 0: as many as max_memory allows. */
	uint32_t stack_storage_size;
	uint32_t stack_depth;
	enum memleak_unwind unwind;
	uint32_t max_allocs;
	/* Maximum bytes of the tables in the kernel; 0: a share of the machine's memory. */
	uint64_t max_memory;
	enum output_format format;
	enum colour colour;
	bool top_given;
	bool all_frames;
	bool source;
	const char *output; /* path of the file for reports; NULL for stdout */
	struct listen_address listen;
	/* exit code if memory is outstanding or lost at the end; 0 if not given */
	int error_exitcode;
	unsigned int verbose; /* number of -v, from 0 to 2 */
	/* Reports begin when this many bytes are outstanding; 0 if not given. */
	uint64_t at_bytes;
	/* Reports begin when the outstanding bytes grow by this amount. */
	struct growth_limit at_growth;
	uint64_t interval_ns;
	uint64_t count;       /* maximum number of reports; 0 for no limit */
	uint64_t duration_ns; /* duration of tracing; 0 for no limit */
	/* bit for each enum advised_option that conflicts with the options in use */
	unsigned int refused;
};

/*
 * True if the format supports all options. Such formats show ten stacks by default, as does
 * FORMAT_VERDICT; all other formats show every stack by default.
 */
static inline bool format_shows_all(enum output_format format)
{
	return format == FORMAT_TEXT || format == FORMAT_BCC || format == FORMAT_JSON;
}

/* True if a file in this format may contain several reports. */
static inline bool format_holds_reports(enum output_format format)
{
	return format_shows_all(format) || format == FORMAT_CSV || format == FORMAT_VERDICT;
}

void options_deinit(struct options *opts);

/*
 * True if processes are selected by name or cgroup, or if all processes are traced: then processes
 * that start later are traced, too.
 */
bool options_find_processes(const struct options *opts);
/* True if some calls are not recorded at all, because of a size filter or of sampling. */
bool options_leave_out_calls(const struct options *opts);
/*
 * True if memleak stores each outstanding block with its size: no --combined-only, no --alloc, no
 * --free, no size filter and no sampling.
 */
bool options_keep_every_block(const struct options *opts);
/* True if reports can be about several processes. */
bool options_take_several(const struct options *opts);
/* True if only a single process is traced, and each of its heap blocks is stored. */
bool options_know_all_blocks(const struct options *opts);
/* True if user processes are traced. */
bool options_trace_processes(const struct options *opts);

/* True if an option is given that concerns only user processes. */
bool options_ask_for_users(const struct options *opts);

/* True if memleak must find out the cgroup of each process. */
bool options_want_cgroups(const struct options *opts);

/* True if reports show which threads allocated blocks. */
bool options_want_threads(const struct options *opts);

/*
 * True if a probe in a file fires in every process that maps the file, instead of only in one
 * process.
 */
bool options_share_probes(const struct options *opts);

#endif
