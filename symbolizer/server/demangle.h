/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangles names of C++ and Rust functions. */
#ifndef SYMBOLIZER_SERVER_DEMANGLE_H
#define SYMBOLIZER_SERVER_DEMANGLE_H

/*
 * Returns an allocated copy, demangled if name is mangled and the result is not too long, else
 * unchanged. NULL if memory is short.
 */
char *demangle(const char *name);

#endif
