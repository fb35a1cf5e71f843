/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What has changed between two snapshots, perhaps of two runs: sites are matched by what they are,
 * and not by their addresses and process ids. Pure arithmetic on what snapshots and names say.
 *
 * Of one run, sites of the same id match; their frames are those that the second side names.
 * Else two sites match if they have the same kind, the same process and the same frames. Of one
 * run the process is the same if its id is, of two if its name is. A frame is the same
 *	- if its file has the same build id, or it is the same run: at the same place in the file;
 *	- else, or if a file has no build id: in functions of the same names in files of the same
 *	  name, whatever their folder; without names at the same place of that file.
 * A slab cache's name is no part of it: of several that a stack took from, the site has the first.
 * Sites of one side that match each other are summed up.
 */
#ifndef REPORT_DIFF_H
#define REPORT_DIFF_H

#include "options/options.h"
#include "report/diff_key.h"
#include "report/report_site.h"

enum change { CHANGE_NEW, CHANGE_GROWN, CHANGE_SHRUNK, CHANGE_GONE, CHANGE_NONE, CHANGE_CNT };

/* In reports: "new", "grown", ... */
const char *change_name(enum change change);

/* What a side has of a site. */
struct diff_part {
	uint64_t bytes;
	uint64_t count;
	const struct site *site; /* one of them; NULL: it has none */
};

struct diff_site {
	enum change change;
	struct diff_part parts[2];
	struct report_site shown; /* of the later one that there is */
};

struct diff {
	struct diff_side sides[2];
	struct diff_site *sites; /* that have changed, sorted */
	size_t site_cnt;
	size_t shown_cnt;
	size_t cnt_of[CHANGE_CNT];
};

/* Order: by how much has changed; with --sort growth what has grown most comes first. */
int diff_init(const struct options *opts, const struct diff_side *sides, bool same_run,
	      struct diff *ret);
void diff_deinit(struct diff *diff);

/* By the bytes, if these are the same by the count. */
int64_t diff_bytes(const struct diff_site *site);
int64_t diff_count(const struct diff_site *site);

#endif
