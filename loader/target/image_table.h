/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executable mappings of images, built from the kernel's records in order of time. An image is
 * what a process runs from a fork or exec until its next exec or its end. Ended images are kept for
 * some time. Memory is limited. Knows nothing of ring buffers.
 *
 * There are no records of munmap() and mremap(), nor of mappings made by another process that
 * shares the memory without being a thread.
 */
#ifndef LOADER_TARGET_IMAGE_TABLE_H
#define LOADER_TARGET_IMAGE_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "loader/target/map_record.h"

/* Maximum ended images kept. A process that was forked and then ran exec has two images. */
#define IMAGES_ENDED_MAX 8192

#define IMAGE_BUCKETS 4096

/* Special value of at_ns: the newest image of a process, even if that image has ended. */
#define IMAGE_NEWEST UINT64_MAX

struct image;

TAILQ_HEAD(image_queue, image);

struct image_table {
	struct image *buckets[IMAGE_BUCKETS]; /* hashed by pid; newest image first */
	struct image_queue ended;             /* ended images, oldest first */
	size_t ended_cnt;
	size_t bytes;
	size_t bytes_max;
};

void image_table_init(struct image_table *table, size_t bytes_max);
void image_table_deinit(struct image_table *table);

/* Applies one record. mapped_ns: time of the record (CLOCK_REALTIME), stored only for mappings. */
void image_table_apply(struct image_table *table, const struct map_record *record,
		       int64_t mapped_ns);

/*
 * Notes that records were lost after since_ns. These records may be about any process that has
 * run since then, so the mappings of all these processes become unknown until their next exec.
 */
void image_table_lose(struct image_table *table, uint64_t since_ns);

/*
 * Returns the image that the process ran at the time at_ns; NULL if unknown. If at_ns is
 * IMAGE_NEWEST and records were lost, the image may be that of an earlier process with the same
 * pid. This cannot happen if at_ns is a time at which the process existed.
 */
const struct image *image_table_find(const struct image_table *table, pid_t pid, uint64_t at_ns);

/*
 * Copies the mappings of an image to *ret. Returns 0, -ENOENT if the mappings are unknown, or
 * -ENOMEM.
 */
int image_maps(const struct image *image, struct proc_maps *ret);
const char *image_comm(const struct image *image);

/* Drops the ended images of the process with this pid. */
void image_table_forget(struct image_table *table, pid_t pid);

#endif
