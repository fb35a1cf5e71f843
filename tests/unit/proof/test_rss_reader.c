// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests reading a process whose first page cannot be loaded, and that the heap reader's helper
 * cannot use the file of blocks to keep memory. Includes rss_reader.c, whose descriptor of the file
 * is static.
 */
#include "proof/rss_reader.c"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "tests/unit/lib/process.h"

/* Lowest address that a process may map by default (vm.mmap_min_addr). */
#define FIRST 0x10000

/* A helper that receives requests and never answers. */
static void never_answer(int sock)
{
	struct message request = {.fd = -1};

	while (!message_receive(sock, &request, MESSAGE_FOREVER))
		message_reset(&request);
	message_deinit(&request);
}

static const struct helper_kind silent_kind = {
	.name = "heap reader",
	.rights = HELPER_DROPS_RIGHTS,
	.work = never_answer,
};
HELPER_KIND(silent_kind);

/* The file cannot grow, and is empty after the reading, although another process has it open. */
static void blocks_are_freed(void **state)
{
	struct heap_block blocks[8] = {{.addr = 4096}};
	const struct heap heap = {.blocks = blocks, .block_cnt = 8};
	struct rss_reading reading;
	struct stat st;
	int fd;

	reader.kind = &silent_kind;
	assert_int_equal(send_blocks(&heap, patience()), 0);
	fd = fcntl(blocks_fd, F_DUPFD_CLOEXEC, 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, sizeof(blocks));
	assert_int_equal(pwrite(fd, "x", 1, sizeof(blocks)), -1);
	assert_int_equal(rss_take(0, &reading), -ETIMEDOUT);
	assert_true(blocks_fd >= 0);
	rss_stop();
	assert_int_equal(blocks_fd, -1);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	close(fd);
}

/* The first page of memory cannot be loaded, as if a file system did not answer. */
static void first_page_is_not_needed(void **state)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("empty", MFD_CLOEXEC);
	void *first =
		mmap((void *)FIRST, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
	struct rss rss;
	pid_t pid;

	assert_ptr_not_equal(first, MAP_FAILED);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	assert_int_equal(rss_read(pid, patience(), &rss), 0);
	assert_true(rss.parts[RSS_STACKS] > 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(rss_read(pid, patience(), &rss), -ENOENT);
	munmap(first, bytes);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_page_is_not_needed),
		cmocka_unit_test(blocks_are_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
