/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything in the table builder that differs by architecture. The machine is that of the file,
 * not of memleak: tables for any known machine can be built anywhere.
 */
#ifndef UNWINDER_SERVER_ARCH_H
#define UNWINDER_SERVER_ARCH_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

/* Where a caller's register is to be found. */
struct unwind_place {
	enum {
		PLACE_SAME,      /* in the register itself */
		PLACE_UNDEFINED, /* nowhere */
		PLACE_AT_CFA,    /* in memory at CFA + offset */
		PLACE_AT_FP,     /* in memory at the frame pointer + offset */
		PLACE_OTHER,
	} kind;
	int64_t offset;
};

struct unwind_arch {
	unsigned int machine; /* e_machine */
	/* DWARF register numbers */
	unsigned int sp;
	unsigned int fp;
	unsigned int ra;
	/* Where the return address is for code that does not say it; PLACE_OTHER: it always says
	 * so. */
	struct unwind_place ra_at_first;
	/* The code that a signal handler returns to; C libraries do not always describe it. */
	const unsigned char *sigreturn;
	size_t sigreturn_bytes;
	size_t sigreturn_lead; /* bytes before it that belong to it */
	bool has_plt;          /* the CFA of a procedure linkage table is an expression */
	/* Whether such an expression for the CFA is the one of a procedure linkage table. */
	bool (*is_plt)(const Dwarf_Op *ops, size_t cnt, int32_t *threshold);
	/* Whether this rule of a signal frame is the kernel's frame. */
	bool (*is_signal)(const struct unwind_rule *rule);
	/* Which of enum unwind_saved that is; false: none. */
	bool (*saved)(const struct unwind_place *fp, const struct unwind_place *ra,
		      struct unwind_rule *rule);
};

/* NULL: not known. */
const struct unwind_arch *unwind_arch_find(unsigned int machine);

#endif
