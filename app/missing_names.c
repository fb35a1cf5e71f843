// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the files that contain functions without names in a report, and logs how to get the names.
 */
#include "app/missing_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/dpkg.h"
#include "base/log.h"
#include "base/path.h"
#include "base/proc.h"
#include "report/fold.h"
#include "report/own.h"
#include "symbolizer/fetcher.h"

/* Maximum number of files that a message lists */
#define FILES_MAX 3

struct files {
	const char *paths[FILES_MAX];
	const char *names[FILES_MAX]; /* names of the files as the stacks show them */
	pid_t pids[FILES_MAX];        /* for each file, a process that maps it; 0 for none */
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
	bool made;        /* true if some functions without names are in anonymous memory */
	const char *help; /* how the runtime names them; NULL if not known */
};

/* How language runtimes name the code that they generate. */
static const struct {
	const char *runtime;
	const char *help;
} namings[] = {
	{"node", " (node --perf-basic-prof names it)"},
	{"jvm", " (jcmd PID Compiler.perfmap names it from JDK 17 on; its stacks are complete with "
		"java -XX:+PreserveFramePointer)"},
};

/* Returns how a runtime, given by its file, names its code; NULL if not known. */
static const char *naming_help(const char *interpreter)
{
	const char *runtime = interpreter ? interpreter_of(interpreter) : NULL;

	for (size_t i = 0; runtime && i < sizeof(namings) / sizeof(namings[0]); i++)
		if (!strcmp(runtime, namings[i].runtime))
			return namings[i].help;
	return NULL;
}

/*
 * Adds the files of those functions on a stack that have no names. If the blamed function belongs
 * to a script, skips functions of the interpreter itself.
 */
static void add_site(struct nameless *nameless, const struct report_site *shown)
{
	bool has_begun = false;
	struct fold fold;

	for (size_t i = shown->first_frame; i < shown->site->frame_cnt; i++) {
		const struct sym_location *location = shown->locations[i];

		if (!location || !location->module || has_name(location))
			continue;
		if (!has_begun)
			fold_begin(&fold, shown, shown->site->frame_cnt);
		has_begun = true;
		if (fold.interpreter && !strcmp(location->module, fold.interpreter))
			continue;
		if (!strcmp(location->module, "[jit]")) {
			nameless->made = true;
			nameless->help = nameless->help ?: naming_help(shown->program.interpreter);
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
 * Finds the packages that contain the files, each package once. Returns 0, or -ENOENT if the
 * package of a file is not found.
 */
static int find_packages(const struct files *files, char *packages[FILES_MAX], size_t *cnt)
{
	for (size_t i = 0; i < files->cnt; i++) {
		cleanup_free char *package = NULL;
		size_t same = 0;

		/* A process in a container has other files at the same paths. */
		if (proc_has_own_root(files->pids[i]))
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
 * Returns advice to install debug symbols, to be freed; NULL if out of memory. Names the packages
 * if dpkg knows those of all files.
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
			 nameless.help ?: "");
	if (nameless.read.cnt)
		advice = install_advice(&nameless.read);
	note(&nameless.read, advice ?: "install debug symbols",
	     (urls && *urls) || !fetcher_can_download()
		     ? ""
		     : ", or have them downloaded: "
		       "DEBUGINFOD_URLS=https://debuginfod.elfutils.org memleak ...");
	return nameless.made || nameless.read.cnt || nameless.unread.cnt;
}
