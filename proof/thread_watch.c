// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the BPF iterator and reads its records. */
#include "proof/thread_watch.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "bpf/proof/threads.skel.h"
#include "loader/probes/skeleton.h"
#include "loader/target/pid_namespace.h"
#include "proof/arch.h"

/*
 * Bytes per read: at least the size of the kernel's buffer, because a read returns only whole
 * records.
 */
#define PIECE_BYTES (64 * 1024)

/* Maximum bytes of the records of a process. */
#define STORE_BYTES_MAX (1 << 30)

/* Maximum number of tries if threads come and go. */
#define TRIES 20

struct thread_watch {
	struct threads_bpf *skel;
	int program;
	int link; /* link of the iterator for the process `linked`; -1 if none */
	pid_t linked;
};

int thread_watch__new(struct thread_watch **ret)
{
	struct thread_watch *watch = calloc(1, sizeof(*watch));
	int err;

	if (!watch)
		return -ENOMEM;
	watch->link = -1;
	watch->skel = SKELETON_OPEN(threads_bpf);
	err = watch->skel ? threads_bpf__load(watch->skel) : -errno;
	if (err) {
		thread_watch__free(watch);
		return err;
	}
	watch->program = bpf_program__fd(watch->skel->progs.record_threads);
	watch->skel->bss->query.pid_namespace = pid_namespace_own();
	*ret = watch;
	return 0;
}

static void unlink_process(struct thread_watch *watch)
{
	if (watch->link >= 0)
		close(watch->link);
	watch->link = -1;
}

void thread_watch__free(struct thread_watch *watch)
{
	if (!watch)
		return;
	unlink_process(watch);
	threads_bpf__destroy(watch->skel);
	free(watch);
}

int thread_watch__fd(const struct thread_watch *watch)
{
	return watch->program;
}

void thread_watch__use_fd(struct thread_watch *watch, int fd)
{
	watch->program = fd;
	watch->link = -1;
}

/*
 * Creates the iterator for a process. Older kernels cannot restrict it to one process: it then
 * visits all threads, and the BPF program selects those of the process.
 */
static int link_process(struct thread_watch *watch, pid_t pid)
{
	union bpf_iter_link_info info = {.task.pid = (__u32)pid};
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = &info, .iter_info_len = sizeof(info));

	if (watch->link >= 0 && watch->linked == pid)
		return 0;
	unlink_process(watch);
	watch->link = bpf_link_create(watch->program, 0, BPF_TRACE_ITER, &opts);
	if (watch->link < 0)
		watch->link = bpf_link_create(watch->program, 0, BPF_TRACE_ITER, NULL);
	watch->linked = pid;
	return watch->link < 0 ? watch->link : 0;
}

static int read_all(int fd, struct live_threads *threads)
{
	ssize_t got;

	do {
		if (threads->store_len > STORE_BYTES_MAX)
			return -E2BIG;
		if (array_reserve(&threads->store, &threads->store_cap,
				  threads->store_len + PIECE_BYTES))
			return -ENOMEM;
		got = read(fd, threads->store + threads->store_len, PIECE_BYTES);
		if (got > 0)
			threads->store_len += (size_t)got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	return got < 0 ? -errno : 0;
}

static int look_once(struct thread_watch *watch, struct live_threads *threads)
{
	cleanup_close int fd = bpf_iter_create(watch->link);
	int err = fd < 0 ? fd : read_all(fd, threads);

	return err ? err : live_threads_index(threads);
}

int thread_watch__look(struct thread_watch *watch, pid_t pid, bool with_vectors,
		       struct live_threads *ret)
{
	int err = link_process(watch, pid);

	if (err)
		return err;
	watch->skel->bss->query.tgid = (__u32)pid;
	watch->skel->bss->query.vector_bytes = with_vectors ? registers_vector_bytes() : 0;
	for (int i = 0; i < TRIES; i++) {
		struct live_threads threads = {0};

		err = look_once(watch, &threads);
		if (!err) {
			*ret = threads;
			break;
		}
		live_threads_deinit(&threads);
		if (err != -EAGAIN)
			break;
	}
	return err;
}
