// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the result of a libuv request is not cleaned up.
// expect: resolve_root through uv_fs_realpath
// library: libuv (libuv1-dev)
#include <uv.h>

#include "server.h"

static bool resolve_root(const char *path)
{
	uv_fs_t request;

	return uv_fs_realpath(uv_default_loop(), &request, path, NULL) == 0; // LEAK
}

void handle_request(unsigned int number)
{
	must(resolve_root("/etc/../usr/share"), "resolve");
}
