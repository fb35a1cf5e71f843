/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recognises, by their names, functions that allocate on behalf of their callers: wrappers of
 * allocators (xmalloc, zmalloc_usable, PyObject_Malloc, g_strdup), and functions of the standard
 * libraries of C++ and Rust.
 */
#ifndef REPORT_WRAPPER_NAMES_H
#define REPORT_WRAPPER_NAMES_H

#include <stdbool.h>

/*
 * True if a demangled name, with or without parameters, is the name of a wrapper or of a function
 * of a standard library.
 */
bool function_is_wrapper(const char *symbol);

/* True if a function belongs to the standard library of C++ or Rust. */
bool function_is_of_library(const char *symbol);

#endif
