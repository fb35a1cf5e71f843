/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether functions are to be traced that an exception may leave. A link of a session would have
 * the kernel take the returns of processes that it is not bound to, children and those of others,
 * and no exception survives that: such functions need links for entries alone.
 */
#ifndef THROWING_H
#define THROWING_H

#include "loader/options.h"

bool throwing_functions_wanted(const struct options *opts);

#endif
