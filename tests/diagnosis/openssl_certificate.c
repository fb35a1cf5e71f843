// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: each peer's certificate is parsed and never freed.
// expect: check_peer
// library: libcrypto (libssl-dev)
#include <openssl/evp.h>
#include <openssl/x509.h>

#include "server.h"

static unsigned char *der;
static int der_size;

void start_up(void)
{
	EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
	X509 *own = X509_new();

	X509_set_version(own, 2);
	X509_gmtime_adj(X509_getm_notBefore(own), 0);
	X509_gmtime_adj(X509_getm_notAfter(own), 86400);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(own), "CN", MBSTRING_ASC,
				   (const unsigned char *)"peer.example", -1, -1, 0);
	X509_set_pubkey(own, key);
	must(X509_sign(own, key, EVP_sha256()) > 0, "make a certificate");
	der_size = i2d_X509(own, &der);
	X509_free(own);
	EVP_PKEY_free(key);
}

static bool check_peer(void)
{
	const unsigned char *at = der;
	X509 *peer = d2i_X509(NULL, &at, der_size); // LEAK
	char name[100];

	return X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, name, // LEAK
					 sizeof(name)) > 0;
}

void handle_request(unsigned int number)
{
	if (number % 2 == 0)
		must(check_peer(), "read a certificate");
}
