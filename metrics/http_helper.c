// SPDX-License-Identifier: GPL-2.0-or-later
/* Main loop of the HTTP helper process, which receives pages from memleak and serves clients. */
#include "metrics/http_helper.h"

#include <errno.h>
#include <poll.h>

#include "helper/call.h"
#include "metrics/web_server.h"

static int begin(struct web_server **server, struct message *request, bool local)
{
	int err =
		*server || request->fd < 0 ? -EPROTO : web_server__new(request->fd, local, server);

	if (!err)
		request->fd = -1;
	return err;
}

static int handle(struct web_server **server, struct message *request, struct message *reply)
{
	struct message_cursor cursor = message_read(request);
	uint32_t kind = message_get_u32(&cursor), what;

	switch (kind) {
	case HTTP_LISTEN:
		message_put_u32(reply, (uint32_t)begin(server, request, message_get_u32(&cursor)));
		return 0;
	case HTTP_PAGE:
		what = message_get_u32(&cursor);
		if (!*server || cursor.bad || what >= PAGE_CNT)
			return -EPROTO;
		web_server__show(*server, what, request->fd);
		return 0;
	case HTTP_SHOWN:
		message_put_u32(reply, 0);
		return 0;
	default:
		return -EPROTO;
	}
}

static int take_request(int sock, struct web_server **server)
{
	struct message request = {.fd = -1}, reply = {.fd = -1};
	int err = message_receive(sock, &request, MESSAGE_FOREVER);

	if (!err)
		err = handle(server, &request, &reply);
	if (!err && reply.len)
		err = helper_reply(sock, &reply);
	message_deinit(&request);
	message_deinit(&reply);
	return err;
}

static void serve(int sock)
{
	struct web_server *server = NULL;
	int err = 0;

	while (!err) {
		struct pollfd fds[] = {
			{.fd = sock, .events = POLLIN},
			{.fd = server ? web_server__poll_fd(server) : -1, .events = POLLIN},
		};

		if (poll(fds, 2, server ? web_server__timeout_ms(server) : -1) < 0 &&
		    errno != EINTR)
			break;
		/*
		 * Receive all new pages before serving clients: a client that knows of a report
		 * must not get an older one.
		 */
		if (fds[0].revents)
			err = take_request(sock, &server);
		else if (server)
			web_server__dispatch(server);
	}
	web_server__free(server);
}

const struct helper_kind http_helper = {
	.name = "HTTP server",
	.rights = HELPER_SERVES,
	.prepare = web_server_prepare,
	.work = serve,
};
HELPER_KIND(http_helper);
