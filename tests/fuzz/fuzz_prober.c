// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the search for functions in a file's symbols, relocations and code; "make fuzz" builds and
 * runs it. An input is an ELF file.
 */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "prober/code_ranges.h"
#include "prober/server/elf_functions.h"
#include "prober/server/file_functions.h"
#include "prober/server/interpreter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file can request any amount of memory, so memory is limited, as in the real helper process. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1:max_allocation_size_mb=512";
}

static const struct wanted_function names[] = {
	{.name = "malloc", .argument_cnt = 1},
	{.name = "outer", .argument_cnt = 1, .followed = true},
	{.name = "through", .argument_cnt = 2, .followed = true, .everywhere = true},
	{.name = NULL},
};

/* Checks that memleak's privileged process would accept the results. */
static void check(const struct file_functions *functions)
{
	size_t probe_cnt = functions->cnt;

	for (size_t i = 0; i < functions->cnt; i++) {
		const struct found_function *function = &functions->items[i];

		if (function->name > 2 || function->place.offset >= FUNCTION_BYTES_MAX ||
		    function->return_cnt > FUNCTION_RETURNS_MAX ||
		    (function->verdict == FUNCTION_THROUGH && function->through > 2))
			abort();
		probe_cnt += function->return_cnt;
	}
	if (probe_cnt > FILE_PROBES_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct interpreter interpreter;
	struct code_ranges ranges;
	uint64_t value;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	for (enum function_scope scope = SCOPE_EXPORTED; scope <= SCOPE_ALL; scope++) {
		const struct wanted_functions wanted = {
			.items = names,
			.cnt = sizeof(names) / sizeof(names[0]),
			.scope = scope,
			.through = scope == SCOPE_ALL,
		};
		struct file_functions functions;

		if (file_functions_init(fd, EM_X86_64, &wanted, &functions))
			continue;
		check(&functions);
		file_functions_deinit(&functions);
	}
	elf_variable_find(fd, "pointer", &value);
	elf_has_section(fd, ".go.buildinfo");
	interpreter_find(fd, &interpreter);
	free(elf_nearest_function(fd, "mallox"));
	code_ranges_read(fd, &ranges);
	if (ranges.cnt > CODE_RANGES_MAX || (code_ranges_have(&ranges, 0) && !ranges.cnt))
		abort();
	close(fd);
	return 0;
}
