// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds control groups in the mounted hierarchies. */
#include "loader/target/cgroups.h"

#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/proc.h"

/* Minimum number of digits of a container id on the command line. */
#define ID_BYTES_MIN 12
#define HIERARCHIES_MAX 32
/* Maximum matching cgroups that an error message lists. */
#define NAMED_MAX 8

struct hierarchy {
	char *mount;
	/* a controller of the hierarchy; "" if none is known; NULL for version 2 */
	char *controller;
};

struct hierarchies {
	struct hierarchy items[HIERARCHIES_MAX];
	size_t cnt;
};

/*
 * Controllers that identify a hierarchy of version 1. If a hierarchy has several of them, the one
 * that comes first in this list identifies it.
 */
static const char *const controllers[] = {"memory", "cpu",     "cpuacct", "pids",
					  "blkio",  "devices", "freezer", "cpuset"};

static char *controller_of(const struct mntent *mount)
{
	for (size_t i = 0; i < sizeof(controllers) / sizeof(controllers[0]); i++)
		if (hasmntopt(mount, controllers[i]))
			return strdup(controllers[i]);
	return strdup("");
}

static void hierarchies_deinit(struct hierarchies *list)
{
	for (size_t i = 0; i < list->cnt; i++) {
		free(list->items[i].mount);
		free(list->items[i].controller);
	}
}

/*
 * Returns the rank by which hierarchies are sorted: version 2 comes first, then the memory
 * hierarchy of version 1, then all others.
 */
static int rank(const struct hierarchy *hierarchy)
{
	if (!hierarchy->controller)
		return 0;
	return strcmp(hierarchy->controller, "memory") ? 2 : 1;
}

static int by_rank(const void *a, const void *b)
{
	return rank(a) - rank(b);
}

static int hierarchies_init(struct hierarchies *list)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *mount;
	int err = mounts ? 0 : -errno;

	list->cnt = 0;
	while (!err && list->cnt < HIERARCHIES_MAX && (mount = getmntent(mounts))) {
		bool unified = !strcmp(mount->mnt_type, "cgroup2");
		struct hierarchy *item = &list->items[list->cnt];

		if (!unified && strcmp(mount->mnt_type, "cgroup"))
			continue;
		item->mount = strdup(mount->mnt_dir);
		item->controller = unified ? NULL : controller_of(mount);
		list->cnt++;
		if (!item->mount || (!unified && !item->controller))
			err = -ENOMEM;
	}
	if (mounts)
		endmntent(mounts);
	qsort(list->items, list->cnt, sizeof(list->items[0]), by_rank);
	return err;
}

static int take_place(const struct hierarchy *hierarchy, const char *path, struct cgroup_place *ret)
{
	struct stat st;

	if (hierarchy->controller && !*hierarchy->controller)
		return -ENOTSUP;
	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return -ENOENT;
	ret->path = realpath(path, NULL);
	ret->controller = hierarchy->controller ? strdup(hierarchy->controller) : NULL;
	ret->id = st.st_ino;
	return ret->path && (ret->controller || !hierarchy->controller) ? 0 : -ENOMEM;
}

static bool is_below(const char *path, const char *mount)
{
	size_t len = strlen(mount);

	return !strncmp(path, mount, len) && (!path[len] || path[len] == '/');
}

/* Looks for a cgroup by the path of its directory. */
static int find_directory(const struct hierarchies *list, const char *name,
			  struct cgroup_place *ret)
{
	cleanup_free char *path = realpath(name, NULL);
	struct statfs fs;

	if (!path || statfs(path, &fs) ||
	    ((unsigned long)fs.f_type != CGROUP2_SUPER_MAGIC &&
	     (unsigned long)fs.f_type != CGROUP_SUPER_MAGIC))
		return -ENOENT;
	for (size_t i = 0; i < list->cnt; i++)
		if (is_below(path, list->items[i].mount))
			return take_place(&list->items[i], path, ret);
	return -ENOENT;
}

static int find_inside(const struct hierarchy *hierarchy, const char *name,
		       struct cgroup_place *ret)
{
	cleanup_free char *path = NULL;

	if (asprintf(&path, "%s/%s", hierarchy->mount, name + strspn(name, "/")) < 0)
		return -ENOMEM;
	return take_place(hierarchy, path, ret);
}

/*
 * True if the directory is the cgroup of the container with this id. Excludes the cgroup of conmon,
 * its monitor, which also has the id in its name.
 */
static bool has_container(const char *directory, const char *id)
{
	static const char monitor[] = "conmon-";
	const char *found = strstr(directory, id);
	size_t before = found ? (size_t)(found - directory) : 0;

	return found && (before < strlen(monitor) ||
			 strncmp(found - strlen(monitor), monitor, strlen(monitor)));
}

static bool is_named(const char *directory, const char *name)
{
	static const char *const suffixes[] = {"", ".service", ".scope", ".slice"};
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (!strncmp(directory, name, len) && !strcmp(directory + len, suffixes[i]))
			return true;
	return len >= ID_BYTES_MIN && has_container(directory, name);
}

static int add_path(char **paths, const char *path)
{
	char *grown;

	if (asprintf(&grown, "%s%s%s", *paths ? *paths : "", *paths ? ", " : "", path) < 0)
		return -ENOMEM;
	free(*paths);
	*paths = grown;
	return 0;
}

/*
 * Looks for a directory with this name. Returns -ENOTUNIQ if there are several; ret->path then
 * lists them.
 */
static int find_named(const struct hierarchy *hierarchy, const char *name, struct cgroup_place *ret)
{
	char *const roots[] = {hierarchy->mount, NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
	cleanup_free char *found = NULL;
	size_t cnt = 0;
	FTSENT *entry;
	int err = 0;

	while (!err && cnt < NAMED_MAX && tree && (entry = fts_read(tree))) {
		if (entry->fts_info != FTS_D || !entry->fts_level ||
		    !is_named(entry->fts_name, name))
			continue;
		err = add_path(&found, entry->fts_path);
		cnt++;
	}
	if (tree)
		fts_close(tree);
	if (err)
		return err;
	if (cnt == 1)
		return take_place(hierarchy, found, ret);
	ret->path = found;
	found = NULL;
	return cnt ? -ENOTUNIQ : -ENOENT;
}

typedef int find_fn(const struct hierarchy *hierarchy, const char *name, struct cgroup_place *ret);

/*
 * Searches the hierarchies in order until find() returns 0 or -ENOTUNIQ. If it never does, returns
 * the first error other than -ENOENT and -ENOTSUP (hierarchy without a controller), or -ENOENT if
 * there was none.
 */
static int find_in_all(const struct hierarchies *list, const char *name, find_fn *find,
		       struct cgroup_place *ret)
{
	int first = -ENOENT;

	for (size_t i = 0; i < list->cnt; i++) {
		int err = find(&list->items[i], name, ret);

		if (!err || err == -ENOTUNIQ)
			return err;
		if (first == -ENOENT && err != -ENOTSUP)
			first = err;
	}
	return first;
}

int cgroup_find(const char *name, struct cgroup_place *ret)
{
	struct hierarchies list;
	int err;

	*ret = (struct cgroup_place){0};
	err = hierarchies_init(&list);
	if (!err)
		err = find_directory(&list, name, ret);
	if (err == -ENOENT)
		err = find_in_all(&list, name, find_inside, ret);
	if (err == -ENOENT && !strchr(name, '/'))
		err = find_in_all(&list, name, find_named, ret);
	if (err && err != -ENOTUNIQ)
		cgroup_place_deinit(ret);
	hierarchies_deinit(&list);
	return err;
}

void cgroup_place_deinit(struct cgroup_place *place)
{
	free(place->path);
	free(place->controller);
	*place = (struct cgroup_place){0};
}

static int visit_file(const char *directory, const char *name, int (*visit)(void *arg, pid_t pid),
		      void *arg)
{
	cleanup_free char *path = NULL;
	cleanup_fclose FILE *file = NULL;
	int err = 0, pid;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return -ENOMEM;
	file = fopen(path, "re");
	while (file && !err && fscanf(file, "%d", &pid) == 1)
		/* cgroup.procs lists 0 for a process outside memleak's pid namespace */
		err = pid > 0 ? visit(arg, pid) : 0;
	return err;
}

int cgroup_visit(const char *path, int (*visit)(void *arg, pid_t pid), void *arg)
{
	char *const roots[] = {(char *)path, NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	int err = tree ? 0 : -errno;

	while (!err && (entry = fts_read(tree)))
		if (entry->fts_info == FTS_D)
			err = visit_file(entry->fts_path, "cgroup.procs", visit, arg);
	if (tree)
		fts_close(tree);
	return err;
}

char *cgroup_memory_mount(bool *unified)
{
	struct hierarchies list;
	char *mount = NULL;

	*unified = true;
	if (hierarchies_init(&list)) {
		hierarchies_deinit(&list);
		return NULL;
	}
	for (size_t i = 0; i < list.cnt; i++) {
		bool memory = rank(&list.items[i]) == 1;

		if (!memory && (rank(&list.items[i]) || mount))
			continue;
		free(mount);
		mount = strdup(list.items[i].mount);
		*unified = !memory;
	}
	hierarchies_deinit(&list);
	return mount;
}

int cgroup_visit_all(const char *mount, int (*visit)(void *arg, uint64_t id, const char *path),
		     void *arg)
{
	char *const roots[] = {(char *)mount, NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
	size_t skipped = strlen(mount);
	FTSENT *entry;
	int err = tree ? 0 : -errno;

	while (!err && (entry = fts_read(tree)))
		if (entry->fts_info == FTS_D)
			err = visit(arg, entry->fts_statp->st_ino,
				    entry->fts_level ? entry->fts_path + skipped : "/");
	if (tree)
		fts_close(tree);
	return err;
}

/* Each line of /proc/PID/cgroup describes one hierarchy as "NUMBER:CONTROLLERS:PATH". */

/* True if a list such as "cpu,memory" contains the memory controller. */
static bool has_memory(const char *names, size_t len)
{
	static const char name[] = "memory";

	for (size_t at = 0; at < len;) {
		size_t word = strcspn(names + at, ",:");

		if (word == strlen(name) && !strncmp(names + at, name, word))
			return true;
		at += word + 1;
	}
	return false;
}

/*
 * Returns the path in a line of /proc/PID/cgroup if the line is for version 2 or for the memory
 * controller, else NULL. Sets *memory if the line is for the memory controller.
 */
static char *path_of(char *line, bool *memory)
{
	char *names = strchr(line, ':');
	char *path = names ? strchr(names + 1, ':') : NULL;

	if (!path)
		return NULL;
	names++;
	*memory = has_memory(names, (size_t)(path - names));
	if (!*memory && path != names)
		return NULL;
	return path + 1;
}

char *cgroup_of_process(pid_t pid)
{
	cleanup_free char *lines = NULL;
	char *found = NULL, *rest;
	bool memory = false;

	if (proc_read(pid, "cgroup", &lines))
		return NULL;
	rest = lines;
	for (char *line; !memory && (line = strsep(&rest, "\n"));) {
		const char *path = path_of(line, &memory);

		if (!path || (found && !memory))
			continue;
		free(found);
		found = strdup(path);
	}
	return found;
}
