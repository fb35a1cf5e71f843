/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file's code by address: single instructions, and calls through the import table that the
 * dynamic loader fills in. Supports x86-64 only. The file is hostile: reads are bounded.
 */
#ifndef PROBER_SERVER_CODE_FILE_H
#define PROBER_SERVER_CODE_FILE_H

#include <capstone.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

/* A word of memory that the dynamic loader sets to the address of a symbol. */
struct code_import {
	uint64_t slot;
	uint32_t symbol;
	uint32_t table; /* section index of the symbol table */
};

struct code_file {
	int fd;
	Elf *elf;
	csh handle;
	cs_insn *insn; /* the latest instruction read by code_file_read() */
	GElf_Phdr segment;
	struct code_import *imports; /* imports sorted by slot */
	size_t import_cnt;
	size_t import_cap;
	uint64_t followed; /* instructions followed so far, for function_returns */
};

/* Opens a file's code. Returns 0 or a negative errno. */
int code_file_init(struct code_file *code, int fd);
void code_file_deinit(struct code_file *code);

/* Selects the executable segment at this file offset; false if there is none. */
bool code_file_select(struct code_file *code, uint64_t segment_offset);

uint64_t code_file_address(const struct code_file *code, uint64_t offset);
uint64_t code_file_offset(const struct code_file *code, uint64_t addr);

/* Reads the instruction at addr into code->insn; false if there is none. */
bool code_file_read(struct code_file *code, uint64_t addr);

/* Returns the target of a direct jump or call; false if it is indirect. */
bool code_insn_target(const cs_insn *insn, uint64_t *ret);

/*
 * Returns the address of the word that an indirect jump or call reads its target from; false if
 * that is not at a fixed address.
 */
bool code_insn_slot(const cs_insn *insn, uint64_t *ret);

/*
 * Finds the symbol whose address the dynamic loader stores at slot: its name, valid while the file
 * is open, and its address in this file, or 0 if it is not defined here.
 */
bool code_file_imported(struct code_file *code, uint64_t slot, const char **name, uint64_t *addr);

#endif
