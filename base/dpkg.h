/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out which Debian package a file belongs to. */
#ifndef BASE_DPKG_H
#define BASE_DPKG_H

#define DPKG_INFO "/var/lib/dpkg/info"

/*
 * Returns the name of the package that has the file `path`; the caller must free it. Returns NULL
 * if no package has the file, or on systems without dpkg. `folder` has dpkg's lists of files:
 * DPKG_INFO except in tests.
 */
char *dpkg_package_of(const char *folder, const char *path);

#endif
