/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads files in /proc/PID as text. A process can set its name to any 15 bytes, including newlines
 * and parentheses, so names should only be read by these functions.
 */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* True if a process or thread has memory. Zombies and ended threads have none. */
bool proc_shows_memory(pid_t tid);

/*
 * Returns a thread whose /proc files show the process's memory: the main thread, or another one if
 * it has ended. Returns pid if there is none.
 */
pid_t proc_living_thread(pid_t pid);

/*
 * Calls visit() for each process until it returns non-zero. Returns that value, 0, or a negative
 * errno.
 */
int proc_visit(int (*visit)(void *arg, pid_t pid), void *arg);

/* True if two processes share their memory, as after clone(CLONE_VM). */
bool proc_share_memory(pid_t pid, pid_t other);

/* Opens /proc/PID/name with O_CLOEXEC. Returns an fd or a negative errno. */
int proc_open(pid_t pid, const char *name, int flags);

/*
 * Reads an open file from its beginning to its end into memory from malloc(), and appends a NUL. If
 * the process ends meanwhile, the text ends early. ret_len may be NULL. Returns 0 or a negative
 * errno.
 */
int proc_read_fd(int fd, char **ret, size_t *ret_len);

/*
 * Reads /proc/PID/name. Returns 0 or a negative errno; -ENOENT or -ESRCH if there is no such
 * process.
 */
int proc_read(pid_t pid, const char *name, char **ret);

/*
 * Returns the CPU time that a process has used, and its ended children that it has waited for, in
 * ns; 0 if it cannot be read.
 */
uint64_t proc_cpu_ns(pid_t pid);

/* Returns the unescaped name of a process or thread, from malloc(); NULL if it cannot be read. */
char *proc_comm(pid_t pid);
char *proc_thread_comm(pid_t pid, pid_t tid);

/*
 * Finds the value of a field in the text of a status file: the text after "FIELD:" and blanks, not
 * cut at the newline. Returns NULL if there is no such field.
 */
const char *proc_status_field(const char *status, const char *field);
/* Returns a field's first number; -1 if there is none. */
long proc_status_number(const char *status, const char *field);

#endif
