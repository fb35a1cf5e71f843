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

static size_t count_frames(const struct process *process, const struct site *const *sites,
			   size_t cnt)
{
	size_t frames = 0;

	for (size_t i = 0; i < cnt; i++)
		if (sites[i]->process == process)
			frames += sites[i]->frame_cnt;
	return frames;
}

/* All frames of one process's sites in one go. */
static int prepare_process(const struct user_source *source, struct user_process *process,
			   const struct site *const *sites, size_t cnt, unsigned int budget_ms)
{
	size_t frame_cnt = count_frames(&process->info, sites, cnt), at = 0;
	cleanup_free const struct sym_location **locations = NULL;
	cleanup_free struct sym_query *queries = NULL;

	if (!frame_cnt)
		return 0;
	queries = calloc(frame_cnt, sizeof(*queries));
	locations = calloc(frame_cnt, sizeof(*locations));
	if (!queries || !locations)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		for (size_t j = 0; sites[i]->process == &process->info && j < sites[i]->frame_cnt;
		     j++)
			queries[at++] = query_of(source, sites[i]->frames[j]);
	return symspace__resolve(process->space, queries, frame_cnt, budget_ms, locations);
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
	process = site->process ? user_source__process(source, site->process->image) : NULL;
	if (!process || symspace__resolve(process->space, &query, 1, 0, &location))
		return NULL;
	return location;
}

const struct symbol_backend user_symbols = {
	.prepare = user_symbols__prepare,
	.lookup = user_symbols__lookup,
};
