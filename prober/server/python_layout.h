/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Offsets, in bytes and by version, in the structures by which CPython describes the frames of
 * scripts. They are valid for 64-bit builds with a global interpreter lock.
 */
#ifndef PROBER_SERVER_PYTHON_LAYOUT_H
#define PROBER_SERVER_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

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
	/* in a frame: offset of the byte that marks the outermost frame of a run of the loop */
	uint32_t border;
	uint8_t border_value;
	/* the marked frame executes no code: the run ends with its callee */
	bool border_is_empty;
	/* in a code object: offset of five 4-byte words; the fifth is the first line's number */
	uint32_t argument_cnt;
	uint32_t instructions; /* in a code object: offset of the instructions */
	uint32_t ascii;        /* in an ASCII string: offset of the characters */
	uint32_t other;        /* in any other string: offset of the characters */
};

/* Returns the layout for a version in the format of Py_Version; NULL for an unknown version. */
const struct python_layout *python_layout_of(uint32_t version);

/* Offsets in a code object that are the same in all versions. */
#define CODE_PATH 112
#define CODE_NAME 128
#define CODE_LINES 136

#endif
