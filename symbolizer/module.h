/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that code was mapped from, as the library sees it: open, and with the names that were
 * found in it. Only the server knows what is in the file.
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

/* One instruction or variable of a module. Lives as long as the module. */
struct name {
	enum name_kind kind;
	uint64_t offset; /* of the instruction, in the file; its address when there are anchors */
	uint64_t anchor; /* of a variable: server/protocol.h */
	bool exact;      /* offsets in frames are of this address, not of the next one */
	bool listed;     /* in the module's todo */
	enum name_level level;
	unsigned int generation; /* the module's when it was looked up */
	uint64_t vaddr;          /* of what is named; from NAME_SYMBOL on */
	struct sym_frame *frames;
	size_t frame_cnt;
};

/* A part of one of the kernel's files, which are not mapped as they are, at a known address. */
struct file_anchor {
	char *name; /* a section of a relocatable file, a symbol of another one */
	uint64_t addr;
};

struct module {
	struct file_version version;
	uint32_t id; /* in the list of modules */
	int fd;      /* -1: it is closed, or only a debug file is of use, that with the build id */
	bool closed; /* to save descriptors, or as nobody maps it: it can be opened again */
	uint64_t used;      /* when it was last wanted, as a number that grows */
	uint64_t mapped_ns; /* when a space was last seen to map it; CLOCK_MONOTONIC */
	char *path;         /* as the first process that maps it sees it */
	char *build_id;
	bool is_elf;               /* false: the helper said that it is none */
	enum name_level max_level; /* less than NAME_FULL once the helper ended over it */
	unsigned int deaths;       /* of helpers that worked on it */
	unsigned int generation;   /* counts debug files that were added */
	unsigned int incarnation;  /* of the helper that has it open; 0: none */

	/* With anchors the offsets of names are addresses. */
	struct file_anchor *anchors;
	size_t anchor_cnt;
	size_t anchor_cap;
	char **places; /* where the debug file may be; NULL: in the usual places */
	size_t place_cnt;
	size_t place_cap;

	struct file_need need;
	unsigned int candidate; /* the next place to look for what is needed */
	int offered_fd;         /* the helper is looking at it; -1: none */
	char *offered_path;     /* NULL: it has none */
	int debug_fd;           /* accepted ones, to be sent again to the next helper */
	int alternate_fd;
	char *debug_path;
	bool unused_noted;  /* it was logged why its DWARF is of no use */
	bool fetch_tried;   /* a debuginfod server was asked for what is needed */
	bool fetching;      /* and has not answered yet */
	int fetched_fd;     /* it has: to be offered; -1: none */
	bool fetch_awaited; /* one call has waited for it as long as it could */

	struct hash_map names[2];                 /* of code: [exact], by offset */
	struct hash_map variables[NAME_KIND_CNT]; /* by offset */
	struct name **todo;
	size_t todo_cnt;
	size_t todo_cap;
	void **blocks; /* everything that names ever pointed to */
	size_t block_cnt;
	size_t block_cap;
};

/* Takes fd over when it succeeds. */
int module__new(int fd, const struct file_version *version, const char *path, struct module **ret);
void module__free(struct module *module);

/* Closes the files of a module that can be opened again; its names stay. */
void module__close(struct module *module);

/* The name of an instruction, made empty when it is new. Fails only with -ENOMEM. */
int module__name(struct module *module, uint64_t offset, bool exact, struct name **ret);
/* The same of a variable, of a kind that is not code. */
int module__variable(struct module *module, enum name_kind kind, uint64_t offset, uint64_t anchor,
		     struct name **ret);
/* Puts a name that can still become better on the list. Fails only with -ENOMEM. */
int module__want(struct module *module, struct name *name);
/* Empties the list. */
void module__want_nothing(struct module *module);

/* Gives a name new frames, in one block that the module owns from now on. -ENOMEM. */
int module__set_frames(struct module *module, struct name *name, struct sym_frame *block,
		       size_t frame_cnt);

void file_need_deinit(struct file_need *need);

#endif
