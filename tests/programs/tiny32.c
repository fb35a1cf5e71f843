// SPDX-License-Identifier: GPL-2.0-or-later
/* A 32-bit program without libraries: prints ready, waits for a byte, ends. */
static int call(int number, int a, const void *b, int c)
{
	int ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return ret;
}

void _start(void);

void _start(void)
{
	static const char line[] = "ready\n";
	static char byte;

	call(4, 1, line, sizeof(line) - 1);
	call(3, 0, &byte, 1);
	call(1, 0, 0, 0);
	for (;;)
		;
}
