/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks up users. A static memleak knows only the users in /etc/passwd, because the C library looks
 * for others with shared libraries.
 */
#ifndef BASE_USER_H
#define BASE_USER_H

#include <pwd.h>
#include <stdbool.h>

/* Returns a user, which the next call of either function overwrites; NULL if it is not known. */
const struct passwd *user_by_name(const char *name);
const struct passwd *user_by_id(uid_t uid);

/* Sets the groups of this process to those of the user. Returns false, with errno set, on failure.
 */
bool user_set_groups(const struct passwd *user);

#endif
