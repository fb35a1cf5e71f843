/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks up an address in an ELF object, and writes the result to a NAME message. Runs in the
 * helper.
 */
#ifndef SYMBOLIZER_SERVER_NAME_WRITER_H
#define SYMBOLIZER_SERVER_NAME_WRITER_H

#include "helper/message.h"
#include "symbolizer/server/elf_object.h"

/*
 * Appends to the NAME message, for the code at a file offset: vaddr, the start of the function, the
 * number of frames, and the frames. `offset` is as in protocol.h.
 */
void name_write(struct elf_object *obj, uint64_t offset, enum name_level level,
		struct message *msg);

/*
 * Appends to the NAME message, for a variable: vaddr, the start of the variable, and one frame with
 * its name and declaration. `kind` is not NAME_OF_CODE; `offset` and `anchor` are as in protocol.h.
 */
void variable_write(struct elf_object *obj, enum name_kind kind, uint64_t offset, uint64_t anchor,
		    enum name_level level, struct message *msg);

#endif
