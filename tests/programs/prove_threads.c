// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Scenes about threads and other stacks: pointers in registers, frames and thread-local storage.
 */
#include <alloca.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#include "prove.h"

#define NODE 32
#define PAGE 4096
#define WITHOUT_LEADER "it has no names of functions when the first thread has ended"
#define NO_ROOT "memory that the program maps is no root unless it is registered"

/* Keeps the compiler from dropping a variable that only assembly code uses. */
#define SEEN __attribute__((used)) static

SEEN int never[2]; /* a pipe that is never written to */
SEEN char nothing; /* buffer for reads from the pipe `never` */
SEEN const struct timespec forever = {3600, 0};
static atomic_int arriving;

static void put(void *memory, size_t word, void *block)
{
	((void *volatile *)memory)[word] = block;
}

#ifdef __x86_64__
/*
 * Defines hold_NAME(block), which sleeps forever, with the pointer only in the place NAME. It
 * clears the red zone and the registers in which earlier calls could have left copies of the
 * pointer.
 */
#define HOLD(name, before, call)                                                                   \
	void hold_##name(void *block);                                                             \
	__asm__(".text\n.globl hold_" #name "\n.type hold_" #name ", @function\n"                  \
		"hold_" #name ":\n\tpush %rbx\n\tmov %rdi, %rdx\n\tpxor %xmm0, %xmm0\n\t"          \
		"pxor %xmm1, %xmm1\n\tlea -128(%rsp), %rdi\n\tmov $16, %ecx\n\txor %eax, %eax\n\t" \
		"rep stosq\n\t" before "\n\txor %r8d, %r8d\n\txor %r9d, %r9d\n\t"                  \
		"xor %r10d, %r10d\n\t" call "\n\tpop %rbx\n\tret\n"                                \
		".size hold_" #name ", . - hold_" #name "\n")
#define READ                                                                                       \
	"mov never(%rip), %edi\n\tlea nothing(%rip), %rsi\n\tmov $1, %edx\n\txor %eax, %eax\n\t"   \
	"syscall"
#define NANOSLEEP                                                                                  \
	"lea forever(%rip), %rdi\n\txor %esi, %esi\n\txor %edx, %edx\n\tmov $35, %eax\n\tsyscall"

HOLD(nothing, "", READ);
HOLD(rbx, "mov %rdx, %rbx", READ);
HOLD(rbx_in_nanosleep, "mov %rdx, %rbx", NANOSLEEP);
HOLD(red_zone, "mov %rdx, -64(%rsp)", READ);
HOLD(xmm, "movq %rdx, %xmm9", READ);
HOLD(ymm,
     "vmovq %rdx, %xmm1\n\tvxorps %ymm8, %ymm8, %ymm8\n\tvinsertf128 $1, %xmm1, %ymm8, %ymm8\n\t"
     "pxor %xmm1, %xmm1",
     READ);
#else
static void hold_nothing(void *block)
{
	(void)block;
	wipe();
	read(never[0], &nothing, 1);
}
#endif

/*
 * Returns the kernel's state letter of a thread, or 0 if it has ended. Uses no stdio stream, whose
 * buffer would be one more block.
 */
static char state_of(pid_t tid)
{
	char path[64], text[256];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return 0;
	text[len] = 0;
	return strrchr(text, ')')[2];
}

static void here(void)
{
	arriving = (int)syscall(SYS_gettid);
}

/* Starts a thread and waits until it sleeps. */
static void start(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if (!never[1])
		must(!pipe(never), "pipe");
	arriving = 0;
	must(!pthread_create(&thread, NULL, run, arg), "pthread_create");
	while (!arriving || state_of(arriving) != 'S')
		sched_yield();
}

static pthread_t start_and_join(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, run, arg), "pthread_create");
	must(!pthread_join(thread, NULL), "pthread_join");
	return thread;
}

MAKER(held_by_none); /* LEAK */

static void *holds_none(void *arg)
{
	here();
	hold_nothing(held_by_none(NODE));
	return arg;
}

/*
 * Checks the method of callee_saved_register, red_zone and similar scenes: here the thread sleeps
 * as in those scenes but keeps the pointer nowhere, so the block must be lost.
 */
SCENE(thread_that_holds_nothing)
{
	start(holds_none, NULL);
	planted(held_by_none, definite, 1, NODE);
}

#ifdef __x86_64__
#define REGISTER(name)                                                                             \
	MAKER(in_##name);                                                                          \
	static void *holds_##name(void *arg)                                                       \
	{                                                                                          \
		here();                                                                            \
		hold_##name(in_##name(NODE));                                                      \
		return arg;                                                                        \
	}                                                                                          \
	static void *holds_##name(void *arg)

REGISTER(rbx);              /* LEAK */
REGISTER(rbx_in_nanosleep); /* LEAK */
REGISTER(red_zone);         /* LEAK */
REGISTER(xmm);              /* LEAK */
REGISTER(ymm);              /* LEAK */

SCENE(callee_saved_register)
{
	start(holds_rbx, NULL);
	start(holds_rbx_in_nanosleep, NULL);
	planted(in_rbx, reachable, 1, NODE);
	planted(in_rbx_in_nanosleep, reachable, 1, NODE);
}

SCENE(red_zone)
{
	start(holds_red_zone, NULL);
	planted(in_red_zone, reachable, 1, NODE);
	differs(lsan, in_red_zone, reachable, definite,
		"LeakSanitizer scans stacks from the stack pointer");
}

SCENE(vector_register)
{
	start(holds_xmm, NULL);
	planted(in_xmm, reachable, 1, NODE);
	differs(valgrind, in_xmm, reachable, definite, "it reads general registers only");
}

SCENE(upper_half_of_a_vector_register)
{
	if (!__builtin_cpu_supports("avx"))
		say("missing AVX\n");
	start(holds_ymm, NULL);
	planted(in_ymm, reachable, 1, NODE);
	differs(valgrind, in_ymm, reachable, definite, "it reads general registers only");
}
#endif

MAKER(in_thread_frame); /* LEAK */
MAKER(far_in_alloca);   /* LEAK */

static void *has_frame(void *arg)
{
	void *volatile place[16] = {[7] = in_thread_frame(NODE)};

	here();
	hold_nothing(NULL);
	return arg ? place[7] : NULL;
}

static void *has_alloca(void *arg)
{
	void *volatile *place = alloca(1 << 20);

	place[(1 << 17) - 1] = far_in_alloca(NODE);
	here();
	hold_nothing(NULL);
	return arg ? place[(1 << 17) - 1] : NULL;
}

SCENE(frames_of_threads)
{
	start(has_frame, NULL);
	start(has_alloca, NULL);
	planted(in_thread_frame, reachable, 1, NODE);
	planted(far_in_alloca, reachable, 1, NODE);
}

OWN_FRAME static void leave_far_below(void *block)
{
	void *volatile below[8192];

	keep((void *)below);
	for (size_t i = 0; i < 16; i++)
		below[i] = block;
}

MAKER(below_thread); /* LEAK */

static void *leaves_below(void *arg)
{
	leave_far_below(below_thread(NODE));
	here();
	hold_nothing(NULL);
	return arg;
}

/* The only pointer is in a dead frame of a thread, and must not count. */
SCENE(below_the_stack_pointer_of_a_thread)
{
	start(leaves_below, NULL);
	planted(below_thread, definite, 1, NODE);
}

MAKER(thread_argument); /* LEAK */

static void *forgets_argument(void *arg)
{
	(void)arg;
	here();
	hold_nothing(NULL);
	return NULL;
}

/*
 * The only pointer is a thread's argument, which the C library keeps in the thread's descriptor. It
 * must count.
 */
SCENE(argument_of_a_thread)
{
	start(forgets_argument, thread_argument(NODE));
	planted(thread_argument, reachable, 1, NODE);
	differs(lsan, thread_argument, reachable, unknown,
		"it begins threads itself, and may have the argument in a frame or not any more");
}

static __thread void *of_thread[100];
static pthread_key_t key, late_key;

MAKER(tls_of_thread);      /* LEAK */
MAKER(key_of_thread);      /* LEAK */
MAKER(late_key_of_thread); /* LEAK */

static void *has_storage(void *arg)
{
	put(of_thread, 50, tls_of_thread(NODE));
	pthread_setspecific(key, key_of_thread(NODE));
	pthread_setspecific(late_key, late_key_of_thread(NODE));
	wipe();
	if (arg)
		return NULL;
	here();
	hold_nothing(NULL);
	return NULL;
}

static void make_keys(void)
{
	must(!pthread_key_create(&key, NULL), "pthread_key_create");
	for (size_t i = 0; i < 200; i++)
		must(!pthread_key_create(&late_key, NULL), "pthread_key_create");
}

SCENE(storage_of_threads)
{
	make_keys();
	start(has_storage, NULL);
	planted(tls_of_thread, reachable, 1, NODE);
	planted(key_of_thread, reachable, 1, NODE);
	planted(late_key_of_thread, reachable, 1, NODE);
}

/*
 * A thread's values of thread-specific keys without a destructor must be lost when the thread ends.
 */
SCENE(storage_of_a_thread_that_has_ended)
{
	make_keys();
	start_and_join(has_storage, &key);
	planted(tls_of_thread, definite, 1, NODE);
	planted(key_of_thread, definite, 1, NODE);
	planted(late_key_of_thread, definite, 1, NODE);
	differs(memleak, tls_of_thread, definite, reachable,
		"the library keeps the stack for the next thread, with what the last one left");
	differs(valgrind, tls_of_thread, definite, reachable,
		"the library keeps the stack for the next thread, with what the last one left");
}

MAKER(destroyed);
MAKER(not_destroyed); /* LEAK */

static void *leaves_to_destructor(void *arg)
{
	pthread_setspecific(key, destroyed(48));
	not_destroyed(64);
	return arg;
}

SCENE(destructor_of_a_key)
{
	must(!pthread_key_create(&key, free), "pthread_key_create");
	start_and_join(leaves_to_destructor, NULL);
	planted(not_destroyed, definite, 1, 64);
}

MAKER(returned); /* LEAK */

static void *returns_block(void *arg)
{
	(void)arg;
	here();
	return returned(NODE);
}

/*
 * The only pointer is the return value of an ended thread, which stays in the thread's descriptor
 * until the thread is joined.
 */
SCENE(value_of_a_thread_that_is_not_joined)
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, returns_block, NULL), "pthread_create");
	while (!arriving || state_of(arriving))
		sched_yield();
	planted(returned, reachable, 1, NODE);
	differs(lsan, returned, reachable, definite, "threads that have ended are nothing to it");
}

MAKER(detached_lost); /* LEAK */
MAKER(detached_kept); /* LEAK */

static void *is_detached(void *arg)
{
	pthread_detach(pthread_self());
	for (size_t i = 0; i < 10; i++)
		held[i] = detached_kept(NODE);
	detached_lost(48);
	wipe();
	here();
	return arg;
}

SCENE(detached_thread)
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, is_detached, NULL), "pthread_create");
	while (!arriving || state_of(arriving))
		sched_yield();
	planted(detached_kept, reachable, 10, 10 * NODE);
	planted(detached_lost, definite, 1, 48);
}

MAKER(of_arena_lost); /* LEAK */
MAKER(of_arena_hung); /* LEAK */
MAKER(of_arena_kept); /* LEAK */

OWN_FRAME static void fill_arena(void *arg)
{
	void *lost = NULL, *node;

	for (size_t i = 0; i < 50; i++) {
		node = i < 49 ? of_arena_hung(NODE) : of_arena_lost(48);
		put(node, 1, lost);
		lost = node;
	}
	node = of_arena_kept(64);
	put(node, 1, *(void **)arg);
	*(void **)arg = node;
}

static void *has_arena(void *arg)
{
	fill_arena(arg);
	wipe();
	here();
	hold_nothing(NULL);
	return NULL;
}

/*
 * Threads with separate heaps. One list with a node in each heap must be reachable. Each heap also
 * has a list that must be lost.
 */
SCENE(arenas_of_threads)
{
	for (size_t i = 0; i < 4; i++)
		start(has_arena, (void *)&held[0]);
	planted(of_arena_lost, definite, 4, 4 * 48);
	planted(of_arena_hung, indirect, 4 * 49, 4 * 49 * NODE);
	planted(of_arena_kept, reachable, 4, 4 * 64);
}

static pthread_barrier_t crowd_is_there;

MAKER(of_crowd);
MAKER(lost_in_crowd); /* LEAK */

static void *is_one_of_crowd(void *arg)
{
	void *blocks[20] = {NULL};

	for (size_t i = 0; i < 10; i++)
		lost_in_crowd(2048);
	pthread_barrier_wait(&crowd_is_there);
	for (size_t i = 0; i < 2000; i++) {
		free(blocks[i % 20]);
		((void *volatile *)blocks)[i % 20] = of_crowd(i % 500);
	}
	for (size_t i = 0; i < 20; i++) {
		free(blocks[i]);
		((void *volatile *)blocks)[i] = NULL;
	}
	wipe();
	return arg;
}

/*
 * Eight threads with separate heaps lose blocks; then all allocate and free at the same time. The
 * blocks must be reported as lost.
 */
SCENE(crowd_of_threads)
{
	pthread_t threads[8];

	must(!pthread_barrier_init(&crowd_is_there, NULL, ARRAY_SIZE(threads)), "a barrier");
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		must(!pthread_create(&threads[i], NULL, is_one_of_crowd, NULL), "pthread_create");
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		must(!pthread_join(threads[i], NULL), "pthread_join");
	planted(lost_in_crowd, definite, 80, 80 * 2048);
}

static ucontext_t back;

MAKER(coroutine_stack);      /* LEAK */
MAKER(lost_coroutine_stack); /* LEAK */
MAKER(in_coroutine);         /* LEAK */
MAKER(in_lost_coroutine);    /* LEAK */
MAKER(in_mapped_coroutine);  /* LEAK */

struct coroutine {
	ucontext_t context;
	void *(*maker)(size_t);
};

static struct coroutine *current;

static void coroutine(void)
{
	void *volatile place[8] = {[3] = current->maker(NODE)};
	ucontext_t *context = &current->context;

	wipe();
	swapcontext(context, &back);
	held[63] = place[3];
}

/*
 * Runs a coroutine in the given memory until the coroutine switches back. The memory begins with
 * the coroutine's state, and the rest is its stack.
 */
static void run_coroutine(void *memory, size_t size, void *(*maker)(size_t))
{
	current = memory;
	current->maker = maker;
	must(!getcontext(&current->context), "getcontext");
	current->context.uc_stack.ss_sp = current + 1;
	current->context.uc_stack.ss_size = size - sizeof(*current);
	makecontext(&current->context, coroutine, 0);
	swapcontext(&back, &current->context);
	current = NULL;
	/*
	 * swapcontext() saved registers in the variable `back`. Clear them, because they contain
	 * the arguments of swapcontext(), one of which points into the coroutine's memory.
	 */
	memset(&back, 0, sizeof(back));
}

#define COROUTINE_BYTES (256UL << 10)

/*
 * Pointers in three coroutine stacks: a reachable block, a lost block, and a mapping after a guard
 * page. The block to which only the lost stack points must be an indirect leak; the other two must
 * be reachable.
 */
SCENE(coroutines)
{
	char *mapped = mmap(NULL, COROUTINE_BYTES + PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(mapped != MAP_FAILED && !mprotect(mapped, PAGE, PROT_NONE), "mmap");
	held[0] = coroutine_stack(COROUTINE_BYTES);
	run_coroutine(held[0], COROUTINE_BYTES, in_coroutine);
	run_coroutine(lost_coroutine_stack(COROUTINE_BYTES), COROUTINE_BYTES, in_lost_coroutine);
	held[1] = mapped + PAGE;
	run_coroutine(held[1], COROUTINE_BYTES, in_mapped_coroutine);
	planted(coroutine_stack, reachable, 1, COROUTINE_BYTES);
	planted(lost_coroutine_stack, definite, 1, COROUTINE_BYTES);
	planted(in_coroutine, reachable, 1, NODE);
	planted(in_lost_coroutine, indirect, 1, NODE);
	planted(in_mapped_coroutine, reachable, 1, NODE);
	differs(lsan, in_mapped_coroutine, reachable, definite, NO_ROOT);
}

/*
 * A second name of sigaction() in the C library. A preloaded LeakSanitizer does not intercept calls
 * by this name.
 */
int __sigaction(int number, const struct sigaction *action, struct sigaction *before);

MAKER(on_signal_stack);    /* LEAK */
MAKER(below_signal_stack); /* LEAK */

static void on_signal(int number)
{
	void *volatile place[8] = {[3] = on_signal_stack(NODE)};

	here();
	hold_nothing(NULL);
	held[62] = place[3 + 0 * number];
}

static void *is_signalled(void *arg)
{
	void *volatile place[8] = {[3] = below_signal_stack(NODE)};
	stack_t stack = {.ss_sp = arg, .ss_size = 64 << 10};

	must(!sigaltstack(&stack, NULL), "sigaltstack");
	raise(SIGUSR1);
	return place[3];
}

/*
 * Pointers must count in both stacks of a thread that sleeps in a handler on an alternate signal
 * stack.
 */
SCENE(alternate_signal_stack)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	void *memory =
		mmap(NULL, 64 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(memory != MAP_FAILED && !__sigaction(SIGUSR1, &action, NULL), "sigaction");
	start(is_signalled, memory);
	planted(on_signal_stack, reachable, 1, NODE);
	planted(below_signal_stack, reachable, 1, NODE);
	differs(lsan, on_signal_stack, reachable, definite, NO_ROOT);
}

#ifdef __x86_64__
void raise_with_rbx(void *block, long pid, long tid);
__asm__(".text\n.type raise_with_rbx, @function\nraise_with_rbx:\n\tpush %rbx\n\t"
	"mov %rdi, %rbx\n\txor %eax, %eax\n\tmov %rsi, %r8\n\tmov %rdx, %r9\n\t"
	"lea -128(%rsp), %rdi\n\tmov $16, %ecx\n\trep stosq\n\tmov %r8, %rdi\n\tmov %r9, %rsi\n\t"
	"mov $10, %edx\n\tmov $234, %eax\n\tsyscall\n\tpop %rbx\n\tret\n"
	".size raise_with_rbx, . - raise_with_rbx\n");

MAKER(in_signal_frame); /* LEAK */

static void on_signal_with_rbx(int number)
{
	(void)number;
	here();
	__asm__ volatile("xor %%ebx, %%ebx" : : : "rbx");
	hold_nothing(NULL);
}

static void *is_interrupted(void *arg)
{
	void *block = in_signal_frame(NODE);

	raise_with_rbx(block, getpid(), (long)syscall(SYS_gettid));
	return arg;
}

/*
 * The only pointer is in a register that the kernel saved on the stack for a signal handler, and
 * must count.
 */
SCENE(frame_of_a_signal)
{
	struct sigaction action = {.sa_handler = on_signal_with_rbx};

	must(!__sigaction(SIGUSR1, &action, NULL), "sigaction");
	start(is_interrupted, NULL);
	planted(in_signal_frame, reachable, 1, NODE);
}
#endif

MAKER(kept_without_leader); /* LEAK */
MAKER(lost_by_leader);      /* LEAK */
MAKER(kept_after_leader);   /* LEAK */
MAKER(lost_after_leader);   /* LEAK */

static void *goes_on(void *arg)
{
	pid_t leader = getpid();

	while (state_of(leader) != 'Z')
		sched_yield();
	held[1] = kept_after_leader(64);
	lost_after_leader(80);
	judge();
	return arg;
}

/* The main thread ends before the check. Another thread waits for the check instead. */
SCENE(leader_has_ended)
{
	pthread_t thread;

	held[0] = kept_without_leader(NODE);
	lost_by_leader(48);
	planted(kept_without_leader, reachable, 1, NODE);
	planted(lost_by_leader, definite, 1, 48);
	planted(kept_after_leader, reachable, 1, 64);
	planted(lost_after_leader, definite, 1, 80);
	differs(lsan, lost_by_leader, definite, unseen, WITHOUT_LEADER);
	differs(lsan, lost_after_leader, definite, unseen, WITHOUT_LEADER);
	must(!pthread_create(&thread, NULL, goes_on, NULL), "pthread_create");
	wipe();
	pthread_exit(NULL);
}

MAKER(held_by_main);       /* LEAK */
MAKER(lost_by_main);       /* LEAK */
MAKER(held_by_who_judges); /* LEAK */
MAKER(lost_by_who_judges); /* LEAK */

static void *judges(void *arg)
{
	void *volatile place[8] = {[3] = held_by_who_judges(NODE)};

	leave_far_below(lost_by_who_judges(64));
	while (state_of(getpid()) != 'S')
		sched_yield();
	wipe();
	judge();
	return arg ? place[3] : NULL;
}

/*
 * While the main thread sleeps, another thread ends the process after the check. Pointers in frames
 * of both threads count; pointers below their stack pointers do not.
 */
SCENE(another_thread_ends_the_process)
{
	void *volatile place[8] = {[3] = held_by_main(NODE)};
	pthread_t thread;

	leave_far_below(lost_by_main(48));
	must(!pipe(never), "pipe");
	planted(held_by_main, reachable, 1, NODE);
	planted(lost_by_main, definite, 1, 48);
	planted(held_by_who_judges, reachable, 1, NODE);
	planted(lost_by_who_judges, definite, 1, 64);
	must(!pthread_create(&thread, NULL, judges, NULL), "pthread_create");
	hold_nothing(NULL);
	held[63] = place[3];
}
