// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unwind WAY: leaks a block from a stack without frame pointers. WAY selects the calls that lead to
 * leak_here(). Prints a line "chain FUNCTION..." with the program's functions from leak_here() to
 * main().
 */
#include "truth.h"

#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include "unwind.h"

#define SIZE 40
#define DEPTH 200

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

OWN_FRAME static void inner(void)
{
	leak_here();
	back();
}

OWN_FRAME static void middle(void)
{
	volatile char room[300];

	room[0] = 1;
	inner();
	room[299] = room[0];
}

OWN_FRAME static void plain(void)
{
	middle();
	back();
	say("chain leak_here inner middle plain main\n");
}

OWN_FRAME static int compare(const void *a, const void *b)
{
	static int calls;

	if (!calls++)
		inner();
	return *(const int *)a - *(const int *)b;
}

OWN_FRAME static void callback(void)
{
	int numbers[] = {3, 1};

	qsort(numbers, ARRAY_SIZE(numbers), sizeof(numbers[0]), compare);
	back();
	say("chain leak_here inner compare callback main\n");
}

/*
 * Moves the stack pointer by an amount that is known only at run time, so unwind tables do not
 * contain it.
 */
OWN_FRAME static void variable(size_t size)
{
	char array[size];
	char *more = alloca(size * 2);

	memset(array, 1, size);
	memset(more, 2, size);
	__asm__ volatile("" : : "r"(array), "r"(more) : "memory");
	inner();
	__asm__ volatile("" : : "r"(array), "r"(more) : "memory");
}

OWN_FRAME static void sized(void)
{
	volatile size_t size = 1237;

	variable(size);
	say("chain leak_here inner variable sized main\n");
}

/* Has a frame that is larger than the part of the stack that memleak copies at a time. */
OWN_FRAME static void large_frame(void)
{
	volatile char room[20000];

	room[0] = room[19999] = 1;
	middle();
	room[0] = 2;
}

OWN_FRAME static void large(void)
{
	large_frame();
	back();
	say("chain leak_here inner middle large_frame large main\n");
}

OWN_FRAME static void handler(int number)
{
	(void)number;
	inner();
	back();
}

OWN_FRAME static void raised(void)
{
	raise(SIGUSR1);
	back();
}

static void on_signal(int number, int flags, void (*function)(int))
{
	struct sigaction action = {.sa_handler = function, .sa_flags = flags};

	must(sigaction(number, &action, NULL) == 0, "sigaction");
}

OWN_FRAME static void signalled(void)
{
	raised();
	back();
	say("chain leak_here inner handler raised signalled main\n");
}

OWN_FRAME static void other_stack(void)
{
	static char room[65536];
	const stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};

	must(sigaltstack(&stack, NULL) == 0, "sigaltstack");
	on_signal(SIGUSR1, SA_ONSTACK, handler);
	raised();
	back();
	say("chain leak_here inner handler raised other_stack main\n");
}

/*
 * first_byte() faults at its first instruction. The byte before it belongs to another function,
 * before_it().
 */
#if defined(__x86_64__)
#define FRAME_OF_TWO                                                                               \
	"	push %rbx\n"                                                                       \
	"	.cfi_adjust_cfa_offset 8\n"                                                        \
	"	push %rbx\n"                                                                       \
	"	.cfi_adjust_cfa_offset 8\n"
#define FAULT "	ud2\n"
#define FAULT_BYTES 2
#define PC_OF(context) ((context)->uc_mcontext.gregs[REG_RIP])
#elif defined(__aarch64__)
#define FRAME_OF_TWO                                                                               \
	"	stp x29, x30, [sp, #-16]!\n"                                                       \
	"	.cfi_def_cfa_offset 16\n"                                                          \
	"	.cfi_offset 29, -16\n"                                                             \
	"	.cfi_offset 30, -8\n"
#define FAULT "	udf #0\n"
#define FAULT_BYTES 4
#define PC_OF(context) ((context)->uc_mcontext.pc)
#else
#error "memleak knows x86-64 and aarch64"
#endif
__asm__(".text\n"
	".type before_it, %function\n"
	"before_it:\n"
	".cfi_startproc\n" FRAME_OF_TWO FAULT ".cfi_endproc\n"
	".size before_it, . - before_it\n"
	".type first_byte, %function\n"
	"first_byte:\n"
	".cfi_startproc\n" FAULT "	ret\n"
	".cfi_endproc\n"
	".size first_byte, . - first_byte\n");
extern void first_byte(void);

OWN_FRAME static void fault_handler(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	inner();
	PC_OF((ucontext_t *)context) += FAULT_BYTES;
}

OWN_FRAME static void faulting(void)
{
	struct sigaction action = {.sa_sigaction = fault_handler, .sa_flags = SA_SIGINFO};

	must(sigaction(SIGILL, &action, NULL) == 0, "sigaction");
	first_byte();
	back();
	say("chain leak_here inner fault_handler first_byte faulting main\n");
}

OWN_FRAME static void recurse(int depth)
{
	if (depth > 1)
		recurse(depth - 1);
	else
		leak_here();
	back();
}

OWN_FRAME static void recursion(void)
{
	recurse(DEPTH);
	say("chain leak_here");
	for (int i = 0; i < DEPTH; i++)
		say(" recurse");
	say(" recursion main\n");
}

OWN_FRAME static void jumped_to(void)
{
	inner();
	back();
}

/*
 * Makes a tail call: the frame of jumps() is gone when jumped_to() runs, so the printed chain lacks
 * jumps().
 */
OWN_FRAME static void jumps(void)
{
	jumped_to();
}

OWN_FRAME static void tail(void)
{
	jumps();
	back();
	say("chain leak_here inner jumped_to tail main\n");
}

static ucontext_t here, there;

OWN_FRAME static void on_context(void)
{
	inner();
	back();
}

OWN_FRAME static void context(void)
{
	static char room[65536];

	must(getcontext(&there) == 0, "getcontext");
	there.uc_stack.ss_sp = room;
	there.uc_stack.ss_size = sizeof(room);
	there.uc_link = &here;
	makecontext(&there, on_context, 0);
	must(swapcontext(&here, &there) == 0, "swapcontext");
	say("chain leak_here inner on_context\n");
}

OWN_FRAME static void *thread_main(void *arg)
{
	(void)arg;
	inner();
	back();
	return NULL;
}

OWN_FRAME static void thread(void)
{
	pthread_t id;

	must(pthread_create(&id, NULL, thread_main, NULL) == 0, "pthread_create");
	pthread_join(id, NULL);
	say("chain leak_here inner thread_main\n");
}

OWN_FRAME static void called_back(void *arg)
{
	(void)arg;
	inner();
	back();
}

OWN_FRAME static void library(void)
{
	library_outer(called_back, NULL);
	back();
	say("chain leak_here inner called_back library_inner library_outer library main\n");
}

static const struct {
	const char *name;
	void (*function)(void);
} ways[] = {
	{"plain", plain},	    {"callback", callback}, {"sized", sized},
	{"large", large},	    {"signal", signalled},  {"other_stack", other_stack},
	{"fault", faulting},	    {"recursion", recursion}, {"tail", tail},
	{"context", context},	    {"thread", thread},	    {"library", library},
};

int main(int argc, char **argv)
{
	must(argc == 2, "which way?");
	on_signal(SIGUSR1, 0, handler);
	ready();
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].function();
	back();
	leaks("leak_here", 1, SIZE);
	ready();
	return 0;
}
