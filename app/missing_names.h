/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs how to get names for functions that have none. */
#ifndef APP_MISSING_NAMES_H
#define APP_MISSING_NAMES_H

#include "report/report.h"

/*
 * Logs which files contain functions of the report that have no names, and how to get the names.
 * Returns true if anything was logged.
 */
bool missing_names_note(const struct report *report);

#endif
