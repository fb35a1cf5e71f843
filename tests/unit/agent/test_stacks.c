// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests what happens to a thread's remembered stacks when signal handlers interrupt the agent, or
 * jump out of it. The tests leave the memo as the interrupted code would.
 */
#include <alloca.h>
#include <signal.h>
#include <sys/auxv.h>

/* Before names of the other sources that it would shadow */
#include "agent/stacks.c"

#include "tests/unit/agent/here.h"

bool scripts_known;

uint32_t scripts_find(struct account *of, uint32_t native, struct script_walk *walk,
		      struct readable *readable)
{
	return native;
}

void scripts_unmapped(void)
{
}

void thread_begin_memo(void)
{
	self.memo = memo_new();
}

static NOIPA uint32_t find_here(struct caller *ret)
{
	ucontext_t here;

	getcontext(&here);
	*ret = caller_here(&here);
	return stacks_find_slowly(account, ret->ra, ret->sp, ret->fp);
}

/*
 * Leaves the memo as it is in the middle of a walk for a caller with this stack pointer. The walk
 * has extended the range of the thread's own stack down to the caller's page.
 */
static void interrupt_at(uint64_t sp)
{
	assert_true(page_can_read(sp & ~(PAGE - 1)));
	assert_true(self.memo->walk_cnt < WALKS);
	self.memo->walk_sps[self.memo->walk_cnt++] = sp;
	self.memo->generation = MEMO_BUSY | sp;
}

static void assert_unused(void)
{
	assert_int_equal(self.memo->walk_cnt, 0);
	assert_int_equal(self.memo->generation, stacks_generation);
}

static int begin(void **state)
{
	struct caller caller;

	make_account(0);
	become_caller();
	/* The page that is above all frames of the main thread. */
	self.low = getauxval(AT_RANDOM) & ~(PAGE - 1);
	self.high = self.low + PAGE;
	assert_int_not_equal(find_here(&caller), ACCOUNT_NO_STACK);
	assert_unused();
	return 0;
}

static int end(void **state)
{
	memo_free(self.memo);
	munmap(account, ACCOUNT_BYTES);
	return 0;
}

static uint64_t lost(void)
{
	return account->lost[ACCOUNT_LOST_STACKS];
}

/* Code that a handler has left by longjmp() is higher on the stack than code that it calls. */
static void test_jumped_out(void **state)
{
	struct caller caller;

	for (int i = 0; i < 10; i++) {
		assert_int_not_equal(find_here(&caller), ACCOUNT_NO_STACK);
		for (uint32_t j = 0; j < WALKS; j++)
			interrupt_at(caller.sp - 16 * j);
		assert_int_not_equal(find_here(&caller), ACCOUNT_NO_STACK);
		assert_unused();
	}
	assert_int_equal(lost(), 0);
}

/* A handler may interrupt a walk, and another handler may interrupt the walk of the first one. */
static void test_interrupted_twice(void **state)
{
	struct caller caller;

	assert_int_not_equal(find_here(&caller), ACCOUNT_NO_STACK);
	interrupt_at(caller.sp + 256);
	interrupt_at(caller.sp + 128);
	assert_int_not_equal(find_here(&caller), ACCOUNT_NO_STACK);
	assert_int_equal(self.memo->walk_cnt, 2);
	assert_int_equal(self.memo->generation, MEMO_BUSY | (caller.sp + 128));
	interrupt_at(caller.sp + 64);
	assert_int_equal(find_here(&caller), ACCOUNT_NO_STACK);
	assert_int_equal(lost(), 1);
	account->lost[ACCOUNT_LOST_STACKS] = 0;
	self.memo->walk_cnt = 0;
	self.memo->generation = MEMO_NEW;
}

static uint32_t number_in_handler;

static void find_in_handler(int number)
{
	struct caller caller;

	number_in_handler = find_here(&caller);
}

/* An alternate signal stack may be an array in a frame, and so be above the interrupted code. */
static void test_signal_stack(void **state)
{
	struct sigaction action = {.sa_handler = find_in_handler, .sa_flags = SA_ONSTACK}, before;
	static const size_t bytes = 1 << 16;
	stack_t place = {.ss_sp = (char *)alloca(2 * bytes) + bytes, .ss_size = bytes},
		none = {.ss_flags = SS_DISABLE};
	struct caller caller;

	assert_int_not_equal(find_here(&caller), ACCOUNT_NO_STACK);
	assert_int_equal(sigaltstack(&place, NULL), 0);
	assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
	interrupt_at(caller.sp - 64);
	assert_int_equal(raise(SIGUSR1), 0);
	assert_int_not_equal(number_in_handler, ACCOUNT_NO_STACK);
	assert_int_equal(self.memo->walk_cnt, 1);
	assert_int_equal(self.memo->generation, MEMO_BUSY | (caller.sp - 64));
	sigaction(SIGUSR1, &before, NULL);
	assert_int_equal(sigaltstack(&none, NULL), 0);
	assert_int_not_equal(find_here(&caller), ACCOUNT_NO_STACK);
	assert_unused();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jumped_out),
		cmocka_unit_test(test_interrupted_twice),
		cmocka_unit_test(test_signal_stack),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
