// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * two_allocators PLUGIN HOW: before memleak is attached, loads a plugin that does not use the
 * program's malloc(). The program's malloc() must be that of a preloaded allocator. HOW is
 * "deepbind" (the plugin uses the malloc() of its own dependencies) or "dlmopen" (the plugin has a
 * separate C library).
 */
#include <dlfcn.h>

#include "truth.h"

OWN_FRAME static void *host_leak(void)
{
	return keep(malloc(72)); /* LEAK */
}

static void *load(const char *path, const char *how)
{
	if (!strcmp(how, "dlmopen"))
		return dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
}

int main(int argc, char **argv)
{
	void (*work)(void);
	void *library;

	must(argc == 3, "usage");
	library = load(argv[1], argv[2]);
	must(library != NULL, argv[1]);
	work = (void (*)(void))dlsym(library, "plugin_work");
	must(work != NULL, "plugin_work");
	ready();
	for (int i = 0; i < 7; i++)
		host_leak();
	work();
	leaks("host_leak", 7, 504);
	leaks("plugin_leak", 5, 240);
	marker();
	ready();
	return 0;
}
