/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs, once, how to get names for functions that have none. */
#ifndef APP_MISSING_NAMES_H
#define APP_MISSING_NAMES_H

#include "report/report.h"

/*
 * Logs the files whose functions have no names in the report, and how to get names. Returns true if
 * anything was logged.
 */
bool missing_names_note(const struct report *report);

#endif
