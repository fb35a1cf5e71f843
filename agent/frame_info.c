// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds a function's FDE in the linker's search table, and runs the FDE's unwind instructions. */
#include "agent/frame_info.h"

#include <dwarf.h>
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "agent/system.h"
#include "unwinder/server/cfi_program.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

#define PAGE 4096ULL

/* Reads memory from `at` to `end`, checking first that each page is readable. */
struct reader {
	uint64_t at;
	uint64_t end;
	uint64_t readable; /* end of the pages known to be readable */
	bool bad;
};

/* Readable pages of files, cached for all threads. */
static uint64_t known_pages[4096];

static bool page_is_readable(uint64_t page)
{
	uint64_t *known = &known_pages[page / PAGE % 4096];

	if (__atomic_load_n(known, __ATOMIC_RELAXED) == page)
		return true;
	if (!system_is_readable(page))
		return false;
	__atomic_store_n(known, page, __ATOMIC_RELAXED);
	return true;
}

void frame_info_forget(void)
{
	for (unsigned int i = 0; i < sizeof(known_pages) / sizeof(known_pages[0]); i++)
		__atomic_store_n(&known_pages[i], 0, __ATOMIC_RELAXED);
}

static bool can_read(struct reader *reader, uint64_t len)
{
	if (reader->at > reader->end || len > reader->end - reader->at)
		reader->bad = true;
	while (!reader->bad && reader->readable < reader->at + len) {
		if (reader->readable < reader->at)
			reader->readable = reader->at & ~(PAGE - 1);
		reader->bad = !page_is_readable(reader->readable);
		reader->readable += PAGE;
	}
	return !reader->bad;
}

static struct reader reader_at(uint64_t at, uint64_t start, uint64_t end)
{
	return (struct reader){.at = at, .end = end, .bad = at < start || at >= end};
}

static uint64_t read_fixed(struct reader *reader, uint64_t len)
{
	uint64_t value = 0;

	if (!can_read(reader, len))
		return 0;
	memcpy(&value, (const void *)reader->at, len);
	reader->at += len;
	return value;
}

static uint64_t read_leb(struct reader *reader, bool is_signed)
{
	unsigned int shift = 0;
	uint64_t value = 0, byte;

	do {
		byte = read_fixed(reader, 1);
		value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && shift < 63);
	if (is_signed && byte & 0x40)
		value |= ~0ULL << shift;
	return value;
}

/* Reads an encoded address; supports the encodings used in .eh_frame. */
static uint64_t read_encoded(struct reader *reader, uint8_t encoding)
{
	uint64_t place = reader->at, value;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = read_fixed(reader, 8);
		break;
	case DW_EH_PE_udata4:
		value = read_fixed(reader, 4);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)(int64_t)(int32_t)read_fixed(reader, 4);
		break;
	case DW_EH_PE_udata2:
		value = read_fixed(reader, 2);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)(int64_t)(int16_t)read_fixed(reader, 2);
		break;
	default:
		reader->bad = true;
		return 0;
	}
	switch (encoding & 0x70) {
	case DW_EH_PE_absptr:
		return value;
	case DW_EH_PE_pcrel:
		return place + value;
	default:
		reader->bad = true;
		return 0;
	}
}

/* Returns the load bias of the file. */
static uint64_t bias_of(const Elf64_Phdr *headers, unsigned int cnt, uint64_t start)
{
	for (unsigned int i = 0; i < cnt; i++)
		if (headers[i].p_type == PT_LOAD && headers[i].p_offset < PAGE)
			return start - (headers[i].p_vaddr - headers[i].p_offset);
	return start;
}

uint64_t frame_info_header(uint64_t start, uint64_t end)
{
	struct reader reader = reader_at(start, start, end);
	const Elf64_Ehdr *file = (const Elf64_Ehdr *)start;
	const Elf64_Phdr *headers;

	if (!can_read(&reader, sizeof(*file)) || memcmp(file->e_ident, ELFMAG, SELFMAG) ||
	    file->e_ident[EI_CLASS] != ELFCLASS64 || file->e_phentsize != sizeof(*headers))
		return 0;
	reader = reader_at(start + file->e_phoff, start, end);
	headers = (const Elf64_Phdr *)reader.at;
	if (!can_read(&reader, (uint64_t)file->e_phnum * sizeof(*headers)))
		return 0;
	for (unsigned int i = 0; i < file->e_phnum; i++) {
		uint64_t at = bias_of(headers, file->e_phnum, start) + headers[i].p_vaddr;

		if (headers[i].p_type == PT_GNU_EH_FRAME && at > start && at < end)
			return at;
	}
	return 0;
}

/*
 * Sorted search table; each entry has the start of a function and the address of the function's
 * FDE.
 */
struct table {
	uint64_t header;
	uint64_t entries;
	uint64_t cnt;
};

static int64_t entry_word(const struct table *table, uint64_t i, unsigned int which)
{
	return *(const int32_t *)(table->entries + 8 * i + 4ULL * which);
}

static bool open_table(uint64_t header, uint64_t start, uint64_t end, struct table *ret)
{
	struct reader reader = reader_at(header, start, end);
	uint64_t encodings = read_fixed(&reader, 4);

	/* Accept only version 1, with a table of 4-byte values relative to the header. */
	if (reader.bad || (encodings & 0xff) != 1 ||
	    encodings >> 24 != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return false;
	read_encoded(&reader, encodings >> 8 & 0xff);
	ret->header = header;
	ret->cnt = read_encoded(&reader, encodings >> 16 & 0xff);
	ret->entries = reader.at;
	return !reader.bad && ret->cnt && ret->cnt <= (end - ret->entries) / 8 &&
	       !(ret->entries & 3);
}

/*
 * Returns the address of the FDE of the last function that begins at or before pc; 0 if none, or if
 * the table cannot be read.
 */
static uint64_t find_description(const struct table *table, uint64_t start, uint64_t end,
				 uint64_t pc)
{
	int64_t wanted = (int64_t)(pc - table->header);
	uint64_t low = 0, high = table->cnt, page = 0;

	while (low < high) {
		uint64_t middle = (low + high) / 2;
		uint64_t at = table->entries + 8 * middle;

		if (at / PAGE != page) {
			struct reader reader = reader_at(at, start, end);

			if (!can_read(&reader, 8))
				return 0;
			page = at / PAGE;
		}
		if (entry_word(table, middle, 0) <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? table->header + (uint64_t)entry_word(table, low - 1, 1) : 0;
}

/* Reads the length of a CIE or FDE, and sets the reader's end. False if the length is invalid. */
static bool read_length(struct reader *reader)
{
	uint64_t len = read_fixed(reader, 4);

	if (len == 0xffffffff)
		len = read_fixed(reader, 8);
	if (reader->bad || !len || len > reader->end - reader->at)
		return false;
	reader->end = reader->at + len;
	return true;
}

struct common {
	Dwarf_CIE cie;
	uint8_t encoding; /* encoding of addresses */
	bool has_data;    /* FDEs have augmentation data, to be skipped */
};

static bool read_augmentation(struct reader *reader, struct common *ret)
{
	uint64_t len;

	if (ret->cie.augmentation[0] != 'z')
		return !ret->cie.augmentation[0];
	ret->has_data = true;
	len = read_leb(reader, false);
	if (reader->bad || len > reader->end - reader->at)
		return false;
	ret->cie.initial_instructions = (const uint8_t *)(reader->at + len);
	for (const char *c = ret->cie.augmentation + 1; *c; c++) {
		if (*c == 'R')
			ret->encoding = (uint8_t)read_fixed(reader, 1);
		else if (*c == 'L')
			read_fixed(reader, 1);
		else if (*c == 'P')
			read_encoded(reader, (uint8_t)read_fixed(reader, 1) & 0x7f);
		else if (*c != 'S' && *c != 'B' && *c != 'G')
			return false;
	}
	return !reader->bad;
}

static bool read_common(struct reader reader, struct common *ret)
{
	uint64_t version;

	*ret = (struct common){.encoding = DW_EH_PE_absptr};
	if (!read_length(&reader) || read_fixed(&reader, 4))
		return false;
	version = read_fixed(&reader, 1);
	ret->cie.augmentation = (const char *)reader.at;
	while (read_fixed(&reader, 1) && !reader.bad)
		;
	ret->cie.code_alignment_factor = read_leb(&reader, false);
	ret->cie.data_alignment_factor = (int64_t)read_leb(&reader, true);
	ret->cie.return_address_register =
		version == 1 ? read_fixed(&reader, 1) : read_leb(&reader, false);
	if (reader.bad || (version != 1 && version != 3))
		return false;
	ret->cie.initial_instructions = (const uint8_t *)reader.at;
	ret->cie.initial_instructions_end = (const uint8_t *)reader.end;
	return read_augmentation(&reader, ret) && can_read(&reader, reader.end - reader.at);
}

static bool read_description(struct reader reader, uint64_t start, uint64_t end,
			     struct common *common, struct fde *ret)
{
	uint64_t place, distance, len;

	if (!read_length(&reader))
		return false;
	place = reader.at;
	distance = read_fixed(&reader, 4);
	if (reader.bad || !distance ||
	    !read_common(reader_at(place - distance, start, end), common))
		return false;
	*ret = (struct fde){.start = read_encoded(&reader, common->encoding & 0x7f)};
	ret->end = ret->start + read_encoded(&reader, common->encoding & 0x0f);
	if (common->has_data) {
		len = read_leb(&reader, false);
		if (len > reader.end - reader.at)
			return false;
		reader.at += len;
	}
	ret->program = (const uint8_t *)reader.at;
	ret->program_end = (const uint8_t *)reader.end;
	return can_read(&reader, reader.end - reader.at);
}

struct wanted {
	uint64_t pc;
	struct unwind_rule rule;
};

/*
 * Receives an unwind row. Rows come in ascending order of address; the last row at or before pc is
 * the wanted one.
 */
static int take_row(void *arg, uint64_t addr, struct unwind_rule rule)
{
	struct wanted *wanted = arg;

	if (addr > wanted->pc)
		return 1;
	wanted->rule = rule;
	return 0;
}

static bool find_function(uint64_t header, uint64_t start, uint64_t end, uint64_t pc,
			  struct common *common, struct fde *ret)
{
	struct table table;
	uint64_t at = 0;

	if (open_table(header, start, end, &table))
		at = find_description(&table, start, end, pc);
	return at && read_description(reader_at(at, start, end), start, end, common, ret) &&
	       pc >= ret->start && pc < ret->end;
}

struct unwind_rule frame_info_rule(uint64_t header, uint64_t start, uint64_t end, uint64_t pc)
{
	struct wanted wanted = {.pc = pc};
	struct common common;
	struct fde fde;

	if (find_function(header, start, end, pc, &common, &fde) &&
	    cfi_program_run(unwind_arch_find(MACHINE), &common.cie, &fde, pc + 1, take_row,
			    &wanted) < 0)
		wanted.rule = (struct unwind_rule){.cfa = UNWIND_CFA_UNKNOWN};
	return wanted.rule;
}
