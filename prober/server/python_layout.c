// SPDX-License-Identifier: GPL-2.0-or-later
/* Offsets in the structures of CPython. They were computed by compiling CPython's headers. */
#include "prober/server/python_layout.h"

#include <stddef.h>
#include <string.h>

static const struct python_layout layouts[] = {
	{
		.version = 0x030b,
		.key = 0x250,
		.current = 0x240,
		.thread = 152,
		.holder = 56,
		.has_holder = true,
		.held = 8,
		.previous = 48,
		.code = 32,
		.instr = 56,
		.border = 68, /* offset of the field is_entry */
		.border_value = 1,
		.argument_cnt = 56,
		.instructions = 184,
		.ascii = 48,
		.other = 72,
	},
	{
		.version = 0x030c,
		.key = 0x608,
		.thread = 136,
		.holder = 56,
		.has_holder = true,
		.held = 0,
		.previous = 8,
		.code = 0,
		.instr = 56,
		.border = 70,      /* offset of the field owner */
		.border_value = 3, /* FRAME_OWNED_BY_CSTACK */
		.border_is_empty = true,
		.argument_cnt = 52,
		.numbers_code = true,
		.instructions = 192,
		.ascii = 40,
		.other = 56,
	},
	{
		.version = 0x030d,
		.key = 0x870,
		.thread = 152,
		.holder = 72,
		.previous = 8,
		.code = 0,
		.instr = 56,
		.border = 70,
		.border_value = 3,
		.border_is_empty = true,
		.argument_cnt = 52,
		.numbers_code = true,
		.instructions = 200,
		.ascii = 40,
		.other = 56,
	},
	{
		.version = 0x030e,
		.key = 0x920,
		.thread = 152,
		.holder = 72,
		.previous = 8,
		.code = 0,
		.instr = 56,
		.border = 74,
		.border_value = 3, /* FRAME_OWNED_BY_INTERPRETER */
		.border_is_empty = true,
		.argument_cnt = 52,
		.numbers_code = true,
		.instructions = 208,
		.ascii = 40,
		.other = 56,
	},
};

const struct python_layout *python_layout_of(uint32_t version)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].version == version >> 16)
			return &layouts[i];
	return NULL;
}

struct memleak_interpreter python_interpreter(const struct python_layout *layout, uint64_t runtime)
{
	return (struct memleak_interpreter){
		.key = runtime + layout->key,
		.current = layout->current ? runtime + layout->current : 0,
		.thread = layout->thread,
		.holder = layout->holder,
		.held = layout->held,
		.previous = layout->previous,
		.code = layout->code,
		.instr = layout->instr,
		.border = layout->border,
		.has_holder = layout->has_holder,
		.border_value = layout->border_value,
		.border_is_empty = layout->border_is_empty,
		.hashes_names = !layout->numbers_code,
	};
}

bool python_is_free_threaded(const struct python_debug_offsets *offsets)
{
	return !memcmp(offsets->cookie, "xdebugpy", sizeof(offsets->cookie)) &&
	       offsets->is_free_threaded;
}
