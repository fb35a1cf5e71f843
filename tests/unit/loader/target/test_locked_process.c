// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests reading a process while reads of its mappings hang, or a file that it maps is leased. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limited_call.h"
#include "base/path.h"
#include "base/proc.h"
#include "base/proc_maps.h"
#include "loader/target/modules.h"
#include "symbolizer/symbolizer.h"

struct locked {
	pid_t pid;
	int pipe_fds[2]; /* pipe; reads of the process hang until its write end is closed */
	struct symbolizer *sym;
};

static int block(int fd, void *data)
{
	return (int)read(fd, data, 1);
}

/* Starts a process (a shell if `shell`) that stops itself, and makes reads of it hang. */
static int start(void **state, bool shell)
{
	static const struct limited_function function = {.run = block, .size = 1};
	static struct locked locked;
	char byte = 0;

	locked.pid = fork();
	if (!locked.pid) {
		if (shell)
			execl("/bin/sh", "sh", "-c", "kill -STOP $$", (char *)NULL);
		raise(SIGSTOP);
		_exit(1);
	}
	*state = &locked;
	if (symbolizer__new(&locked.sym) || pipe(locked.pipe_fds) ||
	    waitpid(locked.pid, NULL, WUNTRACED) != locked.pid)
		return -1;
	return limited_call(locked.pid, locked.pipe_fds[0], &function, &byte) == -EAGAIN ? 0 : -1;
}

static int set_up(void **state)
{
	return start(state, false);
}

static int set_up_shell(void **state)
{
	return start(state, true);
}

static int tear_down(void **state)
{
	struct locked *locked = *state;

	close(locked->pipe_fds[0]);
	symbolizer__free(locked->sym);
	kill(locked->pid, SIGKILL);
	return waitpid(locked->pid, NULL, 0) == locked->pid ? 0 : -1;
}

/* Ends the hanging read. Waits until the mappings can be read. */
static void unlock(struct locked *locked, struct proc_maps *ret)
{
	int err;

	close(locked->pipe_fds[1]);
	while ((err = proc_maps_read(locked->pid, ret)) == -EAGAIN)
		usleep(1000);
	assert_int_equal(err, 0);
}

static void nothing_is_final(void **state)
{
	struct locked *locked = *state;
	uint64_t addr = (uintptr_t)nothing_is_final;
	struct symspace *space;
	struct module_list list;
	struct proc_maps maps;
	int fd;

	if (geteuid())
		skip(); /* mapped files cannot be opened */
	assert_int_equal(proc_maps_read(locked->pid, &maps), -EAGAIN);
	assert_int_equal(module_list_init(locked->pid, 0, 0, &list), -EAGAIN);
	assert_int_equal(process_open_mapping(locked->pid, &(struct mapping){.end = 1}), -EAGAIN);
	assert_int_equal(symspace__new(locked->sym, locked->pid, &space), 0);
	assert_int_equal(symspace__refresh(space), -EAGAIN);
	assert_int_equal(symspace__file(space, addr), 0);

	unlock(locked, &maps);
	fd = process_open_mapping(locked->pid, proc_maps_find(&maps, addr));
	assert_return_code(fd, -fd);
	close(fd);
	proc_maps_deinit(&maps);
	assert_int_equal(symspace__refresh(space), 0);
	assert_int_not_equal(symspace__file(space, addr), 0);
	symspace__free(space);
}

/* While a process is in exec, these calls would hang; those for its other files never do. */
static void nothing_of_it_is_opened(void **state)
{
	static const char *const names[] = {"mem", "maps", "auxv", "pagemap", "smaps"};
	struct locked *locked = *state;
	char target[PATH_MAX], *text;
	struct proc_maps maps;
	struct stat st;
	int fd;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(proc_open(locked->pid, names[i], O_RDONLY), -EAGAIN);
	assert_int_equal(process_open_program(locked->pid), -EAGAIN);
	assert_int_equal(proc_read(locked->pid, "stat", &text), -EAGAIN);
	assert_int_equal(proc_readlink(locked->pid, -1, "exe", target), -EAGAIN);
	assert_int_equal(proc_stat_link(locked->pid, -1, "ns/mnt", &st), -EAGAIN);
	assert_false(proc_has_own_root(locked->pid));
	assert_false(proc_share_memory(locked->pid, locked->pid));
	assert_false(proc_share_memory(getpid(), locked->pid));
	if (!geteuid()) /* else kcmp() may not be permitted for the parent */
		assert_true(proc_share_memory(getppid(), getppid()));
	fd = proc_open(locked->pid, "status", O_RDONLY);
	assert_return_code(fd, -fd);
	close(fd);
	assert_true(proc_shows_memory(locked->pid));

	unlock(locked, &maps);
	proc_maps_deinit(&maps);
	assert_true(proc_share_memory(locked->pid, locked->pid));
	assert_true(proc_readlink(locked->pid, -1, "exe", target) > 0);
	assert_int_equal(proc_stat_link(locked->pid, -1, "ns/mnt", &st), 0);
	assert_true(proc_has_own_root(locked->pid));
	fd = proc_open(locked->pid, "mem", O_RDONLY);
	assert_return_code(fd, -fd);
	close(fd);
}

/* Returns the address of the code of a program's file. */
static uint64_t code_of(const struct proc_maps *maps, const char *path)
{
	for (size_t i = 0; i < maps->cnt; i++)
		if (maps->mappings[i].executable && !strcmp(maps->mappings[i].path, path))
			return maps->mappings[i].start;
	fail_msg("%s is not mapped", path);
	return 0;
}

/*
 * The shell was started as "sh", but its file has another name, such as "dash". Both names are
 * found, although they could not be read at first.
 */
static void name_is_read_later(void **state)
{
	struct locked *locked = *state;
	const struct sym_location *location;
	struct sym_query query = {.exact = true};
	struct symspace *space;
	struct proc_maps maps;
	char exe[64], path[PATH_MAX];
	ssize_t len;

	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)locked->pid);
	len = readlink(exe, path, sizeof(path) - 1);
	assert_return_code(len, errno);
	path[len] = '\0';
	assert_int_equal(symspace__new(locked->sym, locked->pid, &space), 0);
	unlock(locked, &maps);
	query.addr = code_of(&maps, path);
	assert_int_equal(symspace__update(space, &maps), 0);
	assert_int_equal(symspace__resolve(space, &query, 1, 0, &location), 0);
	assert_string_equal(location->module, path);
	if (strcmp(path_name(path), "sh") != 0) {
		assert_non_null(location->known_as);
		assert_string_equal(location->known_as, "sh");
	}
	proc_maps_deinit(&maps);
	symspace__free(space);
}

/*
 * A lease on a file may last for ever. Opening the file must fail with -EBUSY, not with -EAGAIN,
 * which would mean to try again.
 */
static void leased_file(void **state)
{
	FILE *file;
	struct proc_maps maps;
	void *at;
	int fd;

	if (geteuid())
		skip(); /* mapped files cannot be opened */
	file = tmpfile();
	fd = fileno(file);
	assert_return_code(ftruncate(fd, 1), errno);
	at = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	if (fcntl(fd, F_SETLEASE, F_WRLCK))
		skip(); /* the file system has no leases */
	assert_int_equal(proc_maps_read(getpid(), &maps), 0);
	signal(SIGIO, SIG_IGN);
	assert_int_equal(process_open_mapping(getpid(), proc_maps_find(&maps, (uintptr_t)at)),
			 -EBUSY);
	proc_maps_deinit(&maps);
	munmap(at, 1);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leased_file),
		cmocka_unit_test_setup_teardown(nothing_is_final, set_up, tear_down),
		cmocka_unit_test_setup_teardown(name_is_read_later, set_up_shell, tear_down),
		cmocka_unit_test_setup_teardown(nothing_of_it_is_opened, set_up, tear_down),
	};

	limited_calls_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
