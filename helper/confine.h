/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes rights from a process, permanently. */
#ifndef HELPER_CONFINE_H
#define HELPER_CONFINE_H

#include <stdbool.h>

/* 1 in builds with AddressSanitizer, for which some restrictions are lifted; else 0. */
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
 * Confines the calling process: no capabilities, its own user if permitted, limited memory, and no
 * way to open files, reach the network or other processes, or execute programs. It can use only
 * files that it has open or receives. serves: if true, it may also accept connections on a
 * listening socket and answer them. On failure returns a negative errno: the process still has some
 * rights and must end.
 */
int confine(bool serves);

/*
 * Restricts a process that downloads files: no capabilities, and no way to signal or trace other
 * processes, to execute programs or to connect to UNIX sockets. Keeps the user and the limits on
 * memory. folder_fd: if not negative, and if the kernel supports Landlock, the only folder whose
 * files the process can change (landlock.h). Returns 0 or a negative errno: then the process must
 * end.
 */
int confine_download(int folder_fd);

#endif
