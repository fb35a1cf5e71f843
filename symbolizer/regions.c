// SPDX-License-Identifier: GPL-2.0-or-later
/* Updates and searches the lists of a process's present and former mappings (regions). */
#include "symbolizer/regions.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"

/*
 * Maximum number of former regions kept for later queries: a program that keeps mapping and
 * unmapping code must not fill memleak's memory.
 */
#define GONE_MAX 8192

#define RECENT_PATHS 64

/*
 * Maximum number of adjacent mappings of one file that are searched. Dynamic linkers create fewer.
 */
#define PIECES_MAX 32

/*
 * A path with a reference count. Regions share paths, since a process may map one file tens of
 * thousands of times.
 */
struct shared_path {
	size_t users;
	char text[];
};

static struct shared_path *shared_of(char *path)
{
	return (struct shared_path *)(path - offsetof(struct shared_path, text));
}

static char *path_new(const char *text)
{
	size_t len = strlen(text) + 1;
	struct shared_path *shared = malloc(sizeof(*shared) + len);

	if (!shared)
		return NULL;
	shared->users = 1;
	memcpy(shared->text, text, len);
	return shared->text;
}

static char *path_share(char *path)
{
	shared_of(path)->users++;
	return path;
}

static void path_free(char *path)
{
	if (path && !--shared_of(path)->users)
		free(shared_of(path));
}

static void region_free(struct region *region)
{
	if (!region)
		return;
	path_free(region->path);
	free(region);
}

/* A cache of the paths created last, keyed by the pointer `path` of struct mapping. */
struct recent_paths {
	const char *texts[RECENT_PATHS];
	char *paths[RECENT_PATHS];
};

static char *path_of(struct recent_paths *recent, const char *text)
{
	size_t at = ((uintptr_t)text * 0x9e3779b97f4a7c15ULL >> 32) % RECENT_PATHS;

	if (recent->texts[at] == text)
		return path_share(recent->paths[at]);
	recent->texts[at] = text;
	recent->paths[at] = path_new(text);
	if (!recent->paths[at])
		recent->texts[at] = NULL;
	return recent->paths[at];
}

static int region_new(const struct mapping *m, struct recent_paths *recent, struct region **ret)
{
	struct region *region = calloc(1, sizeof(*region));

	if (!region)
		return -ENOMEM;
	*region = (struct region){
		.start = m->start,
		.end = m->end,
		.offset = m->offset,
		.file = m->file,
		.since_ns = m->since_ns,
		.beside_start = m->beside_start,
		.beside_end = m->beside_end,
		.executable = m->executable,
		.deleted = m->deleted,
		.path = path_of(recent, m->path),
	};
	if (!region->path) {
		free(region);
		return -ENOMEM;
	}
	*ret = region;
	return 0;
}

static struct region *region_copy(const struct region *from)
{
	struct region *region = malloc(sizeof(*region));

	if (!region)
		return NULL;
	*region = *from;
	region->kept = false;
	region->path = path_share(from->path);
	return region;
}

/*
 * True if `region` stands for the mapping. Does not compare paths: renaming or deleting the file
 * changes only the path.
 */
static bool is_same(const struct region *region, const struct mapping *m)
{
	return region->start == m->start && region->end == m->end && region->offset == m->offset &&
	       file_id_equal(&region->file, &m->file) && region->executable == m->executable;
}

/* Frees the oldest former regions beyond GONE_MAX, except those to which a location points. */
static void trim_gone(struct regions *regions)
{
	size_t excess = regions->gone_cnt > GONE_MAX ? regions->gone_cnt - GONE_MAX : 0;
	size_t left = 0;

	for (size_t i = 0; i < regions->gone_cnt; i++) {
		struct region *region = regions->gone[i];

		if (excess && !region->kept) {
			excess--;
			region_free(region);
		} else {
			regions->gone[left++] = region;
		}
	}
	regions->gone_cnt = left;
}

/*
 * Moves a region that is no longer mapped to the list of former regions if it has a module or a
 * location points to it. Otherwise frees it.
 */
static void retire(struct regions *regions, struct region *region)
{
	if (region->kept || region->module)
		regions->gone[regions->gone_cnt++] = region;
	else
		region_free(region);
}

/*
 * Returns the region in regions->live that stands for the mapping `m`; NULL if there is none.
 * Searches from index *at, and advances it, since regions and mappings are both sorted by address.
 */
static struct region *take_old(struct regions *regions, size_t *at, const struct mapping *m)
{
	struct region *region;

	while (*at < regions->live_cnt && regions->live[*at]->start < m->start)
		(*at)++;
	region = *at < regions->live_cnt ? regions->live[*at] : NULL;
	return region && is_same(region, m) ? region : NULL;
}

/* True if `region` maps the same file as the region `before`, and `before` has a module. */
static bool is_piece(const struct region *before, const struct region *region)
{
	return before && before->module && region->file.ino &&
	       file_id_equal(&before->file, &region->file);
}

/* Fills `live`, the new list of present regions. Takes unchanged regions from regions->live. */
static int build(struct regions *regions, const struct proc_maps *maps, struct region **live,
		 int (*opened)(void *arg, struct region *region), void *arg)
{
	const struct region *before = NULL;
	struct recent_paths recent = {0};
	size_t at = 0;

	for (size_t i = 0; i < maps->cnt; i++) {
		int err;

		live[i] = take_old(regions, &at, &maps->mappings[i]);
		err = live[i] ? 0 : region_new(&maps->mappings[i], &recent, &live[i]);
		if (err)
			return err;
		if (!live[i]->executable)
			continue;
		/*
		 * If the executable region before this one maps the same file, share its module:
		 * opening the file for each mapping is expensive.
		 */
		if (!live[i]->module && is_piece(before, live[i]))
			live[i]->module = before->module;
		else if (!live[i]->module)
			err = opened(arg, live[i]);
		if (err)
			return err;
		before = live[i];
	}
	return 0;
}

static bool holds(struct region *const *sorted, size_t cnt, size_t *at, const struct region *region)
{
	while (*at < cnt && sorted[*at] && sorted[*at]->start < region->start)
		(*at)++;
	return *at < cnt && sorted[*at] == region;
}

int regions_update(struct regions *regions, const struct proc_maps *maps,
		   int (*opened)(void *arg, struct region *region), void *arg)
{
	struct region **live = calloc(maps->cnt + 1, sizeof(*live));
	int err = live ? array_reserve(&regions->gone, &regions->gone_cap,
				       regions->gone_cnt + regions->live_cnt)
		       : -ENOMEM;
	size_t at = 0;

	if (!err)
		err = build(regions, maps, live, opened, arg);
	if (err) {
		for (size_t i = 0; live && i < maps->cnt; i++)
			if (live[i] && !holds(regions->live, regions->live_cnt, &at, live[i]))
				region_free(live[i]);
		free(live);
		return err;
	}
	for (size_t i = 0; i < regions->live_cnt; i++)
		if (!holds(live, maps->cnt, &at, regions->live[i]))
			retire(regions, regions->live[i]);
	trim_gone(regions);
	free(regions->live);
	regions->live = live;
	regions->live_cnt = maps->cnt;
	return 0;
}

int regions_copy(const struct regions *from, struct regions *ret)
{
	struct regions copy = {.live = calloc(from->live_cnt + 1, sizeof(*copy.live))};

	if (!copy.live)
		return -ENOMEM;
	while (copy.live_cnt < from->live_cnt) {
		struct region *region = region_copy(from->live[copy.live_cnt]);

		if (!region) {
			regions_deinit(&copy);
			return -ENOMEM;
		}
		copy.live[copy.live_cnt++] = region;
	}
	*ret = copy;
	return 0;
}

struct region_search {
	const struct regions *regions;
	uint64_t addr;
};

static bool ends_before(const void *arg, size_t at)
{
	const struct region_search *search = arg;

	return search->regions->live[at]->end <= search->addr;
}

/* Returns the index of the first present region that ends above addr. */
static size_t live_from(const struct regions *regions, uint64_t addr)
{
	return bisect(regions->live_cnt, ends_before, &(struct region_search){regions, addr});
}

struct region *regions_find_live(const struct regions *regions, uint64_t addr)
{
	size_t at = live_from(regions, addr);

	return at < regions->live_cnt && regions->live[at]->start <= addr ? regions->live[at]
									  : NULL;
}

static bool is_of(const struct region *region, const struct file_id *file)
{
	return file_id_equal(&region->file, file);
}

/*
 * Returns the index of the first of the adjacent regions that map one file. at: index of one of
 * them, or of the anonymous memory directly after them (the zero-filled part of the data segment).
 */
static size_t first_of_file(const struct regions *regions, size_t at)
{
	struct region *const *live = regions->live;

	for (size_t i = 0; i < PIECES_MAX && at && !live[at]->file.ino; i++) {
		if (live[at - 1]->end != live[at]->start)
			break;
		at--;
	}
	for (size_t i = 0; i < PIECES_MAX && at && live[at]->offset; i++) {
		if (!is_of(live[at - 1], &live[at]->file))
			break;
		at--;
	}
	return at;
}

struct region *regions_find_code(const struct regions *regions, const struct region *region)
{
	size_t first = first_of_file(regions, live_from(regions, region->start));
	const struct file_id file = regions->live[first]->file;

	for (size_t i = first; file.ino && i < regions->live_cnt && i < first + PIECES_MAX; i++) {
		struct region *code = regions->live[i];

		/* Stop at another file, or at offset 0, where the file is mapped a second time. */
		if (!is_of(code, &file) || (i > first && !code->offset))
			break;
		if (code->executable && code->module)
			return code;
	}
	/*
	 * If the file has only one page, its code and data are both mapped from offset 0, and the
	 * code may be before `first`.
	 */
	for (size_t i = first; file.ino && i-- > 0 && is_of(regions->live[i], &file);)
		if (regions->live[i]->executable && regions->live[i]->module)
			return regions->live[i];
	return NULL;
}

struct region *regions_find(const struct regions *regions, uint64_t addr)
{
	struct region *live = regions_find_live(regions, addr);

	/*
	 * If data is mapped at the address now, prefer code that was mapped there before: the
	 * query is about code, and the data may have been mapped later.
	 */
	if (live && live->executable)
		return live;
	for (size_t i = regions->gone_cnt; i-- > 0;) {
		struct region *region = regions->gone[i];

		if (region->start <= addr && addr < region->end && region->executable)
			return region;
	}
	return live;
}

static bool maps_place(const struct region *region, const struct module *module, uint64_t offset)
{
	return region->module == module && offset >= region->offset &&
	       offset - region->offset < region->end - region->start;
}

struct region *regions_find_place(const struct regions *regions, const struct module *module,
				  uint64_t offset)
{
	for (size_t i = 0; i < regions->live_cnt; i++)
		if (maps_place(regions->live[i], module, offset))
			return regions->live[i];
	for (size_t i = regions->gone_cnt; i-- > 0;)
		if (maps_place(regions->gone[i], module, offset))
			return regions->gone[i];
	return NULL;
}

struct region *regions_find_module(const struct regions *regions, const struct module *module)
{
	for (size_t i = 0; i < regions->live_cnt; i++)
		if (regions->live[i]->module == module)
			return regions->live[i];
	for (size_t i = regions->gone_cnt; i-- > 0;)
		if (regions->gone[i]->module == module)
			return regions->gone[i];
	return NULL;
}

void regions_note_mapped(const struct regions *regions, uint64_t now_ns)
{
	for (size_t i = 0; i < regions->live_cnt; i++)
		if (regions->live[i]->module)
			regions->live[i]->module->mapped_ns = now_ns;
}

void regions_deinit(struct regions *regions)
{
	for (size_t i = 0; i < regions->live_cnt; i++)
		region_free(regions->live[i]);
	for (size_t i = 0; i < regions->gone_cnt; i++)
		region_free(regions->gone[i]);
	free(regions->live);
	free(regions->gone);
	*regions = (struct regions){0};
}
