// SPDX-License-Identifier: GPL-2.0-or-later
/* Describes in words where the pointers to blocks are stored (holders). */
#include "report/held_by.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/path.h"
#include "report/function_name.h"

/*
 * Maximum length, in bytes, of a function's name in the text for a holder. Longer names are cut, so
 * that a chain of holders can be read at a glance.
 */
#define NAME_BYTES 60

static int add_site(const struct site *site, const struct site ***sites, size_t *cnt, size_t *cap)
{
	for (size_t i = 0; i < *cnt; i++)
		if ((*sites)[i] == site)
			return 0;
	if (array_reserve(sites, cap, *cnt + 1))
		return -ENOMEM;
	(*sites)[(*cnt)++] = site;
	return 0;
}

int held_by_sites(const struct candidate *const *lists, const size_t *cnts, size_t list_cnt,
		  const struct site ***ret, size_t *ret_cnt)
{
	const struct site **sites = NULL;
	size_t cnt = 0, cap = 0;
	int err = 0;

	for (size_t i = 0; i < list_cnt; i++)
		for (size_t j = 0; j < cnts[i]; j++) {
			const struct site_reach *reach = &lists[i][j].site->reach;

			for (size_t at = 0; !err && at < reach->held_by_cnt; at++)
				if (reach->held_by[at].kind == HOLDER_BLOCK &&
				    reach->held_by[at].site)
					err = add_site(reach->held_by[at].site, &sites, &cnt, &cap);
		}
	if (err) {
		free(sites);
		return err;
	}
	*ret = sites;
	*ret_cnt = cnt;
	return 0;
}

/*
 * Writes the name, source line and file of the variable or function at a location. Ignores inlined
 * functions. Returns false if the name is not known.
 */
static bool write_symbol(FILE *out, const struct sym_location *location, const char *module)
{
	const struct sym_frame *frame = sym_outermost(location);
	cleanup_free char *name = NULL;

	if (frame && frame->symbol)
		name = function_name_short(frame->symbol);
	if (!name)
		return false;
	function_name_cut(name, NAME_BYTES);
	fputs(name, out);
	if (frame->file && frame->line)
		fprintf(out, " %s:%u", path_name(frame->file), frame->line);
	else if (frame->file)
		fprintf(out, " %s", path_name(frame->file));
	if (location->module)
		module = location->module;
	if (module)
		fprintf(out, " [%s]", path_name(module));
	return true;
}

static void write_stack(FILE *out, const struct holder *holder, const struct sym_location *location)
{
	if (holder->code && write_symbol(out, location, NULL))
		fputs(", ", out);
	fprintf(out, "stack of thread %d", holder->tid);
	if (holder->path)
		fprintf(out, " (%s)", holder->path);
}

/*
 * Writes where a pointer is stored. `location` is the location of the variable, or of the function
 * whose stack frame has the pointer; NULL if not known.
 */
static void write_place(FILE *out, const struct holder *holder, const struct sym_location *location)
{
	switch (holder->kind) {
	case HOLDER_GLOBAL:
		if (!write_symbol(out, location, holder->path))
			fprintf(out, "data of %s", path_name(holder->path));
		break;
	case HOLDER_STACK:
		write_stack(out, holder, location);
		break;
	case HOLDER_REGISTER:
		fprintf(out, "registers of thread %d", holder->tid);
		break;
	case HOLDER_KERNEL:
		fputs("epoll or timer data in the kernel", out);
		break;
	case HOLDER_SCRIPT:
		fprintf(out, "variable %s", holder->path);
		break;
	case HOLDER_HEAP:
		fputs("untracked heap memory", out);
		break;
	case HOLDER_MEMORY:
	case HOLDER_BLOCK:
	case HOLDER_KIND_CNT:
		fprintf(out, "mapping at 0x%" PRIx64, holder->addr);
		break;
	}
}

char *held_by_words(const struct site *site, const struct holder *holder,
		    struct symbol_backend *symbols, uint64_t deadline_ns)
{
	const struct sym_location *location = NULL;
	char *words = NULL;
	size_t len;
	FILE *out;

	if (holder->words)
		return strdup(holder->words);
	out = open_memstream(&words, &len);
	if (!out)
		return NULL;
	if (holder->kind == HOLDER_GLOBAL && symbols && symbols->place)
		location = symbols->place(symbols, site, SYM_DATA, holder->addr, deadline_ns);
	else if (holder->kind == HOLDER_STACK && holder->code && symbols && symbols->place)
		location = symbols->place(symbols, site, SYM_CODE, holder->code, deadline_ns);
	write_place(out, holder, location);
	if (holder->is_likely)
		fputs(" (likely)", out);
	if (!fclose(out))
		return words;
	free(words);
	return NULL;
}

/*
 * Returns the location of the function blamed for a site, and sets *ret_function to the function's
 * index there. Returns NULL if `named` does not have the site.
 */
static const struct sym_location *blamed_location(const struct report_site *named, size_t cnt,
						  const struct site *site, size_t *ret_function)
{
	for (size_t i = 0; site && i < cnt; i++) {
		if (named[i].site->id != site->id || !named[i].site->frame_cnt)
			continue;
		*ret_function = named[i].blamed.function;
		return named[i].locations[named[i].blamed.frame];
	}
	return NULL;
}

static void write_block(FILE *out, const struct holder *holder, const struct report_site *named,
			size_t named_cnt)
{
	size_t function = 0;
	const struct sym_location *location =
		blamed_location(named, named_cnt, holder->site, &function);
	cleanup_free char *name = NULL;

	if (location && location->frame_cnt > function && location->frames[function].symbol)
		name = function_name_short(location->frames[function].symbol);
	if (name) {
		function_name_cut(name, NAME_BYTES);
		fputs(name, out);
	} else if (location && location->module) {
		fprintf(out, "a block of %s", path_name(location->module));
	} else {
		fputs(holder->site ? "a block" : "an untracked block", out);
	}
	if (holder->repeats > 1)
		fprintf(out, " × %" PRIu64, holder->repeats);
}

/* Returns the text for a holder that is a block; freed by the caller. NULL if out of memory. */
static char *block_words(const struct holder *holder, const struct report_site *named,
			 size_t named_cnt)
{
	char *words = NULL;
	size_t len;
	FILE *out = open_memstream(&words, &len);

	if (!out)
		return NULL;
	write_block(out, holder, named, named_cnt);
	if (!fclose(out))
		return words;
	free(words);
	return NULL;
}

int held_by_name(struct report_site *shown, const struct report_site *named, size_t named_cnt,
		 struct symbol_backend *symbols, uint64_t deadline_ns)
{
	const struct site_reach *reach = &shown->site->reach;

	if (!reach->held_by_cnt)
		return 0;
	shown->held_by = calloc(reach->held_by_cnt, sizeof(*shown->held_by));
	if (!shown->held_by)
		return -ENOMEM;
	shown->held_by_cnt = reach->held_by_cnt;
	for (size_t i = 0; i < reach->held_by_cnt; i++) {
		const struct holder *holder = &reach->held_by[i];

		shown->held_by[i] =
			holder->kind == HOLDER_BLOCK
				? block_words(holder, named, named_cnt)
				: held_by_words(shown->site, holder, symbols, deadline_ns);
		if (!shown->held_by[i])
			return -ENOMEM;
	}
	return 0;
}

void held_by_deinit(struct report_site *shown)
{
	for (size_t i = 0; i < shown->held_by_cnt; i++)
		free(shown->held_by[i]);
	free(shown->held_by);
	shown->held_by = NULL;
	shown->held_by_cnt = 0;
}
