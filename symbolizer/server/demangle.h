/* SPDX-License-Identifier: GPL-2.0-or-later */
/* C++ and Rust names as their programmers wrote them. */
#ifndef SYMBOLIZER_SERVER_DEMANGLE_H
#define SYMBOLIZER_SERVER_DEMANGLE_H

/*
 * An allocated copy: readable when name is mangled and not absurdly long, as it is otherwise;
 * NULL: no memory.
 */
char *demangle(const char *name);

#endif
