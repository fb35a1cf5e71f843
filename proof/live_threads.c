// SPDX-License-Identifier: GPL-2.0-or-later
/* Interprets the records of the BPF program. */
#include "proof/live_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "proof/arch.h"

void live_threads_deinit(struct live_threads *threads)
{
	free(threads->items);
	free(threads->store);
	*threads = (struct live_threads){0};
}

static int by_tid(const void *a, const void *b)
{
	const struct memleak_thread_record *const *one = a, *const *other = b;

	return ((*one)->tid > (*other)->tid) - ((*one)->tid < (*other)->tid);
}

static bool is_sound(const struct memleak_thread_record *record, size_t left)
{
	return left >= sizeof(*record) && record->bytes <= left && record->tid &&
	       record->vector_bytes < MEMLEAK_VECTOR_BYTES && !(record->vector_bytes % 8) &&
	       record->bytes == sizeof(*record) + record->vector_bytes;
}

void live_threads_set_count(struct live_threads *threads)
{
	struct memleak_thread_record *record;
	__u32 cnt = 0;

	for (size_t at = 0; at < threads->store_len; at += record->bytes, cnt++)
		record = (void *)(threads->store + at);
	for (size_t at = 0; at < threads->store_len; at += record->bytes) {
		record = (void *)(threads->store + at);
		record->thread_cnt = cnt;
	}
}

int live_threads_index(struct live_threads *threads)
{
	size_t read_cnt = 0, thread_cnt = 0;

	for (size_t at = 0; at < threads->store_len;) {
		const struct memleak_thread_record *record = (const void *)(threads->store + at);

		if (!is_sound(record, threads->store_len - at))
			return -EPROTO;
		if (array_reserve(&threads->items, &threads->cap, threads->cnt + 1))
			return -ENOMEM;
		if (!(record->flags & MEMLEAK_THREAD_ENDED))
			threads->items[threads->cnt++] = record;
		threads->reaper = (pid_t)record->reaper;
		thread_cnt = record->thread_cnt;
		read_cnt++;
		at += record->bytes;
	}
	if (!read_cnt)
		return -ESRCH;
	qsort(threads->items, threads->cnt, sizeof(*threads->items), by_tid);
	for (size_t i = 1; i < threads->cnt; i++)
		if (threads->items[i - 1]->tid == threads->items[i]->tid)
			return -EAGAIN;
	return read_cnt == thread_cnt ? 0 : -EAGAIN;
}

struct wanted {
	const struct live_threads *threads;
	pid_t tid;
};

static bool is_below(const void *arg, size_t at)
{
	const struct wanted *wanted = arg;

	return (pid_t)wanted->threads->items[at]->tid < wanted->tid;
}

const struct memleak_thread_record *live_threads_find(const struct live_threads *threads, pid_t tid)
{
	struct wanted wanted = {threads, tid};
	size_t at = bisect(threads->cnt, is_below, &wanted);

	return at < threads->cnt && (pid_t)threads->items[at]->tid == tid ? threads->items[at]
									  : NULL;
}

bool live_thread_is_worker(const struct memleak_thread_record *thread)
{
	return thread->flags & MEMLEAK_THREAD_KNOWN && !registers_pc(thread->registers) &&
	       !registers_sp(thread->registers);
}

bool live_thread_is_idle(const struct memleak_thread_record *thread)
{
	return thread->flags & MEMLEAK_THREAD_ASLEEP || live_thread_is_worker(thread);
}

bool live_threads_are_idle(const struct live_threads *threads)
{
	for (size_t i = 0; i < threads->cnt; i++)
		if (!live_thread_is_idle(threads->items[i]))
			return false;
	return true;
}

bool live_threads_stayed_idle(const struct live_threads *before, const struct live_threads *after)
{
	if (!live_threads_are_idle(before) || before->cnt != after->cnt)
		return false;
	for (size_t i = 0; i < before->cnt; i++) {
		const struct memleak_thread_record *was = before->items[i], *is = after->items[i];

		if (was->tid != is->tid || live_thread_is_worker(was) != live_thread_is_worker(is))
			return false;
		if (!live_thread_is_worker(is) &&
		    (!live_thread_is_idle(is) || was->switches != is->switches))
			return false;
	}
	return true;
}

static int read_state(const struct memleak_thread_record *thread, struct thread_state *ret)
{
	size_t room = registers_word_cnt + thread->vector_bytes / sizeof(uint64_t);
	uint64_t *words = malloc(room * sizeof(*words));

	if (!words)
		return -ENOMEM;
	*ret = (struct thread_state){
		.tid = (pid_t)thread->tid,
		.sp = registers_sp(thread->registers),
		.known = true,
		.has_registers = true,
		.words = words,
		.word_cnt = registers_word_cnt,
	};
	memcpy(words, thread->registers, registers_word_cnt * sizeof(*words));
	ret->word_cnt += registers_vector_words(thread + 1, thread->vector_bytes,
						words + registers_word_cnt);
	return 0;
}

int live_threads_add_states(const struct live_threads *threads, struct thread_states *states)
{
	int err = 0;

	for (size_t i = 0; !err && i < threads->cnt; i++) {
		const struct memleak_thread_record *thread = threads->items[i];

		if (live_thread_is_worker(thread))
			continue;
		err = array_reserve(&states->items, &states->cap, states->cnt + 1);
		if (err)
			break;
		states->items[states->cnt] = (struct thread_state){.tid = (pid_t)thread->tid};
		if (live_thread_is_idle(thread) && thread->flags & MEMLEAK_THREAD_KNOWN)
			err = read_state(thread, &states->items[states->cnt]);
		states->cnt += !err;
	}
	return err;
}
