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
	socklen_t len; /* length of the socket address in bytes; 0 for no address */
	mode_t mode;   /* mode (permissions) of the Unix socket */
};

/*
 * Parses an address. If only a port is given, the address is 127.0.0.1. An IPv6 address must be in
 * brackets. Port 0 stands for any free port. MODE is octal; its default is 0600. Returns 0,
 * -EINVAL, or -ENAMETOOLONG if PATH is too long for a socket address.
 */
int listen_address_parse(const char *text, struct listen_address *ret);

/* True if no other machine can connect to the address. */
bool listen_address_is_loopback(const struct listen_address *address);

/* Prints the address: as in a URL, or as "unix:PATH" for a Unix socket. */
#define LISTEN_ADDRESS_SIZE (sizeof("unix:") + sizeof(((struct sockaddr_un *)0)->sun_path))
void listen_address_print(const struct listen_address *address, char ret[LISTEN_ADDRESS_SIZE]);

#endif
