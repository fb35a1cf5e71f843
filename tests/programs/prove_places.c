// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Scenes about places in which the only pointer to a block may be, and about places in which a
 * pointer must not count.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include "prove.h"

#define NODE 32
#define PAGE 4096

/* The reason for a different result of LeakSanitizer. */
#define NO_ROOT "memory that the program maps is no root unless it is registered"

static void *initialised[2] = {&initialised};
static void *zeroed[2];

MAKER(in_data);         /* LEAK */
MAKER(in_bss);          /* LEAK */
MAKER(in_local_static); /* LEAK */

static void *volatile *local_static(void)
{
	static void *volatile here;

	return &here;
}

SCENE(globals)
{
	*(void *volatile *)&initialised[1] = in_data(NODE);
	*(void *volatile *)&zeroed[1] = in_bss(NODE);
	*local_static() = in_local_static(NODE);
	planted(in_data, reachable, 1, NODE);
	planted(in_bss, reachable, 1, NODE);
	planted(in_local_static, reachable, 1, NODE);
}

MAKER(in_frame); /* LEAK */

/* The only pointer is in the frame of an active function, and must count. */
SCENE(frame_of_the_main_thread)
{
	void *volatile here[100] = {[50] = in_frame(NODE)};

	planted(in_frame, reachable, 1, NODE);
	judge();
	must(here[50] != NULL, "the frame");
}

OWN_FRAME static void leave_below(void *block)
{
	void *volatile below[2048];

	keep((void *)below);
	for (size_t i = 0; i < 16; i++)
		below[i] = block;
}

MAKER(below_the_stack); /* LEAK */

/* The only pointer is in a dead frame, 16 KiB below the stack pointer, and must not count. */
SCENE(below_the_stack_pointer)
{
	planted(below_the_stack, definite, 1, NODE);
	leave_below(below_the_stack(NODE));
	wipe_little();
	judge_now();
}

OWN_FRAME static void leave_in_next(void *block)
{
	void *volatile below[512];

	for (size_t i = 0; i < ARRAY_SIZE(below); i++)
		below[i] = block;
}

OWN_FRAME static void judge_over(void)
{
	void *volatile room[1024];

	held[1] = (void *)&room;
	judge_now();
}

MAKER(stale_in_frame); /* LEAK */

/*
 * The only pointer is a stale word in an active frame whose function has not overwritten it. The
 * block is lost, but only valgrind can know that: for memleak and LeakSanitizer the block is
 * reachable.
 */
SCENE(stale_word_in_a_frame)
{
	planted(stale_in_frame, definite, 1, NODE);
	differs(memleak, stale_in_frame, definite, reachable,
		"it is not known whether the word of the frame was written since");
	differs(lsan, stale_in_frame, definite, reachable,
		"it is not known whether the word of the frame was written since");
	leave_in_next(stale_in_frame(NODE));
	judge_over();
}

static void *map(size_t size, int flags, int fd)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

	must(memory != MAP_FAILED, "mmap");
	return memory;
}

static void put(void *memory, size_t word, void *block)
{
	((void *volatile *)memory)[word] = block;
}

MAKER(in_private); /* LEAK */
MAKER(in_shared);  /* LEAK */

SCENE(anonymous_mappings)
{
	put(map(4 * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1), 1000, in_private(NODE));
	put(map(4 * PAGE, MAP_SHARED | MAP_ANONYMOUS, -1), 1000, in_shared(NODE));
	planted(in_private, reachable, 1, NODE);
	planted(in_shared, reachable, 1, NODE);
	differs(lsan, in_private, reachable, definite, NO_ROOT);
	differs(lsan, in_shared, reachable, definite, NO_ROOT);
}

MAKER(in_memfd);        /* LEAK */
MAKER(in_copy_of_file); /* LEAK */
MAKER(in_shared_file);  /* LEAK */

static int file_of(size_t size)
{
	char name[] = "/tmp/memleak-test-XXXXXX";
	int fd = mkstemp(name);

	must(fd >= 0 && !unlink(name) && !ftruncate(fd, (off_t)size), "a file");
	return fd;
}

/* Pointers in private and shared pages of files, and in pages of a memfd, must count. */
SCENE(file_mappings)
{
	int memfd = memfd_create("proof", 0);

	must(memfd >= 0 && !ftruncate(memfd, 4 * PAGE), "memfd_create");
	put(map(4 * PAGE, MAP_SHARED, memfd), 1000, in_memfd(NODE));
	put(map(4 * PAGE, MAP_PRIVATE, file_of(4 * PAGE)), 1000, in_copy_of_file(NODE));
	put(map(4 * PAGE, MAP_SHARED, file_of(4 * PAGE)), 1000, in_shared_file(NODE));
	planted(in_memfd, reachable, 1, NODE);
	planted(in_copy_of_file, reachable, 1, NODE);
	planted(in_shared_file, reachable, 1, NODE);
	differs(lsan, in_memfd, reachable, definite, NO_ROOT);
	differs(lsan, in_copy_of_file, reachable, definite, NO_ROOT);
	differs(lsan, in_shared_file, reachable, definite, NO_ROOT);
}

MAKER(in_read_only); /* LEAK */
MAKER(in_sealed);    /* LEAK */

/* Pointers must count in pages that become read-only or inaccessible after they were written to. */
SCENE(protected_pages)
{
	void *read_only = map(PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	void *sealed = map(PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	put(read_only, 10, in_read_only(NODE));
	put(sealed, 10, in_sealed(NODE));
	must(!mprotect(read_only, PAGE, PROT_READ) && !mprotect(sealed, PAGE, PROT_NONE),
	     "mprotect");
	planted(in_read_only, reachable, 1, NODE);
	planted(in_sealed, reachable, 1, NODE);
	differs(lsan, in_read_only, reachable, definite, NO_ROOT);
	differs(lsan, in_sealed, reachable, definite, NO_ROOT);
	differs(valgrind, in_read_only, reachable, definite, "only what may be written is a root");
	differs(valgrind, in_sealed, reachable, definite, "only what may be written is a root");
}

MAKER(in_code);        /* LEAK */
MAKER(in_code_of_rwx); /* LEAK */

static void load(char *code, void *block)
{
	static const char movabs[] = {0x48, (char)0xb8};

	memcpy(code, movabs, sizeof(movabs));
	memcpy(code + sizeof(movabs), &block, sizeof(block));
}

/*
 * The only pointer is an unaligned operand of an instruction, as in code of just-in-time compilers,
 * and must count.
 */
SCENE(machine_code)
{
	char *code = map(2 * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	char *rwx = map(PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	for (size_t i = 1; i < 8; i++)
		load(code + i * 32 + i, in_code(NODE));
	load(code + PAGE - 5, in_code(NODE));
	load(rwx + 3, in_code_of_rwx(NODE));
	must(!mprotect(code, 2 * PAGE, PROT_READ | PROT_EXEC) &&
		     !mprotect(rwx, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC),
	     "mprotect");
	planted(in_code, reachable, 8, 8 * NODE);
	planted(in_code_of_rwx, reachable, 1, NODE);
	differs(lsan, in_code, reachable, definite, NO_ROOT);
	differs(lsan, in_code_of_rwx, reachable, definite, NO_ROOT);
	differs(valgrind, in_code, reachable, definite, "words that stand at no multiple of eight");
	differs(valgrind, in_code_of_rwx, reachable, definite,
		"words that stand at no multiple of eight");
}

MAKER(large_block);   /* LEAK */
MAKER(behind_sealed); /* LEAK */
MAKER(within_sealed); /* LEAK */

/* Pointers must count in an inaccessible page of a large block, and after that page. */
SCENE(protected_page_in_a_block)
{
	char *block = large_block(4 << 20), *page;

	page = block + (1 << 20) + PAGE - ((uintptr_t)block + (1 << 20)) % PAGE;
	held[0] = block;
	put(page, 10, within_sealed(NODE));
	put(page + PAGE, 10, behind_sealed(NODE));
	must(!mprotect(page, PAGE, PROT_NONE), "mprotect");
	planted(large_block, reachable, 1, 4 << 20);
	planted(behind_sealed, reachable, 1, NODE);
	planted(within_sealed, reachable, 1, NODE);
	differs(valgrind, within_sealed, reachable, definite,
		"it reads only what the program may read");
}

MAKER(not_for_children);   /* LEAK */
MAKER(wiped_for_children); /* LEAK */

/*
 * Pointers must count in mappings with MADV_DONTFORK or MADV_WIPEONFORK, whose contents a forked
 * copy of the process lacks.
 */
SCENE(mappings_that_forks_lack)
{
	void *kept = map(PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	void *wiped = map(PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	put(kept, 10, not_for_children(NODE));
	put(wiped, 10, wiped_for_children(NODE));
	must(!madvise(kept, PAGE, MADV_DONTFORK) && !madvise(wiped, PAGE, MADV_WIPEONFORK),
	     "madvise");
	planted(not_for_children, reachable, 1, NODE);
	planted(wiped_for_children, reachable, 1, NODE);
	differs(lsan, not_for_children, reachable, definite, NO_ROOT);
	differs(lsan, wiped_for_children, reachable, definite, NO_ROOT);
}

MAKER(by_own_allocator); /* LEAK */
MAKER(behind_own);       /* LEAK */

/*
 * The pointers to a block lead through memory of a custom allocator, which memleak does not know as
 * blocks. The block must be reachable.
 */
SCENE(another_allocator)
{
	char *arena = map(16 * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	void *block = by_own_allocator(NODE);

	held[0] = arena + 3 * PAGE;
	put(arena + 3 * PAGE, 5, arena + 5 * PAGE);
	put(arena + 5 * PAGE, 7, block);
	put(block, 0, behind_own(NODE));
	planted(by_own_allocator, reachable, 1, NODE);
	planted(behind_own, reachable, 1, NODE);
	differs(lsan, by_own_allocator, reachable, definite, NO_ROOT);
	differs(lsan, behind_own, reachable, indirect, NO_ROOT);
}

MAKER(behind_break); /* LEAK */

SCENE(memory_of_sbrk)
{
	char *memory = sbrk(2 * PAGE);

	must(memory != (void *)-1, "sbrk");
	memory += 15 - ((uintptr_t)memory + 15) % 16;
	put(memory, 100, behind_break(NODE));
	planted(behind_break, reachable, 1, NODE);
	differs(lsan, behind_break, reachable, definite, NO_ROOT);
}

MAKER(event_data); /* LEAK */

SCENE(data_of_epoll)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(0), fds[2];

	must(epoll >= 0 && !pipe(fds), "epoll_create1");
	event.data.ptr = event_data(NODE);
	must(!epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &event), "epoll_ctl");
	planted(event_data, reachable, 1, NODE);
	differs(valgrind, event_data, reachable, definite, "the kernel has it");
	differs(lsan, event_data, reachable, definite, "the kernel has it");
}

MAKER(timer_data); /* LEAK */

SCENE(data_of_a_timer)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	timer_t timer;

	event.sigev_value.sival_ptr = timer_data(NODE);
	must(!timer_create(CLOCK_MONOTONIC, &event, &timer), "timer_create");
	planted(timer_data, reachable, 1, NODE);
	differs(valgrind, timer_data, reachable, definite, "the kernel has it");
	differs(lsan, timer_data, reachable, definite, "the kernel has it");
}

MAKER(in_pipe);   /* LEAK */
MAKER(in_signal); /* LEAK */

/*
 * The only pointers are in the kernel, which does not show them: in a pipe, and in a pending
 * signal. So the blocks are reported as lost.
 */
SCENE(kept_by_the_kernel_alone)
{
	union sigval value;
	sigset_t set;
	void *block = in_pipe(NODE);
	int fds[2];

	must(!pipe(fds) && write(fds[1], &block, sizeof(block)) == sizeof(block), "pipe");
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	must(!sigprocmask(SIG_BLOCK, &set, NULL), "sigprocmask");
	value.sival_ptr = in_signal(NODE);
	must(!sigqueue(getpid(), SIGUSR1, value), "sigqueue");
	planted(in_pipe, definite, 1, NODE);
	planted(in_signal, definite, 1, NODE);
}

/* An io_uring with room for four requests and eight completions. */
struct ring {
	int fd;
	unsigned int *tail;
	unsigned int mask;
	struct io_uring_sqe *requests;
};

static void open_ring(struct ring *ring)
{
	struct io_uring_params params = {0};
	size_t bytes;
	char *memory;

	ring->fd = (int)syscall(SYS_io_uring_setup, 4, &params);
	if (ring->fd < 0) {
		say("missing io_uring\n");
		judge();
	}
	bytes = params.sq_off.array + params.sq_entries * sizeof(unsigned int);
	if (bytes < params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe))
		bytes = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
	ring->requests = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
			      IORING_OFF_SQES);
	must(memory != MAP_FAILED && ring->requests != MAP_FAILED, "mmap");
	must(params.features & IORING_FEAT_SINGLE_MMAP, "one mapping of both rings");
	ring->tail = (void *)(memory + params.sq_off.tail);
	ring->mask = params.sq_entries - 1;
	for (unsigned int i = 0; i < params.sq_entries; i++)
		((unsigned int *)(memory + params.sq_off.array))[i] = i;
}

/*
 * Submits a request, which the kernel reads immediately. Then clears the memory of the request, so
 * that no pointer stays there.
 */
static void request(const struct ring *ring, int opcode, int fd, void *data)
{
	struct io_uring_sqe *sqe = &ring->requests[*ring->tail & ring->mask];
	static char byte;

	*sqe = (struct io_uring_sqe){.opcode = (unsigned char)opcode, .fd = fd, .len = 1};
	sqe->addr = opcode == IORING_OP_READ ? (uintptr_t)&byte : 0;
	sqe->user_data = (uintptr_t)data;
	__atomic_store_n(ring->tail, *ring->tail + 1, __ATOMIC_RELEASE);
	must(syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0) == 1, "io_uring_enter");
	memset(sqe, 0, sizeof(*sqe));
}

MAKER(in_completion);     /* LEAK */
MAKER(in_overflow);       /* LEAK */
MAKER(in_request);        /* LEAK */
MAKER(registered_buffer); /* LEAK */

/*
 * The only pointers are in io_uring. A pointer in a completion counts, even if the completion did
 * not fit into the ring. A pointer in a pending request and the address of a registered buffer do
 * not count, because the kernel does not show them.
 */
SCENE(rings_of_io_uring)
{
	struct iovec buffer = {.iov_len = PAGE};
	struct ring ring;
	int fds[2];

	open_ring(&ring);
	must(!pipe(fds), "pipe");
	request(&ring, IORING_OP_NOP, -1, in_completion(NODE));
	request(&ring, IORING_OP_READ, fds[0], in_request(NODE));
	for (size_t i = 0; i < 7; i++)
		request(&ring, IORING_OP_NOP, -1, NULL);
	request(&ring, IORING_OP_NOP, -1, in_overflow(NODE));
	buffer.iov_base = registered_buffer(PAGE);
	must(!syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_BUFFERS, &buffer, 1),
	     "a registered buffer");
	buffer.iov_base = NULL;
	planted(in_completion, reachable, 1, NODE);
	planted(in_overflow, reachable, 1, NODE);
	planted(in_request, definite, 1, NODE);
	planted(registered_buffer, definite, 1, PAGE);
	differs(valgrind, in_overflow, reachable, definite, "the kernel has it");
	differs(lsan, in_overflow, reachable, definite, "the kernel has it");
	differs(lsan, in_completion, reachable, definite, NO_ROOT);
}

static __thread void *of_thread[100];

MAKER(in_static_tls); /* LEAK */

SCENE(thread_local_storage)
{
	*(void *volatile *)&of_thread[50] = in_static_tls(NODE);
	planted(in_static_tls, reachable, 1, NODE);
}

/* Returns the address of a symbol of libprove_library.so, loaded from the program's folder. */
static void *library(const char *name)
{
	char path[512];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 64);
	void *handle;

	must(len > 0, "/proc/self/exe");
	path[len] = 0;
	strcpy(strrchr(path, '/'), "/libprove_library.so");
	handle = dlopen(path, RTLD_NOW);
	must(handle != NULL, "libprove_library.so");
	handle = dlsym(handle, name);
	must(handle != NULL, name);
	return handle;
}

MAKER(in_dynamic_tls); /* LEAK */

/*
 * The only pointer is in a library's thread-local storage, and must count. Because dlopen() has
 * loaded the library, malloc() allocates that storage.
 */
SCENE(thread_local_storage_of_a_library)
{
	void **(*slot)(void) = (void **(*)(void))library("slot");

	*slot() = in_dynamic_tls(NODE);
	planted(in_dynamic_tls, reachable, 1, NODE);
}

MAKER(in_library); /* LEAK */

SCENE(globals_of_a_library)
{
	*(void **)library("global") = in_library(NODE);
	planted(in_library, reachable, 1, NODE);
}

MAKER(with_first_key); /* LEAK */
MAKER(with_late_key);  /* LEAK */

/*
 * The only pointers are values of thread-specific keys, and must count. Values of the first 32 keys
 * are in the thread's descriptor, all others in a block of the C library.
 */
SCENE(thread_specific_data)
{
	pthread_key_t keys[100];

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		must(!pthread_key_create(&keys[i], NULL), "pthread_key_create");
	must(!pthread_setspecific(keys[0], with_first_key(NODE)), "pthread_setspecific");
	must(!pthread_setspecific(keys[99], with_late_key(NODE)), "pthread_setspecific");
	planted(with_first_key, reachable, 1, NODE);
	planted(with_late_key, reachable, 1, NODE);
}

OWN_FRAME static void *entry_of(const char *text)
{
	return keep(strdup(text)); /* LEAK */
}

SCENE(environment)
{
	must(!putenv(entry_of("MEMLEAK_TEST_OF_PROOF=pointer")), "putenv");
	planted(entry_of, reachable, 1, sizeof("MEMLEAK_TEST_OF_PROOF=pointer"));
}

static void at_exit(int code, void *arg)
{
	(void)code;
	(void)arg;
}

MAKER(exit_argument); /* LEAK */

SCENE(argument_of_an_exit_handler)
{
	must(!on_exit(at_exit, exit_argument(NODE)), "on_exit");
	planted(exit_argument, reachable, 1, NODE);
}

MAKER(stream_buffer); /* LEAK */

SCENE(buffer_of_a_stream)
{
	must(!setvbuf(stderr, stream_buffer(8192), _IOFBF, 8192), "setvbuf");
	planted(stream_buffer, reachable, 1, 8192);
}

MAKER(tagged_low);   /* LEAK */
MAKER(tagged_high);  /* LEAK */
MAKER(complemented); /* LEAK */
MAKER(compressed);   /* LEAK */

/*
 * Pointers with tags in the low bits must count. Pointers that are modified in another way must
 * not.
 */
SCENE(disguised_pointers)
{
	held[0] = (void *)((uintptr_t)tagged_low(NODE) | 1);
	held[1] = (void *)((uintptr_t)tagged_low(NODE) | 7);
	held[2] = (void *)((uintptr_t)tagged_high(NODE) | 0xabcdULL << 48);
	held[3] = (void *)~(uintptr_t)complemented(NODE);
	held[4] = (void *)((uintptr_t)compressed(NODE) >> 4);
	planted(tagged_low, reachable, 2, 2 * NODE);
	planted(tagged_high, definite, 1, NODE);
	planted(complemented, definite, 1, NODE);
	planted(compressed, definite, 1, NODE);
	differs(valgrind, tagged_low, reachable, possible, "low bits are no tags for it");
}

MAKER(tagged_above);   /* LEAK */
MAKER(tagged_farther); /* LEAK */

/*
 * Pointers with tags in their top byte, which aarch64 ignores, count; pointers with tags in the
 * second highest byte do not.
 */
SCENE(tags_in_the_top_byte)
{
#ifndef __aarch64__
	say("missing pointers whose top byte is not looked at\n");
#endif
	held[0] = (void *)((uintptr_t)tagged_above(NODE) | 0xabULL << 56);
	held[1] = (void *)((uintptr_t)tagged_farther(NODE) | 0x1ULL << 55);
	planted(tagged_above, reachable, 1, NODE);
	planted(tagged_farther, definite, 1, NODE);
}

MAKER(xor_first); /* LEAK */
MAKER(xor_next);  /* LEAK */

/*
 * A list whose nodes store only the XOR of their neighbours' addresses. Only the first node has a
 * plain pointer to it, so all other nodes are reported as lost.
 */
SCENE(list_of_exclusive_ors)
{
	void *nodes[4] = {xor_first(NODE), xor_next(NODE), xor_next(NODE), xor_next(NODE)};

	held[0] = nodes[0];
	for (size_t i = 1; i < 3; i++)
		put(nodes[i], 0, (void *)((uintptr_t)nodes[i - 1] ^ (uintptr_t)nodes[i + 1]));
	put(nodes[0], 0, (void *)((uintptr_t)nodes[1] ^ (uintptr_t)0x5555555555555555));
	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++)
		((void *volatile *)nodes)[i] = NULL;
	planted(xor_first, reachable, 1, NODE);
	planted(xor_next, definite, 3, 3 * NODE);
}

struct __attribute__((packed)) record {
	char kind;
	void *block;
};

static struct record records[3];

MAKER(unaligned); /* LEAK */

/* Unaligned pointers, in packed records, do not count. */
SCENE(unaligned_pointers)
{
	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		((volatile struct record *)records)[i].block = unaligned(NODE);
	planted(unaligned, definite, 3, 3 * NODE);
}
