/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interface to libmicrohttpd, which is loaded at run time. The library depends on GnuTLS and other
 * libraries, so only the helper process that serves clients loads it. A static memleak contains the
 * library, without GnuTLS. Knows nothing of pages.
 */
#ifndef METRICS_HTTP_LIBRARY_H
#define METRICS_HTTP_LIBRARY_H

#include <microhttpd.h>

#define HTTP_FUNCTIONS(function)                                                                   \
	function(add_response_header);                                                             \
	function(create_response_from_buffer);                                                     \
	function(create_response_from_buffer_with_free_callback_cls);                              \
	function(destroy_response);                                                                \
	function(get_connection_values);                                                           \
	function(get_daemon_info);                                                                 \
	function(get_timeout);                                                                     \
	function(lookup_connection_value);                                                         \
	function(queue_response);                                                                  \
	function(run);                                                                             \
	function(start_daemon);                                                                    \
	function(stop_daemon)

#define HTTP_MEMBER(name) __typeof__(MHD_##name) *name

struct http_library {
	HTTP_FUNCTIONS(HTTP_MEMBER);
};

/* Returns 0, or -ELIBACC if version 12 of the library is not installed or lacks a function. */
int http_library_load(struct http_library *ret);

#endif
