// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts the mappings in /proc/PID/maps by file, and reads the limits of a process. */
#include "loader/target/mapping_counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/prefix.h"
#include "base/proc.h"

/* Maximum number of names. Mappings with further names are counted only in the total. */
#define NAMES_MAX 4096
/* Pause after a reading, as a multiple of proc_maps_interval_ns() */
#define PAUSE_FACTOR 4

void mapping_counts_deinit(struct mapping_counts *counts)
{
	hash_map_deinit(&counts->first);
	*counts = (struct mapping_counts){0};
}

/* True for the names that the kernel gives to shared memory, which it shows as deleted files. */
static bool is_shared_memory(const char *path)
{
	return behind_prefix(path, "/memfd:") || behind_prefix(path, "/SYSV");
}

/*
 * Names the kind of a mapping, and returns the hash of the name. All deleted files have the same
 * name: a program that forgets its mappings of files has often made a new file for each.
 */
static uint64_t name_mapping(const struct mapping *mapping, char *ret)
{
	const char *base = strrchr(mapping->path, '/');

	if (!*mapping->path)
		base = "anonymous memory";
	else if (mapping->deleted && !strcmp(mapping->path, "/dev/zero"))
		base = "shared anonymous memory";
	else if (mapping->deleted && !is_shared_memory(mapping->path))
		base = "deleted files";
	else
		base = base ? base + 1 : mapping->path;
	snprintf(ret, FOOTPRINT_NAME_BYTES, "%s", base);
	return hash_text(0, ret);
}

static size_t count_in(const struct hash_map *map, uint64_t key)
{
	return (uintptr_t)hash_map_get(map, key);
}

void mapping_counts_take(struct mapping_counts *counts, const struct proc_maps *maps)
{
	bool is_first = !counts->first_cnt;
	struct hash_map now = {0}, *map = is_first ? &counts->first : &now;
	size_t most =
		maps->cnt > counts->first_cnt ? (maps->cnt - counts->first_cnt) / 2 : maps->cnt;
	char name[FOOTPRINT_NAME_BYTES];

	*counts->mapped = '\0';
	counts->cnt = maps->cnt;
	for_each_mapping (mapping, maps) {
		uint64_t key = name_mapping(mapping, name);
		size_t cnt = count_in(map, key) + 1, before = count_in(&counts->first, key);

		if (cnt > 1 || map->cnt < NAMES_MAX)
			hash_map_set(map, key, (void *)(uintptr_t)cnt);
		if (!is_first && cnt > before + most) {
			most = cnt - before;
			memcpy(counts->mapped, name, sizeof(name));
		}
	}
	if (is_first)
		counts->first_cnt = maps->cnt;
	hash_map_deinit(&now);
}

static uint64_t read_number(const char *text)
{
	return text ? strtoull(text, NULL, 10) : 0;
}

/* "unlimited" is no number and gives 0. */
static uint64_t read_virtual_max(pid_t pid)
{
	static const char name[] = "Max address space";
	cleanup_free char *limits = NULL;
	const char *line = proc_read(pid, "limits", &limits) ? NULL : strstr(limits, name);

	return read_number(line ? line + strlen(name) : NULL);
}

static uint64_t read_mappings_max(void)
{
	FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
	char line[32];
	uint64_t most = file && fgets(line, sizeof(line), file) ? read_number(line) : 0;

	if (file)
		fclose(file);
	return most;
}

void mapping_counts_read(struct mapping_counts *counts, pid_t pid, struct footprint *ret)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct proc_maps maps;

	if (now_ns >= counts->next_ns && !proc_maps_read(pid, &maps)) {
		if (maps.whole)
			mapping_counts_take(counts, &maps);
		counts->next_ns = now_ns + PAUSE_FACTOR * proc_maps_interval_ns(&maps);
		proc_maps_deinit(&maps);
	}
	ret->parts[FOOTPRINT_MAPPINGS] = counts->cnt;
	ret->mappings_max = read_mappings_max();
	ret->virtual_max = read_virtual_max(pid);
	memcpy(ret->mapped, counts->mapped, sizeof(ret->mapped));
}
