// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Searches a function for the first instruction that the kernel would emulate if a probe were
 * placed on it. The kernel single-steps other instructions, which takes longer.
 */
#include "prober/server/probe_place.h"

#include <capstone.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * True if the kernel emulates this x86-64 instruction when a uprobe is placed on it. In
 * arch/x86/kernel/uprobes.c, branch_setup_xol_ops() accepts relative jmp, jcc, call and the
 * one-byte nop; push_setup_xol_ops() accepts push of a 64-bit register with no prefix or exactly
 * REX.B. These encodings are the same in all kernels from Linux 5.4 to those of 2026.
 *
 * This function does not accept endbr64, branches with a prefix (the kernel refuses prefix 66), or
 * other nops. Only new kernels emulate other nops: they replace the five-byte nop by a call, which
 * writes its return address below the stack pointer.
 */
static bool is_emulated(const uint8_t *insn, size_t len)
{
	switch (len) {
	case 1:
		return (insn[0] >= 0x50 && insn[0] <= 0x57) || insn[0] == 0x90;
	case 2:
		return (insn[0] >= 0x70 && insn[0] <= 0x7f) || insn[0] == 0xeb ||
		       (insn[0] == 0x41 && insn[1] >= 0x50 && insn[1] <= 0x57);
	case 5:
		return insn[0] == 0xe8 || insn[0] == 0xe9;
	case 6:
		return insn[0] == 0x0f && insn[1] >= 0x80 && insn[1] <= 0x8f;
	default:
		return false;
	}
}

#define NO_ARGUMENT 7

/*
 * For each register that a function may overwrite (System V ABI): the number of the argument that
 * is passed in the register, or NO_ARGUMENT. 0 for all other registers, which must have the
 * caller's values when the probe runs, since stack walks start from them.
 */
static const uint8_t argument_of[X86_REG_ENDING] = {
	[X86_REG_RAX] = NO_ARGUMENT,
	[X86_REG_EAX] = NO_ARGUMENT,
	[X86_REG_AX] = NO_ARGUMENT,
	[X86_REG_AL] = NO_ARGUMENT,
	[X86_REG_AH] = NO_ARGUMENT,
	[X86_REG_R10] = NO_ARGUMENT,
	[X86_REG_R10D] = NO_ARGUMENT,
	[X86_REG_R10W] = NO_ARGUMENT,
	[X86_REG_R10B] = NO_ARGUMENT,
	[X86_REG_R11] = NO_ARGUMENT,
	[X86_REG_R11D] = NO_ARGUMENT,
	[X86_REG_R11W] = NO_ARGUMENT,
	[X86_REG_R11B] = NO_ARGUMENT,
	[X86_REG_RDI] = 1,
	[X86_REG_EDI] = 1,
	[X86_REG_DI] = 1,
	[X86_REG_DIL] = 1,
	[X86_REG_RSI] = 2,
	[X86_REG_ESI] = 2,
	[X86_REG_SI] = 2,
	[X86_REG_SIL] = 2,
	[X86_REG_RDX] = 3,
	[X86_REG_EDX] = 3,
	[X86_REG_DX] = 3,
	[X86_REG_DL] = 3,
	[X86_REG_DH] = 3,
	[X86_REG_RCX] = 4,
	[X86_REG_ECX] = 4,
	[X86_REG_CX] = 4,
	[X86_REG_CL] = 4,
	[X86_REG_CH] = 4,
	[X86_REG_R8] = 5,
	[X86_REG_R8D] = 5,
	[X86_REG_R8W] = 5,
	[X86_REG_R8B] = 5,
	[X86_REG_R9] = 6,
	[X86_REG_R9D] = 6,
	[X86_REG_R9W] = 6,
	[X86_REG_R9B] = 6,
};

static bool may_write(unsigned int reg, unsigned int argument_cnt)
{
	return reg < X86_REG_ENDING && argument_of[reg] > argument_cnt;
}

/*
 * True if the probe may be placed after this instruction. Accepts only instructions after which
 * execution continues at the next instruction, and which write neither memory (it could be the
 * return address) nor a register that the probe reads.
 */
static bool may_pass(const cs_insn *insn, unsigned int argument_cnt)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *first = &x86->operands[0];

	switch (insn->id) {
	case X86_INS_NOP:
	case X86_INS_ENDBR64:
	case X86_INS_TEST:
	case X86_INS_CMP:
	case X86_INS_BT:
		return true;
	case X86_INS_MUL:
		return may_write(X86_REG_RAX, argument_cnt) && may_write(X86_REG_RDX, argument_cnt);
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVZX:
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
	case X86_INS_LEA:
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_AND:
	case X86_INS_OR:
	case X86_INS_XOR:
	case X86_INS_NEG:
	case X86_INS_NOT:
	case X86_INS_INC:
	case X86_INS_DEC:
	case X86_INS_SHL:
	case X86_INS_SHR:
	case X86_INS_SAR:
	case X86_INS_BSR:
	case X86_INS_BSF:
		return x86->op_count && first->type == X86_OP_REG &&
		       may_write(first->reg, argument_cnt);
	default:
		return false;
	}
}

/*
 * True if this is a direct jump or call to an address above `from` and at most `to`. Only checks
 * that the instruction has one operand, a constant in this range: a push of such a constant
 * matches, too, which is harmless.
 */
static bool leads_into(const cs_insn *insn, uint64_t from, uint64_t to)
{
	const cs_x86 *x86 = &insn->detail->x86;

	return x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM &&
	       (uint64_t)x86->operands[0].imm > from && (uint64_t)x86->operands[0].imm <= to;
}

/* Evidence of indirect jumps in a function. */
struct jumps {
	bool indirect;
	bool indexed; /* true if an indirect jump surely uses a jump table */
	bool table;   /* true if an instruction reads memory that may be a jump table */
};

/*
 * Records whether an instruction is an indirect jump, and whether it may read a jump table. An
 * indirect jump is either a tail call or uses a jump table; the targets in the table are unknown. A
 * jump table contains 32-bit distances or, in programs linked to a fixed address, addresses.
 */
static void note_jumps(const cs_insn *insn, struct jumps *jumps)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *last = x86->op_count ? &x86->operands[x86->op_count - 1] : NULL;
	bool indexed;

	if (!last)
		return;
	indexed = last->type == X86_OP_MEM && last->mem.index != X86_REG_INVALID;
	if (insn->id == X86_INS_JMP || insn->id == X86_INS_LJMP) {
		jumps->indirect |= last->type == X86_OP_REG ||
				   (last->type == X86_OP_MEM && last->mem.base != X86_REG_RIP);
		jumps->indexed |= indexed;
	} else if (insn->id == X86_INS_MOVSXD) {
		jumps->table |= indexed;
	} else if (insn->id == X86_INS_MOV) {
		jumps->table |= indexed && last->mem.base == X86_REG_INVALID;
	}
}

/*
 * True if the function's own code may jump to an instruction after its entry, up to and including
 * the one at offset `place`.
 */
static bool is_jumped_into(csh handle, cs_insn *insn, const struct function_code *code,
			   uint64_t place)
{
	uint64_t address = code->address;
	const uint8_t *at = code->bytes;
	struct jumps jumps = {0};
	size_t left = code->len;

	while (left) {
		if (!cs_disasm_iter(handle, &at, &left, &address, insn))
			return true;
		if (leads_into(insn, code->address, code->address + place))
			return true;
		note_jumps(insn, &jumps);
	}
	return jumps.indexed || (jumps.indirect && jumps.table);
}

static char *insn_text(const cs_insn *insn)
{
	char *text;

	if (asprintf(&text, "%s%s%s", insn->mnemonic, insn->op_str[0] ? " " : "", insn->op_str) < 0)
		return NULL;
	return text;
}

/*
 * Finds the function's first instruction that the kernel emulates, decodes it to `insn` and sets
 * *ret to its offset. Returns false if there is none before code->room, or if a probe must not be
 * placed after one of the instructions before it.
 */
static bool find_emulated(csh handle, cs_insn *insn, const struct function_code *code,
			  uint64_t *ret)
{
	uint64_t address = code->address;
	const uint8_t *at = code->bytes;
	size_t left = code->len;

	while (cs_disasm_iter(handle, &at, &left, &address, insn)) {
		uint64_t offset = insn->address - code->address;

		if (offset >= code->room)
			return false;
		if (is_emulated(insn->bytes, insn->size)) {
			*ret = offset;
			return true;
		}
		if (!may_pass(insn, code->argument_cnt))
			return false;
	}
	return false;
}

static void find_place(csh handle, cs_insn *insn, const struct function_code *code, bool move,
		       struct probe_place *ret)
{
	uint64_t address = code->address, offset = 0;
	const uint8_t *at = code->bytes;
	size_t left = code->len;

	if (move && code->whole && find_emulated(handle, insn, code, &offset)) {
		char *text = insn_text(insn);

		if (!offset || !is_jumped_into(handle, insn, code, offset)) {
			*ret = (struct probe_place){offset, true, text};
			return;
		}
		free(text);
	}
	if (cs_disasm_iter(handle, &at, &left, &address, insn)) {
		ret->emulated = is_emulated(insn->bytes, insn->size);
		ret->insn = insn_text(insn);
	}
}

static void choose_place(const struct function_code *code, bool move, struct probe_place *ret)
{
	cs_insn *insn;
	csh handle;

	*ret = (struct probe_place){0};
	/* On machines other than x86-64, keep the entry: no cheaper place is known. */
	if (code->machine != EM_X86_64 || cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
		return;
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(handle);
	if (insn) {
		find_place(handle, insn, code, move, ret);
		cs_free(insn, 1);
	}
	cs_close(&handle);
}

void probe_place_find(const struct function_code *code, struct probe_place *ret)
{
	choose_place(code, true, ret);
}

void probe_place_at_entry(const struct function_code *code, struct probe_place *ret)
{
	choose_place(code, false, ret);
}

void probe_place_branches(const uint8_t *bytes, size_t len, uint64_t address,
			  void (*visit)(void *arg, uint64_t target), void *arg)
{
	for (size_t i = 0; i + 5 <= len; i++) {
		size_t opcode_len = 1;
		int32_t distance;

		if (bytes[i] == 0x0f && (bytes[i + 1] & 0xf0) == 0x80)
			opcode_len = 2;
		else if (bytes[i] != 0xe8 && bytes[i] != 0xe9)
			continue;
		if (i + opcode_len + sizeof(distance) > len)
			continue;
		memcpy(&distance, bytes + i + opcode_len, sizeof(distance));
		visit(arg,
		      address + i + opcode_len + sizeof(distance) + (uint64_t)(int64_t)distance);
	}
}
