// SPDX-License-Identifier: GPL-2.0-or-later
/* Names frames by the files that they are in, or by what their process has mapped. */
#include "loader/user/symbols.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/cleanup.h"

static struct user_symbols *symbols_of(struct symbol_backend *self)
{
	return (struct user_symbols *)((char *)self - offsetof(struct user_symbols, backend));
}

static bool is_unsure(uint64_t frame)
{
	return !MEMLEAK_FRAME_IN_FILE(frame) && frame & MEMLEAK_FRAME_UNSURE;
}

static struct sym_query query_of(const struct process_set *set, uint64_t frame)
{
	const struct unwind_files *files = &set->programs->unwind.files;
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
static struct user_process *namer_of(struct process_set *set, const struct site *site)
{
	struct user_process *process =
		site->process ? process_set_process(set, site->process->image) : NULL;

	return process || !site->process || !set->table.cnt ? process : set->table.items[0];
}

/* Whether that process has, or had, at an address what the site's had. */
static bool can_name(const struct user_process *process, const struct site *site, uint64_t frame)
{
	return MEMLEAK_FRAME_IN_FILE(frame) || process->info.image == site->process->image;
}

static size_t count_frames(struct process_set *set, const struct user_process *process,
			   const struct site *const *sites, size_t cnt)
{
	size_t frames = 0;

	for (size_t i = 0; i < cnt; i++)
		if (namer_of(set, sites[i]) == process)
			frames += sites[i]->frame_cnt;
	return frames;
}

/* All frames of one process's sites in one go. */
static int prepare_process(struct process_set *set, struct user_process *process,
			   const struct site *const *sites, size_t cnt, uint64_t deadline_ns)
{
	size_t frame_cnt = count_frames(set, process, sites, cnt), at = 0;
	cleanup_free const struct sym_location **locations = NULL;
	cleanup_free struct sym_query *queries = NULL;

	if (!frame_cnt)
		return 0;
	queries = calloc(frame_cnt, sizeof(*queries));
	locations = calloc(frame_cnt, sizeof(*locations));
	if (!queries || !locations)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		if (namer_of(set, sites[i]) != process)
			continue;
		for (size_t j = 0; j < sites[i]->frame_cnt; j++)
			if (can_name(process, sites[i], sites[i]->frames[j]))
				queries[at++] = query_of(set, sites[i]->frames[j]);
	}
	return symspace__resolve(process->space, queries, at, deadline_ns, locations);
}

static int user_symbols__prepare(struct symbol_backend *self, const struct site *const *sites,
				 size_t cnt, uint64_t deadline_ns)
{
	struct process_set *set = symbols_of(self)->set;

	for (size_t i = 0; i < set->table.cnt; i++) {
		int err = prepare_process(set, set->table.items[i], sites, cnt, deadline_ns);

		if (err)
			return err;
	}
	return 0;
}

static const struct sym_location *user_symbols__lookup(struct symbol_backend *self,
						       const struct site *site, uint64_t frame)
{
	struct process_set *set = symbols_of(self)->set;
	struct sym_query query = query_of(set, frame);
	const struct sym_location *location;
	struct user_process *process;

	if (is_unsure(frame))
		return NULL;
	process = namer_of(set, site);
	if (!process || !can_name(process, site, frame) ||
	    symspace__resolve(process->space, &query, 1, 0, &location))
		return NULL;
	return location;
}

struct user_symbols user_symbols_of(struct process_set *set)
{
	return (struct user_symbols){
		.backend = {.prepare = user_symbols__prepare, .lookup = user_symbols__lookup},
		.set = set,
	};
}
