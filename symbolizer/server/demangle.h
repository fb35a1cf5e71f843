/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangles names of C++ and Rust functions. */
#ifndef SYMBOLIZER_SERVER_DEMANGLE_H
#define SYMBOLIZER_SERVER_DEMANGLE_H

/*
 * Returns the demangled name, or a copy of `name` if it is not mangled or the result would be too
 * long; NULL if out of memory. The caller frees the result.
 */
char *demangle(const char *name);

#endif
