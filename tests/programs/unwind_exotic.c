// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions whose unwind information is rare, wrong or missing, built without frame pointers. The
 * argument selects a function. Prints a line "chain FUNCTION..." with the program's functions from
 * leak_here() to the last one that a stack walk can find, and a line "end complete" or "end cut".
 */
#include "truth.h"

#include <alloca.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>

#define SIZE 40

/* Called last in a function, so that the call before it cannot become a tail call. */
static inline void back(void)
{
	__asm__ volatile("" : : : "memory");
}

OWN_FRAME static void leak_here(void)
{
	keep(malloc(SIZE)); /* LEAK */
	back();
}

OWN_FRAME __attribute__((used)) void inner(void)
{
	leak_here();
	back();
}

/*
 * Aligns its stack pointer down, by an amount known only at run time. The caller's frame is found
 * by a pointer that the function stores in its own frame.
 */
OWN_FRAME static void realigned(size_t size)
{
	char array[64] __attribute__((aligned(128)));
	char *more = alloca(size);

	memset(more, 1, size);
	__asm__ volatile("" : : "r"(array), "r"(more) : "memory");
	inner();
	__asm__ volatile("" : : "r"(array), "r"(more) : "memory");
}

OWN_FRAME static void aligned(void)
{
	volatile size_t size = 333;

	realigned(size);
	say("chain leak_here inner realigned aligned main\nend complete\n");
}

/*
 * Defines a function that calls inner(). `before` and `after` are its code before and after the
 * call, with CFI directives.
 */
#if defined(__x86_64__)
#define BY_HAND(name, before, after)                                                               \
	__asm__(".text\n"                                                                          \
		".type " #name ", @function\n"                                                     \
		#name ":\n" before "	call inner\n" after ".size " #name ", . - " #name "\n");          \
	extern void name(void)

#define KEEPS_RBX                                                                                  \
	".cfi_startproc\n"                                                                         \
	"	push %rbx\n"                                                                           \
	".cfi_def_cfa_offset 16\n"                                                                 \
	".cfi_offset rbx, -16\n"
#define GIVES_RBX                                                                                  \
	"	pop %rbx\n"                                                                            \
	"	ret\n"                                                                                 \
	".cfi_endproc\n"

/* CFA = rsp + 7 + 9, by a DWARF expression. */
BY_HAND(by_expression, KEEPS_RBX ".cfi_escape 0x0f, 5, 0x77, 7, 0x39, 0x22, 0x96\n", GIVES_RBX);
/* CFA = rbx, which holds the caller's stack pointer. */
BY_HAND(by_register, KEEPS_RBX "	lea 16(%rsp), %rbx\n.cfi_def_cfa rbx, 0\n", GIVES_RBX);
/* DW_CFA_restore_state, although no state was saved. */
BY_HAND(by_nothing, KEEPS_RBX ".cfi_escape 0x0b\n", GIVES_RBX);
/* The function is marked as a signal frame, although it is not one. */
BY_HAND(by_signal, KEEPS_RBX ".cfi_signal_frame\n", GIVES_RBX);
/* The caller's frame pointer is marked as undefined. */
BY_HAND(by_lost, KEEPS_RBX ".cfi_undefined rbp\n", GIVES_RBX);
/* The function has no unwind information, but uses a frame pointer. */
BY_HAND(by_pointer, "	push %rbp\n	mov %rsp, %rbp\n", "	pop %rbp\n	ret\n");
/*
 * The function has no unwind information, and uses the frame pointer's register for another value.
 */
BY_HAND(by_luck, "	push %rbp\n	mov $0x1234567, %ebp\n", "	pop %rbp\n	ret\n");
/*
 * The function has no unwind information. memleak learns the size of its frame from the code after
 * the call, as with the trampolines of python -X perf.
 */
BY_HAND(by_return, "	sub $24, %rsp\n", "	add $24, %rsp\n	ret\n");
__asm__(".text\n"
	".type with_no_pointer, @function\n"
	"with_no_pointer:\n"
	".cfi_startproc\n"
	"	push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset rbp, -16\n"
	"	mov $0x1234567, %ebp\n"
	"	call by_return\n"
	"	pop %rbp\n"
	"	ret\n"
	".cfi_endproc\n"
	".size with_no_pointer, . - with_no_pointer\n");
extern void with_no_pointer(void);

#define WAY(name, chain, stack_end)                                                                \
	OWN_FRAME static void call_##name(void)                                                    \
	{                                                                                          \
		name();                                                                            \
		back();                                                                            \
		say("chain leak_here inner " #name chain "\nend " stack_end "\n");                 \
	}

WAY(by_expression, "", "cut")
WAY(by_register, "", "cut")
WAY(by_nothing, "", "cut")
WAY(by_signal, "", "cut")
WAY(by_lost, "", "cut")
WAY(by_pointer, " call_by_pointer main", "complete")
WAY(by_luck, "", "cut")

OWN_FRAME static void call_by_return(void)
{
	with_no_pointer();
	back();
	say("chain leak_here inner by_return with_no_pointer call_by_return main\nend complete\n");
}
#endif

OWN_FRAME static void plain(void)
{
	inner();
	back();
	say("chain leak_here inner plain main\nend complete\n");
}

OWN_FRAME static void called_back(void *arg)
{
	(void)arg;
	inner();
	back();
}

typedef void library_function(void (*function)(void *arg), void *arg);

OWN_FRAME static void through(library_function *library_outer)
{
	library_outer(called_back, NULL);
	back();
}

/*
 * Calls through a library loaded after memleak was attached: once at first, and again when memleak
 * has the library's unwind tables.
 */
static void late(void)
{
	void *library = dlopen("libunwind_library.so", RTLD_NOW);
	library_function *library_outer;

	must(library != NULL, "dlopen");
	library_outer = (library_function *)dlsym(library, "library_outer");
	must(library_outer != NULL, "dlsym");
	for (volatile int times = 0; times < 2; times++) {
		if (times)
			ready();
		through(library_outer);
	}
	say("chain leak_here inner called_back library_inner library_outer through late main\n"
	    "end complete\n");
}

/*
 * Makes every other page of a region executable, so that no two executable mappings are adjacent.
 */
static void map_pieces(size_t cnt)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	char *region = mmap(NULL, 2 * cnt * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(region != MAP_FAILED, "mmap");
	for (size_t i = 0; i < cnt; i++)
		must(mprotect(region + 2 * i * page, page, PROT_READ | PROT_EXEC) == 0, "mprotect");
}

static void map_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	must(fd >= 0, path);
	must(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED, "mmap");
	close(fd);
}

static const struct {
	const char *name;
	void (*function)(void);
} ways[] = {
	{"aligned", aligned},
	{"late", late},
	{"plain", plain},
#if defined(__x86_64__)
	{"expression", call_by_expression},
	{"register", call_by_register},
	{"nothing", call_by_nothing},
	{"signal", call_by_signal},
	{"lost", call_by_lost},
	{"pointer", call_by_pointer},
	{"luck", call_by_luck},
	{"return", call_by_return},
#endif
};

/*
 * unwind_exotic WAY [pieces N | file PATH]: calls the function that WAY names. "pieces" and "file"
 * map code before memleak is attached.
 */
int main(int argc, char **argv)
{
	must(argc == 2 || argc == 4, "which way?");
	if (argc == 4 && !strcmp(argv[2], "pieces"))
		map_pieces(strtoul(argv[3], NULL, 10));
	else if (argc == 4)
		map_file(argv[3]);
	ready();
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].function();
	back();
	leaks("leak_here", 1, SIZE);
	ready();
	return 0;
}
