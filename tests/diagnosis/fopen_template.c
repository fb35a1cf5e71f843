// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: a stdio stream for each template that is read.
// expect: read_template
#include "server.h"

unsigned int requests_per_s = 10;

static bool read_template(void)
{
	FILE *file = fopen("/etc/passwd", "r"); // LEAK
	char line[200];

	return file && fgets(line, sizeof(line), file); // LEAK
}

void handle_request(unsigned int number)
{
	must(read_template(), "read");
}
