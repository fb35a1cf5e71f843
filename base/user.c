// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/user.h"

#include <grp.h>

#ifdef MEMLEAK_STATIC

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

/* Returns the first user with this name or, if the name is NULL, with this id. */
static const struct passwd *find(const char *name, uid_t uid)
{
	cleanup_fclose FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *user = NULL;

	while (file && (user = fgetpwent(file)))
		if (name ? !strcmp(user->pw_name, name) : user->pw_uid == uid)
			break;
	return user;
}

const struct passwd *user_by_name(const char *name)
{
	return find(name, 0);
}

const struct passwd *user_by_id(uid_t uid)
{
	return find(NULL, uid);
}

static bool has_member(const struct group *group, const char *name)
{
	for (char **member = group->gr_mem; *member; member++)
		if (!strcmp(*member, name))
			return true;
	return false;
}

bool user_set_groups(const struct passwd *user)
{
	cleanup_fclose FILE *file = fopen("/etc/group", "re");
	cleanup_free gid_t *groups = NULL;
	size_t cnt = 0, cap = 0;
	const struct group *group = NULL;

	do {
		if (group && (group->gr_gid == user->pw_gid || !has_member(group, user->pw_name)))
			continue;
		if (array_reserve(&groups, &cap, cnt + 1)) {
			errno = ENOMEM;
			return false;
		}
		groups[cnt++] = group ? group->gr_gid : user->pw_gid;
	} while (file && (group = fgetgrent(file)));
	return !setgroups(cnt, groups);
}

#else

const struct passwd *user_by_name(const char *name)
{
	return getpwnam(name);
}

const struct passwd *user_by_id(uid_t uid)
{
	return getpwuid(uid);
}

bool user_set_groups(const struct passwd *user)
{
	return !initgroups(user->pw_name, user->pw_gid);
}

#endif
