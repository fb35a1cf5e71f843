// SPDX-License-Identifier: GPL-2.0-or-later
/* Hashes functions by name, file of the code, and source file of templates. */
#include "report/function_hash.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "report/function_name.h"

uint64_t text_hash(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = hash_word(hash, (unsigned char)*text);
	return hash;
}

uint64_t function_hash(const struct sym_frame *frame, const char *module)
{
	cleanup_free char *name = frame->file ? function_name_instances(frame->symbol) : NULL;
	uint64_t hash = text_hash(text_hash(0, name ?: frame->symbol), module);

	return name ? text_hash(hash, frame->file) : hash;
}
