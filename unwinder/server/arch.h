/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything in the table builder that depends on the architecture: the file's, not memleak's.
 * Tables for any known machine can be built anywhere.
 */
#ifndef UNWINDER_SERVER_ARCH_H
#define UNWINDER_SERVER_ARCH_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

/* Where a caller's register is saved. */
struct unwind_place {
	enum {
		PLACE_SAME,      /* the register still has the caller's value */
		PLACE_UNDEFINED, /* the caller's value is lost */
		PLACE_AT_CFA,    /* in memory at CFA + offset */
		PLACE_AT_FP,     /* in memory at the frame pointer + offset */
		PLACE_OTHER,
	} kind;
	int64_t offset;
};

struct unwind_arch {
	unsigned int machine; /* e_machine of the ELF header */
	/* DWARF register numbers */
	unsigned int sp;
	unsigned int fp;
	unsigned int ra;
	/* Default place of the return address; PLACE_OTHER if CIEs always state it. */
	struct unwind_place ra_at_first;
	/*
	 * Code that signal handlers return to; not every C library has call frame information for
	 * it.
	 */
	const unsigned char *sigreturn;
	size_t sigreturn_bytes;
	size_t sigreturn_lead; /* bytes before the code that belong to it */
	bool has_plt;          /* PLT entries have a CFA expression */
	/* True if a CFA expression is that of a PLT. */
	bool (*is_plt)(const Dwarf_Op *ops, size_t cnt, int32_t *threshold);
	/* True if this rule of a signal frame matches the kernel's frame layout. */
	bool (*is_signal)(const struct unwind_rule *rule);
	/*
	 * Sets rule->saved from the places of frame pointer and return address; false if none fits.
	 */
	bool (*saved)(const struct unwind_place *fp, const struct unwind_place *ra,
		      struct unwind_rule *rule);
};

/* Returns NULL if the machine is not supported. */
const struct unwind_arch *unwind_arch_find(unsigned int machine);

#endif
