// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Maps a file and changes it in memory, waits for a byte, changes it again, and maps other memory
 * in its place. The kernel then writes the file while it holds the lock of the process's memory
 * map. After another byte, allocates blocks. The program uses no libraries, because a probe on any
 * file that it maps would be a danger: adding or removing that probe would wait for the lock, and
 * no process could fork meanwhile.
 */
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define BYTES 4096
#define LEAKS 5

static long call(long number, long a, const void *b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = 0;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static volatile char *map(const volatile void *at, int flags, long fd)
{
	return (char *)call(SYS_mmap, (long)at, (void *)BYTES, PROT_READ | PROT_WRITE, flags, fd);
}

static void wait_for_byte(void)
{
	char byte;

	call(SYS_write, 1, "ready\n", 6, 0, 0);
	call(SYS_read, 0, &byte, 1, 0, 0);
}

void *malloc(size_t size);

__attribute__((noinline)) void *malloc(size_t size)
{
	static char memory[BYTES];
	static size_t used;

	used += size;
	return &memory[used - size];
}

void run(char *const *args);

/*
 * Main function. args: argc, the program's name and the file's name, as the kernel puts them on the
 * stack.
 */
void run(char *const *args)
{
	long fd = call(SYS_open, (long)args[2], (void *)O_RDWR, 0, 0, 0);
	volatile char *at = map(NULL, MAP_SHARED, fd);

	if (fd < 0)
		call(SYS_exit_group, 99, NULL, 0, 0, 0);
	at[0] = 1;
	wait_for_byte();
	at[0] = 2;
	map(at, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1);
	wait_for_byte();
	for (int i = 0; i < LEAKS; i++)
		*(volatile char *)malloc(16) = 1;
	for (;;)
		wait_for_byte();
}

__asm__(".globl _start\n"
	"_start: mov %rsp, %rdi\n"
	"and $-16, %rsp\n"
	"call run\n");
