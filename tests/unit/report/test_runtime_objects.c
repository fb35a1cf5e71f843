// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which language runtime a file belongs to, and the advice for its version. */
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
	return strstr(objects->advice, word) && !objects->advises_only_pools;
}

/*
 * memleak can read lines of scripts in this version: a perf map is advised only in reports without
 * such lines.
 */
static void check_lines(const char *module)
{
	const struct runtime_objects *objects = runtime_objects_of(module);

	assert_non_null(strstr(objects->advice, "PYTHONMALLOC=malloc"));
	assert_null(strstr(objects->advice, "-X perf"));
	assert_true(objects->advises_only_pools);
	assert_non_null(strstr(objects->lineless_advice, "PYTHONMALLOC=malloc and -X perf"));
	assert_non_null(strstr(objects->lineless_block_advice, "-X perf"));
}

/* Lines of scripts are not read in versions before Python 3.11. */
static void versions(void **state)
{
	assert_true(advises("/usr/bin/python3.10", "tracemalloc"));
	assert_null(runtime_objects_of("/usr/bin/python3.10")->lineless_advice);
	assert_true(advises("/usr/lib/libpython3.9.so.1.0", "tracemalloc"));
	check_lines("/usr/bin/python3.11");
	check_lines("/opt/lib/libpython3.14.so.1.0");
	check_lines("/usr/bin/python3");
	assert_true(advises("/usr/bin/ruby3.1", "ObjectSpace"));
}

static void others(void **state)
{
	assert_string_equal(runtime_objects_of("/usr/bin/lua5.4")->words, "lua objects");
	assert_string_equal(runtime_objects_of("/usr/bin/tclsh8.6")->words, "tcl objects");
	assert_string_equal(runtime_objects_of("java")->words, "java objects");
	assert_string_equal(runtime_objects_of("/usr/lib/erlang/erts-13.1/bin/beam.smp")->words,
			    "erlang terms");
	assert_true(advises("/usr/lib/libmozjs-102.so.102.15.1", "System.dumpHeap()"));
	assert_non_null(runtime_objects_of("/usr/lib/libgc.so.1.5.1"));
	assert_null(runtime_objects_of("/usr/bin/gc"));
	assert_non_null(runtime_objects_of("/usr/lib/libapr-1.so.0.7.2"));
	assert_null(runtime_objects_of("/usr/lib/libaprutil-1.so.0.6.1"));
	assert_null(runtime_objects_of("/usr/bin/pythonic"));
	assert_null(runtime_objects_of("/usr/bin/libpython3.11"));
	assert_null(runtime_objects_of(NULL));
}

/*
 * Blocks are named, for instance "Buffers of node", only if a known function of the runtime
 * allocates them.
 */
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
