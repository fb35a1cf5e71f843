// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mapper FILE COUNT [COPIES]: maps a page of a file COUNT times, every second time as code. The
 * kernel cannot merge these mappings. Then leaks, and maps and unmaps code until it reads a byte.
 * Then forks COPIES children, which sleep, and waits for another byte.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "truth.h"

OWN_FRAME static void leak_block(void)
{
	must(keep(malloc(48)) != NULL, "malloc"); /* LEAK */
}

static void *map_page(int fd, bool code)
{
	void *page = mmap(NULL, 4096, PROT_READ | (code ? PROT_EXEC : 0), MAP_PRIVATE, fd, 0);

	must(page != MAP_FAILED, "mmap");
	return page;
}

static bool is_told(void)
{
	struct pollfd in = {.fd = 0, .events = POLLIN};

	return poll(&in, 1, 0) != 0;
}

static void copy(void)
{
	pid_t pid = fork();

	must(pid >= 0, "fork");
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	int fd;

	must(argc == 3 || argc == 4, "usage");
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	must(fd >= 0, argv[1]);
	ready();
	for (int i = 0; i < atoi(argv[2]); i++)
		map_page(fd, i % 2);
	for (int i = 0; i < 5; i++)
		leak_block();
	leaks("leak_block", 5, 240);
	marker();
	say("ready\n");
	while (!is_told())
		munmap(map_page(fd, true), 4096);
	wait_byte();
	for (int i = 0; argc > 3 && i < atoi(argv[3]); i++)
		copy();
	ready();
	return 0;
}
