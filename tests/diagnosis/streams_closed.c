// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: streams of files, directories and commands are closed after use.
// expect: nothing
#include <dirent.h>

#include "server.h"

static void read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[200];

	must(file && fgets(line, sizeof(line), file), "read");
	fclose(file);
}

static void read_directory(const char *path)
{
	DIR *directory = opendir(path);

	while (readdir(directory))
		;
	closedir(directory);
}

void handle_request(unsigned int number)
{
	read_file("/etc/passwd");
	read_directory("/etc");
	if (number % 40 == 0)
		pclose(popen("true", "r"));
}
