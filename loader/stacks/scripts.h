/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handles the frames of scripts. Passes to the BPF programs the place where an interpreter keeps
 * these frames in memory, reads their names and lines, and inserts them between the native frames.
 * Knows nothing of sites.
 */
#ifndef LOADER_STACKS_SCRIPTS_H
#define LOADER_STACKS_SCRIPTS_H

#include "base/hash_map.h"
#include "base/proc_maps.h"
#include "loader/tables/script_frames.h"
#include "symbolizer/frame.h"

struct scripts {
	/* map of struct memleak_interpreter, -1 if no BPF program reads frames */
	int interpreters_fd;
	struct hash_map files;  /* interpreters by the number of their file */
	struct hash_map images; /* values are struct script_image; keys are images */
	struct hash_map places; /* values are struct script_location; keys are hashes of frames */
	struct script_location **locations;
	size_t cnt;
	size_t cap;
};

void scripts_deinit(struct scripts *scripts);

/* True if the file's name is that of a Python interpreter or of its library. */
bool scripts_may_run(const char *path);

/*
 * Returns why script frames of a process with these mappings cannot be read, whatever the version
 * of Python; NULL if they can.
 */
const char *scripts_obstacle(const struct proc_maps *maps);

/*
 * Finds the interpreter in a mapped file of a process. maps: all mappings of the process. file:
 * number of the file, as in MEMLEAK_FRAME_FILE_NUMBER(). Returns true if the BPF programs can read
 * the frames of scripts from now on.
 */
bool scripts_add(struct scripts *scripts, pid_t pid, uint32_t image, const struct proc_maps *maps,
		 const struct mapping *mapping, size_t file, uint64_t deadline_ns);

/* True if scripts_add() must be called again for this file, as it was not read in time. */
bool scripts_is_pending(const struct scripts *scripts, size_t file);

/*
 * Like scripts_add(), for frames that no BPF program reads. fd: the file, which is not used if the
 * file is known.
 */
bool scripts_add_file(struct scripts *scripts, int fd, const char *path, uint32_t image,
		      size_t number, uint64_t deadline_ns);
void scripts_drop(struct scripts *scripts, uint32_t image);

/*
 * Returns the version of an image's interpreter, in the format of Py_Version; 0 if no frames of its
 * scripts can be read. base: image from which this image was forked, or 0.
 */
uint32_t scripts_version(const struct scripts *scripts, uint32_t image, uint32_t base);

/*
 * Reads names and lines that are still missing for the frames. base: image from which this image
 * was forked, or 0.
 */
void scripts_read(struct scripts *scripts, pid_t pid, uint32_t image, uint32_t base,
		  const struct script_frames *frames, uint64_t deadline_ns);
/* Like scripts_read(), from an open file in which offsets are the addresses. */
void scripts_read_from(struct scripts *scripts, int mem, uint32_t image, uint32_t base,
		       const struct script_frames *frames, uint64_t deadline_ns);

/*
 * Puts the frames of scripts before the frame of the evaluation loop that ran them. The caller
 * frees *ret. Returns 0 or -ENOMEM.
 */
int scripts_merge(const struct scripts *scripts, uint32_t image, uint32_t base,
		  const struct memleak_stack *stack, const struct script_frames *frames,
		  uint64_t **ret, size_t *ret_cnt);

/*
 * Returns name, file and line of a script frame (see MEMLEAK_FRAME_IS_SCRIPT()); NULL if unknown.
 */
const struct sym_location *scripts_location(const struct scripts *scripts, uint64_t frame);

#endif
