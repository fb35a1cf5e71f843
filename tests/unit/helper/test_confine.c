// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests what a confined process can and cannot do. For refused system calls see
 * tests/programs/confined.c.
 */
#include "helper/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static bool opens(void)
{
	return open("/etc/passwd", O_RDONLY) >= 0;
}

static bool signals_parent(void)
{
	return !kill(getppid(), 0);
}

#define MUCH (2UL << 30)

static bool maps(size_t len, int flags)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

static bool has_much_memory(void)
{
	return maps(MUCH, MAP_PRIVATE | MAP_ANONYMOUS);
}

static bool has_shared_memory(void)
{
	return maps(MUCH, MAP_SHARED | MAP_ANONYMOUS);
}

static bool has_many_stacks(void)
{
	return maps(MUCH, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN);
}

/* The kernel counts private memory only while it is writable. */
static bool has_much_read_only_memory(void)
{
	const size_t part = 256UL << 20;

	for (size_t len = 0; len < MUCH; len += part) {
		void *at = mmap(NULL, part, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (at == MAP_FAILED || mprotect(at, part, PROT_READ))
			return false;
	}
	return true;
}

static bool makes_files(void)
{
	return memfd_create("table", MFD_CLOEXEC) >= 0;
}

/* A file that the confined process inherits, like those that memleak sends to helpers. */
static int given_fd;

static bool has_environment(void)
{
	return getenv("PATH") != NULL;
}

static bool cannot_allocate(void)
{
	char *block = malloc(64UL << 20);

	if (!block)
		return true;
	memset(block, 1, 64UL << 20);
	free(block);
	return false;
}

static bool cannot_make_tables(void)
{
	char *at;

	if (write(given_fd, "words", 5) != 5)
		return true;
	at = mmap(NULL, 5, PROT_READ, MAP_PRIVATE, given_fd, 0);
	return at == MAP_FAILED || mprotect(at, 5, PROT_READ | PROT_WRITE);
}

/*
 * Calls can() in a confined process. Returns 0 if can() returned true, 1 if it returned false, 2 if
 * confining failed.
 */
static int ask(bool (*can)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (confine(false))
			_exit(2);
		_exit(can() ? 0 : 1);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void can_do_no_harm(void **state)
{
	static const struct {
		const char *what;
		bool (*can)(void);
	} deeds[] = {
		{"opens a file of the system", opens},
		{"signals its parent", signals_parent},
		{"has much memory", has_much_memory},
		{"has shared memory", has_shared_memory},
		{"has many stacks", has_many_stacks},
		{"makes files", makes_files},
		{"has much read-only memory", has_much_read_only_memory},
		{"has an environment", has_environment},
		{"cannot allocate", cannot_allocate},
		{"cannot make tables", cannot_make_tables},
	};

	unsigned int wrong = 0;

	(void)state;
	/* Sanitizers need system calls that the filter refuses. */
	if (HELPER_SANITIZED) {
		print_message("skipped: helpers have no filter under a sanitizer\n");
		skip();
	}
	given_fd = memfd_create("given", MFD_CLOEXEC);
	for (size_t i = 0; i < sizeof(deeds) / sizeof(*deeds); i++) {
		int said = ask(deeds[i].can);

		if (said != 1)
			print_error("%s: %d\n", deeds[i].what, said);
		wrong += said != 1;
	}
	close(given_fd);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(can_do_no_harm)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
