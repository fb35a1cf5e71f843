// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Leaks in a thread that goes on after the main thread has ended. The main thread ends before
 * memleak is attached.
 */
#include <fcntl.h>
#include <pthread.h>

#include "truth.h"

OWN_FRAME static void thread_alloc(void)
{
	must(keep(malloc(70)) != NULL, "malloc"); /* LEAK */
}

static int main_has_ended(void)
{
	char path[64], text[256] = "";
	const char *state;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
	fd = open(path, O_RDONLY);
	must(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0, path);
	close(fd);
	state = strrchr(text, ')');
	return state && state[2] == 'Z';
}

static void *go_on(void *arg)
{
	while (!main_has_ended())
		usleep(1000);
	ready();
	for (int i = 0; i < 10; i++)
		thread_alloc();
	leaks("thread_alloc", 10, 700);
	ready();
	_exit(0);
	return arg;
}

int main(void)
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, go_on, NULL), "pthread_create");
	pthread_exit(NULL);
}
