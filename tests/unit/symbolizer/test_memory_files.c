// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the memory files of the symbolizer's helper: their total size is limited, and is freed. */
#include "symbolizer/memory_files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "symbolizer/client.h"
#include "symbolizer/server/protocol.h"
#include "tests/unit/lib/process.h"

static off_t size_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_size;
}

static void total_is_limited(void **state)
{
	const uint64_t half = SERVER_MEMORY_BYTES_MAX / 2;
	struct memory_files files = {0};

	assert_int_equal(memory_files_make(&files, 1, SERVER_MEMORY_BYTES_MAX + 1), -EFBIG);
	assert_int_equal(memory_files_make(&files, 1, UINT64_MAX), -EFBIG);
	assert_true(memory_files_make(&files, 1, half) >= 0);
	assert_true(memory_files_make(&files, 2, half) >= 0);
	assert_int_equal(memory_files_make(&files, 3, 1), -EFBIG);
	memory_files_drop(&files, 1);
	assert_int_equal(memory_files_make(&files, 3, half + 1), -EFBIG);
	assert_true(memory_files_make(&files, 3, half) >= 0);
	memory_files_deinit(&files);
	assert_true(memory_files_make(&files, 3, 2 * half) >= 0);
	memory_files_deinit(&files);
}

/* A module has at most three files: without a limit, empty files would take all descriptors. */
static void number_is_limited(void **state)
{
	struct memory_files files = {0};

	for (unsigned int i = 0; i < MEMORY_FILES_EACH; i++)
		assert_true(memory_files_make(&files, 1, 0) >= 0);
	assert_int_equal(memory_files_make(&files, 1, 0), -EFBIG);
	assert_true(memory_files_make(&files, 2, 0) >= 0);
	memory_files_drop(&files, 1);
	assert_int_equal(files.cnt, 1);
	assert_int_equal(files.items[0].module, 2);
	memory_files_deinit(&files);
}

static void all_are_limited(void **state)
{
	struct memory_files files = {0};
	uint32_t module = 0;

	while (memory_files_make(&files, module, 0) >= 0)
		module++;
	assert_int_equal(module, MEMORY_FILES_MAX);
	memory_files_deinit(&files);
}

/* A file cannot grow, and becomes empty when it is dropped, although another process has it open.
 */
static void memory_is_freed(void **state)
{
	struct memory_files files = {0};
	int fd = dup(memory_files_make(&files, 1, 4096));

	assert_int_equal(size_of(fd), 4096);
	assert_int_equal(pwrite(fd, "x", 1, 4095), 1);
	assert_int_equal(pwrite(fd, "x", 1, 4096), -1);
	memory_files_drop(&files, 1);
	assert_int_equal(size_of(fd), 0);
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	memory_files_deinit(&files);
	close(fd);
}

/* A helper that requests memory files without end. */
static void ask_without_end(int sock)
{
	struct message msg = {.fd = -1};

	do {
		message_reset(&msg);
		message_put_u32(&msg, SERVER_MEMORY);
		message_put_u64(&msg, 4096);
	} while (!helper_reply(sock, &msg) && !message_receive(sock, &msg, MESSAGE_FOREVER));
}

static const struct helper_kind greedy_kind = {
	.name = "symbolizer",
	.rights = HELPER_DROPS_RIGHTS,
	.work = ask_without_end,
};
HELPER_KIND(greedy_kind);

/* A helper that only requests memory does not work: it is ended, and its memory is freed. */
static void requests_are_limited(void **state)
{
	struct module module = {.path = (char *)"module", .unused_noted = true};
	struct client client = {.helper = HELPER_INIT(&greedy_kind), .hang_ns = PATIENCE_NS};

	client.job.kind = JOB_NAMES;
	client.job.module = &module;
	client.job.level = NAME_FULL;
	client.job.cnt = 1;
	client.job.since_ns = clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(helper_start(&client.helper), 0);
	assert_int_equal(client_wait(&client, patience()), 0);
	assert_int_equal(client.job.kind, JOB_NONE);
	assert_int_equal(client.helper.pid, 0);
	assert_int_equal(client.memory.cnt, 0);
	assert_int_equal(module.max_level, NAME_NONE);
	client_deinit(&client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(total_is_limited),     cmocka_unit_test(number_is_limited),
		cmocka_unit_test(all_are_limited),      cmocka_unit_test(memory_is_freed),
		cmocka_unit_test(requests_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
