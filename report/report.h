/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report is a ranked snapshot, cut to the sites that are shown, with named frames. It is the only
 * input of a sink.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "options/options.h"
#include "report/ended.h"
#include "report/footprint.h"
#include "report/joined_paths.h"
#include "report/processes_rss.h"
#include "report/ranking.h"
#include "report/report_site.h"
#include "report/runtime_init.h"
#include "report/shared_caller.h"
#include "report/snapshot.h"
#include "report/suspects.h"
#include "report/symbol_backend.h"

struct callers;
struct grouping;
struct pools;
struct source_lines;

/*
 * Maximum number of growing paths that are suspects, after paths of user memory have been joined.
 * Also the maximum number of stacks with lost blocks.
 */
#define REPORT_PATHS_MAX 256
/*
 * Maximum number of growing kernel paths. There are more, because a function is blamed for them
 * (kernel_paths.h) only after they are named.
 */
#define REPORT_KERNEL_PATHS_MAX 1024

/* Data for verdicts, in addition to the single sites. Each pointer may be NULL. */
struct sums {
	const struct pools *pools;
	const struct callers *callers;
	const struct untraced_growths *untraced;
	const struct rss_pasts *rss_pasts; /* resident memory up to the current snapshot */
};

/* A group of --by: the sum over all its sites, and the sites that are shown for it. */
struct report_group {
	const struct site *sum; /* sum of the group's sites, without a stack */
	const char *name;       /* path of the module or cgroup; NULL if not known */
	char *thread;           /* thread name, raw bytes; NULL if the thread has ended */
	int64_t growth_bytes;
	int64_t growth_count;
	const struct site_history *history;
	size_t sites_total;
	const struct report_site *sites; /* points into the report's array of sites */
	size_t site_cnt;
};

struct report {
	const struct snapshot *snapshot;
	struct source_lines *source; /* source lines for HTML pages; NULL without --source */
	struct report_site *sites;   /* shown sites, sorted; the sites of a group are adjacent */
	size_t site_cnt;
	size_t sites_total;
	enum group_by by;
	/* For each process, the site that has its largest block; empty unless requested. */
	const struct report_site *largest;
	size_t largest_cnt;
	struct report_group *groups; /* shown groups, sorted; none with --by stack */
	size_t group_cnt;
	size_t groups_total;
	uint64_t bytes; /* sum over all sites, shown or not */
	uint64_t count;
	double bytes_variance; /* variance of bytes, due to sampling; NAN if not known */
	double count_variance;
	uint64_t inherited_bytes; /* bytes of blocks that forked children inherited */
	uint64_t inherited_count;
	uint64_t definite_count; /* number of blocks that nothing points to; 0 without a proof */
	uint64_t complete_bytes; /* bytes of sites whose stack is complete */
	/* Rows of --summary, sorted; NULL if not requested. */
	const struct process_summary **summaries;
	size_t summary_cnt;
	/*
	 * Number of processes that have blocks; `largest` has a site for largest_cnt of these
	 * processes.
	 */
	size_t largest_total;
	/* Growth of kernel sites, including caches, in bytes per second. */
	double kernel_per_s;
	/*
	 * Growing stacks: first those that seem to leak, the worst first, then companions
	 * (kernel_paths.h).
	 */
	const struct report_site *paths;
	size_t path_cnt;
	/* A suspect stands for all `paths` with the same program and blamed function. */
	struct suspect *suspects;
	size_t suspect_cnt;
	size_t suspects_total; /* number of sites that seem to leak */
	/* number of growing sites that are no suspects: caches, memory of tracers */
	size_t excluded_total;
	double suspects_per_s; /* growth of all sites that seem to leak, in bytes per second */
	/*
	 * The caller that most of the following sites have in common: sites that seem to leak, but
	 * are in no suspect, or only in a slight one (suspects.h).
	 */
	struct shared_caller shared;
	const struct report_site *lost_paths; /* sites with lost blocks */
	size_t lost_path_cnt;
	/* A loss stands for all `lost_paths` with the same program and blamed function. */
	struct proven_loss *losses;
	size_t loss_cnt;
	size_t losses_total; /* number of sites with lost blocks */
	/* Sites that pin free memory (rss.h); empty unless rss_pins_matter() is true. */
	const struct report_site *pin_paths;
	size_t pin_path_cnt;
	/* A pinner stands for all `pin_paths` with the same program and blamed function. */
	struct pinner *pinners;
	size_t pinner_cnt;
	/* Sites whose blocks store the items of Python containers that keep growing. */
	const struct report_site *keepers;
	size_t keeper_cnt;
	const struct report_site *holders; /* sites whose blocks point to blocks of shown sites */
	size_t holder_cnt;
	size_t judged; /* number of sites whose history is long enough for a verdict */
	/*
	 * Number of growing sites without a verdict: their blocks may just replace freed blocks
	 * from before tracing.
	 */
	size_t undecided;
	/*
	 * Number of pending sites, which are large sites that may go on growing: the next step of
	 * their growth may not be due yet, or they grow although many of their blocks are freed. 1
	 * if no site is pending, but the sum over all sites with a certain call is.
	 */
	size_t pending;
	size_t pending_freed; /* number of pending sites that free blocks */
	/* bytes of the pending sites, or of the pending sum over the sites with a certain call */
	uint64_t pending_bytes;
	struct runtime_init runtime_init;
	/*
	 * Index of the first shown site that is runtime initialisation; all later sites are, too.
	 */
	size_t runtime_init_from;
	bool only_runtime_init; /* true if all outstanding sites are runtime initialisation */
	/* A pool for which pool_is_unclear() is true; NULL if there is none. */
	const struct pool *unclear;
	/* One of `paths` that may stop growing soon; NULL if there is none. */
	const struct report_site *settling;
	/*
	 * Growth that traced blocks do not explain. Its arrays belong to the caller of
	 * report_init_groups().
	 */
	struct untraced_growths untraced;
	/* Resident memory of the process, if there is only one; NULL if not known. */
	const struct rss *rss;
	/*
	 * Resident memory of the process, if there is only one, when it was first known; NULL if it
	 * is not known yet, or for the first time now.
	 */
	const struct rss *first_rss;
	const struct rss_past *rss_past; /* resident memory at earlier reports; may be NULL */
	/* Resident memory, summed over the latest reading of each living process; may be all 0. */
	struct rss latest_rss;
	struct processes_rss processes_rss; /* resident memory of several processes */
	/* true if sites are sorted by pinned memory, provided that has_pinned is true */
	bool by_pin;
	bool has_pinned; /* true if some sites are known to pin memory */
	bool has_older;  /* true if --older is given and is not 0 */
	bool any_age;    /* true if --older is 0 */
	bool has_min_size;
	bool has_max_size;
	bool show_allocs;
	const struct report_site *peak; /* sites of the peak that are shown, sorted */
	size_t peak_cnt;
	bool show_largest;
	bool show_peak;
	bool show_stats;
	bool show_summary;
	bool show_why;
	bool can_list_all; /* true if the report lists all suspects with --why */
	bool propose;      /* true if the report proposes suppressions */
	bool final;
	/*
	 * True if the report is made from a recording: a thread without a name need not have ended.
	 */
	bool recorded;
	bool all_frames;
	bool colour;
	/* bit for each enum advised_option that must not be advised: see struct options */
	unsigned int refused;
	/* Size of the terminal in which the stacks should fit; rows is 0 if there is no limit. */
	unsigned int rows;
	unsigned int columns;
	/*
	 * Outstanding bytes at the latest reports, oldest first. The last entry is that of this
	 * report.
	 */
	const uint64_t *past;
	size_t past_cnt;
	uint64_t past_peak_bytes; /* largest outstanding bytes at any report since the baseline */
	double past_per_s;        /* growth over `past` in bytes per second; NAN if not known */
	/*
	 * Processes that ended since the previous report; in the final report, those that ended
	 * since tracing began. NULL or empty if there are none.
	 */
	const struct ended_processes *ended;
	/* Number of the snapshots that verdicts are based on, and the time that they cover. */
	struct ranking_past watched;
	/* array that the `locations` of all sites point into */
	const struct sym_location **location_store;
	struct joined_histories joined; /* histories of `paths` that stand for several paths */
	struct joined_histories joined_calls; /* histories of calls that have copies */
};

/*
 * Makes a report without groups. `growth` has one entry for each site of snap. `symbols` names
 * frames until deadline_ns (CLOCK_MONOTONIC); a frame that has no name by then may get a name in
 * the next report. The report points into snap, which must outlive the report. Returns 0 or
 * -ENOMEM.
 */
int report_init(const struct options *opts, const struct snapshot *snap,
		const struct growth *growth, struct symbol_backend *symbols, uint64_t deadline_ns,
		bool final, struct report *ret);
/*
 * Like report_init(), but also reports the groups and sums of the snapshot. `grouping` and `sums`
 * may be NULL. The report points into both.
 */
int report_init_groups(const struct options *opts, const struct snapshot *snap,
		       const struct growth *growth, const struct grouping *grouping,
		       const struct growth *group_growth, const struct sums *sums,
		       struct symbol_backend *symbols, uint64_t deadline_ns, bool final,
		       struct report *ret);
void report_deinit(struct report *report);

/* True if the option can be added to those in use. */
static inline bool report_may_advise(const struct report *report, enum advised_option option)
{
	return !(report->refused & 1U << option);
}

/* True if a site seems to leak, and is neither settling nor excluded from the suspects. */
bool report_marks_suspect(const struct report *report, const struct report_site *shown);

#endif
