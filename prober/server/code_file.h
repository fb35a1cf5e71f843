/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of an ELF file by address: single instructions, and what is called through the table
 * that the dynamic loader fills in. x86-64; of other machines' code nothing is known. The file is
 * hostile: what is read of it is bounded.
 */
#ifndef PROBER_SERVER_CODE_FILE_H
#define PROBER_SERVER_CODE_FILE_H

#include <capstone.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

/* A word of memory that gets the address of a symbol. */
struct code_import {
	uint64_t slot;
	uint32_t symbol;
	uint32_t table; /* section that the symbol is in */
};

struct code_file {
	int fd;
	Elf *elf;
	csh handle;
	cs_insn *insn; /* the last one that was read */
	GElf_Phdr segment;
	struct code_import *imports; /* by slot */
	size_t import_cnt;
	size_t import_cap;
	uint64_t followed; /* instructions, for function_returns */
};

/* Returns 0 or a negative errno. */
int code_file_init(struct code_file *code, int fd);
void code_file_deinit(struct code_file *code);

/* Goes to the segment that begins at this offset of the file; false: there is none. */
bool code_file_select(struct code_file *code, uint64_t segment_offset);

uint64_t code_file_address(const struct code_file *code, uint64_t offset);
uint64_t code_file_offset(const struct code_file *code, uint64_t addr);

/* Reads the instruction at addr into code->insn; false: there is none. */
bool code_file_read(struct code_file *code, uint64_t addr);

/* Where the instruction jumps to or calls, if it says so itself. */
bool code_insn_target(const cs_insn *insn, uint64_t *ret);

/* Which word of memory has where it jumps to, if that is at a fixed place. */
bool code_insn_slot(const cs_insn *insn, uint64_t *ret);

/*
 * The symbol whose address the dynamic loader puts at slot: its name (of the ELF file, valid until
 * it is closed) and where this file defines it (0: nowhere).
 */
bool code_file_imported(struct code_file *code, uint64_t slot, const char **name, uint64_t *addr);

#endif
