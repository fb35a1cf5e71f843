/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file of a process or of the kernel: its descriptors, and the names that were found in it. Only
 * the helper in symbolizer/server parses the file.
 */
#ifndef SYMBOLIZER_MODULE_H
#define SYMBOLIZER_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file_id.h"
#include "base/hash_map.h"
#include "symbolizer/frame.h"
#include "symbolizer/server/protocol.h"

/* The address of an instruction or variable in a module, with its name. Freed with the module. */
struct name {
	enum name_kind kind;
	/* offset as in server/protocol.h; for code, a file offset or load address */
	uint64_t offset;
	uint64_t anchor; /* anchor as in server/protocol.h; used only for variables */
	/*
	 * False for a return address: then `offset` is that of the byte before it, which is part of
	 * the call; but the offsets in `frames` are those of the return address.
	 */
	bool exact;
	bool listed; /* true if the name is on the module's todo list */
	enum name_level level;
	unsigned int generation; /* module->generation at the time of the lookup */
	/* ELF virtual address of the instruction or variable; valid unless `level` is NAME_NONE */
	uint64_t vaddr;
	struct sym_frame *frames;
	size_t frame_cnt;
};

/*
 * The load address of a section or symbol of vmlinux or a kernel module. Needed because the kernel
 * does not load these files to the addresses that they state.
 */
struct file_anchor {
	char *name; /* name of a section (relocatable file) or symbol (any other file) */
	uint64_t addr;
};

struct module {
	struct file_version version;
	uint32_t id; /* index of the module in opened_modules.items */
	int fd;      /* -1 if the file is closed, or if only its debug file is used */
	/*
	 * true if the file was closed because too many were open, or no address space maps it any
	 * longer; it can be opened again
	 */
	bool closed;
	uint64_t used;      /* sequence number of the latest use; 0 for kernel files */
	uint64_t mapped_ns; /* CLOCK_MONOTONIC time when an address space last mapped the file */
	char *path;         /* path as seen by the first process that mapped the file */
	char *build_id;
	bool is_elf; /* true if the file is ELF or was not checked yet */
	/* highest level to request; below NAME_FULL if a helper crashed or hung on a higher one */
	enum name_level max_level;
	unsigned int deaths;     /* number of helpers that ended while working on the module */
	unsigned int generation; /* number of debug files added to the module */
	/* incarnation (helper.incarnation) of the helper that has the file open; 0 if none has */
	unsigned int incarnation;

	/*
	 * load addresses of sections or symbols of a kernel file; if there are any, name.offset is
	 * a load address, not a file offset
	 */
	struct file_anchor *anchors;
	size_t anchor_cnt;
	size_t anchor_cap;
	/* paths where the debug file may be; if NULL, debug_file.c searches the usual places */
	char **places;
	size_t place_cnt;
	size_t place_cap;

	struct file_need need;
	/* index of the next candidate for the file `need`, see debug_file_open() */
	unsigned int candidate;
	int offered_fd;     /* debug file that the helper is checking; -1 if there is none */
	char *offered_path; /* path of the file offered_fd; NULL if it has none */
	/* debug files that a helper has accepted, or -1; also sent to later helpers */
	int debug_fd;
	int alternate_fd;
	char *debug_path;
	bool unused_noted; /* true if it was logged why the file's DWARF is not used */
	bool fetch_tried;  /* true if a download of the file `need` was requested */
	bool fetching;     /* true while a download of the file `need` is pending */
	int fetched_fd;    /* downloaded debug file not yet offered to the helper, or -1 */
	/* true if a lookup has waited for this download in vain: do not wait again */
	bool fetch_awaited;

	struct hash_map names[2]; /* names of code: names[exact], keyed by offset */
	/* names of variables: variables[kind], keyed by offset */
	struct hash_map variables[NAME_KIND_CNT];
	struct name **todo;
	size_t todo_cnt;
	size_t todo_cap;
	void **blocks; /* memory of all present and former frames of names */
	size_t block_cnt;
	size_t block_cap;
};

/* Takes over fd on success. */
int module__new(int fd, const struct file_version *version, const char *path, struct module **ret);
void module__free(struct module *module);

/* Closes the files of a module, which can be opened again, but keeps the names found in them. */
void module__close(struct module *module);

/*
 * Sets *ret to the struct name of the code at `offset`, which is created if needed. Does not look
 * up the name. Fails only with -ENOMEM.
 */
int module__name(struct module *module, uint64_t offset, bool exact, struct name **ret);
/*
 * Sets *ret to the struct name of a variable, which is created if needed. Does not look up the
 * name. `kind` is not NAME_OF_CODE. Fails only with -ENOMEM.
 */
int module__variable(struct module *module, enum name_kind kind, uint64_t offset, uint64_t anchor,
		     struct name **ret);
/*
 * Puts a name on the list of names to look up (the todo list), unless it is already there. Fails
 * only with -ENOMEM.
 */
int module__want(struct module *module, struct name *name);
/* Empties the module's todo list. */
void module__want_nothing(struct module *module);

/*
 * Sets the frames of a name to `block`, which the module takes over. Former frames stay valid.
 * Fails with -ENOMEM.
 */
int module__set_frames(struct module *module, struct name *name, struct sym_frame *block,
		       size_t frame_cnt);

void file_need_deinit(struct file_need *need);

#endif
