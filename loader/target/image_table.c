// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds the table of images from the kernel's records. */
#include "loader/target/image_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loader/target/image_maps.h"

struct image {
	pid_t pid;
	uint32_t thread_cnt;
	uint64_t began_ns;
	uint64_t ended_ns;
	struct image_maps *maps; /* NULL if the mappings are unknown */
	char comm[MAP_RECORD_COMM_BYTES];
	struct image *older; /* next older image in the hash bucket */
	TAILQ_ENTRY(image) in_ended;
};

void image_table_init(struct image_table *table, size_t bytes_max)
{
	*table = (struct image_table){.bytes_max = bytes_max};
	TAILQ_INIT(&table->ended);
}

static struct image **bucket_of(struct image_table *table, pid_t pid)
{
	return &table->buckets[(uint32_t)pid % IMAGE_BUCKETS];
}

static void drop(struct image_table *table, struct image *image)
{
	struct image **at = bucket_of(table, image->pid);

	while (*at != image)
		at = &(*at)->older;
	*at = image->older;
	if (image->ended_ns) {
		TAILQ_REMOVE(&table->ended, image, in_ended);
		table->ended_cnt--;
	}
	image_maps__free(image->maps);
	table->bytes -= sizeof(*image);
	free(image);
}

void image_table_deinit(struct image_table *table)
{
	for (size_t i = 0; i < IMAGE_BUCKETS; i++)
		while (table->buckets[i])
			drop(table, table->buckets[i]);
}

static struct image *newest(struct image_table *table, pid_t pid)
{
	return (struct image *)image_table_find(table, pid, IMAGE_NEWEST);
}

static void end(struct image_table *table, struct image *image, uint64_t time_ns)
{
	if (image->ended_ns)
		return;
	image->ended_ns = time_ns;
	TAILQ_INSERT_TAIL(&table->ended, image, in_ended);
	if (++table->ended_cnt > IMAGES_ENDED_MAX)
		drop(table, TAILQ_FIRST(&table->ended));
}

/*
 * Drops ended images until memory is below its limit. If that is not enough, drops the mappings of
 * `used`, the image that has just been changed.
 */
static void make_room(struct image_table *table, struct image *used)
{
	struct image *oldest;

	while (table->bytes > table->bytes_max && (oldest = TAILQ_FIRST(&table->ended)))
		drop(table, oldest);
	if (table->bytes <= table->bytes_max || !used->maps)
		return;
	image_maps__free(used->maps);
	used->maps = NULL;
}

/* Ends the current image of a process and begins a new one. */
static struct image *begin(struct image_table *table, const struct map_record *record,
			   struct image_maps *maps)
{
	struct image *before = newest(table, record->pid), *image = calloc(1, sizeof(*image));

	if (before)
		end(table, before, record->time_ns);
	if (!image) {
		image_maps__free(maps);
		return NULL;
	}
	*image = (struct image){
		.pid = record->pid,
		.thread_cnt = 1,
		.began_ns = record->time_ns,
		.maps = maps,
		.older = *bucket_of(table, record->pid),
	};
	*bucket_of(table, record->pid) = image;
	table->bytes += sizeof(*image);
	make_room(table, image);
	return image;
}

static void apply_exec(struct image_table *table, const struct map_record *record)
{
	struct image_maps *maps = NULL;
	struct image *image;

	/* If out of memory, the mappings are unknown. */
	image_maps__new(&table->bytes, &maps);
	image = begin(table, record, maps);
	if (image)
		memcpy(image->comm, record->comm, sizeof(image->comm));
}

static void apply_fork(struct image_table *table, const struct map_record *record)
{
	struct image *parent = newest(table, record->parent), *image;

	/*
	 * A parent that has ended cannot fork: records were lost, and the parent's pid now belongs
	 * to another, unknown process.
	 */
	if (parent && parent->ended_ns)
		parent = NULL;
	if (record->pid == record->parent) {
		if (parent)
			parent->thread_cnt++;
		return;
	}
	/*
	 * If the parent is unknown, for example because it started before tracing, the child's
	 * mappings are unknown, too.
	 */
	image = begin(table, record, parent ? image_maps__share(parent->maps) : NULL);
	if (image && parent)
		memcpy(image->comm, parent->comm, sizeof(image->comm));
}

static void apply_exit(struct image_table *table, const struct map_record *record)
{
	struct image *image = newest(table, record->pid);

	if (!image || image->ended_ns)
		return;
	if (image->thread_cnt > 0)
		image->thread_cnt--;
	if (!image->thread_cnt || (!image->maps && record->tid == record->pid))
		end(table, image, record->time_ns);
}

static void apply_mapping(struct image_table *table, const struct map_record *record,
			  int64_t mapped_ns)
{
	struct image *image = newest(table, record->pid);
	struct mapping mapping = record->mapping;

	if (!image || !image->maps || image->ended_ns)
		return;
	mapping.since_ns = mapped_ns;
	image_maps__add(&image->maps, &mapping, record->path, record->path_len);
	make_room(table, image);
}

static void apply_name(struct image_table *table, const struct map_record *record)
{
	struct image *image = newest(table, record->pid);

	if (image && record->tid == record->pid)
		memcpy(image->comm, record->comm, sizeof(image->comm));
}

void image_table_apply(struct image_table *table, const struct map_record *record,
		       int64_t mapped_ns)
{
	const struct image *image = newest(table, record->pid);

	/*
	 * Pid 0 stands for a process outside memleak's pid namespace, and pid -1 for a process
	 * without a pid.
	 */
	if (record->pid <= 0)
		return;
	/* Skip a record from before the newest image began: it is about an earlier image. */
	if (image && record->time_ns < image->began_ns)
		return;
	switch (record->kind) {
	case MAP_RECORD_MAPPING:
		apply_mapping(table, record, mapped_ns);
		break;
	case MAP_RECORD_EXEC:
		apply_exec(table, record);
		break;
	case MAP_RECORD_NAME:
		apply_name(table, record);
		break;
	case MAP_RECORD_FORK:
		apply_fork(table, record);
		break;
	case MAP_RECORD_EXIT:
		apply_exit(table, record);
		break;
	default:
		break;
	}
}

void image_table_lose(struct image_table *table, uint64_t since_ns)
{
	for (size_t i = 0; i < IMAGE_BUCKETS; i++) {
		for (struct image *image = table->buckets[i]; image; image = image->older) {
			if (image->ended_ns && image->ended_ns < since_ns)
				continue;
			image_maps__free(image->maps);
			image->maps = NULL;
		}
	}
}

const struct image *image_table_find(const struct image_table *table, pid_t pid, uint64_t at_ns)
{
	const struct image *image = table->buckets[(uint32_t)pid % IMAGE_BUCKETS];

	while (image && (image->pid != pid || image->began_ns > at_ns))
		image = image->older;
	if (image && image->ended_ns && image->ended_ns < at_ns && at_ns != IMAGE_NEWEST)
		return NULL;
	return image;
}

int image_maps(const struct image *image, struct proc_maps *ret)
{
	return image->maps ? image_maps__copy(image->maps, ret) : -ENOENT;
}

const char *image_comm(const struct image *image)
{
	return image->comm;
}

void image_table_forget(struct image_table *table, pid_t pid)
{
	struct image *image = *bucket_of(table, pid);

	while (image) {
		struct image *older = image->older;

		if (image->pid == pid && image->ended_ns)
			drop(table, image);
		image = older;
	}
}
