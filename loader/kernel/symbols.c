// SPDX-License-Identifier: GPL-2.0-or-later
/* Names kernel addresses. All of them are in the same address space. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "loader/kernel/symbols.h"

static struct kernel_symbols *symbols_of(struct symbol_backend *self)
{
	return (struct kernel_symbols *)((char *)self - offsetof(struct kernel_symbols, backend));
}

static void note_error(struct kernel_symbols *symbols)
{
	int err = symspace__kernel_error(symbols->space);

	if (!err || symbols->noted)
		return;
	symbols->noted = true;
	if (err == -EPERM)
		log_note(
			"the kernel hides its addresses, so its functions have no names: run as "
			"root or with CAP_SYSLOG, or set sysctl kernel.kptr_restrict=1 if it is 2");
	else
		log_note("kernel functions have no names: cannot read /proc/kallsyms: %s",
			 strerror(-err));
}

/*
 * Refreshes the symbols. A refresh takes at least one system call, so it is skipped if the symbols
 * were refreshed after as_of_ns.
 */
static int refresh(struct kernel_symbols *symbols)
{
	if (symbols->as_of_ns && symbols->as_of_ns < symbols->read_ns)
		return 0;
	symbols->read_ns = clock_ns(CLOCK_MONOTONIC);
	return symspace__refresh(symbols->space);
}

static size_t count_frames(const struct site *const *sites, size_t cnt)
{
	size_t frames = 0;

	for (size_t i = 0; i < cnt; i++)
		if (sites[i]->space == SPACE_KERNEL)
			frames += sites[i]->frame_cnt;
	return frames;
}

static int kernel_symbols__prepare(struct symbol_backend *self, const struct site *const *sites,
				   size_t cnt, uint64_t deadline_ns)
{
	struct kernel_symbols *symbols = symbols_of(self);
	size_t frame_cnt = count_frames(sites, cnt), at = 0;
	cleanup_free const struct sym_location **locations = NULL;
	cleanup_free struct sym_query *queries = NULL;
	int err;

	if (!frame_cnt)
		return 0;
	queries = calloc(frame_cnt, sizeof(*queries));
	locations = calloc(frame_cnt, sizeof(*locations));
	if (!queries || !locations)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		for (size_t j = 0; sites[i]->space == SPACE_KERNEL && j < sites[i]->frame_cnt; j++)
			queries[at++].addr = sites[i]->frames[j];
	err = refresh(symbols);
	if (err)
		return err;
	note_error(symbols);
	return symspace__resolve(symbols->space, queries, frame_cnt, deadline_ns, locations);
}

static const struct sym_location *kernel_symbols__lookup(struct symbol_backend *self,
							 const struct site *site, uint64_t addr)
{
	struct kernel_symbols *symbols = symbols_of(self);
	struct sym_query query = {.addr = addr};
	const struct sym_location *location;

	if (site->space != SPACE_KERNEL ||
	    symspace__resolve(symbols->space, &query, 1, 0, &location))
		return NULL;
	return location;
}

int kernel_symbols_init(struct kernel_symbols *symbols, struct symbolizer *symbolizer)
{
	struct symspace *space;
	int err = symspace__new_kernel(symbolizer, &space);

	if (err)
		return err;
	*symbols = (struct kernel_symbols){
		.backend = {.prepare = kernel_symbols__prepare, .lookup = kernel_symbols__lookup},
		.space = space,
	};
	note_error(symbols);
	return 0;
}

void kernel_symbols_deinit(struct kernel_symbols *symbols)
{
	symspace__free(symbols->space);
	*symbols = (struct kernel_symbols){0};
}
