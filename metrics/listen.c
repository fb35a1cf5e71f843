// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memleak's side of --listen: opens the socket, and sends the pages of each report to the helper
 * process that serves clients. After the start, memleak does not wait for the helper: a slow helper
 * continues to serve older pages, and a restarted helper immediately gets the latest pages.
 */
#include "metrics/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "helper/call.h"
#include "helper/starter.h"
#include "metrics/http_helper.h"
#include "metrics/pages.h"

#define BACKLOG 64
#define LOCK_PAUSE_NS 10000000L
#define LOCK_TRIES 100
/* Maximum time in nanoseconds for the helper to start, which includes loading libmicrohttpd. */
#define START_NS 10000000000ULL
/* Minimum interval in nanoseconds between starts of the helper. */
#define RESTART_EVERY_NS 1000000000ULL

struct metrics_server {
	struct helper helper;
	int fd;                  /* listening socket; -1 before it is open */
	unsigned int unanswered; /* number of messages whose reply has not arrived yet */
	int epoll_fd;            /* epoll descriptor, to which the helper's socket is added */
	uint64_t begun_ns;       /* time of the most recent start of the helper */
	bool end_logged; /* true if an exit of the helper was logged; later exits are not logged */
	/* descriptors of the latest pages' contents; -1 for a page that does not exist */
	int pages[PAGE_CNT];
	uint64_t reports;
	struct listen_address local; /* address of the Unix socket; `len` is 0 for a TCP socket */
	dev_t dev;                   /* device of the socket file */
	ino_t ino;
};

/*
 * Removes the socket file if nobody listens on it, as after a run of memleak was killed. Returns 0
 * if the path is free, else a negative errno.
 */
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

/*
 * Locks the folder of the socket file for bind_locked(), so that two processes of memleak do not
 * replace each other's file. Gives up after a second, because any user who can read the folder
 * could keep it locked. Returns -1 if the folder is not locked; the caller then goes on without the
 * lock.
 */
static int lock_folder(const struct listen_address *address)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
	cleanup_free char *path = strdup(address->local.sun_path);
	int fd = path ? open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	for (int i = 0; fd >= 0 && i < LOCK_TRIES; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return fd;
		nanosleep(&pause, NULL);
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

/*
 * Binds to a Unix socket, after removing a stale file. The umask is set so that the socket file has
 * the right mode from the beginning.
 */
static int bind_locked(struct metrics_server *server, int fd, const struct listen_address *address)
{
	int err = remove_stale(fd, address);
	mode_t old_mask;
	struct stat st;

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
	return listen(fd, BACKLOG) ? -errno : 0;
}

static int bind_local(struct metrics_server *server, int fd, const struct listen_address *address)
{
	int lock_fd = lock_folder(address);
	int err = bind_locked(server, fd, address);

	if (lock_fd >= 0)
		close(lock_fd);
	return err;
}

/* Removes the socket file, unless another process of memleak has replaced it. */
static void remove_local(const struct metrics_server *server)
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

static int open_socket(struct metrics_server *server, const struct listen_address *address)
{
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1, err = 0;

	if (fd < 0)
		return -errno;
	/* Let [::] listen on IPv6 only, whatever the value of net.ipv6.bindv6only. */
	if (address->any.sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	/* Allow binding to a port while connections of a previous server are in TIME_WAIT. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (is_file(address))
		err = bind_local(server, fd, address);
	else if (bind(fd, &address->any, address->len))
		err = -errno;
	if (!err && !server->local.len && listen(fd, BACKLOG))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Logs the address on which the server listens, with the actual port if port 0 was requested. */
static void say_where(const struct metrics_server *server, int fd)
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
						      : ": anyone who can reach this address can "
							"read the reports, without a password");
}

/*
 * Processes a reply of the helper, and returns the error code in it. Rejects the reply with -EPROTO
 * if it is malformed or if memleak expects no reply.
 */
static int take_answer(void *arg, struct message *answer)
{
	struct message_cursor cursor = message_read(answer);
	struct metrics_server *server = arg;
	int err = (int)message_get_u32(&cursor);

	if (cursor.bad || !server->unanswered)
		return -EPROTO;
	server->unanswered--;
	return err;
}

/*
 * Adds the helper's socket to epoll. The socket becomes readable when a reply arrives or the helper
 * ends.
 */
static int watch(const struct metrics_server *server)
{
	struct epoll_event event = {.events = EPOLLIN};

	return epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, server->helper.sock, &event) ? -errno : 0;
}

static int begin_serving(struct metrics_server *server)
{
	struct message request = {.fd = server->fd};
	int err;

	message_put_u32(&request, HTTP_LISTEN);
	message_put_u32(&request, server->local.len > 0);
	server->unanswered = 1;
	server->begun_ns = clock_ns(CLOCK_MONOTONIC);
	err = helper_send(&server->helper, &request, clock_deadline_ns(START_NS));
	message_deinit(&request);
	return err ? err : watch(server);
}

/*
 * Processes all replies of the helper that have arrived. Returns true if the helper has ended or
 * sent an error.
 */
static bool has_ended(struct metrics_server *server)
{
	int err = server->helper.pid ? 0 : -EPIPE;

	while (!err)
		err = helper_take(&server->helper, clock_ns(CLOCK_MONOTONIC), take_answer, server);
	if (err == -ETIMEDOUT)
		return false;
	if (!server->end_logged)
		log_error("the HTTP server exited (%s): %s", strerror(-err),
			  starter_is_gone() ? "reports are no longer served" : "it is restarted");
	server->end_logged = true;
	return true;
}

static int send_page(struct metrics_server *server, enum page_kind kind)
{
	struct message request = {.fd = server->pages[kind]};
	int err;

	message_put_u32(&request, HTTP_PAGE);
	message_put_u32(&request, kind);
	err = helper_send(&server->helper, &request, clock_ns(CLOCK_MONOTONIC));
	message_deinit(&request);
	return err;
}

static void send_pages(struct metrics_server *server)
{
	struct message request = {.fd = -1};
	int err = 0;

	for (size_t i = 0; !err && i < PAGE_CNT; i++)
		err = send_page(server, i);
	message_put_u32(&request, HTTP_SHOWN);
	if (!err)
		err = helper_send(&server->helper, &request, clock_ns(CLOCK_MONOTONIC));
	server->unanswered += !err;
	message_deinit(&request);
}

static void drop_pages(struct metrics_server *server)
{
	for (size_t i = 0; i < PAGE_CNT; i++) {
		if (server->pages[i] >= 0)
			close(server->pages[i]);
		server->pages[i] = -1;
	}
}

static void make_pages(struct metrics_server *server, const struct metrics *metrics)
{
	drop_pages(server);
	for (size_t i = 0; i < PAGE_CNT; i++) {
		int fd = page_make(i, metrics);

		server->pages[i] = fd < 0 ? -1 : fd;
	}
}

int server__poll_fd(const struct metrics_server *server)
{
	return server->epoll_fd;
}

/*
 * Processes replies of the helper. If the helper has ended, restarts it, but at a limited rate: a
 * client may be able to crash it again and again.
 */
void server__dispatch(struct metrics_server *server)
{
	if (!has_ended(server) || clock_ns(CLOCK_MONOTONIC) - server->begun_ns < RESTART_EVERY_NS)
		return;
	if (!begin_serving(server))
		send_pages(server);
}

void server__show(struct metrics_server *server, const struct report *report,
		  const struct counts_report *counts, size_t top)
{
	struct own_cost own = {.reports = ++server->reports};
	const struct metrics metrics = {
		.report = report, .counts = counts, .top = top, .own = &own};

	if (has_ended(server)) {
		if (begin_serving(server))
			return;
	} else if (server->unanswered) {
		return;
	}
	own_cost_read(&own);
	make_pages(server, &metrics);
	send_pages(server);
}

static int start(struct metrics_server *server, const struct listen_address *address)
{
	int err;

	server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (server->epoll_fd < 0)
		return -errno;
	server->fd = open_socket(server, address);
	if (server->fd < 0)
		return server->fd;
	err = begin_serving(server);
	return err ? err
		   : helper_take_unless_ended(&server->helper, clock_deadline_ns(START_NS),
					      take_answer, server);
}

int server__new(const struct listen_address *address, struct metrics_server **ret)
{
	struct metrics_server *server = calloc(1, sizeof(*server));
	struct own_cost own = {0};
	const struct metrics metrics = {.own = &own};
	char text[LISTEN_ADDRESS_SIZE];
	int err = -ENOMEM;

	if (server) {
		*server = (struct metrics_server){
			.helper = HELPER_INIT(&http_helper),
			.fd = -1,
			.epoll_fd = -1,
			.pages = {[0 ... PAGE_CNT - 1] = -1},
		};
		err = start(server, address);
	}
	if (err == -ELIBACC) {
		log_error(
			"--listen needs libmicrohttpd.so.12: install the package libmicrohttpd12");
	} else if (err == -EINTR) {
		log_note("memleak was asked to end before the HTTP server had started");
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
	make_pages(server, &metrics);
	send_pages(server);
	*ret = server;
	return 0;
}

void server__free(struct metrics_server *server)
{
	if (!server)
		return;
	helper_deinit(&server->helper, HELPER_GRACE_MS);
	drop_pages(server);
	if (server->epoll_fd >= 0)
		close(server->epoll_fd);
	/*
	 * Remove the file before closing the socket: another memleak replaces the file only if
	 * nobody listens on it.
	 */
	remove_local(server);
	if (server->fd >= 0)
		close(server->fd);
	free(server);
}
