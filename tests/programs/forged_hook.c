// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * States a place in the middle of a function as the hook of its dynamic loader. Then prints how many
 * bytes of the function differ from before.
 */
#include <link.h>

#include "truth.h"

#define CODE_BYTES 16

OWN_FRAME static int chosen(int value)
{
	return value ^ 0x11223344;
}

/* Returns the dynamic loader's data for debuggers. */
static struct r_debug *find_debug(void)
{
	for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag; entry++)
		if (entry->d_tag == DT_DEBUG)
			return (struct r_debug *)(uintptr_t)entry->d_un.d_ptr;
	return NULL;
}

int main(void)
{
	const unsigned char *code = keep((void *)(uintptr_t)chosen);
	unsigned char before[CODE_BYTES];
	struct r_debug *debug = find_debug();
	unsigned int changed = 0;

	must(debug != NULL, "r_debug");
	memcpy(before, code, CODE_BYTES);
	debug->r_brk = (ElfW(Addr))(uintptr_t)code + 1;
	must(chosen(0) == 0x11223344, "chosen");
	ready();

	marker();
	for (unsigned int i = 0; i < CODE_BYTES; i++)
		changed += code[i] != before[i];
	say("changed %u\n", changed);
	ready();
}
