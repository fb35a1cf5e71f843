// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the parser of /proc/PID/maps with recorded text and with malformed text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/proc_maps.h"

static const char recorded[] =
	"55d0c0a3e000-55d0c0a40000 r--p 00000000 fe:01 1835044                    /usr/bin/cat\n"
	"55d0c0a40000-55d0c0a44000 r-xp 00002000 fe:01 1835044                    /usr/bin/cat\n"
	"55d0c22c1000-55d0c22e2000 rw-p 00000000 00:00 0                          [heap]\n"
	"7f1c12a00000-7f1c12a01000 rwxp 00000000 00:00 0 \n"
	"7f1c12b00000-7f1c12b01000 r-xs 0000a000 00:01 2051                       "
	"/memfd:jit cache (deleted)\n"
	"7f1c12c00000-7f1c12c01000 r-xp 100000000000 103:02 18446744073709551615  "
	"/opt/a b/new\\012line\\tab\xff.so (deleted)\n"
	"7f1c12d00000-7f1c12d01000 ---p 00000000 00:00 0                          [anon:v8 code]\n"
	"7ffd3b1f0000-7ffd3b1f2000 r-xp 00000000 00:00 0                          [vdso]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

static void parse(const char *text, size_t len, struct proc_maps *ret)
{
	assert_int_equal(proc_maps_parse(text, len, ret), 0);
}

static void recorded_lines(void **state)
{
	struct proc_maps maps;
	const struct mapping *m;

	parse(recorded, strlen(recorded), &maps);
	assert_int_equal(maps.cnt, 9);
	m = &maps.mappings[1];
	assert_int_equal(m->start, 0x55d0c0a40000);
	assert_int_equal(m->end, 0x55d0c0a44000);
	assert_int_equal(m->offset, 0x2000);
	assert_int_equal(major(m->file.dev), 0xfe);
	assert_int_equal(minor(m->file.dev), 1);
	assert_int_equal(m->file.ino, 1835044);
	assert_true(m->readable && !m->writable && m->executable && !m->shared && !m->deleted);
	assert_string_equal(m->path, "/usr/bin/cat");
	assert_string_equal(maps.mappings[2].path, "[heap]");
	m = &maps.mappings[3];
	assert_string_equal(m->path, "");
	assert_true(m->readable && m->writable && m->executable && !m->file.ino);
	m = &maps.mappings[4];
	assert_true(m->shared && m->deleted);
	assert_string_equal(m->path, "/memfd:jit cache");
	assert_int_equal(maps.mappings[8].end, 0xffffffffff601000);
	assert_false(maps.mappings[8].readable);
	proc_maps_deinit(&maps);
}

static void odd_bytes_in_paths(void **state)
{
	struct proc_maps maps;
	const struct mapping *m;

	parse(recorded, strlen(recorded), &maps);
	m = &maps.mappings[5];
	assert_int_equal(m->offset, 0x100000000000);
	assert_int_equal(major(m->file.dev), 0x103);
	assert_true(m->file.ino == UINT64_MAX);
	assert_true(m->deleted);
	assert_string_equal(m->path, "/opt/a b/new\nline\\tab\xff.so");
	assert_string_equal(maps.mappings[6].path, "[anon:v8 code]");
	proc_maps_deinit(&maps);
}

static void lines_of_no_format(void **state)
{
	static const char text[] = "\n"
				   "hello\n"
				   "1000-2000\n"
				   "1000-2000 r-xp\n"
				   "2000-1000 r-xp 0 0:0 0 backwards\n"
				   "1000-2000 r-xp 0 0:0 x\n"
				   "1000-2000 r-xp 0 1ffffffff:0 0 device\n"
				   "10000000000000000-20000000000000000 r-xp 0 0:0 0 too long\n"
				   "3000-4000 r-xp 0 0:0 7\n"
				   "3800-5000 r-xp 0 0:0 8 overlaps\n"
				   "1000-2000 r-xp 0 0:0 9 comes late\n"
				   "5000-6000 r-xp 0 0:0 10 /the/last/without/newline";
	struct proc_maps maps;

	parse(text, strlen(text), &maps);
	assert_int_equal(maps.cnt, 2);
	assert_int_equal(maps.mappings[0].file.ino, 7);
	assert_string_equal(maps.mappings[0].path, "");
	assert_string_equal(maps.mappings[1].path, "/the/last/without/newline");
	proc_maps_deinit(&maps);
}

static void very_long_path(void **state)
{
	static const char head[] = "1000-2000 r-xp 00000000 08:01 42 /";
	size_t len = 1000000;
	char *text = malloc(sizeof(head) + len);
	struct proc_maps maps;

	assert_non_null(text);
	memcpy(text, head, sizeof(head) - 1);
	memset(text + sizeof(head) - 1, 'x', len);
	parse(text, sizeof(head) - 1 + len, &maps);
	free(text);
	assert_int_equal(maps.cnt, 1);
	assert_int_equal(strlen(maps.mappings[0].path), len + 1);
	proc_maps_deinit(&maps);
}

/* Parses every prefix of the text: nothing is read beyond the end of the prefix. */
static void cut_anywhere(void **state)
{
	for (size_t len = 0; len < sizeof(recorded); len++) {
		char *text = malloc(len ? len : 1);
		struct proc_maps maps;

		assert_non_null(text);
		memcpy(text, recorded, len);
		parse(text, len, &maps);
		assert_true(maps.cnt <= 9);
		proc_maps_deinit(&maps);
		free(text);
	}
}

static void random_bytes(void **state)
{
	static const char alphabet[] = "0123456789abcdef-rwxsp :/()\\\n";
	char text[512];

	srand(1);
	for (int round = 0; round < 20000; round++) {
		size_t len = rand() % sizeof(text);
		struct proc_maps maps;
		uint64_t end = 0;

		for (size_t i = 0; i < len; i++)
			text[i] = rand() % 50 ? alphabet[rand() % (sizeof(alphabet) - 1)] : rand();
		parse(text, len, &maps);
		for_each_mapping (m, &maps) {
			assert_true(m->start >= end && m->end > m->start);
			end = m->end;
		}
		proc_maps_deinit(&maps);
	}
}

static void look_up(void **state)
{
	struct proc_maps maps;

	parse(recorded, strlen(recorded), &maps);
	assert_null(proc_maps_find(&maps, 0));
	assert_null(proc_maps_find(&maps, 0x55d0c0a3dfff));
	assert_ptr_equal(proc_maps_find(&maps, 0x55d0c0a3e000), &maps.mappings[0]);
	assert_ptr_equal(proc_maps_find(&maps, 0x55d0c0a3ffff), &maps.mappings[0]);
	assert_ptr_equal(proc_maps_find(&maps, 0x55d0c0a40000), &maps.mappings[1]);
	assert_null(proc_maps_find(&maps, 0x55d0c0a44000));
	assert_ptr_equal(proc_maps_find(&maps, 0xffffffffff600fff), &maps.mappings[8]);
	assert_null(proc_maps_find(&maps, UINT64_MAX));
	proc_maps_deinit(&maps);
}

static void own_process(void **state)
{
	/* Map enough pages that reading the maps file takes several reads. */
	enum { PAGES = 400 };
	size_t page = sysconf(_SC_PAGESIZE);
	char *area = mmap(NULL, PAGES * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct mapping *m;
	struct proc_maps maps;

	assert_true(area != MAP_FAILED);
	for (int i = 0; i < PAGES; i += 2)
		assert_int_equal(mprotect(area + i * page, page, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(proc_maps_read(getpid(), &maps), 0);
	assert_true(maps.cnt >= PAGES);
	m = proc_maps_find(&maps, (uintptr_t)own_process);
	assert_non_null(m);
	assert_true(m->executable && m->file.ino);
	assert_non_null(strstr(m->path, "test_proc_maps"));
	m = proc_maps_find(&maps, (uintptr_t)area + 7 * page);
	assert_non_null(m);
	assert_int_equal(m->start, (uintptr_t)area + 7 * page);
	assert_false(m->writable);
	proc_maps_deinit(&maps);
	munmap(area, PAGES * page);
}

/*
 * A maps file that is too long is read up to a limit. A path that occurs on several lines is stored
 * once.
 */
static void too_many(void **state)
{
	enum { PATH_BYTES = 4000, LINES = PROC_MAPS_BYTES_MAX / PATH_BYTES + 100 };
	FILE *file = tmpfile();
	char path[PATH_BYTES + 1];
	struct proc_maps maps;

	assert_non_null(file);
	memset(path, 'd', PATH_BYTES);
	path[0] = '/';
	path[PATH_BYTES] = '\0';
	for (unsigned int i = 0; i < LINES; i++) {
		path[PATH_BYTES - 1] = i % 2 ? 'a' : 'b';
		fprintf(file, "%x000-%x000 r--p 00000000 fe:01 1 %s\n", i + 1, i + 2, path);
	}
	assert_int_equal(fflush(file), 0);
	assert_int_equal(proc_maps_read_fd(getpid(), fileno(file), &maps), 0);
	assert_true(maps.cut && !maps.whole);
	assert_in_range(maps.cnt, LINES - 500, LINES - 1);
	assert_ptr_equal(maps.mappings[0].path, maps.mappings[2].path);
	assert_string_not_equal(maps.mappings[0].path, maps.mappings[1].path);
	assert_string_equal(maps.mappings[maps.cnt - 1].path + 1,
			    maps.mappings[(maps.cnt - 1) % 2].path + 1);
	assert_in_range(proc_maps_interval_ns(&maps), 1000000000, 5000000000);
	proc_maps_deinit(&maps);
	assert_int_equal(fclose(file), 0);
}

static void moved_text(void **state)
{
	static const char text[] = "1000-2000 r--p 00000000 fe:01 7 /bin/a\n"
				   "2000-3000 r-xp 00000000 00:00 0 \n"
				   "3000-5000 r-xp 00000000 00:0f 9 /anon_hugepage (deleted)\n"
				   "5000-6000 r--p 00000000 00:00 0 \n"
				   "6000-7000 r--p 00005000 fe:01 7 /bin/a\n"
				   "7000-8000 r-xp 00000000 00:00 0 \n"
				   "8000-9000 rw-p 00008000 fe:01 7 /bin/a\n"
				   "9000-a000 r-xp 00000000 00:00 0 \n"
				   "a000-b000 r--p 0000a000 fe:01 8 /bin/b\n"
				   "b000-c000 r-xp 00000000 00:00 0 \n";
	const struct mapping *m;
	struct proc_maps maps;

	parse(text, strlen(text), &maps);
	assert_int_equal(maps.cnt, 10);
	for (size_t i = 0; i < maps.cnt; i++)
		assert_int_equal(mapping_is_moved(&maps.mappings[i]), i == 1 || i == 2);
	m = &maps.mappings[2];
	assert_int_equal(m->file.ino, 7);
	assert_int_equal(m->offset, 0x2000);
	assert_string_equal(m->path, "/bin/a");
	assert_false(m->deleted);
	assert_int_equal(m->beside_start, 0x1000);
	assert_int_equal(m->beside_end, 0x2000);
	/*
	 * Anonymous mappings that are not attributed to a file, each for a different reason: it is
	 * not executable, does not have the size of the gap in the file's mappings, lies between
	 * two different files, or is the last mapping.
	 */
	assert_int_equal(maps.mappings[3].file.ino, 0);
	for (size_t i = 5; i < maps.cnt; i += 2)
		assert_int_equal(maps.mappings[i].file.ino, 0);
	proc_maps_deinit(&maps);
}

static void no_process(void **state)
{
	struct proc_maps maps;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	/* The maps file of a zombie exists and is empty. */
	assert_int_equal(waitid(P_PID, pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	assert_int_equal(proc_maps_read(pid, &maps), 0);
	assert_int_equal(maps.cnt, 0);
	proc_maps_deinit(&maps);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(proc_maps_read(pid, &maps), -ENOENT);
}

/* A process that is about to end has no mappings, and so no text. */
static void no_text(void **state)
{
	struct proc_maps maps;

	parse(NULL, 0, &maps);
	assert_int_equal(maps.cnt, 0);
	proc_maps_deinit(&maps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_lines),     cmocka_unit_test(no_text),
		cmocka_unit_test(odd_bytes_in_paths), cmocka_unit_test(lines_of_no_format),
		cmocka_unit_test(very_long_path),     cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(random_bytes),       cmocka_unit_test(look_up),
		cmocka_unit_test(own_process),        cmocka_unit_test(too_many),
		cmocka_unit_test(moved_text),         cmocka_unit_test(no_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
