// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Knows the start-up of libraries by the functions that keep such memory. All frames from the
 * allocator to such a function must be of these libraries: what a program's own function asks for,
 * wherever that is called from, is the program's.
 */
#include "report/start_up.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loader/cleanup.h"
#include "loader/clock.h"
#include "report/allocator_frames.h"

#define NSEC_PER_MSEC 1000000

/*
 * Without the underscores before them, and how many blocks a site may hold that is start-up: one
 * that has more goes on.
 */
static const struct keeper {
	const char *name;
	uint64_t most;
} keepers[] = {
	{"IO_file_doallocate", 3}, /* of the three streams that nobody closes */
	{"IO_wfile_doallocate", 3},
	{"setlocale", 256},
	{"textdomain", 16},
	{"bindtextdomain", 16},
	{"dcgettext", 256}, /* catalogs of messages */
	{"dcigettext", 256},
	{"tzset", 16},
	{"tz_convert", 16},
	{"localtime", 16},
	{"localtime_r", 16},
	{"mktime", 16},
	{"nss_module_allocate", 256}, /* where names of users and hosts are looked up */
	{"nss_module_load", 256},
	{"nss_action_parse", 256},
	{"nss_database_get", 256},
	{"cxa_atexit", 1},       /* the list, when it does not fit any more */
	{"dl_allocate_tls", 64}, /* of each thread */
	{"tls_get_addr", 64},
	{"dl_init", 4}, /* constructors of the libraries themselves, as
			   libstdc++'s pool */
};

static bool is_keeper(const char *symbol, uint64_t count)
{
	symbol += strspn(symbol, "_");
	for (size_t i = 0; i < sizeof(keepers) / sizeof(keepers[0]); i++)
		if (!strcmp(symbol, keepers[i].name))
			return count <= keepers[i].most;
	return false;
}

static bool is_start_up(struct symbol_backend *symbols, const struct site *site)
{
	for (size_t i = 0; site->space == SPACE_USER && i < site->frame_cnt; i++) {
		const struct sym_location *location =
			symbols->lookup(symbols, site, site->frames[i]);

		if (!location || !location->module || !module_is_runtime(location->module))
			return false;
		for (size_t j = 0; j < location->frame_cnt; j++)
			if (location->frames[j].symbol &&
			    is_keeper(location->frames[j].symbol, site->count))
				return true;
	}
	return false;
}

static int name(struct symbol_backend *symbols, const struct candidate *candidates, size_t cnt,
		uint64_t end_ns)
{
	cleanup_free const struct site **sites = calloc(cnt + 1, sizeof(*sites));
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (!sites)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		sites[i] = candidates[i].site;
	return symbols->prepare(symbols, sites, cnt,
				now_ns < end_ns ? (unsigned int)((end_ns - now_ns) / NSEC_PER_MSEC)
						: 0);
}

int start_up_put_last(struct symbol_backend *symbols, struct candidate *candidates, size_t cnt,
		      size_t most, size_t *ret_cnt, struct start_up *ret)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + NAMING_BUDGET_MS * (uint64_t)NSEC_PER_MSEC;
	cleanup_free struct candidate *met = calloc(cnt + 1, sizeof(*met));
	size_t rest = 0, met_cnt = 0;

	if (!met)
		return -ENOMEM;
	for (size_t at = 0; rest < most && at < cnt;) {
		size_t end = cnt - at < most - rest ? cnt : at + most - rest;
		int err = name(symbols, candidates + at, end - at, end_ns);

		if (err)
			return err;
		for (; at < end; at++) {
			const struct site *site = candidates[at].site;

			if (!is_start_up(symbols, site)) {
				candidates[rest++] = candidates[at];
				continue;
			}
			met[met_cnt++] = candidates[at];
			ret->bytes += site->bytes;
			ret->count += site->count;
		}
	}
	for (size_t i = 0; i < met_cnt; i++)
		candidates[rest + i] = met[i];
	ret->sites = met_cnt;
	*ret_cnt = rest;
	return 0;
}

int start_up_is_all(struct symbol_backend *symbols, const struct candidate *candidates, size_t cnt,
		    bool *ret)
{
	cleanup_free struct candidate *copy = calloc(cnt + 1, sizeof(*copy));
	struct start_up all = {0};
	size_t rest;
	int err;

	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		copy[i] = candidates[i];
	err = start_up_put_last(symbols, copy, cnt, 1, &rest, &all);
	if (!err)
		*ret = !rest;
	return err;
}
