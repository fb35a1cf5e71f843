// SPDX-License-Identifier: GPL-2.0-or-later
/* Fetches debug files by libdebuginfod, which is loaded only when it is needed. */
#include "symbolizer/fetcher.h"

#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/array.h"
#include "base/capabilities.h"
#include "base/clock.h"
#include "base/number.h"
#include "helper/call.h"

/* To notice that nobody waits any more and remove what was half fetched. */
#define GRACE_MS 100

struct debuginfod_client;

/* What is used of libdebuginfod; its header is not in every distribution's elfutils package. */
struct client_library {
	struct debuginfod_client *(*begin)(void);
	int (*find_debuginfo)(struct debuginfod_client *client, const unsigned char *build_id,
			      int build_id_len, char **path);
	void (*set_progressfn)(struct debuginfod_client *client,
			       int (*fn)(struct debuginfod_client *client, long done, long all));
};

/* The helper's only socket, for the callback, which is given nothing of ours. */
static int fetch_sock = -1;

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

/* Hex digits, which libdebuginfod takes when it is told a length of 0; checked by the sender. */
static int fetch(const struct client_library *lib, struct debuginfod_client *client,
		 const char *build_id)
{
	char *path = NULL;
	int fd = lib->find_debuginfo(client, (const unsigned char *)build_id, 0, &path);

	free(path);
	return fd;
}

struct fetch_server {
	struct client_library lib;
	struct debuginfod_client *client;
};

/* Each request is a build id; each answer a file descriptor or none. */
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

/* A number that sudo has left. */
static bool id_from(const char *name, uint32_t *ret)
{
	const char *text = getenv(name);
	uint64_t id;

	if (!text || number_parse(text, 0, UINT32_MAX - 1, &id))
		return false;
	*ret = (uint32_t)id;
	return true;
}

/* With that user's cache. The signal at the parent's end is lost by the change. */
static int become_invoker(void)
{
	const struct passwd *user;
	uint32_t uid, gid;
	int death_signal = 0;

	if (geteuid() || !id_from("SUDO_UID", &uid) || !id_from("SUDO_GID", &gid))
		return 0;
	user = getpwuid(uid);
	if (user)
		setenv("HOME", user->pw_dir, 1);
	prctl(PR_GET_PDEATHSIG, &death_signal, 0, 0, 0);
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return -errno;
	prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0);
	return 0;
}

/* What servers send is read by nobody with more rights than who asked for it. */
static int give_up_rights(void)
{
	int err = become_invoker();

	if (!err)
		err = capabilities_set(0, 0);
	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	return err;
}

static void fetcher_main(int sock)
{
	struct fetch_server server = {.client = NULL};

	fetch_sock = sock;
	if (give_up_rights())
		return;
	server.client = open_client(&server.lib);
	if (server.client)
		helper_serve(sock, handle, &server);
}

static const struct helper_kind kind = {
	.name = "symbol fetcher",
	.rights = HELPER_KEEPS_RIGHTS,
	.work = fetcher_main,
};

void fetcher_init(struct fetcher *fetcher)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	*fetcher = (struct fetcher){
		.helper = HELPER_INIT(&kind),
	};
	fetcher->unavailable = !urls || !*urls;
}

void fetcher_deinit(struct fetcher *fetcher)
{
	helper_deinit(&fetcher->helper, GRACE_MS);
	free(fetcher->waiting);
}

/* Without a helper there is nothing to wait for any more. */
static void give_up(struct fetcher *fetcher)
{
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
	/* Else a queue of thousands is full: those behind it go without. */
	message_deinit(&request);
}

/* Answers come in the order of the requests. */
static int take_file(void *arg, struct message *answer)
{
	struct fetcher *fetcher = arg;
	struct module *module = fetcher->waiting[0];

	array_remove(fetcher->waiting, &fetcher->waiting_cnt, 0);
	module->fetching = false;
	if (module->fetched_fd < 0) {
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
