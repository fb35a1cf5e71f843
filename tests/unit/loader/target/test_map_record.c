// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests parsing of mapping records, and reading them from a ring buffer. Some of the records and
 * buffers are corrupt.
 */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "loader/target/event_ring.h"
#include "loader/target/map_record.h"
#include "tests/unit/lib/random.h"

/* A record under construction. */
struct writer {
	uint8_t bytes[65536];
	size_t len;
};

static void put(struct writer *writer, const void *bytes, size_t len)
{
	memcpy(writer->bytes + writer->len, bytes, len);
	writer->len += len;
}

static void put32(struct writer *writer, uint32_t value)
{
	put(writer, &value, sizeof(value));
}

static void put64(struct writer *writer, uint64_t value)
{
	put(writer, &value, sizeof(value));
}

/* Appends text with its NUL, padded to a multiple of 8 bytes. */
static void put_text(struct writer *writer, const char *text)
{
	put(writer, text, strlen(text) + 1);
	while (writer->len % 8)
		put(writer, "", 1);
}

static void begin(struct writer *writer, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {.type = type, .misc = misc};

	writer->len = 0;
	put(writer, &header, sizeof(header));
}

static void finish(struct writer *writer, uint64_t time_ns)
{
	uint16_t size;

	put32(writer, 11);
	put32(writer, 12);
	put64(writer, time_ns);
	size = (uint16_t)writer->len;
	memcpy(writer->bytes + offsetof(struct perf_event_header, size), &size, sizeof(size));
}

static void write_mapping(struct writer *writer, uint64_t start, uint64_t len, uint64_t inode,
			  const char *path)
{
	begin(writer, PERF_RECORD_MMAP2, 0);
	put32(writer, 11);
	put32(writer, 12);
	put64(writer, start);
	put64(writer, len);
	put64(writer, 0x3000);
	put32(writer, 8);
	put32(writer, 1);
	put64(writer, inode);
	put64(writer, 99);
	put32(writer, PROT_READ | PROT_EXEC);
	put32(writer, MAP_PRIVATE);
	put_text(writer, path);
	finish(writer, 1234);
}

static bool path_is(const struct map_record *record, const char *path)
{
	return record->path_len == strlen(path) && !memcmp(record->path, path, record->path_len);
}

static void mappings(void **state)
{
	struct writer writer;
	struct map_record record;

	write_mapping(&writer, 0x1000, 0x2000, 77, "/usr/bin/a b");
	assert_true(map_record_parse(writer.bytes, writer.len, &record));
	assert_int_equal(record.kind, MAP_RECORD_MAPPING);
	assert_int_equal(record.time_ns, 1234);
	assert_int_equal(record.pid, 11);
	assert_int_equal(record.tid, 12);
	assert_int_equal(record.mapping.start, 0x1000);
	assert_int_equal(record.mapping.end, 0x3000);
	assert_int_equal(record.mapping.offset, 0x3000);
	assert_int_equal(major(record.mapping.file.dev), 8);
	assert_int_equal(minor(record.mapping.file.dev), 1);
	assert_int_equal(record.mapping.file.ino, 77);
	assert_true(record.mapping.readable && record.mapping.executable);
	assert_false(record.mapping.writable || record.mapping.shared || record.mapping.deleted);
	assert_true(path_is(&record, "/usr/bin/a b"));
	write_mapping(&writer, 0x1000, 0x2000, 77, "/tmp/gone (deleted)");
	assert_true(map_record_parse(writer.bytes, writer.len, &record));
	assert_true(record.mapping.deleted);
	assert_true(path_is(&record, "/tmp/gone"));
	write_mapping(&writer, 0x1000, 0x2000, 0, "//anon");
	assert_true(map_record_parse(writer.bytes, writer.len, &record));
	assert_true(path_is(&record, ""));
	assert_int_equal(record.mapping.offset, 0);
	write_mapping(&writer, UINT64_MAX - 0xfff, 0x2000, 1, "/a");
	assert_false(map_record_parse(writer.bytes, writer.len, &record));
	write_mapping(&writer, 0x1000, 0, 1, "/a");
	assert_false(map_record_parse(writer.bytes, writer.len, &record));
}

static void processes(void **state)
{
	struct writer writer;
	struct map_record record;

	begin(&writer, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put32(&writer, 5);
	put32(&writer, 6);
	put_text(&writer, "a\nb");
	finish(&writer, 7);
	assert_true(map_record_parse(writer.bytes, writer.len, &record));
	assert_int_equal(record.kind, MAP_RECORD_EXEC);
	assert_int_equal(record.pid, 5);
	assert_int_equal(record.tid, 6);
	assert_string_equal(record.comm, "a\nb");
	begin(&writer, PERF_RECORD_COMM, 0);
	put32(&writer, 5);
	put32(&writer, 6);
	put_text(&writer, "much longer than any name is");
	finish(&writer, 7);
	assert_true(map_record_parse(writer.bytes, writer.len, &record));
	assert_int_equal(record.kind, MAP_RECORD_NAME);
	assert_string_equal(record.comm, "much longer tha");
	for (uint32_t type = PERF_RECORD_EXIT; type <= PERF_RECORD_FORK; type++) {
		begin(&writer, type, 0);
		for (uint32_t i = 1; i <= 4; i++)
			put32(&writer, i);
		put64(&writer, 7);
		finish(&writer, 8);
		assert_true(map_record_parse(writer.bytes, writer.len, &record));
		if (type == PERF_RECORD_EXIT || type == PERF_RECORD_FORK) {
			assert_int_equal(record.kind, type == PERF_RECORD_EXIT ? MAP_RECORD_EXIT
									       : MAP_RECORD_FORK);
			assert_int_equal(record.pid, 1);
			assert_int_equal(record.parent, 2);
			assert_int_equal(record.tid, 3);
			assert_int_equal(record.time_ns, 8);
		} else {
			assert_int_equal(record.kind, MAP_RECORD_OTHER);
		}
	}
	begin(&writer, PERF_RECORD_LOST, 0);
	put64(&writer, 1);
	put64(&writer, 1000);
	finish(&writer, 9);
	assert_true(map_record_parse(writer.bytes, writer.len, &record));
	assert_int_equal(record.kind, MAP_RECORD_LOST);
}

/* Parses records of any length: nothing may be read beyond the end of a record. */
static void odd_lengths(void **state)
{
	static const uint32_t types[] = {PERF_RECORD_MMAP2, PERF_RECORD_COMM, PERF_RECORD_FORK,
					 PERF_RECORD_EXIT,  PERF_RECORD_LOST, 12345};
	uint64_t seed = 1;

	for (size_t len = 0; len < 200; len++) {
		for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
			uint8_t *bytes = malloc(len ? len : 1);
			struct map_record record;

			assert_non_null(bytes);
			for (size_t at = 0; at < len; at++)
				bytes[at] = (uint8_t)random_next(&seed) | 1;
			if (len >= sizeof(types[i]))
				memcpy(bytes, &types[i], sizeof(types[i]));
			if (map_record_parse(bytes, len, &record) &&
			    record.kind == MAP_RECORD_MAPPING) {
				assert_true(record.path >= (char *)bytes);
				assert_true(record.path + record.path_len <= (char *)bytes + len);
			}
			map_record_time(bytes, len);
			free(bytes);
		}
	}
}

#define RING_BYTES 4096

struct fake_ring {
	struct perf_event_mmap_page control;
	uint8_t data[RING_BYTES];
	struct event_ring ring;
};

static struct fake_ring *ring_new(void)
{
	struct fake_ring *fake = calloc(1, sizeof(*fake));

	assert_non_null(fake);
	fake->ring = (struct event_ring){&fake->control, fake->data, RING_BYTES};
	return fake;
}

static void write_bytes(struct fake_ring *fake, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		fake->data[(fake->control.data_head + i) % RING_BYTES] =
			((const uint8_t *)bytes)[i];
	fake->control.data_head += len;
}

/* Tests that records of all lengths survive when the ring wraps around many times. */
static void records_go_over_the_end(void **state)
{
	struct event_ring_copy *copy = malloc(sizeof(*copy));
	struct fake_ring *fake = ring_new();
	uint64_t broken = 0, seed = 1;
	struct map_record record;
	struct writer writer;
	char path[2000];

	assert_non_null(copy);
	assert_null(event_ring_peek(&fake->ring, copy, &broken));
	for (uint64_t i = 1; i < 1000; i++) {
		const struct perf_event_header *header;
		size_t len = random_next(&seed) % sizeof(path);

		memset(path, 'a' + (int)(i % 26), sizeof(path));
		path[len] = '\0';
		write_mapping(&writer, 0x1000 * i, 0x1000, i, path);
		write_bytes(fake, writer.bytes, writer.len);
		header = event_ring_peek(&fake->ring, copy, &broken);
		assert_non_null(header);
		assert_ptr_equal(event_ring_peek(&fake->ring, copy, &broken), header);
		assert_int_equal(header->size, writer.len);
		assert_int_equal(map_record_time(header, header->size), 1234);
		assert_true(map_record_parse(header, header->size, &record));
		assert_int_equal(record.mapping.file.ino, i);
		assert_true(path_is(&record, path));
		event_ring_skip(&fake->ring, header->size);
		assert_null(event_ring_peek(&fake->ring, copy, &broken));
	}
	assert_int_equal(broken, 0);
	free(fake);
	free(copy);
}

static void what_is_no_record_is_dropped(void **state)
{
	static const uint16_t sizes[] = {0, 1, 7, 9, 4090, 65535, 64};
	struct event_ring_copy *copy = malloc(sizeof(*copy));
	struct fake_ring *fake = ring_new();
	struct writer writer;
	uint64_t broken = 0;

	assert_non_null(copy);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct perf_event_header header = {.type = PERF_RECORD_FORK, .size = sizes[i]};

		write_bytes(fake, &header, sizeof(header));
		assert_null(event_ring_peek(&fake->ring, copy, &broken));
		assert_int_equal(broken, i + 1);
		assert_int_equal(fake->control.data_tail, fake->control.data_head);
	}
	/* The ring's head claims more data than the ring can hold. */
	fake->control.data_head += RING_BYTES + 8;
	assert_null(event_ring_peek(&fake->ring, copy, &broken));
	write_mapping(&writer, 0x1000, 0x1000, 1, "/a");
	write_bytes(fake, writer.bytes, writer.len);
	assert_non_null(event_ring_peek(&fake->ring, copy, &broken));
	free(fake);
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mappings),
		cmocka_unit_test(processes),
		cmocka_unit_test(odd_lengths),
		cmocka_unit_test(records_go_over_the_end),
		cmocka_unit_test(what_is_no_record_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
