// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares outstanding blocks with the numbers of used objects in /proc/slabinfo. */
#include "loader/kernel/caches.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/cleanup.h"

/*
 * Prefix of the names of kmalloc()'s caches. A site whose cache is unknown, or that uses several of
 * these caches, is compared with all caches of kmalloc() together.
 */
#define KMALLOC "kmalloc-"

/*
 * Returns the maximum number of free objects that a CPU may keep: the objects of its own slab, and
 * twice the kernel's default number of objects in partial slabs, which depends on the object size.
 */
static uint64_t kept_by_cpu(const struct slab_cache *cache)
{
	if (cache->object_bytes >= 4096)
		return cache->slab_objects + 2 * 6;
	if (cache->object_bytes >= 1024)
		return cache->slab_objects + 2 * 24;
	return cache->slab_objects + 2 * (cache->object_bytes >= 256 ? 52 : 120);
}

static int by_name(const void *a, const void *b)
{
	const struct slab_cache *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/*
 * Parses a line such as "kmalloc-64 21952 21952 64 64 1 : tunables 0 0 0 : slabdata 343 343 0";
 * skips the two title lines.
 */
static int take_line(const char *line, struct slab_caches *caches)
{
	struct slab_cache cache = {0};
	int err;

	if (line[0] == '#' || sscanf(line, "%ms %" SCNu64 " %*u %" SCNu64 " %" SCNu64, &cache.name,
				     &cache.used, &cache.object_bytes, &cache.slab_objects) < 4) {
		free(cache.name);
		return 0;
	}
	err = array_reserve(&caches->caches, &caches->cap, caches->cnt + 1);
	if (err)
		free(cache.name);
	else
		caches->caches[caches->cnt++] = cache;
	return err;
}

int slab_caches_read(FILE *slabinfo, struct slab_caches *ret)
{
	cleanup_free char *line = NULL;
	size_t cap = 0;
	int err = 0;

	while (!err && getline(&line, &cap, slabinfo) > 0)
		err = take_line(line, ret);
	if (!err && ferror(slabinfo))
		err = -EIO;
	if (err)
		slab_caches_deinit(ret);
	else if (ret->cnt)
		qsort(ret->caches, ret->cnt, sizeof(*ret->caches), by_name);
	return err;
}

void slab_caches_deinit(struct slab_caches *caches)
{
	for (size_t i = 0; i < caches->cnt; i++)
		free(caches->caches[i].name);
	free(caches->caches);
	*caches = (struct slab_caches){0};
}

/*
 * Caches that are compared together: those called `name` or, if `prefix` is true, whose names begin
 * with `name`.
 */
struct cache_group {
	const char *name;
	bool prefix;
};

static bool has(const struct cache_group *group, const char *name)
{
	return group->prefix ? !strncmp(name, group->name, strlen(group->name))
			     : !strcmp(name, group->name);
}

static bool is_of_kmalloc(const char *name)
{
	return !name || !strncmp(name, KMALLOC, strlen(KMALLOC));
}

static struct cache_group group_of(const struct cache_user *user)
{
	if (user->cache && !user->several_caches)
		return (struct cache_group){user->cache, false};
	return (struct cache_group){is_of_kmalloc(user->cache) ? KMALLOC : "", true};
}

struct cache_search {
	const struct slab_caches *caches;
	const char *name;
};

static bool is_before(const void *arg, size_t at)
{
	const struct cache_search *search = arg;

	return strcmp(search->caches->caches[at].name, search->name) < 0;
}

/*
 * Returns the bytes in use in a group of caches. Adds to *kept the bytes of free objects that CPUs
 * may keep.
 */
static uint64_t used_bytes(const struct slab_caches *caches, const struct cache_group *group,
			   size_t cpus, uint64_t *kept)
{
	const struct cache_search search = {caches, group->name};
	size_t i = bisect(caches->cnt, is_before, &search);
	uint64_t used = 0;

	for (; i < caches->cnt && has(group, caches->caches[i].name); i++) {
		const struct slab_cache *cache = &caches->caches[i];

		used += cache->used * cache->object_bytes;
		*kept += cpus * kept_by_cpu(cache) * cache->object_bytes;
	}
	return used;
}

struct reconciliation {
	const struct slab_caches *before;
	const struct slab_caches *now;
	size_t cpus;
	struct cache_user *users;
	size_t cnt;
};

/*
 * Returns the outstanding bytes in a group of caches. The sites users[first] to users[end - 1]
 * belong to the group. If the group has a prefix, other sites may also have blocks in its caches.
 * In this case, adds up the blocks of all sites that use caches of kmalloc(), or of all sites if
 * the prefix is empty.
 */
static uint64_t outstanding(const struct reconciliation *all, const struct cache_group *group,
			    size_t first, size_t end)
{
	bool all_caches = !group->name[0];
	uint64_t bytes = 0;

	if (group->prefix) {
		first = 0;
		end = all->cnt;
	}
	for (size_t i = first; i < end; i++)
		if (!group->prefix || all_caches || is_of_kmalloc(all->users[i].cache))
			bytes += all->users[i].bytes;
	return bytes;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Sets `unseen_frees` of each site in a group of caches. Returns how many of the reported blocks
 * seem to have been freed without an event.
 */
static uint64_t reconcile_group(const struct reconciliation *all, const struct cache_group *group,
				size_t first, size_t end)
{
	uint64_t kept = 0, none = 0, bytes = outstanding(all, group, first, end);
	uint64_t before = used_bytes(all->before, group, all->cpus, &none);
	uint64_t now = used_bytes(all->now, group, all->cpus, &kept);
	uint64_t grown = now > before ? now - before : 0;
	uint64_t beyond = bytes > grown ? bytes - grown : 0;
	uint64_t left = beyond > kept ? beyond : 0, unseen = 0;

	/* Skip the group if slabinfo does not list its caches. */
	for (size_t i = first; i < end && now; i++) {
		struct cache_user *user = &all->users[i];
		uint64_t size = user->count ? user->bytes / user->count : 0;

		if (!size)
			continue;
		user->unseen_frees = least(user->shown, beyond / size);
		unseen += least(user->unseen_frees, left / size);
		left -= least(left, user->shown * size);
	}
	return unseen;
}

static int by_group(const void *a, const void *b)
{
	const struct cache_group x = group_of(a), y = group_of(b);

	return x.prefix != y.prefix ? x.prefix - y.prefix : strcmp(x.name, y.name);
}

uint64_t slab_caches_reconcile(const struct slab_caches *before, const struct slab_caches *now,
			       size_t cpus, struct cache_user *users, size_t cnt)
{
	const struct reconciliation all = {before, now, cpus, users, cnt};
	uint64_t unseen = 0;

	if (cnt)
		qsort(users, cnt, sizeof(*users), by_group);
	for (size_t first = 0, end; first < cnt; first = end) {
		const struct cache_group group = group_of(&users[first]);

		for (end = first + 1; end < cnt && !by_group(&users[first], &users[end]);)
			end++;
		unseen += reconcile_group(&all, &group, first, end);
	}
	return unseen;
}
