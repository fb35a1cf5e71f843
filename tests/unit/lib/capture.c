// SPDX-License-Identifier: GPL-2.0-or-later
/* Captures what a test writes to stdout or stderr. */
#include "tests/unit/lib/capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

void capture_begin(struct capture *capture, int fd)
{
	fflush(stdout);
	capture->fd = fd;
	capture->saved = dup(fd);
	capture->memory = memfd_create("capture", MFD_CLOEXEC);
	assert_true(capture->saved >= 0 && capture->memory >= 0);
	assert_int_equal(dup2(capture->memory, fd), fd);
}

char *capture_end(struct capture *capture)
{
	off_t len;
	char *text;

	fflush(stdout);
	assert_int_equal(dup2(capture->saved, capture->fd), capture->fd);
	len = lseek(capture->memory, 0, SEEK_END);
	text = calloc((size_t)len + 1, 1);
	assert_non_null(text);
	assert_int_equal(pread(capture->memory, text, (size_t)len, 0), len);
	close(capture->memory);
	close(capture->saved);
	return text;
}
