// SPDX-License-Identifier: GPL-2.0-or-later
/* Remembers which files have been looked into. */
#include "loader/probe_pool.h"

#include <errno.h>
#include <stdlib.h>

#include "loader/clock.h"
#include "loader/real_file.h"

static bool is_file(const struct pool_file *file, const struct stat *st)
{
	return file->ino == st->st_ino && file->dev == st->st_dev &&
	       file->changed.tv_sec == st->st_ctim.tv_sec &&
	       file->changed.tv_nsec == st->st_ctim.tv_nsec;
}

struct pool_file *probe_pool_find(struct probe_pool *pool, int fd)
{
	struct stat st;

	if (real_file_stat(fd, &st))
		return NULL;
	for (size_t i = 0; i < pool->cnt; i++) {
		if (!is_file(&pool->files[i], &st))
			continue;
		pool->files[i].unused = 0;
		return &pool->files[i];
	}
	return NULL;
}

static bool throws(const struct probe_set *probes, const struct stat *st)
{
	for (size_t i = 0; i < probes->cnt; i++) {
		const struct probe *probe = &probes->items[i];

		if (probe->throws && probe->dev == st->st_dev && probe->ino == st->st_ino)
			return true;
	}
	return false;
}

int probe_pool_add(struct probe_pool *pool, int fd, bool has_heap)
{
	struct pool_file *grown;
	struct stat st;
	int err = real_file_stat(fd, &st);

	if (err)
		return err;
	grown = reallocarray(pool->files, pool->cnt + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	pool->files = grown;
	grown[pool->cnt++] = (struct pool_file){
		.dev = st.st_dev,
		.ino = st.st_ino,
		.changed = st.st_ctim,
		.has_heap = has_heap,
		.throws = throws(&pool->probes, &st),
		.since_ns = clock_ns(CLOCK_MONOTONIC),
	};
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

/* A file that was changed is there twice, and has its probes once. */
static bool is_used(const struct probe_pool *pool, const struct pool_file *file,
		    unsigned int rounds)
{
	for (size_t i = 0; i < pool->cnt; i++) {
		const struct pool_file *other = &pool->files[i];

		if (other->dev == file->dev && other->ino == file->ino && other->unused < rounds)
			return true;
	}
	return false;
}

static void forget(struct probe_pool *pool, dev_t dev, ino_t ino)
{
	size_t kept = 0;

	for (size_t i = 0; i < pool->cnt; i++)
		if (pool->files[i].dev != dev || pool->files[i].ino != ino)
			pool->files[kept++] = pool->files[i];
	pool->cnt = kept;
}

bool probe_pool_drop_unused(struct probe_pool *pool, unsigned int rounds)
{
	for (size_t i = 0; i < pool->cnt;) {
		const struct pool_file file = pool->files[i];

		if (is_used(pool, &file, rounds)) {
			i++;
			continue;
		}
		forget(pool, file.dev, file.ino);
		if (probe_set_drop(&pool->probes, file.dev, file.ino))
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
