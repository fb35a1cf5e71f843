/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that holds one document: each takes the place of the one before, whole or not at all. */
#ifndef SINKS_DOCUMENT_H
#define SINKS_DOCUMENT_H

#include <stddef.h>

/*
 * Replaces the file at path, which *fd is open on and afterwards is again. Readers find the old
 * document or the new one, unless no file can be made beside it; then it is written where it is.
 * A negative errno: the old one is still there, or nothing; so it is when path leads elsewhere by
 * then, as its folder was removed, and none can be made there.
 */
int document_replace(const char *path, int *fd, const char *bytes, size_t len);

#endif
