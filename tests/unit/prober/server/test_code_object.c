// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests reading CPython's code objects, from fake memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "bpf/script.h"
#include "prober/server/code_object.h"

#define MEMORY 0x7f0000001000ULL

/* Offsets in the fake memory. */
#define CODE 0
#define NAME 512
#define PATH 1024
#define LINES 1536
#define MEMORY_BYTES 4096

struct fake {
	uint8_t bytes[MEMORY_BYTES];
};

static bool read_fake(void *arg, uint64_t addr, void *buf, size_t len)
{
	struct fake *fake = arg;
	uint64_t at = addr - MEMORY;

	if (addr < MEMORY || at > MEMORY_BYTES || len > MEMORY_BYTES - at)
		return false;
	memcpy(buf, fake->bytes + at, len);
	return true;
}

static void put(struct fake *fake, size_t at, uint64_t value, size_t len)
{
	memcpy(fake->bytes + at, &value, len);
}

static void put_string(struct fake *fake, size_t at, const void *text, size_t cnt, size_t width,
		       bool is_ascii)
{
	const struct python_layout *layout = python_layout_of(0x030b0000);

	put(fake, at + 16, cnt, 8);
	put(fake, at + 24, 0x5eed, 8);
	put(fake, at + 32, (is_ascii ? 0x60 : 0x20) | width << 2, 4);
	memcpy(fake->bytes + at + (is_ascii ? layout->ascii : layout->other), text, cnt * width);
}

/*
 * Makes a code object: the function remember() in app.py, which begins at line 10. `lines` is its
 * line table.
 */
static void make(struct fake *fake, const uint8_t *lines, size_t len)
{
	*fake = (struct fake){0};
	put(fake, CODE + 56, 2, 4);
	put(fake, CODE + 72, 10, 4);
	put(fake, CODE + 112, MEMORY + PATH, 8);
	put(fake, CODE + 120, MEMORY + NAME, 8);
	put(fake, CODE + 128, MEMORY + NAME, 8);
	put(fake, CODE + 136, MEMORY + LINES, 8);
	put_string(fake, NAME, "remember", 8, 1, true);
	put_string(fake, PATH, "app.py", 6, 1, true);
	put(fake, LINES + 16, len, 8);
	memcpy(fake->bytes + LINES + 32, lines, len);
}

static uint32_t cookie_in(struct fake *fake, uint32_t version)
{
	const struct object_memory memory = {read_fake, fake};
	uint32_t cookie;

	assert_true(code_object_cookie(&memory, python_layout_of(version), MEMORY + CODE, &cookie));
	return cookie;
}

static uint32_t cookie_of(struct fake *fake)
{
	return cookie_in(fake, 0x030b0000);
}

static int read_code(struct fake *fake, uint32_t cookie, struct code_object *ret)
{
	const struct object_memory memory = {read_fake, fake};

	return code_object_read(&memory, python_layout_of(0x030b0000), MEMORY + CODE, cookie, ret);
}

/*
 * A line table: two code units of line 10, one of line 12, one without a line, three of line 9, one
 * of line 109.
 */
static const uint8_t lines[] = {
	0x80 | 0 << 3 | 1,
	0x00, /* same line, one byte of columns */
	0x80 | 12 << 3 | 0,
	0x00,
	0x00,               /* two lines later */
	0x80 | 15 << 3 | 0, /* no line */
	0x80 | 13 << 3 | 2,
	3 << 1 | 1, /* three lines earlier */
	0x80 | 14 << 3 | 0,
	0x40 | 8,
	3,
	0,
	0x41,
	0x01,
	5, /* 100 lines later, with long columns */
};

static void test_names(void **state)
{
	struct code_object code;
	struct fake fake;

	make(&fake, lines, sizeof(lines));
	assert_int_equal(read_code(&fake, cookie_of(&fake), &code), 0);
	assert_string_equal(code.name, "remember");
	assert_string_equal(code.path, "app.py");
	assert_int_equal(code.first_line, 10);
	code_object_deinit(&code);
}

static void test_lines(void **state)
{
	static const uint32_t wanted[] = {10, 10, 12, 0, 9, 9, 9, 109, 0};
	const struct python_layout *layout = python_layout_of(0x030b0000);
	struct code_object code;
	struct fake fake;

	make(&fake, lines, sizeof(lines));
	assert_int_equal(read_code(&fake, cookie_of(&fake), &code), 0);
	for (uint32_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		assert_int_equal(code_object_line(&code, layout, layout->instructions + 2 * i),
				 wanted[i]);
	/* For an offset before the first instruction, the line is the function's first line. */
	assert_int_equal(code_object_line(&code, layout, layout->instructions - 2), 10);
	code_object_deinit(&code);
}

static void test_wide_strings(void **state)
{
	static const uint32_t wide[] = {'a', 0x1f600, 0xd800, 0x110000};
	static const uint16_t middle[] = {0x20ac, 'b'};
	struct code_object code;
	struct fake fake;

	make(&fake, lines, sizeof(lines));
	put_string(&fake, NAME, wide, 4, 4, false);
	put_string(&fake, PATH, middle, 2, 2, false);
	assert_int_equal(read_code(&fake, cookie_of(&fake), &code), 0);
	assert_string_equal(code.name, "a\U0001f600\ufffd\ufffd");
	assert_string_equal(code.path, "\u20acb");
	code_object_deinit(&code);
	put_string(&fake, NAME, "\xdc\xff", 2, 1, false);
	assert_int_equal(read_code(&fake, cookie_of(&fake), &code), 0);
	assert_string_equal(code.name, "\u00dc\u00ff");
	code_object_deinit(&code);
}

/* A changed code object at the same address has another cookie. */
static void test_stale(void **state)
{
	struct code_object code;
	struct fake fake;
	uint32_t cookie;

	make(&fake, lines, sizeof(lines));
	cookie = cookie_of(&fake);
	put(&fake, CODE + 72, 11, 4);
	assert_int_equal(read_code(&fake, cookie, &code), -ESTALE);
}

/*
 * A code object with another name has another cookie, even if all its counts, lines and addresses
 * of parts are the same. The cookie depends on the hash of the name; in CPython 3.12, on the
 * object's number.
 */
static void test_stale_alike(void **state)
{
	struct code_object code;
	struct fake fake;
	uint32_t cookie, numbered;

	make(&fake, lines, sizeof(lines));
	cookie = cookie_of(&fake);
	numbered = cookie_in(&fake, 0x030c0000);
	put_string(&fake, NAME, "observed", 8, 1, true);
	put(&fake, NAME + 24, 1, 8);
	assert_int_equal(read_code(&fake, cookie, &code), -ESTALE);
	assert_int_equal(cookie_in(&fake, 0x030c0000), numbered);
	put(&fake, CODE + 92, 1, 4);
	assert_int_not_equal(cookie_in(&fake, 0x030c0000), numbered);
}

/*
 * Memory that is not resident reads as zeros. There is no cookie for a code object that is partly
 * not resident.
 */
static void test_not_resident(void **state)
{
	static const struct {
		size_t at, len;
		/* true if these bytes are not needed for the cookie of CPython 3.12 */
		bool has_number;
	} absent[] = {{CODE, 80, false}, {CODE + 128, 16, false}, {NAME, 32, true}};

	(void)state;
	for (size_t i = 0; i < sizeof(absent) / sizeof(*absent); i++) {
		struct fake fake;
		const struct object_memory memory = {read_fake, &fake};
		uint32_t cookie;

		make(&fake, lines, sizeof(lines));
		memset(fake.bytes + absent[i].at, 0, absent[i].len);
		assert_false(code_object_cookie(&memory, python_layout_of(0x030b0000),
						MEMORY + CODE, &cookie));
		assert_int_equal(code_object_cookie(&memory, python_layout_of(0x030c0000),
						    MEMORY + CODE, &cookie),
				 absent[i].has_number);
	}
}

static void test_hostile(void **state)
{
	struct code_object code;
	struct fake fake;

	make(&fake, lines, sizeof(lines));
	put(&fake, NAME + 16, UINT64_MAX, 8);
	assert_int_equal(read_code(&fake, cookie_of(&fake), &code), -EFAULT);
	make(&fake, lines, sizeof(lines));
	put(&fake, NAME + 32, 7 << 2 | 1 << 5, 4);
	assert_int_equal(read_code(&fake, cookie_of(&fake), &code), -EFAULT);
	make(&fake, lines, sizeof(lines));
	put(&fake, CODE + 112, UINT64_MAX - 8, 8);
	assert_int_equal(read_code(&fake, cookie_of(&fake), &code), -EFAULT);
	/* A line table that is too long is left out. */
	make(&fake, lines, sizeof(lines));
	put(&fake, LINES + 16, UINT64_MAX, 8);
	assert_int_equal(read_code(&fake, cookie_of(&fake), &code), 0);
	assert_int_equal(code.lines_len, 0);
	code_object_deinit(&code);
}

static void test_layouts(void **state)
{
	assert_non_null(python_layout_of(0x030b02f0));
	assert_non_null(python_layout_of(0x030c01f0));
	assert_non_null(python_layout_of(0x030d0000));
	assert_null(python_layout_of(0x030a0df0));
	assert_non_null(python_layout_of(0x030e0af0));
	assert_null(python_layout_of(0x030f0000));
	assert_null(python_layout_of(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),        cmocka_unit_test(test_lines),
		cmocka_unit_test(test_wide_strings), cmocka_unit_test(test_stale),
		cmocka_unit_test(test_not_resident), cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_layouts),      cmocka_unit_test(test_stale_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
