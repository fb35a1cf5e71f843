/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures what a test writes to stdout or stderr. */
#ifndef TESTS_UNIT_LIB_CAPTURE_H
#define TESTS_UNIT_LIB_CAPTURE_H

struct capture {
	int fd;
	int saved;
	int memory;
};

void capture_begin(struct capture *capture, int fd);
/* Returns what was written. Free with free(). */
char *capture_end(struct capture *capture);

#endif
