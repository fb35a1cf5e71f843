// SPDX-License-Identifier: GPL-2.0-or-later
/* From an ELF file's call frame information to the rows of a table. */
#include "unwinder/builder.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "unwinder/fde_list.h"
#include "unwinder/rule.h"

/* An executable segment. */
struct code {
	uint64_t addr;
	uint64_t offset;
	uint64_t size;
};

struct builder {
	Elf *elf;
	const struct unwind_arch *arch;
	struct code *codes;
	size_t code_cnt;
	Dwarf *dwarf; /* only for .debug_frame */
	Dwarf_CFI *cfi;
	struct rule_set rules;
	struct unwind_row *rows;
	size_t row_cnt;
	size_t row_cap;
};

static int add_row(struct builder *builder, uint64_t offset, uint32_t rule)
{
	if (builder->row_cnt == builder->row_cap) {
		size_t cap = builder->row_cap ? builder->row_cap * 2 : 16384;
		struct unwind_row *grown;

		if (cap > UNWIND_TABLE_WORDS_MAX)
			return -E2BIG;
		grown = reallocarray(builder->rows, cap, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		builder->rows = grown;
		builder->row_cap = cap;
	}
	builder->rows[builder->row_cnt++] = (struct unwind_row){offset, rule};
	return 0;
}

/* Segments that lie within the file; nothing is mapped from beyond its end. */
static int find_code(struct builder *builder)
{
	size_t cnt, size;

	if (elf_getphdrnum(builder->elf, &cnt) || !elf_rawfile(builder->elf, &size))
		return -ENOEXEC;
	builder->codes = calloc(cnt + 1, sizeof(*builder->codes));
	if (!builder->codes)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		GElf_Phdr mem, *header = gelf_getphdr(builder->elf, (int)i, &mem);

		if (!header || header->p_type != PT_LOAD || !(header->p_flags & PF_X) ||
		    header->p_offset > size || header->p_filesz > size - header->p_offset ||
		    header->p_vaddr > UINT64_MAX - header->p_filesz)
			continue;
		builder->codes[builder->code_cnt++] =
			(struct code){header->p_vaddr, header->p_offset, header->p_filesz};
	}
	return builder->code_cnt ? 0 : -ENOENT;
}

static const struct code *code_at(const struct builder *builder, uint64_t addr)
{
	for (size_t i = 0; i < builder->code_cnt; i++)
		if (addr >= builder->codes[i].addr &&
		    addr - builder->codes[i].addr < builder->codes[i].size)
			return &builder->codes[i];
	return NULL;
}

static uint64_t code_offset(const struct code *code, uint64_t addr)
{
	return addr - code->addr + code->offset;
}

/*
 * The rows of the function at start; libdw's frames know how far each holds. *end is where the
 * last one ended; it stays start when nothing is known.
 */
static int add_function(struct builder *builder, const struct code *code, uint64_t start,
			uint64_t *end)
{
	uint64_t at = start, code_end = code->addr + code->size;
	int err = 0;

	while (!err && at < code_end) {
		Dwarf_Addr row_start, row_end;
		Dwarf_Frame *frame;
		bool signal = false;

		if (dwarf_cfi_addrframe(builder->cfi, at, &frame))
			break;
		if (dwarf_frame_info(frame, &row_start, &row_end, &signal) < 0 || row_end <= at) {
			free(frame);
			break;
		}
		err = add_row(builder, code_offset(code, at),
			      rule_set_add(&builder->rules,
					   unwind_rule_read(builder->arch, frame, signal)));
		free(frame);
		at = row_end < code_end ? row_end : code_end;
	}
	*end = at;
	return err;
}

/*
 * Functions in the order of their addresses; where one ends and none begins, there is no row. Nor
 * is there one for padding: what returns to a function's first byte shows by it.
 */
static int add_functions(struct builder *builder, const struct fde_list *list)
{
	const struct code *code = NULL;
	uint64_t end = 0;
	int err = 0;

	for (size_t i = 0; !err && i < list->cnt; i++) {
		uint64_t start = list->starts[i];
		const struct code *home = code_at(builder, start);

		if (!home || (home == code && start < end))
			continue;
		if (code && (home != code || start != end))
			err = add_row(builder, code_offset(code, end), 0);
		code = home;
		if (!err)
			err = add_function(builder, code, start, &end);
	}
	if (!err && code)
		err = add_row(builder, code_offset(code, end), 0);
	return err;
}

/* The trampoline of signal handlers, where only its bytes tell it (the kernel's own library). */
static int add_sigreturn(struct builder *builder, const struct code *code)
{
	const struct unwind_arch *arch = builder->arch;
	struct unwind_rule signal = {.cfa = UNWIND_CFA_SIGNAL};
	const char *bytes = elf_rawfile(builder->elf, NULL), *found;
	uint64_t offset, lead;
	int err;

	/* Only in files as small as that library. */
	if (!arch->sigreturn_bytes || code->size > 65536)
		return 0;
	found = memmem(bytes + code->offset, code->size, arch->sigreturn, arch->sigreturn_bytes);
	if (!found)
		return 0;
	offset = (uint64_t)(found - bytes);
	lead = offset - code->offset < arch->sigreturn_lead ? 0 : arch->sigreturn_lead;
	err = add_row(builder, offset - lead, rule_set_add(&builder->rules, signal));
	if (!err)
		err = add_row(builder, offset + arch->sigreturn_bytes, 0);
	return err;
}

static int by_offset(const void *a, const void *b)
{
	const struct unwind_row *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	/* Of two for one place, the one that says something comes first. */
	return x->rule > y->rule ? -1 : x->rule < y->rule;
}

/* Segments need not be in the order of their offsets, and hostile ones overlap. */
static void sort_rows(struct builder *builder)
{
	struct unwind_row *rows = builder->rows;
	bool sorted = true;
	size_t kept = 0;

	for (size_t i = 1; sorted && i < builder->row_cnt; i++)
		sorted = rows[i - 1].offset < rows[i].offset;
	if (!sorted)
		qsort(rows, builder->row_cnt, sizeof(*rows), by_offset);
	for (size_t i = 0; i < builder->row_cnt; i++) {
		if (kept && rows[kept - 1].offset == rows[i].offset)
			continue;
		/* A row that says what the one before it says is not needed. */
		if (kept && rows[kept - 1].rule == rows[i].rule && i + 1 < builder->row_cnt)
			continue;
		rows[kept++] = rows[i];
	}
	builder->row_cnt = kept;
}

static int open_cfi(struct builder *builder, bool is_debug)
{
	if (is_debug) {
		builder->dwarf = dwarf_begin_elf(builder->elf, DWARF_C_READ, NULL);
		builder->cfi = builder->dwarf ? dwarf_getcfi(builder->dwarf) : NULL;
	} else {
		builder->cfi = dwarf_getcfi_elf(builder->elf);
	}
	return builder->cfi ? 0 : -ENOENT;
}

static int add_rows(struct builder *builder)
{
	struct fde_list list = {0};
	bool is_debug;
	int err = fde_list_init(builder->elf, &is_debug, &list);

	if (!err)
		err = open_cfi(builder, is_debug);
	if (!err)
		err = add_functions(builder, &list);
	fde_list_deinit(&list);
	/* Without any other row, this one may still be there. */
	for (size_t i = 0; (!err || err == -ENOENT) && i < builder->code_cnt; i++)
		err = add_sigreturn(builder, &builder->codes[i]);
	return err;
}

static int check_header(struct builder *builder)
{
	GElf_Ehdr mem, *header = gelf_getehdr(builder->elf, &mem);

	if (!header || gelf_getclass(builder->elf) != ELFCLASS64 ||
	    header->e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	builder->arch = unwind_arch_find(header->e_machine);
	return builder->arch ? 0 : -ENOEXEC;
}

static void builder_deinit(struct builder *builder)
{
	if (builder->dwarf)
		dwarf_end(builder->dwarf);
	else if (builder->cfi)
		dwarf_cfi_end(builder->cfi);
	elf_end(builder->elf);
	rule_set_deinit(&builder->rules);
	free(builder->codes);
	free(builder->rows);
}

int unwind_table_build(int fd, struct unwind_table *ret)
{
	struct builder builder = {0};
	int err;

	elf_version(EV_CURRENT);
	builder.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!builder.elf)
		return -ENOEXEC;
	err = check_header(&builder);
	if (!err)
		err = find_code(&builder);
	if (!err)
		err = rule_set_init(&builder.rules);
	if (!err)
		err = add_rows(&builder);
	if (!err) {
		sort_rows(&builder);
		err = unwind_table_init(builder.rules.rules, builder.rules.cnt, builder.rows,
					builder.row_cnt, ret);
	}
	builder_deinit(&builder);
	return err;
}
