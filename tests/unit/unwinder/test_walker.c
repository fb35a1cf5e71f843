// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the helper that walks copied stacks with libdwfl: compares its walk of this program's stack
 * with that of libgcc.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "base/proc_maps.h"
#include "tests/unit/lib/process.h"
#include "unwinder/walker.h"

#define SPACE 7
#define FRAMES_MAX 64
#define TRAMPOLINE 0x7fffffffe000

struct own_stack {
	struct walker *walker;
	struct unwind_copy copy;
	/* return addresses found by libgcc, from the caller of take_copy() outwards */
	uint64_t frames[FRAMES_MAX];
	size_t cnt;
	bool skipped;
	struct walker_stack walked;
};

static void copy_memory(struct unwind_copied_range *range, uint8_t *bytes, uint64_t addr)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	memset(range, 0, sizeof(*range));
	range->start = addr & ~(UNWIND_COPY_PIECE - 1ULL);
	range->bytes = UNWIND_COPY_BYTES;
	for (uint64_t i = 0; i < UNWIND_COPY_PIECES; i++)
		if (pread(fd, bytes + i * UNWIND_COPY_PIECE, UNWIND_COPY_PIECE,
			  (off_t)(range->start + i * UNWIND_COPY_PIECE)) == UNWIND_COPY_PIECE)
			range->present[i / 64] |= 1ULL << i % 64;
	close(fd);
}

/* Copies the registers as they are after the return from getcontext(). */
static void copy_registers(const ucontext_t *context, struct unwind_copy *copy)
{
#if defined(__x86_64__)
	static const int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				    REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
				    REG_R12, REG_R13, REG_R14, REG_R15};

	for (int i = 0; i < 16; i++)
		copy->registers[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
	copy->register_cnt = 16;
	copy->pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	for (int i = 0; i < 31; i++)
		copy->registers[i] = context->uc_mcontext.regs[i];
	copy->registers[31] = context->uc_mcontext.sp;
	copy->register_cnt = 32;
	copy->pc = context->uc_mcontext.pc;
#endif
}

static uint64_t stack_pointer(const struct unwind_copy *copy)
{
	return copy->registers[copy->register_cnt == 32 ? 31 : 7];
}

/*
 * Skips the first frame of libgcc's walk: it is in take_copy(), but not where the copy was taken.
 */
static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *arg)
{
	struct own_stack *own = arg;

	/* Address 0 comes after the outermost frame. */
	if (own->skipped && own->cnt < FRAMES_MAX && _Unwind_GetIP(context))
		own->frames[own->cnt++] = _Unwind_GetIP(context);
	own->skipped = true;
	return _URC_NO_REASON;
}

__attribute__((noinline)) static void take_copy(struct own_stack *own)
{
	ucontext_t context;

	assert_int_equal(getcontext(&context), 0);
	copy_registers(&context, &own->copy);
	copy_memory(&own->copy.stack, own->copy.stack_bytes, stack_pointer(&own->copy));
	own->cnt = 0;
	own->skipped = false;
	_Unwind_Backtrace(add_frame, own);
	assert_in_range(own->cnt, 4, FRAMES_MAX - 1);
}

static void add_code_of_self(struct walker *walker)
{
	struct proc_maps maps;
	uint64_t headers = 0;

	assert_int_equal(walker__open(walker, SPACE, patience()), 0);
	assert_int_equal(proc_maps_read(getpid(), &maps), 0);
	for_each_mapping (mapping, &maps) {
		struct walker_code code = {mapping->start, mapping->offset, 0};
		int fd;

		if (mapping->file.ino && !mapping->offset)
			headers = mapping->start;
		if (!mapping->executable || !mapping->file.ino)
			continue;
		code.headers = headers;
		fd = open(mapping->path, O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		assert_int_equal(walker__add_code(walker, SPACE, fd, &code, patience()), 0);
		close(fd);
	}
	proc_maps_deinit(&maps);
}

static int set_up(void **state)
{
	struct own_stack *own = calloc(1, sizeof(*own));

	if (!own || walker__new(&own->walker))
		return -1;
	add_code_of_self(own->walker);
	*state = own;
	return 0;
}

static int tear_down(void **state)
{
	struct own_stack *own = *state;

	walker__free(own->walker);
	free(own);
	return 0;
}

static void walk(struct own_stack *own)
{
	assert_int_equal(walker__walk(own->walker, SPACE, &own->copy, patience(), &own->walked), 0);
}

/*
 * True if the helper's walk has finished, and equals libgcc's from the caller of take_copy()
 * outwards.
 */
static bool is_same(const struct own_stack *own)
{
	return own->walked.end == WALKER_FINISHED && own->walked.cnt == own->cnt + 1 &&
	       !memcmp(own->walked.frames + 1, own->frames, own->cnt * sizeof(*own->frames));
}

static void as_libgcc(void **state)
{
	struct own_stack *own = *state;

	take_copy(own);
	walk(own);
	assert_int_equal(own->walked.frames[0], own->copy.pc);
	assert_true(is_same(own));
}

/* Returns where the copied stack has the given return address. */
static uint64_t *find_word(struct own_stack *own, uint64_t word)
{
	uint64_t *words = (uint64_t *)own->copy.stack_bytes;
	uint64_t first = (stack_pointer(&own->copy) - own->copy.stack.start) / sizeof(*words);

	for (uint64_t i = first; i < UNWIND_COPY_BYTES / sizeof(*words); i++)
		if (words[i] == word)
			return &words[i];
	fail_msg("no word of the stack is the return address");
	return NULL;
}

/* If a return address in the copy is changed, the walk must follow the changed one. */
static void falsified(void **state)
{
	struct own_stack *own = *state;

	take_copy(own);
	*find_word(own, own->frames[1]) = own->frames[0];
	walk(own);
	assert_false(is_same(own));
	assert_int_equal(own->walked.frames[1], own->frames[0]);
	assert_int_equal(own->walked.frames[2], own->frames[0]);
}

/*
 * A return probe has replaced a return address by that of its trampoline. The walk must use the
 * address that the kernel has saved.
 */
static void repaired(void **state)
{
	struct own_stack *own = *state;
	uint64_t *word;

	take_copy(own);
	word = find_word(own, own->frames[1]);
	*word = TRAMPOLINE;
	walk(own);
	assert_false(is_same(own));
	own->copy.trampoline = TRAMPOLINE;
	own->copy.call_cnt = 2;
	own->copy.calls[0] = (struct unwind_copied_call){own->copy.stack.start, 0x1234};
	own->copy.calls[1].slot =
		own->copy.stack.start + (uint64_t)((uint8_t *)word - own->copy.stack_bytes);
	own->copy.calls[1].return_address = own->frames[1];
	walk(own);
	assert_true(is_same(own));
}

/* A walk does not finish if a part of the stack was not copied or could not be read. */
static void unreadable(void **state)
{
	struct own_stack *own = *state;
	uint64_t at, whole;

	take_copy(own);
	at = (uint64_t)((uint8_t *)find_word(own, own->frames[1]) - own->copy.stack_bytes);
	whole = own->copy.stack.bytes;
	own->copy.stack.bytes = at / UNWIND_COPY_PIECE * UNWIND_COPY_PIECE;
	if (own->copy.stack.bytes) {
		walk(own);
		assert_int_equal(own->walked.end, WALKER_BEYOND);
	}
	own->copy.stack.bytes = whole;
	at /= UNWIND_COPY_PIECE;
	own->copy.stack.present[at / 64] &= ~(1ULL << at % 64);
	walk(own);
	assert_int_equal(own->walked.end, WALKER_FAILED);
	assert_true(own->walked.cnt <= 2);
}

/* Sending many files ends at the deadline, even if the helper takes each file at once. */
static void too_much_code(void **state)
{
	struct own_stack *own = *state;
	struct walker_code code = {0};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	take_copy(own);
	assert_true(fd >= 0);
	assert_int_equal(walker__add_code(own->walker, SPACE, fd, &code, 1), -ETIMEDOUT);
	close(fd);
	assert_int_equal(walker__walk(own->walker, SPACE, &own->copy, patience(), &own->walked),
			 -EPIPE);
}

/* An invalid request ends the helper. Then all walks fail until a new helper is given the code. */
static void nonsense(void **state)
{
	struct own_stack *own = *state;

	take_copy(own);
	own->copy.register_cnt = UNWIND_COPY_REGISTERS + 1;
	assert_int_equal(walker__walk(own->walker, SPACE, &own->copy, patience(), &own->walked),
			 -EPIPE);
	own->copy.register_cnt = 16;
	assert_int_equal(walker__walk(own->walker, SPACE, &own->copy, patience(), &own->walked),
			 -EPIPE);
	add_code_of_self(own->walker);
	take_copy(own);
	walk(own);
	assert_true(is_same(own));
}

/* After a space was closed, walks in it fail. Closing an unknown space has no effect. */
static void closed(void **state)
{
	struct own_stack *own = *state;

	take_copy(own);
	walker__close(own->walker, SPACE + 1);
	walk(own);
	assert_true(is_same(own));
	walker__close(own->walker, SPACE);
	assert_int_equal(walker__walk(own->walker, SPACE, &own->copy, patience(), &own->walked),
			 -EPIPE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(as_libgcc, set_up, tear_down),
		cmocka_unit_test_setup_teardown(falsified, set_up, tear_down),
		cmocka_unit_test_setup_teardown(repaired, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unreadable, set_up, tear_down),
		cmocka_unit_test_setup_teardown(too_much_code, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nonsense, set_up, tear_down),
		cmocka_unit_test_setup_teardown(closed, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
