// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs the line number programs of DWARF 2 to 5 (.debug_line). */
#include "symbolizer/server/line_table.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <string.h>

struct reader {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

struct program {
	struct reader in;
	uint8_t instruction_bytes;
	int8_t line_base;
	uint8_t line_range;
	uint8_t opcode_base;
	/* number of operands of each standard opcode, from opcode 1 on */
	const uint8_t *operand_cnts;
};

struct row {
	uint64_t addr;
	uint64_t file;
	uint64_t line;
};

struct sequence {
	struct row row;  /* current row: the registers of the line number program */
	struct row last; /* the row that was added last */
	/*
	 * begun: true if `last` is valid; is_live: true if the current rows are of code that the
	 * linker has not removed
	 */
	bool begun, is_live;
};

bool code_is_live(const struct range_table *code, uint64_t addr)
{
	return code->cnt ? range_table_next(code, addr, NULL) != NULL : addr != 0;
}

/* Reads a number of up to eight bytes in native byte order. */
static uint64_t get(struct reader *in, size_t bytes)
{
	uint64_t value = 0;

	if (bytes > sizeof(value) || (size_t)(in->end - in->at) < bytes) {
		in->bad = true;
		in->at = in->end;
		return 0;
	}
	memcpy(&value, in->at, bytes);
	in->at += bytes;
	return value;
}

static uint64_t get_leb128(struct reader *in, bool is_signed)
{
	uint64_t value = 0, byte;
	unsigned int shift = 0;

	do {
		byte = get(in, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= UINT64_MAX << shift;
	return value;
}

/*
 * Returns a reader for the next `bytes` bytes of `in`, and advances `in` past them. If fewer are
 * left, sets in->bad, and the reader covers only these.
 */
static struct reader part_of(struct reader *in, uint64_t bytes)
{
	struct reader part = *in;

	if (bytes > (uint64_t)(in->end - in->at))
		in->bad = true;
	else
		part.end = in->at + bytes;
	in->at = part.end;
	return part;
}

static bool read_header(struct reader *section, struct program *ret)
{
	uint64_t bytes = get(section, 4);
	size_t word = bytes == UINT32_MAX ? 8 : 4;
	struct reader unit = part_of(section, word == 8 ? get(section, 8) : bytes);
	uint64_t version = get(&unit, 2);
	struct reader header;

	if (section->bad || version < 2 || version > 5)
		return false;
	if (version == 5)
		get(&unit, 2);
	header = part_of(&unit, get(&unit, word));
	ret->instruction_bytes = (uint8_t)get(&header, 1);
	get(&header, version >= 4 ? 2 : 1);
	ret->line_base = (int8_t)get(&header, 1);
	ret->line_range = (uint8_t)get(&header, 1);
	ret->opcode_base = (uint8_t)get(&header, 1);
	ret->operand_cnts = header.at;
	ret->in = unit;
	return !unit.bad && !header.bad && ret->line_range && ret->opcode_base &&
	       header.end - header.at >= ret->opcode_base - 1;
}

/*
 * Adds a row: the address range from the previous row to this row gets the file and line of the
 * previous row. Adds nothing in code that the linker has removed.
 */
static int add_row(struct sequence *seq, const struct range_table *code, struct range_table *table)
{
	uint64_t value = seq->last.file << 32 | (uint32_t)seq->last.line;
	int err = 0;

	if (!seq->begun)
		seq->is_live = code_is_live(code, seq->row.addr);
	else if (seq->is_live)
		err = range_table_add(table, seq->last.addr, seq->row.addr, value);
	seq->begun = true;
	seq->last = seq->row;
	return err;
}

static void begin_sequence(struct sequence *seq)
{
	*seq = (struct sequence){.row = {.file = 1, .line = 1}};
}

static int run_extended(struct program *program, struct sequence *seq,
			const struct range_table *code, struct range_table *table)
{
	struct reader in = part_of(&program->in, get_leb128(&program->in, false));
	int err = 0;

	switch (get(&in, 1)) {
	case DW_LNE_end_sequence:
		err = add_row(seq, code, table);
		begin_sequence(seq);
		break;
	case DW_LNE_set_address:
		seq->row.addr = get(&in, (size_t)(in.end - in.at));
		break;
	default:
		break;
	}
	return err;
}

static void advance(const struct program *program, struct sequence *seq, uint8_t adjusted)
{
	seq->row.addr += (uint64_t)program->instruction_bytes * (adjusted / program->line_range);
}

static int run_standard(struct program *program, uint8_t opcode, struct sequence *seq,
			const struct range_table *code, struct range_table *table)
{
	struct reader *in = &program->in;

	switch (opcode) {
	case DW_LNS_copy:
		return add_row(seq, code, table);
	case DW_LNS_advance_pc:
		seq->row.addr += program->instruction_bytes * get_leb128(in, false);
		break;
	case DW_LNS_advance_line:
		seq->row.line += get_leb128(in, true);
		break;
	case DW_LNS_set_file:
		seq->row.file = get_leb128(in, false);
		break;
	case DW_LNS_const_add_pc:
		advance(program, seq, UINT8_MAX - program->opcode_base);
		break;
	case DW_LNS_fixed_advance_pc:
		seq->row.addr += get(in, 2);
		break;
	default:
		for (uint8_t i = 0; i < program->operand_cnts[opcode - 1]; i++)
			get_leb128(in, false);
	}
	return 0;
}

static int run_program(struct program *program, const struct range_table *code,
		       struct range_table *table)
{
	struct reader *in = &program->in;
	struct sequence seq;
	int err = 0;

	begin_sequence(&seq);
	while (!err && !in->bad && in->at < in->end) {
		uint8_t opcode = (uint8_t)get(in, 1);

		if (opcode >= program->opcode_base) {
			uint8_t adjusted = opcode - program->opcode_base;

			advance(program, &seq, adjusted);
			seq.row.line +=
				(uint64_t)(program->line_base + adjusted % program->line_range);
			err = add_row(&seq, code, table);
		} else if (opcode) {
			err = run_standard(program, opcode, &seq, code, table);
		} else {
			err = run_extended(program, &seq, code, table);
		}
	}
	return in->bad && !err ? -EBADMSG : err;
}

/* Returns the section .debug_line, uncompressed and relocated by libdw; NULL if there is none. */
static Elf_Data *find_section(Dwarf *dwarf)
{
	Elf *elf = dwarf_getelf(dwarf);
	Elf_Scn *scn = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name =
			gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;

		if (name && (!strcmp(name, ".debug_line") || !strcmp(name, ".zdebug_line")))
			return elf_getdata(scn, NULL);
	}
	return NULL;
}

int line_table_read(Dwarf *dwarf, Dwarf_Die *unit, const struct range_table *code,
		    struct range_table *ret)
{
	Elf_Data *section = find_section(dwarf);
	struct program program;
	Dwarf_Attribute attr;
	struct reader in;
	Dwarf_Word at;

	if (!dwarf_attr(unit, DW_AT_stmt_list, &attr) || dwarf_formudata(&attr, &at))
		return 0;
	if (!section || !section->d_buf || at > section->d_size)
		return -EBADMSG;
	in.at = (const uint8_t *)section->d_buf + at;
	in.end = (const uint8_t *)section->d_buf + section->d_size;
	in.bad = false;
	return read_header(&in, &program) ? run_program(&program, code, ret) : -EBADMSG;
}
