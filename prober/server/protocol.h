/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is asked of the process that finds functions. Each request begins with its kind and comes
 * with the fd of a file, or of a process's memory.
 *
 *   FUNCTIONS machine, scope, through, at_entry, count, per name: struct wanted_function member by
 *             member      → status, count of those left out, count, per function: struct
 *                           found_function member by member, its returns at the end
 *   VARIABLE  name        → whether it is there, where behind the entry point
 *   SECTION   name        → whether it is there
 *   NEAREST   name        → the nearest name of a function; empty: none is near
 *   MEMORY    address, so many bytes → whether they could be read, the bytes
 */
#ifndef PROBER_SERVER_PROTOCOL_H
#define PROBER_SERVER_PROTOCOL_H

enum prober_request {
	PROBER_FUNCTIONS,
	PROBER_VARIABLE,
	PROBER_SECTION,
	PROBER_NEAREST,
	PROBER_MEMORY
};

/* That are asked for at a time. */
#define PROBER_MEMORY_MAX 4096

#endif
