// SPDX-License-Identifier: GPL-2.0-or-later
/* Hashes functions by name, and by source file or, if that is not known, by the file of the code.
 */
#include "report/function_hash.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "report/function_name.h"

const char *function_file(const struct sym_location *location)
{
	return location->build_id ?: location->module;
}

uint64_t function_hash(const struct sym_frame *frame, const struct sym_location *location)
{
	cleanup_free char *name = frame->file ? function_name_instances(frame->symbol) : NULL;

	return hash_text(hash_text(0, name ?: frame->symbol),
			 frame->file ?: function_file(location));
}
