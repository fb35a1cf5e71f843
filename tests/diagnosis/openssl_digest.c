// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the digest context is not freed if a body is too short.
// expect: hash_body
// library: libcrypto (libssl-dev)
#include <openssl/evp.h>

#include "server.h"

static bool hash_body(const char *body, size_t size)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new(); // LEAK
	unsigned char digest[EVP_MAX_MD_SIZE];

	EVP_DigestInit_ex(context, EVP_sha256(), NULL); // LEAK
	EVP_DigestUpdate(context, body, size);
	EVP_DigestFinal_ex(context, digest, NULL);
	if (size < 30)
		return false;
	EVP_MD_CTX_free(context);
	return true;
}

void handle_request(unsigned int number)
{
	static const char body[100];

	hash_body(body, random_below(sizeof(body)));
}
