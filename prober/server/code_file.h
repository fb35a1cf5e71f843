/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of an ELF file, read by address: single instructions, and calls through the import table
 * that the dynamic loader fills in. Supports x86-64 only. The file is hostile: reads are bounded.
 */
#ifndef PROBER_SERVER_CODE_FILE_H
#define PROBER_SERVER_CODE_FILE_H

#include <capstone.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

/* A word of memory in which the dynamic loader stores the address of a symbol. */
struct code_import {
	uint64_t slot;
	uint32_t symbol;
	uint32_t table; /* index of the section with the symbol table */
};

struct code_file {
	int fd;
	Elf *elf;
	csh handle;
	cs_insn *insn; /* latest instruction that code_file_read() has read */
	GElf_Phdr segment;
	struct code_import *imports; /* imports sorted by slot */
	size_t import_cnt;
	size_t import_cap;
	/* number of instructions that function_returns.c has visited so far in this file */
	uint64_t followed;
};

/* Opens a file to read its code. Returns 0 or a negative errno. */
int code_file_init(struct code_file *code, int fd);
void code_file_deinit(struct code_file *code);

/*
 * Selects the executable segment that begins at this file offset. Returns false if there is none.
 */
bool code_file_select(struct code_file *code, uint64_t segment_offset);

uint64_t code_file_address(const struct code_file *code, uint64_t offset);
uint64_t code_file_offset(const struct code_file *code, uint64_t addr);

/*
 * Reads the instruction at addr into code->insn. Returns false if no instruction can be read there.
 */
bool code_file_read(struct code_file *code, uint64_t addr);

/* Sets *ret to the target of a direct jump or call. Returns false for other instructions. */
bool code_insn_target(const cs_insn *insn, uint64_t *ret);

/*
 * Sets *ret to the address of the word that contains the target of an indirect jump or call.
 * Returns false for other instructions, or if the word's address is not fixed.
 */
bool code_insn_slot(const cs_insn *insn, uint64_t *ret);

/*
 * Finds the symbol whose address the dynamic loader stores in the word at address `slot`. Sets
 * *name, which is valid while the file is open, and *addr, which is the symbol's address in this
 * file, or 0 if another file defines it.
 */
bool code_file_imported(struct code_file *code, uint64_t slot, const char **name, uint64_t *addr);

#endif
