// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that the heap reader's helper cannot use the file of blocks to keep memory. Includes
 * rss_reader.c, whose descriptor of the file is static.
 */
#include "proof/rss_reader.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/unit/lib/process.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_are_freed)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
