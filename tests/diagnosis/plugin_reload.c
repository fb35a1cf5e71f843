// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: a plugin is loaded again when its file changes, and the old one is never closed.
// expect: load_plugin
// library: zlib (zlib1g-dev)
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "server.h"

unsigned int requests_per_s = 10;

/* Writes a new plugin file, a copy of libz.so, to `path`. */
static void deploy(const char *path)
{
	int to = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600), from;
	char buffer[65536];
	Dl_info library;
	ssize_t size;

	must(dladdr((void *)crc32, &library), "find the library");
	from = open(library.dli_fname, O_RDONLY);
	while ((size = read(from, buffer, sizeof(buffer))) > 0)
		must(write(to, buffer, (size_t)size) == size, "copy");
	close(from);
	close(to);
}

static bool load_plugin(const char *path)
{
	void *plugin = dlopen(path, RTLD_NOW); // LEAK

	return plugin && dlsym(plugin, "zlibVersion");
}

void handle_request(unsigned int number)
{
	char path[64];

	if (number % 5)
		return;
	snprintf(path, sizeof(path), "/tmp/memleak-plugin-%d-%u.so", getpid(), number);
	deploy(path);
	must(load_plugin(path), "load");
	unlink(path);
}
