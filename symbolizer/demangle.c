// SPDX-License-Identifier: GPL-2.0-or-later
/* Demangling by libiberty. */
#include <libiberty/demangle.h>
#include <string.h>

#include "symbolizer/demangle.h"

char *demangle(const char *name)
{
	/* C++ with its parameters; Rust of both manglings, without the hash at the end. */
	char *readable = cplus_demangle(name, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI);

	return readable ? readable : strdup(name);
}
