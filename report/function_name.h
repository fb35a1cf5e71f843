/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Demangled names of functions: their parts, and a form that fits into a line. Knows nothing of
 * what functions do.
 */
#ifndef REPORT_FUNCTION_NAME_H
#define REPORT_FUNCTION_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Without what the function returns and takes. */
struct function_name {
	const char *whole; /* with its namespaces */
	const char *last;  /* without */
	const char *end;   /* of both, before the arguments of templates */
	const char *rest;  /* behind those: parameters, or the end */
};

struct function_name function_name_of(const char *symbol);

/* A function of a script, as Python and V8 name them to profilers. */
struct script_function {
	const char *name;
	size_t name_len;
	const char *path;
	size_t path_len;
	unsigned int line; /* where it begins; 0: not known */
};

/* False: the symbol is of no such form. */
bool script_function_of(const char *symbol, struct script_function *ret);

/*
 * pkg::Class::method of a symbol: no parameters, no suffix of a clone (".isra.0"), long arguments
 * of templates as "<...>"; of a script's function its name alone. To be freed; NULL: no memory.
 */
char *function_name_short(const char *symbol);

/* Takes out of its middle what is beyond max bytes, which are at least 8. */
void function_name_cut(char *name, size_t max);

#endif
