// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memleak's side: takes the address, and sends the pages of each report to the process that has the
 * clients. It never waits for that one: who does not keep up goes on with older pages.
 */
#include "metrics/listen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "helper/call.h"
#include "metrics/http_helper.h"
#include "metrics/pages.h"

#define BACKLOG 64
/* To load libmicrohttpd. */
#define START_NS 10000000000ULL

struct server {
	struct helper helper;
	int fd;                  /* listens; -1: not yet */
	unsigned int unanswered; /* requests whose answers have not come */
	bool told;               /* that the helper has ended */
	uint64_t reports;
	struct listen_address local; /* len 0: its address is no file */
	dev_t dev;                   /* of that file */
	ino_t ino;
};

/* A socket that nobody listens on is left from a run that was killed. */
static int remove_stale(int fd, const struct listen_address *address)
{
	struct stat st;

	if (!connect(fd, &address->any, address->len) || errno == EAGAIN)
		return -EADDRINUSE;
	if (errno != ECONNREFUSED)
		return errno == ENOENT ? 0 : -errno;
	if (lstat(address->local.sun_path, &st))
		return -errno;
	if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return -EEXIST;
	return unlink(address->local.sun_path) ? -errno : 0;
}

/* It has its mode from the beginning. */
static int bind_local(struct server *server, int fd, const struct listen_address *address)
{
	mode_t old_mask;
	struct stat st;
	int err = remove_stale(fd, address);

	if (err)
		return err;
	old_mask = umask(0777 & ~address->mode);
	if (bind(fd, &address->any, address->len) || lstat(address->local.sun_path, &st))
		err = -errno;
	umask(old_mask);
	if (err)
		return err;
	server->local = *address;
	server->dev = st.st_dev;
	server->ino = st.st_ino;
	return 0;
}

/* Somebody else's may have replaced it. */
static void remove_local(const struct server *server)
{
	const char *path = server->local.local.sun_path;
	struct stat st;

	if (server->local.len && !lstat(path, &st) && st.st_dev == server->dev &&
	    st.st_ino == server->ino)
		unlink(path);
}

static bool is_file(const struct listen_address *address)
{
	return address->any.sa_family == AF_UNIX && *address->local.sun_path;
}

static int open_socket(struct server *server, const struct listen_address *address)
{
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1, err = 0;

	if (fd < 0)
		return -errno;
	/* [::] is that alone: who wants both families asks for it by 0.0.0.0, too. */
	if (address->any.sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	/* A server that just ended leaves connections that wait for their time. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (is_file(address))
		err = bind_local(server, fd, address);
	else if (bind(fd, &address->any, address->len))
		err = -errno;
	if (!err && listen(fd, BACKLOG))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Port 0 has become another one. */
static void say_where(const struct server *server, int fd)
{
	struct listen_address address = {.len = sizeof(address.local)};
	char text[LISTEN_ADDRESS_SIZE];

	if (getsockname(fd, &address.any, &address.len))
		return;
	listen_address_print(&address, text);
	if (server->local.len) {
		log_note("listening on %s", text);
		return;
	}
	log_note("listening on http://%s/%s", text,
		 listen_address_is_loopback(&address) ? ""
						      : ": whoever reaches that address can read "
							"the reports, without a password");
}

static int take_answer(void *arg, struct message *answer)
{
	struct message_cursor cursor = message_read(answer);
	struct server *server = arg;
	int err = (int)message_get_u32(&cursor);

	server->unanswered--;
	return cursor.bad ? -EPROTO : err;
}

static int begin_serving(struct server *server)
{
	struct message request = {.fd = server->fd};
	int err;

	message_put_u32(&request, HTTP_LISTEN);
	message_put_u32(&request, server->local.len > 0);
	server->unanswered = 1;
	err = helper_send(&server->helper, &request, clock_deadline_ns(START_NS));
	message_deinit(&request);
	return err;
}

/* Whether it has taken all that it was sent; one that has died is started again. */
static bool is_ready(struct server *server)
{
	int err = server->helper.pid ? 0 : -EPIPE;

	while (!err && server->unanswered)
		err = helper_take(&server->helper, clock_ns(CLOCK_MONOTONIC), take_answer, server);
	if (!err || err == -ETIMEDOUT)
		return !err;
	if (!server->told)
		log_error("the HTTP server has ended (%s): it is started again", strerror(-err));
	server->told = true;
	begin_serving(server);
	return false;
}

static int send_page(struct server *server, enum page_kind kind, const struct metrics *metrics)
{
	cleanup_close int fd = page_make(kind, metrics);
	struct message request = {.fd = fd < 0 ? -1 : fd};
	int err;

	message_put_u32(&request, HTTP_PAGE);
	message_put_u32(&request, kind);
	err = helper_send(&server->helper, &request, clock_ns(CLOCK_MONOTONIC));
	message_deinit(&request);
	return err;
}

static void send_pages(struct server *server, const struct metrics *metrics)
{
	struct message request = {.fd = -1};
	int err = 0;

	for (size_t i = 0; !err && i < PAGE_CNT; i++)
		err = send_page(server, i, metrics);
	message_put_u32(&request, HTTP_SHOWN);
	if (!err)
		err = helper_send(&server->helper, &request, clock_ns(CLOCK_MONOTONIC));
	server->unanswered += !err;
	message_deinit(&request);
}

void server__show(struct server *server, const struct report *report,
		  const struct counts_report *counts, size_t top)
{
	struct own_cost own = {.reports = ++server->reports};
	const struct metrics metrics = {
		.report = report, .counts = counts, .top = top, .own = &own};

	if (!is_ready(server))
		return;
	own_cost_read(&own);
	send_pages(server, &metrics);
}

static int start(struct server *server, const struct listen_address *address)
{
	int err;

	server->fd = open_socket(server, address);
	if (server->fd < 0)
		return server->fd;
	err = begin_serving(server);
	return err ? err
		   : helper_take_unless_ended(&server->helper, clock_deadline_ns(START_NS),
					      take_answer, server);
}

int server__new(const struct listen_address *address, struct server **ret)
{
	struct server *server = calloc(1, sizeof(*server));
	struct own_cost own = {0};
	const struct metrics metrics = {.own = &own};
	char text[LISTEN_ADDRESS_SIZE];
	int err = -ENOMEM;

	if (server) {
		*server = (struct server){.helper = HELPER_INIT(&http_helper), .fd = -1};
		err = start(server, address);
	}
	if (err == -ELIBACC) {
		log_error(
			"--listen needs libmicrohttpd.so.12: install the package libmicrohttpd12");
	} else if (err) {
		listen_address_print(address, text);
		log_error("cannot listen on %s: %s", text, strerror(-err));
	}
	if (err) {
		server__free(server);
		return err;
	}
	say_where(server, server->fd);
	own_cost_read(&own);
	send_pages(server, &metrics);
	*ret = server;
	return 0;
}

void server__free(struct server *server)
{
	if (!server)
		return;
	helper_deinit(&server->helper, HELPER_GRACE_MS);
	if (server->fd >= 0)
		close(server->fd);
	remove_local(server);
	free(server);
}
