// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Handles HTTP requests. Clients are assumed to be hostile: the number of connections and the
 * memory of each are limited, and silent clients are disconnected. A page that was replaced stays
 * in memory while clients are still reading it; the memory for such old pages is limited.
 */
#include "metrics/web_server.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/intern.h"
#include "metrics/host.h"
#include "metrics/http_library.h"
#include "sinks/html.h"

#define CONNECTIONS_MAX 512
/*
 * Maximum number of connections from one client address, so that one machine cannot take all
 * connections.
 */
#define CONNECTIONS_OF_ADDRESS_MAX 128
#define REQUEST_MAX_BYTES 16384
#define SILENCE_MAX_S 10
#define INDEX_REFRESH_S "2"
/* Maximum bytes of old pages that clients are still reading. */
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

static struct http_library library;
static int library_err = -ELIBACC;

struct web_server {
	struct MHD_Daemon *daemon;
	struct MHD_Response *fixed[FIXED_CNT];
	/* responses with the current pages; NULL for a page that does not exist */
	struct MHD_Response *pages[PAGE_CNT];
	size_t bytes[PAGE_CNT];
	/* total bytes of the current pages, and of old pages that clients are still reading */
	size_t alive_bytes;
	bool local; /* true if the socket is a Unix socket with a file */
	bool was_full;
};

/*
 * The contents of a page. They stay in memory while clients are reading them, even after a newer
 * page has replaced them.
 */
struct content {
	struct web_server *server;
	void *bytes;
	size_t len;
};

#define PAGES                                                                                      \
	"/         the last report as a page, as soon as there is one; not with --count\n"         \
	"/metrics  OpenMetrics, for Prometheus and compatible collectors\n"                        \
	"/report   the last report as JSON\n"                                                      \
	"/pprof    the last report as a profile\n"                                                 \
	"/healthz  ok\n"

static const struct {
	unsigned int status;
	const char *text;
} fixed_pages[FIXED_CNT] = {
	[FIXED_INDEX] = {MHD_HTTP_OK, "memleak " MEMLEAK_VERSION "\n\n" PAGES},
	[FIXED_HEALTH] = {MHD_HTTP_OK, "ok\n"},
	[FIXED_UNKNOWN] = {MHD_HTTP_NOT_FOUND, "there is no such page, but\n\n" PAGES},
	[FIXED_METHOD] = {MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are served\n"},
	[FIXED_HOST] = {MHD_HTTP_MISDIRECTED_REQUEST,
			"use an address, localhost or this machine's host name\n"},
	[FIXED_NO_REPORT] = {MHD_HTTP_SERVICE_UNAVAILABLE,
			     "there is no report yet, or none in this form\n"},
	[FIXED_BUSY] = {MHD_HTTP_SERVICE_UNAVAILABLE,
			"too many clients are still reading old reports\n"},
};

static void add_headers(struct MHD_Response *response, const char *type)
{
	library.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	library.add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	library.add_response_header(response, "X-Content-Type-Options", "nosniff");
}

static enum MHD_Result send_fixed(struct web_server *server, struct MHD_Connection *connection,
				  enum fixed_page page)
{
	return library.queue_response(connection, fixed_pages[page].status, server->fixed[page]);
}

/* True for the two kinds of metrics pages, which are small for any report. */
static bool is_metrics(enum page_kind kind)
{
	return kind == PAGE_OPEN_METRICS || kind == PAGE_PROMETHEUS;
}

static size_t old_bytes(const struct web_server *server)
{
	size_t bytes = server->alive_bytes;

	for (size_t i = 0; i < PAGE_CNT; i++)
		bytes -= server->bytes[i];
	return bytes;
}

static enum MHD_Result send_page(struct web_server *server, struct MHD_Connection *connection,
				 enum page_kind kind)
{
	if (!server->pages[kind])
		return send_fixed(server, connection, FIXED_NO_REPORT);
	if (!is_metrics(kind) && old_bytes(server) > OLD_MAX_BYTES)
		return send_fixed(server, connection, FIXED_BUSY);
	return library.queue_response(connection, MHD_HTTP_OK, server->pages[kind]);
}

/*
 * Returns which kind of metrics page a client gets: the older format only if the Accept header has
 * it and lacks the newer format.
 */
static enum page_kind metrics_kind(struct MHD_Connection *connection)
{
	const char *accept = library.lookup_connection_value(connection, MHD_HEADER_KIND,
							     MHD_HTTP_HEADER_ACCEPT);

	if (accept && strstr(accept, "text/plain") && !strstr(accept, "openmetrics"))
		return PAGE_PROMETHEUS;
	return PAGE_OPEN_METRICS;
}

static enum MHD_Result count_hosts(void *arg, enum MHD_ValueKind kind, const char *name,
				   const char *value)
{
	size_t *cnt = arg;

	*cnt += !strcasecmp(name, MHD_HTTP_HEADER_HOST);
	return MHD_YES;
}

/*
 * True if the Host header of the request is accepted. Requests to a Unix socket are always
 * accepted, because browsers cannot connect to it.
 */
static bool is_for_us(struct web_server *server, struct MHD_Connection *connection)
{
	size_t cnt = 0;

	if (server->local)
		return true;
	library.get_connection_values(connection, MHD_HEADER_KIND, count_hosts, &cnt);
	return cnt <= 1 && host_is_ours(library.lookup_connection_value(connection, MHD_HEADER_KIND,
									MHD_HTTP_HEADER_HOST));
}

static enum MHD_Result send_path(struct web_server *server, struct MHD_Connection *connection,
				 const char *path)
{
	if (!strcmp(path, "/metrics"))
		return send_page(server, connection, metrics_kind(connection));
	if (!strcmp(path, "/report"))
		return send_page(server, connection, PAGE_REPORT);
	if (!strcmp(path, "/pprof"))
		return send_page(server, connection, PAGE_PPROF);
	if (!strcmp(path, "/healthz"))
		return send_fixed(server, connection, FIXED_HEALTH);
	if (!strcmp(path, "/") && server->pages[PAGE_HTML])
		return send_page(server, connection, PAGE_HTML);
	if (!strcmp(path, "/"))
		return send_fixed(server, connection, FIXED_INDEX);
	return send_fixed(server, connection, FIXED_UNKNOWN);
}

/*
 * Answers a request. libmicrohttpd calls this function for the request's header, for each part of
 * its body, and at its end. Requests with a body are rejected.
 */
static enum MHD_Result answer(void *arg, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *body,
			      size_t *body_size, void **state)
{
	static char head_seen;
	struct web_server *server = arg;

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

/* Called to decode escapes in a URL. Leaves them as they are: no page's path contains an escape. */
static size_t keep_escapes(void *arg, struct MHD_Connection *connection, char *text)
{
	return strlen(text);
}

static void free_content(void *arg)
{
	struct content *content = arg;

	content->server->alive_bytes -= content->len;
	munmap(content->bytes, content->len);
	free(content);
}

/*
 * Maps a file into memory. Returns NULL if the file is empty, cannot be mapped, or memory runs out.
 */
static struct content *map_content(struct web_server *server, int fd)
{
	struct content *content;
	struct stat st;

	if (fstat(fd, &st) || st.st_size <= 0)
		return NULL;
	content = malloc(sizeof(*content));
	if (!content)
		return NULL;
	*content = (struct content){server, NULL, (size_t)st.st_size};
	content->bytes = mmap(NULL, content->len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (content->bytes != MAP_FAILED)
		return content;
	free(content);
	return NULL;
}

/*
 * Adds the headers of an HTML page. The ETag lets a page that is open in a browser notice a newer
 * report.
 */
static void add_page_headers(struct MHD_Response *response, const struct content *content)
{
	char tag[24];

	snprintf(tag, sizeof(tag), "\"%" PRIx64 "\"", intern_hash(content->bytes, content->len));
	library.add_response_header(response, MHD_HTTP_HEADER_ETAG, tag);
	library.add_response_header(response, "Content-Security-Policy",
				    HTML_POLICY_LIVE
				    "; frame-ancestors 'none'; form-action 'none'");
}

void web_server__show(struct web_server *server, enum page_kind kind, int fd)
{
	struct content *content = fd < 0 ? NULL : map_content(server, fd);
	struct MHD_Response *response;

	if (server->pages[kind])
		library.destroy_response(server->pages[kind]);
	server->pages[kind] = NULL;
	server->bytes[kind] = 0;
	if (!content)
		return;
	server->alive_bytes += content->len;
	response = library.create_response_from_buffer_with_free_callback_cls(
		content->len, content->bytes, free_content, content);
	if (!response) {
		free_content(content);
		return;
	}
	server->pages[kind] = response;
	server->bytes[kind] = content->len;
	add_headers(response, page_type(kind));
	if (is_metrics(kind))
		library.add_response_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT);
	if (kind == PAGE_HTML)
		add_page_headers(response, content);
}

static int make_fixed_pages(struct web_server *server)
{
	for (size_t i = 0; i < FIXED_CNT; i++) {
		server->fixed[i] = library.create_response_from_buffer(strlen(fixed_pages[i].text),
								       (void *)fixed_pages[i].text,
								       MHD_RESPMEM_PERSISTENT);
		if (!server->fixed[i])
			return -ENOMEM;
		add_headers(server->fixed[i], "text/plain; charset=utf-8");
	}
	library.add_response_header(server->fixed[FIXED_METHOD], MHD_HTTP_HEADER_ALLOW,
				    "GET, HEAD");
	/*
	 * A browser that opens "/" before the first report gets the index, which reloads itself
	 * until there is a report.
	 */
	library.add_response_header(server->fixed[FIXED_INDEX], "Refresh", INDEX_REFRESH_S);
	return 0;
}

static int start_daemon(struct web_server *server, int fd)
{
	server->daemon = library.start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, answer, server, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS_MAX,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned int)CONNECTIONS_OF_ADDRESS_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MAX_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)SILENCE_MAX_S,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
		MHD_OPTION_END);
	/*
	 * Do not close the socket after a failure: libmicrohttpd may have closed it; otherwise the
	 * caller still owns it.
	 */
	return server->daemon ? 0 : -ENOMEM;
}

void web_server_prepare(void)
{
	library_err = http_library_load(&library);
}

int web_server__new(int fd, bool local, struct web_server **ret)
{
	struct web_server *server = library_err ? NULL : calloc(1, sizeof(*server));
	int err;

	if (!server)
		return library_err ? library_err : -ENOMEM;
	server->local = local;
	err = make_fixed_pages(server);
	if (!err)
		err = start_daemon(server, fd);
	if (err) {
		web_server__free(server);
		return err;
	}
	*ret = server;
	return 0;
}

void web_server__free(struct web_server *server)
{
	if (!server)
		return;
	for (size_t i = 0; i < PAGE_CNT; i++)
		web_server__show(server, i, -1);
	if (server->daemon)
		library.stop_daemon(server->daemon);
	for (size_t i = 0; i < FIXED_CNT; i++)
		if (server->fixed[i])
			library.destroy_response(server->fixed[i]);
	free(server);
}

int web_server__poll_fd(const struct web_server *server)
{
	return library.get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

static bool is_full(const struct web_server *server)
{
	return library.get_daemon_info(server->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
		       ->num_connections >= CONNECTIONS_MAX;
}

int web_server__timeout_ms(struct web_server *server)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (server->was_full && !is_full(server))
		return 0;
	if (library.get_timeout(server->daemon, &ms) != MHD_YES)
		return -1;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

/*
 * Lets libmicrohttpd do its work. If all connections were in use before and one is free now,
 * libmicrohttpd must run once more, but does not request this. `was_full` makes
 * web_server__timeout_ms() return 0 in this case.
 */
void web_server__dispatch(struct web_server *server)
{
	bool was_full = is_full(server);

	library.run(server->daemon);
	server->was_full = was_full || is_full(server);
}
