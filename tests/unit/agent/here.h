/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sources of stack walks, and what they need to walk the stacks of a test program. The agent's
 * code is in no library that a test could link, so tests include its sources.
 */
#ifndef TESTS_UNIT_AGENT_HERE_H
#define TESTS_UNIT_AGENT_HERE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "agent/call_tree.c"
#include "agent/frame_info.c"
#include "agent/modules.c"
#include "agent/system.c"
#include "agent/walk.c"

#define ACCOUNT_BYTES (64ULL << 20)
#define NOIPA __attribute__((noinline))

struct gate gate;
__thread struct thread self;

static struct account *account;

static void make_account(uint32_t frames)
{
	uint64_t at = 4096;

	account = mmap(NULL, ACCOUNT_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(account, MAP_FAILED);
	for (unsigned int i = 0; i < ACCOUNT_REGION_CNT; i++, at += 1 << 20)
		account->region[i] = at;
	account->region[ACCOUNT_SPILLS] = account->region[ACCOUNT_FRAMES] + (32 << 20);
	account->region[ACCOUNT_CHUNKS] = account->region[ACCOUNT_SPILLS] + 4096;
	account->end = ACCOUNT_BYTES;
	account->depth = walk_set_depth(frames);
	call_tree_begin(account);
	gate.frames = region(account, ACCOUNT_FRAMES);
}

/*
 * The agent skips frames of its own module, which in this test is the test program. Mark the module
 * as foreign, so that the test's functions count as callers.
 */
static void become_caller(void)
{
	struct code code;
	bool unsure;

	assert_true(modules_find(account, (uint64_t)become_caller, &code, &unsure));
	for (uint32_t i = 0; i < list->cnt; i++)
		list->items[i].is_own = false;
}

static struct caller caller_here(const ucontext_t *here)
{
#if defined(__x86_64__)
	const greg_t *registers = here->uc_mcontext.gregs;

	return (struct caller){(uint64_t)registers[REG_RIP], (uint64_t)registers[REG_RSP],
			       (uint64_t)registers[REG_RBP]};
#elif defined(__aarch64__)
	return (struct caller){here->uc_mcontext.pc, here->uc_mcontext.sp,
			       here->uc_mcontext.regs[29]};
#endif
}

#endif
