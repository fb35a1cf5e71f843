// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Leaks through many copies of one function, until a byte arrives on stdin or stdin ends.
 *
 *	copies LIBRARY...          copies of libplugin.so leak, all at the same time
 *	copies in-turn LIBRARY...  each copy leaks for TURN_TICKS, then the next one is loaded
 *	copies                     WORKERS children leak, each under a name of its own
 */
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>

#include "truth.h"

#define WORKERS 12
#define COPIES_MAX 64
#define TICK_MS 50
#define TURN_TICKS 60

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

static bool may_tick(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&input, 1, TICK_MS) == 0;
}

static void run_in_turn(char **paths)
{
	void (*work)(void) = NULL;

	ready();
	for (int tick = 0; may_tick(); tick++) {
		if (tick % TURN_TICKS == 0 && *paths)
			work = work_of(*paths++);
		work();
	}
}

int main(int argc, char **argv)
{
	void (*work[COPIES_MAX])(void);
	int cnt = argc - 1;

	if (cnt > 1 && !strcmp(argv[1], "in-turn")) {
		run_in_turn(argv + 2);
		return 0;
	}
	must(cnt <= COPIES_MAX, "usage");
	for (int i = 0; i < cnt; i++)
		work[i] = work_of(argv[i + 1]);
	for (int i = 0; !cnt && i < WORKERS; i++)
		if (!fork())
			run_worker(i);
	ready();
	while (may_tick())
		for (int i = 0; i < cnt; i++)
			work[i]();
	return 0;
}
