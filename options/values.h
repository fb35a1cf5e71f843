/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts the text of an option's argument to the option's value. */
#ifndef OPTIONS_VALUES_H
#define OPTIONS_VALUES_H

#include "options/table.h"

/*
 * Parses `arg` as `def` specifies, and stores the value. On failure, returns a negative errno and
 * sets *why to the reason; the caller writes it after "option --NAME: ". The reason is to be freed;
 * it is NULL if out of memory.
 */
int option_store(const struct option_def *def, const char *arg, struct options *opts, char **why);

/* Like option_store(), but for the positional arguments INTERVAL and COUNT. */
int option_store_interval(const char *arg, struct options *opts, char **why);
int option_store_count(const char *arg, struct options *opts, char **why);

#endif
