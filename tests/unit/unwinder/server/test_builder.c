// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the builder of unwind tables: compares libc's table with libdw's rules, and builds tables
 * of damaged files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unwinder/table_find.h"
#include "unwinder/server/arch.h"
#include "unwinder/server/builder.h"

#define SAMPLES 20000
#define MUTATIONS 400

/* Returns random numbers that are the same in every run. */
static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static int open_libc(void)
{
	Dl_info info;

	assert_int_not_equal(dladdr((void *)(uintptr_t)hsearch, &info), 0);
	return open(info.dli_fname, O_RDONLY | O_CLOEXEC);
}

/* Returns the section with the code: its segment may have constants as well. */
static GElf_Shdr text_section(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header = {0};
	size_t names;

	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((section = elf_nextscn(elf, section))) {
		assert_non_null(gelf_getshdr(section, &header));
		if (!strcmp(elf_strptr(elf, names, header.sh_name), ".text"))
			return header;
	}
	fail();
	return header;
}

/*
 * True if the rule has the same CFA as libdw's frame, or is unknown or outermost. If libdw's CFA is
 * no register plus offset, the rule must not use sp or the frame pointer.
 */
static bool agrees(const struct unwind_arch *arch, struct unwind_rule rule, Dwarf_Frame *frame)
{
	Dwarf_Op *ops;
	size_t cnt;

	if (dwarf_frame_cfa(frame, &ops, &cnt) || cnt != 1 || ops[0].atom != DW_OP_bregx)
		return rule.cfa != UNWIND_CFA_SP && rule.cfa != UNWIND_CFA_FP;
	if (rule.cfa == UNWIND_CFA_OUTERMOST || rule.cfa == UNWIND_CFA_UNKNOWN)
		return true;
	if (rule.cfa == UNWIND_CFA_SP)
		return ops[0].number == arch->sp && (int64_t)ops[0].number2 == rule.cfa_off;
	return rule.cfa == UNWIND_CFA_FP && ops[0].number == arch->fp &&
	       (int64_t)ops[0].number2 == rule.cfa_off;
}

static void libc_as_libdw_says(void **state)
{
	int fd = open_libc(), known = 0, plain = 0;
	struct unwind_table table;
	const struct unwind_arch *arch;
	uint64_t seed = 1;
	GElf_Shdr text;
	GElf_Ehdr header;
	Dwarf_CFI *cfi;
	Elf *elf;

	assert_int_equal(unwind_table_build(fd, &table), 0);
	assert_true(unwind_table_valid(&table));
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	cfi = dwarf_getcfi_elf(elf);
	assert_non_null(cfi);
	assert_non_null(gelf_getehdr(elf, &header));
	arch = unwind_arch_find(header.e_machine);
	assert_non_null(arch);
	text = text_section(elf);
	for (int i = 0; i < SAMPLES; i++) {
		uint64_t at = next_random(&seed) % text.sh_size;
		struct unwind_rule rule = unwind_table_find(&table, text.sh_offset + at);
		Dwarf_Frame *frame;

		if (dwarf_cfi_addrframe(cfi, text.sh_addr + at, &frame))
			continue; /* a row may extend over padding between functions */
		assert_int_not_equal(rule.cfa, UNWIND_CFA_NO_ROW);
		assert_true(agrees(arch, rule, frame));
		known++;
		plain += rule.cfa == UNWIND_CFA_SP || rule.cfa == UNWIND_CFA_FP;
		free(frame);
	}
	/*
	 * Nearly all code must have frame information, and nearly all of this code must have a rule
	 * with the CFA relative to the stack or frame pointer.
	 */
	assert_true(known > SAMPLES * 9 / 10);
	assert_true(plain > known * 95 / 100);
	dwarf_cfi_end(cfi);
	elf_end(elf);
	close(fd);
	unwind_table_deinit(&table);
}

static void no_table(void **state)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	struct unwind_table table;

	assert_int_equal(unwind_table_build(fd, &table), -ENOEXEC);
	close(fd);
	fd = memfd_create("empty", MFD_CLOEXEC);
	assert_int_equal(unwind_table_build(fd, &table), -ENOEXEC);
	close(fd);
}

struct victim {
	unsigned char *bytes;
	size_t size;
	size_t begin; /* start of the damaged part */
	size_t end;
};

/*
 * Reads this program's file. The damaged part reaches from .eh_frame_hdr to the end of .eh_frame.
 */
static void read_victim(struct victim *victim)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Elf_Scn *scn = NULL;
	struct stat st;
	size_t names;

	assert_int_equal(fstat(fd, &st), 0);
	victim->size = (size_t)st.st_size;
	victim->bytes = malloc(victim->size);
	assert_non_null(victim->bytes);
	assert_int_equal(pread(fd, victim->bytes, victim->size, 0), (ssize_t)victim->size);
	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr header;

		assert_non_null(gelf_getshdr(scn, &header));
		if (strcmp(elf_strptr(elf, names, header.sh_name), ".eh_frame_hdr") == 0)
			victim->begin = header.sh_offset;
		if (strcmp(elf_strptr(elf, names, header.sh_name), ".eh_frame") == 0)
			victim->end = header.sh_offset + header.sh_size;
	}
	assert_true(victim->begin && victim->end > victim->begin);
	elf_end(elf);
	close(fd);
}

/* Damages the frame information or the headers. Sometimes truncates the file. Returns its size. */
static size_t damage(const struct victim *victim, unsigned char *copy, uint64_t *seed)
{
	static const unsigned char words[] = {0x00, 0xff, 0x7f, 0x80, 0x01, 0x0f, 0x10, 0x16};
	size_t begin = victim->begin, end = victim->end, cnt = 1 + next_random(seed) % 32;

	memcpy(copy, victim->bytes, victim->size);
	if (next_random(seed) % 4 == 0) {
		begin = 0;
		end = 1024;
	}
	for (size_t i = 0; i < cnt; i++) {
		size_t at = begin + next_random(seed) % (end - begin);
		bool chosen = next_random(seed) % 2;

		copy[at] = chosen ? words[next_random(seed) % sizeof(words)]
				  : (unsigned char)next_random(seed);
	}
	return next_random(seed) % 16 ? victim->size : next_random(seed) % victim->size;
}

static bool try_damaged(const struct victim *victim, uint64_t *seed)
{
	unsigned char *copy = malloc(victim->size);
	int fd = memfd_create("damaged", MFD_CLOEXEC);
	struct unwind_table table;
	size_t size;
	bool built;

	assert_true(copy && fd >= 0);
	size = damage(victim, copy, seed);
	assert_int_equal(write(fd, copy, size), (ssize_t)size);
	built = unwind_table_build(fd, &table) == 0;
	if (built) {
		assert_true(unwind_table_valid(&table));
		unwind_table_deinit(&table);
	}
	close(fd);
	free(copy);
	return built;
}

/* From a damaged file, either a valid table is built, or there is an error. Both must occur. */
static void damaged_files(void **state)
{
	struct victim victim = {0};
	uint64_t seed = 0x6d656d6c65616bULL;
	int built = 0;

	read_victim(&victim);
	for (int i = 0; i < MUTATIONS; i++)
		built += try_damaged(&victim, &seed);
	assert_true(built > MUTATIONS / 10 && built < MUTATIONS);
	free(victim.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libc_as_libdw_says),
		cmocka_unit_test(no_table),
		cmocka_unit_test(damaged_files),
	};

	elf_version(EV_CURRENT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
