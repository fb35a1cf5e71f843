/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits demangled function names into parts, and shortens them to fit into a line.
 */
#ifndef REPORT_FUNCTION_NAME_H
#define REPORT_FUNCTION_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Parts of a symbol, as pointers into it. The return type is in none of the parts. */
struct function_name {
	const char *whole; /* name with namespaces */
	const char *last;  /* name without namespaces */
	const char *end;   /* end of `whole` and of `last`; template arguments begin here */
	const char *rest;  /* text after the template arguments: the parameters, or "" */
};

struct function_name function_name_of(const char *symbol);

/* A function of a script, parsed from the symbol that Python or V8 gives to profilers. */
struct script_function {
	const char *name;
	size_t name_len;
	const char *path;
	size_t path_len;
	unsigned int line; /* first line of the function; 0 if not known */
};

/* Parses the symbol of a script's function. Returns false for any other symbol. */
bool script_function_of(const char *symbol, struct script_function *ret);

/*
 * Returns the short form of a symbol, such as pkg::Class::method, to be freed; NULL if out of
 * memory. The short form has no parameters and no suffixes of compiler clones (".isra.0"), and its
 * long template arguments are written as "<...>". For a script's function, the short form is only
 * its name.
 */
char *function_name_short(const char *symbol);

/*
 * Returns the short form of a symbol, to be freed, with all template arguments written as "<...>",
 * so that it is the same for all instances of a function template. Returns NULL if the symbol has
 * no template arguments, or if out of memory. The name of a lambda is that of its function.
 */
char *function_name_template(const char *symbol);

/*
 * Like function_name_template(), but the text for a lambda differs from that for other lambdas of
 * its function. Meant for comparisons: the text is the same for all instances of a function
 * template, of a lambda in a function template, or of a lambda with parameters of type auto.
 */
char *function_name_instances(const char *symbol);

/*
 * Cuts a name to at most `max` bytes, which must be at least 8. Replaces the middle of the name
 * with "...".
 */
void function_name_cut(char *name, size_t max);

#endif
