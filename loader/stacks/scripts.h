/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handles the frames of scripts (Python functions): tells the BPF programs where an interpreter
 * keeps them in memory, reads their names and lines, and inserts them between native frames. Knows
 * nothing of sites.
 */
#ifndef LOADER_STACKS_SCRIPTS_H
#define LOADER_STACKS_SCRIPTS_H

#include "base/hash_map.h"
#include "base/proc_maps.h"
#include "loader/tables/script_frames.h"
#include "symbolizer/frame.h"

struct scripts {
	/* map of struct memleak_interpreter by image; -1 if no BPF program reads script frames */
	int interpreters_fd;
	struct hash_map files;  /* struct script_file by file number */
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
 * Returns why script frames of a process with these mappings cannot be read, whatever its version
 * of Python; NULL if they can.
 */
const char *scripts_obstacle(const struct proc_maps *maps);

/*
 * Finds the interpreter in a mapped file of a process. maps: all mappings of the process. `file`:
 * number of the file, as in MEMLEAK_FRAME_FILE_NUMBER(). Returns true if the BPF programs can read
 * the script frames of the image from now on.
 */
bool scripts_add(struct scripts *scripts, pid_t pid, uint32_t image, const struct proc_maps *maps,
		 const struct mapping *mapping, size_t file, uint64_t deadline_ns);

/* True if scripts_add() must be called again for this file, because reading timed out. */
bool scripts_is_pending(const struct scripts *scripts, size_t file);

/*
 * Like scripts_add(), for an image whose script frames no BPF program reads. fd: the open file; not
 * used if the file was read before. Returns true if script frames of this file's interpreter can be
 * given names.
 */
bool scripts_add_file(struct scripts *scripts, int fd, const char *path, uint32_t image,
		      size_t number, uint64_t deadline_ns);

/*
 * Returns the file offset of the function with which the image's interpreter frees code objects,
 * and sets *number to the number of the file; 0 if it is unknown, or after scripts_count_frees().
 */
uint64_t scripts_free_code(const struct scripts *scripts, uint32_t image, size_t *number);
/* Tells the BPF programs that a probe on this function counts the code objects from now on. */
void scripts_count_frees(struct scripts *scripts, uint32_t image);
void scripts_drop(struct scripts *scripts, uint32_t image);

/*
 * Returns the version of an image's interpreter, in the format of Py_Version; 0 if no frames of its
 * scripts can be read. base: image from which this image was forked, or 0.
 */
uint32_t scripts_version(const struct scripts *scripts, uint32_t image, uint32_t base);

/*
 * Reads names and lines of frames that have none yet. base: image from which this image was forked,
 * or 0.
 */
void scripts_read(struct scripts *scripts, pid_t pid, uint32_t image, uint32_t base,
		  const struct script_frames *frames, uint64_t deadline_ns);
/*
 * Like scripts_read(), from `mem`, an open file whose offsets are addresses, such as /proc/PID/mem.
 */
void scripts_read_from(struct scripts *scripts, int mem, uint32_t image, uint32_t base,
		       const struct script_frames *frames, uint64_t deadline_ns);

/*
 * Joins the native and script frames of a stack, innermost first: script frames come directly
 * before the frame of the evaluation loop that ran them. The caller frees *ret. Returns 0 or
 * -ENOMEM.
 */
int scripts_merge(const struct scripts *scripts, uint32_t image, uint32_t base,
		  const struct memleak_stack *stack, const struct script_frames *frames,
		  uint64_t **ret, size_t *ret_cnt);

/*
 * Returns name, file and line of a script frame (see MEMLEAK_FRAME_IS_SCRIPT()); NULL if unknown.
 */
const struct sym_location *scripts_location(const struct scripts *scripts, uint64_t frame);

#endif
