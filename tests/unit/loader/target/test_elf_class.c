// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests reading the class (32 or 64 bits) of ELF files, and refusing files that are not ELF. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader/target/elf_class.h"

static int class_of(const void *data, size_t len)
{
	int fd = memfd_create("test", 0), class;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	class = elf_class(fd);
	close(fd);
	return class;
}

static void test_class(void **state)
{
	unsigned char ident[64] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32};
	int fd = open("/proc/self/exe", O_RDONLY);

	assert_int_equal(elf_class(fd), ELFCLASS64);
	close(fd);
	assert_int_equal(class_of(ident, sizeof(ident)), ELFCLASS32);
	assert_int_equal(class_of(ident, EI_NIDENT - 1), -ENOEXEC);
	assert_int_equal(class_of("#!/bin/sh\necho no program\n", 26), -ENOEXEC);
	assert_int_equal(class_of("", 0), -ENOEXEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
