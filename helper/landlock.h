/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Restricts the calling process permanently by Landlock (landlock(7)), as far as the kernel
 * supports it. The process must not be able to gain privileges (PR_SET_NO_NEW_PRIVS).
 */
#ifndef HELPER_LANDLOCK_H
#define HELPER_LANDLOCK_H

/* Denies access to all files, TCP ports and other processes. */
void landlock_deny_all(void);

/*
 * Denies sending signals to other processes. If folder_fd is not negative, also denies changing
 * files that are not in this folder. Root, which could read all files, can then read only this
 * folder, libraries, and files that configure the network.
 */
void landlock_allow_download(int folder_fd);

#endif
