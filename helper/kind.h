/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a helper is. */
#ifndef HELPER_KIND_H
#define HELPER_KIND_H

enum helper_rights {
	HELPER_KEEPS_RIGHTS,
	HELPER_DROPS_RIGHTS, /* confine.h */
	HELPER_SERVES, /* the same, but it may answer who connects to a socket that it is given */
};

/* Constant, and the same for all of its kind. */
struct helper_kind {
	const char *name; /* 15 bytes of it are shown */
	enum helper_rights rights;
	void (*prepare)(void); /* before rights go; NULL: there is nothing to do */
	void (*work)(int sock);
	int niceness; /* less than 0: it goes before others, where that is allowed */
};

/*
 * Lists a kind, by which the starter knows it: requests name kinds by their index in the list. The
 * linker gathers the entries of all files.
 */
#define HELPER_KIND(kind)                                                                          \
	static const struct helper_kind *const kind##_entry                                        \
		__attribute__((section("helper_kinds"), used)) = &(kind)

#endif
