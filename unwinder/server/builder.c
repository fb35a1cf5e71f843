// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns an ELF file's call frame information into the rows of a table. */
#include "unwinder/server/builder.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "unwinder/server/cfi_program.h"
#include "unwinder/server/elf_view.h"
#include "unwinder/server/fde_list.h"
#include "unwinder/server/rule.h"

/* An executable segment. */
struct code {
	uint64_t addr;
	uint64_t offset;
	uint64_t size;
};

/*
 * Maximum size, in bytes, of a code segment that is searched for a signal trampoline. Trampolines
 * in larger segments, such as those of large static programs, are not found.
 */
#define TRAMPOLINE_CODE_MAX (4U << 20)

struct builder {
	struct elf_view view;
	const struct unwind_arch *arch;
	struct code *codes;
	size_t code_cnt;
	struct rule_set rules;
	struct unwind_row *rows;
	size_t row_cnt;
	size_t row_cap;
};

static int add_row(struct builder *builder, uint64_t offset, uint32_t rule)
{
	if (builder->row_cnt == UNWIND_TABLE_WORDS_MAX)
		return -E2BIG;
	if (array_reserve(&builder->rows, &builder->row_cap, builder->row_cnt + 1))
		return -ENOMEM;
	builder->rows[builder->row_cnt++] = (struct unwind_row){offset, rule};
	return 0;
}

/*
 * Finds the executable segments. Skips segments that extend beyond the file, as these cannot be
 * mapped.
 */
static int find_code(struct builder *builder)
{
	size_t cnt, size = builder->view.size;

	if (elf_getphdrnum(builder->view.elf, &cnt))
		return -ENOEXEC;
	builder->codes = calloc(cnt + 1, sizeof(*builder->codes));
	if (!builder->codes)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		GElf_Phdr mem, *header = gelf_getphdr(builder->view.elf, (int)i, &mem);

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

struct function {
	struct builder *builder;
	const struct code *code;
};

static int add_rule(void *arg, uint64_t addr, struct unwind_rule rule)
{
	const struct function *function = arg;
	struct builder *builder = function->builder;

	return add_row(builder, code_offset(function->code, addr),
		       rule_set_add(&builder->rules, rule));
}

static int add_function(struct builder *builder, const struct code *code,
			const struct fde_list *list, const struct fde *fde, uint64_t end)
{
	struct function function = {builder, code};

	return cfi_program_run(builder->arch, &list->cies[fde->cie], fde, end, add_rule, &function);
}

/*
 * Finds FDEs that overlap the FDE at index `first`. Linkers do not create overlapping FDEs, but
 * hostile files may have them. Up to *alone, only the FDE at `first` applies; from *alone to
 * *together, several FDEs contradict each other. Returns the index of the FDE to continue with.
 */
static size_t find_contest(const struct fde_list *list, size_t first, uint64_t *alone,
			   uint64_t *together)
{
	const struct fde *fde = &list->items[first];
	size_t next = first + 1;

	*alone = *together = fde->end;
	/*
	 * Skip FDEs with the same start: duplicates, or the same function's FDE in the other
	 * section.
	 */
	while (next < list->cnt && list->items[next].start == fde->start)
		next++;
	for (; next < list->cnt && list->items[next].start < *together; next++) {
		const struct fde *other = &list->items[next];

		if (other->is_debug && !fde->is_debug)
			continue;
		if (other->start < *alone)
			*alone = other->start;
		/* .eh_frame has precedence over .debug_frame. */
		if (!other->is_debug && fde->is_debug) {
			*together = other->start;
			return next;
		}
		if (other->end > *together)
			*together = other->end;
	}
	return next;
}

static uint64_t before(uint64_t addr, const struct code *code)
{
	return addr - code->addr < code->size ? addr : code->addr + code->size;
}

/*
 * Adds the rows of all functions, sorted by address. Gaps and padding between functions get rule
 * NO_ROW, by which stack walks recognise a return address that is the start of a function.
 */
static int add_functions(struct builder *builder, const struct fde_list *list)
{
	const struct code *code = NULL;
	uint64_t end = 0;
	size_t next;
	int err = 0;

	for (size_t i = 0; !err && i < list->cnt; i = next) {
		const struct fde *fde = &list->items[i];
		const struct code *home = code_at(builder, fde->start);
		uint64_t alone, together;

		next = find_contest(list, i, &alone, &together);
		if (!home)
			continue;
		if (code && (home != code || fde->start != end))
			err = add_row(builder, code_offset(code, end), UNWIND_RULE_NO_ROW);
		code = home;
		alone = before(alone, code);
		end = before(together, code);
		if (!err)
			err = add_function(builder, code, list, fde, alone);
		if (!err && alone < end)
			err = add_row(builder, code_offset(code, alone), UNWIND_RULE_UNKNOWN);
	}
	if (!err && code)
		err = add_row(builder, code_offset(code, end), UNWIND_RULE_NO_ROW);
	return err;
}

static bool is_described(const struct fde_list *list, uint64_t addr)
{
	for (size_t i = 0; i < list->cnt && list->items[i].start <= addr; i++)
		if (addr < list->items[i].end)
			return true;
	return false;
}

/*
 * Finds the signal trampoline by its machine code, and adds a row for it if it has no FDE (vdso,
 * musl).
 */
static int add_sigreturn(struct builder *builder, const struct fde_list *list,
			 const struct code *code)
{
	const struct unwind_arch *arch = builder->arch;
	struct unwind_rule signal = {.cfa = UNWIND_CFA_SIGNAL};
	const char *bytes = builder->view.bytes, *found;
	uint64_t offset, lead;
	int err;

	if (code->size > TRAMPOLINE_CODE_MAX)
		return 0;
	found = memmem(bytes + code->offset, code->size, arch->sigreturn, arch->sigreturn_bytes);
	if (!found)
		return 0;
	offset = (uint64_t)(found - bytes);
	if (is_described(list, code->addr + offset - code->offset))
		return 0;
	lead = offset - code->offset < arch->sigreturn_lead ? 0 : arch->sigreturn_lead;
	err = add_row(builder, offset - lead, rule_set_add(&builder->rules, signal));
	if (!err)
		err = add_row(builder, offset + arch->sigreturn_bytes, UNWIND_RULE_NO_ROW);
	return err;
}

static int by_offset(const void *a, const void *b)
{
	const struct unwind_row *x = a, *y = b;

	/* NO_ROW sorts after other rules at the same offset. */
	return ORDER(x->offset, y->offset) ?: ORDER(y->rule, x->rule);
}

/*
 * Sorts the rows and drops duplicates. Segments may be in any order, and may overlap in hostile
 * files.
 */
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
		/* Drop a row if the row before it has the same rule, but keep the last row. */
		if (kept && rows[kept - 1].rule == rows[i].rule && i + 1 < builder->row_cnt)
			continue;
		rows[kept++] = rows[i];
	}
	builder->row_cnt = kept;
}

static int add_rows(struct builder *builder)
{
	struct fde_list list = {0};
	int err = fde_list_init(builder->view.elf, &list);
	uint64_t bytes = 0;

	if (!err)
		err = add_functions(builder, &list);
	/*
	 * Go on if the file has no FDEs: the table may have only the signal trampoline's row.
	 * Segments with more bytes than the file overlap: do not search the same code many times.
	 */
	for (size_t i = 0; (!err || err == -ENOENT) && i < builder->code_cnt; i++) {
		bytes += builder->codes[i].size;
		if (bytes > builder->view.size)
			break;
		err = add_sigreturn(builder, &list, &builder->codes[i]);
	}
	fde_list_deinit(&list);
	return err;
}

static int find_arch(struct builder *builder)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(builder->view.elf, &header))
		return -ENOEXEC;
	builder->arch = unwind_arch_find(header.e_machine);
	return builder->arch ? 0 : -ENOEXEC;
}

static void builder_deinit(struct builder *builder)
{
	elf_view_deinit(&builder->view);
	rule_set_deinit(&builder->rules);
	free(builder->codes);
	free(builder->rows);
}

int unwind_table_build(int fd, struct unwind_table *ret)
{
	struct builder builder = {0};
	int err;

	elf_version(EV_CURRENT);
	err = elf_view_init(fd, &builder.view);
	if (err)
		return err;
	err = find_arch(&builder);
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
