/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out which Debian package a file belongs to. */
#ifndef BASE_DPKG_H
#define BASE_DPKG_H

#define DPKG_INFO "/var/lib/dpkg/info"

/*
 * Searches the lists of files in `folder`, which is DPKG_INFO except in tests. Returns the name of
 * the package, to be freed; NULL if no package has the file, or on systems without dpkg.
 */
char *dpkg_package_of(const char *folder, const char *path);

#endif
