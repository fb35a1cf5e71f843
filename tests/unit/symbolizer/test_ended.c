// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests symbolizing processes that end, call exec(), or lose their files meanwhile. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>

#include "tests/unit/symbolizer/known.h"

static void exited_process(void **state)
{
	struct symbolizer *sym = *state;
	struct child child = child_start("/proc/self/exe");
	struct symspace *space;

	assert_int_equal(symspace__new(sym, child.pid, &space), 0);
	child_end(&child);
	assert_int_equal(symspace__refresh(space), -ESRCH);
	assert_known(resolve_one(space, child.known.addr, false, BUDGET_MS), &child.known, true);
	symspace__free(space);
	assert_int_equal(symspace__new(sym, child.pid, &space), -ESRCH);
}

/*
 * An address space (symspace) belongs to one program: after exec() it cannot be refreshed any more.
 */
static void exec_ends_image(void **state)
{
	struct symbolizer *sym = *state;
	struct symspace *space;
	int go[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		close(go[1]);
		if (!read(go[0], &byte, 1))
			execl("/bin/sleep", "sleep", "1000", (char *)NULL);
		_exit(1);
	}
	assert_int_equal(symspace__new(sym, pid, &space), 0);
	close(go[0]);
	close(go[1]);
	while (!symspace__refresh(space))
		usleep(1000);
	assert_int_equal(symspace__refresh(space), -ESRCH);
	assert_string_equal(
		resolve_one(space, (uintptr_t)known_function, true, BUDGET_MS)->frames[0].symbol,
		"known_function");
	symspace__free(space);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void deleted_program(void **state)
{
	struct symbolizer *sym = *state;
	const struct sym_location *loc;
	struct symspace *space;
	struct child child;

	assert_true(run("cp \"$SELF\" gone"));
	child = child_start(in_folder("gone"));
	assert_true(run("rm gone && cp /bin/sleep gone"));
	assert_int_equal(symspace__new(sym, child.pid, &space), 0);
	loc = resolve_one(space, child.known.addr, false, BUDGET_MS);
	assert_known(loc, &child.known, true);
	assert_true(ends_with(loc->module, "/gone"));
	child_end(&child);
	symspace__free(space);
}

/*
 * Pretends that files which no space maps were unmapped long ago, and closes them. Returns the
 * number of files that are still open.
 */
static size_t close_unmapped(struct symbolizer *sym)
{
	size_t open_cnt = 0;

	for (size_t i = 0; i < sym->modules.cnt; i++)
		sym->modules.items[i]->mapped_ns = 0;
	symbolizer__close_unmapped(sym);
	for (size_t i = 0; i < sym->modules.cnt; i++)
		open_cnt += sym->modules.items[i]->fd >= 0;
	return open_cnt;
}

/*
 * Files that no space maps are closed, also in the helper. They are opened again when a space maps
 * them.
 */
static void closed_when_unmapped(void **state)
{
	struct symbolizer *sym = *state;
	struct symspace *space;
	struct child child = child_start("/proc/self/exe");
	size_t opened;

	assert_int_equal(symspace__new(sym, child.pid, &space), 0);
	assert_known(resolve_one(space, child.known.addr, false, BUDGET_MS), &child.known, true);
	opened = sym->client.opened;
	assert_int_not_equal(opened, 0);
	assert_int_equal(close_unmapped(sym), sym->modules.cnt);
	assert_int_equal(sym->client.opened, opened);
	symspace__free(space);
	assert_int_equal(close_unmapped(sym), 0);
	assert_int_equal(sym->modules.open_cnt, 0);
	assert_int_equal(sym->client.opened, 0);
	assert_int_equal(symspace__new(sym, child.pid, &space), 0);
	assert_string_equal(resolve_one(space, child.known.addr, true, BUDGET_MS)->frames[0].symbol,
			    "known_function");
	assert_int_not_equal(sym->client.opened, 0);
	child_end(&child);
	symspace__free(space);
}

/* True if a file with this path is open after close_unmapped(). */
static bool stays_open(struct symbolizer *sym, const char *path)
{
	bool is_open = false;

	close_unmapped(sym);
	for (size_t i = 0; i < sym->modules.cnt; i++)
		is_open |= sym->modules.items[i]->fd >= 0 &&
			   !strcmp(sym->modules.items[i]->path, path);
	return is_open;
}

/*
 * A file that a living process has unmapped is closed, and opened again when further names are
 * needed. It stays open if it was deleted, renamed or replaced, since it could not be opened again.
 */
static void closed_when_process_unmaps(void **state)
{
	static const char *const changes[] = {
		"true",
		"rm library.so",
		"mv library.so renamed.so",
		"ln library.so link.so && rm library.so",
		"mv library.so replaced.so && cp replaced.so library.so",
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		struct symbolizer *sym = *state;
		const char *path = in_folder("library.so");
		struct symspace *space;
		uint64_t first, second;
		void *lib;

		if (!run("echo 'int first(void) { return 1; } int second(void) { return 2; }' "
			 ">library.c && $CC -shared -o library.so library.c"))
			SKIP("no C compiler");
		lib = dlopen(path, RTLD_NOW);
		assert_non_null(lib);
		first = (uintptr_t)dlsym(lib, "first");
		second = (uintptr_t)dlsym(lib, "second");
		assert_int_equal(symspace__new(sym, getpid(), &space), 0);
		assert_string_equal(resolve_one(space, first, true, BUDGET_MS)->frames[0].symbol,
				    "first");
		assert_true(stays_open(sym, path));
		assert_true(run(changes[i]));
		dlclose(lib);
		assert_int_equal(symspace__refresh(space), 0);
		assert_int_equal(stays_open(sym, path), i > 0);
		assert_string_equal(resolve_one(space, second, true, BUDGET_MS)->frames[0].symbol,
				    "second");
		symspace__free(space);
	}
}

static void *outlive(void *arg)
{
	/* This thread keeps the process alive until stdin is closed. */
	char byte;

	_exit(read(STDIN_FILENO, &byte, 1) < 0);
}

/*
 * /proc/PID/maps is empty once the main thread has ended. The memory of the process must be found
 * all the same.
 */
static void first_thread_ended(void **state)
{
	struct symbolizer *sym = *state;
	struct symspace *space;
	struct proc_maps maps;
	int in[2];
	pid_t pid;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		pthread_t thread;

		dup2(in[0], STDIN_FILENO);
		close(in[1]);
		if (pthread_create(&thread, NULL, outlive, NULL))
			_exit(1);
		pthread_exit(NULL);
	}
	close(in[0]);
	do {
		assert_int_equal(proc_maps_read(pid, &maps), 0);
		proc_maps_deinit(&maps);
	} while (maps.cnt);
	assert_int_equal(symspace__new(sym, pid, &space), 0);
	assert_string_equal(
		resolve_one(space, (uintptr_t)outlive, true, BUDGET_MS)->frames[0].symbol,
		"outlive");
	assert_int_equal(symspace__refresh(space), 0);
	symspace__free(space);
	close(in[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int count_open_files(void)
{
	int cnt = 0;

	for (int fd = 0; fd < 1024; fd++)
		cnt += fcntl(fd, F_GETFD) >= 0;
	return cnt;
}

static void nothing_stays_open(void **state)
{
	int before = count_open_files(), with_one_space = 0;
	struct symbolizer *sym;
	struct symspace *space;

	assert_int_equal(symbolizer__new(&sym), 0);
	for (int i = 0; i < 20; i++) {
		struct child child = child_start("/proc/self/exe");

		assert_int_equal(symspace__new(sym, child.pid, &space), 0);
		assert_known(resolve_one(space, child.known.addr, false, BUDGET_MS), &child.known,
			     true);
		assert_int_equal(symspace__refresh(space), 0);
		child_end(&child);
		symspace__free(space);
		if (!with_one_space)
			with_one_space = count_open_files();
		assert_int_equal(count_open_files(), with_one_space);
	}
	symbolizer__free(sym);
	assert_int_equal(count_open_files(), before);
}

static void no_such_process(void **state)
{
	struct symspace *space;

	/* Pid 2 is a kernel thread, which has no memory. INT_MAX is no pid. */
	assert_int_equal(symspace__new(*state, 2, &space), -ESRCH);
	assert_int_equal(symspace__new(*state, INT_MAX, &space), -ESRCH);
}

static int open_symbolizer(void **state)
{
	return symbolizer__new((struct symbolizer **)state);
}

static int close_symbolizer(void **state)
{
	symbolizer__free(*state);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(exited_process, open_symbolizer, close_symbolizer),
		cmocka_unit_test_setup_teardown(closed_when_unmapped, open_symbolizer,
						close_symbolizer),
		cmocka_unit_test_setup_teardown(closed_when_process_unmaps, open_symbolizer,
						close_symbolizer),
		cmocka_unit_test_setup_teardown(exec_ends_image, open_symbolizer, close_symbolizer),
		cmocka_unit_test_setup_teardown(deleted_program, open_symbolizer, close_symbolizer),
		cmocka_unit_test_setup_teardown(first_thread_ended, open_symbolizer,
						close_symbolizer),
		cmocka_unit_test(nothing_stays_open),
		cmocka_unit_test_setup_teardown(no_such_process, open_symbolizer, close_symbolizer),
	};
	int failed;

	if (argc > 1)
		return child_main();
	if (make_folder(NULL))
		return 99;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	remove_folder(NULL);
	return failed;
}
