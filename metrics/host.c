// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses and checks the Host header. */
#include "metrics/host.h"

#include <arpa/inet.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/number.h"

/* True if `text` is empty or has the form ":PORT" with a valid port. */
static bool is_port(const char *text)
{
	uint64_t port;

	if (!*text)
		return true;
	if (*text++ != ':')
		return false;
	return !number_take(&text, NULL, 10, &port) && !*text && port <= 65535;
}

static bool is_own_name(const char *name)
{
	char own[HOST_NAME_MAX + 1];

	if (gethostname(own, sizeof(own)))
		return false;
	own[HOST_NAME_MAX] = '\0';
	return *own && !strcasecmp(name, own);
}

bool host_is_ours(const char *host)
{
	bool brackets = host && *host == '[';
	char name[HOST_NAME_MAX + 1];
	unsigned char addr[16];
	size_t len;

	if (!host)
		return true;
	host += brackets;
	len = strcspn(host, brackets ? "]" : ":");
	if (len >= sizeof(name) || (brackets && host[len] != ']') ||
	    !is_port(host + len + brackets))
		return false;
	memcpy(name, host, len);
	name[len] = '\0';
	if (brackets)
		return inet_pton(AF_INET6, name, addr) == 1;
	return inet_pton(AF_INET, name, addr) == 1 || !strcasecmp(name, "localhost") ||
	       is_own_name(name);
}
