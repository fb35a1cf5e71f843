// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests parsing the records of threads that a BPF program writes, including invalid records. */
#include "proof/live_threads.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proof/arch.h"

#define ASLEEP (MEMLEAK_THREAD_ASLEEP | MEMLEAK_THREAD_KNOWN)

/* Adds a thread's record; its registers have the values 100, 101, ... */
static struct memleak_thread_record *add(struct live_threads *threads, pid_t tid,
					 uint32_t thread_cnt, uint32_t flags, uint32_t vector_bytes)
{
	struct memleak_thread_record *record;

	threads->store =
		realloc(threads->store, threads->store_len + sizeof(*record) + vector_bytes);
	record = (void *)(threads->store + threads->store_len);
	memset(record, 0, sizeof(*record) + vector_bytes);
	record->bytes = (uint32_t)sizeof(*record) + vector_bytes;
	record->vector_bytes = vector_bytes;
	record->tid = (uint32_t)tid;
	record->thread_cnt = thread_cnt;
	record->flags = flags;
	record->switches = 7;
	for (size_t i = 0; i < registers_word_cnt; i++)
		record->registers[i] = 100 + i;
	threads->store_len += record->bytes;
	return record;
}

static void threads_are_found_by_number(void **state)
{
	struct live_threads threads = {0};

	add(&threads, 30, 3, ASLEEP, 0);
	add(&threads, 10, 3, ASLEEP, 64);
	add(&threads, 20, 3, MEMLEAK_THREAD_ENDED, 0);
	assert_int_equal(live_threads_index(&threads), 0);
	assert_int_equal(threads.cnt, 2);
	assert_int_equal(live_threads_find(&threads, 10)->tid, 10);
	assert_int_equal(live_threads_find(&threads, 30)->tid, 30);
	assert_null(live_threads_find(&threads, 20));
	assert_null(live_threads_find(&threads, 31));
	assert_true(live_threads_are_idle(&threads));
	live_threads_deinit(&threads);
}

static int index_of(struct live_threads *threads)
{
	int err = live_threads_index(threads);

	live_threads_deinit(threads);
	return err;
}

static void incomplete_lists_are_read_again(void **state)
{
	struct live_threads threads = {0};

	assert_int_equal(live_threads_index(&threads), -ESRCH);
	add(&threads, 10, 2, ASLEEP, 0);
	assert_int_equal(index_of(&threads), -EAGAIN);
	add(&threads, 10, 2, ASLEEP, 0);
	add(&threads, 10, 2, ASLEEP, 0);
	assert_int_equal(index_of(&threads), -EAGAIN);
}

static void nonsense_is_refused(void **state)
{
	struct live_threads threads = {0};

	add(&threads, 10, 1, ASLEEP, 0)->bytes = 0;
	assert_int_equal(index_of(&threads), -EPROTO);
	add(&threads, 10, 1, ASLEEP, 0)->bytes += 8;
	assert_int_equal(index_of(&threads), -EPROTO);
	add(&threads, 10, 1, ASLEEP, 64)->vector_bytes = UINT32_MAX;
	assert_int_equal(index_of(&threads), -EPROTO);
	add(&threads, 0, 1, ASLEEP, 0);
	assert_int_equal(index_of(&threads), -EPROTO);
	add(&threads, 10, 1, ASLEEP, 64);
	threads.store_len -= 60;
	assert_int_equal(index_of(&threads), -EPROTO);
}

static bool stayed_idle(pid_t tid, uint32_t flags, uint64_t more_switches)
{
	struct live_threads before = {0}, after = {0};
	bool same;

	add(&before, 10, 1, ASLEEP, 0);
	add(&after, tid, 1, flags, 0)->switches += more_switches;
	live_threads_index(&before);
	live_threads_index(&after);
	same = live_threads_stayed_idle(&before, &after);
	live_threads_deinit(&before);
	live_threads_deinit(&after);
	return same;
}

static void threads_that_ran_are_found_by_switches(void **state)
{
	assert_true(stayed_idle(10, ASLEEP, 0));
	assert_false(stayed_idle(10, ASLEEP, 1));
	assert_false(stayed_idle(10, MEMLEAK_THREAD_KNOWN, 0));
	assert_false(stayed_idle(11, ASLEEP, 0));
}

static void registers_become_words(void **state)
{
	struct live_threads threads = {0};
	struct thread_states states = {0};

	add(&threads, 10, 3, ASLEEP, 0);
	add(&threads, 20, 3, MEMLEAK_THREAD_KNOWN, 0);
	add(&threads, 30, 3, MEMLEAK_THREAD_ASLEEP, 0);
	assert_int_equal(live_threads_index(&threads), 0);
	assert_int_equal(live_threads_add_states(&threads, &states), 0);
	assert_int_equal(states.cnt, 3);
	assert_true(states.items[0].known);
	assert_int_equal(states.items[0].sp, registers_sp(threads.items[0]->registers));
	assert_int_equal(states.items[0].word_cnt, registers_word_cnt);
	assert_int_equal(states.items[0].words[5], 105);
	assert_false(states.items[1].known);
	assert_false(states.items[2].known);
	thread_states_deinit(&states);
	live_threads_deinit(&threads);
}

#ifdef __x86_64__
static size_t vector_words(uint64_t used, size_t bytes, uint64_t *words)
{
	uint64_t raw[104];

	for (size_t i = 0; i < 104; i++)
		raw[i] = i;
	raw[64] = used;
	return registers_vector_words(raw, bytes, words);
}

static void unused_vector_registers_are_left_out(void **state)
{
	uint64_t words[104];

	assert_int_equal(vector_words(0, 832, words), 0);
	assert_int_equal(vector_words(2, 832, words), 32);
	assert_int_equal(words[0], 20);
	assert_int_equal(words[31], 51);
	assert_int_equal(vector_words(7, 832, words), 16 + 32 + 32);
	assert_int_equal(words[0], 4);
	assert_int_equal(words[79], 103);
	assert_int_equal(vector_words(6, 832, words), 64);
	/* Without XSAVE, no header says which vector registers are in use, so all of them count. */
	assert_int_equal(vector_words(0, 512, words), 48);
	assert_int_equal(vector_words(0, 0, words), 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_are_found_by_number),
		cmocka_unit_test(incomplete_lists_are_read_again),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(threads_that_ran_are_found_by_switches),
		cmocka_unit_test(registers_become_words),
#ifdef __x86_64__
		cmocka_unit_test(unused_vector_registers_are_left_out),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
