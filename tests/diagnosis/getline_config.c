// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the line buffer allocated by getline(), once per file.
// expect: read_first_line
#include "server.h"

static bool read_first_line(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t size = 0;
	char *line = NULL;
	bool done = file && getline(&line, &size, file) > 0; // LEAK

	if (file)
		fclose(file);
	return done;
}

void handle_request(unsigned int number)
{
	must(read_first_line("/etc/passwd"), "read");
}
