/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes from a process whatever it could do harm with, for good. */
#ifndef HELPER_CONFINE_H
#define HELPER_CONFINE_H

#include <stdbool.h>

/* Built with AddressSanitizer, which wants some things otherwise. */
#if defined(__SANITIZE_ADDRESS__)
#define HELPER_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HELPER_SANITIZED 1
#endif
#endif
#ifndef HELPER_SANITIZED
#define HELPER_SANITIZED 0
#endif

/*
 * Afterwards the process has no capability, a user of its own where it may change that, little
 * memory, and no way to open a file, to reach the network or another process, or to start a
 * program: what it has is the files that are open, and those that it is sent. serves: it may take
 * connections from a socket that listens, and answer them. -errno: it still has some of its rights,
 * and must end.
 */
int confine(bool serves);

#endif
