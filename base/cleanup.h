/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cleanup attributes for local variables. At the end of the variable's scope, they call free(),
 * close() or fclose().
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free_(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close_(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose_(FILE **file)
{
	if (*file)
		fclose(*file);
}

#define cleanup_free __attribute__((cleanup(cleanup_free_)))
#define cleanup_close __attribute__((cleanup(cleanup_close_)))
#define cleanup_fclose __attribute__((cleanup(cleanup_fclose_)))

#endif
