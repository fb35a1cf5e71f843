/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One ELF file with its separate debug files, opened by libdwfl. Runs in the helper, since a
 * malicious file may crash the process.
 */
#ifndef SYMBOLIZER_SERVER_ELF_OBJECT_H
#define SYMBOLIZER_SERVER_ELF_OBJECT_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/server/dwarf_index.h"
#include "symbolizer/server/protocol.h"
#include "symbolizer/server/symbol_table.h"
#include "symbolizer/server/variable_index.h"

struct segment {
	uint64_t offset;
	uint64_t bytes;
	uint64_t vaddr;
	uint64_t memory_bytes;
	bool is_code;
};

/* The PT_TLS segment: the initial thread-local data, of which each thread gets a copy. */
struct thread_part {
	uint64_t vaddr;
	uint64_t bytes; /* size in memory; 0 if the file has no PT_TLS segment */
	uint64_t align;
};

/*
 * A section or symbol of vmlinux or of a kernel module, with its load address. These files are not
 * loaded to the addresses in the file: vmlinux is relocated as a whole, modules section by section.
 */
struct anchor {
	char *name;
	uint64_t addr;  /* address in the running kernel */
	uint64_t vaddr; /* address that libdwfl assigns */
	uint64_t bytes; /* size; 0 if not found in the file */
};

struct elf_object {
	char *name;
	int fd;       /* -1 if there is only a debug file */
	int debug_fd; /* -1 if there is none */
	int alternate_fd;
	char *build_id; /* in hex; NULL if there is none */
	struct segment *segments;
	size_t segment_cnt;
	struct thread_part thread_part;
	unsigned int machine; /* e_machine of the ELF header */
	struct anchor *anchors;
	size_t anchor_cnt;
	size_t anchor_cap;
	struct file_need need;
	/*
	 * The fields from dwfl to no_dwarf are set on first use, and again after a debug file was
	 * added.
	 */
	Dwfl *dwfl;
	Dwfl_Module *mod;
	struct symbol_table *symbols[NAME_KIND_CNT];
	struct dwarf_index *dwarf;
	struct variable_index *variables;
	bool no_dwarf;
	bool has_dwarf; /* true if one of the files has DWARF, readable or not */
	/* true if unpack_files() was called after the latest file was added */
	bool unpacked;
	enum server_unreadable unreadable;
};

/*
 * Creates an object for an ELF file. Takes over fd, even on failure. Returns 0, -ENOMEM, or
 * -ENOEXEC if it is not a usable ELF file.
 */
int elf_object__new(int fd, const char *name, struct elf_object **ret);
/*
 * Creates an object without an ELF file. It needs the debug file with this build id, which is added
 * by elf_object__add_debug(). Fails only with -ENOMEM.
 */
int elf_object__new_absent(const char *build_id, const char *name, struct elf_object **ret);
int elf_object__add_anchor(struct elf_object *obj, const char *name, uint64_t addr);
void elf_object__free(struct elf_object *obj);

/*
 * Adds a debug file if it is the one that obj->need describes. Takes over fd, even on failure. If
 * the file was added, sets obj->need to the file that is needed next, if any, and returns 0.
 * Otherwise returns -ENOENT or -ENOMEM.
 */
int elf_object__add_debug(struct elf_object *obj, int fd);

/*
 * Loads the symbols for names of this kind and, if `level` is NAME_FULL, the DWARF. Skips symbols
 * and DWARF that cannot be loaded because the file is damaged or memory has run out.
 */
void elf_object__load(struct elf_object *obj, enum name_kind kind, enum name_level level);

/*
 * Converts a file offset to an ELF virtual address; returns the offset itself if it is in no code
 * segment. If the object has anchors, `offset` is an address in the running kernel, which is
 * converted to libdwfl's address; returns 0 if no anchor covers it.
 */
uint64_t elf_object__vaddr(const struct elf_object *obj, uint64_t offset);

/* True if a loaded segment, including its zero-filled memory, contains the address. */
bool elf_object__has(const struct elf_object *obj, uint64_t vaddr);

#endif
