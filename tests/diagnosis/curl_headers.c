// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the header list of each fetch.
// expect: add_headers through curl_slist_append
// library: libcurl (libcurl4-openssl-dev)
#include <curl/curl.h>

#include "server.h"

static CURL *handle;

void start_up(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
	handle = curl_easy_init();
}

static void add_headers(unsigned int number)
{
	struct curl_slist *headers = NULL;
	char token[64];

	snprintf(token, sizeof(token), "Authorization: Bearer %u", number);
	headers = curl_slist_append(headers, "Accept: application/json"); // LEAK
	headers = curl_slist_append(headers, token);                      // LEAK
	curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
}

void handle_request(unsigned int number)
{
	add_headers(number);
}
