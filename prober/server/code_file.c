// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads single instructions of an ELF file, and its relocations. */
#include "prober/server/code_file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"

#define INSN_MAX 15

/*
 * Maximum numbers of relocations read per file, and of imports found in them. The limits bound the
 * time that hostile files take.
 */
#define RELOCATIONS_MAX (8 << 20)
#define IMPORTS_MAX (1 << 20)

bool code_file_select(struct code_file *code, uint64_t segment_offset)
{
	size_t cnt;

	if (elf_getphdrnum(code->elf, &cnt))
		return false;
	for (size_t i = 0; i < cnt; i++) {
		if (!gelf_getphdr(code->elf, (int)i, &code->segment))
			return false;
		if (code->segment.p_type == PT_LOAD && (code->segment.p_flags & PF_X) &&
		    code->segment.p_offset == segment_offset)
			return true;
	}
	return false;
}

/* True if the relocation stores the plain address of a symbol in a word of memory. */
static bool is_import(const GElf_Rela *rela)
{
	uint64_t type = GELF_R_TYPE(rela->r_info);

	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

static bool add_import(struct code_file *code, const GElf_Shdr *shdr, const GElf_Rela *rela)
{
	if (code->import_cnt == IMPORTS_MAX ||
	    array_reserve(&code->imports, &code->import_cap, code->import_cnt + 1))
		return false;
	code->imports[code->import_cnt++] = (struct code_import){
		.slot = rela->r_offset,
		.symbol = GELF_R_SYM(rela->r_info),
		.table = shdr->sh_link,
	};
	return true;
}

static int compare_imports(const void *a, const void *b)
{
	const struct code_import *x = a, *y = b;

	return (x->slot > y->slot) - (x->slot < y->slot);
}

/* Finds all imports in the file's relocations, and sorts them by `slot`. */
static void read_imports(struct code_file *code)
{
	Elf_Scn *section = NULL;
	uint64_t left = RELOCATIONS_MAX;

	while ((section = elf_nextscn(code->elf, section))) {
		GElf_Shdr shdr;
		Elf_Data *data;
		GElf_Rela rela;

		if (!gelf_getshdr(section, &shdr) || shdr.sh_type != SHT_RELA || !shdr.sh_entsize)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; left && data && gelf_getrela(data, i, &rela); i++, left--)
			if (is_import(&rela) && !add_import(code, &shdr, &rela))
				left = 1;
	}
	if (code->import_cnt)
		qsort(code->imports, code->import_cnt, sizeof(*code->imports), compare_imports);
}

int code_file_init(struct code_file *code, int fd)
{
	GElf_Ehdr ehdr;

	*code = (struct code_file){.fd = fd};
	elf_version(EV_CURRENT);
	code->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!code->elf || !gelf_getehdr(code->elf, &ehdr) || ehdr.e_machine != EM_X86_64 ||
	    cs_open(CS_ARCH_X86, CS_MODE_64, &code->handle) != CS_ERR_OK) {
		elf_end(code->elf);
		return -ENOEXEC;
	}
	cs_option(code->handle, CS_OPT_DETAIL, CS_OPT_ON);
	code->insn = cs_malloc(code->handle);
	read_imports(code);
	if (code->insn)
		return 0;
	code_file_deinit(code);
	return -ENOMEM;
}

void code_file_deinit(struct code_file *code)
{
	if (code->insn)
		cs_free(code->insn, 1);
	cs_close(&code->handle);
	elf_end(code->elf);
	free(code->imports);
}

uint64_t code_file_address(const struct code_file *code, uint64_t offset)
{
	return offset - code->segment.p_offset + code->segment.p_vaddr;
}

uint64_t code_file_offset(const struct code_file *code, uint64_t addr)
{
	return addr - code->segment.p_vaddr + code->segment.p_offset;
}

bool code_file_read(struct code_file *code, uint64_t addr)
{
	uint64_t within = addr - code->segment.p_vaddr, left;
	uint8_t bytes[INSN_MAX];
	const uint8_t *at = bytes;
	size_t size = sizeof(bytes);
	ssize_t len;

	if (addr < code->segment.p_vaddr || within >= code->segment.p_filesz)
		return false;
	left = code->segment.p_filesz - within;
	if (left < size)
		size = (size_t)left;
	len = pread(code->fd, bytes, size, (off_t)code_file_offset(code, addr));
	if (len <= 0)
		return false;
	size = (size_t)len;
	return cs_disasm_iter(code->handle, &at, &size, &addr, code->insn);
}

bool code_insn_target(const cs_insn *insn, uint64_t *ret)
{
	const cs_x86 *x86 = &insn->detail->x86;

	if (x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM)
		return false;
	*ret = (uint64_t)x86->operands[0].imm;
	return true;
}

bool code_insn_slot(const cs_insn *insn, uint64_t *ret)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *op = &x86->operands[0];

	if (x86->op_count != 1 || op->type != X86_OP_MEM || op->mem.base != X86_REG_RIP ||
	    op->mem.index != X86_REG_INVALID || op->mem.segment != X86_REG_INVALID)
		return false;
	*ret = insn->address + insn->size + (uint64_t)op->mem.disp;
	return true;
}

bool code_file_imported(struct code_file *code, uint64_t slot, const char **name, uint64_t *addr)
{
	const struct code_import key = {.slot = slot};
	const struct code_import *import = code->import_cnt
						   ? bsearch(&key, code->imports, code->import_cnt,
							     sizeof(key), compare_imports)
						   : NULL;
	Elf_Scn *symbols = import ? elf_getscn(code->elf, import->table) : NULL;
	Elf_Data *data = symbols ? elf_getdata(symbols, NULL) : NULL;
	GElf_Shdr shdr;
	GElf_Sym sym;

	if (!data || !gelf_getshdr(symbols, &shdr) || !gelf_getsym(data, (int)import->symbol, &sym))
		return false;
	*name = elf_strptr(code->elf, shdr.sh_link, sym.st_name);
	*addr = sym.st_shndx == SHN_UNDEF ? 0 : sym.st_value;
	return *name != NULL;
}
