// SPDX-License-Identifier: GPL-2.0-or-later
/* Moves its code to anonymous memory, as programs do to get huge pages for it, and then leaks. */
#include <sys/mman.h>

#include "truth.h"

OWN_FRAME static void *moved_leak(void)
{
	return keep(malloc(48)); /* LEAK */
}

/* Finds the start and end of the code mapping that contains addr. */
static void find_text(unsigned long addr, unsigned long *from, unsigned long *to)
{
	static char text[1 << 16];
	FILE *maps = fopen("/proc/self/maps", "r");
	char *line;

	must(maps && fread(text, 1, sizeof(text) - 1, maps) > 0, "maps");
	fclose(maps);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (sscanf(line, "%lx-%lx", from, to) == 2 && addr >= *from && addr < *to)
			return;
	must(0, "text");
}

static void move_text(void)
{
	unsigned long from, to;
	size_t len;
	void *copy;

	find_text((unsigned long)move_text, &from, &to);
	len = to - from;
	copy = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(copy != MAP_FAILED, "mmap");
	memcpy(copy, (void *)from, len);
	must(mprotect(copy, len, PROT_READ | PROT_EXEC) == 0, "mprotect");
	must(mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, from) != MAP_FAILED, "mremap");
}

int main(void)
{
	move_text();
	ready();
	for (int i = 0; i < 5; i++)
		moved_leak();
	leaks("moved_leak", 5, 240);
	marker();
	ready();
	return 0;
}
