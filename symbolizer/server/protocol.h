/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between the symbolizer library and its helper, the process that parses ELF files. The
 * helper handles one request at a time, and answers it before it reads the next one.
 *
 *   OPEN  id, name, build id, anchor count, per anchor: name, address; fd of the file
 *                                              → OPENED  id, status, build id, need
 *   DEBUG id, fd of a file that may be needed  → OPENED  id, status, build id, need
 *   CLOSE id                                   → nothing
 *   NAMES id, level, cnt, cnt × (kind, offset, anchor) → NAME ..., then
 *                                                NAMES_DONE unreadable
 *   NAME  index, vaddr, start, frame count, per frame: symbol, file, line
 *
 * Before the first NAME, the helper may request memory files, for copies of the module's files:
 *
 *   MEMORY size  → MEMORY; fd of a memory file of that size; no fd if that is too much memory
 *
 * An OPEN without a file opens a module for which only a debug file is used: the one with the given
 * "build id". For code, "offset" is the file offset of an instruction or, if the file has anchors,
 * its address in the running kernel. "vaddr" is the ELF virtual address of the instruction, and
 * "start" the ELF virtual address of its function (equal to "vaddr" if unknown). Frames are
 * innermost first; all but the last are inlined. "need" describes a separate debug file that the
 * module could use: its kind, build id, file name and checksum. "unreadable" is an enum
 * server_unreadable.
 *
 * For global variables, "anchor" is the file offset of any instruction of the file, and "offset"
 * minus "anchor" is the distance of the variable from that instruction in memory. So "offset" need
 * not be an offset in the file: zero-filled memory is not in the file. For thread-local variables,
 * "offset" is the distance from the thread pointer. The answer has one frame, with the file and
 * line of the variable's declaration. "vaddr" is 0 if no segment of the file contains the variable,
 * or if the file has anchors.
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
	SERVER_MEMORY,
};

enum name_kind { NAME_OF_CODE, NAME_OF_DATA, NAME_OF_TLS, NAME_KIND_CNT };

/* Level of detail of names: none, symbol tables only (fast), or also DWARF (may take seconds). */
enum name_level { NAME_NONE, NAME_SYMBOL, NAME_FULL };

enum server_need {
	NEED_NOTHING,
	NEED_DEBUG,     /* the file with the DWARF and symbols stripped from the module's file */
	NEED_ALTERNATE, /* the file into which dwz has moved DWARF that several files share */
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
 * A debug file that a module needs. The right file has the build id `build_id` (in hex) or, if that
 * is NULL, the CRC `crc`. If `kind` is NEED_NOTHING, both strings are NULL.
 */
struct file_need {
	enum server_need kind;
	char *build_id;
	char *file;
	uint32_t crc;
};

/*
 * Maximum numbers of names per request, of frames per name, and of bytes of a build id. The library
 * rejects answers that exceed these limits.
 */
#define SERVER_OFFSETS_MAX 1024
#define SERVER_FRAMES_MAX 64
#define BUILD_ID_BYTES_MAX 64

/* Maximum total size, in bytes, of a helper's memory files. */
#define SERVER_MEMORY_BYTES_MAX (1UL << 30)

#endif
