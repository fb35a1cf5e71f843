// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: a directory is searched for a file and never closed.
// expect: find_upload
#include <dirent.h>

#include "server.h"

unsigned int requests_per_s = 10;

static bool find_upload(const char *name)
{
	DIR *directory = opendir("/etc"); // LEAK
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (!strcmp(entry->d_name, name))
			return true;
	return false;
}

void handle_request(unsigned int number)
{
	must(find_upload("passwd"), "find");
}
