// SPDX-License-Identifier: GPL-2.0-or-later
/* Register layouts and system call conventions of x86-64 and aarch64. */
#include "proof/arch.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "bpf/thread_record.h"

#if defined(__x86_64__)

#include <cpuid.h>

/*
 * Indexes of registers in struct memleak_thread_record. The record begins like struct
 * user_regs_struct: the registers up to ss, then the bases of fs and gs.
 */
enum {
	R15 = 0,
	R14 = 1,
	R13 = 2,
	R12 = 3,
	RBP = 4,
	RBX = 5,
	R11 = 6,
	R10 = 7,
	R9 = 8,
	R8 = 9,
	RAX = 10,
	RCX = 11,
	RDX = 12,
	RSI = 13,
	RDI = 14,
	ORIG_RAX = 15,
	RIP = 16,
	CS = 17,
	RSP = 19,
};

static const unsigned char argument_places[] = {RDI, RSI, RDX, R10, R8, R9};

/* CS selector of 64-bit user code. */
#define USER_CS 0x33

/*
 * Internal errno of the kernel. In RAX, it makes the kernel restart the system call when the thread
 * resumes, unless a signal handler runs first.
 */
#define ERESTARTNOHAND 514

const unsigned char registers_call_code[] = {0x0f, 0x05};
const size_t registers_call_bytes = sizeof(registers_call_code);

const uint64_t pointer_ignored_bits = 0;
const size_t registers_word_cnt = 23;
const bool registers_keep_argument = true;

uint64_t registers_sp(const __u64 *registers)
{
	return registers[RSP];
}

uint64_t registers_pc(const __u64 *registers)
{
	return registers[RIP];
}

void registers_to_dwarf(const uint64_t *registers, struct unwind_copy *ret)
{
	/* rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15 (x86-64 ABI, figure 3.36) */
	static const unsigned char places[] = {RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP,
					       R8,  R9,  R10, R11, R12, R13, R14, R15};

	for (size_t i = 0; i < sizeof(places); i++)
		ret->registers[i] = registers[places[i]];
	ret->register_cnt = sizeof(places);
	ret->pc = registers[RIP];
}

long registers_call(const __u64 *registers)
{
	return (int32_t)registers[ORIG_RAX];
}

uint64_t registers_argument(const __u64 *registers, unsigned int number)
{
	return registers[argument_places[number]];
}

bool registers_may_call(const __u64 *registers)
{
	return (registers[CS] & 0xffff) == USER_CS;
}

/* An ORIG_RAX of -1 keeps the kernel from restarting the interrupted system call. */
void registers_set_call(__u64 *registers, uint64_t at, long number, const uint64_t arguments[6])
{
	registers[RIP] = at;
	registers[RAX] = (__u64)number;
	registers[ORIG_RAX] = (__u64)-1;
	for (int i = 0; i < 6; i++)
		registers[argument_places[i]] = arguments[i];
}

long registers_result(const __u64 *registers)
{
	return (long)registers[RAX];
}

/*
 * True if stopping the thread made its system call fail with EINTR. Never true for close(): it
 * closes the file even if it fails, so repeating the call could close another file.
 */
bool registers_were_cut_off(const __u64 *registers, const __u64 *before)
{
	long call = registers_call(registers);

	return call >= 0 && call != SYS_close && (long)registers[RAX] == -EINTR;
}

void registers_begin_again(__u64 *registers, const __u64 *before)
{
	registers[RAX] = (__u64)-ERESTARTNOHAND;
}

/* XSAVE area: x87 and SSE state, a header, then the newer extensions. */
#define X87_AT 32
#define SSE_AT 160
#define SSE_END 416
#define HEADER_AT 512
#define LATER_AT 576
#define HAS_X87 1
#define HAS_SSE 2

const unsigned int registers_vector_note = NT_X86_XSTATE;

uint32_t registers_vector_bytes(void)
{
	unsigned int now = LATER_AT, max, ecx, edx;

	/* EBX of CPUID leaf 0xd is the size of the state that the kernel has enabled. */
	__get_cpuid_count(0xd, 0, &max, &now, &ecx, &edx);
	return now < MEMLEAK_VECTOR_BYTES ? now : MEMLEAK_VECTOR_BYTES - 8;
}

static size_t take_words(const char *raw, size_t bytes, size_t from, size_t to, uint64_t *ret)
{
	if (to > bytes)
		to = bytes;
	if (from >= to)
		return 0;
	memcpy(ret, raw + from, (to - from) / sizeof(*ret) * sizeof(*ret));
	return (to - from) / sizeof(*ret);
}

/*
 * Skips x87, SSE or later state whose bits in the header of the XSAVE area are all clear: the area
 * then contains stale values of this state.
 */
size_t registers_vector_words(const void *raw, size_t bytes, uint64_t *ret)
{
	uint64_t used = HAS_X87 | HAS_SSE;
	size_t cnt = 0;

	if (bytes >= LATER_AT)
		memcpy(&used, (const char *)raw + HEADER_AT, sizeof(used));
	if (used & HAS_X87)
		cnt += take_words(raw, bytes, X87_AT, SSE_AT, ret);
	if (used & HAS_SSE)
		cnt += take_words(raw, bytes, SSE_AT, SSE_END, ret + cnt);
	if (used & ~(uint64_t)(HAS_X87 | HAS_SSE))
		cnt += take_words(raw, bytes, LATER_AT, bytes, ret + cnt);
	return cnt;
}

#elif defined(__aarch64__)

/*
 * Indexes of registers in struct memleak_thread_record: the registers of struct user_pt_regs, then
 * TPIDR_EL0, x0 before the system call, and the system call number.
 */
enum { X0 = 0, X8 = 8, SP = 31, PC = 32, ORIG_X0 = 35, CALL = 36 };

const unsigned char registers_call_code[] = {0x01, 0x00, 0x00, 0xd4};
const size_t registers_call_bytes = sizeof(registers_call_code);

/* The processor ignores the top byte (TBI). */
const uint64_t pointer_ignored_bits = 0xffULL << 56;
const size_t registers_word_cnt = 37;
const bool registers_keep_argument = false;

uint64_t registers_sp(const __u64 *registers)
{
	return registers[SP];
}

uint64_t registers_pc(const __u64 *registers)
{
	return registers[PC];
}

void registers_to_dwarf(const uint64_t *registers, struct unwind_copy *ret)
{
	memcpy(ret->registers, registers, (SP + 1) * sizeof(*registers));
	ret->register_cnt = SP + 1;
	ret->pc = registers[PC];
}

long registers_call(const __u64 *registers)
{
	return (int32_t)registers[CALL];
}

uint64_t registers_argument(const __u64 *registers, unsigned int number)
{
	return registers[number ? X0 + number : ORIG_X0];
}

bool registers_may_call(const __u64 *registers)
{
	return true;
}

void registers_set_call(__u64 *registers, uint64_t at, long number, const uint64_t arguments[6])
{
	registers[PC] = at;
	registers[X8] = (__u64)number;
	for (int i = 0; i < 6; i++)
		registers[X0 + i] = arguments[i];
}

long registers_result(const __u64 *registers)
{
	return (long)registers[X0];
}

/*
 * If the kernel restarts a system call on its own, it resets the registers before the tracer sees
 * the thread, so this function returns false. For any other call, only the record of the BPF
 * program (`before`) has the original x0.
 */
bool registers_were_cut_off(const __u64 *registers, const __u64 *before)
{
	return before && (long)registers[X0] == -EINTR && registers[X8] != SYS_close &&
	       before[PC] == registers[PC] && before[X0] == registers[X0];
}

void registers_begin_again(__u64 *registers, const __u64 *before)
{
	registers[PC] -= sizeof(registers_call_code);
	registers[X0] = before[ORIG_X0];
}

const unsigned int registers_vector_note = NT_FPREGSET;

/* Enough for 32 SVE registers of up to 256 bytes plus 32 registers of 16 bytes. */
uint32_t registers_vector_bytes(void)
{
	return 512 + 32 * 256;
}

size_t registers_vector_words(const void *raw, size_t bytes, uint64_t *ret)
{
	memcpy(ret, raw, bytes / sizeof(*ret) * sizeof(*ret));
	return bytes / sizeof(*ret);
}

#else
#error "memleak knows x86-64 and aarch64"
#endif
