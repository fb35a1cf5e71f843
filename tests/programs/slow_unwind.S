/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions whose frame descriptions take long to read: the first instruction is one that is left
 * to libdw, which runs all instructions of a function anew for each of its rows.
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
