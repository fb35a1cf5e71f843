// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests following the mappings of real processes, most of which have ended when their mappings are
 * queried. Needs root.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "loader/target/map_events.h"
#include "symbolizer/symbolizer.h"
#include "tests/unit/lib/process.h"

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

/*
 * Maximum time between two reads of the ring buffers, in milliseconds. Short, as events of all
 * programs on the machine fill them.
 */
#define LOOK_MS 2

/*
 * Mapping events, and a real-time thread that reads them. On a busy machine a thread of normal
 * priority would be late, and the ring buffers would overflow.
 */
struct watch {
	struct map_events *events; /* mapping events; NULL if not available */
	pthread_t reader;
	bool reads; /* true if the thread was started */
	atomic_bool ends;
};

static void *read_events(void *arg)
{
	struct watch *watch = arg;
	struct pollfd waits = {.fd = map_events__poll_fd(watch->events), .events = POLLIN};

	while (!watch->ends) {
		poll(&waits, 1, LOOK_MS);
		map_events__consume(watch->events);
	}
	return NULL;
}

/* Starts the thread, with real-time priority if this is permitted. */
static int start_reader(struct watch *watch)
{
	const struct sched_param first = {.sched_priority = 1};
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &first);
	err = pthread_create(&watch->reader, &attr, read_events, watch);
	pthread_attr_destroy(&attr);
	if (err == EPERM)
		err = pthread_create(&watch->reader, NULL, read_events, watch);
	watch->reads = !err;
	return -err;
}

static void end_reader(struct watch *watch)
{
	if (!watch->reads)
		return;
	watch->ends = true;
	pthread_join(watch->reader, NULL);
	watch->reads = false;
}

static int open_events(void **state)
{
	static struct watch watch;
	int err;

	watch = (struct watch){0};
	*state = &watch;
	err = map_events__new(&watch.events);
	/* libbpf reads the number of CPUs from /sys. If /sys is not mounted, skip the tests. */
	if (err == -ENOENT && access("/sys/devices/system/cpu/possible", F_OK))
		return 0;
	if (err)
		return err == -EACCES || err == -EPERM ? 0 : err;
	return start_reader(&watch);
}

static int close_events(void **state)
{
	struct watch *watch = *state;

	end_reader(watch);
	map_events__free(watch->events);
	return 0;
}

/* Skips the test if events are not available. */
static struct watch *watch_of(void **state)
{
	struct watch *watch = *state;

	if (!watch->events) {
		print_message("skipped: following mappings needs root and /sys\n");
		skip();
	}
	return watch;
}

/* Stops the thread, and reads and returns the remaining events. */
static struct map_events *end_watch(struct watch *watch)
{
	end_reader(watch);
	map_events__consume(watch->events);
	return watch->events;
}

static int run_on(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus);
}

static pid_t start_true(int cpu)
{
	pid_t pid = fork();

	if (!pid) {
		run_on(cpu);
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	return pid;
}

static void wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static const struct mapping *find_path(const struct proc_maps *maps, const char *path)
{
	for_each_mapping (mapping, maps)
		if (strstr(mapping->path, path))
			return mapping;
	return NULL;
}

/*
 * Returns the highest end with which a mapping may be recorded. The dynamic linker first maps the
 * whole file with the permissions of its first segment, then maps the other segments over that. As
 * only executable mappings are recorded, an executable first segment may be recorded with the data
 * segments behind it.
 */
static uint64_t recorded_end_max(const struct proc_maps *real, const struct mapping *mapping)
{
	uint64_t end = mapping->end;

	if (mapping->offset || !mapping->file.ino)
		return end;
	for_each_mapping (m, real)
		if (m->start >= end && !m->executable &&
		    (file_id_equal(&m->file, &mapping->file) || (m->start == end && !*m->path)))
			end = m->end;
	return end;
}

static void assert_same_code(const struct proc_maps *recorded, const struct proc_maps *real)
{
	for_each_mapping (mapping, real) {
		const struct mapping *same = proc_maps_find(recorded, mapping->start);

		if (!mapping->executable || mapping->start > INT64_MAX)
			continue;
		assert_non_null(same);
		assert_int_equal(same->start, mapping->start);
		assert_in_range(same->end, mapping->end, recorded_end_max(real, mapping));
		assert_int_equal(same->offset, mapping->offset);
		assert_int_equal(same->file.ino, mapping->file.ino);
		assert_int_equal(same->file.dev, mapping->file.dev);
		assert_true(same->executable && same->readable == mapping->readable &&
			    same->writable == mapping->writable && same->shared == mapping->shared);
		assert_string_equal(same->path, mapping->path);
	}
}

/* The recorded mappings of a sleeping process equal those in /proc/PID/maps. */
static void as_in_proc(void **state)
{
	struct watch *watch = watch_of(state);
	struct map_events *events;
	struct proc_maps recorded, real;
	int in[2], out[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execl("/proc/self/exe", "child", "wait", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	assert_int_equal(read(out[0], &byte, 1), 1);
	events = end_watch(watch);
	assert_int_equal(proc_maps_read(pid, &real), 0);
	assert_int_equal(map_events__maps(events, pid, IMAGE_NEWEST, &recorded), 0);
	assert_same_code(&recorded, &real);
	assert_non_null(find_path(&recorded, "test_map_events"));
	assert_non_null(find_path(&recorded, "[vdso]"));
	proc_maps_deinit(&recorded);
	proc_maps_deinit(&real);
	close(in[1]);
	close(out[0]);
	wait_for(pid);
}

/*
 * Starts two hundred processes on all CPUs. After the processes have ended, the records of each of
 * them are complete.
 */
static void many_that_ended(void **state)
{
	enum { CNT = 200 };
	struct watch *watch = watch_of(state);
	int64_t began_ns = (int64_t)clock_ns(CLOCK_REALTIME), ended_ns;
	int cpu_cnt = (int)sysconf(_SC_NPROCESSORS_ONLN);
	struct map_events *events;
	pid_t pids[CNT];

	/* Meanwhile, events of different CPUs may be read in any order. */
	for (int i = 0; i < CNT; i++)
		pids[i] = start_true(i % cpu_cnt);
	for (int i = 0; i < CNT; i++)
		wait_for(pids[i]);
	events = end_watch(watch);
	/* All recorded times lie between began_ns and now. */
	ended_ns = (int64_t)clock_ns(CLOCK_REALTIME);
	for (int i = 0; i < CNT; i++) {
		const struct mapping *program, *libc;
		struct proc_maps maps;

		assert_int_equal(map_events__maps(events, pids[i], IMAGE_NEWEST, &maps), 0);
		program = find_path(&maps, "/bin/true");
		libc = find_path(&maps, "/libc.so.6");
		assert_non_null(program);
		assert_non_null(libc);
		assert_non_null(find_path(&maps, "/ld-linux"));
		assert_non_null(find_path(&maps, "[vdso]"));
		/* Mappings of the test program, from before the exec, are gone. */
		assert_null(find_path(&maps, "test_map_events"));
		assert_true(program->since_ns > began_ns && program->since_ns < ended_ns);
		assert_true(libc->since_ns > began_ns && libc->since_ns < ended_ns);
		assert_string_equal(map_events__comm(events, pids[i], IMAGE_NEWEST), "true");
		proc_maps_deinit(&maps);
		map_events__forget(events, pids[i]);
		assert_int_equal(map_events__maps(events, pids[i], IMAGE_NEWEST, &maps), -ENOENT);
	}
}

/* A shell calls exec() to run "true": the time of a query selects one of the two programs. */
static void image_of_a_time(void **state)
{
	struct watch *watch = watch_of(state);
	struct map_events *events;
	struct proc_maps maps;
	uint64_t shell_ns;
	pid_t pid = fork();

	if (!pid) {
		execl("/bin/sh", "sh", "-c", "kill -STOP $$; exec /bin/true", (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	shell_ns = clock_ns(CLOCK_MONOTONIC);
	kill(pid, SIGCONT);
	wait_for(pid);
	events = end_watch(watch);
	assert_int_equal(map_events__maps(events, pid, shell_ns, &maps), 0);
	assert_null(find_path(&maps, "/bin/true"));
	assert_non_null(find_path(&maps, "sh"));
	proc_maps_deinit(&maps);
	assert_string_equal(map_events__comm(events, pid, shell_ns), "sh");
	assert_int_equal(map_events__maps(events, pid, IMAGE_NEWEST, &maps), 0);
	assert_non_null(find_path(&maps, "/bin/true"));
	proc_maps_deinit(&maps);
	/* No program is found for a time after the process's end or before its start. */
	assert_int_equal(map_events__maps(events, pid, clock_ns(CLOCK_MONOTONIC), &maps), -ENOENT);
	assert_int_equal(map_events__maps(events, pid, 1, &maps), -ENOENT);
}

/*
 * Maps three executable pages, the middle one from the program's file, and writes their address to
 * stdout.
 */
static void map_code(void)
{
	void *code =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/exe", O_RDONLY);

	mmap((char *)code + PAGE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
	close(fd);
	if (write(STDOUT_FILENO, &code, sizeof(code)) != sizeof(code))
		_exit(1);
}

/*
 * The child that fork_has_its_parents() starts. Maps code, and forks a grandchild that maps more
 * code.
 */
static int fork_child(void)
{
	uint64_t pid;

	map_code();
	pid = (uint64_t)fork();
	if (!pid) {
		map_code();
		_exit(0);
	}
	if (waitpid((pid_t)pid, NULL, 0) != (pid_t)pid)
		return 1;
	return write(STDOUT_FILENO, &pid, sizeof(pid)) != sizeof(pid);
}

static void assert_code_at(const struct proc_maps *maps, uint64_t addr)
{
	const struct mapping *first = proc_maps_find(maps, addr);
	const struct mapping *middle = proc_maps_find(maps, addr + PAGE);
	const struct mapping *last = proc_maps_find(maps, addr + 2 * PAGE);

	assert_true(first && middle && last && first != middle && middle != last);
	assert_string_equal(first->path, "");
	assert_int_equal(middle->end - middle->start, PAGE);
	assert_non_null(strstr(middle->path, "test_map_events"));
	assert_int_equal(middle->offset, 0);
	assert_string_equal(last->path, "");
	assert_int_equal(last->offset, 0);
}

static void fork_has_its_parents(void **state)
{
	struct watch *watch = watch_of(state);
	struct proc_maps of_parent, of_child;
	struct map_events *events;
	const struct mapping *there;
	uint64_t parents, childs, child;
	pid_t pid;
	int out[2];

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		dup2(out[1], STDOUT_FILENO);
		execl("/proc/self/exe", "child", "fork", (char *)NULL);
		_exit(127);
	}
	assert_int_equal(read(out[0], &parents, sizeof(parents)), sizeof(parents));
	assert_int_equal(read(out[0], &childs, sizeof(childs)), sizeof(childs));
	assert_int_equal(read(out[0], &child, sizeof(child)), sizeof(child));
	close(out[0]);
	close(out[1]);
	wait_for(pid);
	events = end_watch(watch);
	assert_int_equal(map_events__maps(events, pid, IMAGE_NEWEST, &of_parent), 0);
	assert_int_equal(map_events__maps(events, (pid_t)child, IMAGE_NEWEST, &of_child), 0);
	assert_code_at(&of_parent, parents);
	assert_code_at(&of_child, parents);
	assert_code_at(&of_child, childs);
	/*
	 * The parent has no mapping at the child's address, except possibly one from before the
	 * fork whose unmapping was not recorded.
	 */
	there = proc_maps_find(&of_parent, childs + PAGE);
	assert_true(!there || there->start < childs);
	assert_non_null(find_path(&of_child, "/libc.so.6"));
	proc_maps_deinit(&of_parent);
	proc_maps_deinit(&of_child);
}

static void names_of_one_that_ended(void **state)
{
	struct watch *watch = watch_of(state);
	struct sym_query query = {.exact = true};
	const struct mapping *own_libc, *libc;
	const struct sym_location *location;
	struct proc_maps own, maps;
	struct map_events *events;
	struct symbolizer *sym;
	struct symspace *space;
	pid_t pid;

	pid = start_true(0);
	wait_for(pid);
	events = end_watch(watch);
	assert_int_equal(symbolizer__new(&sym), 0);
	assert_int_equal(proc_maps_read(getpid(), &own), 0);
	assert_int_equal(map_events__maps(events, pid, IMAGE_NEWEST, &maps), 0);
	own_libc = proc_maps_find(&own, (uintptr_t)getppid);
	libc = find_path(&maps, "/libc.so.6");
	assert_true(own_libc && libc && own_libc->file.ino == libc->file.ino);
	query.addr = (uintptr_t)getppid - own_libc->start + own_libc->offset - libc->offset +
		     libc->start;
	assert_int_equal(symspace__new_ended(sym, &maps, &space), 0);
	assert_int_equal(symspace__resolve(space, &query, 1, patience(), &location), 0);
	assert_string_equal(location->module, libc->path);
	assert_non_null(location->frames[0].symbol);
	assert_non_null(strstr(location->frames[0].symbol, "getppid"));
	symspace__free(space);
	symbolizer__free(sym);
	proc_maps_deinit(&own);
	proc_maps_deinit(&maps);
}

/* Nothing is known about processes started before events were recorded, such as this process. */
static void nothing_of_those_before(void **state)
{
	struct map_events *events = end_watch(watch_of(state));
	struct proc_maps maps;
	pid_t pid;

	assert_int_equal(map_events__maps(events, getpid(), IMAGE_NEWEST, &maps), -ENOENT);
	assert_int_equal(map_events__maps(events, -1, IMAGE_NEWEST, &maps), -ENOENT);
	pid = fork();
	if (!pid)
		_exit(0);
	wait_for(pid);
	map_events__consume(events);
	assert_int_equal(map_events__maps(events, pid, IMAGE_NEWEST, &maps), -ENOENT);
	assert_null(map_events__comm(events, pid, IMAGE_NEWEST));
}

/*
 * Fills the ring buffer of the current CPU. The last records are the shortest possible, so that
 * afterwards no record of any kind fits.
 */
static void fill_ring(void)
{
	char *code = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[16];

	assert_true(code != MAP_FAILED);
	for (int i = 0; i < 20000; i++) {
		assert_int_equal(mprotect(code, PAGE, PROT_READ | PROT_EXEC), 0);
		assert_int_equal(mprotect(code, PAGE, PROT_READ), 0);
	}
	munmap(code, PAGE);
	assert_int_equal(prctl(PR_GET_NAME, name), 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(prctl(PR_SET_NAME, "x"), 0);
	assert_int_equal(prctl(PR_SET_NAME, name), 0);
}

/*
 * Nobody reads the ring buffer, so it overflows: no wrong mappings may be returned afterwards.
 */
static void losses_are_noticed(void **state)
{
	struct map_events *events = end_watch(watch_of(state));
	struct pollfd waits = {.fd = map_events__poll_fd(events), .events = POLLIN};
	int cpu = sched_getcpu();
	struct proc_maps maps;
	cpu_set_t all;
	pid_t pid;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	assert_int_equal(run_on(cpu), 0);
	fill_ring();
	assert_int_equal(poll(&waits, 1, (int)PATIENCE_MS), 1);
	pid = start_true(cpu);
	wait_for(pid);
	map_events__consume(events);
	assert_int_equal(map_events__maps(events, pid, IMAGE_NEWEST, &maps), -ENOENT);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

static int child_main(const char *what)
{
	char byte = 0;

	if (!strcmp(what, "fork"))
		return fork_child();
	if (write(STDOUT_FILENO, &byte, 1) != 1)
		return 1;
	return read(STDIN_FILENO, &byte, 1) != 0;
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_events, close_events)
	const struct CMUnitTest tests[] = {
		TEST(as_in_proc),
		TEST(many_that_ended),
		TEST(image_of_a_time),
		TEST(fork_has_its_parents),
		TEST(names_of_one_that_ended),
		TEST(nothing_of_those_before),
		TEST(losses_are_noticed),
	};

	if (argc > 1)
		return child_main(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
