/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces a file that holds one document: completely, or not at all. */
#ifndef SINKS_DOCUMENT_H
#define SINKS_DOCUMENT_H

#include <stddef.h>

/*
 * Replaces the file at path. Before the call, *fd is a descriptor of the file; after the call, of
 * its replacement. Readers find either the old document or the new one. Exception: if a new file
 * cannot be created in the folder with the owner of the old one, the old file is overwritten. path
 * must not have symbolic links: they are not followed, since other users may have placed them.
 *
 * On failure (a negative errno) the old document stays, or the file is empty. The call also fails
 * if path no longer names the open file and no file can be created at path, for example because the
 * folder was removed.
 */
int document_replace(const char *path, int *fd, const char *bytes, size_t len);

#endif
