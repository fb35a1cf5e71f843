/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report: a ranked snapshot cut to the sites that are shown, each frame named. Sinks see this
 * and nothing else.
 */
#ifndef REPORT_H
#define REPORT_H

#include "loader/options.h"
#include "report/ranking.h"
#include "report/snapshot.h"
#include "symbolizer/symbolizer.h"

/*
 * The first report of a large C++ program reads hundreds of megabytes of DWARF; what is not
 * named by then is named in the next report.
 */
#define NAMING_BUDGET_MS 10000

struct grouping;

/* Names the addresses of sites; one implementation per kind of address space or file. */
struct symbol_backend {
	/*
	 * Makes the names of all frames of these sites ready, in one go; budget_ms bounds it.
	 * lookup finds them afterwards. Fails only with -ENOMEM.
	 */
	int (*prepare)(struct symbol_backend *self, const struct site *const *sites, size_t cnt,
		       unsigned int budget_ms);
	/* NULL: nothing known. Valid until the next prepare. */
	const struct sym_location *(*lookup)(struct symbol_backend *self, const struct site *site,
					     uint64_t frame);
	/* A later snapshot may name what has no name now, however long prepare took. */
	bool names_follow;
};

/* Where the code of a frame is, or was last; 0: not known. */
uint64_t frame_address(uint64_t frame, const struct sym_location *location);

/* Of a function in a stack. */
struct place {
	size_t frame;    /* of the site */
	size_t function; /* of the location: the innermost inlined one is 0 */
};

struct report_site {
	const struct site *site;
	int64_t growth_bytes; /* against the previous snapshot */
	int64_t growth_count;
	const struct site_history *history;    /* NULL: of a single moment */
	const struct sym_location **locations; /* one per frame of the site; entries may be NULL */
	bool start_up;                         /* of libraries; not looked for in groups */
	size_t first_frame;                    /* the first that is not an allocator's own */
	struct place culprit;                  /* whom the memory is for, as far as is known */
	const struct block *blocks;            /* with -a */
	size_t block_cnt;
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

/* What libraries keep for themselves, as far as it would be among the sites that are shown. */
struct start_up {
	uint64_t bytes;
	uint64_t count;
	size_t sites;
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
	uint64_t complete_bytes; /* of those whose stack is known to its outer end */
	const struct process_summary **summaries; /* sorted, as many as are shown; if asked for */
	size_t summary_cnt;
	size_t largest_total;               /* processes that have a largest block */
	const struct report_site *suspects; /* those that seem to leak, the worst first */
	size_t suspect_cnt;
	size_t suspects_total;
	size_t judged; /* sites of which enough is known to say whether they grow */
	struct start_up start_up;
	size_t start_up_from; /* by stack: from this site on it is nothing else */
	bool only_start_up;   /* there is nothing else at all */
	bool show_allocs;
	const struct report_site *peak; /* those that are shown of it, sorted */
	size_t peak_cnt;
	bool show_largest;
	bool show_peak;
	bool show_stats;
	bool show_summary;
	bool propose; /* suppressions */
	bool final;
	bool recorded;                              /* threads may well be running */
	const struct sym_location **location_store; /* what the sites' locations point into */
};

/* growth: one per site of snap. The report points into snap, which must outlive it. */
int report_init(const struct options *opts, const struct snapshot *snap,
		const struct growth *growth, struct symbol_backend *symbols, bool final,
		struct report *ret);
/* With groups, whose sums and growth are of the same snapshot; the report points into both. */
int report_init_groups(const struct options *opts, const struct snapshot *snap,
		       const struct growth *growth, const struct grouping *grouping,
		       const struct growth *group_growth, struct symbol_backend *symbols,
		       bool final, struct report *ret);
void report_deinit(struct report *report);

/* Finds the names of a site's frames, which symbols was told to prepare. */
void report_site_name(struct symbol_backend *symbols, struct report_site *shown);

#endif
