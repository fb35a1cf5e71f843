// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which runtime a file belongs to, and the advice for its version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "report/runtime_objects.h"

static bool advises(const char *module, const char *word)
{
	const struct runtime_objects *objects = runtime_objects_of(module);

	assert_non_null(objects);
	return strstr(objects->advice, word) && strstr(objects->block_advice, word);
}

/* Python before 3.12 has no "python3 -X perf". */
static void versions(void **state)
{
	assert_true(advises("/usr/bin/python3.11", "tracemalloc"));
	assert_true(advises("/usr/lib/libpython3.9.so.1.0", "tracemalloc"));
	assert_true(advises("/usr/bin/python3.12", "run with"));
	assert_true(advises("/opt/lib/libpython3.14.so.1.0", "run with"));
	assert_true(advises("/usr/bin/python3", "run with"));
	assert_false(advises("/usr/bin/python3.12", "tracemalloc"));
	assert_true(advises("/usr/bin/ruby3.1", "ObjectSpace"));
}

static void others(void **state)
{
	assert_string_equal(runtime_objects_of("/usr/bin/lua5.4")->words, "lua objects");
	assert_string_equal(runtime_objects_of("/usr/bin/tclsh8.6")->words, "tcl objects");
	assert_non_null(runtime_objects_of("/usr/lib/libgc.so.1.5.1"));
	assert_null(runtime_objects_of("/usr/bin/gc"));
	assert_null(runtime_objects_of("/usr/bin/pythonic"));
	assert_null(runtime_objects_of(NULL));
}

/* Blocks get a name such as "Buffers of node" only if a known runtime function allocates them. */
static void functions(void **state)
{
	assert_string_equal(runtime_objects_of("/usr/bin/node")->words, "JavaScript objects");
	assert_string_equal(
		runtime_blocks_of("/usr/lib/libnode.so.108", "node::Buffer::New(v8::Isolate*)")
			->words,
		"Buffers of node");
	assert_null(runtime_blocks_of("/usr/bin/node", "node::CompressionStream::AllocForZlib"));
	assert_null(runtime_blocks_of("/srv/app", "node::Buffer::New(v8::Isolate*)"));
	assert_true(runtime_has_blocks("/usr/bin/node"));
	assert_true(runtime_has_blocks("/usr/bin/perl"));
	assert_false(runtime_has_blocks("/usr/bin/python3"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions),
		cmocka_unit_test(others),
		cmocka_unit_test(functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
