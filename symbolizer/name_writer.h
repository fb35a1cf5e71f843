/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes what is known of one address of an ELF object as a NAME message. Runs in the helper. */
#ifndef NAME_WRITER_H
#define NAME_WRITER_H

#include "symbolizer/elf_object.h"
#include "symbolizer/wire.h"

/* Appends vaddr, start, frame count and frames. */
void name_write(struct elf_object *obj, uint64_t offset, enum name_level level,
		struct wire_message *msg);

#endif
