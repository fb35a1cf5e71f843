/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A symbol backend that knows what a table says, and remembers what it was asked for. */
#ifndef FAKE_SYMBOLS_H
#define FAKE_SYMBOLS_H

#include <stddef.h>

#include "report/report.h"

struct fake_symbols {
	struct symbol_backend backend;
	const struct sym_location *locations;
	size_t location_cnt;
	int prepare_result;
	size_t prepare_cnt;  /* calls */
	size_t prepared_cnt; /* sites of the last call */
	unsigned int budget_ms;
};

static inline int fake_prepare(struct symbol_backend *self, const struct site *const *sites,
			       size_t cnt, unsigned int budget_ms)
{
	struct fake_symbols *fake = (struct fake_symbols *)self;

	fake->prepare_cnt++;
	fake->prepared_cnt = cnt;
	fake->budget_ms = budget_ms;
	return fake->prepare_result;
}

static inline const struct sym_location *fake_lookup(struct symbol_backend *self,
						     const struct site *site, uint64_t addr)
{
	struct fake_symbols *fake = (struct fake_symbols *)self;

	for (size_t i = 0; i < fake->location_cnt; i++)
		if (fake->locations[i].addr == addr)
			return &fake->locations[i];
	return NULL;
}

static inline struct fake_symbols fake_symbols_of(const struct sym_location *locations, size_t cnt)
{
	return (struct fake_symbols){
		.backend = {.prepare = fake_prepare, .lookup = fake_lookup},
		.locations = locations,
		.location_cnt = cnt,
	};
}

#endif
