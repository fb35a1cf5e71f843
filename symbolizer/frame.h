/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queries for addresses, and results of queries, as plain data. */
#ifndef SYMBOLIZER_FRAME_H
#define SYMBOLIZER_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * One function at an address; an address has several frames if calls were inlined there. For data:
 * the variable, with the file and line of its declaration; the file name may lack its directory.
 */
struct sym_frame {
	const char *symbol; /* demangled name; NULL if unknown */
	uint64_t offset; /* offset of the address from the function's start; 0 for inlined frames */
	const char *file;  /* source file as stated by DWARF; NULL if unknown */
	unsigned int line; /* line number; 0 if unknown */
	bool inlined;      /* this function was inlined into the next frame */
};

/* True if a name or path is known, which means neither NULL nor empty. */
static inline bool sym_is_known(const char *text)
{
	return text && *text;
}

/* The file mapping that contains an address, or was the last to contain it; end is 0 if unknown. */
struct sym_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* file offset that is mapped at start */
};

/*
 * The lookup result for one address. Owned by the symspace, and valid until the symspace is freed.
 */
struct sym_location {
	/*
	 * The queried address. For a query by file offset: the address where that offset is or was
	 * last mapped; 0 if unknown.
	 */
	uint64_t addr;
	/*
	 * Path as the process sees it, without the kernel's " (deleted)". If there is no path:
	 * "[vdso]"; "[jit]" for code in anonymous memory; "[heap]", "[anon]" etc. for data at
	 * addresses that never had code; SYM_SCRIPT for a place in a script; NULL if unmapped. In
	 * the kernel: "kernel", a module's name, "bpf" or "ftrace" for code generated at run time,
	 * or NULL if unknown.
	 */
	const char *module;
	/* for the program's file: another name by which the program was started; else NULL */
	const char *known_as;
	/*
	 * User space: the ELF virtual address in the module (as for addr2line), or the file offset
	 * if the file could not be read, or addr if there is no file. Kernel: the offset from
	 * _stext or from the start of the module's text, or addr if the code is in neither.
	 */
	uint64_t module_offset;
	const char *build_id; /* lower-case hex; NULL if there is none */
	bool unread;          /* the module is a file that could not be opened */
	bool lines_follow;    /* source lines are not known yet; a later call may add them */
	struct sym_mapping mapping;
	/* number of frames, at least 1; the innermost inlined function is first */
	size_t frame_cnt;
	const struct sym_frame *frames;
};

/* Value of sym_location.module for places in scripts, which have no address. */
#define SYM_SCRIPT "[script]"

static inline bool sym_is_script(const struct sym_location *location)
{
	return location && location->module && !strcmp(location->module, SYM_SCRIPT);
}

/*
 * Returns the outermost function at a location: all other functions there are inlined into it.
 * Returns NULL if the location is NULL or was not looked up.
 */
static inline const struct sym_frame *sym_outermost(const struct sym_location *location)
{
	return location && location->frame_cnt ? &location->frames[location->frame_cnt - 1] : NULL;
}

/* Returns the symbol of sym_outermost(); NULL if there is none. */
static inline const char *sym_outermost_symbol(const struct sym_location *location)
{
	const struct sym_frame *frame = sym_outermost(location);

	return frame ? frame->symbol : NULL;
}

enum sym_kind {
	SYM_CODE,
	SYM_DATA, /* a variable, given by any address in it; not for the kernel */
	SYM_TLS,  /* a thread-local variable of the program; not for the kernel */
	SYM_KIND_CNT,
};

struct sym_query {
	uint64_t addr; /* for SYM_TLS: any code address of the program, such as its entry point */
	/*
	 * true if execution stopped at addr; false if addr is a return address, so that the byte
	 * before it is looked up
	 */
	bool exact;
	/*
	 * number from symbolizer__add_file() if addr is an offset in that file; 0 if addr is an
	 * address
	 */
	uint32_t file;
	enum sym_kind kind;
	uint64_t distance; /* for SYM_TLS: the variable's address minus the thread pointer */
};

/*
 * Called a few times a second while a call waits for the file at path. percent: share of the wanted
 * names that have been read; negative while debug information is being downloaded. When the wait is
 * over, path is NULL.
 */
typedef void sym_progress_fn(const char *path, int percent);

#endif
