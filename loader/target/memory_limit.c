// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the memory limits of a process's cgroup and of the ancestors of that cgroup. */
#include "loader/target/memory_limit.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "loader/target/cgroups.h"

/*
 * Reads a number from a file: the first if `name` is NULL, else the number in the line that begins
 * with `name`. Returns false if there is none.
 */
static bool read_number(const char *directory, const char *file, const char *name, uint64_t *ret)
{
	cleanup_free char *path = NULL, *line = NULL;
	cleanup_fclose FILE *stream = NULL;
	size_t cap = 0, skipped = name ? strlen(name) : 0;

	if (asprintf(&path, "%s/%s", directory, file) < 0) {
		path = NULL;
		return false;
	}
	stream = fopen(path, "re");
	while (stream && getline(&line, &cap, stream) > 0)
		if (!name || (!strncmp(line, name, skipped) && line[skipped] == ' '))
			return sscanf(line + skipped, "%" SCNu64, ret) == 1;
	return false;
}

static void take_limit(const char *directory, bool unified, struct memory_limit *ret)
{
	uint64_t limit, used = 0, cache = 0, left;

	/* Without a limit, memory.max contains "max", which is no number. */
	if (!read_number(directory, unified ? "memory.max" : "memory.limit_in_bytes", NULL,
			 &limit) ||
	    limit >= ret->machine)
		return;
	read_number(directory, unified ? "memory.current" : "memory.usage_in_bytes", NULL, &used);
	read_number(directory, "memory.stat", unified ? "inactive_file" : "total_inactive_file",
		    &cache);
	used -= cache < used ? cache : used;
	left = limit > used ? limit - used : 0;
	if (left >= ret->cgroup_left)
		return;
	ret->cgroup_limit = limit;
	ret->cgroup_left = left;
}

struct memory_limit memory_limit_read(void)
{
	return memory_limit_of(getpid());
}

struct memory_limit memory_limit_of(pid_t pid)
{
	struct memory_limit limit = {
		.machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
		.cgroup_limit = UINT64_MAX,
		.cgroup_left = UINT64_MAX,
	};
	cleanup_free char *path = NULL, *mount = NULL, *name = NULL;
	bool unified;
	size_t root;

	mount = cgroup_memory_mount(&unified);
	name = cgroup_of_process(pid);
	if (!mount || asprintf(&path, "%s%s", mount, name ? name : "") < 0) {
		path = NULL;
		return limit;
	}
	/*
	 * Go up to the root: each ancestor may have a lower limit. In a container, the path itself
	 * may not exist below the mount point, but ancestors may.
	 */
	root = strlen(mount);
	while (strlen(path) >= root) {
		char *last = strrchr(path, '/');

		take_limit(path, unified, &limit);
		if (!last)
			break;
		*last = '\0';
	}
	return limit;
}
