/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables, which the unwinder library makes and the BPF programs read. They contain no ELF
 * addresses: a table belongs to a file, and its positions are offsets in the file.
 *
 * A table is a sequence of pages of 32-bit words, in three parts:
 *
 *   rules   two words each, struct unwind_rule
 *   index   begins on a new page; one word for each granule of 256 bytes of the file
 *   rows    begin on a new page; one word each; the rows of a granule are on one page
 *
 * The first row of a granule begins at the granule's first byte, so a search stays within the
 * granule and compares only the low eight bits of offsets.
 */
#ifndef BPF_UNWIND_H
#define BPF_UNWIND_H

#include <linux/types.h>

#define UNWIND_PAGE_WORDS 1024

#define UNWIND_GRANULE_BITS 8
#define UNWIND_GRANULE_BYTES (1U << UNWIND_GRANULE_BITS)

/*
 * Index word: position of the first row, in words from the start of the table, and number of rows.
 */
#define UNWIND_COUNT_BITS 7
#define UNWIND_GRANULE_ROWS_MAX ((1U << UNWIND_COUNT_BITS) - 1)
#define UNWIND_INDEX(position, cnt) ((position) << UNWIND_COUNT_BITS | (cnt))
#define UNWIND_INDEX_POSITION(word) ((word) >> UNWIND_COUNT_BITS)
#define UNWIND_INDEX_COUNT(word) ((word)&UNWIND_GRANULE_ROWS_MAX)
#define UNWIND_TABLE_WORDS_MAX (1U << (32 - UNWIND_COUNT_BITS))

/*
 * Row word: the offset in the granule from which the row applies, and the number of the row's rule.
 */
#define UNWIND_ROW(low, rule) ((low) | (rule) << UNWIND_GRANULE_BITS)
#define UNWIND_ROW_LOW(word) ((word) & (UNWIND_GRANULE_BYTES - 1))
#define UNWIND_ROW_RULE(word) ((word) >> UNWIND_GRANULE_BITS)
#define UNWIND_RULES_MAX 65536

/*
 * How to find the canonical frame address (CFA): the value that the stack pointer had before the
 * call that created the frame.
 */
enum unwind_cfa {
	UNWIND_CFA_NO_ROW,    /* the table does not cover this code */
	UNWIND_CFA_UNKNOWN,   /* a rule that struct unwind_rule cannot express */
	UNWIND_CFA_SP,        /* CFA is sp + cfa_off */
	UNWIND_CFA_FP,        /* CFA is fp + cfa_off */
	UNWIND_CFA_SP_DEREF,  /* CFA is *(sp + outer) + inner: see UNWIND_DEREF */
	UNWIND_CFA_FP_DEREF,  /* CFA is *(fp + outer) + inner: see UNWIND_DEREF */
	UNWIND_CFA_PLT,       /* x86 PLT entry: sp + 8; from the entry's byte cfa_off on, sp + 16 */
	UNWIND_CFA_SIGNAL,    /* the registers are in the signal frame made by the kernel */
	UNWIND_CFA_OUTERMOST, /* outermost frame: the return address is undefined */
	UNWIND_CFA_CNT,
};

/* Where the caller's frame pointer (fp) and the return address (ra) are saved. */
enum unwind_saved {
	UNWIND_SAVED_NONE,   /* fp is unchanged; ra is at CFA - 8 (x86) or in lr (aarch64) */
	UNWIND_SAVED_FP,     /* x86: fp at CFA + saved_off */
	UNWIND_SAVED_FP_REL, /* x86: fp at fp + saved_off */
	UNWIND_SAVED_PAIR,   /* aarch64: fp at CFA + saved_off, ra in the word above */
	UNWIND_SAVED_RA,     /* aarch64: fp is unchanged; ra at CFA + saved_off */
	UNWIND_SAVED_CNT,
};

struct unwind_rule {
	__u8 cfa;
	__u8 saved;
	__s16 saved_off;
	__s32 cfa_off;
};

/*
 * x86: true if these 8 bytes of code begin with add $N, %rsp; ret, where N is a multiple of 8 below
 * 128.
 */
static inline int unwind_returns(__u64 code)
{
	return (code & 0xff87ffffffULL) == 0xc300c48348ULL;
}

static inline __s32 unwind_given_back(__u64 code)
{
	return code >> 24 & 0xff;
}

/* cfa_off of the DEREF kinds: 24 bits of outer offset, 8 bits of inner offset. */
#define UNWIND_DEREF(outer, inner) ((outer)*256 + (inner))
#define UNWIND_DEREF_OUTER(off) ((off) >> 8)
#define UNWIND_DEREF_INNER(off) ((off)&0xff)

/*
 * An executable mapping of a process. Tables are in arenas (arrays of pages with several tables).
 * granule_cnt is 0 if there is no table, as for code made at run time.
 */
struct unwind_mapping {
	__u64 start;
	__u64 end;
	__u64 base;     /* address to which the table's first granule is, or would be, mapped */
	__u64 to_frame; /* number to add to an address to get a frame; 0 if frames are addresses */
	__u32 granule_cnt;
	__u32 index; /* position of the index in the table, in words */
	__u32 arena;
	__u32 page;      /* first page of the table in the arena */
	__u64 permanent; /* 1 if the file is never unloaded, as for files loaded at program start */
};

/*
 * Header of an image's mappings. It is element 0 of the image's array; the mappings follow, sorted
 * by address.
 */
struct unwind_space {
	__u32 generation; /* new number after each change of any process's mappings */
	__u32 mapping_cnt;
	__u32 unloads;     /* the target's unload count when the mappings were read */
	__u32 interpreter; /* 1 if the image has an entry in the map of interpreters */
	__u64 r_debug;     /* address of the dynamic loader's r_debug; 0 if unknown */
};

union unwind_space_entry {
	struct unwind_space space;
	struct unwind_mapping mapping;
};

/*
 * Identifies a file as the kernel sees it. For a file on an overlay, this is the file that backs
 * it.
 */
struct unwind_file_key {
	__u64 ino;
	__u64 dev;
};

/*
 * The table of a file, for all processes that map the file; granule_cnt is 0 if the file has no
 * table.
 */
struct unwind_file_table {
	__s64 size; /* size and modification time of the file when it was read */
	__s64 mtime_sec;
	__u32 mtime_nsec;
	__u32 granule_cnt;
	__u64 first; /* offset of the first granule in the file */
	__u64 frame; /* frame value for offset 0; 0 if frames are stored as addresses */
	__u32 index; /* index, arena and page: as in struct unwind_mapping */
	__u32 arena;
	__u32 page;
	__u32 reserved;
};

#define UNWIND_FILES_MAX 8192
#define UNWIND_ARENAS_MAX 1024
#define UNWIND_MAPPINGS_MAX 8191

/* How a walk ended; values from UNWIND_END_NO_CODE on are reasons why a stack was cut. */
enum unwind_end {
	UNWIND_END_UNKNOWN,
	UNWIND_END_COMPLETE,
	UNWIND_END_TRUNCATED, /* more frames than can be stored */
	UNWIND_END_NO_CODE,   /* a return address in no executable mapping */
	UNWIND_END_NO_RULE,   /* no usable row, and no frame pointer */
	UNWIND_END_READ,      /* unreadable stack memory */
	UNWIND_END_CNT,
};

/*
 * The initial registers of a walk and a copy of the stack, so that another unwinder can walk the
 * same stack. Memory is copied in aligned pieces of UNWIND_COPY_PIECE bytes. Some pieces may be
 * unreadable, such as pages that no function has touched yet.
 */
#define UNWIND_COPY_PIECE 256
/*
 * Maximum stack memory in a copy. Proofs copy as much; the BPF programs copy at most DEFERRED_LONG
 * bytes, because the ring for their copies is small.
 */
#define UNWIND_COPY_BYTES 65536
#define UNWIND_COPY_PIECES (UNWIND_COPY_BYTES / UNWIND_COPY_PIECE)
#define UNWIND_COPY_REGISTERS 32
#define UNWIND_COPY_CALLS 64

struct unwind_copied_range {
	__u64 start;
	__u64 bytes;
	__u64 present[UNWIND_COPY_PIECES / 64]; /* a bit per piece: 1 if the piece was readable */
};

/*
 * A call whose return address a return probe has replaced: its address on the stack (slot; see
 * arch.bpf.h), and the original return address.
 */
struct unwind_copied_call {
	__u64 slot;
	__u64 return_address;
};

struct unwind_copy {
	__u64 pc;                               /* where the walk begins: a return address */
	__u64 registers[UNWIND_COPY_REGISTERS]; /* registers at pc, by DWARF number */
	__u32 register_cnt;
	__u32 call_cnt;
	__u64 trampoline; /* address of the return trampoline; 0 if there is none */
	struct unwind_copied_call calls[UNWIND_COPY_CALLS]; /* innermost first */
	struct unwind_copied_range stack;
	__u8 stack_bytes[UNWIND_COPY_BYTES];
};

#endif
