// SPDX-License-Identifier: GPL-2.0-or-later
/* Remembers which files have been looked into. */
#include "loader/probe_pool.h"

#include <errno.h>
#include <stdlib.h>

#include "loader/real_file.h"

static bool is_file(const struct pool_file *file, const struct stat *st)
{
	return file->ino == st->st_ino && file->dev == st->st_dev &&
	       file->changed.tv_sec == st->st_ctim.tv_sec &&
	       file->changed.tv_nsec == st->st_ctim.tv_nsec;
}

const struct pool_file *probe_pool_find(const struct probe_pool *pool, int fd)
{
	struct stat st;

	if (real_file_stat(fd, &st))
		return NULL;
	for (size_t i = 0; i < pool->cnt; i++)
		if (is_file(&pool->files[i], &st))
			return &pool->files[i];
	return NULL;
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
	grown[pool->cnt++] = (struct pool_file){st.st_dev, st.st_ino, st.st_ctim, has_heap};
	return 0;
}

size_t probe_pool_heaps(const struct probe_pool *pool)
{
	size_t cnt = 0;

	for (size_t i = 0; i < pool->cnt; i++)
		cnt += pool->files[i].has_heap;
	return cnt;
}

void probe_pool_deinit(struct probe_pool *pool)
{
	probe_set_detach(&pool->probes);
	free(pool->files);
	*pool = (struct probe_pool){0};
}
