/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses [ADDR:]PORT or unix:PATH[,mode=MODE], the argument of --listen. Addresses are numeric;
 * host names are not resolved.
 */
#ifndef OPTIONS_LISTEN_ADDRESS_H
#define OPTIONS_LISTEN_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

struct listen_address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_un local;
	};
	socklen_t len; /* 0 if there is no address */
	mode_t mode;   /* permissions of a Unix socket */
};

/*
 * Parses an address. A port alone is on 127.0.0.1; an IPv6 address is in brackets; port 0 is any
 * free port. The mode is octal and defaults to 0600. Returns 0, -EINVAL, or -ENAMETOOLONG if the
 * path does not fit into a socket address.
 */
int listen_address_parse(const char *text, struct listen_address *ret);

/* True if the address cannot be reached from other machines. */
bool listen_address_is_loopback(const struct listen_address *address);

/* Prints the address as in a URL, or as "unix:PATH". */
#define LISTEN_ADDRESS_SIZE (sizeof("unix:") + sizeof(((struct sockaddr_un *)0)->sun_path))
void listen_address_print(const struct listen_address *address, char ret[LISTEN_ADDRESS_SIZE]);

#endif
