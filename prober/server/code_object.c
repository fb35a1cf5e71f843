// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parses CPython's code objects: strings, whose characters may have one, two or four bytes each,
 * and the line table (PEP 626).
 */
#include "prober/server/code_object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_at(const struct object_memory *memory, uint64_t addr, void *buf, size_t len)
{
	return addr <= INT64_MAX - len && memory->read(memory->arg, addr, buf, len);
}

/* Writes a character in UTF-8. Returns the number of bytes written. */
static size_t put_character(char *to, uint32_t c)
{
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000) || !c)
		c = 0xfffd;
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 63));
		to[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 63));
	to[2] = (char)(0x80 | (c >> 6 & 63));
	to[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* Converts cnt characters of `width` bytes each to UTF-8. */
static char *to_utf8(const uint8_t *from, size_t cnt, size_t width)
{
	char *text = malloc(4 * cnt + 1), *to = text;

	for (size_t i = 0; text && i < cnt; i++) {
		uint32_t c = 0;

		memcpy(&c, from + i * width, width);
		to += put_character(to, c);
	}
	if (text)
		*to = 0;
	return text;
}

/* Reads the string object to which the pointer at addr points. */
static int read_string(const struct object_memory *memory, const struct python_layout *layout,
		       uint64_t addr, char **ret)
{
	uint8_t bytes[4 * STRING_MAX];
	uint64_t at, cnt;
	uint32_t state;
	size_t width;

	if (!read_at(memory, addr, &at, sizeof(at)) ||
	    !read_at(memory, at + OBJECT_SIZE, &cnt, sizeof(cnt)) ||
	    !read_at(memory, at + STRING_STATE, &state, sizeof(state)))
		return -EFAULT;
	width = STRING_KIND(state);
	if (!STRING_IS_COMPACT(state) || (width != 1 && width != 2 && width != 4) ||
	    cnt > STRING_MAX)
		return -EFAULT;
	at += STRING_IS_ASCII(state) ? layout->ascii : layout->other;
	if (!read_at(memory, at, bytes, cnt * width))
		return -EFAULT;
	*ret = to_utf8(bytes, cnt, width);
	return *ret ? 0 : -ENOMEM;
}

/*
 * Reads the line table, the bytes object to which the pointer at addr points. Ignores a table
 * longer than LINES_MAX.
 */
static int read_lines(const struct object_memory *memory, uint64_t addr, struct code_object *code)
{
	uint64_t at, len;

	if (!read_at(memory, addr, &at, sizeof(at)) ||
	    !read_at(memory, at + OBJECT_SIZE, &len, sizeof(len)))
		return -EFAULT;
	if (len > LINES_MAX)
		len = 0;
	code->lines = malloc(len + 1);
	if (!code->lines)
		return -ENOMEM;
	code->lines_len = len;
	return read_at(memory, at + BYTES_DATA, code->lines, len) ? 0 : -EFAULT;
}

/*
 * The words from which the cookie of a code object is computed (memleak_script_cookie()). The
 * cookie shows whether another object is at the same address by now.
 */
struct identity {
	__u64 words[MEMLEAK_SCRIPT_COOKIE_WORDS];
	__u64 name_hash; /* hash of the function's name; 0 if layout->numbers_code */
};

static bool read_identity(const struct object_memory *memory, const struct python_layout *layout,
			  uint64_t addr, struct identity *ret)
{
	*ret = (struct identity){0};
	return read_at(memory, addr + MEMLEAK_SCRIPT_COOKIE, ret->words, sizeof(ret->words)) &&
	       (layout->numbers_code ||
		read_at(memory, ret->words[MEMLEAK_SCRIPT_COOKIE_NAME] + MEMLEAK_SCRIPT_HASH,
			&ret->name_hash, sizeof(ret->name_hash)));
}

bool code_object_cookie(const struct object_memory *memory, const struct python_layout *layout,
			uint64_t addr, uint32_t *ret)
{
	struct identity found;

	/*
	 * Reject code objects that are only partly resident (they may span two pages): memory that
	 * is not resident reads as zeros. In a resident code object, the first and last of these
	 * words and the hash of the name are not 0.
	 */
	if (!read_identity(memory, layout, addr, &found) || !found.words[0] ||
	    !found.words[MEMLEAK_SCRIPT_COOKIE_WORDS - 1] ||
	    (!layout->numbers_code && !found.name_hash))
		return false;
	*ret = memleak_script_cookie(found.words, found.name_hash);
	return true;
}

/* Returns 0 if the code object at addr has this cookie, -ESTALE if not, or -EFAULT. */
static int check(const struct object_memory *memory, const struct python_layout *layout,
		 uint64_t addr, uint32_t cookie)
{
	struct identity found;

	if (!read_identity(memory, layout, addr, &found))
		return -EFAULT;
	return memleak_script_cookie(found.words, found.name_hash) == cookie ? 0 : -ESTALE;
}

/* Reads the code object's first line number at addr. */
static int read_first_line(const struct object_memory *memory, uint64_t addr,
			   struct code_object *code)
{
	return read_at(memory, addr, &code->first_line, sizeof(code->first_line)) ? 0 : -EFAULT;
}

int code_object_read(const struct object_memory *memory, const struct python_layout *layout,
		     uint64_t addr, uint32_t cookie, struct code_object *ret)
{
	struct code_object code = {0};
	int err = check(memory, layout, addr, cookie);

	if (!err)
		err = read_first_line(memory, addr + CODE_FIRST_LINE(layout), &code);
	if (!err)
		err = read_string(memory, layout, addr + CODE_NAME, &code.name);
	if (!err)
		err = read_string(memory, layout, addr + CODE_PATH, &code.path);
	if (!err)
		err = read_lines(memory, addr + CODE_LINES, &code);
	/* Check again: the code object may have been freed during these reads. */
	if (!err)
		err = check(memory, layout, addr, cookie);
	if (err)
		code_object_deinit(&code);
	else
		*ret = code;
	return err;
}

void code_object_deinit(struct code_object *code)
{
	free(code->name);
	free(code->path);
	free(code->lines);
	*code = (struct code_object){0};
}

/* A position in the line table. */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
};

/*
 * Parses an unsigned number. Each byte contains 6 bits of the number, lowest bits first. If bit 6
 * of a byte is set, another byte follows.
 */
static uint32_t take_number(struct cursor *cursor)
{
	uint32_t value = 0, shift = 0;

	while (cursor->at < cursor->end) {
		uint8_t byte = *cursor->at++;

		if (shift < 32)
			value |= (uint32_t)(byte & 63) << shift;
		shift += 6;
		if (!(byte & 64))
			break;
	}
	return value;
}

/* Parses a signed number. Its lowest bit is the sign. The result is modulo 2^32. */
static uint32_t take_signed(struct cursor *cursor)
{
	uint32_t value = take_number(cursor);

	return value & 1 ? -(value >> 1) : value >> 1;
}

static void skip(struct cursor *cursor, size_t cnt)
{
	size_t left = (size_t)(cursor->end - cursor->at);

	cursor->at += cnt < left ? cnt : left;
}

/* Kinds of line table entries (co_linetable). Kinds below ENTRY_LINE_0 do not change the line. */
enum entry_kind {
	/* kinds 10 to 12 advance the line by 0 to 2; two bytes with columns follow */
	ENTRY_LINE_0 = 10,
	ENTRY_NO_COLUMNS = 13,
	ENTRY_LONG = 14,
	ENTRY_NO_LINE = 15,
};

/*
 * Parses the rest of a line table entry of this kind, and updates *line. Returns false if the entry
 * has no line.
 */
static bool take_entry(struct cursor *cursor, unsigned int kind, uint32_t *line)
{
	if (kind < ENTRY_LINE_0) {
		skip(cursor, 1);
	} else if (kind < ENTRY_NO_COLUMNS) {
		*line += kind - ENTRY_LINE_0;
		skip(cursor, 2);
	} else if (kind != ENTRY_NO_LINE) {
		*line += take_signed(cursor);
		for (int i = 0; kind == ENTRY_LONG && i < 3; i++)
			take_number(cursor);
	}
	return kind != ENTRY_NO_LINE;
}

uint32_t code_object_line(const struct code_object *code, const struct python_layout *layout,
			  uint32_t distance)
{
	struct cursor cursor = {code->lines, code->lines + code->lines_len};
	uint32_t line = (uint32_t)code->first_line;
	uint64_t unit, covered = 0;

	if (distance < layout->instructions)
		return line;
	unit = (distance - layout->instructions) / 2;
	while (cursor.at < cursor.end) {
		uint8_t head = *cursor.at++;
		bool has_line = take_entry(&cursor, head >> 3 & 15, &line);

		covered += (head & 7) + 1;
		if (unit < covered)
			return has_line ? line : 0;
	}
	return 0;
}
