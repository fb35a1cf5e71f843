// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests finding CPython's version and evaluation loop in a file. This program defines CPython's
 * symbols, so its file looks like CPython.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef __x86_64__

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prober/server/interpreter.h"

#define VERSION 0x030e0af0

const uint32_t Py_Version = VERSION;

struct {
	char cookie[8];
	uint64_t version;
	uint64_t is_free_threaded;
} _PyRuntime = {"xdebugpy", VERSION, 0};

/* The first fields of a type, up to tp_dealloc. */
static void free_code(void *code)
{
	(void)code;
}

struct {
	char head[48];
	void (*free)(void *object);
} PyCode_Type = {.free = free_code};

/*
 * An evaluation loop with a cold part that has another symbol, and the function `other` between
 * them. The loop has a tail call to `other`, and bytes that look like a jump into the middle of
 * `other`.
 */
extern const char _PyEval_EvalFrameDefault[], loop_end[], cold_start[], cold_end[];
asm(".pushsection .text.loop, \"ax\", @progbits\n"
    ".globl _PyEval_EvalFrameDefault, loop_end, cold_start, cold_end\n"
    ".type _PyEval_EvalFrameDefault, @function\n"
    "_PyEval_EvalFrameDefault:\n"
    ".cfi_startproc\n"
    "nop\n"
    "back:\n"
    "jmp cold\n"
    "je cold\n"
    "jmp other\n"
    ".byte 0xb9, 0xe9\n"
    ".long other + 1 - . - 4\n"
    ".rept 4\n" /* jumps back into the loop */
    ".byte 0xe9\n"
    ".long back - . - 4\n"
    ".endr\n"
    "ret\n"
    ".cfi_endproc\n"
    "loop_end:\n"
    ".size _PyEval_EvalFrameDefault, . - _PyEval_EvalFrameDefault\n"
    ".popsection\n"
    ".pushsection .text.other, \"ax\", @progbits\n"
    "other:\n"
    ".cfi_startproc\n"
    "nop\n"
    "ret\n"
    ".cfi_endproc\n"
    ".popsection\n"
    ".pushsection .text.cold_part, \"ax\", @progbits\n"
    "cold_start:\n"
    ".cfi_startproc\n"
    "nop\n"
    "cold:\n"
    ".rept 16\n"
    "je back\n"
    ".endr\n"
    "ret\n"
    ".cfi_endproc\n"
    "cold_end:\n"
    ".popsection\n");

/* Copies this program into a memfd. Returns the descriptor, and its mapping in *bytes. */
static int copy_program(char **bytes, size_t *len)
{
	int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int fd = memfd_create("program", MFD_CLOEXEC);
	struct stat st;

	assert_true(program >= 0 && fd >= 0);
	assert_int_equal(fstat(program, &st), 0);
	*len = (size_t)st.st_size;
	assert_int_equal(ftruncate(fd, st.st_size), 0);
	*bytes = mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(*bytes != MAP_FAILED);
	assert_int_equal(pread(program, *bytes, *len, 0), st.st_size);
	close(program);
	return fd;
}

static void find(int fd, struct interpreter *ret)
{
	memset(ret, 0, sizeof(*ret));
	assert_int_equal(interpreter_find(fd, ret), 0);
	assert_int_equal(ret->version, VERSION);
	assert_int_equal(ret->loop[0].end - ret->loop[0].start,
			 loop_end - _PyEval_EvalFrameDefault);
}

static void cold_part(void **state)
{
	struct interpreter found;
	size_t len;
	char *bytes;
	int fd = copy_program(&bytes, &len);

	(void)state;
	find(fd, &found);
	assert_false(found.is_free_threaded);
	assert_int_equal(found.loop[1].start - found.loop[0].start,
			 (uint64_t)(cold_start - _PyEval_EvalFrameDefault));
	assert_int_equal(found.loop[1].end - found.loop[1].start, cold_end - cold_start);
	/* Without jumps back into the loop, the cold part does not belong to it. */
	memset(bytes + found.loop[1].start, 0x90, (size_t)(cold_end - cold_start));
	find(fd, &found);
	assert_int_equal(found.loop[1].end, 0);
	munmap(bytes, len);
	close(fd);
}

static void frees_code(void **state)
{
	struct interpreter found;
	size_t len;
	char *bytes;
	int fd = copy_program(&bytes, &len);

	(void)state;
	find(fd, &found);
	assert_int_equal(found.free_code - found.loop[0].start,
			 (uint64_t)((const char *)free_code - _PyEval_EvalFrameDefault));
	munmap(bytes, len);
	close(fd);
}

static void free_threaded(void **state)
{
	struct interpreter found;
	size_t len, cnt = 0;
	char *bytes, *at;
	int fd = copy_program(&bytes, &len);

	(void)state;
	for (at = bytes;
	     (at = memmem(at, len - (size_t)(at - bytes), &_PyRuntime, sizeof(_PyRuntime)));
	     at += sizeof(_PyRuntime), cnt++)
		at[offsetof(typeof(_PyRuntime), is_free_threaded)] = 1;
	assert_true(cnt > 0);
	find(fd, &found);
	assert_true(found.is_free_threaded);
	munmap(bytes, len);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cold_part),
		cmocka_unit_test(free_threaded),
		cmocka_unit_test(frees_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void other_machine(void **state)
{
	(void)state;
	print_message("skipped: lines of scripts are supported only on x86-64\n");
	skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(other_machine)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
