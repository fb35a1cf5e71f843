// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * command [code N|signal N|wait|ignore|args ARG...]: a command that memleak runs. It allocates in
 * main(), in a constructor, and in the constructor of the library early.c. The arguments select how
 * it ends: with exit code N, by signal N, or after a byte from stdin ("wait"; "ignore" also ignores
 * SIGTERM). "args" prints each ARG.
 */
#include <signal.h>

#include "truth.h"

OWN_FRAME static void *main_alloc(void)
{
	return keep(malloc(40)); /* LEAK */
}

__attribute__((constructor)) static void before_main(void)
{
	main_alloc();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "code";
	int number = argc > 2 ? atoi(argv[2]) : 0;

	main_alloc();
	free(main_alloc());
	if (!strcmp(how, "args"))
		for (int i = 2; i < argc; i++)
			say("arg %s\n", argv[i]);
	leaks("early_alloc", 3, 3 * 72);
	leaks("main_alloc", 2, 2 * 40);
	if (!strcmp(how, "wait"))
		ready();
	if (!strcmp(how, "ignore")) {
		signal(SIGTERM, SIG_IGN);
		ready();
	}
	if (!strcmp(how, "signal"))
		raise(number);
	return number;
}
