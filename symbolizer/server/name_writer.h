/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the name of an address in an ELF object as a NAME message. Runs in the helper. */
#ifndef SYMBOLIZER_SERVER_NAME_WRITER_H
#define SYMBOLIZER_SERVER_NAME_WRITER_H

#include "helper/message.h"
#include "symbolizer/server/elf_object.h"

/*
 * Appends the following facts about the code at a file offset to the NAME message: its vaddr, the
 * start of its function, the number of frames, and the frames.
 */
void name_write(struct elf_object *obj, uint64_t offset, enum name_level level,
		struct message *msg);

/*
 * Appends the vaddr and start of a variable, and one frame with its name and declaration, to the
 * NAME message. kind is not NAME_OF_CODE; offset and anchor are as in protocol.h.
 */
void variable_write(struct elf_object *obj, enum name_kind kind, uint64_t offset, uint64_t anchor,
		    enum name_level level, struct message *msg);

#endif
