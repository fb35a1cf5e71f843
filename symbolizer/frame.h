/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked of an address and what is known of it, as plain data. */
#ifndef SYMBOLIZER_FRAME_H
#define SYMBOLIZER_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One function at an address; several where calls were inlined there. Of data, the variable: its
 * file and line are those of its declaration, and the file may be no more than a name.
 */
struct sym_frame {
	const char *symbol; /* demangled; NULL: unknown */
	uint64_t offset;    /* of the address in the function that holds it; 0 for inlined frames */
	const char *file;   /* source file as DWARF names it; NULL: unknown */
	unsigned int line;  /* 0: unknown */
	bool inlined;       /* this function was inlined into the next frame */
};

/* Whether a name or path of these is known: an empty one says as little as none. */
static inline bool sym_is_known(const char *text)
{
	return text && *text;
}

/* The part of a file that is mapped where an address is, or was last; end is 0: not known. */
struct sym_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* of start in the file */
};

/* What is known of one address. Owned by the symspace, valid until it is freed. */
struct sym_location {
	/* As asked; of a place in a file: where that is mapped or was last; 0: not known. */
	uint64_t addr;
	/*
	 * Path as the process sees it, without the kernel's " (deleted)"; "[vdso]"; "[jit]": code
	 * in anonymous memory; "[heap]", "[anon]" ...: data, no code was there; NULL: unmapped.
	 * Of the kernel: "kernel", the name of a module, or "bpf" and "ftrace" for code that it
	 * makes at run time; NULL: none of them.
	 */
	const char *module;
	/*
	 * addr as an ELF virtual address of module (what addr2line takes); as an offset in the file
	 * while that could not be read; addr itself where there is no file. Of the kernel: the
	 * distance from _stext or from where the module's text lies; addr itself in other code.
	 */
	uint64_t module_offset;
	const char *build_id; /* lower-case hex; NULL: none */
	bool unread;          /* module is a file that could not be opened */
	struct sym_mapping mapping;
	size_t frame_cnt; /* at least 1; innermost inlined function first */
	const struct sym_frame *frames;
};

enum sym_kind {
	SYM_CODE,
	SYM_DATA, /* addr is somewhere in a variable: of processes alone */
	SYM_TLS,  /* a variable of each thread's own, of the program: of processes alone */
	SYM_KIND_CNT,
};

struct sym_query {
	uint64_t addr; /* with SYM_TLS any of the program's code, such as where it begins */
	bool exact; /* addr was interrupted there; false: addr is a return address, name addr - 1 */
	uint32_t file; /* addr is an offset in it, from symbolizer__add_file; 0: an address */
	enum sym_kind kind;
	uint64_t distance; /* with SYM_TLS: what is asked for less the thread pointer */
};

/*
 * What is waited for, a few times a second: of this file so much of what is wanted has been read,
 * in per cent; less than 0: its debug information is being fetched. path NULL: nothing any more.
 */
typedef void sym_progress_fn(const char *path, int percent);

#endif
