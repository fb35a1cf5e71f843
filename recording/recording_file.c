// SPDX-License-Identifier: GPL-2.0-or-later
/* The outer form of recordings: the header, and chunks, each deflated and with its checksum. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <zlib.h>

#include "loader/cleanup.h"
#include "recording/recording_parts.h"

#define MAGIC "memleak\x1a"
#define MAGIC_BYTES 8

/* No deflated byte stands for more than so many. */
#define DEFLATE_RATIO_MAX 1032

static void put_u32(uint8_t *bytes, uint32_t number)
{
	for (size_t i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(number >> 8 * i);
}

static uint32_t take_u32(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

static uint32_t crc_of(uint32_t crc, const uint8_t *bytes, size_t len)
{
	return (uint32_t)crc32(crc, bytes, (uInt)len);
}

struct recording_header recording_header_now(unsigned int flags)
{
	struct recording_header header = {
		.flags = flags,
		.lost_cnt = MEMLEAK_LOST_CNT,
		.shape_cnt = MEMLEAK_SHAPE_CNT,
		.table_cnt = TABLE_CNT,
	};

	/* Without random numbers all runs look like one, which costs a comparison some detail. */
	if (getrandom(header.run, sizeof(header.run), GRND_NONBLOCK) < 0)
		memset(header.run, 0, sizeof(header.run));
	return header;
}

void recording_header_put(const struct recording_header *header, uint8_t *bytes)
{
	memset(bytes, 0, HEADER_BYTES);
	memcpy(bytes, MAGIC, MAGIC_BYTES);
	put_u32(bytes + 8, RECORDING_VERSION);
	put_u32(bytes + 12, header->flags);
	memcpy(bytes + 16, header->run, RUN_ID_BYTES);
	bytes[32] = (uint8_t)header->lost_cnt;
	bytes[33] = (uint8_t)header->shape_cnt;
	bytes[34] = (uint8_t)header->table_cnt;
	put_u32(bytes + 36, crc_of(0, bytes, 36));
}

int recording_header_take(const uint8_t *bytes, struct recording_header *ret)
{
	struct recording_header header = {
		.flags = take_u32(bytes + 12),
		.lost_cnt = bytes[32],
		.shape_cnt = bytes[33],
		.table_cnt = bytes[34],
	};

	if (memcmp(bytes, MAGIC, MAGIC_BYTES))
		return -ENOEXEC;
	if (take_u32(bytes + 8) > RECORDING_VERSION)
		return -ENOTSUP;
	if (take_u32(bytes + 36) != crc_of(0, bytes, 36))
		return -ENOEXEC;
	if (header.lost_cnt > MEMLEAK_LOST_CNT || header.shape_cnt > MEMLEAK_SHAPE_CNT ||
	    header.table_cnt > TABLE_CNT)
		return -ENOTSUP;
	memcpy(header.run, bytes + 16, RUN_ID_BYTES);
	*ret = header;
	return 0;
}

int recording_pack(const struct byte_buffer *payload, uint8_t **ret, size_t *ret_len)
{
	uLongf len = compressBound(payload->len);
	uint8_t *chunk;

	if (payload->len > CHUNK_BYTES_MAX)
		return -EFBIG;
	chunk = malloc(CHUNK_HEAD_BYTES + len);
	if (!chunk || compress2(chunk + CHUNK_HEAD_BYTES, &len, payload->bytes, payload->len,
				Z_DEFAULT_COMPRESSION) != Z_OK) {
		free(chunk);
		return -ENOMEM;
	}
	put_u32(chunk, (uint32_t)len);
	put_u32(chunk + 4, (uint32_t)payload->len);
	put_u32(chunk + 8, crc_of(crc_of(0, chunk, 8), chunk + CHUNK_HEAD_BYTES, len));
	*ret = chunk;
	*ret_len = CHUNK_HEAD_BYTES + len;
	return 0;
}

/* Whether the bytes are those that were written, and so many. */
static bool inflate_all(const uint8_t *packed, size_t packed_len, uint8_t *bytes, size_t len)
{
	uLongf inflated = len;

	return uncompress(bytes, &inflated, packed, packed_len) == Z_OK && inflated == len;
}

int recording_unpack(FILE *file, uint8_t **ret, size_t *ret_len)
{
	uint8_t head[CHUNK_HEAD_BYTES];
	size_t got = fread(head, 1, sizeof(head), file);
	size_t packed_len = take_u32(head), len = take_u32(head + 4);
	cleanup_free uint8_t *packed = NULL;
	uint8_t *bytes;

	if (!got && feof(file))
		return 0;
	if (got < sizeof(head))
		return ferror(file) ? -EIO : -EBADMSG;
	if (!len || len > CHUNK_BYTES_MAX || packed_len > compressBound(CHUNK_BYTES_MAX) ||
	    len / DEFLATE_RATIO_MAX > packed_len)
		return -EBADMSG;
	packed = malloc(packed_len + 1);
	if (!packed)
		return -ENOMEM;
	if (fread(packed, 1, packed_len, file) < packed_len)
		return ferror(file) ? -EIO : -EBADMSG;
	if (take_u32(head + 8) != crc_of(crc_of(0, head, 8), packed, packed_len))
		return -EBADMSG;
	bytes = malloc(len);
	if (!bytes)
		return -ENOMEM;
	if (!inflate_all(packed, packed_len, bytes, len)) {
		free(bytes);
		return -EBADMSG;
	}
	*ret = bytes;
	*ret_len = len;
	return 1;
}
