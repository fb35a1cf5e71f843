// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * runtime_init plain|leak|thread|streams N: makes the C library initialise a locale, the time zone,
 * and the buffer of stdout. "leak" also leaks a small block; "thread" starts a thread; "streams"
 * leaves N streams open, each with a buffer.
 */
#include <locale.h>
#include <pthread.h>
#include <time.h>

#include "truth.h"

OWN_FRAME static void leak_own(void)
{
	must(keep(malloc(5)) != NULL, "malloc"); /* LEAK */
}

OWN_FRAME static void leak_stream(void)
{
	FILE *stream = fopen("/dev/zero", "r");

	must(stream && fgetc(stream) == 0, "stream");
	keep(stream);
}

static void *work(void *arg)
{
	must(pthread_barrier_wait(arg) <= 0, "barrier");
	pause();
	return NULL;
}

static void start_thread(void)
{
	pthread_barrier_t barrier;
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	must(pthread_create(&thread, NULL, work, &barrier) == 0, "thread");
	must(pthread_barrier_wait(&barrier) <= 0, "barrier");
}

int main(int argc, char **argv)
{
	must(argc >= 2, "usage");
	setlocale(LC_ALL, "");
	tzset();
	printf("fact\n");
	if (!strcmp(argv[1], "leak"))
		leak_own();
	if (!strcmp(argv[1], "thread"))
		start_thread();
	for (int i = 0; argc > 2 && i < atoi(argv[2]); i++)
		leak_stream();
	fflush(stdout);
	return 0;
}
