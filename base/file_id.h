/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Identifies files by inode and device numbers. Opens nothing.
 *
 * These numbers come from three sources. On overlayfs and btrfs, the sources give different numbers
 * for the same file, so compare only numbers from one source:
 *  - stat(), read by file_id_of(). A file in an overlay has different numbers in each mount. For a
 *    cache of file contents, this only costs memory: the file is cached twice.
 *  - /proc/PID/maps, stored in struct mapping. mapped_file_is() compares an open file with these
 *    numbers.
 *  - backing_inode(), which finds the file below an overlay. Its numbers identify probed files:
 *    containers made from one container image share the file below the overlay. A BPF program
 *    reads the numbers; not every kernel supports this program.
 * A cgroup is identified by its inode number only, since BPF programs know only that number.
 */
#ifndef BASE_FILE_ID_H
#define BASE_FILE_ID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

struct file_id {
	uint64_t ino; /* inode number; 0 stands for no file */
	dev_t dev;
};

/*
 * Identifies the contents of a file at one time: overwriting the file makes a new version. The
 * change time (ctime) is not compared, since renaming or deleting the file changes it.
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
