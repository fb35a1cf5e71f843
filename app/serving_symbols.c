// SPDX-License-Identifier: GPL-2.0-or-later
/* Slices of naming, and between two of them a turn for the source. */
#include "app/serving_symbols.h"

#include <stddef.h>

/* A turn may have to wait for so long. */
#define SLICE_NS 100000000ULL

static struct serving_symbols *serving_of(struct symbol_backend *self)
{
	return (struct serving_symbols *)((char *)self - offsetof(struct serving_symbols, backend));
}

/* The last slice ends with the deadline, and says that it is the last. */
static int serving_symbols__prepare(struct symbol_backend *self, const struct site *const *sites,
				    size_t cnt, uint64_t deadline_ns)
{
	struct serving_symbols *symbols = serving_of(self);
	struct symbol_backend *named = symbols->source->symbols;
	int err, done;

	do {
		named->slice_ns = SLICE_NS;
		done = named->prepare(named, sites, cnt, deadline_ns);
		named->slice_ns = 0;
		err = done > 0 ? symbols->serve(symbols->arg, deadline_ns) : done;
	} while (done > 0 && !err);
	return err;
}

static const struct sym_location *serving_symbols__lookup(struct symbol_backend *self,
							  const struct site *site, uint64_t frame)
{
	struct symbol_backend *named = serving_of(self)->source->symbols;

	return named->lookup(named, site, frame);
}

struct serving_symbols serving_symbols_of(struct source *source,
					  int (*serve)(void *arg, uint64_t deadline_ns), void *arg)
{
	return (struct serving_symbols){
		.backend = {.prepare = serving_symbols__prepare, .lookup = serving_symbols__lookup},
		.source = source,
		.serve = serve,
		.arg = arg,
	};
}
