// SPDX-License-Identifier: GPL-2.0-or-later
/* Names for the addresses of the user source: each process has its own address space. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "loader/cleanup.h"
#include "loader/user_source_impl.h"

static struct user_source *source_of(struct symbol_backend *self)
{
	return (struct user_source *)((char *)self - offsetof(struct user_source, symbols));
}

static bool is_unsure(uint64_t frame)
{
	return !MEMLEAK_FRAME_IN_FILE(frame) && frame & MEMLEAK_FRAME_UNSURE;
}

static struct sym_query query_of(const struct user_source *source, uint64_t frame)
{
	const struct unwind_files *files = &source->unwind.files;
	struct sym_query query = {
		.addr = MEMLEAK_FRAME_ADDR(frame),
		.exact = MEMLEAK_FRAME_IS_EXACT(frame),
	};

	if (MEMLEAK_FRAME_IN_FILE(frame) && MEMLEAK_FRAME_FILE_NUMBER(frame) < files->cnt) {
		query.file = files->items[MEMLEAK_FRAME_FILE_NUMBER(frame)].symbols;
		query.addr = MEMLEAK_FRAME_OFFSET(frame);
	}
	return query;
}

/*
 * Whose code names a site. Of a peak the process may be gone: places in files are the same in any
 * other.
 */
static struct user_process *namer_of(struct user_source *source, const struct site *site)
{
	struct user_process *process =
		site->process ? user_source__process(source, site->process->image) : NULL;

	return process || !site->process || !source->processes.cnt ? process
								   : source->processes.items[0];
}

/* Whether that process has, or had, at an address what the site's had. */
static bool can_name(const struct user_process *process, const struct site *site, uint64_t frame)
{
	return MEMLEAK_FRAME_IN_FILE(frame) || process->info.image == site->process->image;
}

static size_t count_frames(struct user_source *source, const struct user_process *process,
			   const struct site *const *sites, size_t cnt)
{
	size_t frames = 0;

	for (size_t i = 0; i < cnt; i++)
		if (namer_of(source, sites[i]) == process)
			frames += sites[i]->frame_cnt;
	return frames;
}

/* All frames of one process's sites in one go. */
static int prepare_process(struct user_source *source, struct user_process *process,
			   const struct site *const *sites, size_t cnt, unsigned int budget_ms)
{
	size_t frame_cnt = count_frames(source, process, sites, cnt), at = 0;
	cleanup_free const struct sym_location **locations = NULL;
	cleanup_free struct sym_query *queries = NULL;

	if (!frame_cnt)
		return 0;
	queries = calloc(frame_cnt, sizeof(*queries));
	locations = calloc(frame_cnt, sizeof(*locations));
	if (!queries || !locations)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		if (namer_of(source, sites[i]) != process)
			continue;
		for (size_t j = 0; j < sites[i]->frame_cnt; j++)
			if (can_name(process, sites[i], sites[i]->frames[j]))
				queries[at++] = query_of(source, sites[i]->frames[j]);
	}
	return symspace__resolve(process->space, queries, at, budget_ms, locations);
}

static int user_symbols__prepare(struct symbol_backend *self, const struct site *const *sites,
				 size_t cnt, unsigned int budget_ms)
{
	struct user_source *source = source_of(self);

	for (size_t i = 0; i < source->processes.cnt; i++) {
		int err =
			prepare_process(source, source->processes.items[i], sites, cnt, budget_ms);

		if (err)
			return err;
	}
	return 0;
}

static const struct sym_location *user_symbols__lookup(struct symbol_backend *self,
						       const struct site *site, uint64_t frame)
{
	struct user_source *source = source_of(self);
	struct sym_query query = query_of(source, frame);
	const struct sym_location *location;
	struct user_process *process;

	if (is_unsure(frame))
		return NULL;
	process = namer_of(source, site);
	if (!process || !can_name(process, site, frame) ||
	    symspace__resolve(process->space, &query, 1, 0, &location))
		return NULL;
	return location;
}

const struct symbol_backend user_symbols = {
	.prepare = user_symbols__prepare,
	.lookup = user_symbols__lookup,
};
