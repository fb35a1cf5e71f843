// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects the files whose functions have no names in a report. */
#include "app/missing_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/path.h"

/* Maximum files that a message names */
#define FILES_MAX 3

struct files {
	const char *paths[FILES_MAX];
	size_t cnt;
};

static void add(struct files *files, const char *path)
{
	for (size_t i = 0; i < files->cnt; i++)
		if (!strcmp(files->paths[i], path))
			return;
	if (files->cnt < FILES_MAX)
		files->paths[files->cnt++] = path;
}

static bool has_name(const struct sym_location *location)
{
	return location->frame_cnt && sym_is_known(location->frames[0].symbol);
}

struct nameless {
	struct files read;
	struct files unread;
	bool made; /* some of the code is in no file */
};

static void add_site(struct nameless *nameless, const struct report_site *shown)
{
	for (size_t i = shown->first_frame; i < shown->site->frame_cnt; i++) {
		const struct sym_location *location = shown->locations[i];

		if (!location || !location->module || has_name(location))
			continue;
		nameless->made |= !strcmp(location->module, "[jit]");
		if (*location->module == '/')
			add(location->unread ? &nameless->unread : &nameless->read,
			    location->module);
	}
}

static void note(const struct files *files, const char *why, const char *help)
{
	if (!files->cnt)
		return;
	log_note("functions of %s%s%s%s%s have no names: %s%s", path_name(files->paths[0]),
		 files->cnt > 1 ? ", " : "", files->cnt > 1 ? path_name(files->paths[1]) : "",
		 files->cnt > 2 ? ", " : "", files->cnt > 2 ? path_name(files->paths[2]) : "", why,
		 help);
}

bool missing_names_note(const struct report *report)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct nameless nameless = {0};

	for (size_t i = 0; i < report->site_cnt; i++)
		if (report->sites[i].site->space == SPACE_USER)
			add_site(&nameless, &report->sites[i]);
	note(&nameless.unread, "memleak cannot read the file", "");
	if (nameless.made)
		log_note("code outside files has no names: it was generated at run time, or moved "
			 "to anonymous memory");
	note(&nameless.read, "install debug symbols (packages ...-dbgsym or ...-debuginfo)",
	     urls && *urls ? ""
			   : ", or have them downloaded: "
			     "DEBUGINFOD_URLS=https://debuginfod.elfutils.org memleak ...");
	return nameless.made || nameless.read.cnt || nameless.unread.cnt;
}
