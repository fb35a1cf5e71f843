// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests decompressing sections (zstd): their contents are restored, and wrong headers are refused.
 */
#include <gelf.h>

#include "base/cleanup.h"
#include "symbolizer/server/protocol.h"
#include "symbolizer/server/unpack.h"
#include "tests/unit/symbolizer/known.h"

#define ZSTD 2

/*
 * Makes a library as three files: "plain" without compression, and "zstd" and "zlib" with
 * compressed debug sections.
 */
static bool make_files(void)
{
	return run("for i in $(seq 100); do echo \"int times_$i(int x) { return x * $i; }\"; "
		   "done > lib.c && "
		   "$CC -g -shared -fPIC -o plain lib.c && "
		   "objcopy --compress-debug-sections=zstd plain zstd && "
		   "objcopy --compress-debug-sections=zlib plain zlib");
}

static int open_file(const char *name, int flags)
{
	int fd = open(in_folder(name), flags | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static Elf_Scn *section_of(Elf *elf, const char *wanted)
{
	Elf_Scn *scn = NULL;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((scn = elf_nextscn(elf, scn)))
		if (!strcmp(elf_strptr(elf, names, elf64_getshdr(scn)->sh_name), wanted))
			return scn;
	fail_msg("no section %s", wanted);
	return NULL;
}

static int unpack(const char *name, int *ret)
{
	int fd = open_file(name, O_RDONLY), err;

	err = unpack_file(fd, ret);
	close(fd);
	return err;
}

/*
 * The decompressed copy of a file has the same sections as the uncompressed file. Only .symtab may
 * differ.
 */
static void sections_are_the_same(void **state)
{
	static const char *const names[] = {".debug_info",   ".debug_str",        ".debug_line",
					    ".debug_abbrev", ".symtab",           ".strtab",
					    ".dynsym",       ".note.gnu.build-id"};
	int copy_fd, plain_fd;
	Elf *copy, *plain;

	if (!make_files())
		SKIP("no C compiler, or an objcopy without zstd");
	if (unpack("zstd", &copy_fd) == -ENOENT)
		SKIP("elfutils reads zstd itself");
	plain_fd = open_file("plain", O_RDONLY);
	copy = elf_begin(copy_fd, ELF_C_READ, NULL);
	plain = elf_begin(plain_fd, ELF_C_READ, NULL);
	assert_non_null(copy);
	assert_non_null(plain);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		Elf_Data *got = elf_rawdata(section_of(copy, names[i]), NULL);
		Elf_Data *expected = elf_rawdata(section_of(plain, names[i]), NULL);

		assert_int_equal(elf64_getshdr(section_of(copy, names[i]))->sh_flags,
				 elf64_getshdr(section_of(plain, names[i]))->sh_flags);
		assert_int_equal(got->d_size, expected->d_size);
		/* Not compared: strip and objcopy change the section numbers in it. */
		if (strcmp(names[i], ".symtab"))
			assert_memory_equal(got->d_buf, expected->d_buf, expected->d_size);
	}
	elf_end(copy);
	elf_end(plain);
	close(copy_fd);
	close(plain_fd);
}

static void nothing_to_unpack(void **state)
{
	int fd;

	if (!make_files() || !run("echo no file > text"))
		SKIP("no C compiler, or an objcopy without zstd");
	assert_int_equal(unpack("plain", &fd), -ENOENT);
	assert_int_equal(unpack("zlib", &fd), -ENOENT);
	assert_int_equal(unpack("text", &fd), -ENOENT);
}

/*
 * A change to the compression header of .debug_info or to its compressed data, and the result that
 * is then expected.
 */
struct lie {
	Elf64_Chdr header; /* ch_type: new value, 0: unchanged; ch_size: number to add */
	size_t flipped;    /* offset of a byte to invert; 0: none */
	int expected;
};

static void tell(const struct lie *lie)
{
	int fd = open_file("lie", O_RDWR), copy;
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	Elf64_Off at;
	Elf64_Chdr header;
	char byte;

	assert_non_null(elf);
	at = elf64_getshdr(section_of(elf, ".debug_info"))->sh_offset;
	elf_end(elf);
	assert_int_equal(pread(fd, &header, sizeof(header), at), sizeof(header));
	assert_int_equal(header.ch_type, ZSTD);
	if (lie->header.ch_type)
		header.ch_type = lie->header.ch_type;
	header.ch_size += lie->header.ch_size;
	assert_int_equal(pwrite(fd, &header, sizeof(header), at), sizeof(header));
	assert_int_equal(pread(fd, &byte, 1, at + lie->flipped), 1);
	byte = (char)~byte;
	if (lie->flipped)
		assert_int_equal(pwrite(fd, &byte, 1, at + lie->flipped), 1);
	close(fd);
	assert_int_equal(unpack("lie", &copy), lie->expected);
}

static void lies(void **state)
{
	static const struct lie told[] = {
		{.header.ch_size = 1, .expected = -EBADMSG},
		{.header.ch_size = UINT64_MAX, .expected = -EBADMSG}, /* subtracts 1 from ch_size */
		{.header.ch_size = SERVER_MEMORY_BYTES_MAX, .expected = -EFBIG},
		{.header.ch_size = UINT64_MAX / 2, .expected = -EFBIG},
		{.header.ch_type = 99, .expected = -EOPNOTSUPP},
		{.flipped = sizeof(Elf64_Chdr), .expected = -EBADMSG},
		{.flipped = sizeof(Elf64_Chdr) + 8, .expected = -EBADMSG},
	};

	if (!make_files())
		SKIP("no C compiler, or an objcopy without zstd");
	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++) {
		assert_true(run("cp zstd lie"));
		tell(&told[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_are_the_same),
		cmocka_unit_test(nothing_to_unpack),
		cmocka_unit_test(lies),
	};

	elf_version(EV_CURRENT);
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
