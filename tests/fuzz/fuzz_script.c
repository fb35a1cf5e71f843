// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the code that reads CPython's code objects; "make fuzz" builds and runs it. The first byte
 * of an input selects the version of CPython; the rest is the memory of a process, with a code
 * object at its start.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/script.h"
#include "prober/server/code_object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t size;
};

/* Reads from the input. Addresses wrap around at its end, so that most pointers are valid. */
static bool read_input(void *arg, uint64_t addr, void *buf, size_t len)
{
	const struct input *input = arg;

	for (size_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = input->data[(addr + i) % input->size];
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct python_layout *layout;
	struct object_memory memory;
	struct code_object code;
	struct input input;
	uint32_t cookie;

	if (size < 2)
		return 0;
	layout = python_layout_of((0x030bU + data[0] % 4) << 16);
	input = (struct input){data + 1, size - 1};
	memory = (struct object_memory){read_input, &input};
	if (!code_object_cookie(&memory, layout, 0, &cookie) ||
	    code_object_read(&memory, layout, 0, cookie, &code))
		return 0;
	for (uint32_t at = 0; at < 64; at++)
		code_object_line(&code, layout, layout->instructions + at);
	code_object_line(&code, layout, UINT32_MAX);
	code_object_deinit(&code);
	return 0;
}
