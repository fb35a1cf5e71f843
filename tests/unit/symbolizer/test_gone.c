// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests symbolizing processes that have ended before their /proc files could be read, so that only
 * their mappings are known.
 */
#include <sched.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/mapped_file.h"
#include "tests/unit/symbolizer/known.h"

/* Runs a program and ends it. Sets *ret to its mappings, made just now. */
static struct known run_and_end(const char *path, struct proc_maps *ret)
{
	struct child child = child_start(path);
	struct timespec now;

	assert_int_equal(proc_maps_read(child.pid, ret), 0);
	child_end(&child);
	clock_gettime(CLOCK_REALTIME, &now);
	for (size_t i = 0; i < ret->cnt; i++)
		ret->mappings[i].since_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	return child.known;
}

static void named_from_mappings(void **state)
{
	struct symbolizer *sym = *state;
	const struct sym_location *loc;
	struct symspace *space;
	struct proc_maps maps;
	struct known known = run_and_end("/proc/self/exe", &maps);

	assert_int_equal(symspace__new_ended(sym, &maps, &space), 0);
	loc = resolve_one(space, known.addr, false, BUDGET_MS);
	assert_known(loc, &known, true);
	assert_true(ends_with(loc->module, "test_gone"));
	assert_int_equal(symspace__refresh(space), -ESRCH);
	assert_int_equal(symspace__read_maps(space, &(struct proc_maps){0}), -ESRCH);
	assert_known(resolve_one(space, known.addr, false, BUDGET_MS), &known, true);
	proc_maps_deinit(&maps);
	/* An update without mappings must not drop those that are known. */
	assert_int_equal(symspace__update(space, &maps), 0);
	assert_known(resolve_one(space, known.addr, false, BUDGET_MS), &known, true);
	assert_null(resolve_one(space, known.addr + 4096 * 4096ULL, false, 0)->module);
	symspace__free(space);
	assert_int_equal(symspace__new_ended(sym, &maps, &space), 0);
	assert_unnamed(resolve_one(space, known.addr, false, BUDGET_MS));
	symspace__free(space);
}

/* Makes the space of a forked child from its parent's. Both have ended. */
static void forked(void **state)
{
	struct symbolizer *sym = *state;
	struct child child = child_start("/proc/self/exe");
	struct symspace *parent, *space;

	assert_int_equal(symspace__new(sym, child.pid, &parent), 0);
	child_end(&child);
	assert_int_equal(symspace__refresh(parent), -ESRCH);
	assert_int_equal(symspace__new_forked(parent, &space), 0);
	symspace__free(parent);
	assert_int_equal(symspace__refresh(space), -ESRCH);
	assert_known(resolve_one(space, child.known.addr, false, BUDGET_MS), &child.known, true);
	symspace__free(space);
}

static const struct mapping *find_vdso(const struct proc_maps *maps)
{
	for_each_mapping (mapping, maps)
		if (!strcmp(mapping->path, "[vdso]"))
			return mapping;
	return NULL;
}

/* The vDSO has no file. It is the same in all processes, so names are found in that of memleak. */
static void vdso(void **state)
{
	struct symbolizer *sym = *state;
	struct proc_maps maps, own_maps;
	const struct mapping *vdso, *own_vdso;
	struct symspace *space, *own;
	size_t named = 0;

	run_and_end("/proc/self/exe", &maps);
	assert_int_equal(proc_maps_read(getpid(), &own_maps), 0);
	vdso = find_vdso(&maps);
	own_vdso = find_vdso(&own_maps);
	if (!vdso || !own_vdso)
		SKIP("no vdso");
	assert_int_equal(symspace__new_ended(sym, &maps, &space), 0);
	assert_int_equal(symspace__new(sym, getpid(), &own), 0);
	for (uint64_t at = 0; at < vdso->end - vdso->start; at += 64) {
		const char *symbol =
			resolve_one(space, vdso->start + at, true, BUDGET_MS)->frames[0].symbol;
		const char *own_symbol =
			resolve_one(own, own_vdso->start + at, true, BUDGET_MS)->frames[0].symbol;

		assert_true(!symbol == !own_symbol);
		if (symbol)
			assert_string_equal(symbol, own_symbol);
		named += symbol != NULL;
	}
	assert_true(named > 0);
	symspace__free(space);
	symspace__free(own);
	proc_maps_deinit(&maps);
	proc_maps_deinit(&own_maps);
}

/* Another file at the path of a mapping must not be used, even if it has the same content. */
static void another_file_at_the_path(void **state)
{
	static const char *const changes[] = {
		"cp \"$SELF\" new && mv new program",
		"cat \"$SELF\" >program", /* the inode stays the same */
		"rm program",
		"rm program && mkfifo program",
		"rm program && mkdir program",
		"rm program && ln -s /dev/zero program",
	};
	struct symbolizer *sym = *state;

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		const struct sym_location *loc;
		struct symspace *space;
		struct proc_maps maps;
		struct known known;

		assert_true(run("rm -rf program && cp \"$SELF\" program"));
		known = run_and_end(in_folder("program"), &maps);
		/* Wait for the kernel's next clock tick: the file gets a later time. */
		usleep(20000);
		assert_true(run(changes[i]));
		assert_int_equal(symspace__new_ended(sym, &maps, &space), 0);
		loc = resolve_one(space, known.addr, false, BUDGET_MS);
		assert_unnamed(loc);
		assert_true(ends_with(loc->module, "/program"));
		symspace__free(space);
		proc_maps_deinit(&maps);
	}
}

/* Maps a file. Sets *ret to its line in /proc/self/maps. */
static bool map_file(const char *path, struct proc_maps *maps, struct mapping *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	const struct mapping *mapping;

	close(fd);
	if (at == MAP_FAILED || proc_maps_read(getpid(), maps))
		return false;
	mapping = proc_maps_find(maps, (uintptr_t)at);
	munmap(at, 4096);
	if (mapping)
		*ret = *mapping;
	return mapping != NULL;
}

/*
 * Runs in a mount namespace of its own. Returns 0 on success, 77 if overlayfs cannot be mounted,
 * and another number on failure.
 */
static int look_at_overlay(void)
{
	struct proc_maps maps;
	struct mapping mapping;
	struct stat st;
	int fd;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    chdir(folder) || mkdir("upper", 0755) || mkdir("both", 0755) || mkdir("lower", 0755) ||
	    mount("none", "upper", "tmpfs", 0, NULL) || mkdir("upper/files", 0755) ||
	    mkdir("upper/work", 0755))
		return 77;
	if (!run("cp /bin/true lower/program; cp /bin/true lower/other"))
		return 1;
	if (mount("none", "both", "overlay", 0,
		  "lowerdir=lower,upperdir=upper/files,workdir=upper/work"))
		return 77;
	if (!map_file("both/program", &maps, &mapping))
		return 2;
	fd = mapped_file_open(&mapping, &st);
	if (fd < 0 || !S_ISREG(st.st_mode))
		return 3;
	if (st.st_dev == mapping.file.dev)
		return 4; /* not an overlay: stat() and maps have the same device number */
	mapping.path = in_folder("both/other");
	if (mapped_file_open(&mapping, &st) >= 0)
		return 5;
	proc_maps_deinit(&maps);
	close(fd);
	return 0;
}

static void overlays_have_other_numbers(void **state)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(look_at_overlay());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WEXITSTATUS(status) == 77)
		SKIP("no overlay can be mounted");
	assert_int_equal(status, 0);
}

static int open_symbolizer(void **state)
{
	return symbolizer__new((struct symbolizer **)state);
}

static int close_symbolizer(void **state)
{
	symbolizer__free(*state);
	return 0;
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_symbolizer, close_symbolizer)
	const struct CMUnitTest tests[] = {
		TEST(named_from_mappings),
		TEST(forked),
		TEST(vdso),
		TEST(another_file_at_the_path),
		cmocka_unit_test(overlays_have_other_numbers),
	};
	int failed;

	if (argc > 1)
		return child_main();
	if (make_folder(NULL))
		return 99;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	remove_folder(NULL);
	return failed;
}
