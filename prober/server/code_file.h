/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the code of an ELF file: single instructions by address, and the targets of calls through
 * the import table (GOT) that the dynamic loader fills in. Supports x86-64 only. The file is
 * hostile: reads are bounded.
 */
#ifndef PROBER_SERVER_CODE_FILE_H
#define PROBER_SERVER_CODE_FILE_H

#include <capstone.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

/* A symbol whose address the dynamic loader stores in the word at address `slot`. */
struct code_import {
	uint64_t slot;
	uint32_t symbol;
	uint32_t table; /* index of the section with the symbol table */
};

struct code_file {
	int fd;
	Elf *elf;
	csh handle;
	cs_insn *insn; /* latest instruction read by code_file_read() */
	GElf_Phdr segment;
	struct code_import *imports; /* sorted by `slot` */
	size_t import_cnt;
	size_t import_cap;
	/* number of instructions that function_returns.c has visited in this file */
	uint64_t followed;
};

/* Opens a file to read its code. Returns 0 or a negative errno. */
int code_file_init(struct code_file *code, int fd);
void code_file_deinit(struct code_file *code);

/*
 * Selects the executable segment that begins at file offset segment_offset: all addresses passed to
 * code_file_read() must be in it. Returns false if there is none.
 */
bool code_file_select(struct code_file *code, uint64_t segment_offset);

uint64_t code_file_address(const struct code_file *code, uint64_t offset);
uint64_t code_file_offset(const struct code_file *code, uint64_t addr);

/*
 * Decodes the instruction at addr into code->insn. Returns false if addr is outside the selected
 * segment or there is no valid instruction.
 */
bool code_file_read(struct code_file *code, uint64_t addr);

/*
 * Sets *ret to the target of a direct jump or call. Only checks that the instruction has a single
 * operand, which is a constant; otherwise returns false.
 */
bool code_insn_target(const cs_insn *insn, uint64_t *ret);

/*
 * Sets *ret to the address of the word from which an indirect jump or call takes its target.
 * Returns false for other instructions, or if this address is not fixed.
 */
bool code_insn_slot(const cs_insn *insn, uint64_t *ret);

/*
 * Finds the symbol whose address the dynamic loader stores in the word at address `slot`. Sets
 * *name to its name, valid while the file is open, and *addr to its address in this file, or to 0
 * if another file defines it. Returns false if there is no such symbol.
 */
bool code_file_imported(struct code_file *code, uint64_t slot, const char **name, uint64_t *addr);

#endif
