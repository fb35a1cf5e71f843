// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes records like those of the BPF program, from ptrace and /proc. */
#include "proof/traced_threads.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/array.h"
#include "base/proc.h"
#include "proof/arch.h"
#include "proof/remote_call.h"

static int add_record(pid_t tid, bool is_stopped, bool with_vectors, struct live_threads *threads)
{
	size_t room = sizeof(struct memleak_thread_record) + MEMLEAK_VECTOR_BYTES;
	struct memleak_thread_record *record;
	struct iovec iov;

	if (array_reserve(&threads->store, &threads->store_cap, threads->store_len + room))
		return -ENOMEM;
	record = (void *)(threads->store + threads->store_len);
	memset(record, 0, sizeof(*record));
	record->tid = (__u32)tid;
	/* A main thread that has exited has no memory. */
	if (!is_stopped && !proc_shows_memory(tid))
		record->flags = MEMLEAK_THREAD_ENDED;
	iov = (struct iovec){record->registers, sizeof(record->registers)};
	if (is_stopped && !ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &iov))
		record->flags = MEMLEAK_THREAD_ASLEEP | MEMLEAK_THREAD_KNOWN;
	record->sequences = is_stopped ? remote_call_sequences(tid) : MEMLEAK_SEQUENCES_UNKNOWN;
	iov = (struct iovec){record + 1, MEMLEAK_VECTOR_BYTES - 8};
	if (is_stopped && with_vectors &&
	    !ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)registers_vector_note, &iov))
		record->vector_bytes = (__u32)iov.iov_len / 8 * 8;
	record->bytes = (__u32)sizeof(*record) + record->vector_bytes;
	threads->store_len += record->bytes;
	return 0;
}

int traced_threads_look(pid_t pid, const struct stopped_threads *stopped, bool with_vectors,
			struct live_threads *ret)
{
	struct live_threads threads = {0};
	struct dirent *entry;
	char path[64];
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!err && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		const struct stopped_thread *thread =
			tid > 0 ? stopped_threads_find(stopped, tid) : NULL;

		if (tid <= 0 || (thread && thread->gone))
			continue;
		err = add_record(tid, thread && thread->stopped, with_vectors, &threads);
	}
	closedir(dir);
	live_threads_set_count(&threads);
	if (!err)
		err = live_threads_index(&threads);
	if (err)
		live_threads_deinit(&threads);
	else
		*ret = threads;
	return err;
}
