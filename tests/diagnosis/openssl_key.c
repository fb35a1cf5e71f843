// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: a signing key is created for each token and never freed.
// expect: sign_token through EVP_PKEY_new_raw_private_key
// library: libcrypto (libssl-dev)
#include <openssl/evp.h>

#include "server.h"

static size_t sign_token(unsigned int number)
{
	unsigned char secret[32] = {(unsigned char)number, 1}, signature[64];
	size_t size = sizeof(signature);
	EVP_PKEY *key;
	EVP_MD_CTX *context = EVP_MD_CTX_new();

	key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, sizeof(secret)); // LEAK
	must(EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1, "sign");
	EVP_DigestSign(context, signature, &size, (unsigned char *)&number, sizeof(number));
	EVP_MD_CTX_free(context);
	return size;
}

void handle_request(unsigned int number)
{
	must(sign_token(number) == 64, "sign");
}
