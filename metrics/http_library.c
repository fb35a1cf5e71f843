// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads libmicrohttpd and looks up its functions. */
#include "metrics/http_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>

#ifdef MEMLEAK_STATIC

int http_library_load(struct http_library *ret)
{
#define USE(name) ret->name = MHD_##name
	HTTP_FUNCTIONS(USE);
	return 0;
}

#else

/* Loads the library. Never unloads it, because GnuTLS may have registered exit handlers. */
int http_library_load(struct http_library *ret)
{
	struct http_library library;
	bool found = true;
	void *handle = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return -ELIBACC;
#define FIND(name) found &= !!(library.name = dlsym(handle, "MHD_" #name))
	HTTP_FUNCTIONS(FIND);
	if (!found)
		return -ELIBACC;
	*ret = library;
	return 0;
}

#endif
