// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Resolves addresses in known files by file and offset, and other addresses in the symbol space of
 * their process.
 */
#include "loader/agent/symbols.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/proc_maps.h"
#include "bpf/memleak.h"

static struct agent_symbols *symbols_of(struct symbol_backend *self)
{
	return (struct agent_symbols *)((char *)self - offsetof(struct agent_symbols, backend));
}

static struct sym_query query_of(const struct agent_symbols *symbols, uint64_t frame)
{
	struct sym_query query = {
		.addr = MEMLEAK_FRAME_ADDR(frame),
		.exact = MEMLEAK_FRAME_IS_EXACT(frame),
	};

	if (MEMLEAK_FRAME_IN_FILE(frame) &&
	    MEMLEAK_FRAME_FILE_NUMBER(frame) < symbols->files->cnt) {
		query.file = symbols->files->items[MEMLEAK_FRAME_FILE_NUMBER(frame)].symbols;
		query.addr = MEMLEAK_FRAME_OFFSET(frame);
	}
	return query;
}

/*
 * Returns the symbol space of the process. All ended processes share one symbol space, which can
 * only resolve addresses in files.
 */
static struct symspace *space_of(struct agent_symbols *symbols, const struct site *site)
{
	const struct proc_maps none = {0};
	struct symspace *space =
		site->process ? symbols->space(symbols->arg, site->process->image) : NULL;

	if (!space && !symbols->ended)
		symspace__new_ended(symbols->files->symbolizer, &none, &symbols->ended);
	return space ? space : symbols->ended;
}

static int prepare_site(struct agent_symbols *symbols, const struct site *site,
			uint64_t deadline_ns)
{
	struct symspace *space = space_of(symbols, site);
	cleanup_free const struct sym_location **locations = NULL;
	cleanup_free struct sym_query *queries = NULL;
	size_t cnt = 0;

	if (!space)
		return 0;
	queries = calloc(site->frame_cnt + 1, sizeof(*queries));
	locations = calloc(site->frame_cnt + 1, sizeof(*locations));
	if (!queries || !locations)
		return -ENOMEM;
	for (size_t i = 0; i < site->frame_cnt; i++)
		if (!MEMLEAK_FRAME_IS_SCRIPT(site->frames[i]))
			queries[cnt++] = query_of(symbols, site->frames[i]);
	return symspace__resolve(space, queries, cnt, deadline_ns, locations);
}

static int agent_symbols__prepare(struct symbol_backend *self, const struct site *const *sites,
				  size_t cnt, uint64_t deadline_ns)
{
	int err = 0;

	for (size_t i = 0; !err && i < cnt; i++)
		err = prepare_site(symbols_of(self), sites[i], deadline_ns);
	return err;
}

static const struct sym_location *agent_symbols__lookup(struct symbol_backend *self,
							const struct site *site, uint64_t frame)
{
	struct agent_symbols *symbols = symbols_of(self);
	struct sym_query query = query_of(symbols, frame);
	struct symspace *space = space_of(symbols, site);
	const struct sym_location *location;

	if (MEMLEAK_FRAME_IS_SCRIPT(frame))
		return scripts_location(&symbols->files->scripts, frame);
	if (!space || symspace__resolve(space, &query, 1, 0, &location))
		return NULL;
	return location;
}

static const struct sym_location *agent_symbols__place(struct symbol_backend *self,
						       const struct site *site, enum sym_kind kind,
						       uint64_t addr, uint64_t deadline_ns)
{
	struct sym_query query = {.addr = addr, .kind = kind};
	struct symspace *space = space_of(symbols_of(self), site);
	const struct sym_location *location;

	if (!space || symspace__resolve(space, &query, 1, deadline_ns, &location))
		return NULL;
	return location;
}

struct agent_symbols agent_symbols_of(const struct code_files *files,
				      struct symspace *(*space)(void *arg, uint32_t image),
				      void *arg)
{
	return (struct agent_symbols){
		.backend = {.prepare = agent_symbols__prepare,
			    .lookup = agent_symbols__lookup,
			    .place = agent_symbols__place},
		.files = files,
		.space = space,
		.arg = arg,
	};
}

void agent_symbols_deinit(struct agent_symbols *symbols)
{
	symspace__free(symbols->ended);
	symbols->ended = NULL;
}
