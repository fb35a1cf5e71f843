// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions that a static memleak links instead of those of GnuTLS and of libdw's client of
 * debuginfod. libmicrohttpd initializes GnuTLS, which memleak does not use; libdw's client would
 * load libdebuginfod with dlopen() at the start of each process.
 */
#include <stddef.h>

int gnutls_global_init(void);
int gnutls_global_init(void)
{
	return 0;
}

void gnutls_global_deinit(void);
void gnutls_global_deinit(void)
{
}

extern void *(*gnutls_malloc)(size_t size);
void *(*gnutls_malloc)(size_t size);

int __libdwfl_debuginfod_find_executable(void *dwfl, const unsigned char *id, size_t id_bytes);
int __libdwfl_debuginfod_find_executable(void *dwfl, const unsigned char *id, size_t id_bytes)
{
	return -1;
}

int __libdwfl_debuginfod_find_debuginfo(void *dwfl, const unsigned char *id, size_t id_bytes);
int __libdwfl_debuginfod_find_debuginfo(void *dwfl, const unsigned char *id, size_t id_bytes)
{
	return -1;
}

void __libdwfl_debuginfod_end(void *client);
void __libdwfl_debuginfod_end(void *client)
{
}
