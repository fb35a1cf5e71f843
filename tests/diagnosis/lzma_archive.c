// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: an lzma encoder for each archived day.
// expect: archive_day through lzma_easy_encoder or lzma_code
// library: liblzma (liblzma-dev)
#include <lzma.h>

#include "server.h"

unsigned int requests_per_s = 10;

static uint64_t archive_day(const uint8_t *data, size_t size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	uint8_t out[1000];

	must(lzma_easy_encoder(&stream, 0, LZMA_CHECK_CRC32) == LZMA_OK, "lzma"); // LEAK
	stream.next_in = data;
	stream.avail_in = size;
	stream.next_out = out;
	stream.avail_out = sizeof(out);
	lzma_code(&stream, LZMA_FINISH); // LEAK
	return stream.total_out;
}

void handle_request(unsigned int number)
{
	static const uint8_t day[500];

	if (number % 5 == 0)
		must(archive_day(day, sizeof(day)) > 0, "archive");
}
