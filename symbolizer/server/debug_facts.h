/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an ELF file says of itself and of the debug files that belong to it. Runs in the helper.
 */
#ifndef SYMBOLIZER_SERVER_DEBUG_FACTS_H
#define SYMBOLIZER_SERVER_DEBUG_FACTS_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct debug_facts {
	char *build_id; /* hex; NULL: none */
	bool has_dwarf;
	char *link_name; /* .gnu_debuglink; NULL: none */
	uint32_t link_crc;
	char *alternate_name; /* .gnu_debugaltlink; NULL: none */
	char *alternate_id;   /* hex */
};

/* Fails only with -ENOMEM. */
int debug_facts_init(Elf *elf, struct debug_facts *ret);
void debug_facts_deinit(struct debug_facts *facts);

/* In hex, from malloc; NULL for an id of no length or an absurd one, or without memory. */
char *build_id_hex(const void *id, size_t len);

/* The checksum that .gnu_debuglink has. 0 or a negative errno. */
int debug_facts_crc(int fd, uint32_t *ret);

#endif
