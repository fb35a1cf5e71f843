/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes keys of sites. Two sites have the same key if they match by the rules in report/diff.h. */
#ifndef REPORT_DIFF_KEY_H
#define REPORT_DIFF_KEY_H

#include "base/byte_buffer.h"
#include "base/intern.h"
#include "report/report_site.h"

/* A side of a comparison: a snapshot and its symbols. */
struct diff_side {
	const char *name; /* path of the recording */
	const struct snapshot *snap;
	struct symbol_backend *symbols;
	uint64_t bytes; /* sum of the bytes of all sites of this side */
	uint64_t count;
};

struct diff_keys {
	bool same_run;
	struct intern builds[2]; /* build ids of each side */
	struct byte_buffer key;  /* text of the most recently made key */
};

/* Initialises the maker of keys. Returns 0 or -ENOMEM; call diff_keys_deinit() in both cases. */
int diff_keys_init(const struct diff_side *sides, bool same_run, struct diff_keys *ret);
void diff_keys_deinit(struct diff_keys *keys);

/* Makes the key of a site in keys->key. Returns 0 or -ENOMEM. */
int diff_keys_make(struct diff_keys *keys, struct symbol_backend *symbols, const struct site *site);

#endif
