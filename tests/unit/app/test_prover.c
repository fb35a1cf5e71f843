// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests that the pictures of a report that was cancelled are not used for the next one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdint.h>

#include "app/prover.h"
#include "loader/source.h"
#include "options/options.h"

static int no_processes(const struct source *source, struct traced_process **ret, size_t *ret_cnt)
{
	(void)source;
	*ret = NULL;
	*ret_cnt = 0;
	return 0;
}

static void after_cancelled_report(void **state)
{
	static const struct source_ops ops = {.processes = no_processes};
	const struct options opts = {.prove = true, .prove_every = 2};
	struct source source = {.ops = &ops};
	struct prover prover;
	uint64_t before_ns;

	(void)state;
	assert_int_equal(prover_init(&opts, &prover), 0);
	assert_int_equal(prover_begin(&prover, &source, PROOF_IN_TURN, &before_ns), 0);
	assert_true(prover.begun);
	assert_int_equal(prover_begin(&prover, &source, PROOF_IN_TURN, &before_ns), 0);
	assert_false(prover.begun);
	prover_deinit(&prover);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(after_cancelled_report)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
