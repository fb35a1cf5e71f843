/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of options as text for people. */
#ifndef OPTIONS_HELP_H
#define OPTIONS_HELP_H

#include <stdio.h>

/* Ends a message about wrong usage. */
#define HELP_HINT "; try 'memleak --help'"

void options_print_help(FILE *out);
/* The section OPTIONS of the man page. */
void options_print_man(FILE *out);

#endif
