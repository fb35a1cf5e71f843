/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of options as a completion script for bash, which needs no other package. */
#ifndef OPTIONS_COMPLETION_H
#define OPTIONS_COMPLETION_H

#include <stdio.h>

void options_print_completion(FILE *out);

#endif
