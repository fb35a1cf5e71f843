// SPDX-License-Identifier: GPL-2.0-or-later
/* loader/elf_functions: on libc, on this program, and on files that are broken on purpose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader/target/elf_functions.h"

void only_in_symtab(void);
void __attribute__((noinline)) only_in_symtab(void)
{
	__asm__ volatile("");
}

static const char *libc_path(uintptr_t *base)
{
	Dl_info info;

	assert_int_not_equal(dladdr((void *)(uintptr_t)hsearch, &info), 0);
	*base = (uintptr_t)info.dli_fbase;
	return info.dli_fname;
}

struct place {
	uintptr_t addr;
	uint64_t offset;
};

static int find_place(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct place *place = arg;

	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t into = place->addr - info->dlpi_addr - segment->p_vaddr;

		if (segment->p_type == PT_LOAD && into < segment->p_filesz) {
			place->offset = segment->p_offset + into;
			return 1;
		}
	}
	return 0;
}

/*
 * The file offset is the one that the dynamic linker loaded the function from. What stands there in
 * memory says nothing: whoever traces this machine may have put a breakpoint there.
 */
static void test_libc(void **state)
{
	static const char *const names[] = {"hsearch", "no_such_function_at_all", "munmap"};
	struct elf_function *found;
	uintptr_t base;
	size_t cnt;
	int fd = open(libc_path(&base), O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(elf_functions_find(fd, names, 3, ELF_EXPORTED, &found, &cnt), 0);
	assert_int_equal(cnt, 2);
	for (size_t i = 0; i < cnt; i++) {
		struct place there = {(uintptr_t)dlsym(RTLD_NEXT, names[found[i].name]), 0};

		assert_true(found[i].exported);
		assert_int_equal(dl_iterate_phdr(find_place, &there), 1);
		assert_true(found[i].offset == there.offset);
	}
	free(found);
	close(fd);
}

static void test_symtab(void **state)
{
	static const char *const names[] = {"only_in_symtab"};
	struct elf_function *found;
	size_t cnt;
	int fd = open("/proc/self/exe", O_RDONLY);

	only_in_symtab();
	assert_int_equal(elf_functions_find(fd, names, 1, ELF_EXPORTED, &found, &cnt), 0);
	assert_int_equal(cnt, 0);
	free(found);
	assert_int_equal(elf_functions_find(fd, names, 1, ELF_GLOBAL, &found, &cnt), 0);
	assert_int_equal(cnt, 1);
	assert_false(found[0].exported);
	free(found);
	close(fd);
}

static int memfd_of(const void *data, size_t len)
{
	int fd = memfd_create("test", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	return fd;
}

static void test_not_elf(void **state)
{
	static const char *const names[] = {"malloc"};
	unsigned char ident[64] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32};
	struct elf_function *found;
	size_t cnt;
	int fd = memfd_of("#!/bin/sh\necho no program\n", 26);

	assert_int_equal(elf_functions_find(fd, names, 1, ELF_GLOBAL, &found, &cnt), -ENOEXEC);
	assert_int_equal(elf_class(fd), -ENOEXEC);
	close(fd);
	fd = memfd_of(ident, sizeof(ident));
	assert_int_equal(elf_class(fd), ELFCLASS32);
	assert_int_equal(elf_functions_find(fd, names, 1, ELF_GLOBAL, &found, &cnt), -ENOEXEC);
	close(fd);
	fd = memfd_of("", 0);
	assert_int_equal(elf_class(fd), -ENOEXEC);
	close(fd);
}

/* Random damage in the parts that are read: an answer or an error, within the file. */
static void test_damaged(void **state)
{
	static const char *const names[] = {"malloc", "free", "hsearch"};
	struct stat st;
	unsigned char *data;
	uintptr_t base;
	int fd = open(libc_path(&base), O_RDONLY), answers = 0;

	assert_int_equal(fstat(fd, &st), 0);
	data = malloc((size_t)st.st_size);
	assert_int_equal(pread(fd, data, (size_t)st.st_size, 0), st.st_size);
	close(fd);
	srand(1);
	for (int i = 0; i < 300; i++) {
		size_t table = st.st_size - 64 * 64, headers = 64 + 56 * 14;
		struct elf_function *found = NULL;
		size_t cnt = 0, at[8];
		unsigned char old[8];

		for (int j = 0; j < 8; j++) {
			at[j] = j % 2 ? table + (size_t)rand() % (64 * 64)
				      : 4 + (size_t)rand() % (headers - 4);
			old[j] = data[at[j]];
			data[at[j]] = (unsigned char)rand();
		}
		fd = memfd_of(data, (size_t)st.st_size);
		if (elf_functions_find(fd, names, 3, ELF_GLOBAL, &found, &cnt) == 0)
			answers++;
		for (size_t j = 0; j < cnt; j++)
			assert_true(found[j].name < 3);
		free(found);
		close(fd);
		for (int j = 7; j >= 0; j--)
			data[at[j]] = old[j];
	}
	assert_true(answers > 0);
	free(data);
}

/* The file shrinks while it is open: an error, no signal. */
static void test_truncated(void **state)
{
	static const char *const names[] = {"malloc"};
	struct elf_function *found;
	char head[4096];
	uintptr_t base;
	size_t cnt;
	int libc = open(libc_path(&base), O_RDONLY), fd;

	assert_int_equal(read(libc, head, sizeof(head)), sizeof(head));
	close(libc);
	fd = memfd_of(head, sizeof(head));
	if (elf_functions_find(fd, names, 1, ELF_GLOBAL, &found, &cnt) == 0) {
		assert_int_equal(cnt, 0);
		free(found);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_libc),      cmocka_unit_test(test_symtab),
		cmocka_unit_test(test_not_elf),   cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
