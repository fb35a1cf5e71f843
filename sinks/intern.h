/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers for byte strings: the same string has the same number, counted from 1. */
#ifndef INTERN_H
#define INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interned {
	uint64_t hash;
	uint64_t number; /* 0: a free slot */
	void *bytes;
	size_t len;
};

struct intern {
	struct interned *slots; /* open addressing, a power of two, at most half full */
	size_t slot_cnt;
	size_t cnt;
};

/* *fresh: it was not there before. 0 or -ENOMEM. */
int intern_get(struct intern *table, const void *bytes, size_t len, uint64_t *ret, bool *fresh);
bool intern_has(const struct intern *table, const void *bytes, size_t len);
void intern_deinit(struct intern *table);

/* Never 0. */
uint64_t intern_hash(const void *bytes, size_t len);

#endif
