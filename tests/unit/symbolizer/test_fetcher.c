// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests which descriptors are accepted from the symbol fetcher, which a hostile server may control.
 * Includes fetcher.c, whose function for this is static.
 */
#include "symbolizer/fetcher.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cmocka.h>

/* Passes an answer with the descriptor to the fetcher. Returns true if the module got it. */
static bool is_taken(int fd)
{
	struct module module = {.fetching = true, .fetched_fd = -1};
	struct module *waiting[] = {&module};
	struct fetcher fetcher = {.waiting = waiting, .waiting_cnt = 1};
	struct message answer = {.fd = fd};
	bool taken;

	assert_int_equal(take_file(&fetcher, &answer), 0);
	assert_int_equal(fetcher.waiting_cnt, 0);
	assert_false(module.fetching);
	taken = module.fetched_fd >= 0;
	assert_int_equal(taken ? module.fetched_fd : answer.fd, fd);
	if (fd >= 0)
		close(fd);
	return taken;
}

static void files(void **state)
{
	assert_true(is_taken(open("/proc/self/exe", O_RDONLY)));
	assert_false(is_taken(-1));
}

static void others(void **state)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_false(is_taken(pair[0]));
	assert_false(is_taken(pair[1]));
	assert_int_equal(pipe(pair), 0);
	assert_false(is_taken(pair[0]));
	assert_false(is_taken(pair[1]));
	assert_false(is_taken(open("/", O_RDONLY | O_DIRECTORY)));
	assert_false(is_taken(open("/dev/zero", O_RDONLY)));
	/* Opening by O_PATH needs no permission to read. */
	assert_false(is_taken(open("/proc/self/exe", O_PATH)));
	/* The file must not be writable. */
	assert_false(is_taken(open("/proc/self/comm", O_WRONLY)));
	assert_false(is_taken(memfd_create("downloaded", MFD_CLOEXEC)));
}

static char home[] = "/tmp/memleak-home-XXXXXX";

/* Checks that the user's cache is opened, and that libdebuginfod is told to use it. */
static void expect_cache(const char *name)
{
	char path[64];
	struct stat named, opened;
	int fd = open_user_cache();

	snprintf(path, sizeof(path), "%s/%s", home, name);
	assert_true(fd >= 0);
	assert_int_equal(stat(path, &named), 0);
	assert_int_equal(fstat(fd, &opened), 0);
	assert_int_equal(named.st_ino, opened.st_ino);
	assert_string_equal(getenv("DEBUGINFOD_CACHE_PATH"), path);
	close(fd);
	assert_int_equal(rmdir(path), 0);
	unsetenv("DEBUGINFOD_CACHE_PATH");
}

static void user_caches(void **state)
{
	char path[64];

	assert_non_null(mkdtemp(home));
	setenv("HOME", home, 1);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("DEBUGINFOD_CACHE_PATH");
	expect_cache(".cache/debuginfod_client");
	snprintf(path, sizeof(path), "%s/.cache", home);
	assert_int_equal(rmdir(path), 0);
	snprintf(path, sizeof(path), "%s/xdg", home);
	setenv("XDG_CACHE_HOME", path, 1);
	expect_cache("xdg/debuginfod_client");
	assert_int_equal(rmdir(path), 0);
	snprintf(path, sizeof(path), "%s/.debuginfod_client_cache", home);
	assert_int_equal(mkdir(path, 0700), 0);
	expect_cache(".debuginfod_client_cache");
	snprintf(path, sizeof(path), "%s/set", home);
	setenv("DEBUGINFOD_CACHE_PATH", path, 1);
	expect_cache("set");
	assert_int_equal(rmdir(home), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files),
		cmocka_unit_test(others),
		cmocka_unit_test(user_caches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
