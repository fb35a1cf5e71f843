/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libsymbolizer: maps code addresses to frames and data addresses to variables.
 *
 * A *symbolizer* owns the opened files and a helper process that parses them. A target's ELF and
 * DWARF are hostile input: if the helper crashes or hangs, or a file is truncated during a read,
 * only names are lost. A *symspace* is the address space of one process image: it records which
 * file is or was mapped where. Recently used files stay open while a space maps or has mapped them,
 * so that code of ended processes and closed libraries can still be named; other files are reopened
 * when needed.
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
 * Creates a symbolizer and starts its helper process, which starts with a copy of the caller's
 * memory: call this early, while that memory is small. Debug files are downloaded only if
 * DEBUGINFOD_URLS is set.
 */
int symbolizer__new(struct symbolizer **ret);
/* Frees the symbolizer. The caller must have freed all its symspaces before. */
void symbolizer__free(struct symbolizer *sym);

/*
 * After a call with keep = true, freed spaces and their locations stay valid until a call with
 * false. Needed by callers that another task may interrupt while they wait for names.
 */
void symbolizer__keep_spaces(struct symbolizer *sym, bool keep);

/*
 * Closes files that no space has mapped for a few seconds, so that their file systems can be
 * unmounted. A file that cannot be opened again, for example because it was deleted, stays open as
 * long as a space has mapped it at any time. Call periodically. Names already found are kept. A
 * closed file is opened again when needed, if it can still be found.
 */
void symbolizer__close_unmapped(struct symbolizer *sym);

/* Sets the progress callback, which later calls use while they wait for a file; may be NULL. */
void symbolizer__set_progress(struct symbolizer *sym, sym_progress_fn *on_progress);

/*
 * Returns a number for an open file, for queries by file offset, which need no mapping. The caller
 * keeps fd. path: the file's path as a process sees it. A file that was added before keeps its
 * number.
 */
int symbolizer__add_file(struct symbolizer *sym, int fd, const char *path, uint32_t *ret);

/*
 * Adds a space for the process's present image and opens all files that the process maps as code.
 * Reads comm, paths and files through /proc/PID, so that other mount namespaces work. Returns
 * -ESRCH if there is no such process, or if it has no memory (a zombie or kernel thread). While the
 * process's memory map is locked, the space has no mappings. Uses three descriptors, plus one for
 * each file that no other space has open.
 */
int symspace__new(struct symbolizer *sym, pid_t pid, struct symspace **ret);
/*
 * Adds a space for an ended process whose mappings the caller knows. Opens the mapped files by path
 * in memleak's own root, if they are still the same files. symspace__update() works on the space,
 * but symspace__refresh() returns -ESRCH. Uses one descriptor for each file that no other space has
 * open. Fails only with -ENOMEM.
 */
int symspace__new_ended(struct symbolizer *sym, const struct proc_maps *maps,
			struct symspace **ret);
/*
 * Adds a space for an ended process that was forked from `parent`, with a copy of the parent's
 * present mappings.
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
 * Reads the process's mappings again. Former mappings are kept for later queries of their
 * addresses. Returns -ESRCH if the image is gone (exit or exec), or -EAGAIN if its memory map stays
 * locked; the space stays usable. For the kernel's space: reads modules and BPF programs again if
 * they seem to have changed, as lookups of unknown addresses also do.
 */
int symspace__refresh(struct symspace *space);
/*
 * symspace__refresh() in two steps, so that the caller can use the new mappings itself.
 * symspace__read_maps() reads the mappings, which the caller frees with proc_maps_deinit();
 * symspace__update() applies them to the space.
 */
int symspace__read_maps(const struct symspace *space, struct proc_maps *ret);
int symspace__update(struct symspace *space, const struct proc_maps *maps);

/*
 * Returns the number, as from symbolizer__add_file(), of the file that the process had mapped as
 * code at addr when its mappings were last read; 0 if there is none.
 */
uint32_t symspace__file(const struct symspace *space, uint64_t addr);

/*
 * True if the process had a file of the file system `dev` mapped as code when its mappings were
 * last read.
 */
bool symspace__maps_system(const struct symspace *space, dev_t dev);

/*
 * Looks up cnt addresses of code or data. On success ret[i] is the location of queries[i], never
 * NULL; an unnamed address has one frame with symbol NULL. Known addresses come from a cache. An
 * address that has no name by deadline_ns (CLOCK_MONOTONIC; 0: do not wait) gets what is known so
 * far, and is looked up again at the next query. Fails only with -ENOMEM. For data, a location has
 * one frame. Its module is the file to whose data the address belongs, even if no variable was
 * found there, or else the kind of memory ("[heap]", "[anon]").
 */
int symspace__resolve(struct symspace *space, const struct sym_query *queries, size_t cnt,
		      uint64_t deadline_ns, const struct sym_location **ret);

#endif
