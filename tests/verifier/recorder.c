// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into memleak. Makes the verifier print statistics for each BPF program that memleak
 * loads, unless memleak itself requests the verifier's log. For each program that has a name,
 * appends a line to the file $VERIFIER_FIGURES: the name, the number of instructions that the
 * verifier processed, and the errno of the load, or 0 if the load succeeded. All kernels since 5.2
 * print this number; bpf_prog_info has it only since 5.16.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOG_STATS 4 /* the kernel's BPF_LOG_STATS: print only a summary */

static long (*next_syscall(void))(long, ...)
{
	static long (*next)(long, ...);

	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return next;
}

/*
 * Returns the number of processed instructions in the log, or 0 if it contains none. If the program
 * is too large, the number is just above the verifier's limit.
 */
static unsigned long verified(const char *log)
{
	const char *found = strstr(log, "processed ");

	if (!found)
		found = strstr(log, "Processed ");
	return found ? strtoul(found + strlen("processed "), NULL, 10) : 0;
}

static void note(const char *name, const char *log, int err)
{
	const char *path = getenv("VERIFIER_FIGURES");
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;

	if (fd < 0)
		return;
	dprintf(fd, "%.*s %lu %d\n", BPF_OBJ_NAME_LEN, name, verified(log), err);
	close(fd);
}

static long load(union bpf_attr *given, size_t size)
{
	static __thread char log[1 << 16];
	union bpf_attr attr = {0};
	long fd;
	int err;

	memcpy(&attr, given, size < sizeof(attr) ? size : sizeof(attr));
	log[0] = '\0';
	attr.log_level = LOG_STATS;
	attr.log_buf = (__u64)(unsigned long)log;
	attr.log_size = sizeof(log);
	fd = next_syscall()(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	err = fd < 0 ? errno : 0;
	if (attr.prog_name[0])
		note(attr.prog_name, log, err);
	errno = err;
	return fd;
}

long syscall(long number, ...)
{
	long args[6];
	va_list list;

	va_start(list, number);
	for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++)
		args[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_bpf && args[0] == BPF_PROG_LOAD &&
	    !((union bpf_attr *)args[1])->log_level)
		return load((union bpf_attr *)args[1], (size_t)args[2]);
	return next_syscall()(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}
