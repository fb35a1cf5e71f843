// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests finding lines and inlined calls of kernel code: in a relocated core kernel, and in modules
 * whose sections are loaded at unrelated addresses.
 */
#include <inttypes.h>
#include <signal.h>

#include "tests/unit/symbolizer/debuginfod.h"
#include "tests/unit/symbolizer/fake_kernel.h"
#include "tests/unit/symbolizer/known.h"

/* Difference between the addresses of the running kernel and those in its file (KASLR). */
#define SLIDE ((uint64_t)0x1c000000)

#define TEXT_AT ((uint64_t)0xffffffffc0a01000)
#define COLD_AT ((uint64_t)0xffffffffc0b40000)

/*
 * Sources of a kernel and of a module, with inlined calls of inner(). Their #line directives give
 * the expected lines.
 */
static const char core_source[] =
	"__attribute__((section(\".text.unlikely\"))) void _stext(void) { __asm__(\"\"); }\n"
	"void *volatile kept;\n"
	"__attribute__((noinline)) void *take(unsigned long n) { kept = (void *)n; return kept; }\n"
	"static inline __attribute__((always_inline)) char *inner(unsigned long n)\n"
	"{\n"
	"#line 105 \"mm/inner.h\"\n"
	"	return (char *)take(n + 1) + 1;\n"
	"}\n"
	"__attribute__((noinline)) void *outer(unsigned long n)\n"
	"{\n"
	"#line 209 \"mm/core.c\"\n"
	"	return inner(n) + 1;\n"
	"}\n"
	"int main(void) { return outer(1) == 0; }\n";

static const char module_source[] =
	"extern void *take(unsigned long n);\n"
	"static char table[64];\n"
	"char *filler(int n) { return &table[n]; }\n"
	"static inline __attribute__((always_inline)) char *inner(unsigned long n)\n"
	"{\n"
	"#line 305 \"leak/inner.h\"\n"
	"	return (char *)take(n + 1) + 1;\n"
	"}\n"
	"__attribute__((noinline)) void *leak_warm(unsigned long n)\n"
	"{\n"
	"#line 409 \"leak/leak.c\"\n"
	"	return inner(n) + 1;\n"
	"}\n"
	"__attribute__((noinline, section(\".text.unlikely\"))) void *leak_cold(unsigned long n)\n"
	"{\n"
	"#line 509 \"leak/leak.c\"\n"
	"	return inner(n) + 1;\n"
	"}\n";

struct function {
	uint64_t start;
	uint64_t bytes;
};

/* Finds a function in a file by `nm -S`, which prints address, size, type and name. */
static struct function function_in(const char *file, const char *name)
{
	struct function function = {0};
	char *command, line[256], type, found[64];
	FILE *nm;

	assert_true(asprintf(&command, "nm -S %s", in_folder(file)) > 0);
	nm = popen(command, "r");
	assert_non_null(nm);
	while (fgets(line, sizeof(line), nm)) {
		struct function next;

		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %c %63s", &next.start, &next.bytes, &type,
			   found) == 4 &&
		    !strcmp(found, name))
			function = next;
	}
	pclose(nm);
	free(command);
	assert_true(function.bytes > 0);
	return function;
}

static bool build(void)
{
	kernel_text("core.c", core_source);
	kernel_text("leak.c", module_source);
	return run(
		"for f in core leak; do $CC -g -O2 -fno-pic -fno-pie -fno-lto -c $f.c || exit; done"
		" && $CC -no-pie -static -Wl,--build-id -o vmlinux core.o"
		" && $CC -nostdlib -r -Wl,--build-id -o leak.ko leak.o"
		" && mkdir -p sys/module/leak/notes sys/module/leak/sections"
		" && objcopy --dump-section .note.gnu.build-id=sys/kernel/notes vmlinux"
		" && objcopy --dump-section"
		" .note.gnu.build-id=sys/module/leak/notes/.note.gnu.build-id leak.ko");
}

/* Builds a kernel and a module, and /proc and /sys as if they ran. */
static bool make_running(void)
{
	char *text;
	uint64_t stext, warm, cold;

	if (!build())
		return false;
	stext = function_in("vmlinux", "_stext").start + SLIDE;
	warm = function_in("leak.ko", "leak_warm").start + TEXT_AT;
	cold = function_in("leak.ko", "leak_cold").start + COLD_AT;
	assert_true(asprintf(&text,
			     "%016" PRIx64 " T _stext\n%016" PRIx64 " T outer\n%016" PRIx64
			     " T behind\n%016" PRIx64 " T _etext\n"
			     "%016" PRIx64 " t leak_warm\t[leak]\n"
			     "%016" PRIx64 " t leak_cold\t[leak]\n",
			     stext, function_in("vmlinux", "outer").start + SLIDE,
			     function_in("vmlinux", "outer").start + SLIDE +
				     function_in("vmlinux", "outer").bytes,
			     stext + 0x1000000, warm, cold) > 0);
	kernel_text("proc/kallsyms", text);
	free(text);
	kernel_text("proc/modules", "leak 16384 0 - Live 0xffffffffc0a01000\n");
	kernel_text("sys/module/leak/sections/.text", "0xffffffffc0a01000\n");
	kernel_text("sys/module/leak/sections/.text.unlikely", "0xffffffffc0b40000\n");
	kernel_text("sys/module/leak/sections/.data", "not a number\n");
	return true;
}

struct expected {
	const char *module;
	const char *symbol;
	const char *inner_file;
	unsigned int inner_line;
	const char *file;
	unsigned int line;
};

/*
 * Counts a function's addresses at which an inlined call of inner() is found. All must have the
 * function's name.
 */
static size_t count_inlined(const struct kernel *kernel, const struct function *function,
			    const struct expected *expected)
{
	size_t cnt = 0;

	for (uint64_t addr = function->start + 1; addr <= function->start + function->bytes;
	     addr++) {
		const struct sym_location *loc = resolve_one(kernel->space, addr, false, BUDGET_MS);
		const struct sym_frame *frame = loc->frames;

		assert_place(loc, expected->module, expected->symbol, addr - function->start);
		assert_non_null(loc->build_id);
		if (loc->frame_cnt == 1)
			continue;
		assert_int_equal(loc->frame_cnt, 2);
		assert_string_equal(frame[0].symbol, "inner");
		assert_true(frame[0].inlined);
		assert_true(ends_with(frame[0].file, expected->inner_file));
		assert_int_equal(frame[0].line, expected->inner_line);
		assert_true(ends_with(frame[1].file, expected->file));
		assert_int_equal(frame[1].line, expected->line);
		cnt++;
	}
	return cnt;
}

static struct function moved(const char *file, const char *name, uint64_t by)
{
	struct function function = function_in(file, name);

	function.start += by;
	return function;
}

static const struct expected outer = {"kernel", "outer", "mm/inner.h", 105, "mm/core.c", 209};
static const struct expected warm = {"leak", "leak_warm", "leak/inner.h", 305, "leak/leak.c", 409};
static const struct expected cold = {"leak", "leak_cold", "leak/inner.h", 305, "leak/leak.c", 509};

/*
 * Each pair of shell commands puts files somewhere, and removes them. In between, checks that
 * inlined calls are found only if `found` is set.
 */
static void try_places(const char *const (*commands)[2], size_t cnt, bool in_core, bool found)
{
	for (size_t i = 0; i < cnt; i++) {
		struct function function = in_core ? moved("vmlinux", "outer", SLIDE)
						   : moved("leak.ko", "leak_warm", TEXT_AT);
		struct kernel kernel;
		size_t inlined;

		assert_true(run(commands[i][0]));
		kernel = kernel_open();
		inlined = count_inlined(&kernel, &function, in_core ? &outer : &warm);
		if (found != !!inlined)
			print_message("%s\n", commands[i][0]);
		assert_true(found == !!inlined);
		kernel_close(&kernel);
		assert_true(run(commands[i][1]));
	}
}

static void core_in_each_place(void **state)
{
	static const char *const places[][2] = {
		{"cp vmlinux boot/vmlinux-" RELEASE, "rm boot/vmlinux-*"},
		{"cp vmlinux lib/modules/" RELEASE, "rm lib/modules/*/vmlinux"},
		{"mkdir -p tree && ln -s $PWD/tree lib/modules/" RELEASE
		 "/build && cp vmlinux tree",
		 "rm -r tree lib/modules/*/build"},
		{"mkdir -p usr/lib/debug/boot && cp vmlinux usr/lib/debug/boot/vmlinux-" RELEASE,
		 "rm -r usr"},
		/* a debug file, which has no code */
		{"mkdir -p usr/lib/debug/boot && objcopy --only-keep-debug vmlinux "
		 "usr/lib/debug/boot/vmlinux-" RELEASE,
		 "rm -r usr"},
		{"id=$(od -An -tx1 -j16 sys/kernel/notes | tr -d ' \\n') && rest=${id#??} &&"
		 "mkdir -p usr/lib/debug/.build-id/${id%$rest} &&"
		 "cp vmlinux usr/lib/debug/.build-id/${id%$rest}/$rest.debug",
		 "rm -r usr"},
	};

	if (!make_running())
		SKIP("no compiler, no objcopy");
	try_places(places, sizeof(places) / sizeof(*places), true, true);
}

static void core_of_another_kernel(void **state)
{
	static const char *const places[][2] = {
		{"true", "true"},
		{"objcopy --strip-debug vmlinux boot/vmlinux-" RELEASE, "rm boot/vmlinux-*"},
		{"objcopy --remove-section .note.gnu.build-id vmlinux boot/vmlinux-" RELEASE,
		 "rm boot/vmlinux-*"},
		{"$CC -no-pie -static -Wl,--build-id=0x1234567812345678 -o boot/vmlinux-" RELEASE
		 " core.o",
		 "rm boot/vmlinux-*"},
		{"echo no kernel > boot/vmlinux-" RELEASE, "rm boot/vmlinux-*"},
		{"head -c 10000 vmlinux > boot/vmlinux-" RELEASE, "rm boot/vmlinux-*"},
		{"mkfifo boot/vmlinux-" RELEASE, "rm boot/vmlinux-*"},
		{"mkdir boot/vmlinux-" RELEASE, "rmdir boot/vmlinux-*"},
	};

	if (!make_running())
		SKIP("no compiler, no objcopy");
	try_places(places, sizeof(places) / sizeof(*places), true, false);
}

static void module_in_each_place(void **state)
{
	static const char *const places[][2] = {
		{"cp leak.ko lib/modules/" RELEASE, "rm lib/modules/*/leak.ko"},
		{"mkdir -p lib/modules/" RELEASE "/kernel/a/b &&"
		 "cp leak.ko lib/modules/" RELEASE "/kernel/a/b",
		 "rm -r lib/modules/*/kernel"},
		/*
		 * a file without DWARF and a file with another build id, neither of which may be
		 * used, and the right debug file
		 */
		{"mkdir -p lib/modules/" RELEASE "/extra lib/modules/" RELEASE "/kernel &&"
		 "objcopy --strip-debug leak.ko lib/modules/" RELEASE "/kernel/leak.ko &&"
		 "$CC -nostdlib -r -Wl,--build-id=0x12345678 -o lib/modules/" RELEASE
		 "/extra/leak.ko leak.o && cp leak.ko lib/modules/" RELEASE "/leak.ko.debug",
		 "rm -r lib/modules/*/*"},
		{"mkdir -p usr/lib/debug/lib/modules/" RELEASE " && objcopy --only-keep-debug "
		 "leak.ko usr/lib/debug/lib/modules/" RELEASE "/leak.ko.debug",
		 "rm -r usr"},
		{"gzip -c leak.ko > lib/modules/" RELEASE "/leak.ko.gz", "rm lib/modules/*/leak*"},
	};

	if (!make_running())
		SKIP("no compiler, no objcopy");
	try_places(places, sizeof(places) / sizeof(*places), false, true);
}

static void compressed_module(void **state)
{
	static const char *const places[][2] = {
		{"xz -c leak.ko > lib/modules/" RELEASE "/leak.ko.xz", "rm lib/modules/*/leak*"},
	};

	if (!make_running() || !run("command -v xz > where"))
		SKIP("no compiler, no objcopy, no xz");
	try_places(places, 1, false, true);
}

static void sections_of_a_module(void **state)
{
	struct function function;
	struct kernel kernel;

	if (!make_running())
		SKIP("no compiler, no objcopy");
	assert_true(run("cp leak.ko lib/modules/" RELEASE));
	kernel = kernel_open();
	function = moved("leak.ko", "leak_cold", COLD_AT);
	assert_true(count_inlined(&kernel, &function, &cold) > 0);
	function = moved("leak.ko", "leak_warm", TEXT_AT);
	assert_true(count_inlined(&kernel, &function, &warm) > 0);
	kernel_close(&kernel);
	/* A new helper is given the module's file as well. */
	kernel = kernel_open();
	resolve_exact(&kernel, function.start);
	kill(kernel.sym->client.helper.pid, SIGKILL);
	assert_true(count_inlined(&kernel, &function, &warm) > 0);
	kernel_close(&kernel);
	/*
	 * If the address of a section is hidden, its code has no lines. It must not get the lines
	 * of another section.
	 */
	assert_true(run("echo 0x0 > sys/module/leak/sections/.text"));
	kernel = kernel_open();
	assert_int_equal(count_inlined(&kernel, &function, &warm), 0);
	kernel_close(&kernel);
	assert_true(run("rm -r sys/module/leak/sections"));
	kernel = kernel_open();
	assert_int_equal(count_inlined(&kernel, &function, &warm), 0);
	kernel_close(&kernel);
	assert_true(run("rm lib/modules/*/leak.ko"));
}

/*
 * No file of the kernel is installed. A file from a server is used only if it has the kernel's
 * build id.
 */
static void core_from_a_server(void **state)
{
	static const struct {
		const char *file;
		bool right;
	} served[] = {{"vmlinux", true}, {"leak.ko", false}};

	if (!has_debuginfod() || !make_running())
		SKIP("no libdebuginfod, no compiler, no objcopy");
	for (size_t i = 0; i < sizeof(served) / sizeof(*served); i++) {
		struct function function = moved("vmlinux", "outer", SLIDE);
		int sock = listen_here(), go[2], status;
		struct kernel kernel;
		pid_t server;

		assert_int_equal(pipe2(go, O_CLOEXEC), 0);
		assert_int_equal(write(go[1], "", 1), 1);
		server = serve(sock, served[i].file, go[0]);
		kernel = kernel_open();
		assert_true(served[i].right == !!count_inlined(&kernel, &function, &outer));
		assert_int_equal(waitpid(server, &status, 0), server);
		assert_int_equal(status, 0);
		kernel_close(&kernel);
		forget_server(sock);
		close(go[0]);
		close(go[1]);
	}
}

/* A call after its deadline finds only the name of the function. A later call finds the line. */
static void lines_come_later(void **state)
{
	struct function function;
	struct kernel kernel;

	if (!make_running())
		SKIP("no compiler, no objcopy");
	assert_true(run("cp vmlinux boot/vmlinux-" RELEASE));
	function = moved("vmlinux", "outer", SLIDE);
	kernel = kernel_open();
	assert_place(resolve_one(kernel.space, function.start, true, 0), "kernel", "outer", 0);
	assert_null(resolve_one(kernel.space, function.start, true, 0)->frames[0].file);
	assert_true(count_inlined(&kernel, &function, &outer) > 0);
	assert_non_null(resolve_exact(&kernel, function.start)->frames[0].file);
	kernel_close(&kernel);
	assert_true(run("rm boot/vmlinux-*"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(core_in_each_place, make_kernel, remove_kernel),
		cmocka_unit_test_setup_teardown(core_of_another_kernel, make_kernel, remove_kernel),
		cmocka_unit_test_setup_teardown(module_in_each_place, make_kernel, remove_kernel),
		cmocka_unit_test_setup_teardown(compressed_module, make_kernel, remove_kernel),
		cmocka_unit_test_setup_teardown(sections_of_a_module, make_kernel, remove_kernel),
		cmocka_unit_test_setup_teardown(core_from_a_server, make_kernel, remove_kernel),
		cmocka_unit_test_setup_teardown(lines_come_later, make_kernel, remove_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
