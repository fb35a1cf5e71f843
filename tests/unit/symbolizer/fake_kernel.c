// SPDX-License-Identifier: GPL-2.0-or-later
/* A fake kernel, made of files in a folder, for tests of kernel addresses. */
#include "tests/unit/symbolizer/fake_kernel.h"

struct kernel_roots fake_roots;

void kernel_file(const char *name, const void *bytes, size_t len)
{
	int fd = open(in_folder(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

void kernel_text(const char *name, const char *text)
{
	kernel_file(name, text, strlen(text));
}

int make_kernel(void **state)
{
	if (make_folder(state))
		return -1;
	fake_roots = (struct kernel_roots){
		.proc = strdup(in_folder("proc")),
		.sys = strdup(in_folder("sys")),
		.files = strdup(folder),
		.release = RELEASE,
	};
	return run("mkdir -p proc sys/kernel sys/module boot lib/modules/" RELEASE) ? 0 : -1;
}

int remove_kernel(void **state)
{
	free((char *)fake_roots.proc);
	free((char *)fake_roots.sys);
	free((char *)fake_roots.files);
	return remove_folder(state);
}

struct kernel kernel_open(void)
{
	struct kernel kernel;

	assert_int_equal(symbolizer__new(&kernel.sym), 0);
	assert_int_equal(symspace__new_kernel_at(kernel.sym, &fake_roots, &kernel.space), 0);
	/* Read symbols at any time: tests change them faster than real kernels do. */
	kernel.space->kernel->image.pause_ns = 0;
	return kernel;
}

void kernel_close(struct kernel *kernel)
{
	symspace__free(kernel->space);
	symbolizer__free(kernel->sym);
}

const struct sym_location *resolve_exact(const struct kernel *kernel, uint64_t addr)
{
	return resolve_one(kernel->space, addr, true, BUDGET_MS);
}

void assert_place(const struct sym_location *loc, const char *module, const char *symbol,
		  uint64_t offset)
{
	const struct sym_frame *function = &loc->frames[loc->frame_cnt - 1];

	assert_non_null(loc->module);
	assert_string_equal(loc->module, module);
	assert_non_null(function->symbol);
	assert_string_equal(function->symbol, symbol);
	assert_true(function->offset == offset);
	assert_false(function->inlined);
}

void assert_nothing_there(const struct sym_location *loc)
{
	assert_unnamed(loc);
	assert_null(loc->module);
	assert_null(loc->build_id);
	assert_true(loc->module_offset == loc->addr);
}
