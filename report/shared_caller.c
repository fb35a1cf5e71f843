// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts, for each function on a few stacks, how many sites have the function on their stacks. */
#include "report/shared_caller.h"

#include <string.h>

#include "report/blame.h"
#include "report/kernel_paths.h"

/*
 * Maximum number of paths whose functions are tried. A function that is on most paths is very
 * likely on one of these.
 */
#define TRIED_PATHS 8

/*
 * Maximum number of frames of a path that are tried, from the blamed frame outwards. Functions
 * further out say little, because they are on nearly all paths.
 */
#define MOST_FRAMES 32

static bool may_be_named(const struct options *opts, const struct report_site *path, size_t frame)
{
	const struct sym_frame *function = sym_outermost(path->locations[frame]);
	struct report_site shown = *path;

	return function && sym_is_known(function->symbol) && strcmp(function->symbol, "main") &&
	       !(path->site->space == SPACE_KERNEL &&
		 kernel_frame_is_entry(path->locations[frame])) &&
	       blame_may_name(opts, &shown, frame);
}

static bool has_function(const struct report_site *path, const char *symbol, const char *module)
{
	for (size_t i = path->blamed.frame; i < path->site->frame_cnt; i++) {
		const struct sym_frame *function = sym_outermost(path->locations[i]);

		if (function && function->symbol && !strcmp(function->symbol, symbol) &&
		    path->locations[i]->module && !strcmp(path->locations[i]->module, module))
			return true;
	}
	return false;
}

static bool is_reported(const struct report_site *path, const struct suspect *suspects,
			size_t suspect_cnt)
{
	if (path->settling || path->is_excluded)
		return true;
	for (size_t i = 0; i < suspect_cnt; i++)
		if (suspect_has(&suspects[i], path))
			return true;
	return false;
}

/*
 * Returns how many sites have the function at frame `frame` of `path` on their stacks. Does not
 * count sites that are in a suspect, are excluded, or may stop growing soon.
 */
static size_t sites_below(const struct report_site *paths, size_t cnt,
			  const struct suspect *suspects, size_t suspect_cnt,
			  const struct report_site *path, size_t frame)
{
	const char *symbol = sym_outermost(path->locations[frame])->symbol;
	const char *module = path->locations[frame]->module;
	size_t ret = 0;

	for (size_t i = 0; module && i < cnt; i++)
		if (!is_reported(&paths[i], suspects, suspect_cnt) &&
		    has_function(&paths[i], symbol, module))
			ret += paths[i].path_cnt ?: 1;
	return ret;
}

struct shared_caller shared_caller_of(const struct options *opts, const struct report_site *paths,
				      size_t cnt, const struct suspect *suspects,
				      size_t suspect_cnt, size_t total)
{
	size_t tried = 0;

	for (size_t i = 0; i < cnt && tried < TRIED_PATHS; i++) {
		const struct report_site *path = &paths[i];

		if (is_reported(path, suspects, suspect_cnt))
			continue;
		tried++;
		for (size_t frame = path->blamed.frame;
		     frame < path->site->frame_cnt && frame < path->blamed.frame + MOST_FRAMES;
		     frame++) {
			size_t below;

			if (!may_be_named(opts, path, frame))
				continue;
			below = sites_below(paths, cnt, suspects, suspect_cnt, path, frame);
			if (2 * below > total)
				return (struct shared_caller){
					path,
					{frame, path->locations[frame]->frame_cnt - 1},
					below};
		}
	}
	return (struct shared_caller){0};
}
