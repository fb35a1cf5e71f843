/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose code a frame is: the program's own, a library's, a language's. Judged by the path of the
 * file, of the source, or of the script; knows nothing of memory.
 */
#ifndef REPORT_OWN_H
#define REPORT_OWN_H

#include "options/options.h"
#include "symbolizer/symbolizer.h"

enum code_owner {
	CODE_OF_NOBODY, /* nothing is known of it, or no code was there */
	CODE_OF_PROGRAM,
	CODE_OF_LIBRARY,
	CODE_OF_RUNTIME,     /* C and C++ libraries, dynamic loaders, allocators */
	CODE_OF_INTERPRETER, /* of scripts, which are the program */
};

/* Facts about the program of a process; each may be NULL. */
struct program {
	const char *name;        /* of the process */
	const char *file;        /* the executable */
	const char *main_source; /* where main() is */
};

/*
 * opts: with what --own names; NULL: it names nothing. program may be NULL. frame: of location,
 * which may be NULL.
 *
 * Without --own the program's are executables that interpret nothing, libraries that lie neither
 * where systems have theirs nor where package managers put them, system libraries that bear the
 * program's name or lie in a folder that does, or below the folder that the executable's bin/ is
 * in (unless it interprets), and scripts that lie where nobody else's are; but not what was
 * compiled from sources that lie in such places, unless main() lies there, too. With --own all that
 * lies where it says, and nothing else.
 */
enum code_owner code_owner(const struct options *opts, const struct program *program,
			   const struct sym_location *location, const struct sym_frame *frame);

/* True if the file is a shared library. */
bool module_is_library(const char *path);

/* True if the file is a program or library ("libNAME.so") of this name; a version may follow. */
bool module_is_named(const char *module, const char *name);

/* What runs scripts by the name of its file, without a version; NULL: another file. */
const char *interpreter_of(const char *module);

#endif
