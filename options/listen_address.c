// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses and prints addresses to listen on. */
#include "options/listen_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static int parse_port(const char *text, in_port_t *ret)
{
	uint64_t port;

	if (number_parse(text, 0, UINT16_MAX, &port))
		return -EINVAL;
	*ret = htons((in_port_t)port);
	return 0;
}

static int parse_v4(const char *host, const char *port, struct listen_address *ret)
{
	ret->len = sizeof(ret->v4);
	ret->v4.sin_family = AF_INET;
	if (inet_pton(AF_INET, host, &ret->v4.sin_addr) != 1)
		return -EINVAL;
	return parse_port(port, &ret->v4.sin_port);
}

static int parse_v6(const char *host, const char *port, struct listen_address *ret)
{
	ret->len = sizeof(ret->v6);
	ret->v6.sin6_family = AF_INET6;
	if (inet_pton(AF_INET6, host, &ret->v6.sin6_addr) != 1)
		return -EINVAL;
	return parse_port(port, &ret->v6.sin6_port);
}

static int parse_mode(const char *text, mode_t *ret)
{
	char *end;
	unsigned long mode = strtoul(text, &end, 8);

	if (*text < '0' || *text > '7' || *end || mode > 0777)
		return -EINVAL;
	*ret = (mode_t)mode;
	return 0;
}

/* Parses the text that follows "unix:". */
static int parse_local(const char *text, struct listen_address *ret)
{
	struct listen_address address = {.local.sun_family = AF_UNIX,
					 .len = sizeof(address.local),
					 .mode = S_IRUSR | S_IWUSR};
	const char *comma = strstr(text, ",mode=");
	size_t len = comma ? (size_t)(comma - text) : strlen(text);

	if (!len || (comma && parse_mode(comma + strlen(",mode="), &address.mode)))
		return -EINVAL;
	if (len >= sizeof(address.local.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.local.sun_path, text, len);
	*ret = address;
	return 0;
}

int listen_address_parse(const char *text, struct listen_address *ret)
{
	const char *colon = strrchr(text, ':');
	bool brackets = *text == '[';
	const char *host = text + brackets;
	struct listen_address address = {0};
	char copy[INET6_ADDRSTRLEN];
	size_t len;
	int err;

	if (!strncmp(text, "unix:", strlen("unix:")))
		return parse_local(text + strlen("unix:"), ret);
	if (!colon) {
		err = parse_v4("127.0.0.1", text, &address);
	} else {
		len = (size_t)(colon - host);
		if (brackets && (len < 1 || host[--len] != ']'))
			return -EINVAL;
		if (len >= sizeof(copy))
			return -EINVAL;
		memcpy(copy, host, len);
		copy[len] = '\0';
		err = (brackets ? parse_v6 : parse_v4)(copy, colon + 1, &address);
	}
	if (!err)
		*ret = address;
	return err;
}

bool listen_address_is_loopback(const struct listen_address *address)
{
	if (address->any.sa_family == AF_UNIX)
		return true;
	if (address->any.sa_family == AF_INET)
		return ntohl(address->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
}

void listen_address_print(const struct listen_address *address, char ret[LISTEN_ADDRESS_SIZE])
{
	char host[INET6_ADDRSTRLEN];

	if (address->any.sa_family == AF_UNIX) {
		snprintf(ret, LISTEN_ADDRESS_SIZE, "unix:%s", address->local.sun_path);
	} else if (address->any.sa_family == AF_INET) {
		inet_ntop(AF_INET, &address->v4.sin_addr, host, sizeof(host));
		snprintf(ret, LISTEN_ADDRESS_SIZE, "%s:%u", host, ntohs(address->v4.sin_port));
	} else {
		inet_ntop(AF_INET6, &address->v6.sin6_addr, host, sizeof(host));
		snprintf(ret, LISTEN_ADDRESS_SIZE, "[%s]:%u", host, ntohs(address->v6.sin6_port));
	}
}
