/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libsymbolizer: addresses of code in, frames out; addresses of data in, variables out.
 *
 * A *symbolizer* owns the files that were opened and a helper process that parses them: ELF
 * and DWARF of a target are hostile input, so a crash, a hang or a file truncated while it is
 * read costs names, never the caller. A *symspace* is the address space of one process image:
 * which file was mapped where. The files that were wanted last stay open while a space has, or had,
 * them mapped, so that a process that has ended and a library that was closed are still named;
 * others are opened again.
 *
 * Knows nothing of BPF, blocks or reports; never prints. Not thread-safe.
 * Functions return 0 or a negative errno unless they say otherwise.
 */
#ifndef SYMBOLIZER_SYMBOLIZER_H
#define SYMBOLIZER_SYMBOLIZER_H

#include <sys/types.h>

#include "symbolizer/frame.h"

struct proc_maps;
struct symbolizer;
struct symspace;

/*
 * Starts the helper process; call it early, while the caller is small. Files are fetched from
 * debuginfod servers only when the environment has DEBUGINFOD_URLS.
 */
int symbolizer__new(struct symbolizer **ret);
/* Only when all its symspaces have been freed. */
void symbolizer__free(struct symbolizer *sym);

/*
 * Spaces that are freed stay, with the locations that they gave out, until they are not kept any
 * more: for a caller that others interrupt while it waits for names.
 */
void symbolizer__keep_spaces(struct symbolizer *sym, bool keep);

/*
 * Closes files that no space has mapped for some seconds, so that the file systems of processes
 * that have ended can be unmounted; to be called now and then. Names that were found stay, and a
 * file is opened again when it is wanted and can still be found.
 */
void symbolizer__close_unmapped(struct symbolizer *sym);

/* Of what is waited for in calls from now on; tell may be NULL. */
void symbolizer__tell_progress(struct symbolizer *sym, sym_progress_fn *tell);

/*
 * A number for an open file, to ask for places in it: it stays right whatever is mapped where. fd
 * stays the caller's; path is how a process sees the file. The same file gets the same number.
 */
int symbolizer__add_file(struct symbolizer *sym, int fd, const char *path, uint32_t *ret);

/*
 * Adds the process's present image and opens the files it maps executable. comm, paths and
 * files are read through /proc/PID, so other mount namespaces need nothing special. -ESRCH: no
 * such process, or one without memory (a zombie, a kernel thread). Takes three descriptors, and
 * one for each file that no other space has.
 */
int symspace__new(struct symbolizer *sym, pid_t pid, struct symspace **ret);
/*
 * The image of a process that was gone before it could be looked at, of which others know what it
 * had mapped. Files are those at the mappings' paths in our own root, if they are the ones that
 * were mapped; refresh says -ESRCH, update takes other mappings. Takes a descriptor for each file
 * that no other space has. Fails only with -ENOMEM.
 */
int symspace__new_ended(struct symbolizer *sym, const struct proc_maps *maps,
			struct symspace **ret);
/* The same of a process that another one has forked: it had what that space has now. */
int symspace__new_forked(const struct symspace *parent, struct symspace **ret);
/*
 * The kernel that runs. Functions are those of /proc/kallsyms; lines and inlined calls come from
 * vmlinux and the modules' files where distributions install them with DWARF (below /boot,
 * /lib/modules and /usr/lib/debug) or from debuginfod, if they have the build ids of what runs.
 * Takes a descriptor for each such file, and tens of megabytes of memory while it reads. A kernel
 * that says nothing of itself is a space without names: symspace__kernel_error() says why.
 */
int symspace__new_kernel(struct symbolizer *sym, struct symspace **ret);
void symspace__free(struct symspace *space);

/*
 * Why the kernel's space has no names: -EPERM: its addresses are hidden from the caller
 * (kernel.kptr_restrict, CAP_SYSLOG); another errno: /proc/kallsyms could not be read; 0: it has
 * them, or the space is a process's.
 */
int symspace__kernel_error(const struct symspace *space);

/*
 * Reads the process's mappings again; what has gone is kept for addresses seen before. -ESRCH: the
 * image is gone, by exit or exec; the space goes on with what it knows. Of the kernel: modules and
 * BPF programs, when they seem to have changed; addresses without a name do that by themselves.
 */
int symspace__refresh(struct symspace *space);
/*
 * A refresh of a process in two steps: reading its mappings, which are to be given to
 * proc_maps_deinit, and taking them into the space. Whoever needs the mappings as well sees the
 * same ones as the space.
 */
int symspace__read_maps(const struct symspace *space, struct proc_maps *ret);
int symspace__update(struct symspace *space, const struct proc_maps *maps);

/* True if the process has code of that file system mapped, by what was read last. */
bool symspace__maps_system(const struct symspace *space, dev_t dev);

/*
 * Names cnt addresses, of code or data: ret[i] belongs to queries[i] and is never NULL on success
 * (an address without a name has one frame with symbol NULL). Addresses asked before come from
 * memory. What is not named by deadline_ns, a moment of CLOCK_MONOTONIC, comes back with what is
 * known, and is tried again when it is asked for the next time; 0: nothing is waited for. Fails
 * only with -ENOMEM. Of data, a location has one frame, and its module is the file whose variable
 * it is, or would be if that said so; for other memory it says what that is ("[heap]", "[anon]").
 */
int symspace__resolve(struct symspace *space, const struct sym_query *queries, size_t cnt,
		      uint64_t deadline_ns, const struct sym_location **ret);

#endif
