/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which file something is, by numbers. It opens nothing.
 *
 * There are three sources of these numbers, and they agree except on file systems in layers and on
 * btrfs, so each comparison keeps to one of them:
 *  - stat, by file_id_of(). An overlay has numbers of its own in each mount. That serves where a
 *    file that is taken for two costs memory and nothing else: caches of what was read from files.
 *  - maps, in struct mapping. What an open file is called there tells mapped_file_is().
 *  - the kernel's file behind an overlay, by backing_inode(): where probes are, which all
 *    containers of one image share. The kernel tells it by a BPF program, that is not everywhere.
 * A cgroup is known by its inode number alone, which is what BPF programs have of it.
 */
#ifndef BASE_FILE_ID_H
#define BASE_FILE_ID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

struct file_id {
	uint64_t ino; /* 0: no file */
	dev_t dev;
};

/*
 * A file as it was when it was read: one that is written over is another. The change time has no
 * part in it, as that of a file changes when it is renamed or deleted.
 */
struct file_version {
	struct file_id id;
	int64_t size;
	struct timespec mtime;
};

static inline bool file_id_equal(const struct file_id *a, const struct file_id *b)
{
	return a->ino == b->ino && a->dev == b->dev;
}

static inline struct file_id file_id_of(const struct stat *st)
{
	return (struct file_id){.ino = st->st_ino, .dev = st->st_dev};
}

static inline bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

static inline bool file_version_equal(const struct file_version *a, const struct file_version *b)
{
	return file_id_equal(&a->id, &b->id) && a->size == b->size &&
	       a->mtime.tv_sec == b->mtime.tv_sec && a->mtime.tv_nsec == b->mtime.tv_nsec;
}

static inline struct file_version file_version_of(const struct stat *st)
{
	return (struct file_version){file_id_of(st), st->st_size, st->st_mtim};
}

#endif
