/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interface to libmicrohttpd, which is loaded at run time. The library depends on GnuTLS and other
 * libraries, so only the helper process that serves clients loads it. Knows nothing of pages.
 */
#ifndef METRICS_HTTP_LIBRARY_H
#define METRICS_HTTP_LIBRARY_H

#include <microhttpd.h>

struct http_library {
	__typeof__(MHD_add_response_header) *add_response_header;
	__typeof__(MHD_create_response_from_buffer) *create_response_from_buffer;
	__typeof__(MHD_create_response_from_buffer_with_free_callback_cls)
		*create_response_from_buffer_with_free_callback_cls;
	__typeof__(MHD_destroy_response) *destroy_response;
	__typeof__(MHD_get_connection_values) *get_connection_values;
	__typeof__(MHD_get_daemon_info) *get_daemon_info;
	__typeof__(MHD_get_timeout) *get_timeout;
	__typeof__(MHD_lookup_connection_value) *lookup_connection_value;
	__typeof__(MHD_queue_response) *queue_response;
	__typeof__(MHD_run) *run;
	__typeof__(MHD_start_daemon) *start_daemon;
	__typeof__(MHD_stop_daemon) *stop_daemon;
};

/* Returns 0, or -ELIBACC if version 12 of the library is not installed or lacks a function. */
int http_library_load(struct http_library *ret);

#endif
