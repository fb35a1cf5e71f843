/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of /proc/PID as text. A process may give itself any name of up to 15 bytes, with newlines
 * and parentheses in it: whoever wants one reads it here.
 */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Whether a process or thread has memory: one that has ended has none, and a zombie neither. */
bool proc_shows_memory(pid_t tid);

/*
 * A thread that shows what the process has: its main thread unless that has ended, and shows no
 * memory any more. pid: there is none.
 */
pid_t proc_living_thread(pid_t pid);

/* Calls visit for each process, until it returns anything but 0, which is returned; or -errno. */
int proc_visit(int (*visit)(void *arg, pid_t pid), void *arg);

/* Whether two processes use the same memory, as after clone(CLONE_VM). */
bool proc_share_memory(pid_t pid, pid_t other);

/* Opens /proc/PID/name, to be closed on exec. A descriptor or a negative errno. */
int proc_open(pid_t pid, const char *name, int flags);

/*
 * The whole of an open file from its beginning, with a NUL behind it, from malloc. A process that
 * ends meanwhile ends its files. ret_len may be NULL. 0 or a negative errno.
 */
int proc_read_fd(int fd, char **ret, size_t *ret_len);

/* The whole of /proc/PID/name. 0 or a negative errno: -ENOENT, -ESRCH: there is no process. */
int proc_read(pid_t pid, const char *name, char **ret);

/* The name of a process, or of one of its threads, raw, from malloc; NULL: it cannot be read. */
char *proc_comm(pid_t pid);
char *proc_thread_comm(pid_t pid, pid_t tid);

/*
 * What stands behind "FIELD:" and spaces in the text of a status file, up to and with the newline
 * and whatever follows. NULL: there is no such field.
 */
const char *proc_status_field(const char *status, const char *field);
/* Its first number; -1: there is none. */
long proc_status_number(const char *status, const char *field);

#endif
