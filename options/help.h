/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints help texts, and the section of the man page on options, from the table of options. */
#ifndef OPTIONS_HELP_H
#define OPTIONS_HELP_H

#include <stdio.h>

#include "options/options.h"

/* Text at the end of each message about wrong usage */
#define HELP_HINT "; try 'memleak --help'"

/* Prints a short help, which fits on one screen: the usage, and the most common options. */
void options_print_brief_help(FILE *out);
/* Prints the full help of a command: its usage, options and examples. */
void options_print_help(FILE *out, enum mode mode);
/* Prints the OPTIONS section of the man page. */
void options_print_man(FILE *out);

#endif
