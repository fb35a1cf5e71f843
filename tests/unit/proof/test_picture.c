// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests pictures (consistent copies of a process's memory and registers) of children that have
 * pointers only in registers.
 */
#include "proof/picture.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/lib/process.h"
#include "tests/unit/lib/rights.h"

#define MARK 0x5eed5eed12345678ULL
#define VECTOR_MARK 0x5eed5eed87654321ULL

static struct picture_taker *taker;

static int set_up(void **state)
{
	return picture_taker__new(&taker);
}

static int tear_down(void **state)
{
	picture_taker__free(taker);
	return 0;
}

static pid_t start(void (*run)(int ready))
{
	char byte;
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		run(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/*
 * Sleeps with one word that is only in a general register, and another word that is only in a
 * vector register.
 */
static void sleep_with_registers(int ready)
{
	struct timespec long_time = {1000, 0};

	if (write(ready, "r", 1) != 1)
		_exit(1);
#if defined(__x86_64__)
	long ret;

	__asm__ volatile("movabs %[mark], %%rbx\n\t"
			 "movabs %[vector], %%r12\n\t"
			 "movq %%r12, %%xmm9\n\t"
			 "xor %%r12d, %%r12d\n\t"
			 "syscall"
			 : "=a"(ret)
			 : [mark] "i"(MARK), [vector] "i"(VECTOR_MARK), "a"(SYS_nanosleep),
			   "D"(&long_time), "S"(0)
			 : "rbx", "r12", "rcx", "r11", "xmm9", "memory");
#elif defined(__aarch64__)
	register long x0 __asm__("x0") = (long)&long_time;
	register long x1 __asm__("x1") = 0;
	register long x8 __asm__("x8") = SYS_nanosleep;
	uint64_t vector = VECTOR_MARK;

	__asm__ volatile("mov x21, %[mark]\n\t"
			 "fmov d9, %[vector]\n\t"
			 "mov %[vector], xzr\n\t"
			 "svc 0"
			 : "+r"(x0), [vector] "+r"(vector)
			 : [mark] "r"(MARK), "r"(x1), "r"(x8)
			 : "x21", "v9", "memory");
#endif
}

static bool has_word(const struct picture *picture, uint64_t word)
{
	for (size_t i = 0; i < picture->threads.cnt; i++)
		for (size_t j = 0; j < picture->threads.items[i].word_cnt; j++)
			if (picture->threads.items[i].words[j] == word)
				return true;
	return false;
}

static void wait_for_sleep(pid_t pid)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (state != 'S') {
		FILE *file = fopen(path, "r");

		assert_int_equal(fscanf(file, "%*d %*s %c", &state), 1);
		fclose(file);
	}
}

static void registers_of_a_sleeper_are_read(void **state)
{
	struct picture *picture;
	int status;
	pid_t pid;

	need_bpf();
	pid = start(sleep_with_registers);
	wait_for_sleep(pid);
	assert_int_equal(picture_taker__take(taker, pid, false, patience(), &picture), 0);
	assert_int_equal(picture->method, PICTURE_STILL);
	assert_int_equal(picture->stopped_ns, 0);
	assert_int_equal(picture->threads.cnt, 1);
	assert_int_equal(picture->threads.items[0].tid, pid);
	assert_true(picture->threads.items[0].known);
	assert_true(has_word(picture, MARK));
	assert_true(has_word(picture, VECTOR_MARK));
	assert_true(picture__is_valid(picture));
	/* The process runs for a moment, so the picture is no longer valid. */
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_int_equal(waitpid(pid, &status, WCONTINUED), pid);
	assert_false(picture__is_valid(picture));
	picture__free(picture);
	end(pid);
}

static void nobody_is_gone(void **state)
{
	struct picture *picture;
	pid_t pid;

	need_bpf();
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_int_equal(picture_taker__take(taker, pid, false, patience(), &picture), -ESRCH);
}

/* Only one picture is taken of a process at its exit, so it must not be taken too early. */
static void end_is_taken_once_noted(void **state)
{
	struct picture_taker *ender;
	struct picture *picture;
	struct pollfd at_end = {.events = POLLIN};
	pid_t pid;

	NEED_ROOT(CAP_SYS_PTRACE);
	pid = start(sleep_with_registers);
	assert_int_equal(picture_taker__new(&ender), 0);
	assert_int_equal(picture_taker__watch_end(ender, pid), 0);
	assert_int_equal(kill(pid, SIGTERM), 0);
	at_end.fd = picture_taker__end_fd(ender);
	assert_int_equal(poll(&at_end, 1, (int)PATIENCE_MS), 1);
	assert_int_equal(picture_taker__take(ender, pid, false, patience(), &picture), -EAGAIN);
	assert_true(picture_taker__note_end(ender));
	assert_int_equal(picture_taker__take(ender, pid, false, patience(), &picture), 0);
	assert_int_equal(picture->method, PICTURE_ENDED);
	picture__free(picture);
	picture_taker__free(ender);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_of_a_sleeper_are_read),
		cmocka_unit_test(end_is_taken_once_noted),
		cmocka_unit_test(nobody_is_gone),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
