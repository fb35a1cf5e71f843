/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads single lines of a text file. The file is untrusted; the caller decides whether to open it.
 */
#ifndef BASE_TEXT_LINES_H
#define BASE_TEXT_LINES_H

#include <stddef.h>

/*
 * Reads the lines with these numbers, counted from 1 and in ascending order; numbers below 1 are
 * skipped. Closes fd. Stores copies from malloc() in ret, with tabs expanded and unsafe characters
 * escaped. Leaves entries of ret unchanged for lines that do not exist, and for lines that end
 * behind the first 16 MiB of the file. The end of a long line is left out.
 */
void text_lines_read(int fd, const long *numbers, size_t cnt, char **ret);

#endif
