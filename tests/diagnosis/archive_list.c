// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the libarchive reader is not freed if an upload is not an archive.
// expect: list_upload through archive_read_new
// library: libarchive (libarchive-dev)
#include <archive.h>

#include "server.h"

unsigned int requests_per_s = 10;

static bool list_upload(const void *data, size_t size)
{
	struct archive *archive = archive_read_new(); // LEAK

	archive_read_support_format_tar(archive);                        // LEAK
	archive_read_support_filter_gzip(archive);                       // LEAK
	if (archive_read_open_memory(archive, data, size) != ARCHIVE_OK) // LEAK
		return false;
	archive_read_free(archive);
	return true;
}

void handle_request(unsigned int number)
{
	must(!list_upload("not an archive", 14), "refuse");
}
