/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads an ELF file's build id and the names of its separate debug files. Runs in the helper. */
#ifndef SYMBOLIZER_SERVER_DEBUG_FACTS_H
#define SYMBOLIZER_SERVER_DEBUG_FACTS_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct debug_facts {
	char *build_id; /* in hex; NULL if there is none */
	bool has_dwarf;
	char *link_name; /* file name in .gnu_debuglink; NULL if there is none */
	uint32_t link_crc;
	char *alternate_name; /* file name in .gnu_debugaltlink; NULL if there is none */
	char *alternate_id;   /* build id in .gnu_debugaltlink, in hex; or NULL */
};

/*
 * Reads the build id and the debug links of an ELF file. What the file lacks stays 0 or NULL. Fails
 * only with -ENOMEM.
 */
int debug_facts_init(Elf *elf, struct debug_facts *ret);
void debug_facts_deinit(struct debug_facts *facts);

/*
 * Converts a build id to hex, in memory from malloc(). Returns NULL if the build id is empty or
 * longer than BUILD_ID_BYTES_MAX, or if out of memory.
 */
char *build_id_hex(const void *id, size_t len);

/* Computes the CRC of a file, as in .gnu_debuglink. Returns 0 or a negative errno. */
int debug_facts_crc(int fd, uint32_t *ret);

#endif
