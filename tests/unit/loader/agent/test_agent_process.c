// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests estimates with odd sampling rates. The rates come from the target and may be anything;
 * estimates must still be finite.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_rate_is_estimated),
		cmocka_unit_test(what_was_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
