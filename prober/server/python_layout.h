/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Offsets, in bytes, in the structures in which CPython keeps the frames of scripts. They depend on
 * the version, and are valid only for 64-bit builds with a global interpreter lock.
 */
#ifndef PROBER_SERVER_PYTHON_LAYOUT_H
#define PROBER_SERVER_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/script.h"

struct python_layout {
	uint32_t version; /* major and minor version: 0x030b for 3.11 */
	/* in _PyRuntime: offset of the Py_tss_t, the thread-local key of the thread state */
	uint32_t key;
	/*
	 * in _PyRuntime: offset of the pointer to the state of the thread that holds the global
	 * interpreter lock; 0 if the key also finds the states of threads in subinterpreters
	 */
	uint32_t current;
	uint32_t thread; /* in a thread state: offset of thread_id, which is the thread pointer */
	/*
	 * in a thread state: offset of the pointer to the cframe if has_holder is true, else of the
	 * pointer to the current (innermost) frame
	 */
	uint32_t holder;
	bool has_holder;
	uint32_t held;     /* in a cframe: offset of the pointer to the current frame */
	uint32_t previous; /* in a frame: offset of the pointer to the caller's frame */
	uint32_t code;     /* in a frame: offset of the pointer to the code object */
	uint32_t instr;    /* in a frame: offset of the pointer to the instruction */
	/*
	 * in a frame: offset of the byte that is border_value in the outermost frame of an
	 * evaluation loop
	 */
	uint32_t border;
	uint8_t border_value;
	/*
	 * true if the frame with border_value belongs to the interpreter and executes no Python
	 * code: it is left out of stacks, and the outermost Python function of the evaluation loop
	 * is its callee
	 */
	bool border_is_empty;
	/* in a code object: offset of co_argcount; 16 bytes after it is the first line's number */
	uint32_t argument_cnt;
	/* true if code objects have a co_version, at offset 92, which is unique in the process */
	bool numbers_code;
	uint32_t instructions; /* in a code object: offset of the instructions */
	uint32_t ascii;        /* in an ASCII string: offset of the characters */
	uint32_t other;        /* in a non-ASCII string: offset of the characters */
};

/* Returns the layout for a version in the format of Py_Version; NULL for an unknown version. */
const struct python_layout *python_layout_of(uint32_t version);

/*
 * Returns the offsets that are needed to read frames (bpf/script.h). runtime: address of _PyRuntime
 * in the process.
 */
struct memleak_interpreter python_interpreter(const struct python_layout *layout, uint64_t runtime);

/* First fields of _PyRuntime in Python 3.13 and later. */
struct python_debug_offsets {
	char cookie[8];
	uint64_t version;
	uint64_t is_free_threaded;
};

/*
 * True if these fields say that CPython is a free-threaded build, in which frames have another
 * layout.
 */
bool python_is_free_threaded(const struct python_debug_offsets *offsets);

/* Offsets in a code object. Only the offset of the first line number depends on the version. */
#define CODE_FIRST_LINE(layout) ((layout)->argument_cnt + 16)
#define CODE_LOCALS 96 /* offset of the pointer to the names of local variables */
#define CODE_PATH 112
#define CODE_SHORT_NAME 120
#define CODE_NAME 128
#define CODE_LINES 136

/*
 * Maximum number of characters of a name or path (STRING_MAX), and of bytes of a line table
 * (LINES_MAX).
 */
#define STRING_MAX 4096
#define LINES_MAX (1U << 20)

/* Offset of the size in objects of variable size, and offset of the data in a bytes object. */
#define OBJECT_SIZE 16
#define BYTES_DATA 32

/* Offset of `state` in a string object, and the bit fields of `state`. */
#define STRING_STATE 32
#define STRING_KIND(state) ((state) >> 2 & 7)
#define STRING_IS_COMPACT(state) ((state) >> 5 & 1)
#define STRING_IS_ASCII(state) ((state) >> 6 & 1)

#endif
