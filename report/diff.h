/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds what has changed between two snapshots of one run or of two runs. Sites are matched without
 * using addresses; sites of two runs also without process ids. Pure arithmetic on snapshots and
 * names.
 *
 * In one run, sites with equal ids match, and their frames are named by the second side. All other
 * sites match if they have the same kind, the same process and the same frames. Processes match by
 * process id in one run, and by name in two runs. Frames match
 *	- if their files have the same build id, or in one run: at the same offset in the file;
 *	- otherwise: in functions of the same names, in files of the same name in any folder;
 *	  without function names, at the same offset in files of the same name.
 * Names of slab caches are not compared: a site has only the first of several caches. Matching
 * sites of one side are summed up.
 */
#ifndef REPORT_DIFF_H
#define REPORT_DIFF_H

#include "options/options.h"
#include "report/diff_key.h"
#include "report/report_site.h"

enum change { CHANGE_NEW, CHANGE_GROWN, CHANGE_SHRUNK, CHANGE_GONE, CHANGE_NONE, CHANGE_CNT };

/* Returns the name in reports, such as "new" or "grown". */
const char *change_name(enum change change);

/* Sum of the matching sites of one side. */
struct diff_part {
	uint64_t bytes;
	uint64_t count;
	const struct site *site; /* the largest of the matching sites; NULL if there is none */
};

struct diff_site {
	enum change change;
	struct diff_part parts[2];
	/* A matching site of the second side; if there is none, of the first side. */
	struct report_site shown;
};

struct diff {
	struct diff_side sides[2];
	struct diff_site *sites; /* sites that have changed, sorted */
	size_t site_cnt;
	size_t shown_cnt;
	size_t cnt_of[CHANGE_CNT];
};

/*
 * Compares two snapshots. Sites are sorted by the size of the change; with --sort growth, sites
 * that have grown most come first. Returns 0 or -ENOMEM.
 */
int diff_init(const struct options *opts, const struct diff_side *sides, bool same_run,
	      struct diff *ret);
void diff_deinit(struct diff *diff);

/* Returns the growth of a site from the first side to the second; negative if it has shrunk. */
int64_t diff_bytes(const struct diff_site *site);
int64_t diff_count(const struct diff_site *site);

#endif
