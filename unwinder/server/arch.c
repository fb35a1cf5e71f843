// SPDX-License-Identifier: GPL-2.0-or-later
/* Describes x86-64 and aarch64 for the table builder. */
#include "unwinder/server/arch.h"

#include <elf.h>

static bool fits(int64_t offset)
{
	return offset >= INT16_MIN && offset <= INT16_MAX;
}

/* Distance, in bytes, from the stack pointer in a signal trampoline to the saved stack pointer. */
#define X86_SIGNAL_SP 160

static bool x86_is_signal(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_CFA_SP_DEREF && rule->cfa_off == UNWIND_DEREF(X86_SIGNAL_SP, 0);
}

static bool x86_saved(const struct unwind_place *fp, const struct unwind_place *ra,
		      struct unwind_rule *rule)
{
	if (ra->kind != PLACE_AT_CFA || ra->offset != -8 || !fits(fp->offset))
		return false;
	rule->saved_off = (int16_t)fp->offset;
	switch (fp->kind) {
	case PLACE_SAME:
		rule->saved = UNWIND_SAVED_NONE;
		rule->saved_off = 0;
		return true;
	case PLACE_AT_CFA:
		rule->saved = UNWIND_SAVED_FP;
		return true;
	case PLACE_AT_FP:
		rule->saved = UNWIND_SAVED_FP_REL;
		return true;
	default:
		return false;
	}
}

static bool arm64_is_signal(const struct unwind_rule *rule)
{
	return true;
}

static bool arm64_saved(const struct unwind_place *fp, const struct unwind_place *ra,
			struct unwind_rule *rule)
{
	bool fp_kept = fp->kind == PLACE_SAME;

	if (!fits(fp->offset) || !fits(ra->offset))
		return false;
	if (ra->kind == PLACE_SAME && fp_kept) {
		rule->saved = UNWIND_SAVED_NONE;
	} else if (ra->kind == PLACE_AT_CFA && fp_kept) {
		rule->saved = UNWIND_SAVED_RA;
		rule->saved_off = (int16_t)ra->offset;
	} else if (ra->kind == PLACE_AT_CFA && fp->kind == PLACE_AT_CFA &&
		   ra->offset == fp->offset + 8) {
		rule->saved = UNWIND_SAVED_PAIR;
		rule->saved_off = (int16_t)fp->offset;
	} else {
		return false;
	}
	return true;
}

/*
 * mov $15, %rax; syscall. musl has no call frame information for this code. Signal handlers return
 * to the start of the code. Since return addresses are looked up by the byte before them, the rule
 * must include one byte before the code.
 */
static const unsigned char x86_sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

/* mov x8, #139; svc #0, preceded by a nop. The vdso has no call frame information for this code. */
static const unsigned char arm64_sigreturn[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};

static const struct unwind_arch arches[] = {
	{
		.machine = EM_X86_64,
		.sp = 7,
		.fp = 6,
		.ra = 16,
		.ra_at_first = {.kind = PLACE_OTHER},
		.sigreturn = x86_sigreturn,
		.sigreturn_bytes = sizeof(x86_sigreturn),
		.sigreturn_lead = 1,
		.has_plt = true,
		.is_signal = x86_is_signal,
		.saved = x86_saved,
	},
	{
		.machine = EM_AARCH64,
		.sp = 31,
		.fp = 29,
		.ra = 30,
		.ra_at_first = {.kind = PLACE_SAME},
		.sigreturn = arm64_sigreturn,
		.sigreturn_bytes = sizeof(arm64_sigreturn),
		.sigreturn_lead = 4,
		.is_signal = arm64_is_signal,
		.saved = arm64_saved,
	},
};

const struct unwind_arch *unwind_arch_find(unsigned int machine)
{
	for (size_t i = 0; i < sizeof(arches) / sizeof(arches[0]); i++)
		if (arches[i].machine == machine)
			return &arches[i];
	return NULL;
}
