// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * reload FOLDER ROUNDS EACH: in each of ROUNDS rounds, loads the next EACH of the libraries 0.so,
 * 1.so and so on in FOLDER. The last library that a round loads leaks. All libraries are unloaded
 * before the next round.
 */
#include <dlfcn.h>

#include "truth.h"

#define EACH_MAX 256

static void *load(const char *folder, int number)
{
	char path[512];
	void *library;

	snprintf(path, sizeof(path), "%s/%d.so", folder, number);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	must(library != NULL, path);
	return library;
}

int main(int argc, char **argv)
{
	void *libraries[EACH_MAX];
	int rounds, each;

	must(argc == 4, "usage");
	rounds = atoi(argv[2]);
	each = atoi(argv[3]);
	must(each > 0 && each <= EACH_MAX, "usage");
	ready();
	for (int round = 0; round < rounds; round++) {
		void (*work)(void);

		for (int i = 0; i < each; i++)
			libraries[i] = load(argv[1], round * each + i);
		ready();
		work = (void (*)(void))dlsym(libraries[each - 1], "plugin_work");
		must(work != NULL, "plugin_work");
		work();
		ready();
		for (int i = 0; i < each && round + 1 < rounds; i++)
			must(dlclose(libraries[i]) == 0, "dlclose");
	}
	return 0;
}
