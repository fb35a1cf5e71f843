// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests choosing the instruction for a probe, in real functions and in misleading code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "prober/server/probe_place.h"
#include "tests/unit/prober/server/prologues.h"

/* Address of the code; no instruction contains it as an immediate value. */
#define ADDRESS 0x12340000

static struct function_code code_of(const uint8_t *bytes, size_t len, unsigned int argument_cnt)
{
	return (struct function_code){
		.machine = EM_X86_64,
		.bytes = bytes,
		.len = len,
		.whole = true,
		.address = ADDRESS,
		.room = UINT64_MAX,
		.argument_cnt = argument_cnt,
	};
}

static uint64_t place_in(const struct function_code *code)
{
	struct probe_place place;

	probe_place_find(code, &place);
	/* A probe that is not at the entry must be on an instruction that the kernel emulates. */
	assert_true(!place.offset || place.emulated);
	free(place.insn);
	return place.offset;
}

static uint64_t place_of(const uint8_t *bytes, size_t len, unsigned int argument_cnt)
{
	struct function_code code = code_of(bytes, len, argument_cnt);

	return place_in(&code);
}

static void test_prologues(void **state)
{
	for (size_t i = 0; i < prologue_cnt; i++) {
		const struct prologue *prologue = &prologues[i];
		uint64_t place = place_of(prologue->bytes, prologue->len, prologue->argument_cnt);

		if (place != prologue->place)
			fail_msg("%s: entry+%ju, not entry+%ju", prologue->function,
				 (uintmax_t)place, (uintmax_t)prologue->place);
	}
}

struct bytes {
	size_t len;
	uint8_t bytes[24];
};

#define TEST_RDI 0x48, 0x85, 0xff
#define RET 0xc3
#define BYTES(...)                                                                                 \
	{                                                                                          \
		sizeof((const uint8_t[]){__VA_ARGS__}),                                            \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
/* Code that begins with "test %rdi,%rdi". A probe may be put after it instead. */
#define AFTER_TEST(...) BYTES(TEST_RDI, __VA_ARGS__, RET)

/*
 * A probe is moved to any of these instructions, since the kernel emulates them. The calls and
 * jumps among them have targets outside of the code.
 */
static void test_emulated(void **state)
{
	static const struct bytes emulated[] = {
		AFTER_TEST(0x50),
		AFTER_TEST(0x54),
		AFTER_TEST(0x57),
		AFTER_TEST(0x41, 0x50),
		AFTER_TEST(0x41, 0x57),
		AFTER_TEST(0x90),
		AFTER_TEST(0xeb, 0x10),
		AFTER_TEST(0xe9, 0, 1, 0, 0),
		AFTER_TEST(0xe8, 0, 1, 0, 0),
		AFTER_TEST(0x70, 0x10),
		AFTER_TEST(0x74, 0x10),
		AFTER_TEST(0x7f, 0x10),
		AFTER_TEST(0x0f, 0x80, 0, 1, 0, 0),
		AFTER_TEST(0x0f, 0x84, 0, 1, 0, 0),
		AFTER_TEST(0x0f, 0x8f, 0, 1, 0, 0),
	};

	for (size_t i = 0; i < sizeof(emulated) / sizeof(emulated[0]); i++)
		assert_int_equal(place_of(emulated[i].bytes, emulated[i].len, 1), 3);
}

/*
 * Some kernels do not emulate these instructions, so the probe stays at the entry. Nops of several
 * bytes are skipped to reach a push.
 */
static void test_stepped(void **state)
{
	static const struct bytes stepped[] = {
		AFTER_TEST(0x66, 0x50),                   /* push %ax */
		AFTER_TEST(0x48, 0x50),                   /* push %rax with REX.W */
		AFTER_TEST(0x40, 0x50),                   /* push %rax with an empty REX */
		AFTER_TEST(0x6a, 0x10),                   /* push $16 */
		AFTER_TEST(0x68, 0, 1, 0, 0),             /* push $256 */
		AFTER_TEST(0xff, 0x37),                   /* push (%rdi) */
		AFTER_TEST(0xff, 0xf0),                   /* push %rax in its two-byte form */
		AFTER_TEST(0xff, 0xe0),                   /* jmp *%rax */
		AFTER_TEST(0xff, 0xd0),                   /* call *%rax */
		AFTER_TEST(0xf2, 0xe9, 0, 1, 0, 0),       /* bnd jmp */
		AFTER_TEST(0x66, 0xe8, 0, 1),             /* callw, or a call with a prefix */
		AFTER_TEST(0x2e, 0x74, 0x10),             /* je with a hint */
		AFTER_TEST(0x3e, 0x74, 0x10),             /* je with the other hint */
		AFTER_TEST(0xe3, 0x10),                   /* jrcxz */
		AFTER_TEST(0xe2, 0x10),                   /* loop */
		AFTER_TEST(0xf3, 0x90, 0x66, 0x90, RET),  /* pause, nop of two bytes */
		AFTER_TEST(0x41, 0x90, 0x50),             /* xchg %eax,%r8d */
		AFTER_TEST(0xc7, 0xf8, 0x10, 0, 0, 0),    /* xbegin */
		AFTER_TEST(0x0f, 0x1f, 0x00, 0x0f, 0x05), /* nop of three bytes, system call */
	};
	static const struct bytes nops = AFTER_TEST(0x0f, 0x1f, 0x44, 0, 0, 0x66, 0x90, 0x55);

	for (size_t i = 0; i < sizeof(stepped) / sizeof(stepped[0]); i++) {
		struct function_code code = code_of(stepped[i].bytes, stepped[i].len, 1);
		struct probe_place place;

		probe_place_find(&code, &place);
		assert_int_equal(place.offset, 0);
		assert_false(place.emulated);
		assert_string_equal(place.insn, "test rdi, rdi");
		free(place.insn);
	}
	assert_int_equal(place_of(nops.bytes, nops.len, 1), 3 + 5 + 2);
}

/*
 * A probe is not moved past an instruction that changes a register or memory that the probe or the
 * stack walk reads.
 */
static void test_writes(void **state)
{
	static const struct bytes writes[] = {
		BYTES(0x48, 0x83, 0xec, 0x18, 0x55),             /* sub $24,%rsp */
		BYTES(0x48, 0x8d, 0x64, 0x24, 0xf8, 0x55),       /* lea -8(%rsp),%rsp */
		BYTES(0x58, 0x50, 0x55),                         /* pop %rax */
		BYTES(0xc9, 0x55),                               /* leave */
		BYTES(0x31, 0xff, 0x55),                         /* xor %edi,%edi */
		BYTES(0x40, 0x88, 0xc7, 0x55),                   /* mov %al,%dil */
		BYTES(0x89, 0xe5, 0x55),                         /* mov %esp,%ebp */
		BYTES(0x31, 0xdb, 0x55),                         /* xor %ebx,%ebx */
		BYTES(0x45, 0x31, 0xe4, 0x55),                   /* xor %r12d,%r12d */
		BYTES(0x45, 0x31, 0xff, 0x55),                   /* xor %r15d,%r15d */
		BYTES(0x48, 0x89, 0x3c, 0x24, 0x55),             /* mov %rdi,(%rsp) */
		BYTES(0x48, 0x89, 0x7c, 0x24, 0xf8, 0x55),       /* mov %rdi,-8(%rsp) */
		BYTES(0xff, 0x05, 0, 1, 0, 0, 0x55),             /* incl 256(%rip) */
		BYTES(0xf0, 0x48, 0xff, 0x05, 0, 1, 0, 0, 0x55), /* lock incq 256(%rip) */
		BYTES(0x48, 0x97, 0x55),                         /* xchg %rax,%rdi */
		BYTES(0x48, 0x0f, 0xb1, 0x37, 0x55),             /* cmpxchg %rsi,(%rdi) */
		BYTES(0xf3, 0x48, 0xab, 0x55),                   /* rep stos */
		BYTES(0x0f, 0xa2, 0x55),                         /* cpuid */
		BYTES(0x8e, 0xe0, 0x55),                         /* mov %eax,%fs */
		BYTES(0x9d, 0x55),                               /* popf */
	};

	for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++)
		assert_int_equal(place_of(writes[i].bytes, writes[i].len, 1), 0);
}

/*
 * The registers with the function's arguments must be unchanged at the probe. Registers for further
 * arguments may have changed.
 */
static void test_arguments(void **state)
{
	static const struct bytes argument[] = {
		BYTES(0x31, 0xff, 0x55),       /* xor %edi,%edi */
		BYTES(0x31, 0xf6, 0x55),       /* xor %esi,%esi */
		BYTES(0x31, 0xd2, 0x55),       /* xor %edx,%edx */
		BYTES(0x31, 0xc9, 0x55),       /* xor %ecx,%ecx */
		BYTES(0x45, 0x31, 0xc0, 0x55), /* xor %r8d,%r8d */
		BYTES(0x45, 0x31, 0xc9, 0x55), /* xor %r9d,%r9d */
	};
	static const struct bytes mul = BYTES(0x48, 0xf7, 0xe6, 0x70, 0x10, RET); /* mul %rsi; jo */

	for (unsigned int i = 0; i < 6; i++) {
		assert_int_equal(place_of(argument[i].bytes, argument[i].len, i),
				 argument[i].len - 1);
		assert_int_equal(place_of(argument[i].bytes, argument[i].len, i + 1), 0);
	}
	assert_int_equal(place_of(mul.bytes, mul.len, 2), 3);
	assert_int_equal(place_of(mul.bytes, mul.len, 3), 0);
}

/*
 * If a branch within the function leads into the test instruction or to the push after it, a probe
 * on the push would be hit twice in one call.
 */
static void test_jumped_into(void **state)
{
	static const struct bytes jumped_into[] = {
		BYTES(TEST_RDI, 0x55, 0x5d, 0x75, 0xfc, RET),                 /* jne to the push */
		BYTES(TEST_RDI, 0x55, 0x5d, 0xeb, 0xfa),                      /* jmp into test */
		BYTES(TEST_RDI, 0x55, 0x5d, 0x0f, 0x85, 0xf8, 255, 255, 255), /* far jne */
		BYTES(TEST_RDI, 0x55, 0x5d, 0xe9, 0xf9, 255, 255, 255),       /* far jmp */
		BYTES(TEST_RDI, 0x55, 0x5d, 0xe8, 0xf9, 255, 255, 255, RET),  /* call */
		BYTES(TEST_RDI, 0x55, 0x5d, 0xe2, 0xfc, RET),                 /* loop */
		BYTES(TEST_RDI, 0x55, 0x5d, 0xe3, 0xfc, RET),                 /* jrcxz */
		BYTES(TEST_RDI, 0x74, 0xfe, RET),                             /* je to itself */
		BYTES(TEST_RDI, 0x55, 0x5d, 0x2e, 0x75, 0xfb, RET),           /* jne with a hint */
	};
	/*
	 * A branch to the entry would make a probe at the entry be hit twice, too. A branch past
	 * the push is harmless.
	 */
	static const struct bytes elsewhere[] = {
		BYTES(TEST_RDI, 0x55, 0x5d, 0x75, 0xf9, RET),
		BYTES(TEST_RDI, 0x55, 0x5d, 0x75, 0xfd, RET),
		BYTES(TEST_RDI, 0x55, 0x5d, 0x75, 0x00, RET),
	};

	for (size_t i = 0; i < sizeof(jumped_into) / sizeof(jumped_into[0]); i++)
		assert_int_equal(place_of(jumped_into[i].bytes, jumped_into[i].len, 1), 0);
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		assert_int_equal(place_of(elsewhere[i].bytes, elsewhere[i].len, 1), 3);
}

static void test_indirect_jumps(void **state)
{
	static const struct bytes tables[] = {
		/* movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax */
		BYTES(TEST_RDI, 0x55, 0x48, 0x63, 0x04, 0x82, 0x48, 0x01, 0xd0, 0xff, 0xe0),
		/* jmp *0x1000(,%rax,8) */
		BYTES(TEST_RDI, 0x55, 0xff, 0x24, 0xc5, 0, 0x10, 0, 0),
		/* mov 0x1000(,%rax,8),%rax; jmp *%rax */
		BYTES(TEST_RDI, 0x55, 0x48, 0x8b, 0x04, 0xc5, 0, 0x10, 0, 0, 0xff, 0xe0),
		/* jmp *(%rdx,%rax,8) */
		BYTES(TEST_RDI, 0x55, 0xff, 0x24, 0xc2),
	};
	static const struct bytes tail_calls[] = {
		BYTES(TEST_RDI, 0x55, 0x5d, 0xff, 0xe0),             /* jmp *%rax */
		BYTES(TEST_RDI, 0x55, 0x5d, 0xff, 0x25, 0, 1, 0, 0), /* jmp *256(%rip) */
		BYTES(TEST_RDI, 0x55, 0x5d, 0xff, 0x60, 0x08),       /* jmp *8(%rax) */
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		assert_int_equal(place_of(tables[i].bytes, tables[i].len, 1), 0);
	for (size_t i = 0; i < sizeof(tail_calls) / sizeof(tail_calls[0]); i++)
		assert_int_equal(place_of(tail_calls[i].bytes, tail_calls[i].len, 1), 3);
}

static void test_ends(void **state)
{
	static const struct bytes ends[] = {
		BYTES(TEST_RDI),                         /* the code ends */
		BYTES(TEST_RDI, RET, 0x55),              /* returns before the push */
		BYTES(TEST_RDI, 0x0f, 0x05, 0x55),       /* system call */
		BYTES(TEST_RDI, 0xcc, 0x55),             /* int3 */
		BYTES(TEST_RDI, 0x0f, 0x0b, 0x55),       /* ud2 */
		BYTES(TEST_RDI, 0xf4, 0x55),             /* hlt */
		BYTES(TEST_RDI, 0x06, 0x55),             /* invalid instruction */
		BYTES(TEST_RDI, 0x0f, 0x84, 0, 1),       /* truncated je */
		BYTES(TEST_RDI, 0x41),                   /* a prefix only */
		BYTES(TEST_RDI, 0x55, 0x06, RET),        /* invalid instruction after the push */
		BYTES(TEST_RDI, 0x55, 0x0f, 0x84, 0, 1), /* truncated je after the push */
		BYTES(0x06),
		BYTES(0x48),
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		assert_int_equal(place_of(ends[i].bytes, ends[i].len, 1), 0);
	assert_int_equal(place_of(ends[0].bytes, 0, 1), 0);
}

static void test_conservative(void **state)
{
	static const struct bytes plain = BYTES(TEST_RDI, 0x55, 0x5d, RET);
	struct function_code code = code_of(plain.bytes, plain.len, 1);

	assert_int_equal(place_in(&code), 3);
	code.whole = false;
	assert_int_equal(place_in(&code), 0);
	code.whole = true;
	code.room = 4; /* another function begins right after the push */
	assert_int_equal(place_in(&code), 3);
	code.room = 3; /* another function begins at the push */
	assert_int_equal(place_in(&code), 0);
	code.room = UINT64_MAX;
	code.machine = EM_AARCH64;
	assert_int_equal(place_in(&code), 0);
}

/* The chosen place must lie within the random code. */
static void test_random(void **state)
{
	uint8_t bytes[64] = {TEST_RDI};
	unsigned int moved = 0;

	srandom(1);
	for (int i = 0; i < 20000; i++) {
		size_t len = 3 + (size_t)random() % (sizeof(bytes) - 3);
		struct function_code code = code_of(bytes, len, (unsigned int)random() % 7);
		struct probe_place place;

		for (size_t j = 3; j < len; j++)
			bytes[j] = (uint8_t)random();
		probe_place_find(&code, &place);
		assert_true(place.offset < len);
		moved += place.offset != 0;
		free(place.insn);
	}
	assert_true(moved > 0);
}

struct targets {
	uint64_t items[4];
	size_t cnt;
};

static void add_target(void *arg, uint64_t target)
{
	struct targets *targets = arg;

	assert_true(targets->cnt < 4);
	targets->items[targets->cnt++] = target;
}

static void test_branches(void **state)
{
	static const struct bytes some = BYTES(0xe9, 0xfb, 255, 255, 255,    /* jmp to itself */
					       0x90, 0x0f, 0x84, 1, 0, 0, 0, /* je past one byte */
					       0x75, 0xe8, 2, 0, 0, 0, /* a call inside a jne */
					       0x0f, 0x8f, 0, 0, 0);   /* truncated */
	struct targets targets = {0};

	probe_place_branches(some.bytes, some.len, 100, add_target, &targets);
	assert_int_equal(targets.cnt, 3);
	assert_int_equal(targets.items[0], 100);
	assert_int_equal(targets.items[1], 100 + 12 + 1);
	assert_int_equal(targets.items[2], 100 + 18 + 2);
	for (size_t len = 0; len < 5; len++)
		probe_place_branches(some.bytes, len, 100, add_target, &targets);
	assert_int_equal(targets.cnt, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prologues),      cmocka_unit_test(test_emulated),
		cmocka_unit_test(test_stepped),        cmocka_unit_test(test_writes),
		cmocka_unit_test(test_arguments),      cmocka_unit_test(test_jumped_into),
		cmocka_unit_test(test_indirect_jumps), cmocka_unit_test(test_ends),
		cmocka_unit_test(test_conservative),   cmocka_unit_test(test_random),
		cmocka_unit_test(test_branches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
