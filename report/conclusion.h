/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums up a report in one verdict. Every report has exactly one verdict. */
#ifndef REPORT_CONCLUSION_H
#define REPORT_CONCLUSION_H

#include "report/report.h"

enum conclusion {
	CONCLUSION_LOST,     /* a proof found lost blocks */
	CONCLUSION_GROWS,    /* functions seem to leak */
	CONCLUSION_UNTRACED, /* only something that is not traced grows */
	CONCLUSION_UNKNOWN,  /* it cannot be judged (yet) whether anything leaks */
	CONCLUSION_EARLY,    /* too few snapshots, or too little time, for a verdict */
	CONCLUSION_ENDED,    /* nothing grows, but processes held memory when they ended */
	CONCLUSION_KEEPS,    /* nothing seems to leak; RSS is mostly free memory that is kept */
	CONCLUSION_CLEAR,    /* nothing seems to leak */
	CONCLUSION_CNT
};

enum conclusion conclusion_of(const struct report *report);
/* True if it is too early for a verdict. False as soon as there is a verdict on any site. */
bool conclusion_is_early(const struct report *report);
/*
 * True if only user memory seems to leak, and the traced processes of the leaking programs have all
 * ended. The programs may just have used the memory until they ended, as compilers do.
 */
bool conclusion_grew_to_end(const struct report *report);
/* True if all traced processes are stopped, by a signal or by a debugger. */
bool conclusion_is_stopped(const struct report *report);
/* Returns the word for a conclusion in JSON, such as "lost". */
const char *conclusion_name(enum conclusion conclusion);
/*
 * Returns how sure it is that memory leaks: "none", "low", "medium" or "high". If functions seem to
 * leak, this depends on the leak score of the first suspect, and on conclusion_grew_to_end().
 */
const char *conclusion_level(const struct report *report);
/*
 * True if a process held memory when it ended. If there is just one such process, the memory that
 * libraries allocate at start-up does not count.
 */
bool conclusion_has_ended(const struct report *report);

#endif
