/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Says once how functions without names get some. */
#ifndef APP_MISSING_NAMES_H
#define APP_MISSING_NAMES_H

#include "report/report.h"

/* True: there were files of processes whose functions the report could not name, and it was said.
 */
bool missing_names_note(const struct report *report);

#endif
