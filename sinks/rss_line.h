/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes one line about the use of resident memory, and advice if the allocator keeps much of it.
 */
#ifndef SINKS_RSS_LINE_H
#define SINKS_RSS_LINE_H

#include <stdio.h>
#include <sys/types.h>

#include "report/rss.h"
#include "sinks/json_writer.h"
#include "sinks/text_part.h"

/*
 * Writes the line for `rss`, and the changes since `first`, the first known values of the process.
 * If `first` is NULL, writes the first line about the process, which also names what is not known.
 */
void rss_write_line(FILE *out, const struct rss *rss, const struct rss *first);

/* Writes the name and the pid of a process, "redis-server (812)". `comm` is NULL if not known. */
void rss_write_process(FILE *out, const char *comm, pid_t pid);

/*
 * Writes the resident memory of a report's processes: a line for each if there are few, else a line
 * for the sum.
 */
void rss_write_lines(const struct text_part *part);

/*
 * Writes by how much resident memory and its parts have changed: "+2.0 MiB: live +1.9 MiB". The
 * largest growth is first, and what has shrunk is last.
 */
void rss_write_change(FILE *out, const struct rss *first, const struct rss *rss);

/*
 * Writes how much free memory glibc and Python keep: "glibc keeps 2.0 MiB that the program has
 * freed".
 */
void rss_write_kept(FILE *out, const struct rss *rss);

/* Writes the part that has grown most, as found by rss_growth(): "stacks +2.0 MiB". */
void rss_write_grown(FILE *out, enum rss_part part, uint64_t bytes);

/*
 * Writes the JSON object "memory": the bytes of each part, their sum as "rss", and facts about the
 * allocator and its arenas.
 */
void rss_write_json(struct json_writer *json, const struct rss *rss);

/*
 * Writes the JSON object "memory" if the report is of one process; if it is of several, the array
 * "memory_by_process" with each process whose memory is known.
 */
void rss_write_json_report(struct json_writer *json, const struct report *report);

/*
 * Writes the functions whose blocks pin the most free memory of the heap, and how much they pin.
 * Writes nothing unless rss_pins_matter() returns true.
 */
void rss_write_pinners(const struct text_part *part);

#endif
