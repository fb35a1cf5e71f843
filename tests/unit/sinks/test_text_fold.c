// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the headline of a text report, and stacks in the form for people: the blamed frame is
 * marked, frames are folded, and callers of main() are left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "sinks/sink.h"
#include "sinks/text_part.h"
#include "tests/unit/lib/scenes.h"

#define OF(file, name)                                                                             \
	{                                                                                          \
		.module = (file), ONE(.symbol = (name))                                            \
	}
#define AT(name, number)                                                                           \
	{                                                                                          \
		.module = MINE, ONE(.symbol = (name), .file = "app/p.c", .line = (number))         \
	}
#define TEN(text) text text text text text text text text text text
#define LIBCXX "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30"
#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define MINE "/srv/app"
#define PYTHON "/usr/bin/python3.11"
#define STANDARD "/usr/lib/python3.11/"
#define PACKAGES "/usr/lib/python3/dist-packages/"
#define OWN "/opt/shop/lib/python3/"
#define SCRIPT(name, path) OF("[jit]", "py::" name ":" path)

#define NAMELESS(file, address)                                                                    \
	{                                                                                          \
		.addr = (address), .module = (file), .module_offset = (address)                    \
	}
#define STARTED_AS(name, address)                                                                  \
	{                                                                                          \
		.addr = (address), .module = MINE, .known_as = (name), .module_offset = (address)  \
	}
#define JIT(address)                                                                               \
	{                                                                                          \
		.addr = (address), .module = "[jit]", .module_offset = (address)                   \
	}

#define ROOM 24

struct stack {
	const struct sym_location locations[ROOM];
	size_t cnt;
	struct stack_pos blamed;
	struct stack_pos through; /* not marked if it is the first function of the stack */
	bool all_frames;
	enum text_look look;
	const char *expected;
};

static const struct stack stacks[] = {
	{.locations = {OF(LIBCXX, "operator new(unsigned long)"),
		       OF(LIBCXX, "std::string::reserve(unsigned long)"),
		       OF(LIBCXX, "std::string::append(char const*)"), OF(MINE, "make(int)"),
		       OF(MINE, "main"), OF(LIBC, NULL), OF(LIBC, "__libc_start_main")},
	 .cnt = 7,
	 .blamed = {.frame = 3},
	 .expected = "    operator new [libstdc++.so.6.0.30]\n"
		     "    … 2 frames of libstdc++.so.6.0.30\n"
		     "  → make [app]\n"
		     "    main [app]\n"},
	/* With all_frames, callers of main() are printed. */
	{.locations = {OF(MINE, "make"), OF(MINE, "main"), OF(LIBC, "__libc_start_main")},
	 .cnt = 3,
	 .all_frames = true,
	 .expected = "  → make [app]\n"
		     "    main [app]\n"
		     "    __libc_start_main [libc.so.6]\n"},
	/*
	 * Library code that is compiled into the program is folded, but not a single frame, which
	 * would not save a line.
	 */
	{.locations = {OF(MINE, "take"), OF(MINE, "std::vector<int>::grow()"),
		       OF(MINE, "std::vector<int>::push_back(int)"), OF(MINE, "fill"),
		       OF(MINE, "std::invoke()"), OF(MINE, "thread"), OF(LIBC, "start_thread"),
		       OF(LIBC, "clone3")},
	 .cnt = 8,
	 .blamed = {.frame = 3},
	 .expected = "    take [app]\n"
		     "    … 2 frames of std\n"
		     "  → fill [app]\n"
		     "    std::invoke [app]\n"
		     "    thread [app]\n"},
	/* All frames belong to an interpreter, and one of them is blamed. */
	{.locations = {OF(PYTHON, "a"), OF(PYTHON, "b"), OF(PYTHON, "c"), OF(PYTHON, "d"),
		       OF(PYTHON, "e"), OF(PYTHON, "f"), OF(PYTHON, "g"), OF(PYTHON, "h"),
		       OF(PYTHON, "i"), OF(PYTHON, "j")},
	 .cnt = 10,
	 .blamed = {.frame = 2},
	 .look = LOOK_COLOUR,
	 .expected = "    a [python3.11]\n"
		     "    b [python3.11]\n"
		     "  → \x1b[1mc\x1b[0m [python3.11]\n"
		     "    d [python3.11]\n"
		     "    e [python3.11]\n"
		     "    f [python3.11]\n"
		     "    g [python3.11]\n"
		     "    \x1b[2m… 3 frames of python3.11\x1b[0m\n"},
	/*
	 * Functions of scripts have names as in perf maps. Frames of the interpreter between them
	 * are folded.
	 */
	{.locations = {OF(PYTHON, "a"), OF(PYTHON, "b"),
		       OF("[jit]", "py::remember:/srv/app/leaky.py"), OF(PYTHON, "c"),
		       OF(PYTHON, "d"), OF("[jit]", "JS:*handle file:///srv/app/web.js:12:3"),
		       OF(PYTHON, "e"), OF("[jit]", "stub")},
	 .cnt = 8,
	 .blamed = {.frame = 2},
	 .expected = "    a [python3.11]\n"
		     "    b [python3.11]\n"
		     "  → remember app/leaky.py\n"
		     "    … 2 frames of python3.11\n"
		     "    handle app/web.js:12\n"
		     "    e [python3.11]\n"
		     "    stub [jit]\n"},
	/* Unnamed frames of generated code are folded, but not named frames, nor the blamed one. */
	{.locations = {OF(PYTHON, "a"), JIT(1), JIT(2), JIT(3), OF("[jit]", "stub"), JIT(4),
		       OF(PYTHON, "b")},
	 .cnt = 7,
	 .blamed = {.frame = 1},
	 .expected = "    a [python3.11]\n"
		     "  → [jit]+0x1\n"
		     "    … 2 frames of [jit]\n"
		     "    stub [jit]\n"
		     "    [jit]+0x4\n"
		     "    b [python3.11]\n"},
	/*
	 * Functions of the standard library are folded together with the interpreter's frames
	 * beside them, except the innermost one and the one that the script itself calls.
	 */
	{.locations = {OF(PYTHON, "a"), OF(PYTHON, "b"), OF(PYTHON, "c"), OF(PYTHON, "d"),
		       SCRIPT("iterencode", STANDARD "json/encoder.py"), OF(PYTHON, "e"),
		       OF(PYTHON, "f"), SCRIPT("encode", STANDARD "json/encoder.py"),
		       SCRIPT("dumps", STANDARD "json/__init__.py"),
		       SCRIPT("remember", "/srv/app/leaky.py")},
	 .cnt = 10,
	 .blamed = {.frame = 9},
	 .through = {.frame = 8},
	 .expected = "    a [python3.11]\n"
		     "    b [python3.11]\n"
		     "    c [python3.11]\n"
		     "    d [python3.11]\n"
		     "    iterencode json/encoder.py\n"
		     "    … 3 frames of python3.11\n"
		     "    dumps json/__init__.py\n"
		     "  → remember app/leaky.py\n"},
	/*
	 * Recursion in the standard library is shown. The innermost frame is in another
	 * interpreter.
	 */
	{.locations = {OF("/usr/lib/x86_64-linux-gnu/libtcl8.6.so", "a"),
		       SCRIPT("_reconstruct", STANDARD "copy.py"), OF(PYTHON, "d"),
		       SCRIPT("_deepcopy_dict", STANDARD "copy.py"),
		       SCRIPT("deepcopy", STANDARD "copy.py"),
		       SCRIPT("_deepcopy_dict", STANDARD "copy.py"),
		       SCRIPT("deepcopy", STANDARD "copy.py"),
		       SCRIPT("_deepcopy_dict", STANDARD "copy.py"),
		       SCRIPT("deepcopy", STANDARD "copy.py"),
		       SCRIPT("copy_all", STANDARD "copy.py"),
		       SCRIPT("copy_all", STANDARD "other.py"),
		       SCRIPT("remember", "/srv/app/leaky.py"), OF(PYTHON, "b"), OF(PYTHON, "c")},
	 .cnt = 14,
	 .blamed = {.frame = 11},
	 .expected = "    a [libtcl8.6.so]\n"
		     "    _reconstruct python3.11/copy.py\n"
		     "    d [python3.11]\n"
		     "    _deepcopy_dict python3.11/copy.py\n"
		     "    deepcopy python3.11/copy.py\n"
		     "    … these 2 frames ×3\n"
		     "    … 2 frames of python3.11\n"
		     "  → remember app/leaky.py\n"
		     "    … 2 frames of python3.11\n"},
	/* A script's callers in the standard library are folded, but not those in packages. */
	{.locations = {OF(PYTHON, "a"), SCRIPT("encode", STANDARD "json/encoder.py"),
		       SCRIPT("dumps", STANDARD "json/__init__.py"),
		       SCRIPT("remember", "/srv/app/leaky.py"), SCRIPT("run", STANDARD "queue.py"),
		       OF(PYTHON, "b"), SCRIPT("loop", STANDARD "threading.py"),
		       SCRIPT("handle", PACKAGES "flask/app.py"), OF(PYTHON, "c"),
		       SCRIPT("_find", "<frozen importlib>"), SCRIPT("route", OWN "shop/route.py"),
		       SCRIPT("find", OWN "shop/route.py"), SCRIPT("serve", "/srv/app/web.py")},
	 .cnt = 13,
	 .blamed = {.frame = 3},
	 .through = {.frame = 2},
	 .expected = "    a [python3.11]\n"
		     "    encode json/encoder.py\n"
		     "    dumps json/__init__.py\n"
		     "  → remember app/leaky.py\n"
		     "    … 3 frames of python3.11\n"
		     "    handle flask/app.py\n"
		     "    … 2 frames of python3.11\n"
		     "    route shop/route.py\n"
		     "    find shop/route.py\n"
		     "    serve app/web.py\n"},
	/*
	 * Callers of a blamed function of the standard library are not folded: they show why it was
	 * called.
	 */
	{.locations = {OF(PYTHON, "a"), SCRIPT("put", STANDARD "queue.py"),
		       SCRIPT("submit", STANDARD "concurrent/futures/thread.py"),
		       SCRIPT("loop", STANDARD "threading.py")},
	 .cnt = 4,
	 .blamed = {.frame = 1},
	 .expected = "    a [python3.11]\n"
		     "  → put python3.11/queue.py\n"
		     "    submit futures/thread.py\n"
		     "    loop python3.11/threading.py\n"},
	{.locations =
		 {{.module = MINE,
		   ONE(.symbol = "Table<" TEN("unsigned int, ") "int>::" TEN("grow_and_") "(int)",
		       .file = "/" TEN("generated/") TEN("long_name_") "/" TEN("code.gen.") "c",
		       .line = 7)},
		  OF("/opt/" TEN("lib_of_all"), "main")},
	 .cnt = 2,
	 .expected = "  → Table<...>::grow_and_grow_and_grow_and_grow_and_..."
		     "and_grow_and_grow_and_grow_and_grow_and_grow_and_ "
		     "long_name_long_name_long_name_long_nam..."
		     "n.code.gen.code.gen.code.gen.code.gen.c:7\n"
		     "    main [lib_of_alllib_of_alllib_of_alllib_of_a..."
		     "ib_of_alllib_of_alllib_of_alllib_of_all]\n"},
	/*
	 * Recursive calls at one line are folded. The innermost recursive call is at another line,
	 * so it is shown separately.
	 */
	{.locations = {AT("make", 3), AT("parse", 7), AT("parse", 9), AT("parse", 9),
		       AT("parse", 9), AT("main", 20), OF(LIBC, "__libc_start_main")},
	 .cnt = 7,
	 .expected = "  → make app/p.c:3\n"
		     "    parse app/p.c:7\n"
		     "    parse app/p.c:9 ×3\n"
		     "    main app/p.c:20\n"},
	/* Two recursive calls are not folded. */
	{.locations = {AT("make", 3), AT("parse", 9), AT("parse", 9), AT("main", 20)},
	 .cnt = 4,
	 .expected = "  → make app/p.c:3\n"
		     "    parse app/p.c:9\n"
		     "    parse app/p.c:9\n"
		     "    main app/p.c:20\n"},
	/* With all_frames, nothing is folded. */
	{.locations = {AT("make", 3), AT("parse", 9), AT("parse", 9), AT("parse", 9)},
	 .cnt = 4,
	 .all_frames = true,
	 .expected = "  → make app/p.c:3\n"
		     "    parse app/p.c:9\n"
		     "    parse app/p.c:9\n"
		     "    parse app/p.c:9\n"},
	/* A function that recurses at two alternating lines is folded. */
	{.locations = {AT("make", 3), AT("insert", 5), AT("insert", 6), AT("insert", 5),
		       AT("insert", 5), AT("insert", 6), AT("main", 20)},
	 .cnt = 7,
	 .expected = "  → make app/p.c:3\n"
		     "    insert app/p.c:5 ×5, at several lines\n"
		     "    main app/p.c:20\n"},
	/*
	 * Functions that call each other by way of the standard library are folded. The outermost
	 * round is incomplete.
	 */
	{.locations = {AT("make", 3), AT("term", 5), OF(MINE, "std::visit()"),
		       OF(MINE, "std::invoke()"), AT("list", 6), AT("term", 5),
		       OF(MINE, "std::visit()"), OF(MINE, "std::invoke()"), AT("list", 6),
		       AT("term", 5), OF(MINE, "std::visit()"), OF(MINE, "std::invoke()"),
		       AT("list", 6), AT("term", 5), AT("main", 20)},
	 .cnt = 15,
	 .expected = "  → make app/p.c:3\n"
		     "    term app/p.c:5\n"
		     "    … 2 frames of std\n"
		     "    list app/p.c:6\n"
		     "    … these 4 frames ×3\n"
		     "    term app/p.c:5\n"
		     "    main app/p.c:20\n"},
	/*
	 * Equal frames without names are folded. The blamed frame is shown: it may stand for the
	 * frames after it, but not for those before it.
	 */
	{.locations = {OF(MINE, NULL), OF(MINE, NULL), OF(MINE, NULL), OF(MINE, NULL),
		       OF(MINE, NULL), OF(MINE, NULL), OF(MINE, NULL)},
	 .cnt = 7,
	 .blamed = {.frame = 3},
	 .expected = "    app+0x0\n"
		     "    app+0x0\n"
		     "    app+0x0\n"
		     "  → app+0x0 ×4\n"},
	/*
	 * Unnamed functions: the four innermost ones are shown. Adjacent ones after these are
	 * folded if they are in the same file, except the blamed frame and recursion.
	 */
	{.locations = {NAMELESS("/opt/libx.so", 1),
		       OF(MINE, "make"),
		       NAMELESS("/opt/libx.so", 2),
		       NAMELESS(MINE, 3),
		       NAMELESS(MINE, 4),
		       NAMELESS(MINE, 5),
		       OF(MINE, "parse"),
		       NAMELESS(MINE, 6),
		       NAMELESS(MINE, 7),
		       NAMELESS(MINE, 8),
		       NAMELESS(MINE, 9),
		       NAMELESS("/opt/libx.so", 10),
		       NAMELESS("/opt/libx.so", 11),
		       NAMELESS("/opt/libx.so", 12),
		       NAMELESS(MINE, 13),
		       NAMELESS(MINE, 13),
		       NAMELESS(MINE, 13),
		       NAMELESS(MINE, 14),
		       NAMELESS(MINE, 15),
		       NAMELESS(LIBC, 16),
		       NAMELESS(LIBC, 17),
		       OF(MINE, "main")},
	 .cnt = 22,
	 .blamed = {.frame = 7},
	 .expected = "    libx.so+0x1\n"
		     "    make [app]\n"
		     "    libx.so+0x2\n"
		     "    app+0x3\n"
		     "    app+0x4\n"
		     "    app+0x5\n"
		     "    parse [app]\n"
		     "  → app+0x6\n"
		     "    … 3 unnamed frames of app\n"
		     "    … 3 unnamed frames of libx.so\n"
		     "    app+0xd ×3\n"
		     "    … 2 unnamed frames of app\n"
		     "    … 2 frames of libc.so.6\n"
		     "    main [app]\n"},
	/* A program that was started by another name than that of its file */
	{.locations = {STARTED_AS("server", 1), STARTED_AS("server", 2), STARTED_AS("server", 3),
		       STARTED_AS("server", 4), STARTED_AS("server", 5), STARTED_AS("server", 6),
		       OF(MINE, "main")},
	 .cnt = 7,
	 .blamed = {.frame = 6},
	 .expected = "    server+0x1\n"
		     "    server+0x2\n"
		     "    server+0x3\n"
		     "    server+0x4\n"
		     "    … 2 unnamed frames of server\n"
		     "  → main [app]\n"},
	{.cnt = 0, .expected = "    (stack not known)\n"},
};

static void stacks_are_folded(void **state)
{
	uint64_t frames[ROOM];
	const struct snapshot snap = {0};

	for (size_t i = 0; i < LENGTH(stacks); i++) {
		const struct stack *stack = &stacks[i];
		const struct sym_location *locations[ROOM];
		const struct site site = {.frames = frames, .frame_cnt = stack->cnt};
		const struct report_site shown = {.site = &site,
						  .locations = locations,
						  .blamed = stack->blamed,
						  .has_through = stack->through.frame != 0,
						  .through = stack->through};
		const struct report report = {.snapshot = &snap, .all_frames = stack->all_frames};
		cleanup_free char *text = NULL;
		size_t len;
		struct text_part part = {open_memstream(&text, &len),
					 &report,
					 "",
					 false,
					 stack->look ? stack->look : LOOK_PLAIN,
					 NULL,
					 false};

		assert_non_null(part.out);
		for (size_t j = 0; j < stack->cnt; j++) {
			locations[j] = &stack->locations[j];
			frames[j] = locations[j]->addr;
		}
		text_write_folded_stack(&part, &shown);
		fclose(part.out);
		assert_string_equal(text, stack->expected);
	}
}

/*
 * Callers that the previous stack has as well are folded, unless the blamed frame is one of them or
 * the stack is of another process.
 */
static void callers_as_above(void **state)
{
	static const struct {
		size_t blamed;
		bool other_process;
		const char *expected;
	} cases[] = {
		{1, false, "    e\n  → b\n    … callers as above\n"},
		{2, false, "    e\n    b\n  → c\n    d\n    main\n"},
		{1, true, "    e\n  → b\n    c\n    d\n    main\n"},
	};
	const struct sym_location locations[] = {
		{.addr = 1, ONE(.symbol = "e")},    {.addr = 2, ONE(.symbol = "b")},
		{.addr = 3, ONE(.symbol = "c")},    {.addr = 4, ONE(.symbol = "d")},
		{.addr = 5, ONE(.symbol = "main")},
	};
	static const uint64_t frames[] = {1, 2, 3, 4, 5}, frames_above[] = {6, 3, 4, 5};
	const struct process processes[2] = {{.pid = 1}, {.pid = 2}};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct sym_location *known[5] = {&locations[0], &locations[1], &locations[2],
						       &locations[3], &locations[4]};
		const struct site site = {.process = &processes[0], STACK(frames)};
		const struct site other = {.process = &processes[cases[i].other_process],
					   STACK(frames_above)};
		const struct report_site above = {.site = &other};
		const struct report_site shown = {
			.site = &site, .locations = known, .blamed = {.frame = cases[i].blamed}};
		cleanup_free char *text = NULL;
		size_t len;
		struct text_part part = {
			open_memstream(&text, &len), NULL, "", false, LOOK_PLAIN, &above, false};

		assert_non_null(part.out);
		text_write_folded_stack(&part, &shown);
		fclose(part.out);
		assert_string_equal(text, cases[i].expected);
	}
}

/* An unfolded stack has short names only if short_names is set. */
static void long_names(void **state)
{
	static const char *const expected[] = {
		"\tPair<" TEN("unsigned long, ") TEN("int, ") "int>::put(int)+0x0 [app]\n",
		"\tPair<...>::put+0x0 [app]\n",
	};
	const struct sym_location place =
		OF(MINE, "Pair<" TEN("unsigned long, ") TEN("int, ") "int>::put(int)");
	const struct sym_location *locations[] = {&place};
	static const uint64_t frames[1];
	const struct site site = {STACK(frames)};
	const struct report_site shown = {.site = &site, .locations = locations};

	for (size_t i = 0; i < LENGTH(expected); i++) {
		cleanup_free char *text = NULL;
		size_t len;
		struct text_part part = {
			.out = open_memstream(&text, &len), .indent = "", .short_names = i};

		assert_non_null(part.out);
		text_write_stack(&part, &shown);
		fclose(part.out);
		assert_string_equal(text, expected[i]);
	}
}

static void headlines(void **state)
{
	static const struct {
		const uint64_t past[4];
		size_t cnt;
		const char *expected;
	} totals[] = {
		{{100}, 1, "2.0 KiB in 1 block\n"},
		{{1024, 2048}, 2, "2.0 KiB in 1 block, +1.0 KiB since the last report ▁█\n"},
		{{0, 7, 4, 4}, 4, "2.0 KiB in 1 block, +0 bytes since the last report ▁█▅▅\n"},
		{{5, 4}, 2, "2.0 KiB in 1 block, -1 byte since the last report █▁\n"},
		{{UINT64_MAX, 0},
		 2,
		 "2.0 KiB in 1 block, -16777216 TiB since the last report █▁\n"},
	};
	const struct snapshot snap = {.wall_ns = WALL_NS, .elapsed_ns = 5000000000};

	for (size_t i = 0; i < LENGTH(totals); i++) {
		const struct report report = {.snapshot = &snap,
					      .bytes = 2048,
					      .count = 1,
					      .complete_bytes = 2048,
					      .past = totals[i].past,
					      .past_cnt = totals[i].cnt};
		cleanup_free char *text = NULL, *expected = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		assert_non_null(out);
		assert_int_equal(sink_for(FORMAT_TEXT)->report(out, &report), 0);
		fclose(out);
		expected = strndup(totals[i].expected, strlen(totals[i].expected) - 1);
		assert_non_null(expected);
		assert_non_null(strstr(text, expected));
		assert_non_null(strstr(strstr(text, expected), "; all stacks are complete\n"));
	}
}

/*
 * The headline names the process even if it has no site. If another process has sites, the headline
 * names that process. If nothing is outstanding, the headline has the number of traced calls,
 * except for descriptors, whose calls are not counted.
 */
static void headline_names_process(void **state)
{
	static const struct process held = {.pid = 70, .comm = "held"},
				    idle = {.pid = 71, .comm = "idle"};
	struct site site = {.process = &held, .bytes = 2048, .count = 1};
	struct process_tally tally = {.process = &idle};
	struct snapshot snap = {.wall_ns = WALL_NS, .elapsed_ns = 5000000000};
	static const struct {
		size_t tallies, sites;
		uint64_t calls;
		const char *expected;
		bool of_descriptors;
	} heads[] = {
		{0, 0, 0, " traced for 5 s: nothing outstanding; no calls traced\n", false},
		{1, 0, 1, " idle (71), traced for 5 s: nothing outstanding; 1 call traced\n",
		 false},
		{1, 0, 9, " idle (71), traced for 5 s: nothing outstanding; 9 calls traced\n",
		 false},
		{1, 0, 0, " idle (71), traced for 5 s: nothing outstanding\n", true},
		{1, 1, 9, " held (70), traced for 5 s: 2.0 KiB in 1 block", false},
	};

	(void)state;
	snap.sites = &site;
	snap.tallies = &tally;
	for (size_t i = 0; i < LENGTH(heads); i++) {
		struct report report = {
			.snapshot = &snap, .bytes = 2048 * heads[i].sites, .count = heads[i].sites};
		cleanup_free char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		assert_non_null(out);
		snap.tally_cnt = heads[i].tallies;
		snap.site_cnt = heads[i].sites;
		snap.calls = heads[i].calls;
		snap.descriptors.are_traced = heads[i].of_descriptors;
		assert_int_equal(sink_for(FORMAT_TEXT)->report(out, &report), 0);
		fclose(out);
		assert_non_null(strchr(text, ' '));
		assert_memory_equal(strchr(text, ' '), heads[i].expected,
				    strlen(heads[i].expected));
	}
}

/* Without outstanding kernel memory, no line says how much can be reclaimed. */
static void empty_kernel_report(void **state)
{
	const struct snapshot snap = {.kernel_memory = {.unreclaimable = 4096},
				      .kernel_memory_before = {.unreclaimable = 4096}};
	const struct report report = {.snapshot = &snap};
	cleanup_free char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_non_null(out);
	assert_int_equal(sink_for(FORMAT_TEXT)->report(out, &report), 0);
	fclose(out);
	assert_non_null(strstr(text, "kernel memory: 4.0 KiB of unreclaimable slab"));
	assert_null(strstr(text, "can reclaim"));
	assert_null(strstr(text, "cannot reclaim"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_folded),
		cmocka_unit_test(callers_as_above),
		cmocka_unit_test(long_names),
		cmocka_unit_test(headlines),
		cmocka_unit_test(headline_names_process),
		cmocka_unit_test(empty_kernel_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
