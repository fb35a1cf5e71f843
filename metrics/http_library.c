// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads libmicrohttpd and looks up its functions. */
#include "metrics/http_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

/* Loads the library. Never unloads it, because GnuTLS may have registered exit handlers. */
int http_library_load(struct http_library *ret)
{
	struct http_library library;
	const struct {
		const char *name;
		void *function;
	} wanted[] = {
		{"MHD_add_response_header", &library.add_response_header},
		{"MHD_create_response_from_buffer", &library.create_response_from_buffer},
		{"MHD_create_response_from_buffer_with_free_callback_cls",
		 &library.create_response_from_buffer_with_free_callback_cls},
		{"MHD_destroy_response", &library.destroy_response},
		{"MHD_get_connection_values", &library.get_connection_values},
		{"MHD_get_daemon_info", &library.get_daemon_info},
		{"MHD_get_timeout", &library.get_timeout},
		{"MHD_lookup_connection_value", &library.lookup_connection_value},
		{"MHD_queue_response", &library.queue_response},
		{"MHD_run", &library.run},
		{"MHD_start_daemon", &library.start_daemon},
		{"MHD_stop_daemon", &library.stop_daemon},
	};
	void *handle = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return -ELIBACC;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		*(void **)wanted[i].function = dlsym(handle, wanted[i].name);
		if (!*(void **)wanted[i].function)
			return -ELIBACC;
	}
	*ret = library;
	return 0;
}
