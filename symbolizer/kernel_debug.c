// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds paths of debug files, and load addresses, of the core kernel and its modules. */
#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/array.h"
#include "symbolizer/kernel_debug.h"

/*
 * Maximum number of anchors (struct file_anchor) of a module: one OPEN request contains all of
 * them. Real modules have only a few code sections.
 */
#define ANCHORS_MAX 128
#define ANCHOR_NAME_MAX 128

/* Paths where vmlinux may be installed: text before and after the kernel release. */
static const char *const core_places[][2] = {
	{"/usr/lib/debug/boot/vmlinux-", ""},
	{"/usr/lib/debug/boot/vmlinux-", ".debug"},
	{"/usr/lib/debug/lib/modules/", "/vmlinux"},
	{"/boot/vmlinux-", ""},
	{"/lib/modules/", "/vmlinux"},
	{"/lib/modules/", "/build/vmlinux"},
};

static const char *const module_trees[] = {"/usr/lib/debug/lib/modules/", "/lib/modules/"};

/* Adds `path` to file->places, and takes over its memory. */
static int add_place(struct module *file, char *path)
{
	if (array_reserve(&file->places, &file->place_cap, file->place_cnt + 1)) {
		free(path);
		return -ENOMEM;
	}
	file->places[file->place_cnt++] = path;
	return 0;
}

static int add_by_build_id(const struct kernel_roots *roots, const char *id, struct module *file)
{
	char *path;

	if (strlen(id) < 4)
		return 0;
	if (asprintf(&path, "%s/usr/lib/debug/.build-id/%.2s/%s.debug", roots->files, id, id + 2) <
	    0)
		return -ENOMEM;
	return add_place(file, path);
}

static int add_core_places(const struct kernel_roots *roots, const char *release,
			   struct module *file)
{
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(core_places) / sizeof(*core_places); i++) {
		char *path;

		if (asprintf(&path, "%s%s%s%s", roots->files, core_places[i][0], release,
			     core_places[i][1]) < 0)
			return -ENOMEM;
		err = add_place(file, path);
	}
	return err;
}

/*
 * True if `file_name` is the name of the module's file: "nf-conntrack.ko.xz" for "nf_conntrack".
 */
static bool is_file_of(const char *file_name, const char *module)
{
	for (; *module; module++, file_name++)
		if (*file_name != *module && !(*module == '_' && *file_name == '-'))
			return false;
	return !strncmp(file_name, ".ko", 3) && (!file_name[3] || file_name[3] == '.');
}

/*
 * Searches the folder `tree` for files of a kernel module, and adds their paths to file->places.
 * Does not follow symbolic links: the link "build" leads to the kernel's sources.
 */
static int search_tree(char *tree, const char *module, struct module *file)
{
	char *const roots[] = {tree, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	int err = 0;

	while (!err && walk && (entry = fts_read(walk))) {
		char *path;

		if (entry->fts_info == FTS_D || !is_file_of(entry->fts_name, module))
			continue;
		path = strdup(entry->fts_path);
		err = path ? add_place(file, path) : -ENOMEM;
	}
	if (walk)
		fts_close(walk);
	return err;
}

static int add_module_places(const struct kernel_roots *roots, const char *release,
			     const char *module, struct module *file)
{
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(module_trees) / sizeof(*module_trees); i++) {
		char *tree;

		if (asprintf(&tree, "%s%s%s", roots->files, module_trees[i], release) < 0)
			return -ENOMEM;
		err = search_tree(tree, module, file);
		free(tree);
	}
	return err;
}

static int add_anchor(struct module *file, const char *name, uint64_t addr)
{
	struct file_anchor anchor = {.addr = addr};

	if (array_reserve(&file->anchors, &file->anchor_cap, file->anchor_cnt + 1))
		return -ENOMEM;
	anchor.name = strdup(name);
	if (!anchor.name)
		return -ENOMEM;
	file->anchors[file->anchor_cnt++] = anchor;
	return 0;
}

static int add_section(const struct kernel_roots *roots, const char *dir, const char *name,
		       struct module *file)
{
	char *path, *text;
	size_t len;
	uint64_t addr = 0;
	int err;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	err = kernel_file_read(roots->sys, path, &text, &len);
	free(path);
	if (err)
		return err == -ENOMEM ? err : 0;
	addr = strtoull(text, NULL, 16);
	free(text);
	return addr ? add_anchor(file, name, addr) : 0;
}

/*
 * Adds the load addresses of a module's code sections to file->anchors. The names of code sections
 * contain "text".
 */
static int add_sections(const struct kernel_roots *roots, const char *module, struct module *file)
{
	char *path = NULL, *full = NULL;
	struct dirent *entry;
	DIR *dir = NULL;
	int err = 0;

	if (asprintf(&path, "module/%s/sections", module) < 0)
		path = NULL;
	if (!path || asprintf(&full, "%s/%s", roots->sys, path) < 0)
		full = NULL;
	if (full)
		dir = opendir(full);
	else
		err = -ENOMEM;
	while (!err && dir && file->anchor_cnt < ANCHORS_MAX && (entry = readdir(dir)))
		if (strstr(entry->d_name, "text") && strlen(entry->d_name) < ANCHOR_NAME_MAX)
			err = add_section(roots, path, entry->d_name, file);
	if (dir)
		closedir(dir);
	free(full);
	free(path);
	return err;
}

int kernel_debug_find(const struct kernel_roots *roots, const struct kernel_part *part,
		      bool is_core, struct module *file)
{
	const char *release = roots->release;
	struct utsname names;
	int err = add_by_build_id(roots, part->build_id, file);

	if (!release && !uname(&names))
		release = names.release;
	if (err || !release)
		return err;
	if (is_core) {
		err = add_core_places(roots, release, file);
		return err ? err : add_anchor(file, "_stext", part->start);
	}
	err = add_module_places(roots, release, part->name, file);
	return err ? err : add_sections(roots, part->name, file);
}
