// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs code that is in no file: writes machine code into memory, names it in /tmp/perf-PID.map as
 * just-in-time compilers do, and allocates from this code.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "truth.h"

/*
 * Machine code of jit_leak(size): makes a frame and calls malloc(), whose address main() stores at
 * FUNCTION_AT.
 */
#ifdef __x86_64__
static const unsigned char code[] = {
	0x55,                         /* push %rbp */
	0x48, 0x89, 0xe5,             /* mov %rsp, %rbp */
	0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, /* movabs $function, %rax */
	0xff, 0xd0,                   /* call *%rax */
	0x5d,                         /* pop %rbp */
	0xc3,                         /* ret */
};
#define FUNCTION_AT 6
#else
static const unsigned char code[] = {
	0xfd, 0x7b, 0xbf, 0xa9,       /* stp x29, x30, [sp, #-16]! */
	0xfd, 0x03, 0x00, 0x91,       /* mov x29, sp */
	0x81, 0x00, 0x00, 0x58,       /* ldr x1, function */
	0x20, 0x00, 0x3f, 0xd6,       /* blr x1 */
	0xfd, 0x7b, 0xc1, 0xa8,       /* ldp x29, x30, [sp], #16 */
	0xc0, 0x03, 0x5f, 0xd6,       /* ret */
	0, 0, 0, 0, 0, 0, 0, 0,       /* function */
};
#define FUNCTION_AT 24
#endif

static void write_map(const void *where)
{
	char path[64], line[128];
	int fd, len;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	len = snprintf(line, sizeof(line), "%lx %zx jit_leak\n", (long)where, sizeof(code));
	must(fd >= 0 && write(fd, line, len) == len, "perf map");
	close(fd);
	say("map %s\n", path);
}

OWN_FRAME static void call_code(void *(*function)(size_t))
{
	for (int i = 0; i < 4; i++)
		must(keep(function(120)) != NULL, "malloc");
}

int main(void)
{
	void *function = malloc, *where;

	where = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(where != MAP_FAILED, "mmap");
	memcpy(where, code, sizeof(code));
	memcpy((char *)where + FUNCTION_AT, &function, sizeof(function));
	must(mprotect(where, 4096, PROT_READ | PROT_EXEC) == 0, "mprotect");
	__builtin___clear_cache(where, (char *)where + sizeof(code));
	write_map(where);
	ready();
	call_code((void *(*)(size_t))where);
	leaks("jit_leak", 4, 480);
	marker();
	ready();
	return 0;
}
