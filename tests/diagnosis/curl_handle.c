// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: a curl handle for each fetch.
// expect: fetch_page through curl_easy_init or curl_easy_perform
// library: libcurl (libcurl4-openssl-dev)
#include <curl/curl.h>

#include "server.h"

unsigned int requests_per_s = 10;

void start_up(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

static size_t ignore(char *data, size_t size, size_t cnt, void *to)
{
	return size * cnt;
}

static CURLcode fetch_page(void)
{
	CURL *handle = curl_easy_init(); // LEAK

	curl_easy_setopt(handle, CURLOPT_URL, "file:///etc/hostname"); // LEAK
	curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, ignore);
	return curl_easy_perform(handle); // LEAK
}

void handle_request(unsigned int number)
{
	must(fetch_page() == CURLE_OK, "fetch");
}
