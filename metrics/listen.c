// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests and answers. Clients are hostile: there are so many of them at a time, each with so
 * much memory, and one that keeps silent is cut off. Pages are made once for each report; whoever
 * still reads an old one keeps it alive, up to a bound.
 */
#include "metrics/listen.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "metrics/host.h"
#include "metrics/http_library.h"
#include "metrics/pages.h"

#define CONNECTIONS_MAX 512
/* So that no other machine, or address of this one, can take all of them. */
#define CONNECTIONS_OF_ADDRESS_MAX 128
#define BACKLOG 64
#define REQUEST_MAX_BYTES 16384
#define SILENCE_MAX_S 10
/* What readers of old pages keep alive. */
#define OLD_MAX_BYTES (64UL * 1024 * 1024)

enum fixed_page {
	FIXED_INDEX,
	FIXED_HEALTH,
	FIXED_UNKNOWN,
	FIXED_METHOD,
	FIXED_HOST,
	FIXED_NO_REPORT,
	FIXED_BUSY,
	FIXED_CNT
};

struct server {
	struct http_library http;
	struct MHD_Daemon *daemon;
	struct MHD_Response *fixed[FIXED_CNT];
	struct MHD_Response *pages[PAGE_CNT]; /* NULL: none */
	size_t current_bytes;
	size_t alive_bytes; /* of these and of old ones */
	uint64_t reports;
	bool was_full;
	struct listen_address local; /* len 0: its address is no file */
	dev_t dev;                   /* of that file */
	ino_t ino;
};

/* The bytes of a response, which outlive their page while someone reads them. */
struct content {
	struct server *server;
	struct page page;
};

static const struct {
	unsigned int status;
	const char *text;
} fixed_pages[FIXED_CNT] = {
	[FIXED_INDEX] = {MHD_HTTP_OK,
			 "memleak " MEMLEAK_VERSION "\n\n"
			 "/metrics  OpenMetrics, for Prometheus and compatible collectors\n"
			 "/report   the last report as JSON\n"
			 "/pprof    the same as a profile\n"
			 "/healthz  ok\n"},
	[FIXED_HEALTH] = {MHD_HTTP_OK, "ok\n"},
	[FIXED_UNKNOWN] = {MHD_HTTP_NOT_FOUND, "there is no such page: / lists all\n"},
	[FIXED_METHOD] = {MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are served\n"},
	[FIXED_HOST] = {MHD_HTTP_MISDIRECTED_REQUEST,
			"ask by an address, localhost or this machine's host name\n"},
	[FIXED_NO_REPORT] = {MHD_HTTP_SERVICE_UNAVAILABLE,
			     "there is no report yet, or none in this form\n"},
	[FIXED_BUSY] = {MHD_HTTP_SERVICE_UNAVAILABLE,
			"too many clients are still reading old reports\n"},
};

static void add_headers(struct server *server, struct MHD_Response *response, const char *type)
{
	server->http.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	server->http.add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	server->http.add_response_header(response, "X-Content-Type-Options", "nosniff");
}

static enum MHD_Result send_fixed(struct server *server, struct MHD_Connection *connection,
				  enum fixed_page page)
{
	return server->http.queue_response(connection, fixed_pages[page].status,
					   server->fixed[page]);
}

/* These are small, whatever a report lists. */
static bool is_metrics(enum page_kind kind)
{
	return kind == PAGE_OPEN_METRICS || kind == PAGE_PROMETHEUS;
}

static enum MHD_Result send_page(struct server *server, struct MHD_Connection *connection,
				 enum page_kind kind)
{
	if (!server->pages[kind])
		return send_fixed(server, connection, FIXED_NO_REPORT);
	if (!is_metrics(kind) && server->alive_bytes - server->current_bytes > OLD_MAX_BYTES)
		return send_fixed(server, connection, FIXED_BUSY);
	return server->http.queue_response(connection, MHD_HTTP_OK, server->pages[kind]);
}

/* Only who names the older form and not the newer one gets it. */
static enum page_kind metrics_kind(struct server *server, struct MHD_Connection *connection)
{
	const char *accept = server->http.lookup_connection_value(connection, MHD_HEADER_KIND,
								  MHD_HTTP_HEADER_ACCEPT);

	if (accept && strstr(accept, "text/plain") && !strstr(accept, "openmetrics"))
		return PAGE_PROMETHEUS;
	return PAGE_OPEN_METRICS;
}

/* A web page can name any host, but no browser opens a file. */
static bool is_for_us(struct server *server, struct MHD_Connection *connection)
{
	if (server->local.len)
		return true;
	return host_is_ours(server->http.lookup_connection_value(connection, MHD_HEADER_KIND,
								 MHD_HTTP_HEADER_HOST));
}

static enum MHD_Result send_path(struct server *server, struct MHD_Connection *connection,
				 const char *path)
{
	if (!strcmp(path, "/metrics"))
		return send_page(server, connection, metrics_kind(server, connection));
	if (!strcmp(path, "/report"))
		return send_page(server, connection, PAGE_REPORT);
	if (!strcmp(path, "/pprof"))
		return send_page(server, connection, PAGE_PPROF);
	if (!strcmp(path, "/healthz"))
		return send_fixed(server, connection, FIXED_HEALTH);
	if (!strcmp(path, "/"))
		return send_fixed(server, connection, FIXED_INDEX);
	return send_fixed(server, connection, FIXED_UNKNOWN);
}

/* Is called for the head of a request, for each part of its body, and at its end. */
static enum MHD_Result answer(void *arg, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *body,
			      size_t *body_size, void **state)
{
	static char head_seen;
	struct server *server = arg;

	if (*body_size)
		return MHD_NO;
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return send_fixed(server, connection, FIXED_METHOD);
	if (!*state) {
		*state = &head_seen;
		return MHD_YES;
	}
	return is_for_us(server, connection) ? send_path(server, connection, url)
					     : send_fixed(server, connection, FIXED_HOST);
}

/* No page has an escape in its name. */
static size_t keep_escapes(void *arg, struct MHD_Connection *connection, char *text)
{
	return strlen(text);
}

static void free_content(void *arg)
{
	struct content *content = arg;

	content->server->alive_bytes -= content->page.len;
	free(content->page.bytes);
	free(content);
}

/* Takes the bytes of page. NULL: no memory. */
static struct MHD_Response *make_response(struct server *server, enum page_kind kind,
					  const struct page *page)
{
	struct content *content = malloc(sizeof(*content));
	struct MHD_Response *response = NULL;

	if (content) {
		*content = (struct content){server, *page};
		response = server->http.create_response_from_buffer_with_free_callback_cls(
			page->len, page->bytes, free_content, content);
	}
	if (!response) {
		free(content);
		free(page->bytes);
		return NULL;
	}
	server->alive_bytes += page->len;
	server->current_bytes += page->len;
	add_headers(server, response, page_type(kind));
	if (is_metrics(kind))
		server->http.add_response_header(response, MHD_HTTP_HEADER_VARY,
						 MHD_HTTP_HEADER_ACCEPT);
	return response;
}

static void forget_pages(struct server *server)
{
	for (size_t i = 0; i < PAGE_CNT; i++) {
		if (server->pages[i])
			server->http.destroy_response(server->pages[i]);
		server->pages[i] = NULL;
	}
	server->current_bytes = 0;
}

static void make_pages(struct server *server, const struct metrics *metrics)
{
	forget_pages(server);
	for (size_t i = 0; i < PAGE_CNT; i++) {
		struct page page;

		page_make(i, metrics, &page);
		if (page.bytes)
			server->pages[i] = make_response(server, i, &page);
	}
}

void server__show(struct server *server, const struct report *report,
		  const struct counts_report *counts, size_t top)
{
	struct own_cost own = {.reports = ++server->reports};
	const struct metrics metrics = {
		.report = report, .counts = counts, .top = top, .own = &own};

	own_cost_read(&own);
	make_pages(server, &metrics);
}

static int make_fixed_pages(struct server *server)
{
	for (size_t i = 0; i < FIXED_CNT; i++) {
		server->fixed[i] = server->http.create_response_from_buffer(
			strlen(fixed_pages[i].text), (void *)fixed_pages[i].text,
			MHD_RESPMEM_PERSISTENT);
		if (!server->fixed[i])
			return -ENOMEM;
		add_headers(server, server->fixed[i], "text/plain; charset=utf-8");
	}
	server->http.add_response_header(server->fixed[FIXED_METHOD], MHD_HTTP_HEADER_ALLOW,
					 "GET, HEAD");
	return 0;
}

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

static int start_daemon(struct server *server, int fd)
{
	server->daemon = server->http.start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, answer, server, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS_MAX,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned int)CONNECTIONS_OF_ADDRESS_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MAX_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)SILENCE_MAX_S,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
		MHD_OPTION_END);
	/* If it failed, the end of the process closes the socket, unless this has done so. */
	return server->daemon ? 0 : -ENOMEM;
}

int server__new(const struct listen_address *address, struct server **ret)
{
	struct server *server = calloc(1, sizeof(*server));
	struct own_cost own = {0};
	const struct metrics metrics = {.own = &own};
	char text[LISTEN_ADDRESS_SIZE];
	int fd, err = server ? http_library_load(&server->http) : -ENOMEM;

	if (err == -ELIBACC) {
		log_error(
			"--listen needs libmicrohttpd.so.12: install the package libmicrohttpd12");
		free(server);
		return err;
	}
	err = err ? err : make_fixed_pages(server);
	fd = err ? err : open_socket(server, address);
	err = fd < 0 ? fd : start_daemon(server, fd);
	if (err) {
		listen_address_print(address, text);
		log_error("cannot listen on %s: %s", text, strerror(-err));
		server__free(server);
		return err;
	}
	say_where(server, fd);
	own_cost_read(&own);
	make_pages(server, &metrics);
	*ret = server;
	return 0;
}

void server__free(struct server *server)
{
	if (!server)
		return;
	forget_pages(server);
	if (server->daemon)
		server->http.stop_daemon(server->daemon);
	for (size_t i = 0; i < FIXED_CNT; i++)
		if (server->fixed[i])
			server->http.destroy_response(server->fixed[i]);
	remove_local(server);
	free(server);
}

int server__poll_fd(const struct server *server)
{
	return server->http.get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

static bool is_full(const struct server *server)
{
	return server->http.get_daemon_info(server->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
		       ->num_connections >= CONNECTIONS_MAX;
}

int server__timeout_ms(struct server *server)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (server->was_full && !is_full(server))
		return 0;
	if (server->http.get_timeout(server->daemon, &ms) != MHD_YES)
		return -1;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

/* After it was full, libmicrohttpd needs a turn with room, for which it does not call. */
void server__dispatch(struct server *server)
{
	bool was_full = is_full(server);

	server->http.run(server->daemon);
	server->was_full = was_full || is_full(server);
}
