// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests finding names of generated code in a perf map, which any user may have written. */
#include "tests/unit/symbolizer/known.h"

/* Includes perf_map.c, to count how often an address is compared with a line of the perf map. */
#include "base/addr_ranges.h"
static const struct range *count_next(const struct range_table *table, uint64_t addr,
				      const struct range *last);
#define range_table_next count_next
#include "symbolizer/perf_map.c"
#undef range_table_next

#define CODE_BYTES (64 * 1024)

static char *map_path;
static char *code;

static struct symbolizer *sym;
static struct symspace *space;
static uint64_t compared_cnt;

static const struct range *count_next(const struct range_table *table, uint64_t addr,
				      const struct range *last)
{
	compared_cnt++;
	return range_table_next(table, addr, last);
}

static int set_up(void **state)
{
	if (asprintf(&map_path, "/tmp/perf-%d.map", (int)getpid()) < 0)
		return -1;
	unlink(map_path);
	code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED || symbolizer__new(&sym))
		return -1;
	return symspace__new(sym, getpid(), &space);
}

static int tear_down(void **state)
{
	symspace__free(space);
	symbolizer__free(sym);
	munmap(code, CODE_BYTES);
	unlink(map_path);
	free(map_path);
	return 0;
}

static void write_map(const char *mode, const char *text, size_t len)
{
	FILE *file = fopen(map_path, mode);

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

/* Writes a line for a function at `offset` in `code`. mode: as for fopen(). */
static void add_line(const char *mode, unsigned int offset, unsigned int size, const char *name)
{
	char text[256];
	int len = snprintf(text, sizeof(text), "%lx %x %s\n", (unsigned long)code + offset, size,
			   name);

	write_map(mode, text, len);
}

static const struct sym_location *at(unsigned int offset)
{
	return resolve_one(space, (uintptr_t)code + offset, true, BUDGET_MS);
}

static void assert_jit(const struct sym_location *loc, const char *symbol, unsigned int offset)
{
	assert_string_equal(loc->module, "[jit]");
	assert_int_equal(loc->frame_cnt, 1);
	assert_non_null(loc->frames[0].symbol);
	assert_string_equal(loc->frames[0].symbol, symbol);
	assert_int_equal(loc->frames[0].offset, offset);
}

static void no_map(void **state)
{
	assert_string_equal(at(0)->module, "[jit]");
	assert_true(at(0)->module_offset == (uintptr_t)code);
	assert_unnamed(at(0));
}

static void lines_and_growth(void **state)
{
	add_line("w", 0x100, 0x20, "LazyCompile:*add /src/a b.js:10");
	assert_jit(at(0x100), "LazyCompile:*add /src/a b.js:10", 0);
	assert_jit(at(0x11f), "LazyCompile:*add /src/a b.js:10", 0x1f);
	assert_unnamed(at(0x120));
	/* The file has grown, so an unknown address is looked up again. */
	add_line("a", 0x120, 0x10, "added");
	assert_jit(at(0x120), "added", 0);
}

static void return_address_behind_the_end(void **state)
{
	add_line("a", 0x200, 0x10, "caller");
	add_line("a", 0x210, 0x10, "neighbour");
	assert_jit(resolve_one(space, (uintptr_t)code + 0x210, false, BUDGET_MS), "caller", 0x10);
}

/* The last line for an address counts: code was compiled again at this address. */
static void last_line_counts(void **state)
{
	add_line("a", 0x300, 0x100, "old");
	add_line("a", 0x340, 0x10, "older");
	add_line("a", 0x320, 0x40, "new");
	assert_jit(at(0x310), "old", 0x10);
	assert_jit(at(0x345), "new", 0x25);
	assert_jit(at(0x361), "old", 0x61);
}

static void odd_names(void **state)
{
	char *longest = malloc(200001);
	char text[128];
	int len;

	assert_non_null(longest);
	add_line("a", 0x400, 1, "\033[31mred\a\xff\xfe");
	assert_jit(at(0x400), "\033[31mred\a\xff\xfe", 0);
	memset(longest, 'n', 200000);
	longest[200000] = '\0';
	len = snprintf(text, sizeof(text), "0x%lx 0x1 ", (unsigned long)code + 0x401);
	write_map("a", text, len);
	write_map("a", longest, 200000);
	write_map("a", "\n", 1);
	assert_jit(at(0x401), longest, 0);
	free(longest);
}

static void bad_lines(void **state)
{
	static const char text[] = "\n \nfoo\n123\n123 \n123 45\n123 45 \n-1 5 minus\n"
				   "ffffffffffffffff ffffffffffffffff wraps\n"
				   "11111111111111111 1 long\n1 0 empty\n\0\0 1 nul\n";

	write_map("a", text, sizeof(text) - 1);
	add_line("a", 0x500, 8, "behind them");
	assert_jit(at(0x500), "behind them", 0);
	write_map("a", "7f0000000000 10 without newline", 31);
	assert_unnamed(at(0x508));
}

/* A FIFO must not block, a symbolic link must not be followed, and a huge file must not be read. */
static void not_a_regular_file(void **state)
{
	uint64_t before_bytes = process_read_bytes();
	int fd;

	unlink(map_path);
	assert_int_equal(mkfifo(map_path, 0600), 0);
	assert_unnamed(at(0x600));
	unlink(map_path);
	assert_int_equal(symlink("/dev/zero", map_path), 0);
	assert_unnamed(at(0x601));
	unlink(map_path);

	add_line("w", 0x602, 1, "behind a link");
	assert_int_equal(rename(map_path, in_folder("elsewhere")), 0);
	assert_int_equal(symlink(in_folder("elsewhere"), map_path), 0);
	assert_unnamed(at(0x602));
	unlink(map_path);

	add_line("w", 0x603, 1, "too large");
	fd = open(map_path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1LL << 40), 0);
	close(fd);
	assert_unnamed(at(0x603));
	unlink(map_path);
	assert_in_range(process_read_bytes() - before_bytes, 0, 1 << 20);
	/* Names that were read before are still known. */
	assert_jit(at(0x500), "behind them", 0);
}

/*
 * An address covered by hundreds of thousands of lines must be compared with a limited number of
 * them.
 */
static void many_overlapping_lines(void **state)
{
	enum { ADDRESSES = 1000 };
	FILE *file = fopen(map_path, "w");

	assert_non_null(file);
	for (unsigned int i = 0; i < 300000; i++)
		fprintf(file, "%lx %x nested %u\n", (unsigned long)code + 0x1000, 0x100 + i, i);
	for (unsigned int i = 0; i < 300000; i++)
		fprintf(file, "%lx 0 empty\n%x %lx wide\n", (unsigned long)code, i,
			(unsigned long)code + 0x2000);
	fclose(file);
	compared_cnt = 0;
	for (unsigned int i = 0; i < ADDRESSES; i++)
		assert_non_null(at(0x1000 + i)->frames[0].symbol);
	assert_in_range(compared_cnt, ADDRESSES, ADDRESSES * OVERLAPS_MAX);
}

/*
 * Generated code may be mapped from a file that is not ELF, such as a memfd that is mapped twice.
 */
static void code_in_a_memfd(void **state)
{
	int fd = memfd_create("doublemapper", MFD_CLOEXEC);
	char text[128];
	void *mapped;
	int len;

	assert_true(fd >= 0 && !ftruncate(fd, 4096));
	mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	assert_true(mapped != MAP_FAILED);
	len = snprintf(text, sizeof(text), "%lx 40 Main()\n", (unsigned long)mapped);
	write_map("w", text, len);
	assert_int_equal(symspace__refresh(space), 0);
	assert_string_equal(
		resolve_one(space, (uintptr_t)mapped + 5, true, BUDGET_MS)->frames[0].symbol,
		"Main()");
	munmap(mapped, 4096);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_map),
		cmocka_unit_test(lines_and_growth),
		cmocka_unit_test(return_address_behind_the_end),
		cmocka_unit_test(last_line_counts),
		cmocka_unit_test(odd_names),
		cmocka_unit_test(bad_lines),
		cmocka_unit_test(not_a_regular_file),
		cmocka_unit_test(many_overlapping_lines),
		cmocka_unit_test(code_in_a_memfd),
	};
	int failed;

	if (make_folder(NULL))
		return 99;
	failed = cmocka_run_group_tests(tests, set_up, tear_down);
	remove_folder(NULL);
	return failed;
}
