/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Structs for looking up addresses: queries, and their results (locations with frames). */
#ifndef SYMBOLIZER_FRAME_H
#define SYMBOLIZER_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * A function at an address; an address has several frames if calls were inlined there. For a
 * variable's address, the frame is the variable, with the file and line of its declaration; the
 * file name may lack its directory.
 */
struct sym_frame {
	const char *symbol; /* demangled name; NULL if unknown */
	uint64_t offset; /* offset of the address from the function's start; 0 for inlined frames */
	const char *file;  /* source file as stated by DWARF; NULL if unknown */
	unsigned int line; /* 0 if unknown */
	bool inlined;      /* true if this function was inlined into that of the next frame */
};

/* True if a name or path is known, that is, neither NULL nor empty. */
static inline bool sym_is_known(const char *text)
{
	return text && *text;
}

/*
 * The file mapping at an address: the present one or, if no file is mapped there now, the latest
 * former one. `end` is 0 if no such mapping is known.
 */
struct sym_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* file offset that is mapped at `start` */
};

/*
 * The lookup result for one address. Owned by the symspace, and valid until the symspace is freed.
 */
struct sym_location {
	/*
	 * The queried address. For a query by file offset: the address where this offset is or was
	 * last mapped; 0 if unknown.
	 */
	uint64_t addr;
	/*
	 * The file that contains the address: its path as the process sees it, without the kernel's
	 * " (deleted)". If there is no file: "[vdso]"; "[jit]" for code in anonymous memory;
	 * "[heap]", "[anon]" etc. for data at addresses that never had code; SYM_SCRIPT for a line
	 * of a script; NULL if nothing is mapped. For kernel addresses: "kernel", the name of a
	 * kernel module, "bpf" or "ftrace" for code generated at run time, or NULL if unknown.
	 */
	const char *module;
	/*
	 * name by which the program was started, if `module` is the program's file but has another
	 * name; else NULL
	 */
	const char *known_as;
	/*
	 * The address in `module`. User space: the ELF virtual address (as for addr2line); the file
	 * offset if the file could not be read; `addr` if there is no file. Kernel: the offset from
	 * _stext or from the start of the kernel module's text; `addr` if the code is in neither.
	 */
	uint64_t module_offset;
	const char *build_id; /* in lower-case hex; NULL if unknown */
	bool unread;          /* true if `module` is a file that could not be opened */
	bool lines_follow;    /* true if a later query may find source lines */
	struct sym_mapping mapping;
	size_t frame_cnt; /* at least 1; the innermost inlined function is first */
	const struct sym_frame *frames;
};

/* Value of sym_location.module for a line of a script, which has no address. */
#define SYM_SCRIPT "[script]"

static inline bool sym_is_script(const struct sym_location *location)
{
	return location && location->module && !strcmp(location->module, SYM_SCRIPT);
}

/*
 * Returns the outermost function at a location: the others are inlined into it. Returns NULL if the
 * location is NULL or was not looked up.
 */
static inline const struct sym_frame *sym_outermost(const struct sym_location *location)
{
	return location && location->frame_cnt ? &location->frames[location->frame_cnt - 1] : NULL;
}

/* Returns the outermost function's name; NULL if it is unknown. */
static inline const char *sym_outermost_symbol(const struct sym_location *location)
{
	const struct sym_frame *frame = sym_outermost(location);

	return frame ? frame->symbol : NULL;
}

enum sym_kind {
	SYM_CODE,
	SYM_DATA, /* a variable, queried by any address in it; not for the kernel */
	SYM_TLS,  /* a thread-local variable of the program; not for the kernel */
	SYM_KIND_CNT,
};

struct sym_query {
	uint64_t addr; /* for SYM_TLS: any code address of the program, such as its entry point */
	/*
	 * false if addr is a return address: the byte before it, which is part of the call, is
	 * looked up
	 */
	bool exact;
	/*
	 * the file's number from symbolizer__add_file() if addr is an offset in that file; 0 if
	 * addr is an address
	 */
	uint32_t file;
	enum sym_kind kind;
	uint64_t distance; /* for SYM_TLS: the variable's address minus the thread pointer */
};

/*
 * Called a few times a second while symspace__resolve() waits for names from the file `path`.
 * percent: share of the wanted names that have been found; negative while debug information is
 * being downloaded. At the end, called with path == NULL, even if there was no wait.
 */
typedef void sym_progress_fn(const char *path, int percent);

#endif
