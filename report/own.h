/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the owner of a frame's code: the program, a library or a language runtime. Judges by the
 * path of the file, of the source, or of the script; knows nothing of memory.
 */
#ifndef REPORT_OWN_H
#define REPORT_OWN_H

#include "options/options.h"
#include "report/function_name.h"
#include "symbolizer/symbolizer.h"

enum code_owner {
	CODE_OF_NOBODY, /* the owner is not known, or there is no code at the frame's address */
	CODE_OF_PROGRAM,
	CODE_OF_LIBRARY,
	CODE_OF_RUNTIME,     /* C and C++ libraries, dynamic loaders, allocators */
	CODE_OF_INTERPRETER, /* the interpreter itself, not the scripts that it runs */
};

/* Facts about the program of a process; each field may be NULL. */
struct program {
	const char *name;        /* name of the process */
	const char *file;        /* the executable */
	const char *main_source; /* source file of main() */
	const char *interpreter; /* file that runs the scripts, whatever its name */
};

/*
 * Returns the owner of a frame's code. `opts` has the paths of --own. `location` is the location of
 * the frame, and `frame` one of the functions there. Each argument may be NULL.
 *
 * Without --own, the program owns
 *	- executables, except interpreters;
 *	- libraries outside the folders of the system and of package managers;
 *	- system libraries that are named after the program or lie in a folder named after it;
 *	- libraries below the folder in which the executable is installed, except common third-party
 *	  libraries; none if the executable is an interpreter;
 *	- scripts outside the folders of languages and of package managers.
 * Even in these files, code does not belong to the program if its source file is in a folder of a
 * language or of a package manager. Folders of package managers that also have the source file of
 * main() do not count. With --own, the program instead owns the code below the given paths, except
 * C and C++ libraries.
 */
enum code_owner code_owner(const struct options *opts, const struct program *program,
			   const struct sym_location *location, const struct sym_frame *frame);

/*
 * True if a script belongs to its language: it is built into the interpreter, or a file of the
 * standard library.
 */
bool script_is_of_language(const char *path);

/*
 * True if a script's function belongs to the program: see code_owner(). `opts` has the paths of
 * --own, and may be NULL. Without --own, functions that Python's standard library generates, such
 * as the constructors of dataclasses, do not belong to it.
 */
bool script_is_of_program(const struct options *opts, const struct script_function *script);

bool module_is_library(const char *path);

/*
 * True if the file is a program with this name, or a library "libNAME.so". A version may follow the
 * name.
 */
bool module_is_named(const char *module, const char *name);

/*
 * Returns the name of the interpreter in a file, without its version; NULL if the file is no
 * interpreter.
 */
const char *interpreter_of(const char *module);

/*
 * Returns the file of a frame if it is an interpreter, otherwise NULL. `location` is the location
 * of the frame, and may be NULL.
 */
const char *interpreter_file(const struct sym_location *location);

#endif
