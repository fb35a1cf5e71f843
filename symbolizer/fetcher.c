// SPDX-License-Identifier: GPL-2.0-or-later
/* Downloads debug files with libdebuginfod, which is loaded only when needed. */
#include "symbolizer/fetcher.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/capabilities.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "base/user.h"
#include "helper/call.h"

/*
 * User id of the helper if memleak is root and was not started by sudo. Nothing else uses this id.
 * It is constant, so that a helper can use an earlier memleak's cache.
 */
#define FETCHER_USER 0x6d6d0000U
#define CACHE_FOLDER "/var/cache/memleak"

/*
 * Time, in milliseconds, that the helper gets at the end to notice that its download was cancelled
 * and to remove partial files.
 */
#define GRACE_MS 100

struct debuginfod_client;

/*
 * Functions of libdebuginfod. Declared here, since not every distribution's elfutils package has
 * the header.
 */
struct client_library {
	struct debuginfod_client *(*begin)(void);
	int (*find_debuginfo)(struct debuginfod_client *client, const unsigned char *build_id,
			      int build_id_len, char **path);
	void (*set_progressfn)(struct debuginfod_client *client,
			       int (*fn)(struct debuginfod_client *client, long done, long all));
};

/* The helper's socket; global because libdebuginfod's progress callback has no user data. */
static int fetch_sock = -1;

#ifdef MEMLEAK_STATIC

bool fetcher_can_download(void)
{
	return false;
}

static struct debuginfod_client *open_client(struct client_library *lib)
{
	return NULL;
}

#else

bool fetcher_can_download(void)
{
	return true;
}

static int stop_when_unwanted(struct debuginfod_client *client, long done, long all)
{
	struct pollfd pfd = {.fd = fetch_sock, .events = POLLRDHUP};

	return poll(&pfd, 1, 0) > 0 && (pfd.revents & (POLLRDHUP | POLLHUP));
}

static struct debuginfod_client *open_client(struct client_library *lib)
{
	void *handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	struct debuginfod_client *client;

	if (!handle)
		return NULL;
	*(void **)&lib->begin = dlsym(handle, "debuginfod_begin");
	*(void **)&lib->find_debuginfo = dlsym(handle, "debuginfod_find_debuginfo");
	*(void **)&lib->set_progressfn = dlsym(handle, "debuginfod_set_progressfn");
	if (!lib->begin || !lib->find_debuginfo || !lib->set_progressfn)
		return NULL;
	client = lib->begin();
	if (client)
		lib->set_progressfn(client, stop_when_unwanted);
	return client;
}

#endif

/*
 * Downloads a debug file. Returns a descriptor for reading it, or a negative errno. Passes length 0
 * to libdebuginfod: build_id is hex text, which the sender of the request has checked.
 */
static int fetch(const struct client_library *lib, struct debuginfod_client *client,
		 const char *build_id)
{
	char *path = NULL;
	int fd = lib->find_debuginfo(client, (const unsigned char *)build_id, 0, &path);

	/* Open the file again: libdebuginfod may have opened it for writing, too. */
	if (fd >= 0) {
		close(fd);
		fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	}
	free(path);
	return fd;
}

struct fetch_server {
	struct client_library lib;
	struct debuginfod_client *client;
};

/*
 * Handles a request, a build id. The answer contains the debug file's descriptor, if it was found.
 */
static int handle(void *arg, struct message *request, struct message *reply)
{
	struct message_cursor cursor = message_read(request);
	const struct fetch_server *server = arg;
	size_t len;
	const char *text = message_get_string(&cursor, &len);
	char *build_id = text ? strndup(text, len) : NULL;

	if (build_id)
		reply->fd = fetch(&server->lib, server->client, build_id);
	free(build_id);
	message_put_u32(reply, reply->fd >= 0);
	return 0;
}

/* Reads a user or group id from `name`, an environment variable that sudo sets. */
static bool id_from(const char *name, uint32_t *ret)
{
	const char *text = getenv(name);
	uint64_t id;

	if (!text || number_parse(text, 0, UINT32_MAX - 1, &id))
		return false;
	*ret = (uint32_t)id;
	return true;
}

/*
 * Changes this process's user and group, and restores its parent-death signal, which the kernel
 * clears when the user changes.
 */
static int become(uid_t uid, gid_t gid)
{
	int death_signal = 0;

	prctl(PR_GET_PDEATHSIG, &death_signal, 0, 0, 0);
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return -errno;
	prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0);
	return 0;
}

/* Becomes the user who called sudo, and uses the debuginfod cache in this user's home. */
static int become_invoker(uid_t uid, gid_t gid)
{
	const struct passwd *user = user_by_id(uid);

	if (user)
		setenv("HOME", user->pw_dir, 1);
	return become(uid, gid);
}

/*
 * Opens the folder for downloaded files, and creates it if needed. It is in $CACHE_DIRECTORY, which
 * systemd sets for a service, or else in CACHE_FOLDER. Returns an fd or a negative errno.
 */
static int open_cache(void)
{
	const char *above = getenv("CACHE_DIRECTORY");
	cleanup_free char *path = NULL;
	int fd;

	if (!above || !*above) {
		above = CACHE_FOLDER;
		mkdir(above, 0755);
	}
	if (asprintf(&path, "%s/debuginfod", above) < 0)
		return -ENOMEM;
	mkdir(path, 0700);
	setenv("DEBUGINFOD_CACHE_PATH", path, 1);
	fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Becomes the user FETCHER_USER, and uses the folder `cache`, which only this user can read and
 * write. Stays root if root may not change the folder's owner, as in a container without CAP_CHOWN.
 * Returns -EPERM if another user owns the folder or may write to it.
 */
static int become_own_user(int cache)
{
	struct stat st;

	if (fstat(cache, &st))
		return -errno;
	if ((st.st_uid && st.st_uid != FETCHER_USER) || st.st_mode & (S_IWGRP | S_IWOTH))
		return -EPERM;
	if (!st.st_uid &&
	    fchownat(cache, "", FETCHER_USER, FETCHER_USER, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
		return 0;
	return become(FETCHER_USER, FETCHER_USER);
}

/*
 * Returns the path of the user's cache folder, and creates the folder in which it is; NULL if the
 * path is not known. Chooses the same path as libdebuginfod.
 */
static char *user_cache_path(void)
{
	const char *set = getenv("DEBUGINFOD_CACHE_PATH"), *above = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME") ?: "/";
	cleanup_free char *usual = NULL;
	char *path;

	if (set && *set)
		return strdup(set);
	if (asprintf(&path, "%s/.debuginfod_client_cache", home) < 0)
		return NULL;
	if (!access(path, F_OK))
		return path;
	free(path);
	if (asprintf(&usual, "%s/.cache", home) < 0) {
		usual = NULL;
		return NULL;
	}
	if (!above || !*above)
		above = usual;
	mkdir(above, 0700);
	return asprintf(&path, "%s/debuginfod_client", above) < 0 ? NULL : path;
}

/*
 * Opens the cache folder of this process's user, which is created if needed. Returns an fd, or -1
 * if the folder cannot be opened: libdebuginfod then fails, or finds another one.
 */
static int open_user_cache(void)
{
	cleanup_free char *path = user_cache_path();

	if (!path)
		return -1;
	mkdir(path, 0700);
	/* libdebuginfod must use this folder, even if the variables change their meaning. */
	setenv("DEBUGINFOD_CACHE_PATH", path, 1);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/*
 * Changes the user if memleak is root, so that data from a hostile debuginfod server is not parsed
 * as root. Sets *cache to the only folder to which the process needs to write; -1 if it is unknown.
 */
static int change_user(int *cache)
{
	uint32_t uid = 0, gid = 0;
	bool is_root = !geteuid();
	int err = 0;

	if (is_root && (!id_from("SUDO_UID", &uid) || !id_from("SUDO_GID", &gid))) {
		*cache = open_cache();
		return *cache < 0 ? *cache : become_own_user(*cache);
	}
	if (is_root)
		err = become_invoker(uid, gid);
	if (!err)
		*cache = open_user_cache();
	return err;
}

static void fetcher_main(int sock)
{
	struct fetch_server server = {.client = NULL};
	cleanup_close int cache = -1;

	fetch_sock = sock;
	if (change_user(&cache) || capabilities_set(0, 0))
		return;
	/* Load libraries first: they may be in folders that confine_download() does not know. */
	server.client = open_client(&server.lib);
	if (server.client && !confine_download(cache))
		helper_serve(sock, handle, &server);
}

static const struct helper_kind kind = {
	.name = "symbol fetcher",
	.rights = HELPER_KEEPS_RIGHTS,
	.work = fetcher_main,
};
HELPER_KIND(kind);

void fetcher_init(struct fetcher *fetcher)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	*fetcher = (struct fetcher){
		.helper = HELPER_INIT(&kind),
	};
	fetcher->unavailable = !urls || !*urls || !fetcher_can_download();
}

void fetcher_deinit(struct fetcher *fetcher)
{
	helper_deinit(&fetcher->helper, GRACE_MS);
	free(fetcher->waiting);
}

/* Gives up all pending and later downloads, because the helper has ended. */
static void give_up(struct fetcher *fetcher)
{
	log_note("debug information is not downloaded: the downloader exited; it needs "
		 "libdebuginfod (package libdebuginfod1) and a cache (DEBUGINFOD_URLS in "
		 "memleak(8))");
	for (size_t i = 0; i < fetcher->waiting_cnt; i++)
		fetcher->waiting[i]->fetching = false;
	fetcher->waiting_cnt = 0;
	fetcher->unavailable = true;
	helper_stop(&fetcher->helper, 0);
}

void fetcher_want(struct fetcher *fetcher, struct module *module)
{
	struct message request = {.fd = -1};
	int err;

	if (fetcher->unavailable ||
	    array_reserve(&fetcher->waiting, &fetcher->waiting_cap, fetcher->waiting_cnt + 1))
		return;
	message_put_string(&request, module->need.build_id);
	err = helper_send(&fetcher->helper, &request, clock_ns(CLOCK_MONOTONIC));
	if (!err) {
		module->fetching = true;
		fetcher->waiting[fetcher->waiting_cnt++] = module;
	} else if (!fetcher->helper.pid) {
		give_up(fetcher);
	}
	/*
	 * If sending failed but the helper is still running, its queue of requests is full, and
	 * this file is not downloaded.
	 */
	message_deinit(&request);
}

/*
 * True if the descriptor is a regular file that the sender has opened for reading only. The helper
 * that parses the file must not get, for example, a connected socket, and must not change the
 * user's cache. Does not wait for the file's system.
 */
static bool is_readable_file(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct statx st;

	return flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) == O_RDONLY &&
	       !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) &&
	       S_ISREG(st.stx_mode);
}

/*
 * Stores the file of an answer in the module of the oldest request: answers come in the order of
 * requests.
 */
static int take_file(void *arg, struct message *answer)
{
	struct fetcher *fetcher = arg;
	struct module *module = fetcher->waiting[0];

	array_remove(fetcher->waiting, &fetcher->waiting_cnt, 0);
	module->fetching = false;
	if (module->fetched_fd < 0 && is_readable_file(answer->fd)) {
		module->fetched_fd = answer->fd;
		answer->fd = -1;
	}
	return 0;
}

int fetcher_take(struct fetcher *fetcher, uint64_t deadline_ns)
{
	int err;

	if (!fetcher->waiting_cnt)
		return -ENOENT;
	err = helper_take(&fetcher->helper, deadline_ns, take_file, fetcher);
	if (!err || err == -ETIMEDOUT)
		return err;
	give_up(fetcher);
	return -ENOENT;
}
