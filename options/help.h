/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of options as text for people. */
#ifndef OPTIONS_HELP_H
#define OPTIONS_HELP_H

#include <stdio.h>

#include "options/options.h"

/* Ends a message about wrong usage. */
#define HELP_HINT "; try 'memleak --help'"

/* A screen: how it is called, and the options that most people need. */
void options_print_brief_help(FILE *out);
/* All that a command takes. */
void options_print_help(FILE *out, enum mode mode);
/* The section OPTIONS of the man page. */
void options_print_man(FILE *out);

#endif
