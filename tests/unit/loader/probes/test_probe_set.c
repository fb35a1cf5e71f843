// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests probes at places that are already probed. Attaches no probes, so it needs no root. */
#include "loader/probes/probe_set.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limited_call.h"
#include "loader/probes/backing_inode.h"

#define OFFSET 0x1000

/*
 * A place holds one probe. A second one with another shape is not attached, and the set must not
 * say that it has it: the first one does not do the work of the second one.
 */
static void other_shape(void **state)
{
	static const struct probe_programs programs = {.kind = LINK_MULTI};
	FILE *file = tmpfile();
	struct probe_set set = {.items = calloc(1, sizeof(*set.items)), .cnt = 1, .cap = 1};
	struct probe probe = {.shape = MEMLEAK_SHAPE_CODE, .offset = OFFSET};
	int fd;

	(void)state;
	limited_calls_begin();
	assert_non_null(file);
	assert_non_null(set.items);
	fd = fileno(file);
	set.items[0] = (struct probe){.shape = MEMLEAK_SHAPE_FREE, .offset = OFFSET};
	assert_int_equal(backing_inode(fd, &set.items[0].file), 0);
	assert_int_equal(probe_set_attach(&set, &programs, getpid(), fd, &probe, 1), 0);
	assert_int_equal(probe.err, -EEXIST);
	assert_int_equal(set.cnt, 1);
	assert_int_equal(set.link_cnt, 0);
	assert_true(probe_set_has(&set, fd, OFFSET, MEMLEAK_SHAPE_FREE));
	assert_false(probe_set_has(&set, fd, OFFSET, MEMLEAK_SHAPE_CODE));
	assert_false(probe_set_has(&set, fd, OFFSET + 1, MEMLEAK_SHAPE_FREE));
	probe_set_detach(&set);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(other_shape)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
