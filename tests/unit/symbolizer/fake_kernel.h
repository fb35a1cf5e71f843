/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fake kernel, made of files in a folder, for tests of kernel addresses. */
#ifndef TESTS_UNIT_SYMBOLIZER_FAKE_KERNEL_H
#define TESTS_UNIT_SYMBOLIZER_FAKE_KERNEL_H

#include "tests/unit/symbolizer/known.h"

#define RELEASE "6.0.0-test"

extern struct kernel_roots fake_roots;

void kernel_file(const char *name, const void *bytes, size_t len);
void kernel_text(const char *name, const char *text);
/* Makes a fake kernel without symbols and modules. `state` is not used. */
int make_kernel(void **state);
int remove_kernel(void **state);

struct kernel {
	struct symbolizer *sym;
	struct symspace *space;
};

struct kernel kernel_open(void);
void kernel_close(struct kernel *kernel);
const struct sym_location *resolve_exact(const struct kernel *kernel, uint64_t addr);
void assert_place(const struct sym_location *loc, const char *module, const char *symbol,
		  uint64_t offset);
void assert_nothing_there(const struct sym_location *loc);

#endif
