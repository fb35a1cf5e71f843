/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Offsets, in bytes and by version, in the structures by which CPython describes the frames of
 * scripts. They are valid for 64-bit builds with a global interpreter lock.
 */
#ifndef PROBER_SERVER_PYTHON_LAYOUT_H
#define PROBER_SERVER_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/script.h"

struct python_layout {
	uint32_t version; /* major and minor version: 0x030b for 3.11 */
	uint32_t key;     /* in _PyRuntime: offset of the thread state's key (Py_tss_t) */
	uint32_t thread;  /* in a thread state: offset of the thread pointer */
	/*
	 * in a thread state: offset of the pointer to the cframe if has_holder, else of the pointer
	 * to the current frame
	 */
	uint32_t holder;
	bool has_holder;
	uint32_t held;     /* in a cframe: offset of the pointer to the current frame */
	uint32_t previous; /* in a frame: offset of the pointer to the caller's frame */
	uint32_t code;     /* in a frame: offset of the pointer to the code object */
	uint32_t instr;    /* in a frame: offset of the pointer to the instruction */
	/* in a frame: offset of the byte that marks the outermost frame of an evaluation loop */
	uint32_t border;
	uint8_t border_value;
	/* the marked frame executes no code: its callee is the loop's outermost frame */
	bool border_is_empty;
	/* in a code object: offset of five 4-byte words; the fifth is the first line's number */
	uint32_t argument_cnt;
	/* no two code objects of a process have the same number (co_version), at offset 92 */
	bool numbers_code;
	uint32_t instructions; /* in a code object: offset of the instructions */
	uint32_t ascii;        /* in an ASCII string: offset of the characters */
	uint32_t other;        /* in any other string: offset of the characters */
};

/* Returns the layout for a version in the format of Py_Version; NULL for an unknown version. */
const struct python_layout *python_layout_of(uint32_t version);

/*
 * Describes the interpreter for those who read its frames. runtime: address of _PyRuntime in the
 * process.
 */
struct memleak_interpreter python_interpreter(const struct python_layout *layout, uint64_t runtime);

/* Start of _PyRuntime from Python 3.13 on. */
struct python_debug_offsets {
	char cookie[8];
	uint64_t version;
	uint64_t is_free_threaded;
};

/* True if this is the start of _PyRuntime in a free-threaded build, whose frames differ. */
bool python_is_free_threaded(const struct python_debug_offsets *offsets);

/* Offsets in a code object. Except for the first line, they are the same in all versions. */
#define CODE_FIRST_LINE(layout) ((layout)->argument_cnt + 16)
#define CODE_LOCALS 96 /* pointer to the names of local variables */
#define CODE_PATH 112
#define CODE_SHORT_NAME 120
#define CODE_NAME 128
#define CODE_LINES 136

/* Maximum characters of names and paths, and maximum bytes of a table of lines. */
#define STRING_MAX 4096
#define LINES_MAX (1U << 20)

/* Offset of the size in any variable-sized object, and offset of the data in a bytes object. */
#define OBJECT_SIZE 16
#define BYTES_DATA 32

/* Offset of a string's state, and the state's bit fields. */
#define STRING_STATE 32
#define STRING_KIND(state) ((state) >> 2 & 7)
#define STRING_IS_COMPACT(state) ((state) >> 5 & 1)
#define STRING_IS_ASCII(state) ((state) >> 6 & 1)

#endif
