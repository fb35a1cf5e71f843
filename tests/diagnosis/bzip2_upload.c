// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the decompressor is not freed if an upload is damaged.
// expect: unpack_upload through BZ2_bzDecompressInit or BZ2_bzDecompress
// library: -lbz2 (libbz2-dev)
#include <bzlib.h>

#include "server.h"

static bool unpack_upload(char *data, unsigned int size)
{
	bz_stream stream = {.next_in = data, .avail_in = size};
	char out[100];
	int code;

	BZ2_bzDecompressInit(&stream, 0, 1); // LEAK
	stream.next_out = out;
	stream.avail_out = sizeof(out);
	code = BZ2_bzDecompress(&stream); // LEAK
	if (code != BZ_OK && code != BZ_STREAM_END)
		return false;
	BZ2_bzDecompressEnd(&stream);
	return true;
}

void handle_request(unsigned int number)
{
	char upload[] = "BZh91AY&SY";

	if (number % 3 == 0)
		upload[0] = 'X';
	unpack_upload(upload, sizeof(upload) - 1);
}
