// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests choosing the places for probes in functions of hand-made files, some of which have wrong
 * headers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "prober/server/function_places.h"

#define FUNCTION_AT 0x100
#define COLD_AT 0x300
#define FILE_SIZE 0x400

/*
 * Makes a file with two pieces of code: the function "test; push; pop; ret" at FUNCTION_AT, and at
 * COLD_AT a jmp to the address `distance` bytes after the function's entry.
 */
static int make_file(int distance)
{
	static const uint8_t function[] = {0x48, 0x85, 0xff, 0x55, 0x5d, 0xc3};
	int32_t relative = FUNCTION_AT + distance - (COLD_AT + 5);
	uint8_t bytes[FILE_SIZE] = {0};
	int fd = memfd_create("code", 0);

	assert_true(fd >= 0);
	memcpy(bytes + FUNCTION_AT, function, sizeof(function));
	bytes[COLD_AT] = 0xe9;
	memcpy(bytes + COLD_AT + 1, &relative, sizeof(relative));
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	return fd;
}

static const struct elf_function in_file = {
	.offset = FUNCTION_AT,
	.size = 6,
	.room = UINT64_MAX,
	.segment = {.offset = 0, .size = FILE_SIZE},
};

static uint64_t place_of(int fd, struct elf_function function, bool at_entry)
{
	const unsigned int argument_cnt = 1;
	struct probe_place place;

	function_places_find(fd, EM_X86_64, &function, &argument_cnt, 1, at_entry, &place);
	function_places_deinit(&place, 1);
	return place.offset;
}

static uint64_t place_in_file(int fd, struct elf_function function)
{
	return place_of(fd, function, false);
}

static void test_file(void **state)
{
	static const struct {
		int distance;
		uint64_t place;
	} jumps[] = {{-1, 3}, {0, 3}, {1, 0}, {2, 0}, {3, 0}, {4, 3}};

	for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		int fd = make_file(jumps[i].distance);

		assert_int_equal(place_in_file(fd, in_file), jumps[i].place);
		close(fd);
	}
}

/* With wrong sizes and offsets in symbols and program headers, the probe must stay at the entry. */
static void test_lies(void **state)
{
	static const uint64_t sizes[] = {0, 2, 7, FILE_SIZE, 1 << 20, UINT64_MAX};
	struct elf_function function = in_file;
	int fd = make_file(0);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		function.size = sizes[i];
		assert_int_equal(place_in_file(fd, function), 0);
	}
	function = in_file;
	function.offset = UINT64_MAX - 2;
	assert_int_equal(place_in_file(fd, function), 0);
	function.offset = FILE_SIZE - 1;
	assert_int_equal(place_in_file(fd, function), 0);
	function = in_file;
	function.segment.size = FILE_SIZE + 1;
	assert_int_equal(place_in_file(fd, function), 0);
	function.segment.size = UINT64_MAX;
	assert_int_equal(place_in_file(fd, function), 0);
	close(fd);
	assert_int_equal(place_in_file(fd, in_file), 0);
}

/* Segments are read in pieces. A jump across two pieces must be found. */
static void test_pieces(void **state)
{
	const uint64_t edge = 1 << 20;

	for (uint64_t at = edge - 6; at <= edge; at++) {
		int32_t relative = (int32_t)(FUNCTION_AT + 3 - (int64_t)(at + 5));
		struct elf_function function = in_file;
		uint8_t jump[5] = {0xe9};
		int fd = make_file(0);

		memcpy(jump + 1, &relative, sizeof(relative));
		assert_int_equal(ftruncate(fd, (off_t)(2 * edge)), 0);
		function.segment.size = 2 * edge;
		assert_int_equal(place_in_file(fd, function), 3);
		assert_int_equal(pwrite(fd, jump, sizeof(jump), (off_t)at), sizeof(jump));
		assert_int_equal(place_in_file(fd, function), 0);
		close(fd);
	}
}

static void test_at_entry(void **state)
{
	int fd = make_file(0);

	assert_int_equal(place_of(fd, in_file, true), 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_at_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
