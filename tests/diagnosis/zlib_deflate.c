// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the compressor state of each reply.
// expect: compress_reply through deflateInit_
// library: zlib (zlib1g-dev)
#include <zlib.h>

#include "server.h"

unsigned int requests_per_s = 10;

static size_t compress_reply(char *text, size_t size)
{
	z_stream stream = {.next_in = (unsigned char *)text, .avail_in = (unsigned int)size};
	unsigned char out[1000];

	deflateInit(&stream, Z_BEST_SPEED); // LEAK
	stream.next_out = out;
	stream.avail_out = sizeof(out);
	deflate(&stream, Z_FINISH);
	return stream.total_out;
}

void handle_request(unsigned int number)
{
	char text[500] = "hello";

	must(compress_reply(text, sizeof(text)) > 0, "compress");
}
