/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that was mapped, as the library sees it: its descriptors, and the names found in it. Only
 * the server parses the file.
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

/* The name of one instruction or variable of a module. Lives as long as the module. */
struct name {
	enum name_kind kind;
	uint64_t offset; /* file offset of the instruction; an address if the module has anchors */
	uint64_t anchor; /* for variables: anchor as in server/protocol.h */
	bool exact;      /* frame offsets are relative to this address, not to the next one */
	bool listed;     /* on the module's todo list */
	enum name_level level;
	unsigned int generation; /* the module's generation at the time of the lookup */
	uint64_t vaddr;          /* ELF virtual address of what is named; set from NAME_SYMBOL on */
	struct sym_frame *frames;
	size_t frame_cnt;
};

/*
 * The load address of a section or symbol of a kernel file, since kernel files are not mapped as
 * they are on disk.
 */
struct file_anchor {
	char *name; /* a section of a relocatable file, a symbol of any other file */
	uint64_t addr;
};

struct module {
	struct file_version version;
	uint32_t id; /* index in the list of modules */
	/* file descriptor; -1 if closed, or if only a debug file with the build id is of use */
	int fd;
	bool closed; /* closed to save descriptors, or because no space maps it; can be reopened */
	uint64_t used;      /* sequence number of the latest use */
	uint64_t mapped_ns; /* time when a space was last seen to map it; CLOCK_MONOTONIC */
	char *path;         /* path as seen by the first process that maps it */
	char *build_id;
	bool is_elf;               /* false if the helper said that it is not an ELF file */
	enum name_level max_level; /* less than NAME_FULL if the helper ended over it */
	unsigned int deaths;       /* number of helpers that ended while working on it */
	unsigned int generation;   /* number of debug files added */
	/* number of the helper process that has it open; 0 if there is none */
	unsigned int incarnation;

	/* With anchors, offsets of names are addresses. */
	struct file_anchor *anchors;
	size_t anchor_cnt;
	size_t anchor_cap;
	char **places; /* where the debug file may be; NULL for the usual places */
	size_t place_cnt;
	size_t place_cap;

	struct file_need need;
	unsigned int candidate; /* index of the next place to look for the needed file */
	int offered_fd;         /* debug file that the helper is checking; -1 if there is none */
	char *offered_path;     /* path of the offered file; NULL if it has none */
	int debug_fd;           /* accepted debug files, to be sent again to the next helper */
	int alternate_fd;
	char *debug_path;
	bool unused_noted;  /* the log already says why its DWARF is not used */
	bool fetch_tried;   /* debuginfod servers were asked for the needed file */
	bool fetching;      /* a download is in progress */
	int fetched_fd;     /* downloaded file, to be offered to the helper; -1 if there is none */
	bool fetch_awaited; /* one call has already waited its full time for the download */

	struct hash_map names[2]; /* names of code at [exact], keyed by offset */
	/* names of variables at [kind], keyed by offset */
	struct hash_map variables[NAME_KIND_CNT];
	struct name **todo;
	size_t todo_cnt;
	size_t todo_cap;
	void **blocks; /* all memory that names ever pointed to */
	size_t block_cnt;
	size_t block_cap;
};

/* Adds a module. Takes over fd on success. */
int module__new(int fd, const struct file_version *version, const char *path, struct module **ret);
void module__free(struct module *module);

/* Closes the files of a module that can be reopened. Its names stay. */
void module__close(struct module *module);

/* Returns the entry (struct name) for the code at an offset. If there is none yet, adds one that
 * has not been looked up. Fails only with -ENOMEM. */
int module__name(struct module *module, uint64_t offset, bool exact, struct name **ret);
/* Returns the name of a variable, adding an empty one if needed; kind is not NAME_OF_CODE. */
int module__variable(struct module *module, enum name_kind kind, uint64_t offset, uint64_t anchor,
		     struct name **ret);
/* Puts a name that could still be improved on the todo list. Fails only with -ENOMEM. */
int module__want(struct module *module, struct name *name);
/* Empties the todo list. */
void module__want_nothing(struct module *module);

/* Replaces a name's frames. block becomes owned by the module. Fails with -ENOMEM. */
int module__set_frames(struct module *module, struct name *name, struct sym_frame *block,
		       size_t frame_cnt);

void file_need_deinit(struct file_need *need);

#endif
