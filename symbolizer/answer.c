// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks and copies the answers of the helper that parses ELF files (symbolizer/server). */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/answer.h"

struct text {
	const char *at;
	size_t len;
};

struct raw_frame {
	struct text symbol;
	struct text file;
	uint32_t line;
};

static struct text get_text(struct message_cursor *cursor)
{
	struct text text;

	text.at = message_get_string(cursor, &text.len);
	if (text.at)
		text.len = strnlen(text.at, text.len);
	return text;
}

/* Copies a text to *ret, or sets *ret to NULL if it is empty or missing. Returns 0 or -ENOMEM. */
static int copy_text(struct text text, char **ret)
{
	*ret = NULL;
	if (!text.len)
		return 0;
	*ret = strndup(text.at, text.len);
	return *ret ? 0 : -ENOMEM;
}

static bool is_build_id(struct text text)
{
	if (text.len > 2 * BUILD_ID_BYTES_MAX || text.len % 2)
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (!memchr("0123456789abcdef", text.at[i], 16))
			return false;
	return true;
}

int answer_read_opened(struct message_cursor *cursor, struct opened_answer *ret)
{
	struct opened_answer opened = {.status = message_get_u32(cursor)};
	struct text build_id = get_text(cursor);
	uint32_t kind = message_get_u32(cursor);
	struct text need_id = get_text(cursor);
	struct text need_file = get_text(cursor);

	opened.need.kind = kind;
	opened.need.crc = message_get_u32(cursor);
	if (cursor->bad || cursor->at != cursor->end || kind > NEED_ALTERNATE ||
	    !is_build_id(build_id) || !is_build_id(need_id) || need_file.len >= PATH_MAX)
		return -EPROTO;
	if (copy_text(build_id, &opened.build_id) || copy_text(need_id, &opened.need.build_id) ||
	    copy_text(need_file, &opened.need.file)) {
		free(opened.build_id);
		file_need_deinit(&opened.need);
		return -ENOMEM;
	}
	if (!opened.need.build_id && !opened.need.file)
		opened.need.kind = NEED_NOTHING;
	*ret = opened;
	return 0;
}

static const char *append(char **store, struct text text)
{
	char *copy = *store;

	if (!text.len)
		return NULL;
	memcpy(copy, text.at, text.len);
	copy[text.len] = '\0';
	*store += text.len + 1;
	return copy;
}

/*
 * Returns `text` and adds its length to *bytes, the total length of the names so far. If the total
 * would exceed NAME_BYTES_MAX, returns an empty text instead.
 */
static struct text within_limit(struct text text, size_t *bytes)
{
	if (text.len > NAME_BYTES_MAX - *bytes)
		text.len = 0;
	*bytes += text.len;
	return text;
}

int answer_read_name(struct message_cursor *cursor, uint32_t index, bool exact,
		     struct name_answer *ret)
{
	struct raw_frame raw[SERVER_FRAMES_MAX];
	uint32_t got_index = message_get_u32(cursor);
	uint64_t vaddr = message_get_u64(cursor);
	uint64_t start = message_get_u64(cursor);
	uint32_t cnt = message_get_u32(cursor);
	size_t bytes = 0;
	struct sym_frame *frames;
	char *store;

	if (got_index != index || !cnt || cnt > SERVER_FRAMES_MAX || start > vaddr)
		return -EPROTO;
	for (uint32_t i = 0; i < cnt; i++) {
		raw[i].symbol = get_text(cursor);
		raw[i].file = get_text(cursor);
		raw[i].line = message_get_u32(cursor);
	}
	/*
	 * If the names exceed the limit, keep at least the name of the last frame: it contains the
	 * inlined calls.
	 */
	raw[cnt - 1].symbol = within_limit(raw[cnt - 1].symbol, &bytes);
	for (uint32_t i = 0; i < cnt; i++) {
		if (i + 1 < cnt)
			raw[i].symbol = within_limit(raw[i].symbol, &bytes);
		raw[i].file = within_limit(raw[i].file, &bytes);
	}
	if (cursor->bad || cursor->at != cursor->end)
		return -EPROTO;
	frames = calloc(1, cnt * (sizeof(*frames) + 2) + bytes);
	if (!frames)
		return -ENOMEM;
	store = (char *)(frames + cnt);
	for (uint32_t i = 0; i < cnt; i++) {
		frames[i].symbol = append(&store, raw[i].symbol);
		frames[i].file = append(&store, raw[i].file);
		frames[i].line = raw[i].line;
		frames[i].inlined = i + 1 < cnt;
	}
	/* For a return address, the byte before it was looked up: add 1. */
	if (frames[cnt - 1].symbol)
		frames[cnt - 1].offset = vaddr - start + !exact;
	*ret = (struct name_answer){vaddr, frames, cnt};
	return 0;
}
