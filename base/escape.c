// SPDX-License-Identifier: GPL-2.0-or-later
/* Decodes UTF-8 strictly, and escapes characters that are unsafe to print. */
#include "base/escape.h"

#include <stdlib.h>
#include <string.h>

struct range {
	uint32_t first;
	uint32_t last;
};

/* Control characters and invisible characters, in ascending order. */
static const struct range not_plain[] = {
	{0x0000, 0x001f},   /* C0 control characters */
	{0x007f, 0x009f},   /* DEL and C1 control characters */
	{0x00ad, 0x00ad},   /* soft hyphen */
	{0x061c, 0x061c},   /* Arabic letter mark */
	{0x180e, 0x180e},   /* Mongolian vowel separator */
	{0x200b, 0x200f},   /* zero-width characters, direction marks */
	{0x2028, 0x202e},   /* line separators, direction embeddings and overrides */
	{0x2060, 0x206f},   /* word joiner, direction isolates, deprecated format characters */
	{0xfeff, 0xfeff},   /* byte order mark */
	{0xfff0, 0xfffb},   /* interlinear annotations */
	{0xe0000, 0xe0fff}, /* invisible tag characters */
};

bool is_plain_character(uint32_t character)
{
	for (size_t i = 0; i < sizeof(not_plain) / sizeof(not_plain[0]); i++)
		if (character >= not_plain[i].first && character <= not_plain[i].last)
			return false;
	return true;
}

/*
 * Returns the length of the UTF-8 character that begins with `byte`; 0 if the byte is invalid. Sets
 * *bits to the bits of the character that are in this byte.
 */
static size_t utf8_first(unsigned char byte, uint32_t *bits)
{
	if (byte < 0x80) {
		*bits = byte;
		return 1;
	}
	if (byte >= 0xc2 && byte <= 0xdf) {
		*bits = byte & 0x1f;
		return 2;
	}
	if (byte >= 0xe0 && byte <= 0xef) {
		*bits = byte & 0x0f;
		return 3;
	}
	if (byte >= 0xf0 && byte <= 0xf4) {
		*bits = byte & 0x07;
		return 4;
	}
	return 0;
}

size_t utf8_decode(const char *bytes, size_t len, uint32_t *ret)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t character;
	size_t cnt = utf8_first((unsigned char)bytes[0], &character);

	if (!cnt || cnt > len)
		return 0;
	for (size_t i = 1; i < cnt; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if ((byte & 0xc0) != 0x80)
			return 0;
		character = character << 6 | (byte & 0x3f);
	}
	if (character < smallest[cnt] || character > 0x10ffff)
		return 0;
	if (character >= 0xd800 && character <= 0xdfff)
		return 0;
	*ret = character;
	return cnt;
}

size_t ascii_run(const char *bytes, size_t len, const char *except)
{
	size_t cnt = 0;

	while (cnt < len && bytes[cnt] >= ' ' && bytes[cnt] <= '~' && !strchr(except, bytes[cnt]))
		cnt++;
	return cnt;
}

/*
 * Writes the beginning of `bytes` (at least one byte), escaped if unsafe. Returns the number of
 * bytes consumed.
 */
static size_t write_some(FILE *out, const char *bytes, size_t len)
{
	uint32_t character;
	size_t cnt = ascii_run(bytes, len, "");

	if (cnt) {
		fwrite(bytes, 1, cnt, out);
		return cnt;
	}
	cnt = utf8_decode(bytes, len, &character);
	if (cnt && is_plain_character(character)) {
		fwrite(bytes, 1, cnt, out);
		return cnt;
	}
	cnt = cnt ? cnt : 1;
	for (size_t i = 0; i < cnt; i++)
		fprintf(out, "\\x%02x", (unsigned char)bytes[i]);
	return cnt;
}

void escape_write(FILE *out, const char *bytes, size_t len)
{
	while (len) {
		size_t cnt = write_some(out, bytes, len);

		bytes += cnt;
		len -= cnt;
	}
}

void escape_puts(FILE *out, const char *text)
{
	escape_write(out, text, strlen(text));
}

char *escape_dup(const char *text)
{
	char *ret = NULL;
	size_t len;
	FILE *memory = open_memstream(&ret, &len);

	if (!memory)
		return NULL;
	escape_puts(memory, text);
	if (fclose(memory) == 0)
		return ret;
	free(ret);
	return NULL;
}
