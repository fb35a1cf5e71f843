// SPDX-License-Identifier: GPL-2.0-or-later
/* Table of language runtimes, with advice on how to find out more about their objects. */
#include "report/runtime_objects.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/prefix.h"
#include "report/own.h"

/* A number above every minor version number. */
#define VERSION_STEP 1000

#define CNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const buffer_functions[] = {
	"node::NodeArrayBufferAllocator::",
	"node::Buffer::New",
	"node::Buffer::Copy",
	"v8::internal::BackingStore::Allocate",
	NULL,
};

static const struct runtime_objects known[] = {
	{
		.runtime = "python",
		.before = "3.11",
		.words = "python objects",
		.advice = "to see which: tracemalloc (from 3.12 on: -X perf)",
	},
	{
		.runtime = "python",
		.words = "python objects",
		.advice = "to see which: run with PYTHONMALLOC=malloc",
		.advises_only_pools = true,
		.lineless_advice = "to see which: run with PYTHONMALLOC=malloc and -X perf (3.12)",
		.lineless_block_advice = "to see which: run with -X perf (3.12)",
	},
	{
		.runtime = "node",
		.words = "JavaScript objects",
		.advice = "to see which: run with --heapsnapshot-signal",
	},
	{
		.runtime = "node",
		.words = "Buffers of node",
		.advice = "to see which: run with --heapsnapshot-signal",
		.has_blocks = true,
		.functions = buffer_functions,
	},
	{
		.runtime = "java",
		.words = "java objects",
		.advice = "to see which: jcmd PID GC.class_histogram",
		.advises_only_pools = true,
	},
	{
		.runtime = "beam.smp",
		.words = "erlang terms",
		.advice = "to see which kind: erlang:memory()",
		.advises_only_pools = true,
	},
	{.runtime = "lua", .words = "lua objects", .has_blocks = true},
	{.runtime = "luajit", .words = "lua objects", .has_blocks = true},
	{.runtime = "tcl", .words = "tcl objects", .has_blocks = true},
	{.runtime = "tclsh", .words = "tcl objects", .has_blocks = true},
	{.runtime = "perl", .words = "perl objects", .has_blocks = true},
	{
		.runtime = "ruby",
		.words = "ruby objects",
		.advice = "to see which: ObjectSpace.dump_all",
		.has_blocks = true,
	},
	{.runtime = "php", .words = "php objects", .has_blocks = true},
	{.runtime = "php-fpm", .words = "php objects", .has_blocks = true},
	{.runtime = "php-cgi", .words = "php objects", .has_blocks = true},
	{
		.runtime = "mozjs",
		.words = "JavaScript objects",
		.advice = "to see which: System.dumpHeap() of gjs",
		.is_library = true,
	},
	{.runtime = "gc", .words = "objects on libgc's heap", .is_library = true},
	{.runtime = "apr", .words = "memory pools of libapr", .is_library = true},
};

/*
 * Returns the major and minor version in `text`, combined in one number; 0 if one of them is
 * missing.
 */
static unsigned long version_number(const char *text)
{
	unsigned long major, minor;
	char *end;

	major = strtoul(text, &end, 10);
	if (end == text || *end != '.' || !isdigit((unsigned char)end[1]))
		return 0;
	minor = strtoul(end + 1, NULL, 10);
	return minor < VERSION_STEP ? major * VERSION_STEP + minor : 0;
}

/* True if the version in a file's name, such as "libpython3.11.so.1.0", is lower than `version`. */
static bool is_before(const char *module, const char *version)
{
	const char *name = path_name(module);
	unsigned long number = version_number(name + strcspn(name, "0123456789"));

	return number && number < version_number(version);
}

static bool is_of(const char *module, const struct runtime_objects *objects)
{
	return module_is_named(module, objects->runtime) &&
	       (!objects->before || is_before(module, objects->before)) &&
	       (!objects->is_library || module_is_library(module));
}

const struct runtime_objects *runtime_objects_of(const char *module)
{
	for (size_t i = 0; module && i < CNT(known); i++)
		if (!known[i].functions && is_of(module, &known[i]))
			return &known[i];
	return NULL;
}

static bool has_function(const struct runtime_objects *objects, const char *symbol)
{
	for (const char *const *at = objects->functions; at && *at; at++)
		if (behind_prefix(symbol, *at))
			return true;
	return false;
}

const struct runtime_objects *runtime_blocks_of(const char *module, const char *symbol)
{
	for (size_t i = 0; module && symbol && i < CNT(known); i++)
		if (has_function(&known[i], symbol) && is_of(module, &known[i]))
			return &known[i];
	return NULL;
}

bool runtime_has_blocks(const char *module)
{
	for (size_t i = 0; module && i < CNT(known); i++)
		if (known[i].has_blocks && is_of(module, &known[i]))
			return true;
	return false;
}
