/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Offsets, in bytes and by version, at which CPython keeps the frames of scripts and their names.
 * They are valid for 64-bit builds with a global interpreter lock.
 */
#ifndef PROBER_SERVER_PYTHON_LAYOUT_H
#define PROBER_SERVER_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct python_layout {
	uint32_t version; /* major and minor version: 0x030b for 3.11 */
	uint32_t key;     /* in _PyRuntime: the key of the thread state (Py_tss_t) */
	/* in a thread state */
	uint32_t thread;
	/* if has_holder: pointer to the cframe; otherwise: pointer to the current frame */
	uint32_t holder;
	bool has_holder;
	/* in a cframe */
	uint32_t held;
	/* in a frame */
	uint32_t previous;
	uint32_t code;
	uint32_t instr;
	uint32_t border; /* byte that marks the last frame of a run of the evaluation loop */
	uint8_t border_value;
	bool border_is_empty; /* the marked frame runs no code */
	/* in a code object */
	uint32_t argument_cnt; /* first of five 4-byte words; the fifth word is the first line */
	uint32_t instructions;
	/* in a string */
	uint32_t ascii;
	uint32_t other;
};

/* Returns the layout of a version as in Py_Version; NULL if it is not known. */
const struct python_layout *python_layout_of(uint32_t version);

/* Offsets in a code object that are the same in all versions. */
#define CODE_PATH 112
#define CODE_NAME 128
#define CODE_LINES 136

#endif
