// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mapped FILE: has the first page of a file mapped as code, whatever is in it, and leaks. What
 * FILE says of itself is nobody's business but memleak's.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "truth.h"

OWN_FRAME static void leak_here(void)
{
	must(keep(malloc(40)) != NULL, "malloc"); /* LEAK */
}

int main(int argc, char **argv)
{
	int fd;

	must(argc == 2, "usage");
	fd = open(argv[1], O_RDONLY);
	must(fd >= 0 && mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED,
	     argv[1]);
	ready();
	for (int i = 0; i < 3; i++)
		leak_here();
	leaks("leak_here", 3, 120);
	ready();
	return 0;
}
