// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: TLS connections that last 3 s and are freed when they close.
// expect: nothing
// library: openssl (libssl-dev)
#include <openssl/ssl.h>

#include "server.h"

unsigned int requests_per_s = 10;

static SSL_CTX *context;
static SSL *connections[30];

void start_up(void)
{
	context = SSL_CTX_new(TLS_server_method());
}

static SSL *accept_connection(void)
{
	SSL *connection = SSL_new(context);

	SSL_set_bio(connection, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	SSL_accept(connection);
	return connection;
}

void handle_request(unsigned int number)
{
	SSL **place = &connections[number % CNT(connections)];

	SSL_free(*place);
	*place = accept_connection();
}
