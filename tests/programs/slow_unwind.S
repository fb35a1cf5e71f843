/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions with unwind information that is slow to read: the first CFI instruction is one that only
 * libdw handles, and libdw runs all instructions of a function again for each row.
 */
	.text
	.rept 100
	.p2align 4
	.cfi_startproc
	/* DW_CFA_def_cfa_expression: one byte, DW_OP_breg7 0 */
	.cfi_escape 0x0f, 2, 0x77, 0
	.rept 8000
	nop
	.cfi_def_cfa 7, 8
	nop
	.cfi_def_cfa 7, 16
	.endr
	ret
	.cfi_endproc
	.endr
	.section .note.GNU-stack, "", @progbits
