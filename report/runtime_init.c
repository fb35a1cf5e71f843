// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recognises runtime initialisation by the names of the library functions that allocate during it.
 * All frames between the allocator and such a function must be in the libraries: memory that a
 * function of the program asks for is the program's, even if a library called this function.
 *
 * In a static program, the libraries are in the program's file, so only the names of functions
 * decide. These names are reserved for the library, and the library does not call functions of the
 * program between such a function and the allocator.
 */
#include "report/runtime_init.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/prefix.h"
#include "report/allocator_frames.h"

/*
 * Names of functions that allocate during runtime initialisation, without leading underscores.
 * `most` is the maximum number of blocks of a site that is runtime initialisation. A site with more
 * blocks is still allocating.
 */
static const struct runtime_init_name {
	const char *name;
	uint64_t most;
	bool is_public; /* true if the name is reserved even without underscores */
} runtime_init_names[] = {
	{"IO_file_doallocate", 3, false}, /* stdin, stdout and stderr, which are never closed */
	{"IO_wfile_doallocate", 3, false},
	{"setlocale", 256, true},
	{"textdomain", 16, true},
	{"bindtextdomain", 16, true},
	{"dcgettext", 256, true}, /* message catalogs */
	{"dcigettext", 256, false},
	{"tzset", 16, true},
	{"tz_convert", 16, false},
	{"localtime", 16, true},
	{"localtime_r", 16, true},
	{"mktime", 16, true},
	{"nss_module_allocate", 256, false}, /* name service modules for users and hosts */
	{"nss_module_load", 256, false},
	{"nss_action_parse", 256, false},
	{"nss_database_get", 256, false},
	{"cxa_atexit", 1, false},       /* the list of exit handlers, if it had to be extended */
	{"dl_allocate_tls", 64, false}, /* thread-local storage of each thread */
	{"tls_get_addr", 64, false},
	/* constructors of libraries, such as the one that allocates libstdc++'s pool */
	{"dl_init", 4, false},
	/* These functions exist only in static programs, which start without a dynamic loader. */
	{"dl_non_dynamic_init", 64, false},
	{"dl_relocate_static_pie", 64, false},
	{"libc_init_first", 64, false},
	{"libc_setup_tls", 64, false},
	{"GLOBAL__sub_I_eh_alloc.cc", 1, false}, /* libstdc++'s pool for exceptions */
};

static bool is_runtime_init_frame(const char *symbol, uint64_t count, bool in_program)
{
	const char *plain = symbol + strspn(symbol, "_");

	for (size_t i = 0; i < sizeof(runtime_init_names) / sizeof(runtime_init_names[0]); i++) {
		const struct runtime_init_name *known = &runtime_init_names[i];

		if (!strcmp(plain, known->name))
			return count <= known->most &&
			       (!in_program || plain != symbol || known->is_public);
	}
	return false;
}

/* Number of outermost frames among which a complete stack has libc's start-up code. */
#define START_FRAMES 3

/* The start-up code that was found last: all stacks of a process usually begin with it. */
struct start_up {
	const struct process *process;
	uint64_t frames[START_FRAMES];
	const char *program; /* see static_program() */
};

static bool is_start_up(const struct sym_location *location)
{
	for (size_t i = 0; location && location->module && i < location->frame_cnt; i++)
		if (location->frames[i].symbol &&
		    behind_prefix(location->frames[i].symbol, "__libc_start_"))
			return true;
	return false;
}

/*
 * Returns the file of a static program: the file that has libc's start-up code; NULL if the program
 * is not static.
 */
static const char *static_program(struct symbol_backend *symbols, const struct site *site,
				  struct start_up *known)
{
	size_t cnt = site->frame_cnt, first = cnt < START_FRAMES ? 0 : cnt - START_FRAMES;
	size_t bytes = (cnt - first) * sizeof(*site->frames);

	if (site->process && known->process == site->process && first &&
	    !memcmp(known->frames, site->frames + first, bytes))
		return known->program;
	for (size_t i = cnt; i-- > 0;) {
		const struct sym_location *location =
			symbols->lookup(symbols, site, site->frames[i]);
		const char *program;

		if (!is_start_up(location))
			continue;
		program = module_is_runtime(location->module) ? NULL : location->module;
		if (first && i >= first) {
			*known = (struct start_up){.process = site->process, .program = program};
			memcpy(known->frames, site->frames + first, bytes);
		}
		return program;
	}
	return NULL;
}

static bool is_runtime_init(struct symbol_backend *symbols, const struct site *site,
			    struct start_up *known)
{
	const char *program =
		site->space == SPACE_USER ? static_program(symbols, site, known) : NULL;

	for (size_t i = 0; site->space == SPACE_USER && i < site->frame_cnt; i++) {
		const struct sym_location *location =
			symbols->lookup(symbols, site, site->frames[i]);
		bool in_program;

		if (!location || !location->module)
			return false;
		in_program = program && !strcmp(location->module, program);
		if (!in_program && !module_is_runtime(location->module))
			return false;
		for (size_t j = 0; j < location->frame_cnt; j++)
			if (location->frames[j].symbol &&
			    is_runtime_init_frame(location->frames[j].symbol, site->count,
						  in_program))
				return true;
	}
	return false;
}

static int name(struct symbol_backend *symbols, const struct candidate *candidates, size_t cnt,
		uint64_t deadline_ns)
{
	cleanup_free const struct site **sites = calloc(cnt + 1, sizeof(*sites));

	if (!sites)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		sites[i] = candidates[i].site;
	return symbols->prepare(symbols, sites, cnt, deadline_ns);
}

int runtime_init_put_last(struct symbol_backend *symbols, uint64_t deadline_ns,
			  struct candidate *candidates, size_t cnt, size_t most, size_t *ret_cnt,
			  struct runtime_init *ret)
{
	cleanup_free struct candidate *found = calloc(cnt + 1, sizeof(*found));
	struct start_up known = {0};
	size_t other_cnt = 0, found_cnt = 0;

	if (!found)
		return -ENOMEM;
	for (size_t at = 0; other_cnt < most && at < cnt;) {
		size_t end = cnt - at < most - other_cnt ? cnt : at + most - other_cnt;
		int err = name(symbols, candidates + at, end - at, deadline_ns);

		if (err)
			return err;
		for (; at < end; at++) {
			const struct site *site = candidates[at].site;

			if (!is_runtime_init(symbols, site, &known)) {
				candidates[other_cnt++] = candidates[at];
				continue;
			}
			found[found_cnt++] = candidates[at];
			ret->bytes += site->bytes;
			ret->count += site->count;
		}
	}
	for (size_t i = 0; i < found_cnt; i++)
		candidates[other_cnt + i] = found[i];
	ret->sites = found_cnt;
	*ret_cnt = other_cnt;
	return 0;
}

int runtime_init_is_all(struct symbol_backend *symbols, uint64_t deadline_ns,
			const struct candidate *candidates, size_t cnt, bool *ret)
{
	cleanup_free struct candidate *copy = calloc(cnt + 1, sizeof(*copy));
	struct runtime_init all = {0};
	size_t other_cnt;
	int err;

	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		copy[i] = candidates[i];
	err = runtime_init_put_last(symbols, deadline_ns, copy, cnt, 1, &other_cnt, &all);
	if (!err)
		*ret = !other_cnt;
	return err;
}
