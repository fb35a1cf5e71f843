/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libsymbolizer: maps code addresses to frames and data addresses to variables.
 *
 * A *symbolizer* owns the opened files and a helper process that parses them. The ELF and DWARF of
 * traced programs are hostile input: if the helper crashes or hangs, or a file is truncated during
 * a read, only names are lost. A *symspace* is the address space of one exec image (one program
 * between two execs): it records which files are and were mapped at which addresses. Files that
 * were used recently stay open, so that code of ended processes and closed libraries can still be
 * named; other files are opened again when needed.
 *
 * Knows nothing of BPF, blocks or reports; logs notes, but prints nothing else. Not thread-safe.
 * Functions return 0 or a negative errno unless stated otherwise.
 */
#ifndef SYMBOLIZER_SYMBOLIZER_H
#define SYMBOLIZER_SYMBOLIZER_H

#include <sys/types.h>

#include "symbolizer/frame.h"

struct proc_maps;
struct symbolizer;
struct symspace;

/*
 * Creates a symbolizer and forks its helper process. Call this early, while the caller has little
 * memory: the fork copies it. Debug files are downloaded only if DEBUGINFOD_URLS is set.
 */
int symbolizer__new(struct symbolizer **ret);
/* Requires that all its symspaces have been freed. */
void symbolizer__free(struct symbolizer *sym);

/*
 * After a call with keep == true, symspace__free() frees nothing: spaces and their locations stay
 * valid until a call with keep == false. Needed if another thread may call symspace__free() while
 * the caller waits in symspace__resolve() for names.
 */
void symbolizer__keep_spaces(struct symbolizer *sym, bool keep);

/*
 * Closes files that no process has mapped for a few seconds, so that their file systems can be
 * unmounted. Call periodically. Names that were found are kept, and a closed file is opened again
 * when needed. A file that cannot be opened again, for example because it was deleted, stays open
 * as long as any symspace maps or has mapped it.
 */
void symbolizer__close_unmapped(struct symbolizer *sym);

/* Sets the callback that symspace__resolve() calls while it waits for names; NULL: none. */
void symbolizer__set_progress(struct symbolizer *sym, sym_progress_fn *on_progress);

/*
 * Sets *ret to a number that stands for an open file in queries by file offset (sym_query.file).
 * Such queries do not need a mapping of the file. If the file was added before, its number is
 * unchanged. The caller still owns fd. path: the file's path as a process sees it.
 */
int symbolizer__add_file(struct symbolizer *sym, int fd, const char *path, uint32_t *ret);

/*
 * Adds a space for the program that a process executes now, and opens all files that the process
 * maps as code, through /proc/PID, so that this works for other mount namespaces, too. Returns
 * -ESRCH if there is no such process, or if it has no memory (a zombie or kernel thread). If the
 * process's memory map stays locked, returns 0, but the space has no mappings until
 * symspace__refresh() succeeds. Uses three descriptors, plus one for each file that no other space
 * has open.
 */
int symspace__new(struct symbolizer *sym, pid_t pid, struct symspace **ret);
/*
 * Adds a space for an ended process whose mappings the caller knows. Opens the mapped files by path
 * in memleak's own root, if they are still the same files. symspace__update() can be called for the
 * space, but symspace__refresh() returns -ESRCH. Uses one descriptor for each file that no other
 * space has open. Fails only with -ENOMEM.
 */
int symspace__new_ended(struct symbolizer *sym, const struct proc_maps *maps,
			struct symspace **ret);
/*
 * Adds a space for an ended process that was forked from the process of `parent`. Copies the
 * present mappings of `parent`. Fails only with -ENOMEM.
 */
int symspace__new_forked(const struct symspace *parent, struct symspace **ret);
/*
 * Adds the running kernel's space. Functions come from /proc/kallsyms; lines and inlined calls come
 * from vmlinux and module files that have DWARF and the build ids of the running kernel. These
 * files are installed (below /boot, /lib/modules and /usr/lib/debug) or come from debuginfod. Uses
 * one descriptor for each of these files, and tens of megabytes of memory while reading. If the
 * symbols cannot be read, the space has no names: symspace__kernel_error() says why.
 */
int symspace__new_kernel(struct symbolizer *sym, struct symspace **ret);
void symspace__free(struct symspace *space);

/*
 * Returns why the kernel's space has no names: -EPERM if its addresses are hidden from the caller
 * (kernel.kptr_restrict, CAP_SYSLOG), or another errno if /proc/kallsyms could not be read. Returns
 * 0 if there are names, or for a process's space.
 */
int symspace__kernel_error(const struct symspace *space);

/*
 * Reads the process's mappings again. Keeps former mappings for later queries. Returns -ESRCH if
 * the process has exited or called exec, or -EAGAIN if its memory map stays locked; the space stays
 * usable. For the kernel's space: reads the symbols again if kernel modules were loaded or
 * unloaded, or if BPF programs may have changed.
 */
int symspace__refresh(struct symspace *space);
/*
 * Do the work of symspace__refresh() for a process in two steps, for callers that need the mappings
 * themselves: symspace__read_maps() reads the mappings, which the caller frees with
 * proc_maps_deinit(), and symspace__update() applies them to the space.
 */
int symspace__read_maps(struct symspace *space, struct proc_maps *ret);
int symspace__update(struct symspace *space, const struct proc_maps *maps);

/*
 * Returns the number (as from symbolizer__add_file()) of the file that contains the code at addr; 0
 * if there is none. Uses the mappings that were read last.
 */
uint32_t symspace__file(const struct symspace *space, uint64_t addr);

/* True if the mappings that were read last contain any file of the file system `dev`. */
bool symspace__maps_system(const struct symspace *space, dev_t dev);

/*
 * Looks up cnt addresses of code or data. On success, ret[i] is the location of queries[i], never
 * NULL; an unnamed address has one frame with symbol NULL. Waits for names until deadline_ns
 * (CLOCK_MONOTONIC; 0: does not wait). If a name was not found by then, the location contains what
 * is known, and the next query looks the name up again. Names that were found are cached. Fails
 * only with -ENOMEM. For data, a location has one frame; its module is the file to whose data the
 * address belongs, even if no variable was found there, or else the kind of memory ("[heap]",
 * "[anon]").
 */
int symspace__resolve(struct symspace *space, const struct sym_query *queries, size_t cnt,
		      uint64_t deadline_ns, const struct sym_location **ret);

#endif
