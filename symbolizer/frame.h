/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queries for addresses and their results, as plain data. */
#ifndef SYMBOLIZER_FRAME_H
#define SYMBOLIZER_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One function at an address; an address has several if calls were inlined there. For data: the
 * variable, with the file and line of its declaration; the file may be a bare name.
 */
struct sym_frame {
	const char *symbol; /* demangled name; NULL if unknown */
	uint64_t offset;    /* offset of the address in its function; 0 for inlined frames */
	const char *file;   /* source file as DWARF names it; NULL if unknown */
	unsigned int line;  /* line number; 0 if unknown */
	bool inlined;       /* this function was inlined into the next frame */
};

/* True if a name or path is known: neither NULL nor empty. */
static inline bool sym_is_known(const char *text)
{
	return text && *text;
}

/* The file mapping that holds, or last held, an address; end is 0 if unknown. */
struct sym_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* file offset mapped at start */
};

/* The lookup result for one address. Owned by the symspace; valid until it is freed. */
struct sym_location {
	/*
	 * The queried address; for a file offset: where that is or was last mapped, 0 if unknown.
	 */
	uint64_t addr;
	/*
	 * Path as the process sees it, without the kernel's " (deleted)"; "[vdso]"; "[jit]" for
	 * code in anonymous memory; "[heap]", "[anon]" ... for data where no code was; NULL if
	 * unmapped. In the kernel: "kernel", a module's name, "bpf" or "ftrace" for code generated
	 * at run time, or NULL if unknown.
	 */
	const char *module;
	const char *known_as; /* the name that module was started by; NULL: its own */
	/*
	 * addr as an ELF virtual address of module (as for addr2line); as a file offset if the file
	 * could not be read; addr itself if there is no file. In the kernel: offset from _stext or
	 * from the start of the module's text; addr itself in other code.
	 */
	uint64_t module_offset;
	const char *build_id; /* lower-case hex; NULL if there is none */
	bool unread;          /* module is a file that could not be opened */
	struct sym_mapping mapping;
	size_t frame_cnt; /* at least 1; innermost inlined function first */
	const struct sym_frame *frames;
};

enum sym_kind {
	SYM_CODE,
	SYM_DATA, /* addr is anywhere in a variable; processes only */
	SYM_TLS,  /* a thread-local variable of the program; processes only */
	SYM_KIND_CNT,
};

struct sym_query {
	uint64_t addr; /* with SYM_TLS: any code address of the program, such as its entry point */
	/* true: addr is where execution stopped; false: a return address, so addr - 1 is named */
	bool exact;
	/* number from symbolizer__add_file() if addr is a file offset; 0 if addr is an address */
	uint32_t file;
	enum sym_kind kind;
	uint64_t distance; /* with SYM_TLS: the variable's address minus the thread pointer */
};

/*
 * Called a few times a second while a call waits for a file. percent: share of the wanted names
 * that have been read, or negative while debug information is being downloaded. path is NULL when
 * the wait is over.
 */
typedef void sym_progress_fn(const char *path, int percent);

#endif
