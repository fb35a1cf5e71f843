// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests how often the files that a process maps are opened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader/target/modules.h"

#define FILES 2
#define MAPPINGS 20

/* Maps a page of code of the files in turn, so that no two adjacent mappings have the same file. */
static void map_in_turn(FILE *const *files, size_t page)
{
	for (int i = 0; i < MAPPINGS; i++) {
		void *at = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE,
				fileno(files[i % FILES]), 0);

		if (at == MAP_FAILED)
			skip(); /* no code may be mapped from this file system */
	}
}

/* Returns the number of times that the watched files were opened. */
static unsigned int count_opened(int notify_fd)
{
	char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t len = read(notify_fd, events, sizeof(events));
	unsigned int cnt = 0;

	for (ssize_t at = 0; at < len;) {
		const struct inotify_event *event = (const void *)(events + at);

		cnt += (event->mask & IN_OPEN) != 0;
		at += (ssize_t)(sizeof(*event) + event->len);
	}
	return cnt;
}

static bool has_file(const struct module_list *list, FILE *file)
{
	struct stat st;
	struct file_id id;

	assert_return_code(fstat(fileno(file), &st), errno);
	id = file_id_of(&st);
	for (size_t i = 0; i < list->cnt; i++)
		if (file_id_equal(&list->items[i].id, &id))
			return true;
	return false;
}

static void each_file_once(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int notify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct module_list list;
	FILE *files[FILES];

	(void)state;
	if (geteuid())
		skip(); /* mapped files cannot be opened */
	for (int i = 0; i < FILES; i++) {
		char path[64];

		files[i] = tmpfile();
		assert_return_code(ftruncate(fileno(files[i]), (off_t)page), errno);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(files[i]));
		assert_return_code(inotify_add_watch(notify_fd, path, IN_OPEN | IN_CLOSE), errno);
	}
	map_in_turn(files, page);
	assert_int_equal(module_list_init(getpid(), 0, 0, &list), 0);
	assert_int_equal(count_opened(notify_fd), FILES);
	for (int i = 0; i < FILES; i++)
		assert_true(has_file(&list, files[i]));
	module_list_deinit(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_file_once)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
