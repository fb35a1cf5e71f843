// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts sites by the keys of their groups, and sums up the sites with the same key. */
#include "report/grouping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/order.h"
#include "report/allocator_frames.h"

/* Key of a group. Fields that the option --by does not use are 0. */
struct key {
	const char *name; /* path of the module or cgroup; "" if not known */
	pid_t pid;
	pid_t tid;
	size_t site;
};

static int compare(const void *left, const void *right)
{
	const struct key *a = left;
	const struct key *b = right;

	return strcmp(a->name, b->name) ?: ORDER(a->pid, b->pid) ?: ORDER(a->tid, b->tid);
}

/*
 * Returns the file of the innermost frame outside allocators and the C and C++ libraries. If there
 * is no such frame, returns the file of the innermost frame. Returns "" if the search reaches a
 * frame whose file is not known, because that file could be the wanted one.
 */
static const char *module_of(const struct site *site, struct symbol_backend *symbols)
{
	const char *first = "";

	for (size_t i = 0; symbols && i < site->frame_cnt; i++) {
		const struct sym_location *location =
			symbols->lookup(symbols, site, site->frames[i]);

		if (!location || !location->module)
			return "";
		if (!frame_is_allocator(site, location) && !module_is_runtime(location->module))
			return location->module;
		if (!i)
			first = location->module;
	}
	return first;
}

static struct key key_of(enum group_by by, const struct site *site, struct symbol_backend *symbols)
{
	struct key key = {.name = ""};

	if (by == BY_MODULE) {
		key.name = module_of(site, symbols);
		return key;
	}
	if (by == BY_CGROUP) {
		if (site->process && site->process->cgroup)
			key.name = site->process->cgroup;
		return key;
	}
	if (site->process)
		key.pid = site->process->pid;
	if (by == BY_THREAD)
		key.tid = site->tid;
	return key;
}

static uint64_t id_of(const struct key *key)
{
	return hash_text(hash_word((uint64_t)key->pid << 32 | (uint32_t)key->tid, 1), key->name);
}

static bool by_name(enum group_by by)
{
	return by == BY_MODULE || by == BY_CGROUP;
}

static void sum_up(const struct key *keys, const struct snapshot *snap, struct grouping *grouping)
{
	for (size_t i = 0; i < snap->site_cnt; i++) {
		const struct site *site = &snap->sites[keys[i].site];

		if (!i || compare(&keys[i - 1], &keys[i])) {
			grouping->names[grouping->cnt] = *keys[i].name ? keys[i].name : NULL;
			grouping->sums[grouping->cnt++] = (struct site){
				.id = id_of(&keys[i]),
				.process = by_name(grouping->by) ? NULL : site->process,
				.tid = keys[i].tid,
				.newest_ns = AGE_UNKNOWN,
			};
		}
		site_add_sums(&grouping->sums[grouping->cnt - 1], site);
		grouping->group_of[keys[i].site] = grouping->cnt - 1;
	}
}

int grouping_init(enum group_by by, const struct snapshot *snap, struct symbol_backend *symbols,
		  struct grouping *ret)
{
	cleanup_free struct key *keys = calloc(snap->site_cnt + 1, sizeof(*keys));
	struct grouping grouping = {
		.by = by,
		.sums = calloc(snap->site_cnt + 1, sizeof(*grouping.sums)),
		.names = calloc(snap->site_cnt + 1, sizeof(*grouping.names)),
		.group_of = calloc(snap->site_cnt + 1, sizeof(*grouping.group_of)),
	};

	if (!keys || !grouping.sums || !grouping.names || !grouping.group_of) {
		grouping_deinit(&grouping);
		return -ENOMEM;
	}
	for (size_t i = 0; i < snap->site_cnt; i++) {
		keys[i] = key_of(by, &snap->sites[i], symbols);
		keys[i].site = i;
	}
	qsort(keys, snap->site_cnt, sizeof(*keys), compare);
	sum_up(keys, snap, &grouping);
	*ret = grouping;
	return 0;
}

void grouping_deinit(struct grouping *grouping)
{
	free(grouping->sums);
	free(grouping->names);
	free(grouping->group_of);
	memset(grouping, 0, sizeof(*grouping));
}
