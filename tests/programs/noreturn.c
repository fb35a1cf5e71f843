// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allocates in two functions that are easily shown under another function's name. last_call ends
 * with a call that never returns, so the return address of that call lies in the next function.
 * no_symbol is code without a symbol, far after the end of the previous function.
 */
#include "truth.h"

void *no_symbol_entry(size_t size);

#ifdef __x86_64__
__asm__(".text\n"
	".globl short_neighbour\n"
	".type short_neighbour, @function\n"
	"short_neighbour:\n"
	"	ret\n"
	".size short_neighbour, . - short_neighbour\n"
	".skip 4096, 0x90\n"
	".Lno_symbol:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	call malloc@PLT\n"
	"	pop %rbp\n"
	"	ret\n"
	".skip 64, 0x90\n"
	".globl no_symbol_entry\n"
	".type no_symbol_entry, @function\n"
	"no_symbol_entry:\n"
	"	jmp .Lno_symbol\n"
	".size no_symbol_entry, . - no_symbol_entry\n");
#else
void *no_symbol_entry(size_t size)
{
	(void)size;
	must(0, "assembler for this machine");
	return NULL;
}
#endif

OWN_FRAME static void *calls_no_symbol(void)
{
	return keep(no_symbol_entry(333));
}

OWN_FRAME __attribute__((noreturn)) static void stay_here(void)
{
	must(keep(malloc(200)) != NULL, "malloc"); /* LEAK */
	leaks("stay_here", 1, 200);
	ready();
	_exit(0);
}

OWN_FRAME __attribute__((noreturn)) static void last_call(void)
{
	stay_here();
}

int main(int argc, char **argv)
{
	must(argc == 2, "usage");
	ready();
	if (!strcmp(argv[1], "last_call"))
		last_call();
	calls_no_symbol();
	ready();
	return 0;
}
