/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What images of processes have mapped executable, from records in the order of their times. An
 * image begins with a fork or an exec and ends with the next exec or the process. Images of
 * processes that ended stay for a while. All is bounded. Knows nothing of rings.
 *
 * Not told is: what is unmapped, or moved by mremap; and what one of two processes maps that share
 * their memory without being threads of one.
 */
#ifndef LOADER_TARGET_IMAGE_TABLE_H
#define LOADER_TARGET_IMAGE_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "loader/target/map_record.h"

/* So many images that ended are kept; a process that was forked and then executed is two. */
#define IMAGES_ENDED_MAX 8192

#define IMAGE_BUCKETS 4096

/* A time: the latest of a process, also when it has ended. */
#define IMAGE_NEWEST UINT64_MAX

struct image;

TAILQ_HEAD(image_queue, image);

struct image_table {
	struct image *buckets[IMAGE_BUCKETS]; /* by pid; newest first */
	struct image_queue ended;             /* oldest first */
	size_t ended_cnt;
	size_t bytes;
	size_t bytes_max;
	uint64_t lost; /* records, and images and mappings for which there was no room */
};

void image_table_init(struct image_table *table, size_t bytes_max);
void image_table_deinit(struct image_table *table);

/* mapped_ns: CLOCK_REALTIME at the time of a record that tells a mapping. */
void image_table_apply(struct image_table *table, const struct map_record *record,
		       int64_t mapped_ns);

/*
 * Records since since_ns are lost: they may have been of anybody who lived then. Nothing is known
 * of such processes any more until they execute a program.
 */
void image_table_lose(struct image_table *table, uint64_t since_ns, uint64_t cnt);

/*
 * What the process ran at a time; NULL: not known. The newest one may be of an earlier process with
 * the same pid if records were lost; a time in the life of the one that is meant rules that out.
 */
const struct image *image_table_find(const struct image_table *table, pid_t pid, uint64_t at_ns);

/* -ENOENT: not known; -ENOMEM. */
int image_maps(const struct image *image, struct proc_maps *ret);
const char *image_comm(const struct image *image);

/* Drops what ended of this pid. */
void image_table_forget(struct image_table *table, pid_t pid);

#endif
