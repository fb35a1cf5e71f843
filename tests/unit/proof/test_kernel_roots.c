// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests reading the pointers that the kernel keeps for a process: user data of epoll instances that
 * have several descriptors, that have too many entries, that are too many, or that stay locked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fair_lock.h"
#include "proof/kernel_roots.h"

#define ENTRIES 960 /* more than one piece of text, but fewer than 1024 descriptors */
#define DUPLICATES 5
#define INSTANCES 4096 /* maximum number of instances that are read */
#define FIRST_DATA UINT64_C(0x7f0000000010)

static int epoll_fd;

/* Makes an epoll instance with DUPLICATES + 1 descriptors, and adds entries that are ready. */
static int make_epoll(void **state)
{
	(void)state;
	epoll_fd = epoll_create1(0);
	for (uint64_t i = 0; i < ENTRIES; i++) {
		struct epoll_event event = {.events = EPOLLIN, .data.u64 = FIRST_DATA + i};

		if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, eventfd(1, 0), &event))
			return -1;
	}
	for (int i = 0; i < DUPLICATES; i++)
		if (dup(epoll_fd) < 0)
			return -1;
	return 0;
}

static int end_helper(void **state)
{
	(void)state;
	kernel_roots_end();
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void each_instance_once(void **state)
{
	struct kernel_words words;

	(void)state;
	assert_int_equal(kernel_roots_read(getpid(), ENTRIES, &words), 0);
	assert_int_equal(words.cnt, ENTRIES);
	qsort(words.items, words.cnt, sizeof(*words.items), by_value);
	for (uint64_t i = 0; i < ENTRIES; i++)
		assert_int_equal(words.items[i], FIRST_DATA + i);
	free(words.items);
}

static void too_many_entries(void **state)
{
	struct kernel_words words;

	(void)state;
	assert_int_equal(kernel_roots_read(getpid(), ENTRIES - 1, &words), -ENODATA);
	free(words.items);
}

static void too_many_instances(void **state)
{
	const struct rlimit limit = {2 * INSTANCES, 2 * INSTANCES};
	static int fds[INSTANCES];
	struct kernel_words words;

	(void)state;
	if (setrlimit(RLIMIT_NOFILE, &limit)) {
		print_message("skipped: no permission to raise the limit of descriptors\n");
		skip();
	}
	for (size_t i = 0; i < INSTANCES; i++) {
		fds[i] = epoll_create1(0);
		assert_true(fds[i] >= 0);
	}
	assert_int_equal(kernel_roots_read(getpid(), ENTRIES, &words), -ENODATA);
	free(words.items);
	for (size_t i = 0; i < INSTANCES; i++)
		close(fds[i]);
}

/* Waits for an event, which is written to memory that nobody provides. */
static void *wait_for_event(void *memory)
{
	epoll_wait(epoll_fd, memory, 1, -1);
	return NULL;
}

/* Makes a page of memory to which writing blocks. Returns the userfaultfd. */
static int make_blocking_page(void **ret)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		skip();
	*ret = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(*ret, MAP_FAILED);
	range.range.start = (uintptr_t)*ret;
	range.range.len = bytes;
	assert_return_code(ioctl(fd, UFFDIO_API, &api), errno);
	assert_return_code(ioctl(fd, UFFDIO_REGISTER, &range), errno);
	return fd;
}

/* The kernel keeps an instance locked while it waits for the memory that events are written to. */
static void locked_instance(void **state)
{
	struct kernel_words words;
	struct uffd_msg message;
	pthread_t thread;
	void *page;
	int fd = make_blocking_page(&page);

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, wait_for_event, page), 0);
	assert_int_equal(read(fd, &message, sizeof(message)), sizeof(message));
	assert_int_equal(kernel_roots_read(getpid(), ENTRIES, &words), -ETIMEDOUT);
	free(words.items);
	close(fd);
	pthread_join(thread, NULL);
	assert_int_equal(kernel_roots_read(getpid(), ENTRIES, &words), 0);
	assert_int_equal(words.cnt, ENTRIES);
	free(words.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_instance_once),
		cmocka_unit_test(too_many_entries),
		cmocka_unit_test(too_many_instances),
		cmocka_unit_test(locked_instance),
	};

	fair_lock_acquire();
	return cmocka_run_group_tests(tests, make_epoll, end_helper);
}
