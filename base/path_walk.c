// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Below a root, keeps a descriptor of each folder between the root and the present one, so that
 * ".." cannot lead out of the root, even if a folder is moved meanwhile.
 */
#include "base/path_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Maximum number of symbolic links that are followed per path, as in the kernel. */
#define LINKS_MAX 40
/* Maximum number of folders on the way to the file from a root that must not be left. */
#define DEPTH_MAX 64

struct walk {
	const struct open_how *how;
	bool (*is_refused)(int path_fd); /* may be NULL */
	path_create *create;             /* may be NULL */
	path_check *check;               /* may be NULL */
	/* The present folder. It follows the root, if any, and the folders between them. */
	int fds[DEPTH_MAX];
	int depth;
	int links; /* number of symbolic links followed so far */
	/* The remaining path, with the slashes before it. A slash at the end asks for a folder. */
	char rest[PATH_MAX];
};

static bool has_root(const struct walk *walk)
{
	return walk->how->resolve & RESOLVE_IN_ROOT;
}

static int top(const struct walk *walk)
{
	return walk->fds[walk->depth - 1];
}

static void pop(struct walk *walk)
{
	close(walk->fds[--walk->depth]);
}

/* Takes over fd, the result of a call that opens a file. */
static int push(struct walk *walk, int fd)
{
	int err = fd < 0 ? -errno : 0;

	if (!err && walk->is_refused && walk->is_refused(fd))
		err = -EREMOTE;
	if (!err && walk->depth == DEPTH_MAX)
		err = -ENAMETOOLONG;
	if (!err)
		walk->fds[walk->depth++] = fd;
	else if (fd >= 0)
		close(fd);
	return err;
}

/* Begins anew at a folder. Takes over fd. */
static int restart(struct walk *walk, int fd)
{
	while (walk->depth)
		pop(walk);
	return push(walk, fd);
}

static int go_up(struct walk *walk)
{
	if (!has_root(walk))
		return restart(walk, openat(top(walk), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
	if (walk->depth > 1)
		pop(walk);
	return 0;
}

/* Goes back to the root, which is memleak's own root unless RESOLVE_IN_ROOT is set. */
static int go_to_root(struct walk *walk)
{
	if (!has_root(walk))
		return restart(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
	while (walk->depth > 1)
		pop(walk);
	return 0;
}

static bool is_in_proc(int fd)
{
	struct statfs system;

	return !fstatfs(fd, &system) && system.f_type == PROC_SUPER_MAGIC;
}

/* Puts the target of the link on top before the remaining path, and removes the link. */
static int substitute(struct walk *walk)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(top(walk), "", target, sizeof(target));
	size_t rest_len = strlen(walk->rest);

	if (len < 0)
		return -errno;
	if ((size_t)len + rest_len >= sizeof(walk->rest))
		return -ENAMETOOLONG;
	memmove(walk->rest + len, walk->rest, rest_len + 1);
	memcpy(walk->rest, target, (size_t)len);
	pop(walk);
	return *walk->rest == '/' ? go_to_root(walk) : 0;
}

/* Follows the link `name`, which is on top. Links in /proc may refer to open files. */
static int follow(struct walk *walk, const char *name)
{
	int flags;

	if (walk->how->resolve & RESOLVE_NO_SYMLINKS || walk->links++ == LINKS_MAX)
		return -ELOOP;
	if (!is_in_proc(top(walk)))
		return substitute(walk);
	if (has_root(walk))
		return -ELOOP;
	pop(walk);
	flags = *walk->rest ? O_DIRECTORY : (int)walk->how->flags & O_DIRECTORY;
	return restart(walk, openat(top(walk), name, O_PATH | O_CLOEXEC | flags));
}

/* Moves the first part of the remaining path to *ret; "" if only slashes remain. */
static int take_part(struct walk *walk, char ret[NAME_MAX + 1])
{
	const char *begin = walk->rest + strspn(walk->rest, "/");
	size_t len = strcspn(begin, "/");

	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(ret, begin, len);
	ret[len] = '\0';
	memmove(walk->rest, begin + len, strlen(begin + len) + 1);
	return 0;
}

/* Goes into the file `name` of the present folder, or follows the link of this name. */
static int enter(struct walk *walk, const char *name)
{
	struct stat st;
	int err = push(walk, openat(top(walk), name, O_PATH | O_NOFOLLOW | O_CLOEXEC));

	if (err)
		return err;
	if (fstat(top(walk), &st))
		return -errno;
	if (walk->check && (S_ISLNK(st.st_mode) || !*walk->rest))
		err = walk->check(walk->fds[walk->depth - 2], top(walk));
	if (err)
		return err;
	if (S_ISLNK(st.st_mode) && (*walk->rest || !(walk->how->flags & O_NOFOLLOW)))
		return follow(walk, name);
	if ((*walk->rest || walk->how->flags & O_DIRECTORY) && !S_ISDIR(st.st_mode))
		return -ENOTDIR;
	/* Without a root, the kernel finds "..", so that the previous folder is not needed. */
	if (!has_root(walk)) {
		close(walk->fds[0]);
		walk->fds[0] = walk->fds[--walk->depth];
	}
	return 0;
}

static int step(struct walk *walk)
{
	char name[NAME_MAX + 1];
	int fd = -EEXIST, err = take_part(walk, name);

	if (err)
		return err;
	if (walk->create && *walk->rest && !walk->rest[strspn(walk->rest, "/")])
		return -EISDIR;
	if (!*name || !strcmp(name, "."))
		return 0;
	if (!strcmp(name, ".."))
		return go_up(walk);
	if (walk->create && !*walk->rest)
		fd = walk->create(top(walk), name);
	if (fd == -EEXIST)
		return enter(walk, name);
	return fd < 0 ? fd : push(walk, fd);
}

/* Opens the folder at which the path begins. */
static int begin(struct walk *walk, int at_fd)
{
	if (*walk->rest == '/' && !has_root(walk))
		return go_to_root(walk);
	return push(walk, at_fd == AT_FDCWD ? open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)
					    : fcntl(at_fd, F_DUPFD_CLOEXEC, 0));
}

static int run(struct walk *walk, int at_fd, const char *path)
{
	int err, ret = -1;

	if (!*path || strlen(path) >= sizeof(walk->rest))
		return *path ? -ENAMETOOLONG : -ENOENT;
	strcpy(walk->rest, path);
	err = begin(walk, at_fd);
	while (!err && *walk->rest)
		err = step(walk);
	if (!err)
		ret = walk->fds[--walk->depth];
	while (walk->depth)
		pop(walk);
	return err ? err : ret;
}

int path_walk_open(int at_fd, const char *path, const struct open_how *how,
		   bool (*is_refused)(int path_fd))
{
	struct walk walk = {.how = how, .is_refused = is_refused};

	return run(&walk, at_fd, path);
}

int path_walk_create(const char *path, path_create *create, path_check *check)
{
	static const struct open_how how = {.flags = O_PATH | O_CLOEXEC};
	struct walk walk = {.how = &how, .create = create, .check = check};

	return run(&walk, AT_FDCWD, path);
}
