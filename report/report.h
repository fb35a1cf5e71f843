/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report: a ranked snapshot, cut to the sites that are shown, with named frames. A sink gets
 * nothing else as input.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "options/options.h"
#include "report/ended.h"
#include "report/footprint.h"
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

/* Sums that are judged in addition to single sites; each pointer may be NULL. */
struct sums {
	const struct pools *pools;
	const struct callers *callers;
	const struct untraced_growths *untraced;
	const struct rss *first_rss; /* resident memory in the first snapshot that has it */
};

/* A group of --by: the sum of its sites, and its top sites. */
struct report_group {
	const struct site *sum; /* sum of the group's sites, without a stack */
	const char *name;       /* path of the module or cgroup; NULL if not known */
	char *thread;           /* thread name, raw bytes; NULL if the thread has ended */
	int64_t growth_bytes;
	int64_t growth_count;
	const struct site_history *history;
	size_t sites_total;
	const struct report_site *sites; /* point into the report's sites */
	size_t site_cnt;
};

struct report {
	const struct snapshot *snapshot;
	struct report_site *sites; /* shown sites, sorted; sites of a group are adjacent */
	size_t site_cnt;
	size_t sites_total;
	enum group_by by;
	const struct report_site *largest; /* sites of the largest blocks; only if requested */
	size_t largest_cnt;
	struct report_group *groups; /* shown groups, sorted; none with --by stack */
	size_t group_cnt;
	size_t groups_total;
	uint64_t bytes; /* sum over all sites, shown or not */
	uint64_t count;
	double bytes_variance; /* variance of bytes with sampling; NAN if not known */
	double count_variance;
	uint64_t inherited_bytes; /* bytes of blocks that forked children inherited */
	uint64_t inherited_count;
	uint64_t definite_count; /* blocks that nothing points to; only with a proof */
	uint64_t complete_bytes; /* bytes of the sites with a complete stack */
	const struct process_summary **summaries; /* sorted rows; NULL if not requested */
	size_t summary_cnt;
	size_t largest_total;            /* length of the list before it was cut to largest_cnt */
	double kernel_per_s;             /* growth of kernel sites, including caches, in bytes */
	const struct report_site *paths; /* the sites that seem to leak, the worst first */
	size_t path_cnt;
	struct suspect *suspects; /* the paths, merged by program and blamed function */
	size_t suspect_cnt;
	size_t suspects_total;       /* sites that seem to leak */
	struct shared_caller shared; /* common caller of leaking sites outside the suspects */
	const struct report_site *lost_paths; /* sites with lost blocks */
	size_t lost_path_cnt;
	struct proven_loss *losses; /* the lost paths, merged by program and blamed function */
	size_t loss_cnt;
	size_t losses_total;               /* sites with lost blocks */
	const struct report_site *holders; /* sites whose blocks point to other sites' blocks */
	size_t holder_cnt;
	size_t judged; /* sites with enough history for a verdict */
	/* Growing sites that may only replace memory from before tracing began. */
	size_t undecided;
	size_t between_steps; /* large sites whose next growth step may not be due yet */
	struct runtime_init runtime_init;
	size_t runtime_init_from;           /* index of the first site of runtime initialisation */
	bool only_runtime_init;             /* all sites are runtime initialisation */
	const struct pool *unclear;         /* a pool with pool_is_unclear(); NULL if none */
	const struct report_site *settling; /* a path that may stop growing soon; or NULL */
	struct untraced_growths untraced;   /* owned by the caller of report_init_groups() */
	const struct rss *rss;              /* memory of the only process; NULL if not known */
	const struct rss *first_rss;        /* the first rss that was known; or NULL */
	bool has_older;                     /* the filter --older was given */
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
	bool propose; /* propose suppressions */
	bool final;
	bool recorded; /* the report is of a recording: unnamed threads may be alive */
	bool all_frames;
	bool colour;
	/* Outstanding bytes at the last reports, oldest first; the last entry is this report. */
	const uint64_t *past;
	size_t past_cnt;
	/* Processes that ended since the last report (final: since tracing began); NULL if none. */
	const struct ended_processes *ended;
	struct ranking_past watched;                /* the snapshots behind the verdicts */
	const struct sym_location **location_store; /* memory for the locations of all sites */
};

/*
 * Makes a report without groups. growth has one entry per site of snap. symbols name frames until
 * deadline_ns (CLOCK_MONOTONIC); a frame without a name by then may be named in the next report.
 * The report points into snap, which must outlive it. Returns 0 or -ENOMEM.
 */
int report_init(const struct options *opts, const struct snapshot *snap,
		const struct growth *growth, struct symbol_backend *symbols, uint64_t deadline_ns,
		bool final, struct report *ret);
/*
 * Like report_init(), but also reports groups and sums of the snapshot, which may be NULL. The
 * report points into the groups and sums.
 */
int report_init_groups(const struct options *opts, const struct snapshot *snap,
		       const struct growth *growth, const struct grouping *grouping,
		       const struct growth *group_growth, const struct sums *sums,
		       struct symbol_backend *symbols, uint64_t deadline_ns, bool final,
		       struct report *ret);
void report_deinit(struct report *report);

#endif
