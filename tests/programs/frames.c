// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * frames FIRST SECOND HOW: loads the library FIRST, makes it leak, and unloads it. Then does the
 * same with the library SECOND, which is loaded at the same address. With HOW "wait", waits for a
 * byte before it unloads each library; "quick" does not wait; "churn" loads and unloads the two
 * libraries a hundred times, and then does what "quick" does.
 */
#include <dlfcn.h>

#include "truth.h"

static void *symbol(void *library, const char *name)
{
	void *address = dlsym(library, name);

	must(address != NULL, name);
	return address;
}

struct plugin {
	void *library;
	char *function; /* name of the leaking function; copied, because the library is unmapped */
	size_t size;
	const size_t *place; /* address of a variable that has the same offset in all libraries */
};

OWN_FRAME static void call_plugin(void (*work)(void))
{
	work();
	__asm__ volatile("");
}

OWN_FRAME static void use(struct plugin *plugin, char *room, const char *path)
{
	plugin->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	must(plugin->library != NULL, path);
	plugin->function = strcpy(room, (const char *)symbol(plugin->library, "plugin_function"));
	plugin->place = (const size_t *)symbol(plugin->library, "plugin_size");
	plugin->size = *plugin->place;
	call_plugin((void (*)(void))symbol(plugin->library, "plugin_work"));
}

static void tell(const struct plugin *plugins, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		leaks(plugins[i].function, 5, 5 * plugins[i].size);
	ready();
}

static void churn(char *const *paths)
{
	static char room[64];
	struct plugin plugin;

	for (int i = 0; i < 200; i++) {
		use(&plugin, room, paths[i % 2]);
		must(dlclose(plugin.library) == 0, "dlclose");
	}
	ready();
}

int main(int argc, char **argv)
{
	static char rooms[2][64];
	struct plugin plugins[2];
	int wait;

	must(argc == 4, "usage");
	wait = !strcmp(argv[3], "wait");
	ready();
	if (!strcmp(argv[3], "churn"))
		churn(&argv[1]);
	use(&plugins[0], rooms[0], argv[1]);
	if (wait)
		tell(plugins, 1);
	must(dlclose(plugins[0].library) == 0, "dlclose");
	use(&plugins[1], rooms[1], argv[2]);
	say("same %d\n", plugins[0].place == plugins[1].place);
	if (wait)
		tell(plugins, 2);
	must(dlclose(plugins[1].library) == 0, "dlclose");
	say("same %d\n", plugins[0].place == plugins[1].place);
	tell(plugins, 2);
	return 0;
}
