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
 * Returns a thread whose /proc files show the process's memory: the main thread, or another thread
 * if the main thread has ended. Returns pid if there is none.
 */
pid_t proc_living_thread(pid_t pid);

/*
 * Calls visit() for each process until a call returns non-zero. Returns that value, 0 if all calls
 * returned 0, or a negative errno.
 */
int proc_visit(int (*visit)(void *arg, pid_t pid), void *arg);

/* True if two processes share their memory, as after clone(CLONE_VM). */
bool proc_share_memory(pid_t pid, pid_t other);

/* Opens /proc/PID/name with O_CLOEXEC. Returns an fd or a negative errno. */
int proc_open(pid_t pid, const char *name, int flags);

/*
 * Reads an open file from beginning to end into memory from malloc(), and appends a NUL. If the
 * file's process ends during the read, the text is incomplete. ret_len may be NULL. Returns 0 or a
 * negative errno.
 */
int proc_read_fd(int fd, char **ret, size_t *ret_len);

struct proc_text {
	char bytes[4096]; /* the beginning of a file, and a NUL */
};

/*
 * Open a file in /proc/PID with O_CLOEXEC, and read the beginning of an open file in /proc/PID.
 * Return a descriptor or a length; -EAGAIN if the memory map of the process stays locked
 * (limited_call.h); or another negative errno.
 */
int proc_open_limited(pid_t pid, int dir_fd, const char *name, int flags);
int proc_read_limited(pid_t pid, int fd, struct proc_text *ret);

/*
 * Reads /proc/PID/name. Returns 0 or a negative errno; -ENOENT or -ESRCH if there is no such
 * process.
 */
int proc_read(pid_t pid, const char *name, char **ret);

/*
 * Returns the CPU time, in ns, that a process and its children have used; a child's time is
 * included after the process has waited for the child. Returns 0 if the time cannot be read.
 */
uint64_t proc_cpu_ns(pid_t pid);

/* Returns the time since a process began, in ns; UINT64_MAX if it cannot be read. */
uint64_t proc_age_ns(pid_t pid);

/*
 * Returns the total time, in ns, that the main thread of a process was runnable, but waited for a
 * processor; 0 if unknown.
 */
uint64_t proc_delay_ns(pid_t pid);

/* Returns the unescaped name of a process or thread, from malloc(); NULL if it cannot be read. */
char *proc_comm(pid_t pid);
char *proc_thread_comm(pid_t pid, pid_t tid);

/*
 * Finds a field in the text of a status file. Returns a pointer into the text, to the field's value
 * after "FIELD:" and blanks. The value ends at a newline, not at a NUL. Returns NULL if there is no
 * such field.
 */
const char *proc_status_field(const char *status, const char *field);
/* Returns the first number in the value of a field; -1 if there is none. */
long proc_status_number(const char *status, const char *field);

#endif
