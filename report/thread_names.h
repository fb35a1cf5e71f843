/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of the threads that a report tells of. */
#ifndef THREAD_NAMES_H
#define THREAD_NAMES_H

#include "report/report.h"

/* Gives the groups of a report by thread the names of those that still live. */
void thread_names_read(struct report *report);

#endif
