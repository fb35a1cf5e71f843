/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between the library and the process that parses files. There is one request at a time;
 * each is answered before the next is read.
 *
 *   OPEN  id, name, build id, anchor count, per anchor: name, address; fd of the file
 *                                              → OPENED  id, status, build id, need
 *   DEBUG id, fd of a file that may be needed  → OPENED  id, status, build id, need
 *   CLOSE id                                   → nothing
 *   NAMES id, level, cnt, cnt × (kind, offset, anchor) → NAME ..., then
 *                                                NAMES_DONE unreadable
 *   NAME  index, vaddr, start, frame count, per frame: symbol, file, line
 *
 * An OPEN without a file opens a module for which only a debug file is used: the debug file with
 * the given "build id". An "offset" is the file offset of an instruction, or a load address if the
 * file has anchors. "vaddr" is the ELF virtual address of the instruction, and "start" that of its
 * function (equal to "vaddr" if unknown). Frames are innermost first; all but the last are inlined.
 * "need" describes a separate debug file that the module could use: its kind, build id, file name
 * and checksum.
 *
 * For variables, "anchor" is the file offset of an instruction; "offset" minus "anchor" is the
 * variable's distance from that instruction in memory, even where the file has no content. For
 * thread-local variables, "offset" is the distance from the thread pointer. The answer has one
 * frame, with file and line of the declaration; "vaddr" is 0 if no segment of the file contains the
 * variable, or if the file has anchors.
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

/* Level of detail of names. Reading symbol tables is fast; reading DWARF may take seconds. */
enum name_level { NAME_NONE, NAME_SYMBOL, NAME_FULL };

enum server_need {
	NEED_NOTHING,
	NEED_DEBUG,     /* a file with the DWARF and symbols that the module's file lacks */
	NEED_ALTERNATE, /* the file to which dwz moved DWARF that several files share */
};

/* Reasons why a file's DWARF cannot be used. */
enum server_unreadable {
	READABLE,
	UNREADABLE_COMPRESSION, /* unknown compression */
	UNREADABLE_LARGE,       /* too large when unpacked */
	UNREADABLE_DAMAGED,     /* compressed data is damaged */
	UNREADABLE,             /* elfutils cannot read it */
	UNREADABLE_CNT,
};

/*
 * A debug file that the module needs: identified by build id (hex) if known, else by name and CRC.
 * With NEED_NOTHING all strings are NULL.
 */
struct file_need {
	enum server_need kind;
	char *build_id;
	char *file;
	uint32_t crc;
};

/*
 * Maximum names per request, frames per name, and bytes of a build id. The library rejects answers
 * that exceed these limits.
 */
#define SERVER_OFFSETS_MAX 1024
#define SERVER_FRAMES_MAX 64
#define BUILD_ID_BYTES_MAX 64

#endif
