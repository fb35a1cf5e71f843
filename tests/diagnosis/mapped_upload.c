// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: each upload is received into a mapping; mappings of refused uploads are not unmapped.
// expect: receive_upload
#include <sys/mman.h>

#include "server.h"

unsigned int requests_per_s = 20;

static bool receive_upload(unsigned int number)
{
	size_t size = 4096 * (1 + number % 8);
	int access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;
	char *data = mmap(NULL, size, access, kind, -1, 0); // LEAK

	data[0] = (char)number;
	if (number % 4 == 1)
		return false;
	return !munmap(data, size);
}

void handle_request(unsigned int number)
{
	receive_upload(number);
}
