// SPDX-License-Identifier: GPL-2.0-or-later
/* A symbol backend that looks addresses up in a table and records how it was called. */
#include "tests/unit/lib/fake_symbols.h"

static int fake_prepare(struct symbol_backend *self, const struct site *const *sites, size_t cnt,
			uint64_t deadline_ns)
{
	struct fake_symbols *fake = (struct fake_symbols *)self;

	fake->prepare_cnt++;
	fake->prepared_cnt = cnt;
	fake->deadline_ns = deadline_ns;
	return fake->prepare_result;
}

static const struct sym_location *fake_lookup(struct symbol_backend *self, const struct site *site,
					      uint64_t addr)
{
	struct fake_symbols *fake = (struct fake_symbols *)self;

	fake->lookup_cnt++;
	for (size_t i = 0; i < fake->location_cnt; i++)
		if (fake->locations[i].addr == addr)
			return &fake->locations[i];
	return NULL;
}

static const struct sym_location *fake_place(struct symbol_backend *self, const struct site *site,
					     enum sym_kind kind, uint64_t addr,
					     uint64_t deadline_ns)
{
	return fake_lookup(self, site, addr);
}

struct fake_symbols fake_symbols_of(const struct sym_location *locations, size_t cnt)
{
	return (struct fake_symbols){
		.backend = {.prepare = fake_prepare, .lookup = fake_lookup, .place = fake_place},
		.locations = locations,
		.location_cnt = cnt,
	};
}
