/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads files in /proc/PID as text. While a process waits for a file system, the kernel keeps
 * callers waiting, too, at many of its files and links: other code should not access these except
 * by the functions of this file, of proc_maps.h and of regular_file.h. A process can set its name
 * to any 15 bytes, including newlines and parentheses, so no other code should parse names out of
 * these files.
 */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* True if a process or thread has memory. Zombies and ended threads have none. */
bool proc_shows_memory(pid_t tid);

/*
 * Returns a thread whose /proc files show the process's memory: the main thread, or another thread
 * if the main thread has ended. Returns pid if no thread of the process has memory.
 */
pid_t proc_living_thread(pid_t pid);

/*
 * Calls visit() for each process until a call returns non-zero. Returns that value, 0, or a
 * negative errno.
 */
int proc_visit(int (*visit)(void *arg, pid_t pid), void *arg);

/*
 * Returns the index of the first thread in `tids` that uses the memory of the process, as after
 * clone(CLONE_VM). Returns cnt if there is none, or if the process stays in exec (limited_call.h).
 * Threads that have ended seem to share memory with ended processes and with kernel threads.
 */
size_t proc_find_memory(pid_t pid, const pid_t *tids, size_t cnt);

/*
 * Returns a thread of the process for proc_find_memory(), or 0, which matches no process, if the
 * process stays in exec.
 */
pid_t proc_memory_thread(pid_t pid);

/* True if two processes share their memory. False if one of them stays in exec. */
bool proc_share_memory(pid_t pid, pid_t other);

/*
 * Opens /proc/PID/name with O_CLOEXEC. If the main thread has ended, opens the file of a living
 * thread, except for "comm" and files below "task/". Returns an fd or a negative errno: -EAGAIN if
 * the process keeps its memory map locked, or stays in exec (limited_call.h).
 */
int proc_open(pid_t pid, const char *name, int flags);

/*
 * Like proc_open() for the file `name` in dir_fd, a directory of the process below /proc. dir_fd:
 * -1 for /proc/PID itself.
 */
int proc_open_at(pid_t pid, int dir_fd, const char *name, int flags);

/*
 * Reads the target of a link such as "exe" or "fd/0", and appends a NUL. dir_fd is as in
 * proc_open_at(). Returns the length or a negative errno: -EAGAIN as proc_open().
 */
int proc_readlink(pid_t pid, int dir_fd, const char *name, char ret[PATH_MAX]);

/*
 * Reads the attributes of the file to which such a link leads, as by file_stat(). Returns 0 or a
 * negative errno: -EAGAIN as proc_open().
 */
int proc_stat_link(pid_t pid, int dir_fd, const char *name, struct stat *ret);

/*
 * Reads an open file from beginning to end into memory from malloc(), and appends a NUL. If the
 * file's process ends during the read, the text is incomplete. ret_len may be NULL. Returns 0 or a
 * negative errno.
 */
int proc_read_fd(int fd, char **ret, size_t *ret_len);

struct proc_text {
	char bytes[4096]; /* first bytes of a file, NUL-terminated */
};

/*
 * Reads the beginning of an open file of /proc/PID. Returns the number of bytes, -EAGAIN if the
 * memory map of the process stays locked (limited_call.h), or another negative errno.
 */
int proc_read_limited(pid_t pid, int fd, struct proc_text *ret);

/*
 * Reads /proc/PID/name, opened as by proc_open(), into memory from malloc(), and appends a NUL.
 * Returns 0 or a negative errno; -ENOENT or -ESRCH if there is no such process.
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

/*
 * True if a process has memleak's root directory. Does not ask the server of a root directory on
 * the network, or on a file system in user space.
 */
bool proc_has_own_root(pid_t pid);

/*
 * True if a process is in memleak's namespace of this kind, such as "mnt". dir_fd is as in
 * proc_open_at().
 */
bool proc_has_own_namespace(pid_t pid, int dir_fd, const char *kind);
/* Returns the number of a process's namespace of this kind; 0 if it cannot be read. */
uint64_t proc_namespace(pid_t pid, const char *kind);

struct proc_relations {
	pid_t parent;
	pid_t group;
	pid_t session;
	uint64_t begin; /* time when the process began, in clock ticks since the boot */
};

/* Reads the relations of a process. Returns false if they cannot be read. */
bool proc_relations(pid_t pid, struct proc_relations *ret);

/* Returns the unescaped name of a process or thread, from malloc(); NULL if it cannot be read. */
char *proc_comm(pid_t pid);
char *proc_thread_comm(pid_t pid, pid_t tid);

/*
 * Returns a pointer to a field's value, after "FIELD:" and blanks, in the text of /proc/PID/status;
 * NULL if there is no such field. The value ends at a newline, not at a NUL.
 */
const char *proc_status_field(const char *status, const char *field);
/* Returns the number at the start of a field's value; -1 if there is no such field or number. */
long proc_status_number(const char *status, const char *field);

#endif
