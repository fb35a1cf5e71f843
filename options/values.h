/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the text of an argument to the value of an option. */
#ifndef OPTIONS_VALUES_H
#define OPTIONS_VALUES_H

#include "options/table.h"

/*
 * Parses arg as def says and stores it. Returns 0, or a negative errno with *why set to what is
 * wrong, to stand after "option --name: " (from malloc; NULL when there was no memory).
 */
int option_store(const struct option_def *def, const char *arg, struct options *opts, char **why);

/* INTERVAL and COUNT; the same rules. */
int option_store_interval(const char *arg, struct options *opts, char **why);
int option_store_count(const char *arg, struct options *opts, char **why);

#endif
