// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the TLS state of each closed connection.
// expect: accept_connection
// library: openssl (libssl-dev)
#include <openssl/ssl.h>

#include "server.h"

unsigned int requests_per_s = 20;

static SSL_CTX *context;

void start_up(void)
{
	context = SSL_CTX_new(TLS_server_method());
}

static int accept_connection(void)
{
	SSL *connection = SSL_new(context); // LEAK

	SSL_set_bio(connection, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem())); // LEAK
	return SSL_accept(connection);                                       // LEAK
}

void handle_request(unsigned int number)
{
	must(accept_connection() < 0, "wait for a client");
}
