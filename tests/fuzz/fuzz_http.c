// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the HTTP server of --listen; "make fuzz" builds and runs it. An input is a byte with
 * flags, and everything that one client sends before it closes its side of the connection.
 * libmicrohttpd parses this; no network is used. If bit 0 of the flags is set, the head of a
 * request with a foreign Host is sent first. If bit 1 is set, the web pages on the server are
 * replaced while the client waits.
 */
#include "metrics/web_server.h"

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * Head of a request with a foreign Host. Host is not the last header: an input may begin with a
 * continuation line, for which libmicrohttpd would drop the last header and accept a second Host
 * from the input. Browsers send no second Host.
 */
#define FOREIGN_HEAD "GET /metrics HTTP/1.1\r\nHost: evil.example\r\nAccept: a\r\n"
/*
 * Maximum number of calls of web_server__dispatch() for a request, in addition to one per byte. A
 * server that needs more is in an endless loop.
 */
#define TURNS_MAX 64
#define STATUS_SIZE sizeof("HTTP/1.1 200 ")

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An abstract socket address, which other machines cannot reach. */
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t address_len;

static struct web_server *make_server(void)
{
	int len = snprintf(address.sun_path + 1, 16, "fuzz%d", (int)getpid());
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct web_server *server;

	address_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
	web_server_prepare();
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, address_len) || listen(fd, 64) ||
	    web_server__new(fd, false, &server))
		abort();
	return server;
}

/* Replaces the web pages on the server with those that memleak serves before its first report. */
static void show_pages(struct web_server *server)
{
	struct own_cost own = {0};
	const struct metrics metrics = {.own = &own};

	for (size_t i = 0; i < PAGE_CNT; i++) {
		int fd = page_make(i, &metrics);

		web_server__show(server, i, fd);
		if (fd >= 0)
			close(fd);
	}
}

static int connect_client(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, address_len))
		abort();
	return fd;
}

static void send_bytes(int fd, const void *bytes, size_t len)
{
	if (send(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)len)
		abort();
}

/* True if the server can do nothing more without waiting. */
static bool is_idle(struct web_server *server)
{
	struct pollfd pfd = {.fd = web_server__poll_fd(server), .events = POLLIN};

	return web_server__timeout_ms(server) && !poll(&pfd, 1, 0);
}

/*
 * Receives the reply until the server is idle, and stores its first bytes in `ret`. Aborts if the
 * server does not become idle.
 */
static void receive(struct web_server *server, int fd, size_t sent, char ret[STATUS_SIZE])
{
	char bytes[65536];
	size_t len = 0;

	for (size_t i = 0; i < TURNS_MAX + sent; i++) {
		ssize_t got;

		web_server__dispatch(server);
		got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		for (ssize_t j = 0; j < got && len < STATUS_SIZE - 1; j++)
			ret[len++] = bytes[j];
		if (got <= 0 && is_idle(server))
			return;
	}
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct web_server *server;
	char status[STATUS_SIZE] = "";
	int fd;

	if (!size)
		return 0;
	if (!server) {
		server = make_server();
		show_pages(server);
	}
	fd = connect_client();
	if (data[0] & 1)
		send_bytes(fd, FOREIGN_HEAD, strlen(FOREIGN_HEAD));
	send_bytes(fd, data + 1, size - 1);
	shutdown(fd, SHUT_WR);
	if (data[0] & 2) {
		web_server__dispatch(server);
		show_pages(server);
	}
	receive(server, fd, size, status);
	close(fd);
	if (*status && strncmp(status, "HTTP/1.", strlen("HTTP/1.")) != 0)
		abort();
	if ((data[0] & 1) && strstr(status, " 200 "))
		abort();
	return 0;
}
