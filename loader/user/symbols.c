// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbolizes frames, which are offsets in files or addresses in their process. */
#include "loader/user/symbols.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/order.h"

/*
 * Number of recent frames that are remembered. If stacks have more different frames, some are
 * resolved repeatedly.
 */
#define RECENT_FRAMES 1024

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
 * Returns the symbol space of a site's process; NULL if the process is gone and its symbol space
 * was not kept.
 */
static struct symspace *own_space(struct user_symbols *symbols, const struct site *site)
{
	uint32_t image = site->process->image;
	const struct user_process *process = process_set_process(symbols->set, image);

	if (!process)
		return hash_map_get(&symbols->kept, image);
	/* If out of memory, the symbol space is not kept. */
	if (symbols->keeps)
		hash_map_set(&symbols->kept, image, process->space);
	return process->space;
}

/*
 * Returns the symbol space for a site's frames: the space of its process or, if that is gone, a
 * shared space that can resolve only offsets in files. NULL for a site without a user process, or
 * if out of memory.
 */
static struct symspace *space_of(struct user_symbols *symbols, const struct site *site)
{
	const struct proc_maps none = {0};
	struct symspace *space;

	if (site->space != SPACE_USER || !site->process)
		return NULL;
	space = own_space(symbols, site);
	if (space)
		return space;
	if (!symbols->files)
		symspace__new_ended(symbols->set->programs->ctx.symbolizer, &none, &symbols->files);
	return symbols->files;
}

/*
 * True if the symbol space can name the frame. False for script frames, which scripts_location()
 * names.
 */
static bool can_name(const struct user_symbols *symbols, const struct symspace *space,
		     uint64_t frame)
{
	if (MEMLEAK_FRAME_IS_SCRIPT(frame))
		return false;
	return MEMLEAK_FRAME_IN_FILE(frame) || space != symbols->files;
}

/* A site and its symbol space, for sorting sites by symbol space. */
struct named_site {
	struct symspace *space;
	const struct site *site;
};

static int by_space(const void *a, const void *b)
{
	return ORDER((uintptr_t)((const struct named_site *)a)->space,
		     (uintptr_t)((const struct named_site *)b)->space);
}

/* True if the frame is in its slot of `recent`. Otherwise puts it there. */
static bool is_repeated(uint64_t recent[RECENT_FRAMES], uint64_t frame)
{
	uint64_t *slot = &recent[hash_word(0, frame) % RECENT_FRAMES];

	if (*slot == frame)
		return true;
	*slot = frame;
	return false;
}

/*
 * Resolves all frames of the given sites, which have a common symbol space. Skips most of the
 * repeated frames, since many stacks share few frames.
 */
static int prepare_space(const struct user_symbols *symbols, const struct named_site *sites,
			 size_t cnt, uint64_t deadline_ns)
{
	cleanup_free const struct sym_location **locations = NULL;
	cleanup_free struct sym_query *queries = NULL;
	/* An empty slot contains 0, except slot 0, because frame 0 belongs in it. */
	uint64_t recent[RECENT_FRAMES] = {UINT64_MAX};
	size_t at = 0, cap = 0;

	for (size_t i = 0; i < cnt; i++) {
		const struct site *site = sites[i].site;

		for (size_t j = 0; j < site->frame_cnt; j++) {
			uint64_t frame = site->frames[j];

			if (is_repeated(recent, frame) || !can_name(symbols, sites->space, frame))
				continue;
			if (array_reserve(&queries, &cap, at + 1))
				return -ENOMEM;
			queries[at++] = query_of(symbols->set, frame);
		}
	}
	locations = calloc(at + 1, sizeof(*locations));
	if (!locations)
		return -ENOMEM;
	return symspace__resolve(sites->space, queries, at, deadline_ns, locations);
}

static int user_symbols__prepare(struct symbol_backend *self, const struct site *const *sites,
				 size_t cnt, uint64_t deadline_ns)
{
	cleanup_free struct named_site *named = calloc(cnt + 1, sizeof(*named));
	struct user_symbols *symbols = symbols_of(self);
	size_t named_cnt = 0;
	bool is_sorted = true;
	int err = 0;

	if (!named)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		struct named_site *next = &named[named_cnt];

		next->site = sites[i];
		next->space = space_of(symbols, sites[i]);
		if (!next->space)
			continue;
		is_sorted &= !named_cnt++ || by_space(next - 1, next) <= 0;
	}
	if (!is_sorted)
		qsort(named, named_cnt, sizeof(*named), by_space);
	for (size_t first = 0, end; !err && first < named_cnt; first = end) {
		for (end = first + 1; end < named_cnt; end++)
			if (named[end].space != named[first].space)
				break;
		err = prepare_space(symbols, named + first, end - first, deadline_ns);
	}
	return err;
}

static const struct sym_location *user_symbols__lookup(struct symbol_backend *self,
						       const struct site *site, uint64_t frame)
{
	struct user_symbols *symbols = symbols_of(self);
	struct sym_query query = query_of(symbols->set, frame);
	struct symspace *space = space_of(symbols, site);
	const struct sym_location *location;

	if (MEMLEAK_FRAME_IS_SCRIPT(frame))
		return scripts_location(&symbols->set->programs->unwind.scripts, frame);
	if (is_unsure(frame) || !space || !can_name(symbols, space, frame) ||
	    symspace__resolve(space, &query, 1, 0, &location))
		return NULL;
	return location;
}

static const struct sym_location *user_symbols__place(struct symbol_backend *self,
						      const struct site *site, enum sym_kind kind,
						      uint64_t addr, uint64_t deadline_ns)
{
	struct user_symbols *symbols = symbols_of(self);
	struct sym_query query = {.addr = addr, .kind = kind};
	struct symspace *space = space_of(symbols, site);
	const struct sym_location *location;

	if (!space || space == symbols->files ||
	    symspace__resolve(space, &query, 1, deadline_ns, &location))
		return NULL;
	return location;
}

struct user_symbols user_symbols_of(struct process_set *set)
{
	return (struct user_symbols){
		.backend = {.prepare = user_symbols__prepare,
			    .lookup = user_symbols__lookup,
			    .place = user_symbols__place},
		.set = set,
	};
}

void user_symbols_keep(struct user_symbols *symbols, bool keep)
{
	symbols->keeps = keep;
	if (!keep)
		hash_map_deinit(&symbols->kept);
	symbolizer__keep_spaces(symbols->set->programs->ctx.symbolizer, keep);
}

void user_symbols_deinit(struct user_symbols *symbols)
{
	hash_map_deinit(&symbols->kept);
	symspace__free(symbols->files);
	symbols->files = NULL;
}
