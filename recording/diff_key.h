/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a site is, as bytes: those that match have the same. See recording/diff.h. */
#ifndef DIFF_KEY_H
#define DIFF_KEY_H

#include "recording/byte_buffer.h"
#include "recording/diff.h"
#include "sinks/intern.h"

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
