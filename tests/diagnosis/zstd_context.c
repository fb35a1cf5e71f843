// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the compression context of each message.
// expect: pack_message through ZSTD_createCCtx or ZSTD_compressCCtx
// library: libzstd (libzstd-dev)
#include <zstd.h>

#include "server.h"

unsigned int requests_per_s = 10;

static size_t pack_message(const char *text, size_t size)
{
	ZSTD_CCtx *context = ZSTD_createCCtx(); // LEAK
	char out[1000];

	return ZSTD_compressCCtx(context, out, sizeof(out), text, size, 1); // LEAK
}

void handle_request(unsigned int number)
{
	static const char message[500];

	must(!ZSTD_isError(pack_message(message, sizeof(message))), "compress");
}
