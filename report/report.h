/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report: a ranked snapshot cut to the sites that are shown, each frame named. Sinks see this
 * and nothing else.
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

/* Sums that are judged beside single sites; NULL: there are none. */
struct sums {
	const struct pools *pools;
	const struct callers *callers;
	const struct untraced_growths *untraced;
	const struct rss *first_rss; /* of the first snapshot that has it */
};

/* What --by sums sites up to, with the top of its sites. */
struct report_group {
	const struct site *sum; /* without a stack */
	const char *name;       /* by module or cgroup: its path; NULL: not known */
	char *thread;           /* by thread: its name, raw bytes; NULL: it has ended */
	int64_t growth_bytes;
	int64_t growth_count;
	const struct site_history *history;
	size_t sites_total;
	const struct report_site *sites; /* among the report's */
	size_t site_cnt;
};

struct report {
	const struct snapshot *snapshot;
	struct report_site *sites; /* sorted, at most top; those of a group are together */
	size_t site_cnt;
	size_t sites_total;
	enum group_by by;
	const struct report_site *largest; /* of the largest block of each process, if asked for */
	size_t largest_cnt;
	struct report_group *groups; /* sorted, at most top; none by stack */
	size_t group_cnt;
	size_t groups_total;
	uint64_t bytes; /* of all sites, shown or not */
	uint64_t count;
	double bytes_variance; /* with sampling; NAN: not known */
	double count_variance;
	uint64_t inherited_bytes; /* what forked children have of their parents */
	uint64_t inherited_count;
	uint64_t definite_count; /* with a proof: blocks of these that nothing points to */
	uint64_t complete_bytes; /* of those whose stack is known to its outer end */
	const struct process_summary **summaries; /* sorted, as many as are shown; if asked for */
	size_t summary_cnt;
	size_t largest_total;            /* processes that have a largest block */
	double kernel_per_s;             /* bytes by which kernel sites grow, caches included */
	const struct report_site *paths; /* the sites that seem to leak, the worst first */
	size_t path_cnt;
	struct suspect *suspects; /* these by whom they are of */
	size_t suspect_cnt;
	size_t suspects_total;                /* sites that seem to leak */
	struct shared_caller shared;          /* of those that no suspect stands for */
	const struct report_site *lost_paths; /* the sites of which something is lost */
	size_t lost_path_cnt;
	struct proven_loss *losses; /* these by whom they are of */
	size_t loss_cnt;
	size_t losses_total;               /* sites of which something is lost */
	const struct report_site *holders; /* sites whose blocks hold those of others */
	size_t holder_cnt;
	size_t judged; /* sites of which enough is known to say whether they grow */
	/* Sites that grow, perhaps only in the place of what was there before tracing began. */
	size_t undecided;
	size_t between_steps; /* sites of some weight whose next step may not be due yet */
	struct runtime_init runtime_init;
	size_t runtime_init_from;           /* by stack: from this site on it is nothing else */
	bool only_runtime_init;             /* there is nothing else at all */
	const struct pool *unclear;         /* see pool_is_unclear(); NULL: none is */
	const struct report_site *settling; /* a path whose objects may yet settle; NULL: none */
	struct untraced_growths untraced;   /* the caller's of report_init_groups() */
	const struct rss *rss;              /* of the only process; NULL if it is not known */
	const struct rss *first_rss;        /* what it was first; NULL if it is not known */
	bool has_older;                     /* filters that were given */
	bool has_min_size;
	bool has_max_size;
	bool show_allocs;
	const struct report_site *peak; /* those that are shown of it, sorted */
	size_t peak_cnt;
	bool show_largest;
	bool show_peak;
	bool show_stats;
	bool show_summary;
	bool show_why;
	bool propose; /* suppressions */
	bool final;
	bool recorded; /* threads may well be running */
	bool all_frames;
	bool colour;
	/* What was outstanding at the last reports, in bytes, the oldest first; this one is the
	 * last.
	 */
	const uint64_t *past;
	size_t past_cnt;
	/* That ended since the last report; of the final one, since tracing began. NULL: none. */
	const struct ended_processes *ended;
	struct ranking_past watched;                /* what verdicts go by */
	const struct sym_location **location_store; /* what the sites' locations point into */
};

/*
 * growth: one per site of snap. symbols name frames until deadline_ns of CLOCK_MONOTONIC; what has
 * no name by then is named in the next report. The report points into snap, which must outlive it.
 */
int report_init(const struct options *opts, const struct snapshot *snap,
		const struct growth *growth, struct symbol_backend *symbols, uint64_t deadline_ns,
		bool final, struct report *ret);
/*
 * With groups, whose sums and growth are of the same snapshot, and sums, which may both be NULL;
 * the report points into them.
 */
int report_init_groups(const struct options *opts, const struct snapshot *snap,
		       const struct growth *growth, const struct grouping *grouping,
		       const struct growth *group_growth, const struct sums *sums,
		       struct symbol_backend *symbols, uint64_t deadline_ns, bool final,
		       struct report *ret);
void report_deinit(struct report *report);

#endif
