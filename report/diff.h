/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds what has changed between two snapshots (sides), which may be of one run or of two runs.
 * Between two runs, addresses and process ids are not compared. Pure arithmetic on snapshots and
 * names.
 *
 * Within one run, two sites with the same id match, and the names of their frames are those of the
 * second side. Other sites match if they have the same kind, the same process and the same frames.
 * Processes match by process id within one run, and by name in two runs. Two frames match if they
 * have the same
 *	- file, function and line, if they are of a script;
 *	- offset in the file, if both files have the same build id or are of one run;
 *	- address, if they are of one run and not in a file;
 *	- otherwise, names of the function and of the file; folders are not compared;
 *	- if the function has no name, name of the file and offset in it.
 * Names of slab caches are not compared, because a site of several caches has only one name. If
 * several sites of one side match, their sum is compared.
 */
#ifndef REPORT_DIFF_H
#define REPORT_DIFF_H

#include "options/options.h"
#include "report/diff_key.h"
#include "report/report_site.h"

enum change { CHANGE_NEW, CHANGE_GROWN, CHANGE_SHRUNK, CHANGE_GONE, CHANGE_NONE, CHANGE_CNT };

/* Returns the name of a change in reports, such as "new" or "grown". */
const char *change_name(enum change change);

/* Sum over the matching sites of one side. */
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
 * Compares two snapshots. The sites whose bytes changed most come first; with --sort count, those
 * whose number of blocks changed most; with other sort orders except size, those that have grown
 * most. Returns 0 or -ENOMEM.
 */
int diff_init(const struct options *opts, const struct diff_side *sides, bool same_run,
	      struct diff *ret);
void diff_deinit(struct diff *diff);

/* Returns the growth of a site from the first side to the second; negative if it has shrunk. */
int64_t diff_bytes(const struct diff_site *site);
int64_t diff_count(const struct diff_site *site);

#endif
