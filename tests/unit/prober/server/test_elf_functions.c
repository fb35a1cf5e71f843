// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests finding functions in ELF files: libc, this program, and damaged files. */
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

#include "prober/server/elf_functions.h"

void only_in_symtab(void);
void __attribute__((noinline)) only_in_symtab(void)
{
	__asm__ volatile("");
}

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

static int find(int fd, const char *const *names, size_t cnt, enum function_scope scope,
		struct elf_functions *ret)
{
	struct wanted_function items[4] = {0};
	const struct wanted_functions wanted = {.items = items, .cnt = cnt, .scope = scope};

	assert_true(cnt <= sizeof(items) / sizeof(items[0]));
	for (size_t i = 0; i < cnt; i++)
		items[i].name = names[i];
	return elf_functions_find(fd, MACHINE, &wanted, ret);
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
 * A function's offset must be the file offset mapped at its address. The bytes at both places
 * cannot be compared: a tracer may have put a breakpoint there.
 */
static void test_libc(void **state)
{
	static const char *const names[] = {"hsearch", "no_such_function_at_all", "munmap"};
	struct elf_functions found;
	uintptr_t base;
	int fd = open(libc_path(&base), O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(find(fd, names, 3, SCOPE_EXPORTED, &found), 0);
	assert_int_equal(found.cnt, 2);
	for (size_t i = 0; i < found.cnt; i++) {
		struct place there = {(uintptr_t)dlsym(RTLD_NEXT, names[found.items[i].name]), 0};

		assert_true(found.items[i].exported);
		assert_int_equal(dl_iterate_phdr(find_place, &there), 1);
		assert_true(found.items[i].offset == there.offset);
	}
	free(found.items);
	close(fd);
}

/* A function whose implementation is chosen at run time (IFUNC) has no address in the file. */
static void test_indirect(void **state)
{
	static const char *const names[] = {"munmap", "strlen"};
	struct elf_functions found;
	uintptr_t base;
	int fd = open(libc_path(&base), O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(find(fd, names, 1, SCOPE_EXPORTED, &found), 0);
	assert_int_equal(found.indirect, 0);
	free(found.items);
	assert_int_equal(find(fd, names, 2, SCOPE_EXPORTED, &found), 0);
	assert_int_equal(found.cnt, 1);
	assert_int_equal(found.items[0].name, 0);
	assert_int_equal(found.indirect, 2);
	free(found.items);
	close(fd);
}

static void test_symtab(void **state)
{
	static const char *const names[] = {"only_in_symtab"};
	struct elf_functions found;
	int fd = open("/proc/self/exe", O_RDONLY);

	only_in_symtab();
	assert_int_equal(find(fd, names, 1, SCOPE_EXPORTED, &found), 0);
	assert_int_equal(found.cnt, 0);
	free(found.items);
	assert_int_equal(find(fd, names, 1, SCOPE_GLOBAL, &found), 0);
	assert_int_equal(found.cnt, 1);
	assert_false(found.items[0].exported);
	free(found.items);
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
	struct elf_functions found;
	int fd = memfd_of("#!/bin/sh\necho no program\n", 26);

	assert_int_equal(find(fd, names, 1, SCOPE_GLOBAL, &found), -ENOEXEC);
	close(fd);
	fd = memfd_of(ident, sizeof(ident));
	assert_int_equal(find(fd, names, 1, SCOPE_GLOBAL, &found), -ENOEXEC);
	close(fd);
	fd = memfd_of("", 0);
	close(fd);
}

/* Damage to headers and tables leads to an error or to valid results. */
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
		struct elf_functions found = {0};
		size_t at[8];
		unsigned char old[8];

		for (int j = 0; j < 8; j++) {
			at[j] = j % 2 ? table + (size_t)rand() % (64 * 64)
				      : 4 + (size_t)rand() % (headers - 4);
			old[j] = data[at[j]];
			data[at[j]] = (unsigned char)rand();
		}
		fd = memfd_of(data, (size_t)st.st_size);
		if (find(fd, names, 3, SCOPE_GLOBAL, &found) == 0)
			answers++;
		for (size_t j = 0; j < found.cnt; j++)
			assert_true(found.items[j].name < 3);
		free(found.items);
		close(fd);
		for (int j = 7; j >= 0; j--)
			data[at[j]] = old[j];
	}
	assert_true(answers > 0);
	free(data);
}

/* A truncated file leads to an error or to no functions, but not to SIGBUS. */
static void test_truncated(void **state)
{
	static const char *const names[] = {"malloc"};
	struct elf_functions found;
	char head[4096];
	uintptr_t base;
	int libc = open(libc_path(&base), O_RDONLY), fd;

	assert_int_equal(read(libc, head, sizeof(head)), sizeof(head));
	close(libc);
	fd = memfd_of(head, sizeof(head));
	if (find(fd, names, 1, SCOPE_GLOBAL, &found) == 0) {
		assert_int_equal(found.cnt, 0);
		free(found.items);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_libc),    cmocka_unit_test(test_indirect),
		cmocka_unit_test(test_symtab),  cmocka_unit_test(test_not_elf),
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
