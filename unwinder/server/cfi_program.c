// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs the call frame instructions that compilers emit. */
#include "unwinder/server/cfi_program.h"

#include <dwarf.h>
#include <elf.h>
#include <endian.h>
#include <string.h>

/* Maximum number of states that can be restored by DW_CFA_restore_state. Compilers need one. */
#define REMEMBERED_MAX 4

/*
 * If the two high bits of a byte are not 0, they are an instruction with the other six bits as its
 * operand.
 */
#define PRIMARY(byte) ((byte)&0xc0)
#define OPERAND(byte) ((byte)&0x3f)

struct state {
	uint64_t cfa_reg;
	int64_t cfa_off;
	/* CFA rule that was read from an expression; NO_ROW if the CFA is cfa_reg + cfa_off */
	struct unwind_rule cfa;
	struct unwind_place fp;
	struct unwind_place ra;
};

struct program {
	const struct unwind_arch *arch;
	const Dwarf_CIE *cie;
	const uint8_t *at;
	const uint8_t *end;
	bool bad;       /* true if an instruction was invalid or is not supported here */
	bool is_signal; /* true if the program describes the kernel's signal frame */
	uint64_t addr;
	uint64_t next_addr;
	struct state state;
	struct state first; /* state after the CIE's instructions, for DW_CFA_restore */
	struct state remembered[REMEMBERED_MAX];
	size_t remembered_cnt;
};

static uint64_t read_fixed(struct program *program, size_t len)
{
	uint64_t value = 0;

	if ((size_t)(program->end - program->at) < len) {
		program->bad = true;
		return 0;
	}
	memcpy(&value, program->at, len);
	program->at += len;
	return le64toh(value);
}

/* Reads a LEB128 number of at most 63 bits. */
static uint64_t read_leb(struct program *program, bool is_signed)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)read_fixed(program, 1);
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && shift < 63);
	program->bad |= byte & 0x80;
	if (is_signed && byte & 0x40)
		value |= ~0ULL << shift;
	return value;
}

static uint64_t read_unsigned(struct program *program)
{
	return read_leb(program, false);
}

static int64_t read_signed(struct program *program)
{
	return (int64_t)read_leb(program, true);
}

static int64_t factored(const struct program *program, uint64_t value)
{
	return (int64_t)(value * (uint64_t)program->cie->data_alignment_factor);
}

static void set_place(struct program *program, uint64_t reg, int kind, int64_t offset)
{
	const struct unwind_place place = {.kind = kind, .offset = offset};

	if (reg == program->arch->fp)
		program->state.fp = place;
	if (reg == program->arch->ra)
		program->state.ra = place;
}

static void restore_place(struct program *program, uint64_t reg)
{
	if (reg == program->arch->fp)
		program->state.fp = program->first.fp;
	if (reg == program->arch->ra)
		program->state.ra = program->first.ra;
}

/* Reads the first part of an expression, a register plus offset. */
static bool read_base(struct program *program, uint64_t *reg, int64_t *offset)
{
	uint8_t atom = (uint8_t)read_fixed(program, 1);

	if (atom == DW_OP_bregx)
		*reg = read_unsigned(program);
	else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		*reg = atom - DW_OP_breg0;
	else
		return false;
	*offset = read_signed(program);
	return !program->bad;
}

/*
 * Reads the CFA expression of PLT entries: breg7 8, breg16 0, lit15, and, litN, ge, lit3, shl,
 * plus. The push instruction of a PLT entry moves the stack pointer by 8, so the CFA is sp + 8, and
 * sp + 16 from byte N of the entry on. N is 11, or another number in entries with bnd or endbr64.
 */
static bool read_plt(struct program *program, int32_t *threshold)
{
	static const uint8_t begin[] = {DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and};
	static const uint8_t end[] = {DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	const uint8_t *at = program->at;

	if ((size_t)(program->end - at) != sizeof(begin) + 1 + sizeof(end) ||
	    memcmp(at, begin, sizeof(begin)) || memcmp(at + sizeof(begin) + 1, end, sizeof(end)))
		return false;
	*threshold = at[sizeof(begin)] - DW_OP_lit0;
	return *threshold >= 1 && *threshold <= 15;
}

/* Reads an expression of the form register + offset, or *(register + outer) + inner. */
static bool read_sum(struct program *program, struct unwind_rule *rule)
{
	const struct unwind_arch *arch = program->arch;
	uint64_t reg, inner = 0;
	int64_t outer;

	if (!read_base(program, &reg, &outer) || (reg != arch->sp && reg != arch->fp))
		return false;
	if (program->at == program->end) {
		rule->cfa = reg == arch->sp ? UNWIND_CFA_SP : UNWIND_CFA_FP;
		rule->cfa_off = (int32_t)outer;
		return outer >= INT32_MIN && outer <= INT32_MAX;
	}
	if (read_fixed(program, 1) != DW_OP_deref)
		return false;
	if (program->at < program->end) {
		if (read_fixed(program, 1) != DW_OP_plus_uconst)
			return false;
		inner = read_unsigned(program);
	}
	if (program->at != program->end || inner > UINT8_MAX || outer < -(1 << 23) ||
	    outer >= 1 << 23)
		return false;
	rule->cfa = reg == arch->sp ? UNWIND_CFA_SP_DEREF : UNWIND_CFA_FP_DEREF;
	rule->cfa_off = UNWIND_DEREF((int32_t)outer, (int32_t)inner);
	return true;
}

static bool read_cfa(struct program *program, struct unwind_rule *rule)
{
	if (program->arch->has_plt && read_plt(program, &rule->cfa_off)) {
		rule->cfa = UNWIND_CFA_PLT;
		return true;
	}
	return read_sum(program, rule) && !program->bad;
}

/*
 * Reads the length of an expression and sets program->end to the expression's end. Returns the end
 * of the program for leave_expression(), or NULL if the length is invalid.
 */
static const uint8_t *enter_expression(struct program *program)
{
	uint64_t len = read_unsigned(program);
	const uint8_t *end = program->end;

	if (program->bad || len > (size_t)(end - program->at)) {
		program->bad = true;
		return NULL;
	}
	program->end = program->at + len;
	return end;
}

static void leave_expression(struct program *program, const uint8_t *end)
{
	program->bad = false;
	program->at = program->end;
	program->end = end;
}

static void run_cfa_expression(struct program *program)
{
	const uint8_t *end = enter_expression(program);

	if (!end)
		return;
	program->state.cfa = (struct unwind_rule){0};
	if (!read_cfa(program, &program->state.cfa))
		program->state.cfa = (struct unwind_rule){.cfa = UNWIND_CFA_UNKNOWN};
	leave_expression(program, end);
}

/*
 * Reads the expression of a register. Understands frame pointer + offset, as in functions that
 * align their stack.
 */
static void run_expression(struct program *program, uint64_t reg, bool is_value)
{
	const uint8_t *end = enter_expression(program);
	int64_t offset = 0;
	uint64_t base;
	bool is_at_fp;

	if (!end)
		return;
	is_at_fp = read_base(program, &base, &offset) && base == program->arch->fp &&
		   program->at == program->end && !is_value;
	set_place(program, reg, is_at_fp ? PLACE_AT_FP : PLACE_OTHER, offset);
	leave_expression(program, end);
}

static void advance(struct program *program, uint64_t delta)
{
	program->next_addr = program->addr + delta * program->cie->code_alignment_factor;
}

static void remember(struct program *program)
{
	if (program->remembered_cnt < REMEMBERED_MAX)
		program->remembered[program->remembered_cnt] = program->state;
	program->remembered_cnt++;
}

static void recall(struct program *program)
{
	if (!program->remembered_cnt || --program->remembered_cnt >= REMEMBERED_MAX)
		program->bad = true;
	else
		program->state = program->remembered[program->remembered_cnt];
}

/* Runs an instruction that says where a register is saved. */
static void run_place(struct program *program, uint8_t instruction)
{
	uint64_t reg = read_unsigned(program);

	switch (instruction) {
	case DW_CFA_offset_extended:
		set_place(program, reg, PLACE_AT_CFA, factored(program, read_unsigned(program)));
		break;
	case DW_CFA_offset_extended_sf:
		set_place(program, reg, PLACE_AT_CFA,
			  factored(program, (uint64_t)read_signed(program)));
		break;
	case DW_CFA_restore_extended:
		restore_place(program, reg);
		break;
	case DW_CFA_undefined:
		set_place(program, reg, PLACE_UNDEFINED, 0);
		break;
	case DW_CFA_same_value:
		set_place(program, reg, PLACE_SAME, 0);
		break;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		run_expression(program, reg, instruction == DW_CFA_val_expression);
		break;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		read_unsigned(program);
		set_place(program, reg, PLACE_OTHER, 0);
		break;
	default:
		program->bad = true;
	}
}

/* Reads the register of a CFA that is a register plus offset. */
static void begin_cfa(struct program *program)
{
	program->state.cfa = (struct unwind_rule){0};
	program->state.cfa_reg = read_unsigned(program);
}

static void set_cfa_offset(struct program *program, int64_t offset)
{
	program->bad |= program->state.cfa.cfa != UNWIND_CFA_NO_ROW;
	program->state.cfa_off = offset;
}

static void run_extended(struct program *program, uint8_t instruction)
{
	switch (instruction) {
	case DW_CFA_nop:
		break;
	case DW_CFA_advance_loc1:
		advance(program, read_fixed(program, 1));
		break;
	case DW_CFA_advance_loc2:
		advance(program, read_fixed(program, 2));
		break;
	case DW_CFA_advance_loc4:
		advance(program, read_fixed(program, 4));
		break;
	case DW_CFA_remember_state:
		remember(program);
		break;
	case DW_CFA_restore_state:
		recall(program);
		break;
	case DW_CFA_def_cfa:
		begin_cfa(program);
		set_cfa_offset(program, (int64_t)read_unsigned(program));
		break;
	case DW_CFA_def_cfa_sf:
		begin_cfa(program);
		set_cfa_offset(program, factored(program, (uint64_t)read_signed(program)));
		break;
	case DW_CFA_def_cfa_register:
		program->bad |= program->state.cfa.cfa != UNWIND_CFA_NO_ROW;
		program->state.cfa_reg = read_unsigned(program);
		break;
	case DW_CFA_def_cfa_offset:
		set_cfa_offset(program, (int64_t)read_unsigned(program));
		break;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa_offset(program, factored(program, (uint64_t)read_signed(program)));
		break;
	case DW_CFA_def_cfa_expression:
		run_cfa_expression(program);
		break;
	case DW_CFA_GNU_args_size:
		read_unsigned(program);
		break;
	case DW_CFA_GNU_window_save:
		/*
		 * On aarch64: switches the signing of return addresses on or off. Rules do not
		 * depend on it: the return address is saved at the same place, and stack walks
		 * strip the signature.
		 */
		program->bad |= program->arch->machine != EM_AARCH64;
		break;
	default:
		run_place(program, instruction);
	}
}

static void run_one(struct program *program)
{
	uint8_t byte = (uint8_t)read_fixed(program, 1);

	switch (PRIMARY(byte)) {
	case DW_CFA_advance_loc:
		advance(program, OPERAND(byte));
		break;
	case DW_CFA_offset:
		set_place(program, OPERAND(byte), PLACE_AT_CFA,
			  factored(program, read_unsigned(program)));
		break;
	case DW_CFA_restore:
		restore_place(program, OPERAND(byte));
		break;
	default:
		run_extended(program, byte);
	}
}

static struct unwind_rule rule_of(const struct program *program)
{
	static const struct unwind_rule unknown = {.cfa = UNWIND_CFA_UNKNOWN};
	const struct unwind_arch *arch = program->arch;
	const struct state *state = &program->state;
	struct unwind_rule rule = state->cfa;

	if (program->bad)
		return unknown;
	if (state->ra.kind == PLACE_UNDEFINED)
		return (struct unwind_rule){.cfa = UNWIND_CFA_OUTERMOST};
	if (rule.cfa == UNWIND_CFA_NO_ROW) {
		if ((state->cfa_reg != arch->sp && state->cfa_reg != arch->fp) ||
		    state->cfa_off < INT32_MIN || state->cfa_off > INT32_MAX)
			return unknown;
		rule.cfa = state->cfa_reg == arch->sp ? UNWIND_CFA_SP : UNWIND_CFA_FP;
		rule.cfa_off = (int32_t)state->cfa_off;
	}
	if (rule.cfa == UNWIND_CFA_UNKNOWN)
		return unknown;
	if (program->is_signal)
		return arch->is_signal(&rule) ? (struct unwind_rule){.cfa = UNWIND_CFA_SIGNAL}
					      : unknown;
	return arch->saved(&state->fp, &state->ra, &rule) ? rule : unknown;
}

/* Runs the CIE's instructions, which must not advance the address or remember a state. */
static void run_cie(struct program *program)
{
	program->at = program->cie->initial_instructions;
	program->end = program->cie->initial_instructions_end;
	while (!program->bad && program->at < program->end) {
		run_one(program);
		program->bad |= program->next_addr != program->addr || program->remembered_cnt;
	}
	program->first = program->state;
}

int cfi_program_run(const struct unwind_arch *arch, const Dwarf_CIE *cie, const struct fde *fde,
		    uint64_t end, int (*row)(void *arg, uint64_t addr, struct unwind_rule rule),
		    void *arg)
{
	struct program program = {
		.arch = arch,
		.cie = cie,
		.is_signal = strchr(cie->augmentation, 'S') != NULL,
		.state = {.cfa_reg = UINT64_MAX, .ra = arch->ra_at_first},
	};
	int err = 0;

	run_cie(&program);
	program.at = fde->program;
	program.end = fde->program_end;
	program.addr = program.next_addr = fde->start;
	while (!err && !program.bad && program.at < program.end && program.addr < end) {
		run_one(&program);
		program.bad |= program.next_addr < program.addr;
		if (program.bad || program.next_addr == program.addr)
			continue;
		err = row(arg, program.addr, rule_of(&program));
		program.addr = program.next_addr;
	}
	return !err && program.addr < end ? row(arg, program.addr, rule_of(&program)) : err;
}
