/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ELF files that a process has mapped, in the order in which its dynamic loader looks up
 * symbols. All data comes from the process, so it is checked. Knows nothing of probes.
 */
#ifndef LOADER_TARGET_MODULES_H
#define LOADER_TARGET_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/file_id.h"

struct module {
	int fd; /* the file; opened through /proc, which works in any mount namespace */
	struct file_id id;
	char *path; /* path in the process's view; only for messages */
};

/* Range of a file's code that was moved to anonymous memory; see struct mapping. */
struct moved_code {
	size_t module;  /* index of the module */
	uint64_t start; /* offset in the file */
	uint64_t end;
};

struct module_list {
	struct module *items;
	size_t cnt;
	size_t cap;
	struct moved_code *moved;
	size_t moved_cnt;
	size_t moved_cap;
	/*
	 * Number of modules at the beginning of the list that were loaded at startup. They are
	 * never unloaded.
	 */
	size_t permanent_cnt;
	bool no_files; /* true if files are missing because descriptors ran out */
	char *unread;  /* path of the first unreadable file; NULL if there is none */
	/*
	 * Reason why the file `unread` is unreadable, as a negative errno; -EREMOTE if a process
	 * serves the file (FUSE).
	 */
	int unread_err;
	/* true if the program is static, or a dynamic loader whose list could not be read */
	bool is_static;
	bool is_consistent; /* true if the dynamic loader is not changing its list at the moment */
	/*
	 * Index of the module with the hook that the dynamic loader calls when its list changes; -1
	 * if unknown.
	 */
	ssize_t hook_module;
	/* offset of the hook in the file, as stated by the process: it may be anywhere in code */
	uint64_t hook_offset;
	uint64_t r_debug;  /* address of the dynamic loader's r_debug; 0 if unknown */
	uint64_t asked_ns; /* time spent reading memory and examining files */
	bool unasked;      /* true if memory or files were not read because the time limit was 0 */
	bool hangs;        /* true if memory could not be read within the time limit */
	bool is_locked; /* true if files could not be opened because the memory map stays locked */
};

/*
 * Default time limit for reading memory, in nanoseconds. The memory may have to be read from disk.
 */
#define MODULES_MEMORY_NS 500000000ULL

/*
 * Reads the list of modules. For a static program, or before the dynamic loader has started, the
 * list contains the program and then the other files in order of address. memory_ns: time limit for
 * reading memory of the process. file_ns: time limit for finding out whether the program file is a
 * dynamic loader. Unreadable files are left out. Returns 0 or a negative errno (-ESRCH if there is
 * no such process or it has no mappings; -EAGAIN if its memory map stays locked).
 */
int module_list_init(pid_t pid, uint64_t memory_ns, uint64_t file_ns, struct module_list *ret);
void module_list_deinit(struct module_list *list);

/* The function that the dynamic loader calls when its list changes. */
#define LOADER_HOOK "_dl_debug_state"

struct mapping;

/*
 * Opens the file of a mapping of the process, even if the path of the file names another file by
 * now. Returns a descriptor of a regular file or a negative errno (-EAGAIN if the memory map of the
 * process stays locked).
 */
int process_open_mapping(pid_t pid, const struct mapping *mapping);

/* Opens the program of the process, as process_open_mapping() opens the file of a mapping. */
int process_open_program(pid_t pid);

/*
 * Reads an entry of the process's auxiliary vector. type: an AT_ constant. False if there is no
 * such entry.
 */
bool process_auxv(pid_t pid, uint64_t type, uint64_t *ret);

#endif
