/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables as the BPF programs read them and the unwinder library makes them. Neither side
 * knows ELF addresses here: a table is of a file, and places in it are offsets in the file.
 *
 * A table is a run of pages of 32-bit words:
 *
 *   rules     two words each, struct unwind_rule
 *   index     from a new page on: one word for each granule of 256 bytes of the file; its rows
 *   rows      from a new page on: one word each; the rows of one granule never cross a page
 *
 * The first row of a granule begins at the granule's first byte, so a search never leaves the
 * granule: rows and rules are found without comparing more than the offset's low eight bits.
 */
#ifndef BPF_UNWIND_H
#define BPF_UNWIND_H

#include <linux/types.h>

#define UNWIND_PAGE_WORDS 1024

#define UNWIND_GRANULE_BITS 8
#define UNWIND_GRANULE_BYTES (1U << UNWIND_GRANULE_BITS)

/* Index word: position of the first row, in words from the table's beginning, and their number. */
#define UNWIND_COUNT_BITS 7
#define UNWIND_GRANULE_ROWS_MAX ((1U << UNWIND_COUNT_BITS) - 1)
#define UNWIND_INDEX(position, cnt) ((position) << UNWIND_COUNT_BITS | (cnt))
#define UNWIND_INDEX_POSITION(word) ((word) >> UNWIND_COUNT_BITS)
#define UNWIND_INDEX_COUNT(word) ((word)&UNWIND_GRANULE_ROWS_MAX)
#define UNWIND_TABLE_WORDS_MAX (1U << (32 - UNWIND_COUNT_BITS))

/* Row word: where in its granule it begins to hold, and the number of its rule. */
#define UNWIND_ROW(low, rule) ((low) | (rule) << UNWIND_GRANULE_BITS)
#define UNWIND_ROW_LOW(word) ((word) & (UNWIND_GRANULE_BYTES - 1))
#define UNWIND_ROW_RULE(word) ((word) >> UNWIND_GRANULE_BITS)
#define UNWIND_RULES_MAX 65536

/* Where the canonical frame address is: the stack pointer before the call that made the frame. */
enum unwind_cfa {
	UNWIND_CFA_NO_ROW,    /* the table says nothing of this code */
	UNWIND_CFA_UNKNOWN,   /* a rule that does not fit into struct unwind_rule */
	UNWIND_CFA_SP,        /* sp + cfa_off */
	UNWIND_CFA_FP,        /* fp + cfa_off */
	UNWIND_CFA_SP_DEREF,  /* *(sp + outer) + inner, see below */
	UNWIND_CFA_FP_DEREF,  /* *(fp + outer) + inner */
	UNWIND_CFA_PLT,       /* x86: sp + 8, and 8 more from byte cfa_off of a 16-byte entry on */
	UNWIND_CFA_SIGNAL,    /* the registers lie in the frame that the kernel made for a signal */
	UNWIND_CFA_OUTERMOST, /* nobody called this code: the return address is undefined */
	UNWIND_CFA_CNT,
};

/* What is saved of the caller's frame pointer (fp) and of the return address (ra), and where. */
enum unwind_saved {
	UNWIND_SAVED_NONE,   /* fp is the caller's; ra at CFA - 8 (x86), in lr (aarch64) */
	UNWIND_SAVED_FP,     /* x86: fp at CFA + saved_off */
	UNWIND_SAVED_FP_REL, /* x86: fp at fp + saved_off */
	UNWIND_SAVED_PAIR,   /* aarch64: fp at CFA + saved_off, ra behind it */
	UNWIND_SAVED_RA,     /* aarch64: fp is the caller's; ra at CFA + saved_off */
	UNWIND_SAVED_CNT,
};

struct unwind_rule {
	__u8 cfa;
	__u8 saved;
	__s16 saved_off;
	__s32 cfa_off;
};

/* x86: whether these 8 bytes of code begin with add $bytes, %rsp; ret. bytes: a multiple of 8. */
static inline int unwind_returns(__u64 code)
{
	return (code & 0xff87ffffffULL) == 0xc300c48348ULL;
}

static inline __s32 unwind_given_back(__u64 code)
{
	return code >> 24 & 0xff;
}

/* cfa_off of the two kinds that dereference: 24 bits of outer offset, 8 bits of inner offset. */
#define UNWIND_DEREF(outer, inner) ((outer)*256 + (inner))
#define UNWIND_DEREF_OUTER(off) ((off) >> 8)
#define UNWIND_DEREF_INNER(off) ((off)&0xff)

/*
 * A piece of executable memory of a process. Tables are kept in arenas (arrays of pages, with
 * several tables in each); with 0 granules there is no table, as for code that was made at run
 * time.
 */
struct unwind_mapping {
	__u64 start;
	__u64 end;
	__u64 base;     /* where the table's first granule is, or would be, mapped */
	__u64 to_frame; /* to be added to an address here; 0: its frames are addresses */
	__u32 granule_cnt;
	__u32 index; /* first word of the index, in the table */
	__u32 arena;
	__u32 page;      /* first page of the table, in the arena */
	__u64 permanent; /* 1: it is never unloaded, as what the program was started with */
};

/* What an image has mapped: this is element 0 of its array, and the mappings follow, by address. */
struct unwind_space {
	__u32 generation; /* a number of its own for each change of any process */
	__u32 mapping_cnt;
	__u32 unloads; /* of the target, when the mappings were read */
	__u32 reserved;
	__u64 r_debug; /* where the dynamic loader says what it is about to do; 0: unknown */
};

union unwind_space_entry {
	struct unwind_space space;
	struct unwind_mapping mapping;
};

/* A file by what the kernel says of it: it has no numbers of its own for overlays. */
struct unwind_file_key {
	__u64 ino;
	__u64 dev;
};

/* The file's table, or that it has none (granule_cnt 0), whoever maps it. */
struct unwind_file_table {
	__s64 size; /* the file as it was when it was read */
	__s64 mtime_sec;
	__u32 mtime_nsec;
	__u32 granule_cnt;
	__u64 first; /* offset of the first granule in the file */
	__u64 frame; /* frames are this and an offset in the file; 0: they are addresses */
	__u32 index; /* as in struct unwind_mapping */
	__u32 arena;
	__u32 page;
	__u32 reserved;
};

#define UNWIND_FILES_MAX 8192
#define UNWIND_ARENAS_MAX 1024
#define UNWIND_MAPPINGS_MAX 8191

/* How a walk ended, and for a stack that was cut, why. */
enum unwind_end {
	UNWIND_END_UNKNOWN,
	UNWIND_END_COMPLETE,
	UNWIND_END_TRUNCATED, /* more frames than are kept */
	UNWIND_END_NO_CODE,   /* a return address that is in no executable mapping */
	UNWIND_END_NO_RULE,   /* no row, or no usable one, and no frame pointer either */
	UNWIND_END_READ,      /* stack memory that cannot be read */
	UNWIND_END_CNT,
};

/*
 * Where a walk began and the memory that it read, for another unwinder to walk the same stack.
 * Memory is copied in pieces, each from a multiple of this size on. Within a stack there may be
 * pieces that cannot be read: pages that no function has touched yet.
 */
#define UNWIND_COPY_PIECE 256
#define UNWIND_COPY_BYTES 65536
#define UNWIND_COPY_OTHER_BYTES 16384
#define UNWIND_COPY_PIECES (UNWIND_COPY_BYTES / UNWIND_COPY_PIECE)
#define UNWIND_COPY_REGISTERS 32
#define UNWIND_COPY_CALLS 64

struct unwind_copied_range {
	__u64 start;
	__u64 bytes;
	__u64 present[UNWIND_COPY_PIECES / 64]; /* a bit for each piece */
};

/* A call that returns to a return probe: where it was made, and where it would have returned to. */
struct unwind_copied_call {
	__u64 slot;
	__u64 return_address;
};

struct unwind_copy {
	__u64 pc;                               /* a return address */
	__u64 registers[UNWIND_COPY_REGISTERS]; /* by DWARF number, at that address */
	__u32 register_cnt;
	__u32 call_cnt;
	__u64 trampoline; /* what return probes put in the place of return addresses; 0: none */
	struct unwind_copied_call calls[UNWIND_COPY_CALLS]; /* innermost first */
	struct unwind_copied_range stack;
	struct unwind_copied_range other; /* of the stack that a signal interrupted */
	__u8 stack_bytes[UNWIND_COPY_BYTES];
	__u8 other_bytes[UNWIND_COPY_OTHER_BYTES];
};

#endif
