// SPDX-License-Identifier: GPL-2.0-or-later
/* The runtimes that were tried, and what was found to help with each. */
#include "report/runtime_objects.h"

#include <stddef.h>
#include <string.h>

#include "report/own.h"

static const struct runtime_objects known[] = {
	{"python", "python objects", "which: run with PYTHONMALLOC=malloc and -X perf (3.12)",
	 "which: run with -X perf (3.12)"},
	{"node", "JavaScript objects", "which: run with --heapsnapshot-signal",
	 "which: run with --heapsnapshot-signal"},
};

const struct runtime_objects *runtime_objects_of(const char *module)
{
	const char *name = module ? interpreter_of(module) : NULL;

	for (size_t i = 0; name && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i].interpreter))
			return &known[i];
	return NULL;
}
