/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a site is, as bytes: those that match have the same. See report/diff.h. */
#ifndef REPORT_DIFF_KEY_H
#define REPORT_DIFF_KEY_H

#include "base/byte_buffer.h"
#include "base/intern.h"
#include "report/report_site.h"

/* One of the two snapshots that are compared. */
struct diff_side {
	const char *name; /* the file */
	const struct snapshot *snap;
	struct symbol_backend *symbols;
	uint64_t bytes; /* of all sites */
	uint64_t count;
};

struct diff_keys {
	bool same_run;
	struct intern builds[2]; /* build ids of each side */
	struct byte_buffer key;  /* the last one that was made */
};

/* 0 or -ENOMEM; needs diff_keys_deinit in either case. */
int diff_keys_init(const struct diff_side *sides, bool same_run, struct diff_keys *ret);
void diff_keys_deinit(struct diff_keys *keys);

/* 0 or -ENOMEM. */
int diff_keys_make(struct diff_keys *keys, struct symbol_backend *symbols, const struct site *site);

#endif
