// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads build ids, debug links (.gnu_debuglink) and alternate links (.gnu_debugaltlink). */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "symbolizer/server/debug_facts.h"
#include "symbolizer/server/protocol.h"

char *build_id_hex(const void *id, size_t len)
{
	const unsigned char *bytes = id;
	char *hex = len && len <= BUILD_ID_BYTES_MAX ? malloc(2 * len + 1) : NULL;

	for (size_t i = 0; hex && i < len; i++)
		sprintf(hex + 2 * i, "%02x", bytes[i]);
	return hex;
}

static char *copy_id(const void *id, ssize_t len, bool *no_memory)
{
	char *hex = len > 0 ? build_id_hex(id, (size_t)len) : NULL;

	*no_memory |= !hex && len > 0 && len <= BUILD_ID_BYTES_MAX;
	return hex;
}

static char *copy_name(const char *name, bool *no_memory)
{
	char *copy = strdup(name);

	if (!copy)
		*no_memory = true;
	return copy;
}

/* Reads .gnu_debugaltlink: a file name, a NUL, then the build id up to the section's end. */
static void read_alternate(Elf_Scn *scn, struct debug_facts *facts, bool *no_memory)
{
	Elf_Data *data = elf_rawdata(scn, NULL);
	const char *id;

	if (!data || !data->d_buf || facts->alternate_name)
		return;
	id = memchr(data->d_buf, '\0', data->d_size);
	if (!id)
		return;
	id++;
	facts->alternate_id =
		copy_id(id, data->d_size - (id - (const char *)data->d_buf), no_memory);
	if (facts->alternate_id)
		facts->alternate_name = copy_name(data->d_buf, no_memory);
}

static void read_sections(Elf *elf, struct debug_facts *facts, bool *no_memory)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, shdr.sh_name);
		if (!name)
			continue;
		if (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info"))
			facts->has_dwarf = true;
		else if (!strcmp(name, ".gnu_debugaltlink"))
			read_alternate(scn, facts, no_memory);
	}
}

int debug_facts_init(Elf *elf, struct debug_facts *ret)
{
	struct debug_facts facts = {0};
	bool no_memory = false;
	const void *id;
	const char *link;
	GElf_Word crc;
	ssize_t id_len = dwelf_elf_gnu_build_id(elf, &id);

	facts.build_id = copy_id(id, id_len, &no_memory);
	link = dwelf_elf_gnu_debuglink(elf, &crc);
	if (link) {
		facts.link_name = copy_name(link, &no_memory);
		facts.link_crc = crc;
	}
	read_sections(elf, &facts, &no_memory);
	if (no_memory) {
		debug_facts_deinit(&facts);
		return -ENOMEM;
	}
	*ret = facts;
	return 0;
}

void debug_facts_deinit(struct debug_facts *facts)
{
	free(facts->build_id);
	free(facts->link_name);
	free(facts->alternate_name);
	free(facts->alternate_id);
	*facts = (struct debug_facts){0};
}

int debug_facts_crc(int fd, uint32_t *ret)
{
	unsigned char buf[64 * 1024];
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t got;

	while ((got = pread(fd, buf, sizeof(buf), at)) > 0) {
		crc = crc32(crc, buf, got);
		at += got;
	}
	if (got < 0)
		return -errno;
	*ret = crc;
	return 0;
}
