// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the helper that builds unwind tables, including with files that end the helper. Includes
 * unwinder.c, whose struct is private.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/lib/process.h"
#include "tests/unit/unwinder/cfi_file.h"
#include "unwinder/server/builder.h"
#include "unwinder/unwinder.c"

static int open_self(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static int set_up(void **state)
{
	return unwinder__new((struct unwinder **)state) ? -1 : 0;
}

static int tear_down(void **state)
{
	unwinder__free(*state);
	return 0;
}

static int build(struct unwinder *unwinder, int fd, uint64_t deadline_ns, struct unwind_table *ret)
{
	int err = unwinder__begin(unwinder, fd);

	if (!err)
		err = unwinder__take(unwinder, deadline_ns, ret);
	if (err == -EAGAIN)
		unwinder__give_up(unwinder);
	return err;
}

static void same_as_here(void **state)
{
	struct unwind_table here, there;
	int fd = open_self();

	assert_int_equal(unwind_table_build(fd, &here), 0);
	assert_int_equal(build(*state, fd, patience(), &there), 0);
	assert_int_equal(here.page_cnt, there.page_cnt);
	assert_int_equal(here.rule_cnt, there.rule_cnt);
	assert_int_equal(here.index, there.index);
	assert_int_equal(here.granule_cnt, there.granule_cnt);
	assert_int_equal(here.row_cnt, there.row_cnt);
	assert_true(here.first == there.first);
	assert_memory_equal(here.words, there.words,
			    here.page_cnt * UNWIND_PAGE_WORDS * sizeof(uint32_t));
	unwind_table_deinit(&here);
	unwind_table_deinit(&there);
	close(fd);
}

/* The helper keeps the file of words open, but it takes memory only until a table is read. */
static void words_are_freed(void **state)
{
	struct unwinder *unwinder = *state;
	unsigned int incarnation;
	struct stat st;

	same_as_here(state);
	incarnation = unwinder->incarnation;
	assert_int_equal(fstat(unwinder->words_fd, &st), 0);
	assert_int_equal(st.st_size, 0);
	same_as_here(state);
	assert_int_equal(unwinder->incarnation, incarnation);
}

static void no_table(void **state)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	struct unwind_table table;

	assert_int_equal(build(*state, fd, patience(), &table), -ENOEXEC);
	close(fd);
	same_as_here(state);
}

/* An invalid request ends the helper. The next file gets a new one. */
static void helper_replaced(void **state)
{
	struct unwind_table table;
	int fd = open_self();

	assert_int_equal(build(*state, -1, patience(), &table), -EPROTO);
	close(fd);
	same_as_here(state);
}

/* Makes a file with a million rows. */
static int make_large(void)
{
	static char steps[16000];
	struct cfi_file file = {.text_bytes = 64 * sizeof(steps), .section = ".eh_frame"};
	uint32_t cie = cfi_add_cie(&file);

	memset(steps, DW_CFA_advance_loc + 1, sizeof(steps));
	for (uint64_t i = 0; i < 64; i++)
		cfi_add_fde(&file, cie, CFI_TEXT + i * sizeof(steps), sizeof(steps), steps,
			    sizeof(steps));
	return cfi_file_finish(&file);
}

/* A table that is not finished at the deadline is given up. The next one can still be built. */
static void late_table(void **state)
{
	struct unwind_table table;
	int fd = make_large();

	assert_int_equal(build(*state, fd, 0, &table), -EAGAIN);
	close(fd);
	same_as_here(state);
}

struct shrinking {
	int fd;
	off_t size;
	atomic_bool done;
};

static void *shrink_again_and_again(void *arg)
{
	struct shrinking *file = arg;

	while (!file->done)
		if (ftruncate(file->fd, 4096) || ftruncate(file->fd, file->size))
			return NULL;
	return arg;
}

/* If a file shrinks while it is read, the helper may end, but nothing else may happen. */
static void shrinking_file(void **state)
{
	struct shrinking file = {.fd = make_large()};
	struct stat st;
	pthread_t thread;
	void *ret;

	assert_int_equal(fstat(file.fd, &st), 0);
	file.size = st.st_size;
	assert_int_equal(pthread_create(&thread, NULL, shrink_again_and_again, &file), 0);
	for (int i = 0; i < 30; i++) {
		struct unwind_table table;
		int err = build(*state, file.fd, clock_deadline_ns(500 * 1000000), &table);

		if (!err)
			unwind_table_deinit(&table);
		assert_true(!err || err == -EIO || err == -ENOEXEC || err == -ENOENT ||
			    err == -EAGAIN);
	}
	file.done = true;
	assert_int_equal(pthread_join(thread, &ret), 0);
	assert_ptr_equal(ret, &file);
	close(file.fd);
	same_as_here(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(same_as_here, set_up, tear_down),
		cmocka_unit_test_setup_teardown(words_are_freed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(helper_replaced, set_up, tear_down),
		cmocka_unit_test_setup_teardown(late_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(shrinking_file, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
