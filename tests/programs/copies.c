// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Leaks through many copies of one function, until a byte arrives on stdin or stdin ends.
 *
 *	copies LIBRARY...  copies of libplugin.so leak in turn
 *	copies             WORKERS children leak, each under a name of its own
 */
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>

#include "truth.h"

#define WORKERS 12
#define COPIES_MAX 64
#define TICK_MS 50

OWN_FRAME static void remember(void)
{
	keep(malloc(200)); /* LEAK */
}

static void run_worker(int number)
{
	char name[16];

	snprintf(name, sizeof(name), "worker-%d", number);
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (poll(NULL, 0, TICK_MS) == 0)
		remember();
}

static void (*work_of(const char *path))(void)
{
	void *library = dlopen(path, RTLD_NOW);

	must(library != NULL, "dlopen");
	return (void (*)(void))dlsym(library, "plugin_work");
}

int main(int argc, char **argv)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	void (*work[COPIES_MAX])(void);
	int cnt = argc - 1;

	must(cnt <= COPIES_MAX, "usage");
	for (int i = 0; i < cnt; i++)
		work[i] = work_of(argv[i + 1]);
	for (int i = 0; !cnt && i < WORKERS; i++)
		if (!fork())
			run_worker(i);
	ready();
	while (poll(&input, 1, TICK_MS) == 0)
		for (int i = 0; i < cnt; i++)
			work[i]();
	return 0;
}
