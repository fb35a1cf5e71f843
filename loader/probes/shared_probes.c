// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps a list of the files that were searched for allocator functions. */
#include "loader/probes/shared_probes.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/regular_file.h"
#include "loader/probes/backing_inode.h"

/* Identifies a file. Includes the change time, as inode numbers are reused. */
static int identify(int fd, struct probed_file *ret)
{
	struct stat st;
	int err = file_stat(fd, &st);

	if (err)
		return err;
	ret->changed = st.st_ctim;
	err = backing_inode(fd, &ret->id);
	ret->layered = ret->id.dev != st.st_dev;
	return err;
}

static bool is_same(const struct probed_file *a, const struct probed_file *b)
{
	return file_id_equal(&a->id, &b->id) && a->changed.tv_sec == b->changed.tv_sec &&
	       a->changed.tv_nsec == b->changed.tv_nsec;
}

struct probed_file *shared_probes_find(struct shared_probes *shared, int fd)
{
	struct probed_file file;

	if (identify(fd, &file))
		return NULL;
	for (size_t i = 0; i < shared->cnt; i++) {
		if (!is_same(&shared->files[i], &file))
			continue;
		shared->files[i].unused = 0;
		shared->files[i].system_ns = clock_ns(CLOCK_MONOTONIC);
		return &shared->files[i];
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

int shared_probes_add(struct shared_probes *shared, int fd, bool has_heap)
{
	struct probed_file file = {.has_heap = has_heap};
	int err = identify(fd, &file);

	if (err)
		return err;
	if (array_reserve(&shared->files, &shared->cap, shared->cnt + 1))
		return -ENOMEM;
	file.throws = throws(&shared->probes, &file.id);
	file.since_ns = file.system_ns = clock_ns(CLOCK_MONOTONIC);
	shared->files[shared->cnt++] = file;
	return 0;
}

size_t shared_probes_heaps(const struct shared_probes *shared)
{
	size_t cnt = 0;

	for (size_t i = 0; i < shared->cnt; i++)
		cnt += shared->files[i].has_heap;
	return cnt;
}

void shared_probes_begin_round(struct shared_probes *shared)
{
	for (size_t i = 0; i < shared->cnt; i++)
		shared->files[i].unused++;
}

void shared_probes_use_all(struct shared_probes *shared)
{
	for (size_t i = 0; i < shared->cnt; i++)
		shared->files[i].unused = 0;
}

void shared_probes_note_systems(struct shared_probes *shared, uint64_t now_ns,
				bool (*is_in_use)(void *arg, dev_t dev), void *arg)
{
	for (size_t i = 0; i < shared->cnt; i++) {
		struct probed_file *file = &shared->files[i];

		if (file->layered || is_in_use(arg, file->id.dev))
			file->system_ns = now_ns;
	}
}

/*
 * True if the file is in use. Entries that differ only in change time share their probes, so the
 * file is in use if one of these entries is.
 */
static bool is_used(const struct shared_probes *shared, const struct probed_file *file,
		    unsigned int rounds, uint64_t since_ns)
{
	for (size_t i = 0; i < shared->cnt; i++) {
		const struct probed_file *other = &shared->files[i];

		if (file_id_equal(&other->id, &file->id) && other->unused < rounds &&
		    other->system_ns >= since_ns)
			return true;
	}
	return false;
}

static void forget(struct shared_probes *shared, const struct file_id *id)
{
	size_t kept = 0;

	for (size_t i = 0; i < shared->cnt; i++)
		if (!file_id_equal(&shared->files[i].id, id))
			shared->files[kept++] = shared->files[i];
	shared->cnt = kept;
}

bool shared_probes_drop_unused(struct shared_probes *shared, unsigned int rounds, uint64_t since_ns)
{
	for (size_t i = 0; i < shared->cnt;) {
		const struct probed_file file = shared->files[i];

		if (is_used(shared, &file, rounds, since_ns)) {
			i++;
			continue;
		}
		forget(shared, &file.id);
		if (probe_set_drop(&shared->probes, &file.id))
			return true;
	}
	return false;
}

void shared_probes_deinit(struct shared_probes *shared)
{
	probe_set_detach(&shared->probes);
	free(shared->files);
	*shared = (struct shared_probes){0};
}
