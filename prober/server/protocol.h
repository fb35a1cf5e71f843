/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to the helpers that read files and memory, and their answers. Each request begins with
 * its kind, and carries the descriptor of a file or of /proc/PID/mem.
 *
 *   FUNCTIONS machine, scope, through, at_entry, count, per name: struct wanted_function member by
 *             member      → status, surplus_cnt, indirect, count, per function: struct
 *                           found_function member by member, its returns at the end
 *   VARIABLE  name        → whether it exists, distance from the entry point
 *   SECTION   name        → whether it exists
 *   NEAREST   name        → the nearest function name; empty if none is near
 *   MEMORY    address, length → whether all bytes could be read, the bytes
 *   INTERPRETER                → status, struct interpreter member by member
 *   SCRIPT    version of the interpreter, struct memleak_script_frame member by member
 *             → status, name and path of the function, line
 */
#ifndef PROBER_SERVER_PROTOCOL_H
#define PROBER_SERVER_PROTOCOL_H

enum prober_request {
	PROBER_FUNCTIONS,
	PROBER_VARIABLE,
	PROBER_SECTION,
	PROBER_NEAREST,
	PROBER_MEMORY,
	PROBER_INTERPRETER,
	PROBER_SCRIPT
};

/* Maximum size, in bytes, of the memory that one MEMORY request may read. */
#define PROBER_MEMORY_MAX 4096

#endif
