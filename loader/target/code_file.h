/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of an ELF file by address: single instructions, and what is called through the table
 * that the dynamic loader fills in. x86-64; of other machines' code nothing is known. The file is
 * hostile: all is read, nothing mapped.
 */
#ifndef LOADER_TARGET_CODE_FILE_H
#define LOADER_TARGET_CODE_FILE_H

#include <capstone.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

struct code_file {
	int fd;
	Elf *elf;
	csh handle;
	cs_insn *insn; /* the last one that was read */
	GElf_Phdr segment;
	uint64_t relocations; /* that have been looked at */
};

/* Opens the segment that begins at this offset of the file. Returns 0 or a negative errno. */
int code_file_init(struct code_file *code, int fd, uint64_t segment_offset);
void code_file_deinit(struct code_file *code);

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
