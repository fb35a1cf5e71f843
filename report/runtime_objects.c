// SPDX-License-Identifier: GPL-2.0-or-later
/* The runtimes that were tried, and what was found to help with each. */
#include "report/runtime_objects.h"

#include <stddef.h>

#include "report/own.h"

static const struct runtime_objects known[] = {
	{
		.runtime = "python",
		.words = "python objects",
		.advice = "which: run with PYTHONMALLOC=malloc and -X perf (3.12)",
		.block_advice = "which: run with -X perf (3.12)",
	},
	{
		.runtime = "node",
		.words = "JavaScript objects",
		.advice = "which: run with --heapsnapshot-signal",
		.block_advice = "which: run with --heapsnapshot-signal",
	},
	{.runtime = "lua", .words = "lua objects", .has_blocks = true},
	{.runtime = "luajit", .words = "lua objects", .has_blocks = true},
	{.runtime = "perl", .words = "perl objects", .has_blocks = true},
	{.runtime = "ruby", .words = "ruby objects", .has_blocks = true},
	{.runtime = "php", .words = "php objects", .has_blocks = true},
	{.runtime = "php-fpm", .words = "php objects", .has_blocks = true},
	{.runtime = "php-cgi", .words = "php objects", .has_blocks = true},
	{.runtime = "gc", .words = "objects on libgc's heap", .is_library = true},
};

const struct runtime_objects *runtime_objects_of(const char *module)
{
	for (size_t i = 0; module && i < sizeof(known) / sizeof(known[0]); i++)
		if (module_is_named(module, known[i].runtime) &&
		    (!known[i].is_library || module_is_library(module)))
			return &known[i];
	return NULL;
}
