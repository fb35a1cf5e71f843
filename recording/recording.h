/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings: the snapshots of a run in a file, with the names of their frames. The recorder
 * appends, the recording is read from its beginning. What is read may be anyone's: nothing in it
 * is believed before it is checked. Neither speaks on stderr.
 *
 * The file, all numbers little endian:
 *
 *	header	"memleak\x1a", u32 version, u32 flags (enum recording_flag), 16 random bytes that
 *		tell runs apart, u8 ways to lose, shapes of calls and tables that this memleak
 *		knows (their lists grow at the end; the version grows with all else), u8 0,
 *		u32 CRC-32 of all before
 *	chunk	one for each snapshot, written at once: u32 bytes that follow, u32 bytes when
 *		inflated, u32 CRC-32 of both numbers and the bytes; then the bytes, deflated by
 *		zlib (RFC 1950) without regard to other chunks
 *
 * A chunk says what has changed since the one before, in numbers as of base/byte_buffer.h:
 *
 *	head		changes of the snapshot's own words
 *	strings		bytes each; numbered from 1 on, through all chunks; 0 is none
 *	locations	what an address is called, numbered in the same way; 0: not known
 *	processes	the same
 *	sites		a number, perhaps one that was another's long ago, and what never changes
 *	names		of a site: the location of each of its frames
 *	states		of each site that has changed, came or went: changes of its words
 *	blocks		of each site whose blocks have changed: all of them
 *	summaries, tallies of processes
 *	peak		if it is another than before
 *	holders		of each site of which a proof tells who holds it: the links of the chain,
 *			blocks by their site, all else in words
 *	hanging		of each pair of sites: how much of one hangs from lost blocks of the other
 *
 * each a count and so many items. Times are kept as births, so that what only grows older does
 * not change.
 */
#ifndef RECORDING_RECORDING_H
#define RECORDING_RECORDING_H

#include <stdio.h>

#include "report/report.h"
#include "report/snapshot.h"

/* What the run was told to look at. */
enum recording_flag {
	RECORDING_BLOCKS = 1 << 0, /* each one */
	RECORDING_AGES = 1 << 1,   /* not with -C */
	RECORDING_PEAK = 1 << 2,
	RECORDING_SUMMARY = 1 << 3,
};

struct recorder;

/* Makes the file if there is none. flags: enum recording_flag. 0 or a negative errno. */
int recorder__new(const char *path, unsigned int flags, struct recorder **ret);
void recorder__free(struct recorder *recorder);

/* Empties the file and begins it, before the first snapshot. 0 or a negative errno. */
int recorder__begin(struct recorder *recorder);

/*
 * Appends a snapshot as the source made it. symbols, which may be NULL, names frames that are new,
 * by deadline_ns (CLOCK_MONOTONIC); what has no name by then is named with a later snapshot. A full
 * disk leaves the file as it was before the call. 0 or a negative errno.
 */
int recorder__add(struct recorder *recorder, const struct snapshot *snap, bool final,
		  struct symbol_backend *symbols, uint64_t deadline_ns);

struct recording;

/*
 * Begins to read; takes the file over. -ENOEXEC: it is no recording; -ENOTSUP: of a newer memleak;
 * -ESPIPE: a pipe, which cannot be read a second time; or another negative errno.
 */
int recording__new(FILE *file, struct recording **ret);
void recording__free(struct recording *recording);

unsigned int recording__flags(const struct recording *recording);
/* Whether two recordings are of one run. */
bool recording__same_run(const struct recording *a, const struct recording *b);

/*
 * The next snapshot. Its frames have names until the next one is read. 1; 0: there is none;
 * -EBADMSG: what follows is cut or damaged; -EFBIG: it would take too much memory; -ENOMEM, -EIO.
 * After 0 or an error there is no next one.
 */
int recording__next(struct recording *recording, struct snapshot *ret, bool *final);

/* When a snapshot was taken. */
struct recorded_moment {
	int64_t wall_ns;
	uint64_t elapsed_ns;
	bool between; /* two reports */
};

/* Reads the next snapshot as recording__next() does, but does not make it. */
int recording__skip(struct recording *recording, struct recorded_moment *ret);

/* Answers for the sites of the snapshot that was read last. */
struct symbol_backend *recording__symbols(struct recording *recording);

#endif
