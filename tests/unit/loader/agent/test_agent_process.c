// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests estimates with odd sampling rates, and walks over blocks that have to end. The rates come
 * from the target and may be anything; estimates must still be finite.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/signals.h"
#include "loader/agent/agent_process.h"

static void any_rate_is_estimated(void **state)
{
	static const uint64_t rates[] = {0, 1, 512 << 10, UINT32_MAX, UINT64_MAX};
	static const uint64_t sizes[] = {0, 1, 4096, UINT64_MAX >> 1, SAMPLED_FOR_CERTAIN};
	const size_t rate_cnt = sizeof(rates) / sizeof(rates[0]);

	for (size_t i = 0; i < rate_cnt * rate_cnt; i++) {
		struct account account = {.modes = ACCOUNT_SAMPLES,
					  .sample_rate = rates[i / rate_cnt],
					  .sample_bytes = rates[i % rate_cnt]};
		const struct agent_process process = {.view.account = &account};
		const struct sampling sampling = agent_process__sampling(&process);

		assert_int_equal(sampling.mode,
				 account.sample_rate ? SAMPLING_COUNT : SAMPLING_BYTES);
		for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
			struct estimate sum = {0};

			estimate_add(&sum, &sampling, 16, sizes[j]);
			assert_true(isfinite(sum.bytes) && isfinite(sum.count));
			assert_true(isfinite(sum.bytes_variance) && isfinite(sum.count_variance));
			assert_true(sum.count >= 1);
		}
	}
}

static void what_was_asked_for(void **state)
{
	struct account account = {.sample_bytes = 3};
	struct agent_process process = {.view.account = &account};
	struct sampling sampling = {SAMPLING_BYTES, 512 << 10};

	assert_int_equal(agent_process__sampling(&process).mode, SAMPLING_NONE);
	agent_process__sample(&process, &sampling);
	assert_int_equal(agent_process__sampling(&process).mode, SAMPLING_BYTES);
	assert_int_equal(agent_process__sampling(&process).rate, 512 << 10);
	sampling = (struct sampling){SAMPLING_COUNT, 100};
	agent_process__sample(&process, &sampling);
	assert_int_equal(agent_process__sampling(&process).mode, SAMPLING_COUNT);
	assert_int_equal(agent_process__sampling(&process).rate, 100);
}

#define BYTES ((uint64_t)64 << 20)
#define BLOCKS 3

/* Makes an account of 64 MiB with BLOCKS blocks, as the agent does, and opens it. */
static void make_account(struct account_view *ret)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct account_chunk *chunk;
	struct account *account;

	assert_int_equal(ftruncate(fd, (off_t)BYTES), 0);
	account = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(account, MAP_FAILED);
	account->magic = ACCOUNT_MAGIC;
	account->bytes = account->end = BYTES;
	for (unsigned int i = 0; i < ACCOUNT_REGION_CNT; i++)
		account->region[i] = 4096ULL * (i + 1);
	account->chunk_cnt = 1;
	chunk = (void *)((char *)account + account->region[ACCOUNT_CHUNKS]);
	for (unsigned int i = 0; i < BLOCKS; i++)
		chunk->lines[i].cells[0].block = ACCOUNT_CELL(5, 100, 4);
	munmap(account, BYTES);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
	assert_int_equal(account_view_init(fd, ret), 0);
}

/* After the deadline of the last report, blocks are counted instead of read. */
static void late_blocks_are_counted(void **state)
{
	const struct options opts = {.max_size = UINT64_MAX};
	struct block_walker walker = {.opts = &opts, .read_until_ns = 1};
	const struct inherited_block inherited = {.size = 100};
	struct agent_process process = {.info.pid = getpid()};
	struct block_walk walk;
	struct snapshot snap;

	make_account(&process.view);
	block_walk_begin(&walker, UINT64_MAX / 4, &walk, &snap);
	assert_int_equal(agent_process__walk(&process, NULL, 0, &walk), 0);
	assert_int_equal(walk.unread, BLOCKS);
	assert_int_equal(agent_process__inherit(&process, NULL, &inherited, &walk), 0);
	assert_int_equal(walk.unread, BLOCKS + 1);
	block_walk_end(&walk, -ECANCELED, &snap);
	site_table_deinit(&walker.sites);
	account_view_deinit(&process.view);
}

/* A termination signal cancels any other report. */
static void signal_ends_walk(void **state)
{
	const struct options opts = {.max_size = UINT64_MAX};
	struct block_walker walker = {.opts = &opts};
	struct agent_process process = {.info.pid = getpid()};
	struct block_walk walk;
	struct snapshot snap;

	make_account(&process.view);
	block_walk_begin(&walker, UINT64_MAX / 4, &walk, &snap);
	assert_int_equal(signals_hold_all(), 0);
	raise(SIGTERM);
	assert_int_equal(agent_process__walk(&process, NULL, 0, &walk), -EINTR);
	signals_renew_end();
	block_walk_end(&walk, -ECANCELED, &snap);
	site_table_deinit(&walker.sites);
	account_view_deinit(&process.view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_rate_is_estimated),
		cmocka_unit_test(what_was_asked_for),
		cmocka_unit_test(late_blocks_are_counted),
		cmocka_unit_test(signal_ends_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
