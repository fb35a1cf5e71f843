/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper process that parses: what is asked of it and what it answers. One request at a time;
 * each is answered before the next is read.
 *
 *   OPEN  id, name, build id, anchor count, per anchor: name, address; fd of the file
 *                                              → OPENED  id, status, build id, need
 *   DEBUG id, fd of a file that may be needed  → OPENED  id, status, build id, need
 *   NAMES id, level, cnt, cnt × offset         → NAME ..., then NAMES_DONE
 *   NAME  index, vaddr, start, frame count, per frame: symbol, file, line
 *
 * A file of which only the build id is sent, without fd, is the debug file that is then needed.
 * Offsets are of the instruction in the file, or addresses when the file has anchors; vaddr is
 * where the ELF file puts it, start where its function begins (vaddr when that is not known).
 * Frames are innermost first; all but the last are inlined. need is a kind, a build id, a file name
 * and a checksum: the separate debug file that the object could use.
 */
#ifndef WORKER_H
#define WORKER_H

#include <stdint.h>

enum worker_message {
	WORKER_OPEN = 1,
	WORKER_DEBUG,
	WORKER_NAMES,
	WORKER_OPENED,
	WORKER_NAME,
	WORKER_NAMES_DONE,
};

/* How much is wanted: the symbol tables are read in no time, DWARF may take long. */
enum name_level { NAME_NONE, NAME_SYMBOL, NAME_FULL };

enum worker_need {
	NEED_NOTHING,
	NEED_DEBUG,     /* a file with the DWARF and symbols that this one lacks */
	NEED_ALTERNATE, /* the file that dwz moved common parts to */
};

/* Limits of what the helper may answer; the library holds it to them. */
#define WORKER_OFFSETS_MAX 1024
#define WORKER_FRAMES_MAX 64
#define BUILD_ID_BYTES_MAX 64

/* The helper's whole life. */
void worker_main(int sock);

#endif
