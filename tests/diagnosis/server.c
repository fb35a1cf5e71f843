// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Common part of the servers: the request loop, and allocations that do not leak.
 */
#include "server.h"

#include <poll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_S 600
#define SESSIONS 64
#define LOG_LINES 64
#define SETTINGS 200

__attribute__((weak)) unsigned int requests_per_s = 40;
__attribute__((weak)) bool begins_watched;

static struct timespec begin;
static char *settings[SETTINGS], *sessions[SESSIONS], *log_lines[LOG_LINES];

__attribute__((weak)) void start_up(void)
{
}

void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "cannot: %s\n", what);
	_exit(99);
}

unsigned int random_below(unsigned int end)
{
	static unsigned long long state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)(state >> 33) % end;
}

double uptime_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) / 1e9;
}

static void load_settings(void)
{
	for (size_t i = 0; i < SETTINGS; i++)
		if (asprintf(&settings[i], "worker.%zu.limit = %zu", i % 8, i * 100) < 0)
			settings[i] = NULL;
}

static char *parse_headers(unsigned int number)
{
	char *headers = malloc(300 + random_below(200));

	must(headers, "malloc");
	sprintf(headers, "GET /page/%u HTTP/1.1\r\nHost: server%u\r\n\r\n", number, number % 7);
	return headers;
}

static void touch_session(unsigned int number)
{
	unsigned int user = random_below(SESSIONS);

	free(sessions[user]);
	sessions[user] = malloc(400);
	must(sessions[user], "malloc");
	sprintf(sessions[user], "user %u, request %u", user, number);
}

static void write_log(unsigned int number, const char *headers)
{
	char **line = &log_lines[number % LOG_LINES];

	free(*line);
	if (asprintf(line, "%u: %.20s", number, headers) < 0)
		*line = NULL;
}

static void render_page(const char *headers)
{
	size_t size = 1024, used = 0, wanted = 1024 + random_below(8192);
	char *page = malloc(size);

	while (page && used < wanted) {
		if (size - used < 100)
			page = realloc(page, size *= 2);
		used += (size_t)snprintf(page + used, 100, "<p>%.60s</p>", headers);
	}
	free(page);
}

/*
 * True once the runner has written a byte to stdin or closed stdin. The runner writes the byte when
 * memleak begins to trace this program.
 */
static bool is_watched(void)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	static bool ret;

	return ret = ret || poll(&in, 1, 0) > 0;
}

static void serve(unsigned int number)
{
	static unsigned int not_served;
	char *headers = parse_headers(number);

	touch_session(number);
	write_log(number, headers);
	render_page(headers);
	if (begins_watched && !is_watched())
		not_served++;
	else
		handle_request(number - not_served);
	free(headers);
}

/* Raises the limit of open files, as real servers do. */
static void raise_limit(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/*
 * Handles requests at a steady rate until the process is killed, or for LONGEST_S seconds. If a
 * busy machine has delayed them by more than 1 s, skips the missed ones: catching up would cause
 * bursts of load.
 */
int main(void)
{
	struct timespec at;

	alarm(LONGEST_S);
	raise_limit();
	load_settings();
	clock_gettime(CLOCK_MONOTONIC, &begin);
	start_up();
	puts("ready");
	fflush(stdout);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	at = begin;
	for (unsigned int number = 0;; number++) {
		double late;

		serve(number);
		at.tv_nsec += (long)(1000000000 / requests_per_s);
		at.tv_sec += at.tv_nsec / 1000000000;
		at.tv_nsec %= 1000000000;
		late = uptime_s() - (double)(at.tv_sec - begin.tv_sec) -
		       (double)(at.tv_nsec - begin.tv_nsec) / 1e9;
		if (late > 1)
			clock_gettime(CLOCK_MONOTONIC, &at);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
}
