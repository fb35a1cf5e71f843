// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds accounts in /proc and the agent library, and sets the environment that makes programs load
 * it.
 */
#include "loader/agent/agent_find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/account.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/proc_maps.h"
#include "base/regular_file.h"
#include "base/write_all.h"
#include "loader/agent/account_view.h"
#include "options/options.h"

#define LIBRARY "libmemleak.so"

static bool is_account(const char *link)
{
	static const char name[] = "/memfd:" ACCOUNT_NAME;

	return !strncmp(link, name, sizeof(name) - 1);
}

/* Finds the mapping of the account. Sets only its address range and its file. */
static int find_mapping(pid_t pid, struct mapping *ret)
{
	struct proc_maps maps;
	int err = proc_maps_read(proc_living_thread(pid), &maps);

	if (err)
		return err == -ENOENT ? -ESRCH : err;
	err = maps.whole && maps.cnt ? -ENOENT : -ESRCH;
	for_each_mapping (mapping, &maps) {
		if (!is_account(mapping->path))
			continue;
		*ret = (struct mapping){
			.start = mapping->start,
			.end = mapping->end,
			.file = mapping->file,
		};
		err = 0;
		break;
	}
	proc_maps_deinit(&maps);
	return err;
}

int agent_find_mapped(pid_t pid, struct file_id *ret)
{
	struct mapping mapping;
	int err = find_mapping(pid, &mapping);

	if (!err)
		*ret = mapping.file;
	return err;
}

/*
 * Opens the file to which an O_PATH descriptor refers, but only if it is the account. Another file
 * may have the name of an account, and opening it may have side effects.
 */
static int reopen(int path_fd, const struct file_id *account)
{
	struct stat st;
	char path[64];
	int fd, err = file_stat(path_fd, &st);

	if (err)
		return err;
	if (st.st_ino != account->ino || st.st_dev != account_view_device())
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	/* O_NONBLOCK: do not wait until another process gives up a lease on the file */
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static int open_link(pid_t pid, int dir_fd, const char *name, const struct file_id *account)
{
	cleanup_close int path_fd = proc_open_at(pid, dir_fd, name, O_PATH);

	return path_fd < 0 ? path_fd : reopen(path_fd, account);
}

/*
 * Searches the descriptors of a process for the account and opens it. Returns a descriptor or a
 * negative errno.
 */
static int open_any(pid_t pid, const struct file_id *account)
{
	char path[64], link[PATH_MAX];
	struct dirent *entry;
	int fd = -ENOENT;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while (fd < 0 && (entry = readdir(dir))) {
		if (proc_readlink(pid, dirfd(dir), entry->d_name, link) > 0 && is_account(link))
			fd = open_link(pid, dirfd(dir), entry->d_name, account);
	}
	closedir(dir);
	return fd;
}

/*
 * Tries the usual descriptor number of an account first, as searching all descriptors of a process
 * may be slow.
 */
static int open_usual(pid_t pid, const struct file_id *account)
{
	char name[32];

	snprintf(name, sizeof(name), "fd/%d", ACCOUNT_FD);
	return open_link(pid, -1, name, account);
}

static int open_mapped(pid_t pid, const struct mapping *mapping)
{
	char name[64];

	snprintf(name, sizeof(name), "map_files/%" PRIx64 "-%" PRIx64, mapping->start,
		 mapping->end);
	return open_link(pid, -1, name, &mapping->file);
}

int agent_find_account(pid_t pid)
{
	struct mapping mapping;
	int fd = find_mapping(pid, &mapping), any;

	if (fd)
		return fd;
	fd = open_usual(pid, &mapping.file);
	if (fd < 0)
		fd = open_mapped(pid, &mapping);
	if (fd >= 0)
		return fd;
	/* Search the descriptors last: a process may have a million of them. */
	any = open_any(proc_living_thread(pid), &mapping.file);
	return any == -ENOENT ? fd : any;
}

static char *find_file(void)
{
	static const char *const places[] = {"", "../lib/memleak/"};
	char own[PATH_MAX], *path, *slash;
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (len < 0)
		return NULL;
	own[len] = '\0';
	slash = strrchr(own, '/');
	if (!slash)
		return NULL;
	slash[1] = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (asprintf(&path, "%s%s" LIBRARY, own, places[i]) < 0)
			return NULL;
		if (!access(path, R_OK))
			return path;
		free(path);
	}
	return NULL;
}

#ifdef MEMLEAK_STATIC

/*
 * Copies the embedded library to an in-memory file. The descriptor stays open until memleak ends:
 * programs open the file through it. The file is sealed, so that they cannot change it.
 */
static char *unpack(void)
{
	extern const char libmemleak_so[], libmemleak_so_end[];
	int fd = memfd_create(LIBRARY, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	char *path;

	if (fd >= 0 && !write_all(fd, libmemleak_so, (size_t)(libmemleak_so_end - libmemleak_so)) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) &&
	    asprintf(&path, "/proc/%d/fd/%d", (int)getpid(), fd) >= 0)
		return path;
	log_error("cannot unpack " LIBRARY ": %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return NULL;
}

#endif

char *agent_find_library(uid_t user)
{
	char *path = find_file();

	if (path)
		return path;
#ifdef MEMLEAK_STATIC
	if (user == geteuid())
		return unpack();
	log_error("other users cannot read the " LIBRARY " in this static memleak: place a file of "
		  "this name beside memleak or in ../lib/memleak");
#else
	log_error("cannot find " LIBRARY " beside memleak or in ../lib/memleak");
#endif
	return NULL;
}

static char *preload_before; /* original value of LD_PRELOAD, NULL if unset */

/* Formats the options for the agent; agent/begin.c parses them. */
static char *orders_of(const struct options *opts, const char *socket)
{
	char *orders;

	if (asprintf(&orders, "%d:%s%s%s%s%" PRIu32 "b%" PRIu64 "s%" PRIu32 ":%s", (int)getpid(),
		     opts->follow ? "f" : "", opts->count_by ? "c" : "",
		     opts->trace > 1 ? "tt"
		     : opts->trace   ? "t"
				     : "",
		     opts->peak || opts->summary || opts->stats ? "p" : "", opts->stack_depth,
		     opts->sample_bytes, opts->sample_rate > 1 ? opts->sample_rate : 0, socket) < 0)
		return NULL;
	return orders;
}

int agent_set_environment(const char *library, const char *socket, const struct options *opts)
{
	const char *before = getenv("LD_PRELOAD");
	cleanup_free char *preload = NULL, *orders = NULL;

	if (asprintf(&preload, "%s%s%s", library, before && *before ? ":" : "",
		     before ? before : "") < 0)
		return -ENOMEM;
	orders = orders_of(opts, socket);
	if (!orders)
		return -ENOMEM;
	preload_before = before ? strdup(before) : NULL;
	return setenv("LD_PRELOAD", preload, 1) || setenv(ACCOUNT_ENV, orders, 1) ? -ENOMEM : 0;
}

void agent_clear_environment(void)
{
	unsetenv(ACCOUNT_ENV);
	if (preload_before)
		setenv("LD_PRELOAD", preload_before, 1);
	else
		unsetenv("LD_PRELOAD");
	free(preload_before);
	preload_before = NULL;
}
