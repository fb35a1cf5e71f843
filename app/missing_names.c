// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects the files whose functions have no names in a report. */
#include "app/missing_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/dpkg.h"
#include "base/log.h"
#include "base/path.h"
#include "report/fold.h"
#include "report/own.h"

/* Maximum files that a message names */
#define FILES_MAX 3

struct files {
	const char *paths[FILES_MAX];
	const char *names[FILES_MAX]; /* as shown in the stacks */
	pid_t pids[FILES_MAX];        /* a process that maps the file */
	size_t cnt;
};

static void add(struct files *files, const struct sym_location *location, pid_t pid)
{
	const char *path = location->module;

	for (size_t i = 0; i < files->cnt; i++)
		if (!strcmp(files->paths[i], path))
			return;
	if (files->cnt == FILES_MAX)
		return;
	files->pids[files->cnt] = pid;
	files->names[files->cnt] = location->known_as ?: path_name(path);
	files->paths[files->cnt++] = path;
}

static bool has_name(const struct sym_location *location)
{
	return location->frame_cnt && sym_is_known(location->frames[0].symbol);
}

struct nameless {
	struct files read;
	struct files unread;
	bool made;    /* some of the code is in no file */
	bool by_node; /* node has made some of it */
};

static bool is_node(const char *program)
{
	const char *runtime = program ? interpreter_of(program) : NULL;

	return runtime && !strcmp(runtime, "node");
}

/*
 * Adds the files of those functions on a stack that have no names. Skips the interpreter's own
 * functions if a function of a script is blamed.
 */
static void add_site(struct nameless *nameless, const struct report_site *shown)
{
	struct fold fold;

	fold_begin(&fold, shown, shown->site->frame_cnt);
	for (size_t i = shown->first_frame; i < shown->site->frame_cnt; i++) {
		const struct sym_location *location = shown->locations[i];

		if (!location || !location->module || has_name(location) ||
		    (fold.interpreter && !strcmp(location->module, fold.interpreter)))
			continue;
		if (!strcmp(location->module, "[jit]")) {
			nameless->made = true;
			nameless->by_node |= is_node(shown->program.file);
		}
		if (*location->module == '/')
			add(location->unread ? &nameless->unread : &nameless->read, location,
			    shown->site->process ? shown->site->process->pid : 0);
	}
}

static void note(const struct files *files, const char *why, const char *help)
{
	if (!files->cnt)
		return;
	log_note("functions of %s%s%s%s%s have no names: %s%s", files->names[0],
		 files->cnt > 1 ? ", " : "", files->cnt > 1 ? files->names[1] : "",
		 files->cnt > 2 ? ", " : "", files->cnt > 2 ? files->names[2] : "", why, help);
}

/*
 * True if the process has the root directory of memleak, so that paths name the same files for
 * both. A process in a container has a different root directory.
 */
static bool shares_root(pid_t pid)
{
	struct stat ours, theirs;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	return pid && !stat("/", &ours) && !stat(path, &theirs) && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}

/* Finds the packages of all files. Returns 0, or -ENOENT if the package of a file is unknown. */
static int find_packages(const struct files *files, char *packages[FILES_MAX], size_t *cnt)
{
	for (size_t i = 0; i < files->cnt; i++) {
		cleanup_free char *package = NULL;
		size_t same = 0;

		if (shares_root(files->pids[i]))
			package = dpkg_package_of(DPKG_INFO, files->paths[i]);
		if (!package)
			return -ENOENT;
		while (same < *cnt && strcmp(packages[same], package) != 0)
			same++;
		if (same < *cnt)
			continue;
		packages[(*cnt)++] = package;
		package = NULL;
	}
	return 0;
}

/*
 * Returns advice that names the packages of debug symbols, if dpkg knows them. The caller must free
 * it.
 */
static char *install_advice(const struct files *files)
{
	char *packages[FILES_MAX] = {NULL}, *advice = NULL;
	size_t cnt = 0, len;
	int err = find_packages(files, packages, &cnt);
	FILE *out = open_memstream(&advice, &len);

	if (out)
		fprintf(out, "install debug symbols (package%s ", cnt == 1 && !err ? "" : "s");
	for (size_t i = 0; i < cnt; i++) {
		if (out && !err)
			fprintf(out, "%s%s-dbgsym", i ? ", " : "", packages[i]);
		free(packages[i]);
	}
	if (!out)
		return NULL;
	fputs(err ? "...-dbgsym or ...-debuginfo)" : ")", out);
	fclose(out);
	return advice;
}

bool missing_names_note(const struct report *report)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	cleanup_free char *advice = NULL;
	struct nameless nameless = {0};

	for (size_t i = 0; i < report->site_cnt; i++)
		if (report->sites[i].site->space == SPACE_USER)
			add_site(&nameless, &report->sites[i]);
	note(&nameless.unread, "memleak cannot read the file", "");
	if (nameless.made)
		log_note("code outside files has no names: it was generated at run time%s, or "
			 "moved to anonymous memory",
			 nameless.by_node ? " (node --perf-basic-prof names it)" : "");
	advice = install_advice(&nameless.read);
	note(&nameless.read, advice ?: "install debug symbols",
	     urls && *urls ? ""
			   : ", or have them downloaded: "
			     "DEBUGINFOD_URLS=https://debuginfod.elfutils.org memleak ...");
	return nameless.made || nameless.read.cnt || nameless.unread.cnt;
}
