/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints completion scripts for shells from the table of options. The scripts need no other
 * package.
 */
#ifndef OPTIONS_COMPLETION_H
#define OPTIONS_COMPLETION_H

#include <stdio.h>

void options_print_completion_bash(FILE *out);
void options_print_completion_zsh(FILE *out);
void options_print_completion_fish(FILE *out);

#endif
