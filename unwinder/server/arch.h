/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All parts of the table builder that depend on the architecture of the file. Tables for any known
 * machine can be built on any machine.
 */
#ifndef UNWINDER_SERVER_ARCH_H
#define UNWINDER_SERVER_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

/* The place where the caller's value of a register is saved. */
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
	/* DWARF numbers of the stack pointer, frame pointer and return address registers */
	unsigned int sp;
	unsigned int fp;
	unsigned int ra;
	/*
	 * Place of the return address at a function's start; PLACE_OTHER if CIEs always state it.
	 */
	struct unwind_place ra_at_first;
	/*
	 * Machine code to which signal handlers return. Not every C library has call frame
	 * information for it.
	 */
	const unsigned char *sigreturn;
	size_t sigreturn_bytes;
	/* number of bytes before the sigreturn code to which its rule also applies */
	size_t sigreturn_lead;
	bool has_plt; /* true if PLT entries have a CFA expression */
	/* True if a rule read from a signal frame matches the kernel's frame layout. */
	bool (*is_signal)(const struct unwind_rule *rule);
	/*
	 * Sets rule->saved for the given places of frame pointer and return address. Returns false
	 * if no value of rule->saved describes them.
	 */
	bool (*saved)(const struct unwind_place *fp, const struct unwind_place *ra,
		      struct unwind_rule *rule);
};

/* Returns the description of a machine (e_machine); NULL if it is not supported. */
const struct unwind_arch *unwind_arch_find(unsigned int machine);

#endif
