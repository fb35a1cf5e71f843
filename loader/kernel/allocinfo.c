// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses /proc/allocinfo. */
#include "loader/kernel/allocinfo.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define FUNCTION " func:"

/*
 * Parses a line such as "4096 1 fs/fuse/dev.c:83 [fuse] func:fuse_request_alloc"; later versions of
 * the format append further fields. Skips the two title lines.
 */
static int take_line(char *line, struct named_sizes *sizes)
{
	int64_t bytes;
	int at = 0;
	size_t len;
	char *function;

	if (sscanf(line, "%" SCNd64 " %*u %n", &bytes, &at) < 1 || !at || bytes <= 0)
		return 0;
	function = strstr(line + at, FUNCTION);
	len = function ? strcspn(function + strlen(FUNCTION), " \n") : 0;
	if (!len)
		return 0;
	memmove(function + 1, function + strlen(FUNCTION), len);
	function[1 + len] = '\0';
	return named_sizes_add(sizes, line + at, (uint64_t)bytes);
}

int allocinfo_read(FILE *allocinfo, struct named_sizes *ret)
{
	cleanup_free char *line = NULL;
	size_t cap = 0;
	int err = 0;

	while (!err && getline(&line, &cap, allocinfo) > 0)
		err = take_line(line, ret);
	if (!err && ferror(allocinfo))
		err = -EIO;
	if (err)
		named_sizes_deinit(ret);
	return err;
}
