// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests finding separate debug files: by debug link, by build id in the root folder of the process,
 * and from a debuginfod server.
 */
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include <dlfcn.h>

#include "base/fair_lock.h"
#include "tests/unit/symbolizer/debuginfod.h"
#include "tests/unit/symbolizer/known.h"
#include "tests/unit/symbolizer/patient.h"

/* Makes "stripped" from this program, and "whole.debug" with its debug information. */
static bool make_stripped(void)
{
	return run("cp \"$SELF\" stripped && objcopy --only-keep-debug stripped whole.debug && "
		   "strip stripped");
}

static struct symspace *open_space(struct symbolizer *sym, pid_t pid)
{
	struct symspace *space;

	assert_int_equal(symspace__new(sym, pid, &space), 0);
	return space;
}

static struct symbolizer *open_symbolizer(void)
{
	struct symbolizer *sym;

	assert_int_equal(symbolizer__new(&sym), 0);
	return sym;
}

static void nothing_to_find(void **state)
{
	struct symbolizer *sym = open_symbolizer();
	const struct sym_location *loc;
	struct symspace *space;
	struct child child;

	if (!make_stripped())
		SKIP("no objcopy, no strip");
	child = child_start(in_folder("stripped"));
	space = open_space(sym, child.pid);
	loc = resolve_one(space, child.known.addr, false, BUDGET_MS);
	assert_true(ends_with(loc->module, "stripped"));
	assert_true(loc->module_offset > 0);
	assert_unnamed(loc);
	child_end(&child);
	symspace__free(space);
	symbolizer__free(sym);
}

/*
 * The file that a debug link names may be in two places next to the program. It must be found in
 * each of them, even if a wrong file of this name is in the first place.
 */
static void by_debuglink(void **state)
{
	static const char *const places[] = {"linked.debug", ".debug/linked.debug"};

	if (!make_stripped() || !run("mkdir -p .debug"))
		SKIP("no objcopy, no strip");
	for (size_t i = 0; i < 2; i++) {
		struct symbolizer *sym = open_symbolizer();
		const struct sym_location *loc;
		struct symspace *space;
		struct child child;

		assert_true(run("rm -f linked.debug .debug/linked.debug linked &&"
				"mv whole.debug linked.debug &&"
				"objcopy --remove-section=.note.gnu.build-id "
				"--add-gnu-debuglink=linked.debug stripped linked &&"
				"mv linked.debug whole.debug && echo wrong > linked.debug"));
		assert_int_equal(rename(in_folder("whole.debug"), in_folder(places[i])), 0);
		child = child_start(in_folder("linked"));
		space = open_space(sym, child.pid);
		assert_known(resolve_one(space, child.known.addr, false, BUDGET_MS), &child.known,
			     true);
		/* A new helper, after the first one was killed, is given the debug file as well. */
		kill(sym->client.helper.pid, SIGKILL);
		loc = resolve_one(space, child.known.addr, true, BUDGET_MS);
		assert_string_equal(loc->frames[0].symbol, "known_function");
		assert_true(ends_with(loc->frames[0].file, "known.c"));
		child_end(&child);
		assert_int_equal(rename(in_folder(places[i]), in_folder("whole.debug")), 0);
		symspace__free(space);
		symbolizer__free(sym);
	}
}

static void wrong_checksum(void **state)
{
	struct symbolizer *sym = open_symbolizer();
	struct symspace *space;
	struct child child;

	if (!make_stripped())
		SKIP("no objcopy, no strip");
	assert_true(run("cp whole.debug other.debug && "
			"objcopy --remove-section=.note.gnu.build-id "
			"--add-gnu-debuglink=other.debug stripped other && echo >> other.debug"));
	child = child_start(in_folder("other"));
	space = open_space(sym, child.pid);
	assert_unnamed(resolve_one(space, child.known.addr, false, BUDGET_MS));
	child_end(&child);
	symspace__free(space);
	symbolizer__free(sym);
}

/* The build id is valid until the space is freed. */
static const char *build_id_of(struct symspace *space, const struct child *child)
{
	const char *id = resolve_one(space, child->known.addr, false, BUDGET_MS)->build_id;

	assert_non_null(id);
	return id;
}

static struct child start_chrooted(void)
{
	struct child child = {0};
	int in[2], out[2];

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	child.pid = fork();
	if (!child.pid) {
		char *root = strdup(in_folder("root"));
		void *lib = dlopen(in_folder("root/lib.so"), RTLD_NOW);
		struct known known = {0};

		close(in[1]);
		known.addr = (uintptr_t)(lib ? dlsym(lib, "in_library") : NULL);
		if (geteuid() && unshare(CLONE_NEWUSER))
			known.line = 1;
		if (chroot(root) || chdir("/"))
			known.line = 1;
		/*
		 * Make the process dumpable: its files in /proc then belong to its user instead of
		 * root.
		 */
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
		if (write(out[1], &known, sizeof(known)) == sizeof(known) && read(in[0], out, 1))
			_exit(1);
		_exit(0);
	}
	close(in[0]);
	close(out[1]);
	child.in = in[1];
	assert_int_equal(read(out[0], &child.known, sizeof(child.known)), sizeof(child.known));
	close(out[0]);
	return child;
}

/*
 * The debug file is in /usr/lib/debug in the process's own root folder, which other processes do
 * not see.
 */
static void by_build_id_in_its_root(void **state)
{
	struct symbolizer *sym = open_symbolizer();
	const struct sym_location *loc;
	struct symspace *space;
	struct child child;
	char command[512];
	const char *id;

	if (!run("mkdir root && echo 'int in_library(int x) { return x * 3; }' > in.c && "
		 "echo 'static int inside(int x) { return x; } int (*keep)(int) = inside;' >> in.c "
		 "&& $CC -g -O1 -shared -fPIC -Wl,--build-id -o root/lib.so in.c && "
		 "objcopy --only-keep-debug root/lib.so lib.debug && strip root/lib.so"))
		SKIP("no C compiler, no objcopy");
	child = start_chrooted();
	if (child.known.line) {
		child_end(&child);
		symbolizer__free(sym);
		SKIP("neither root nor a user namespace, so no chroot");
	}
	space = open_space(sym, child.pid);
	id = build_id_of(space, &child);
	snprintf(command, sizeof(command),
		 "d=root/usr/lib/debug/.build-id/%.2s && mkdir -p $d && mv lib.debug $d/%s.debug",
		 id, id + 2);
	assert_true(run(command));
	symspace__free(space);
	symbolizer__free(sym);

	sym = open_symbolizer();
	space = open_space(sym, child.pid);
	loc = resolve_one(space, child.known.addr, true, BUDGET_MS);
	assert_string_equal(loc->frames[0].symbol, "in_library");
	/*
	 * Without root, the process has its own user namespace, where it may mount anything on
	 * /usr/lib/debug. So the debug file must not be used.
	 */
	if (geteuid()) {
		assert_null(loc->frames[0].file);
	} else {
		assert_true(ends_with(loc->frames[0].file, "in.c"));
		assert_int_equal(loc->frames[0].line, 1);
	}
	child_end(&child);
	symspace__free(space);
	symbolizer__free(sym);
}

/* A file without .symtab has its symbols in .gnu_debugdata, as on Fedora. */
static void by_gnu_debugdata(void **state)
{
	struct symbolizer *sym = open_symbolizer();
	struct symspace *space;
	struct child child;

	if (!make_stripped() ||
	    !run("objcopy --strip-debug \"$SELF\" mini && xz mini && "
		 "objcopy --add-section .gnu_debugdata=mini.xz stripped minidebug"))
		SKIP("no objcopy, no xz");
	child = child_start(in_folder("minidebug"));
	space = open_space(sym, child.pid);
	assert_known(resolve_one(space, child.known.addr, false, BUDGET_MS), &child.known, false);
	child_end(&child);
	symspace__free(space);
	symbolizer__free(sym);
}

static unsigned int fetch_wait_cnt;

/*
 * A progress function that counts the waits for a server, and ends each wait as a deadline would.
 */
static void end_wait_for_server(const char *path, int percent)
{
	if (!path || percent != -1)
		return;
	fetch_wait_cnt++;
	fair_lock_interrupt(true);
}

/*
 * Looks up an address, which must not get a name. Returns true if the lookup has waited for the
 * server.
 */
static bool waits_for_server(struct symspace *space, uint64_t addr)
{
	fetch_wait_cnt = 0;
	fair_lock_acquire();
	fair_lock_begin_sharing();
	assert_unnamed(resolve_one(space, addr, false, BUDGET_MS));
	fair_lock_interrupt(false);
	fair_lock_end_sharing();
	fair_lock_release();
	return fetch_wait_cnt > 0;
}

static void hanging_server(void **state)
{
	struct symbolizer *sym;
	struct symspace *space;
	struct child child;
	int64_t before;
	int sock;

	if (!has_debuginfod() || !make_stripped())
		SKIP("no libdebuginfod, no strip");
	sock = listen_here();
	sym = open_symbolizer();
	child = child_start(in_folder("stripped"));
	space = open_space(sym, child.pid);
	symbolizer__set_progress(sym, end_wait_for_server);
	assert_true(waits_for_server(space, child.known.addr));
	/* A server that has hung is not waited for again. */
	assert_false(waits_for_server(space, child.known.addr));
	assert_false(waits_for_server(space, child.known.addr + 1));
	symspace__free(space);
	/* Freeing the symbolizer does not wait for this server either. */
	symbolizer__free(sym);

	/* libdebuginfod may have noted there, when it was cancelled, that there is no such file. */
	assert_true(run("rm -rf cache/*"));
	sym = open_symbolizer();
	space = open_space(sym, child.pid);
	before = now_ms();
	assert_unnamed(resolve_one(space, child.known.addr, false, 500));
	assert_true(now_ms() - before >= 450);
	symspace__free(space);
	symbolizer__free(sym);
	child_end(&child);
	forget_server(sock);
}

/* A debug file that arrives after a call has timed out is used by a later call. */
static void slow_server(void **state)
{
	const struct sym_location *loc;
	struct symbolizer *sym;
	struct symspace *space;
	struct child child;
	uint64_t deadline_ns;
	int go[2], sock;
	pid_t server;

	if (!has_debuginfod() || !make_stripped())
		SKIP("no libdebuginfod, no strip");
	sock = listen_here();
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	server = serve(sock, "whole.debug", go[0]);
	sym = open_symbolizer();
	be_patient(sym);
	child = child_start(in_folder("stripped"));
	space = open_space(sym, child.pid);
	assert_unnamed(resolve_one(space, child.known.addr, false, 300));
	assert_int_equal(write(go[1], "", 1), 1);
	close(go[1]);
	close(go[0]);
	deadline_ns = patience();
	for (;;) {
		loc = resolve_one(space, child.known.addr, false, BUDGET_MS);
		if (loc->frames[0].symbol || !clock_left_ms(deadline_ns))
			break;
		usleep(10000);
	}
	assert_known(loc, &child.known, true);
	assert_int_equal(waitpid(server, NULL, 0), server);
	symspace__free(space);
	symbolizer__free(sym);

	/* The file is in the cache now, so no server is needed. */
	sym = open_symbolizer();
	space = open_space(sym, child.pid);
	loc = resolve_one(space, child.known.addr, false, BUDGET_MS);
	assert_known(loc, &child.known, true);
	symspace__free(space);
	symbolizer__free(sym);
	child_end(&child);
	forget_server(sock);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_to_find),  cmocka_unit_test(by_debuglink),
		cmocka_unit_test(wrong_checksum),   cmocka_unit_test(by_build_id_in_its_root),
		cmocka_unit_test(by_gnu_debugdata), cmocka_unit_test(hanging_server),
		cmocka_unit_test(slow_server),
	};

	if (argc > 1)
		return child_main();
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
