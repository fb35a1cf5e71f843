// SPDX-License-Identifier: GPL-2.0-or-later
/* pairs COUNT: two functions allocate by turns, so every second call is the same one's. */
#include "truth.h"

OWN_FRAME static void odd_alloc(void)
{
	keep(malloc(16)); /* LEAK */
}

OWN_FRAME static void even_alloc(void)
{
	keep(malloc(16)); /* LEAK */
}

int main(int argc, char **argv)
{
	size_t count;

	must(argc == 2, "usage");
	count = strtoul(argv[1], NULL, 10);
	ready();
	for (size_t i = 0; i < count; i++) {
		odd_alloc();
		even_alloc();
	}
	leaks("odd_alloc", count, count * 16);
	leaks("even_alloc", count, count * 16);
	ready();
	return 0;
}
