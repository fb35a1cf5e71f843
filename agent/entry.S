/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interposed functions. Each passes its arguments to a function of allocators.c or mappings.c,
 * followed by the caller's return address, stack pointer and frame pointer as they will be after
 * the return. Assembly, because C cannot read registers at a function's entry.
 */

.macro begin name
	.globl \name
	.type \name, %function
	.p2align 4
\name:
	.cfi_startproc
.endm

.macro end name
	.cfi_endproc
	.size \name, . - \name
.endm

#if defined(__x86_64__)

.macro with_caller name, to, ra, sp, fp
	begin \name
	endbr64
	mov	(%rsp), \ra
	lea	8(%rsp), \sp
	mov	%rbp, \fp
	jmp	\to
	end \name
.endm

.macro take1 name, to
	with_caller \name, \to, %rsi, %rdx, %rcx
.endm

.macro take2 name, to
	with_caller \name, \to, %rdx, %rcx, %r8
.endm

.macro take3 name, to
	with_caller \name, \to, %rcx, %r8, %r9
.endm

/* Six arguments take all argument registers, so the extra ones go onto the stack. */
.macro take6 name, to
	begin \name
	endbr64
	lea	8(%rsp), %rax
	sub	$16, %rsp
	.cfi_adjust_cfa_offset 16
	push	%rbp
	.cfi_adjust_cfa_offset 8
	push	%rax
	.cfi_adjust_cfa_offset 8
	push	-8(%rax)
	.cfi_adjust_cfa_offset 8
	call	\to
	add	$40, %rsp
	.cfi_adjust_cfa_offset -40
	ret
	end \name
.endm

#elif defined(__aarch64__)

.macro with_caller name, to, ra, sp_, fp
	begin \name
	hint	#34
	mov	\ra, x30
	mov	\sp_, sp
	mov	\fp, x29
	b	\to
	end \name
.endm

.macro take1 name, to
	with_caller \name, \to, x1, x2, x3
.endm

.macro take2 name, to
	with_caller \name, \to, x2, x3, x4
.endm

.macro take3 name, to
	with_caller \name, \to, x3, x4, x5
.endm

/* Two of eight argument registers are left, so the frame pointer goes onto the stack. */
.macro take6 name, to
	begin \name
	hint	#34
	mov	x6, x30
	mov	x7, sp
	str	x29, [sp, #-32]!
	.cfi_adjust_cfa_offset 32
	str	x30, [sp, #16]
	.cfi_rel_offset x30, 16
	bl	\to
	ldr	x30, [sp, #16]
	.cfi_restore x30
	add	sp, sp, #32
	.cfi_adjust_cfa_offset -32
	ret
	end \name
.endm

#endif

	.text
	take1 malloc, agent_malloc
	take1 free, agent_free
	take2 calloc, agent_calloc
	take2 realloc, agent_realloc
	take3 reallocarray, agent_reallocarray
	take3 posix_memalign, agent_posix_memalign
	take2 aligned_alloc, agent_aligned_alloc
	take2 memalign, agent_memalign
	take1 valloc, agent_valloc
	take1 pvalloc, agent_pvalloc
	/* operator new and new[]: plain, nothrow, aligned, aligned nothrow */
	take1 _Znwm, agent_new
	take1 _Znam, agent_new_array
	take2 _ZnwmRKSt9nothrow_t, agent_new_nothrow
	take2 _ZnamRKSt9nothrow_t, agent_new_array_nothrow
	take2 _ZnwmSt11align_val_t, agent_new_aligned
	take2 _ZnamSt11align_val_t, agent_new_array_aligned
	take3 _ZnwmSt11align_val_tRKSt9nothrow_t, agent_new_aligned_nothrow
	take3 _ZnamSt11align_val_tRKSt9nothrow_t, agent_new_array_aligned_nothrow
	/* operator delete and delete[], with up to two further arguments */
	take3 _ZdlPv, agent_delete_plain
	take3 _ZdaPv, agent_delete_array
	take3 _ZdlPvm, agent_delete_sized
	take3 _ZdaPvm, agent_delete_array_sized
	take3 _ZdlPvSt11align_val_t, agent_delete_aligned
	take3 _ZdaPvSt11align_val_t, agent_delete_array_aligned
	take3 _ZdlPvmSt11align_val_t, agent_delete_sized_aligned
	take3 _ZdaPvmSt11align_val_t, agent_delete_array_sized_aligned
	take3 _ZdlPvRKSt9nothrow_t, agent_delete_nothrow
	take3 _ZdaPvRKSt9nothrow_t, agent_delete_array_nothrow
	take3 _ZdlPvSt11align_val_tRKSt9nothrow_t, agent_delete_aligned_nothrow
	take3 _ZdaPvSt11align_val_tRKSt9nothrow_t, agent_delete_array_aligned_nothrow
	take2 munmap, agent_munmap
	take6 mremap, agent_mremap
	take6 mmap, agent_mmap
	take6 mmap64, agent_mmap

	.section .note.GNU-stack, "", %progbits
