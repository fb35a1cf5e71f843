// SPDX-License-Identifier: GPL-2.0-or-later
/* Fetches debug files by libdebuginfod, which is loaded only when it is needed. */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizer/fetcher.h"

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

/* Each request is a build id; each answer a file descriptor or none. */
static void fetcher_main(int sock)
{
	struct wire_message request = {.fd = -1}, answer = {.fd = -1};
	struct client_library lib = {0};
	struct debuginfod_client *client;
	int err;

	fetch_sock = sock;
	client = open_client(&lib);
	do {
		struct wire_cursor cursor;
		const char *text;
		char *build_id;
		size_t len;

		wire_message_reset(&request);
		err = client ? wire_receive(sock, &request, WIRE_FOREVER) : -ENOENT;
		if (err)
			break;
		cursor = wire_read(&request);
		text = wire_get_string(&cursor, &len);
		build_id = text ? strndup(text, len) : NULL;
		if (build_id)
			answer.fd = fetch(&lib, client, build_id);
		free(build_id);
		wire_put_u32(&answer, answer.fd >= 0);
		err = wire_send(sock, &answer, WIRE_FOREVER);
		wire_message_reset(&answer);
	} while (!err);
	wire_message_deinit(&request);
	wire_message_deinit(&answer);
}

void fetcher_init(struct fetcher *fetcher)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	*fetcher = (struct fetcher){.helper = HELPER_INIT, .answer.fd = -1};
	fetcher->unavailable = !urls || !*urls;
}

void fetcher_deinit(struct fetcher *fetcher)
{
	helper_stop(&fetcher->helper, GRACE_MS);
	wire_message_deinit(&fetcher->answer);
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

static int reserve(struct fetcher *fetcher)
{
	size_t cap = fetcher->waiting_cap ? fetcher->waiting_cap * 2 : 16;
	struct module **waiting;

	if (fetcher->waiting_cnt < fetcher->waiting_cap)
		return 0;
	waiting = reallocarray(fetcher->waiting, cap, sizeof(*waiting));
	if (!waiting)
		return -ENOMEM;
	fetcher->waiting = waiting;
	fetcher->waiting_cap = cap;
	return 0;
}

void fetcher_want(struct fetcher *fetcher, struct module *module)
{
	struct wire_message request = {.fd = -1};

	if (fetcher->unavailable || reserve(fetcher))
		return;
	if (!fetcher->helper.pid &&
	    helper_start(&fetcher->helper, "symbol fetcher", HELPER_KEEPS_RIGHTS, fetcher_main)) {
		fetcher->unavailable = true;
		return;
	}
	wire_put_string(&request, module->need.build_id);
	/* A queue of thousands is full: those behind it go without. */
	if (!wire_send(fetcher->helper.sock, &request, wire_now_ms())) {
		module->fetching = true;
		fetcher->waiting[fetcher->waiting_cnt++] = module;
	}
	wire_message_deinit(&request);
}

int fetcher_take(struct fetcher *fetcher, int64_t deadline_ms)
{
	struct module *module;
	int err;

	if (!fetcher->waiting_cnt)
		return -ENOENT;
	err = wire_receive(fetcher->helper.sock, &fetcher->answer, deadline_ms);
	if (err == -ETIMEDOUT)
		return err;
	if (err) {
		give_up(fetcher);
		return -ENOENT;
	}
	module = fetcher->waiting[0];
	memmove(fetcher->waiting, fetcher->waiting + 1,
		--fetcher->waiting_cnt * sizeof(*fetcher->waiting));
	module->fetching = false;
	if (module->fetched_fd < 0) {
		module->fetched_fd = fetcher->answer.fd;
		fetcher->answer.fd = -1;
	}
	wire_message_reset(&fetcher->answer);
	return 0;
}
