// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the BPF program and reads its ring buffer. */
#include "proof/ended_threads.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bpf/proof/endings.skel.h"
#include "loader/probes/skeleton.h"
#include "loader/target/pid_namespace.h"
#include "proof/arch.h"

struct ended_threads {
	struct endings_bpf *skel;
	struct ring_buffer *ring;
	struct live_threads threads; /* records that were read, unsorted */
};

static int add_record(void *arg, void *data, size_t bytes)
{
	struct live_threads *threads = arg;

	if (array_reserve(&threads->store, &threads->store_cap, threads->store_len + bytes))
		return -ENOMEM;
	memcpy(threads->store + threads->store_len, data, bytes);
	threads->store_len += bytes;
	return 0;
}

static int load(struct ended_threads *ended, pid_t pid)
{
	int err;

	ended->skel = SKELETON_OPEN(endings_bpf);
	if (!ended->skel)
		return -errno;
	err = endings_bpf__load(ended->skel);
	if (err)
		return err;
	ended->skel->bss->query = (struct memleak_thread_query){
		.tgid = (__u32)pid,
		.pid_namespace = pid_namespace_own(),
		.vector_bytes = registers_vector_bytes(),
	};
	ended->ring = ring_buffer__new(bpf_map__fd(ended->skel->maps.endings), add_record,
				       &ended->threads, NULL);
	return ended->ring ? endings_bpf__attach(ended->skel) : -errno;
}

int ended_threads__new(pid_t pid, struct ended_threads **ret)
{
	struct ended_threads *ended = calloc(1, sizeof(*ended));
	int err;

	if (!ended)
		return -ENOMEM;
	err = load(ended, pid);
	if (err)
		ended_threads__free(ended);
	else
		*ret = ended;
	return err;
}

void ended_threads__free(struct ended_threads *ended)
{
	if (!ended)
		return;
	ring_buffer__free(ended->ring);
	endings_bpf__destroy(ended->skel);
	live_threads_deinit(&ended->threads);
	free(ended);
}

/*
 * Adds an entry without registers for a thread whose record was lost. The thread's stack may be
 * anywhere, so this entry makes the proof scan each stack from its lowest address instead of from
 * its stack pointer.
 */
static int add_unknown(struct thread_states *states)
{
	if (array_reserve(&states->items, &states->cap, states->cnt + 1))
		return -ENOMEM;
	states->items[states->cnt++] = (struct thread_state){.known = false};
	return 0;
}

int ended_threads__take(struct ended_threads *ended, struct thread_states *states)
{
	int err = ring_buffer__consume(ended->ring);

	if (err > 0) {
		live_threads_set_count(&ended->threads);
		err = live_threads_index(&ended->threads);
	}
	if (!err)
		err = live_threads_add_states(&ended->threads, states);
	if (!err && ended->skel->bss->dropped_cnt)
		err = add_unknown(states);
	live_threads_deinit(&ended->threads);
	return err;
}
