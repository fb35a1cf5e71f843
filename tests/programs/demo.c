// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The program that `make demo` traces: a small server that answers made-up requests. One function
 * forgets to free its blocks; the other functions do not leak. Ends after a minute.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define OWN_FRAME __attribute__((noinline))
#define LIFETIME_S 60
#define REQUESTS_PER_S 200

struct session {
	char user[32];
	struct session *next;
};

static struct session *sessions;

/* The leak: sessions are never removed from the list. */
OWN_FRAME static void remember_session(int number)
{
	struct session *session = malloc(sizeof(*session));

	if (!session)
		return;
	snprintf(session->user, sizeof(session->user), "user %d", number);
	session->next = sessions;
	sessions = session;
}

OWN_FRAME static char *parse_request(int number)
{
	char *request = malloc(256);

	if (request)
		snprintf(request, 256, "GET /page/%d", number);
	return request;
}

OWN_FRAME static size_t render_page(const char *request)
{
	char *page = calloc(1, 4096);
	size_t size = 0;

	if (page) {
		for (int i = 0; i < 20; i++)
			strncat(page, request, 4095 - strlen(page));
		size = strlen(page);
	}
	free(page);
	return size;
}

OWN_FRAME static size_t handle_request(int number)
{
	char *request = parse_request(number);
	size_t size = 0;

	if (request) {
		size = render_page(request);
		if (number % 4 == 0)
			remember_session(number);
	}
	free(request);
	return size;
}

int main(void)
{
	struct timespec pause = {.tv_nsec = 1000000000 / REQUESTS_PER_S};
	time_t end = time(NULL) + LIFETIME_S;
	size_t sent = 0;

	for (int number = 0; time(NULL) < end; number++) {
		sent += handle_request(number);
		nanosleep(&pause, NULL);
	}
	return sent == 0;
}
