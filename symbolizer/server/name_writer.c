// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks up code addresses (function, inlined calls, lines) and addresses of variables. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/server/demangle.h"
#include "symbolizer/server/name_writer.h"
#include "symbolizer/server/thread_block.h"

/* DIEs of the function and of the inlined calls that contain an address, outermost first. */
struct inlines {
	Dwarf_Die dies[SERVER_FRAMES_MAX];
	size_t cnt;
};

/* Maximum nesting depth of lexical blocks and inlined calls. In real programs, it is lower. */
#define STEPS_MAX 512

/* Finds the child DIE of `parent` that contains pc and is an inlined call or a block of code. */
static bool enter_child(Dwarf_Die *parent, uint64_t pc, Dwarf_Die *ret)
{
	const char *before = parent->addr;
	Dwarf_Die die;
	int more = dwarf_child(parent, &die);

	for (; !more && (const char *)die.addr > before; more = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		before = die.addr;
		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block &&
		    tag != DW_TAG_try_block && tag != DW_TAG_catch_block)
			continue;
		if (dwarf_haspc(&die, pc) == 1) {
			*ret = die;
			return true;
		}
	}
	return false;
}

static void find_inlines(const Dwarf_Die *function, uint64_t pc, struct inlines *inlines)
{
	Dwarf_Die die = *function;

	inlines->dies[inlines->cnt++] = die;
	for (unsigned int i = 0; i < STEPS_MAX && inlines->cnt < SERVER_FRAMES_MAX; i++) {
		if (!enter_child(&die, pc, &die))
			return;
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			inlines->dies[inlines->cnt++] = die;
	}
}

static const char *function_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		name = dwarf_formstring(&attr);
	return name ? name : dwarf_diename(die);
}

static void put_name(struct message *msg, const char *name)
{
	char *readable = name ? demangle(name) : NULL;

	message_put_string(msg, readable);
	free(readable);
}

/* Writes the name of a symbol without its version: "fgetpos" for fgetpos@@GLIBC_2.2.5. */
static void put_symbol(struct message *msg, const char *name)
{
	const char *version = name ? strchr(name, '@') : NULL;
	char *bare = version && version > name ? strndup(name, version - name) : NULL;

	put_name(msg, bare ? bare : name);
	free(bare);
}

/* Writes the file and line where an inlined function is called. */
static void put_call_site(struct message *msg, Dwarf_Die *die)
{
	Dwarf_Word file = 0, line = 0;
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Die unit;
	const char *name = NULL;
	size_t cnt;

	if (dwarf_attr(die, DW_AT_call_file, &attr) && !dwarf_formudata(&attr, &file) &&
	    dwarf_diecu(die, &unit, NULL, NULL) && !dwarf_getsrcfiles(&unit, &files, &cnt) &&
	    file < cnt)
		name = dwarf_filesrc(files, file, NULL, NULL);
	if (!dwarf_attr(die, DW_AT_call_line, &attr) || dwarf_formudata(&attr, &line) ||
	    line > INT32_MAX)
		line = 0;
	message_put_string(msg, name);
	message_put_u32(msg, line);
}

static void put_line(struct message *msg, const struct dwarf_function *found)
{
	message_put_string(msg, found->file);
	message_put_u32(msg, found->line <= INT32_MAX ? found->line : 0);
}

static uint64_t function_start(Dwarf_Die *function, uint64_t pc)
{
	Dwarf_Addr start;

	if (dwarf_entrypc(function, &start) || start > pc)
		return pc;
	return start;
}

/*
 * The name of the outermost function comes from the symbol table or, without a symbol, from DWARF.
 */
void name_write(struct elf_object *obj, uint64_t offset, enum name_level level, struct message *msg)
{
	uint64_t pc = elf_object__vaddr(obj, offset), bias = 0;
	struct symbol symbol = {.start = pc};
	struct dwarf_function found = {0};
	struct inlines inlines = {.cnt = 0};

	if (obj->symbols[NAME_OF_CODE])
		symbol_table__find(obj->symbols[NAME_OF_CODE], pc, &symbol);
	if (level == NAME_FULL && obj->dwarf) {
		dwfl_module_getdwarf(obj->mod, &bias);
		dwarf_index__find(obj->dwarf, pc - bias, &found);
	}
	if (found.function.addr) {
		find_inlines(&found.function, pc - bias, &inlines);
		if (!symbol.name) {
			symbol.name = function_name(&found.function);
			symbol.start = function_start(&found.function, pc - bias) + bias;
		}
	}
	message_put_u64(msg, pc);
	message_put_u64(msg, symbol.start);
	message_put_u32(msg, inlines.cnt ? inlines.cnt : 1);
	for (size_t i = inlines.cnt; i-- > 1;) {
		put_name(msg, function_name(&inlines.dies[i]));
		if (i + 1 == inlines.cnt)
			put_line(msg, &found);
		else
			put_call_site(msg, &inlines.dies[i + 1]);
	}
	put_symbol(msg, symbol.name);
	if (inlines.cnt > 1)
		put_call_site(msg, &inlines.dies[1]);
	else
		put_line(msg, &found);
}

/* Returns the ELF virtual address of a variable; 0 if no segment of the file contains it. */
static uint64_t variable_vaddr(const struct elf_object *obj, enum name_kind kind, uint64_t offset,
			       uint64_t anchor)
{
	const struct thread_part *part = &obj->thread_part;
	uint64_t vaddr;

	/* Not supported for kernel files: their anchors are only for code. */
	if (obj->anchor_cnt)
		return 0;
	if (kind == NAME_OF_TLS) {
		offset = thread_block_offset(part, obj->machine, offset);
		return offset < part->bytes ? part->vaddr + offset : 0;
	}
	vaddr = elf_object__vaddr(obj, anchor) - anchor + offset;
	return elf_object__has(obj, vaddr) ? vaddr : 0;
}

static void find_declaration(const struct elf_object *obj, enum name_kind kind, uint64_t start,
			     struct declaration *ret)
{
	uint64_t bias = 0;

	dwfl_module_getdwarf(obj->mod, &bias);
	variable_index__find(obj->variables, kind, kind == NAME_OF_DATA ? start - bias : start,
			     ret);
}

/* The name and start of the variable come from the symbol table, its declaration from DWARF. */
void variable_write(struct elf_object *obj, enum name_kind kind, uint64_t offset, uint64_t anchor,
		    enum name_level level, struct message *msg)
{
	uint64_t vaddr = variable_vaddr(obj, kind, offset, anchor), base = 0;
	struct declaration declaration = {.line = 0};
	struct symbol symbol = {.start = vaddr};

	if (kind == NAME_OF_TLS)
		base = obj->thread_part.vaddr;
	if (vaddr && obj->symbols[kind] &&
	    !symbol_table__find(obj->symbols[kind], vaddr - base, &symbol)) {
		declaration.file = symbol.file;
		if (level == NAME_FULL && obj->variables)
			find_declaration(obj, kind, symbol.start, &declaration);
		symbol.start += base;
	}
	message_put_u64(msg, vaddr);
	message_put_u64(msg, symbol.start);
	message_put_u32(msg, 1);
	put_symbol(msg, symbol.name);
	message_put_string(msg, declaration.file);
	message_put_u32(msg, declaration.line);
}
