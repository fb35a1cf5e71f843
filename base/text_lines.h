/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads single lines of a text file. The file is untrusted; the caller decides whether to open it.
 */
#ifndef BASE_TEXT_LINES_H
#define BASE_TEXT_LINES_H

#include <stddef.h>

/*
 * Reads line numbers[i], counted from 1, into ret[i]. The numbers must be in ascending order,
 * without duplicates; numbers below 1 are skipped. Closes fd. The stored lines are copies from
 * malloc(), with tabs expanded, unsafe characters escaped, and the end of a long line cut off.
 * Leaves ret[i] unchanged if the line does not exist or does not end within the first 16 MiB of the
 * file.
 */
void text_lines_read(int fd, const long *numbers, size_t cnt, char **ret);

#endif
