/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers things by their bytes: what is new gets the next number, from 1 on. For formats that
 * write a name once and its number afterwards. It knows nothing of what the bytes are.
 */
#ifndef NUMBERING_H
#define NUMBERING_H

#include <stdbool.h>
#include <stddef.h>

struct numbering {
	void *tree;
	size_t cnt;
};

/* 0: no memory. is_new: this is the first time. All zero is an empty numbering. */
size_t numbering_of(struct numbering *numbering, const void *bytes, size_t len, bool *is_new);
void numbering_deinit(struct numbering *numbering);

#endif
