// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests pictures (consistent copies of memory and registers) of processes, each with a special
 * property.
 */
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "loader/target/cgroups.h"
#include "proof/picture.h"
#include "tests/unit/lib/process.h"
#include "tests/unit/lib/rights.h"

#define MARK 0x5eed5eed12345678ULL
#define MEMORY_MARK 0x6d656d6f72796d61ULL
#define CGROUP_BYTES (64LL << 20)

static struct picture_taker *taker;

static int set_up(void **state)
{
	return geteuid() ? 0 : picture_taker__new(&taker);
}

static int tear_down(void **state)
{
	picture_taker__free(taker);
	return 0;
}

struct shared {
	volatile uint64_t turns;
	volatile int ready;
	uint64_t *place; /* address of a word in the child with the value MEMORY_MARK */
};

struct running {
	pid_t pid;
	struct shared *shared;
};

/* Runs for ever. Only a register has the value MARK. */
static void burn(struct shared *shared)
{
	shared->ready = 1;
	for (;;) {
		uint64_t mark = MARK;

		for (int i = 0; i < 100000; i++)
			__asm__ volatile("" : "+r"(mark));
		if (mark != MARK)
			_exit(1);
		shared->turns++;
	}
}

static struct running start(void (*prepare)(struct shared *shared))
{
	struct running running;

	need_bpf();
	running.shared = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(running.shared, MAP_FAILED);
	running.pid = fork();
	if (!running.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (prepare)
			prepare(running.shared);
		burn(running.shared);
	}
	while (!running.shared->ready) {
		assert_int_equal(waitpid(running.pid, NULL, WNOHANG), 0);
		usleep(1000);
	}
	return running;
}

static void end(struct running *running)
{
	int status;

	/* The process must still run. */
	uint64_t turns = running->shared->turns, deadline_ns = patience();

	while (running->shared->turns == turns && clock_left_ms(deadline_ns))
		usleep(1000);
	assert_int_not_equal(running->shared->turns, turns);
	assert_int_equal(kill(running->pid, SIGKILL), 0);
	assert_int_equal(waitpid(running->pid, &status, 0), running->pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	munmap(running->shared, sizeof(*running->shared));
}

static struct picture *take(pid_t pid)
{
	struct picture *picture;
	int err = picture_taker__take(taker, pid, false, patience(), &picture);

	if (err)
		print_message("%s\n", strerror(-err));
	assert_int_equal(err, 0);
	return picture;
}

static bool has_word(const struct picture *picture, uint64_t word)
{
	for (size_t i = 0; i < picture->threads.cnt; i++)
		for (size_t j = 0; j < picture->threads.items[i].word_cnt; j++)
			if (picture->threads.items[i].words[j] == word)
				return true;
	return false;
}

static void expect(void (*prepare)(struct shared *shared), enum picture_method method, int copy_err)
{
	struct running running = start(prepare);

	for (int i = 0; i < 5; i++) {
		struct picture *picture = take(running.pid);

		assert_int_equal(picture->copy_err, copy_err);
		assert_int_equal(picture->method, method);
		assert_true(has_word(picture, MARK));
		if (running.shared->place) {
			uint64_t word = 0;

			assert_int_equal(picture->memory->ops->read(
						 picture->memory, (uintptr_t)running.shared->place,
						 &word, sizeof(word)),
					 sizeof(word));
			assert_int_equal(word, MEMORY_MARK);
		}
		assert_true(picture__is_valid(picture));
		picture__release(picture);
		assert_true(picture->stopped_ns > 0);
		picture__free(picture);
	}
	end(&running);
}

static void registers_of_a_runner_are_read(void **state)
{
	expect(NULL, PICTURE_CLONE, 0);
}

/* Installs a filter that kills the process if it forks. */
static void filter_calls(struct shared *shared)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(2);
}

static void who_has_a_filter_makes_no_calls(void **state)
{
	expect(filter_calls, PICTURE_FREEZE, -ENOEXEC);
}

static void become_nobody(struct shared *shared)
{
	if (setgroups(0, NULL) || setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		_exit(2);
}

static void another_users_process(void **state)
{
	expect(become_nobody, PICTURE_CLONE, 0);
}

static void allow_no_more_processes(struct shared *shared)
{
	struct rlimit limit = {1, 1};

	if (setrlimit(RLIMIT_NPROC, &limit))
		_exit(2);
	become_nobody(shared);
}

static void who_may_have_no_children_is_frozen(void **state)
{
	expect(allow_no_more_processes, PICTURE_FREEZE, -EAGAIN);
}

/* Folder of a cgroup with little memory, for the next process. */
static char cgroup[PATH_MAX];

static bool write_file(const char *name, long long number)
{
	char path[PATH_MAX + 64];
	FILE *file;
	bool done;

	snprintf(path, sizeof(path), "%s/%s", cgroup, name);
	file = fopen(path, "we");
	if (!file)
		return false;
	done = fprintf(file, "%lld", number) > 0;
	return !fclose(file) && done;
}

/* False if no cgroup can be made here. */
static bool make_cgroup(void)
{
	cleanup_free char *mount = NULL;
	bool unified;

	mount = cgroup_memory_mount(&unified);
	if (!mount)
		return false;
	snprintf(cgroup, sizeof(cgroup), "%s/memleak-test-%d", mount, (int)getpid());
	if (mkdir(cgroup, 0755))
		return false;
	if (write_file(unified ? "memory.max" : "memory.limit_in_bytes", CGROUP_BYTES))
		return true;
	rmdir(cgroup);
	return false;
}

/* Moves to the cgroup, and uses 7/8 of the memory that the cgroup may have. */
static void live_in_cgroup(struct shared *shared)
{
	size_t bytes = CGROUP_BYTES / 8 * 7;
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || !write_file("cgroup.procs", getpid()))
		_exit(2);
	memset(memory, 1, bytes);
}

/* Pages that the process writes while there is a copy take memory, which may not be left. */
static void who_may_use_no_more_memory_is_frozen(void **state)
{
	uint64_t deadline_ns = patience();

	need_bpf();
	if (!make_cgroup()) {
		print_message("skipped: no memory cgroup can be made here\n");
		skip();
	}
	expect(live_in_cgroup, PICTURE_FREEZE, -ENOMEM);
	while (rmdir(cgroup) && errno == EBUSY && clock_left_ms(deadline_ns))
		usleep(1000);
	assert_int_not_equal(access(cgroup, F_OK), 0);
}

static void keep_from_children(struct shared *shared)
{
	uint64_t *at =
		mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	at[5] = MEMORY_MARK;
	if (at == MAP_FAILED || madvise(at, 1 << 16, MADV_DONTFORK))
		_exit(2);
	shared->place = &at[5];
}

static void what_children_do_not_get_is_read(void **state)
{
	expect(keep_from_children, PICTURE_CLONE, 0);
}

static void *burn_thread(void *arg)
{
	burn(arg);
	return NULL;
}

static void leave_main_thread(struct shared *shared)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, burn_thread, shared))
		_exit(2);
	syscall(SYS_exit, 0);
}

static void main_thread_has_ended(void **state)
{
	expect(leave_main_thread, PICTURE_CLONE, 0);
}

static void ignore_traps(struct shared *shared)
{
	signal(SIGTRAP, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
}

static uint64_t ignored_signals(pid_t pid)
{
	char path[64], line[256];
	unsigned long ignored = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "SigIgn: %lx", &ignored);
	fclose(file);
	return ignored;
}

static void ignored_signals_stay_ignored(void **state)
{
	struct running running = start(ignore_traps);
	uint64_t before = ignored_signals(running.pid);

	for (int i = 0; i < 5; i++)
		picture__free(take(running.pid));
	assert_true(before & 1ULL << (SIGTRAP - 1));
	assert_int_equal(ignored_signals(running.pid), before);
	end(&running);
}

static void who_is_traced_is_left_alone(void **state)
{
	struct running running = start(NULL);
	struct picture *picture;

	assert_int_equal(ptrace(PTRACE_SEIZE, running.pid, NULL, NULL), 0);
	assert_int_equal(picture_taker__take(taker, running.pid, false, patience(), &picture),
			 -EBUSY);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, running.pid, NULL, NULL), 0);
	assert_int_equal(waitpid(running.pid, NULL, 0), running.pid);
	assert_int_equal(ptrace(PTRACE_DETACH, running.pid, NULL, NULL), 0);
	picture__free(take(running.pid));
	end(&running);
}

/*
 * If a picture is not released, the process goes on at the deadline. If the process could not be
 * stopped before the deadline, there is no picture, and the process was never stopped for long.
 */
static void a_picture_ends_at_its_deadline(void **state)
{
	struct running running = start(filter_calls);
	struct picture *picture = NULL;
	int err = picture_taker__take(taker, running.pid, false, clock_deadline_ns(200000000),
				      &picture);

	assert_true(!err || err == -EAGAIN);
	if (!err)
		assert_int_equal(picture->method, PICTURE_FREEZE);
	end(&running);
	picture__free(picture);
}

/* If a picture with a late deadline is not released, the process goes on long before. */
static void a_picture_ends_before_a_late_deadline(void **state)
{
	struct running running = start(filter_calls);
	struct picture *picture = take(running.pid);

	assert_int_equal(picture->method, PICTURE_FREEZE);
	end(&running);
	picture__free(picture);
}

static void a_stopped_process_stays_stopped(void **state)
{
	struct running running = start(NULL);
	struct picture *picture;
	int status;

	assert_int_equal(kill(running.pid, SIGSTOP), 0);
	assert_int_equal(waitpid(running.pid, &status, WUNTRACED), running.pid);
	picture = take(running.pid);
	assert_int_equal(picture->method, PICTURE_STILL);
	assert_true(has_word(picture, MARK));
	assert_true(picture__is_valid(picture));
	picture__free(picture);
	assert_int_equal(kill(running.pid, SIGCONT), 0);
	end(&running);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_of_a_runner_are_read),
		cmocka_unit_test(who_has_a_filter_makes_no_calls),
		cmocka_unit_test(another_users_process),
		cmocka_unit_test(who_may_have_no_children_is_frozen),
		cmocka_unit_test(who_may_use_no_more_memory_is_frozen),
		cmocka_unit_test(what_children_do_not_get_is_read),
		cmocka_unit_test(main_thread_has_ended),
		cmocka_unit_test(ignored_signals_stay_ignored),
		cmocka_unit_test(who_is_traced_is_left_alone),
		cmocka_unit_test(a_picture_ends_at_its_deadline),
		cmocka_unit_test(a_picture_ends_before_a_late_deadline),
		cmocka_unit_test(a_stopped_process_stays_stopped),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
