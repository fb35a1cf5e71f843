// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Defines mi_strdup(), mi_realpath() and mi_heap_realpath(), which return their argument or the
 * given buffer instead of a copy. "odd_strings" passes mostly invalid strings to mi_strdup();
 * "odd_strings paths" calls mi_realpath() and mi_heap_realpath().
 */
#include <sys/mman.h>

#include "truth.h"

#define PAGE 4096

/* Maximum number of bytes of a string that memleak reads in one step */
#define PIECE 65535

/* Returns the given string itself instead of a copy. */
OWN_FRAME char *mi_strdup(void *given);
OWN_FRAME char *mi_strdup(void *given)
{
	return keep(given);
}

OWN_FRAME char *mi_realpath(void *given, char *buffer);
OWN_FRAME char *mi_realpath(void *given, char *buffer)
{
	return keep(buffer ? buffer : given);
}

OWN_FRAME char *mi_heap_realpath(void *heap, void *given, char *buffer);
OWN_FRAME char *mi_heap_realpath(void *heap, void *given, char *buffer)
{
	(void)heap;
	return keep(buffer ? buffer : given);
}

OWN_FRAME static void *given_back(void *what)
{
	return keep(mi_strdup(what)); /* LEAK */
}

/* Returns the address of `bytes` bytes without a NUL. Unreadable memory follows them. */
static char *endless(size_t bytes)
{
	size_t room = (bytes / PAGE + 1) * PAGE;
	char *p = mmap(NULL, room + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(p != MAP_FAILED && !mprotect(p + room, PAGE, PROT_NONE), "endless");
	memset(p, 'x', room);
	return p + room - bytes;
}

OWN_FRAME static void *path_given_back(void *what, char *buffer)
{
	return keep(mi_realpath(what, buffer)); /* LEAK */
}

OWN_FRAME static void *path_given_back_by_heap(void *what, char *buffer)
{
	return keep(mi_heap_realpath(NULL, what, buffer)); /* LEAK */
}

static void paths(void)
{
	static char root[] = "/", home[] = "/home", buffer[] = "/buffer";

	path_given_back(root, NULL);
	path_given_back(root, buffer);
	path_given_back_by_heap(home, NULL);
	path_given_back_by_heap(home, buffer);
	leaks("path_given_back", 1, sizeof(root));
	leaks("path_given_back_by_heap", 1, sizeof(home));
}

static void odd(char *ends_nowhere, char *piece)
{
	static char string[] = "string";

	given_back(string);
	given_back(ends_nowhere);
	given_back(piece);
	given_back((void *)8);
	given_back((void *)0xffff888000000000);
	given_back((void *)0x8000000000000000);
	given_back((void *)-1);
	given_back(NULL);
	leaks("given_back", 7, sizeof(string) + PIECE);
}

int main(int argc, char **argv)
{
	char *ends_nowhere = endless(100), *piece = endless(PIECE + 100);

	ready();
	if (argc > 1 && !strcmp(argv[1], "paths"))
		paths();
	else
		odd(ends_nowhere, piece);
	marker();
	ready();
	return 0;
}
