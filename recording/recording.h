/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings: the snapshots of a run in a file, with the names of their frames. The recorder
 * appends snapshots; a recording is read from its beginning. Files are not trusted: everything read
 * is checked. Neither recorder nor reader logs.
 *
 * The file format, with all numbers in little-endian order:
 *
 *   header    "memleak\x1a", u32 version, u32 flags (enum recording_flag), 16 random bytes that
 *             identify the run; u8 number of losses, u8 number of call shapes and u8 number of
 *             tables that this version knows (these lists grow at the end; all other changes
 *             raise the version); u8 0, u32 CRC-32 of all bytes before
 *   chunk     one for each snapshot, written by one write: u32 size of the data, u32 inflated
 *             size, u32 CRC-32 of both numbers and the data; then the data, each chunk deflated
 *             separately by zlib (RFC 1950)
 *
 * The data of a chunk are the changes since the previous chunk, in these sections. Numbers are
 * written as in base/byte_buffer.h.
 *
 *   head      changes of the snapshot's fields of fixed size, an array of 64-bit words
 *   strings   new strings, numbered from 1 through all chunks; 0 stands for no string
 *   locations new locations (the names of an address), numbered like strings; 0 stands for an
 *             unknown location
 *   processes new processes, numbered like strings
 *   sites     number (possibly reused) and constant part of each new site
 *   names     location of each frame, for each site of which new names were found
 *   states    changes of a site's state, an array of 64-bit words, for each site that changed,
 *             appeared or disappeared
 *   blocks    all blocks, for each site whose blocks changed
 *   summaries rows of the table of --summary (struct process_summary)
 *   tallies   counters and footprints of processes (struct process_tally)
 *   peak      the peak of outstanding memory and its sites, if it changed
 *   holders   chain of holders of a site's blocks, for each site for which the proof found one;
 *             a holder that is a block is recorded as the number of its site, any other as text
 *   hanging   for each pair of sites: memory of the first that is reachable only from lost
 *             blocks of the second
 *   python    Python's growing containers and classes, its allocator, and the number of
 *             objects that could not be counted
 *   growths   slab caches and lines of kernel code that grew most
 *   births    blocks by time of allocation: first a list of earlier times, which define the
 *             classes; then the changes of the classes of each site. Before the changes are
 *             applied, all sites are converted from the classes of the previous list.
 *
 * Each section after the head begins with the number of its items. Blocks are stored with their
 * times of allocation instead of their ages, because these times do not change.
 */
#ifndef RECORDING_RECORDING_H
#define RECORDING_RECORDING_H

#include <stdio.h>

#include "report/report.h"
#include "report/snapshot.h"

/* Facts about the recorded run, as flags in the header. */
enum recording_flag {
	RECORDING_BLOCKS = 1 << 0, /* individual blocks are recorded */
	RECORDING_AGES = 1 << 1,   /* ages of blocks are recorded; not set with -C */
	RECORDING_PEAK = 1 << 2,
	RECORDING_SUMMARY = 1 << 3,
	/* The fields of struct run_facts. Older recordings have none of these flags. */
	RECORDING_HAD_BEGUN = 1 << 4,
	RECORDING_SIZE_FILTERS = 1 << 5,
	RECORDING_WAS_YOUNG = 1 << 6,
	RECORDING_PROVE = 1 << 7, /* the run had --prove */
};

struct recorder;

/* Opens or creates the file, without changing its content. Returns 0 or a negative errno. */
int recorder__new(const char *path, struct recorder **ret);
void recorder__free(struct recorder *recorder);

/*
 * Truncates the file and writes the header. flags: set of enum recording_flag. Call before the
 * first recorder__add(). Returns 0 or a negative errno.
 */
int recorder__begin(struct recorder *recorder, unsigned int flags);

/*
 * Appends a snapshot. Unless `symbols` is NULL, looks up the names of new frames until deadline_ns
 * (CLOCK_MONOTONIC). Names and source lines that are not known by then are recorded with a later
 * snapshot. If the disk is full, the file stays as it was. Returns 0 or a negative errno.
 */
int recorder__add(struct recorder *recorder, const struct snapshot *snap, bool final,
		  struct symbol_backend *symbols, uint64_t deadline_ns);

struct recording;

/*
 * Begins to read a recording, and takes ownership of `file`. Returns 0; -ENOEXEC if the file is no
 * recording; -ENOTSUP if it was written by a newer version of memleak; -ESPIPE for a pipe, because
 * recordings are read twice; or another negative errno.
 */
int recording__new(FILE *file, struct recording **ret);
void recording__free(struct recording *recording);

unsigned int recording__flags(const struct recording *recording);
/* True if both recordings are of the same run. */
bool recording__same_run(const struct recording *a, const struct recording *b);

/*
 * Reads the next snapshot. The names of its frames are available until the next call. Returns 1 on
 * success, 0 at the end of the file, -EBADMSG if the rest of the file is truncated or damaged,
 * -EFBIG if the snapshot would take too much memory, -ENOMEM or -EIO. After 0 or an error, no more
 * snapshots can be read.
 */
int recording__next(struct recording *recording, struct snapshot *ret, bool *final);

/* The time of a snapshot. */
struct recorded_moment {
	int64_t wall_ns;
	uint64_t elapsed_ns;
	bool between; /* true if the snapshot was taken between two reports, and is in no report */
};

/* Like recording__next(), but only returns the time of the snapshot. */
int recording__skip(struct recording *recording, struct recorded_moment *ret);

/* Returns a backend that returns the recorded names of the frames of the latest snapshot. */
struct symbol_backend *recording__symbols(struct recording *recording);

#endif
