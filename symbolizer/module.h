/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file of a process or of the kernel: its descriptors, and the names found in it. Only the server
 * parses the file.
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

/*
 * The address of an instruction or variable in a module, with the name found for it. Lives as long
 * as the module.
 */
struct name {
	enum name_kind kind;
	uint64_t offset; /* file offset of the instruction; an address if the module has anchors */
	uint64_t anchor; /* for variables: anchor as in server/protocol.h */
	/*
	 * True for the address of an instruction, false for a return address. For a return address,
	 * `offset` is one byte before it, within the call, but the offsets in `frames` refer to the
	 * return address itself.
	 */
	bool exact;
	bool listed; /* the name is on the module's todo list */
	enum name_level level;
	unsigned int generation; /* module->generation at the time of the lookup */
	/* ELF virtual address of the instruction or variable; valid from NAME_SYMBOL on */
	uint64_t vaddr;
	struct sym_frame *frames;
	size_t frame_cnt;
};

/*
 * The load address of a section or symbol of a kernel file. Kernel files are not mapped as they are
 * on disk.
 */
struct file_anchor {
	char *name; /* name of a section (relocatable file) or symbol (any other file) */
	uint64_t addr;
};

struct module {
	struct file_version version;
	uint32_t id; /* index in the list of modules */
	/* file descriptor; -1 if closed, or if only a debug file is wanted */
	int fd;
	/*
	 * the file was closed, either because too many files were open, or because no address
	 * space mapped it any longer; it can be reopened
	 */
	bool closed;
	uint64_t used;      /* sequence number of the module's latest use */
	uint64_t mapped_ns; /* latest time (CLOCK_MONOTONIC) at which a space mapped the file */
	char *path;         /* path as seen by the first process that mapped the file */
	char *build_id;
	bool is_elf; /* the file is ELF, or the helper has not checked it yet */
	/*
	 * highest level that may be requested; lower than NAME_FULL if a helper ended or hung at a
	 * higher level
	 */
	enum name_level max_level;
	unsigned int deaths;     /* number of helpers that ended while working on the module */
	unsigned int generation; /* number of debug files added to the module */
	/* incarnation of the helper that has the file open; 0 if none has */
	unsigned int incarnation;

	/*
	 * Load addresses of sections or symbols of a kernel file. If there are any, the offsets of
	 * names are load addresses, too.
	 */
	struct file_anchor *anchors;
	size_t anchor_cnt;
	size_t anchor_cap;
	char **places; /* paths where the debug file may be; NULL for the usual places */
	size_t place_cnt;
	size_t place_cap;

	struct file_need need;
	unsigned int candidate; /* index of the next place to search for the needed debug file */
	/* descriptor of the debug file that the helper is checking; -1 if there is none */
	int offered_fd;
	char *offered_path; /* path of the offered file; NULL if it has none */
	/* descriptors of the accepted debug files, which are also sent to the next helper */
	int debug_fd;
	int alternate_fd;
	char *debug_path;
	bool unused_noted; /* the log already says why the file's DWARF is not used */
	bool fetch_tried;  /* debuginfod servers were asked for the needed file */
	bool fetching;     /* a download is in progress */
	/* downloaded debug file that was not yet offered to the helper; -1 if there is none */
	int fetched_fd;
	bool fetch_awaited; /* a call has already waited until its deadline for this download */

	struct hash_map names[2]; /* names of code: at index `exact`, keyed by offset */
	/* names of variables: at index `kind`, keyed by offset */
	struct hash_map variables[NAME_KIND_CNT];
	struct name **todo;
	size_t todo_cnt;
	size_t todo_cap;
	void **blocks; /* memory of the present and former frames of all names */
	size_t block_cnt;
	size_t block_cap;
};

/* Creates a module. Takes over fd on success. */
int module__new(int fd, const struct file_version *version, const char *path, struct module **ret);
void module__free(struct module *module);

/* Closes the files of a module, which can be reopened later. Keeps the names found in them. */
void module__close(struct module *module);

/*
 * Returns the struct name of the code at a file offset. If there is none, creates it, without
 * looking up the name. Fails only with -ENOMEM.
 */
int module__name(struct module *module, uint64_t offset, bool exact, struct name **ret);
/*
 * Returns the struct name of a variable. If there is none, creates it, without looking up the name.
 * kind is not NAME_OF_CODE.
 */
int module__variable(struct module *module, enum name_kind kind, uint64_t offset, uint64_t anchor,
		     struct name **ret);
/* Puts a name on the module's todo list, unless it is already there. Fails only with -ENOMEM. */
int module__want(struct module *module, struct name *name);
/* Empties the module's todo list. */
void module__want_nothing(struct module *module);

/*
 * Replaces the frames of a name. The module takes over `block`, the memory of the new frames. Fails
 * with -ENOMEM.
 */
int module__set_frames(struct module *module, struct name *name, struct sym_frame *block,
		       size_t frame_cnt);

void file_need_deinit(struct file_need *need);

#endif
