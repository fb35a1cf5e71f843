// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads files in /proc and /sys that describe the kernel. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc.h"
#include "symbolizer/kernel_files.h"
#include "symbolizer/server/debug_facts.h"
#include "symbolizer/server/protocol.h"

const struct kernel_roots kernel_roots_host = {.proc = "/proc", .sys = "/sys", .files = ""};

int kernel_file_read(const char *root, const char *path, char **ret, size_t *ret_len)
{
	cleanup_close int fd = -1;
	char *full;

	if (asprintf(&full, "%s/%s", root, path) < 0)
		return -ENOMEM;
	fd = open(full, O_RDONLY | O_CLOEXEC);
	free(full);
	return fd < 0 ? -errno : proc_read_fd(fd, ret, ret_len);
}

static const char *field_end(const char *at, const char *end)
{
	while (at < end && *at != ' ')
		at++;
	return at;
}

/* Parses a line such as "name 16384 1 user,user, Live 0xffffffffc0001000 (OE)". */
static bool split_module(const char *at, const char *end, struct loaded_module *ret)
{
	const char *fields[6], *space = at;
	size_t cnt = 0;

	for (; at < end && cnt < 6; at = space + 1) {
		fields[cnt++] = at;
		space = field_end(at, end);
	}
	if (cnt < 6)
		return false;
	/* Reject a line with an empty field: strtoull() would parse the next field instead. */
	for (size_t i = 0; i < cnt; i++)
		if (*fields[i] == ' ')
			return false;
	ret->name = fields[0];
	ret->name_len = field_end(fields[0], end) - fields[0];
	/* The newline at the end of the line stops strtoull(). */
	ret->start = strtoull(fields[5], NULL, 16);
	ret->end = ret->start ? ret->start + strtoull(fields[1], NULL, 10) : 0;
	return ret->end >= ret->start;
}

const char *loaded_module_next(const char *at, const char *end, struct loaded_module *ret)
{
	while (at < end) {
		const char *newline = memchr(at, '\n', end - at);
		bool is_module = newline && split_module(at, newline, ret);

		at = newline ? newline + 1 : end;
		if (is_module)
			return at;
	}
	return NULL;
}

/*
 * Finds the build id in ELF notes. Returns it in hex, or NULL if there is none or if out of memory.
 * A note consists of three numbers, a name and data; name and data are padded to 4 bytes.
 */
static char *find_build_id(const char *notes, size_t len)
{
	const size_t head = sizeof(Elf64_Nhdr);
	size_t at = 0;

	while (at + head <= len) {
		Elf64_Nhdr note;
		size_t name_len, id_len;

		memcpy(&note, notes + at, head);
		at += head;
		name_len = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		id_len = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		if (name_len > len - at || id_len > len - at - name_len)
			return NULL;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(notes + at, "GNU", 4) && note.n_descsz &&
		    note.n_descsz <= BUILD_ID_BYTES_MAX)
			return build_id_hex(notes + at + name_len, note.n_descsz);
		at += name_len + id_len;
	}
	return NULL;
}

char *kernel_build_id(const struct kernel_roots *roots, const char *module)
{
	char *path = NULL, *notes, *id = NULL;
	size_t len;
	int err;

	if (!module)
		err = kernel_file_read(roots->sys, "kernel/notes", &notes, &len);
	else if (strchr(module, '/') ||
		 asprintf(&path, "module/%s/notes/.note.gnu.build-id", module) < 0)
		return NULL;
	else
		err = kernel_file_read(roots->sys, path, &notes, &len);
	if (!err) {
		id = find_build_id(notes, len);
		free(notes);
	}
	free(path);
	return id;
}
