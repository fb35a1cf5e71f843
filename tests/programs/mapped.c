// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mapped FILE...: maps the first page of each file as code, whatever the file contains, and then
 * leaks. The program never reads the files; memleak parses them.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "truth.h"

OWN_FRAME static void leak_here(void)
{
	must(keep(malloc(40)) != NULL, "malloc"); /* LEAK */
}

static void map_code(const char *path)
{
	int fd = open(path, O_RDONLY);

	must(fd >= 0 && mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED,
	     path);
	close(fd);
}

int main(int argc, char **argv)
{
	must(argc > 1, "usage");
	for (int i = 1; i < argc; i++)
		map_code(argv[i]);
	ready();
	for (int i = 0; i < 3; i++)
		leak_here();
	leaks("leak_here", 3, 120);
	ready();
	return 0;
}
