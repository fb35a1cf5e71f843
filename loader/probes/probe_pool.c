// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps a list of the files that were searched for allocator functions. */
#include "loader/probes/probe_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/clock.h"
#include "loader/probes/backing_inode.h"

/* Identifies a file. Includes the change time, as inode numbers are reused. */
static int identify(int fd, struct pool_file *ret)
{
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	ret->changed = st.st_ctim;
	err = backing_inode(fd, &ret->id);
	ret->layered = ret->id.dev != st.st_dev;
	return err;
}

static bool is_same(const struct pool_file *a, const struct pool_file *b)
{
	return file_id_equal(&a->id, &b->id) && a->changed.tv_sec == b->changed.tv_sec &&
	       a->changed.tv_nsec == b->changed.tv_nsec;
}

struct pool_file *probe_pool_find(struct probe_pool *pool, int fd)
{
	struct pool_file file;

	if (identify(fd, &file))
		return NULL;
	for (size_t i = 0; i < pool->cnt; i++) {
		if (!is_same(&pool->files[i], &file))
			continue;
		pool->files[i].unused = 0;
		pool->files[i].system_ns = clock_ns(CLOCK_MONOTONIC);
		return &pool->files[i];
	}
	return NULL;
}

static bool throws(const struct probe_set *probes, const struct file_id *file)
{
	for (size_t i = 0; i < probes->cnt; i++) {
		const struct probe *probe = &probes->items[i];

		if (probe->throws && file_id_equal(&probe->file, file))
			return true;
	}
	return false;
}

int probe_pool_add(struct probe_pool *pool, int fd, bool has_heap)
{
	struct pool_file file = {.has_heap = has_heap};
	int err = identify(fd, &file);

	if (err)
		return err;
	if (array_reserve(&pool->files, &pool->cap, pool->cnt + 1))
		return -ENOMEM;
	file.throws = throws(&pool->probes, &file.id);
	file.since_ns = file.system_ns = clock_ns(CLOCK_MONOTONIC);
	pool->files[pool->cnt++] = file;
	return 0;
}

size_t probe_pool_heaps(const struct probe_pool *pool)
{
	size_t cnt = 0;

	for (size_t i = 0; i < pool->cnt; i++)
		cnt += pool->files[i].has_heap;
	return cnt;
}

void probe_pool_age(struct probe_pool *pool)
{
	for (size_t i = 0; i < pool->cnt; i++)
		pool->files[i].unused++;
}

void probe_pool_use_all(struct probe_pool *pool)
{
	for (size_t i = 0; i < pool->cnt; i++)
		pool->files[i].unused = 0;
}

void probe_pool_note_systems(struct probe_pool *pool, uint64_t now_ns,
			     bool (*is_in_use)(void *arg, dev_t dev), void *arg)
{
	for (size_t i = 0; i < pool->cnt; i++) {
		struct pool_file *file = &pool->files[i];

		if (file->layered || is_in_use(arg, file->id.dev))
			file->system_ns = now_ns;
	}
}

/*
 * True if the file is in use. Entries that differ only in change time share their probes, so each
 * of them counts.
 */
static bool is_used(const struct probe_pool *pool, const struct pool_file *file,
		    unsigned int rounds, uint64_t since_ns)
{
	for (size_t i = 0; i < pool->cnt; i++) {
		const struct pool_file *other = &pool->files[i];

		if (file_id_equal(&other->id, &file->id) && other->unused < rounds &&
		    other->system_ns >= since_ns)
			return true;
	}
	return false;
}

static void forget(struct probe_pool *pool, const struct file_id *id)
{
	size_t kept = 0;

	for (size_t i = 0; i < pool->cnt; i++)
		if (!file_id_equal(&pool->files[i].id, id))
			pool->files[kept++] = pool->files[i];
	pool->cnt = kept;
}

bool probe_pool_drop_unused(struct probe_pool *pool, unsigned int rounds, uint64_t since_ns)
{
	for (size_t i = 0; i < pool->cnt;) {
		const struct pool_file file = pool->files[i];

		if (is_used(pool, &file, rounds, since_ns)) {
			i++;
			continue;
		}
		forget(pool, &file.id);
		if (probe_set_drop(&pool->probes, &file.id))
			return true;
	}
	return false;
}

void probe_pool_deinit(struct probe_pool *pool)
{
	probe_set_detach(&pool->probes);
	free(pool->files);
	*pool = (struct probe_pool){0};
}
