// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads /proc/PID/cgroup: a line for each hierarchy, "NUMBER:CONTROLLERS:PATH". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/cgroups.h"
#include "loader/cleanup.h"

/* Whether a list such as "cpu,memory" has the memory controller. */
static bool has_memory(const char *controllers, size_t len)
{
	static const char name[] = "memory";

	for (size_t at = 0; at < len;) {
		size_t word = strcspn(controllers + at, ",:");

		if (word == strlen(name) && !strncmp(controllers + at, name, word))
			return true;
		at += word + 1;
	}
	return false;
}

/* The path of a line; *memory: of a hierarchy with that controller. NULL: of neither. */
static char *path_of(char *line, bool *memory)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return NULL;
	controllers++;
	*memory = has_memory(controllers, (size_t)(path - controllers));
	if (!*memory && path != controllers)
		return NULL;
	path[strcspn(path, "\n")] = '\0';
	return path + 1;
}

char *cgroup_of_process(pid_t pid)
{
	cleanup_free char *name = NULL, *line = NULL;
	cleanup_fclose FILE *file = NULL;
	char *found = NULL;
	bool memory = false;
	size_t cap = 0;

	if (asprintf(&name, "/proc/%d/cgroup", pid) < 0)
		return NULL;
	file = fopen(name, "re");
	while (file && !memory && getline(&line, &cap, file) >= 0) {
		const char *path = path_of(line, &memory);

		if (!path || (found && !memory))
			continue;
		free(found);
		found = strdup(path);
	}
	return found;
}
