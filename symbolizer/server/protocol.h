/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the library asks the process that parses files, and what that answers. There is one request
 * at a time; each is answered before the next is read.
 *
 *   OPEN  id, name, build id, anchor count, per anchor: name, address; fd of the file
 *                                              → OPENED  id, status, build id, need
 *   DEBUG id, fd of a file that may be needed  → OPENED  id, status, build id, need
 *   CLOSE id                                   → nothing
 *   NAMES id, level, cnt, cnt × (kind, offset, anchor) → NAME ..., then
 *                                                NAMES_DONE unreadable
 *   NAME  index, vaddr, start, frame count, per frame: symbol, file, line
 *
 * A file of which only the build id is sent, without fd, is the debug file that is then needed.
 * Offsets are of the instruction in the file, or addresses when the file has anchors; vaddr is
 * where the ELF file puts it, start where its function begins (vaddr when that is not known).
 * Frames are innermost first; all but the last are inlined. need is a kind, a build id, a file name
 * and a checksum: the separate debug file that the object could use.
 *
 * Variables: anchor is the offset of an instruction in the file, and offset is as far from it as
 * the variable is in memory, also where the file has nothing of it; of a thread's own, offset is
 * its distance from the thread pointer. The answer has one frame, with the declaration's file and
 * line; vaddr is 0 where the file has no memory.
 */
#ifndef SYMBOLIZER_SERVER_PROTOCOL_H
#define SYMBOLIZER_SERVER_PROTOCOL_H

#include <stdint.h>

enum server_message {
	SERVER_OPEN = 1,
	SERVER_DEBUG,
	SERVER_NAMES,
	SERVER_OPENED,
	SERVER_NAME,
	SERVER_NAMES_DONE,
	SERVER_CLOSE,
};

enum name_kind { NAME_OF_CODE, NAME_OF_DATA, NAME_OF_TLS, NAME_KIND_CNT };

/* How much is wanted: the symbol tables are read in no time, DWARF may take long. */
enum name_level { NAME_NONE, NAME_SYMBOL, NAME_FULL };

enum server_need {
	NEED_NOTHING,
	NEED_DEBUG,     /* a file with the DWARF and symbols that this one lacks */
	NEED_ALTERNATE, /* the file that dwz moved common parts to */
};

/* Why the DWARF that a file has is of no use. */
enum server_unreadable {
	READABLE,
	UNREADABLE_COMPRESSION, /* of a kind that is not known */
	UNREADABLE_LARGE,       /* once it is unpacked */
	UNREADABLE_DAMAGED,     /* what is compressed */
	UNREADABLE,             /* for elfutils */
	UNREADABLE_CNT,
};

/*
 * What is to be found: by build id (hex) where there is one, else by name and CRC. NEED_NOTHING:
 * all strings are NULL.
 */
struct file_need {
	enum server_need kind;
	char *build_id;
	char *file;
	uint32_t crc;
};

/* Limits of what the helper may answer; the library holds it to them. */
#define SERVER_OFFSETS_MAX 1024
#define SERVER_FRAMES_MAX 64
#define BUILD_ID_BYTES_MAX 64

#endif
