/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One ELF file, its separate debug files and what libdwfl makes of them. Runs in the helper: the
 * file may be anything, at worst this process ends.
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

/* What each thread has a copy of. */
struct thread_part {
	uint64_t vaddr;
	uint64_t bytes; /* 0: there is none */
	uint64_t align;
};

/*
 * A section or symbol of a file whose code lies elsewhere than it says: the kernel moves itself as
 * a whole, a module section by section.
 */
struct anchor {
	char *name;
	uint64_t addr;  /* where it lies */
	uint64_t vaddr; /* where libdwfl puts it */
	uint64_t bytes; /* 0: it is not in the file */
};

struct elf_object {
	char *name;
	int fd;       /* -1: there is only the debug file */
	int debug_fd; /* -1: none */
	int alternate_fd;
	char *build_id; /* hex; NULL: none */
	struct segment *segments;
	size_t segment_cnt;
	struct thread_part thread_part;
	unsigned int machine; /* e_machine */
	struct anchor *anchors;
	size_t anchor_cnt;
	size_t anchor_cap;
	struct file_need need;
	/* Made when they are first needed, and again when a debug file comes. */
	Dwfl *dwfl;
	Dwfl_Module *mod;
	struct symbol_table *symbols[NAME_KIND_CNT];
	struct dwarf_index *dwarf;
	struct variable_index *variables;
	bool no_dwarf;
	bool has_dwarf;          /* a file of these says so, whether or not that can be read */
	bool unpacked;           /* compressed sections were looked for since the last file came */
	uint64_t unpacked_bytes; /* of copies that stand for these files */
	enum server_unreadable unreadable;
};

/* Takes fd over, whatever it returns. -ENOEXEC: not an ELF file that can be used. */
int elf_object__new(int fd, const char *name, struct elf_object **ret);
/* Without a file until one with this build id is added. */
int elf_object__new_absent(const char *build_id, const char *name, struct elf_object **ret);
int elf_object__add_anchor(struct elf_object *obj, const char *name, uint64_t addr);
void elf_object__free(struct elf_object *obj);

/*
 * Offers a file for obj->need, takes fd over. 0: it is used, need says what else would help;
 * -ENOENT: it is another file.
 */
int elf_object__add_debug(struct elf_object *obj, int fd);

/*
 * Makes what level needs ready for names of a kind. Without memory or with a broken file less is
 * there afterwards.
 */
void elf_object__load(struct elf_object *obj, enum name_kind kind, enum name_level level);

/*
 * Where the ELF file puts the byte at this offset; the offset itself where it says nothing. With
 * anchors, where libdwfl puts what lies at this address; 0 when no anchor says so.
 */
uint64_t elf_object__vaddr(const struct elf_object *obj, uint64_t offset);

/* Whether the file has memory at that address, also such as it has no content for. */
bool elf_object__has(const struct elf_object *obj, uint64_t vaddr);

#endif
