// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes stack walks by libdwfl over copied stacks, with the call frame information of the C
 * library; "make fuzz" builds and runs it. An input is the beginning of a struct unwind_copy; the
 * rest of the struct is zeros. The fuzzer also finds faults of libdwfl; in real use, they can harm
 * only the helper process.
 */
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwinder/server/walker_space.h"

/* Address at which the walker is told that libc is mapped */
#define CODE_START 0x10000000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int find_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *slash = strrchr(info->dlpi_name, '/');

	if (!slash || strncmp(slash, "/libc.so", strlen("/libc.so")) != 0)
		return 0;
	*(int *)arg = open(info->dlpi_name, O_RDONLY | O_CLOEXEC);
	return 1;
}

static struct walker_space *make_space(void)
{
	const struct walker_code code = {.start = CODE_START, .headers = CODE_START};
	struct walker_space *space;
	int fd = -1;

	dl_iterate_phdr(find_library, &fd);
	if (fd < 0 || walker_space__new(&space))
		abort();
	walker_space__add(space, fd, &code);
	return space;
}

/* Reduces numbers that are too large, because the helper would refuse a copy with such numbers. */
static void bound(struct unwind_copy *copy)
{
	copy->register_cnt %= UNWIND_COPY_REGISTERS + 1;
	copy->call_cnt %= UNWIND_COPY_CALLS + 1;
	copy->stack.bytes %= UNWIND_COPY_BYTES + 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct walker_space *space;
	static struct unwind_copy copy;
	static struct walker_stack stack;

	if (!space)
		space = make_space();
	memset(&copy, 0, sizeof(copy));
	memcpy(&copy, data, size < sizeof(copy) ? size : sizeof(copy));
	bound(&copy);
	walker_space__walk(space, &copy, &stack);
	if (stack.cnt > WALKER_FRAMES_MAX || stack.end >= WALKER_END_CNT)
		abort();
	return 0;
}
