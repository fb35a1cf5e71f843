// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * linked FILE: changes the dynamic loader's list of libraries, so that the list continues in a
 * mapped page of FILE that is not in memory yet.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>

#include "truth.h"

int main(int argc, char **argv)
{
	struct link_map *last = dlopen(NULL, RTLD_NOW);
	void *page;
	int fd;

	must(argc == 2, "usage");
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	must(last && fd >= 0 && page != MAP_FAILED, argv[1]);
	while (last->l_next)
		last = last->l_next;
	last->l_next = page;
	ready();
	ready();
	_exit(0);
}
