// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dlopen FILE HOW: loads a library and calls its plugin_work(). HOW: "stay" keeps the library
 * loaded; "unload" unloads it in the next phase, "fast_unload" immediately; "alloc" calls the
 * library's own malloc once for each byte read from stdin, and "new" calls the library's operator
 * new instead.
 */
#include <dlfcn.h>

#include "truth.h"

OWN_FRAME static void call_plugin(void (*work)(void))
{
	work();
	__asm__ volatile("");
}

OWN_FRAME static void foreign_alloc(void *(*alloc)(size_t))
{
	must(keep(alloc(56)) != NULL, "malloc of the library"); /* LEAK */
}

static void *symbol(void *library, const char *name)
{
	void *address = dlsym(library, name);

	must(address != NULL, name);
	return address;
}

int main(int argc, char **argv)
{
	void *library;

	must(argc == 3, "usage");
	ready();
	library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	must(library != NULL, argv[1]);
	if (!strcmp(argv[2], "alloc") || !strcmp(argv[2], "new")) {
		void *(*alloc)(size_t) = (void *(*)(size_t))symbol(
			library, strcmp(argv[2], "new") ? "malloc" : "_Znwm");

		for (;;) {
			ready();
			foreign_alloc(alloc);
		}
	}
	call_plugin((void (*)(void))symbol(library, "plugin_work"));
	leaks("plugin_leak", 5, 240);
	if (!strcmp(argv[2], "unload")) {
		ready();
		leaks("plugin_leak", 5, 240);
	}
	if (strcmp(argv[2], "stay"))
		must(dlclose(library) == 0, "dlclose");
	marker();
	ready();
	return 0;
}
