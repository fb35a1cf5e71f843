/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executable mappings of process images, built from records sorted by time. An image begins
 * with a fork or an exec and ends with the next exec or the process. Images of ended processes are
 * kept for a while. Memory is bounded. Knows nothing of rings.
 *
 * No record reports munmap() or mremap(), or mappings made by another process that shares the
 * memory without being a thread.
 */
#ifndef LOADER_TARGET_IMAGE_TABLE_H
#define LOADER_TARGET_IMAGE_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "loader/target/map_record.h"

/* Maximum ended images kept; a process that was forked and then executed a program has two. */
#define IMAGES_ENDED_MAX 8192

#define IMAGE_BUCKETS 4096

/* A time that selects the latest image of a process, even if it has ended. */
#define IMAGE_NEWEST UINT64_MAX

struct image;

TAILQ_HEAD(image_queue, image);

struct image_table {
	struct image *buckets[IMAGE_BUCKETS]; /* by pid; newest first */
	struct image_queue ended;             /* oldest first */
	size_t ended_cnt;
	size_t bytes;
	size_t bytes_max;
	uint64_t lost; /* lost records, and images and mappings for which there was no room */
};

void image_table_init(struct image_table *table, size_t bytes_max);
void image_table_deinit(struct image_table *table);

/* Applies one record. mapped_ns: its time as CLOCK_REALTIME, for a mapping. */
void image_table_apply(struct image_table *table, const struct map_record *record,
		       int64_t mapped_ns);

/*
 * Notes that cnt records since since_ns are lost. They may belong to any process alive since then,
 * so the mappings of these processes are unknown until they execute a program.
 */
void image_table_lose(struct image_table *table, uint64_t since_ns, uint64_t cnt);

/*
 * Returns the image that the process ran at a time; NULL if unknown. IMAGE_NEWEST may return the
 * image of an earlier process with the same pid if records were lost; a time at which the process
 * was alive avoids that.
 */
const struct image *image_table_find(const struct image_table *table, pid_t pid, uint64_t at_ns);

/* Copies the image's mappings. Returns 0, -ENOENT if they are unknown, or -ENOMEM. */
int image_maps(const struct image *image, struct proc_maps *ret);
const char *image_comm(const struct image *image);

/* Drops the ended images of this pid. */
void image_table_forget(struct image_table *table, pid_t pid);

#endif
