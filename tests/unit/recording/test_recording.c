// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests writing and reading recordings, and refusing damaged ones. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "app/replay.h"
#include "base/cleanup.h"
#include "recording/reader.h"
#include "recording/recording.h"
#include "report/trend.h"
#include "tests/unit/recording/same.h"

static char path[] = "/tmp/test_recording.XXXXXX";

static struct recording *open_recording(void)
{
	FILE *file = fopen(path, "re");
	struct recording *recording;

	assert_non_null(file);
	assert_int_equal(recording__new(file, &recording), 0);
	return recording;
}

/* Records snapshots of random data, reads them back and compares. */
static void round_trip(unsigned int seed, unsigned int what)
{
	struct world *world = world_new(seed, what);
	struct recording *recording = NULL;
	struct recorder *recorder;

	assert_int_equal(recorder__new(path, &recorder), 0);
	assert_int_equal(recorder__begin(recorder, what), 0);
	for (int i = 0; i < 100; i++) {
		struct snapshot snap, again;
		bool final = i == 99, final_again;

		world_step(world);
		world_snapshot(world, &snap);
		assert_int_equal(recorder__add(recorder, &snap, final, &world->symbols, 1), 0);
		if (!recording)
			recording = open_recording();
		assert_int_equal(recording__next(recording, &again, &final_again), 1);
		assert_int_equal(final_again, final);
		world_compare(world, &snap, &again, recording__symbols(recording));
		snapshot_deinit(&snap);
		snapshot_deinit(&again);
	}
	assert_int_equal(recording__flags(recording), what);
	assert_true(recording__symbols(recording)->names_follow);
	recorder__free(recorder);
	recording__free(recording);
	world_free(world);
}

static int prepare_nothing(struct symbol_backend *self, const struct site *const *sites, size_t cnt,
			   uint64_t deadline_ns)
{
	return 0;
}

/* Finds a frame without its source line in the first two lookups. */
static const struct sym_location *lookup_late(struct symbol_backend *self, const struct site *site,
					      uint64_t frame)
{
	static const struct sym_frame frames[] = {{.symbol = "late"},
						  {.symbol = "late", .file = "late.c", .line = 7}};
	static struct sym_location location = {.addr = 1, .frame_cnt = 1};
	static int cnt;

	location.lines_follow = ++cnt <= 2;
	location.frames = &frames[cnt > 2];
	return &location;
}

/* A source line is recorded even if it becomes known later than the function's name. */
static void late_lines(void **state)
{
	static const uint64_t frames[] = {1};
	struct site site = {.id = 1, .count = 1, .bytes = 1, .frames = frames, .frame_cnt = 1};
	struct snapshot snap = {.sites = &site, .site_cnt = 1};
	struct symbol_backend symbols = {.prepare = prepare_nothing, .lookup = lookup_late};
	struct recording *recording;
	struct recorder *recorder;

	assert_int_equal(recorder__new(path, &recorder), 0);
	assert_int_equal(recorder__begin(recorder, 0), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(recorder__add(recorder, &snap, false, &symbols, UINT64_MAX), 0);
	recorder__free(recorder);
	recording = open_recording();
	for (int i = 0; i < 5; i++) {
		struct symbol_backend *names = recording__symbols(recording);
		const struct sym_location *location;
		struct snapshot again;
		bool final;

		assert_int_equal(recording__next(recording, &again, &final), 1);
		location = names->lookup(names, &again.sites[0], again.sites[0].frames[0]);
		assert_string_equal(location->frames[0].symbol, "late");
		if (i == 4)
			assert_int_equal(location->frames[0].line, 7);
		snapshot_deinit(&again);
	}
	recording__free(recording);
}

static void round_trips(void **state)
{
	for (unsigned int seed = 1; seed <= 10; seed++) {
		round_trip(seed, RECORDING_AGES | RECORDING_HAD_BEGUN | RECORDING_SIZE_FILTERS);
		round_trip(seed, RECORDING_AGES | RECORDING_BLOCKS | RECORDING_HAD_BEGUN |
					 RECORDING_WAS_YOUNG);
		round_trip(seed, RECORDING_AGES | RECORDING_PEAK | RECORDING_SUMMARY);
		round_trip(seed, 0);
	}
}

/* Returns the bytes of a recording with cnt snapshots. Sets `ends` to the ends of the snapshots. */
static uint8_t *small_recording(size_t *ret_len, size_t *ends, int cnt)
{
	unsigned int what = RECORDING_AGES | RECORDING_BLOCKS | RECORDING_PEAK | RECORDING_SUMMARY;
	struct world *world = world_new(98, what);
	struct recorder *recorder;
	uint8_t *bytes;
	FILE *file;

	world->site_cnt = 5;
	assert_int_equal(recorder__new(path, &recorder), 0);
	assert_int_equal(recorder__begin(recorder, what), 0);
	file = fopen(path, "re");
	assert_non_null(file);
	for (int i = 0; i < cnt; i++) {
		struct snapshot snap;

		world_step(world);
		world_snapshot(world, &snap);
		assert_int_equal(recorder__add(recorder, &snap, i == 3, &world->symbols, 1), 0);
		assert_int_equal(fseek(file, 0, SEEK_END), 0);
		ends[i] = (size_t)ftell(file);
		snapshot_deinit(&snap);
	}
	recorder__free(recorder);
	world_free(world);
	bytes = malloc(ends[cnt - 1]);
	assert_non_null(bytes);
	rewind(file);
	assert_int_equal(fread(bytes, 1, ends[cnt - 1], file), ends[cnt - 1]);
	fclose(file);
	*ret_len = ends[cnt - 1];
	return bytes;
}

/* Counts the snapshots of a recording up to its end or an error. Returns 0 or the error. */
static int read_all(const uint8_t *bytes, size_t len, int *ret_cnt)
{
	FILE *file = len ? fmemopen((void *)bytes, len, "r") : fopen("/dev/null", "re");
	struct recording *recording;
	struct snapshot snap;
	bool final;
	int got;

	assert_non_null(file);
	*ret_cnt = 0;
	got = recording__new(file, &recording);
	if (got)
		return got;
	while ((got = recording__next(recording, &snap, &final)) == 1) {
		++*ret_cnt;
		snapshot_deinit(&snap);
	}
	assert_int_equal(recording__next(recording, &snap, &final), 0);
	recording__free(recording);
	return got;
}

#define SMALL_CNT 4
#define HEADER_LEN 40

/*
 * If a recording is cut off at any byte, all snapshots before the cut are read, and the cut is
 * reported.
 */
static void truncations(void **state)
{
	size_t len, ends[SMALL_CNT];
	cleanup_free uint8_t *bytes = small_recording(&len, ends, SMALL_CNT);
	int cnt;

	for (size_t cut = 0; cut < len; cut++) {
		int whole = 0, got = read_all(bytes, cut, &cnt);

		while (ends[whole] <= cut)
			whole++;
		assert_int_equal(cnt, whole);
		if (cut < HEADER_LEN)
			assert_int_equal(got, -ENOEXEC);
		else if (cut == HEADER_LEN || (whole && ends[whole - 1] == cut))
			assert_int_equal(got, 0);
		else
			assert_int_equal(got, -EBADMSG);
	}
	assert_int_equal(read_all(bytes, len, &cnt), 0);
	assert_int_equal(cnt, SMALL_CNT);
}

/* A flipped bit is always detected. Only snapshots before it are read. */
static void bit_flips(void **state)
{
	size_t len, ends[SMALL_CNT];
	cleanup_free uint8_t *bytes = small_recording(&len, ends, SMALL_CNT);
	int cnt;

	for (size_t bit = 0; bit < len * 8; bit++) {
		int whole = 0, got;

		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		got = read_all(bytes, len, &cnt);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		while (ends[whole] <= bit / 8)
			whole++;
		assert_int_equal(cnt, whole);
		if (bit / 8 >= HEADER_LEN)
			assert_int_equal(got, -EBADMSG);
		else if (got != -ENOTSUP)
			assert_int_equal(got, -ENOEXEC);
	}
}

static void other_files(void **state)
{
	uint8_t newer[HEADER_LEN] = "memleak\x1a\xff";
	uint8_t text[] = "This is no recording at all, but it is long enough to hold a header.\n";
	int cnt;

	assert_int_equal(read_all(text, sizeof(text), &cnt), -ENOEXEC);
	assert_int_equal(read_all(newer, sizeof(newer), &cnt), -ENOTSUP);
	assert_int_equal(read_all(text, 0, &cnt), -ENOEXEC);
}

static void check_moment(const char *time, int result, size_t cnt)
{
	cleanup_free char *name = NULL;
	struct replay replay;

	assert_int_not_equal(asprintf(&name, "%s@%s", path, time), -1);
	assert_int_equal(replay_open(name, &replay), result);
	if (result)
		return;
	assert_int_equal(replay.cnt, cnt);
	replay_deinit(&replay);
}

/*
 * A time of day means the first such time after tracing began, which may be before the first
 * snapshot.
 */
static void times_of_day(void **state)
{
	const uint64_t second = 1000000000,
		       began = 86400 * second - second * 7 / 5; /* 23:59:58.6 */
	struct recorder *recorder;

	assert_int_equal(recorder__new(path, &recorder), 0);
	assert_int_equal(recorder__begin(recorder, 0), 0);
	for (uint64_t i = 1; i < 4; i++) {
		const struct snapshot snap = {.elapsed_ns = i * second,
					      .wall_ns = (int64_t)(began + i * second)};

		assert_int_equal(recorder__add(recorder, &snap, i == 3, NULL, 0), 0);
	}
	recorder__free(recorder);
	check_moment("23:59:58", -ENODATA, 0);
	check_moment("23:59:59", 0, 1);
	check_moment("00:00:00", 0, 2);
	check_moment("00:00:01", 0, 3);
	check_moment("23:59:57", 0, 3);
	check_moment("0.9", -ENODATA, 0);
	check_moment("2.0", 0, 2);
}

/*
 * Writes a snapshot. If id is not 0, gives this id to site 0. If step is not 0, adds it to
 * SITE_PRESENT of site 0: 1 makes the site appear, -1 makes it disappear.
 */
static void add_chunk(FILE *file, unsigned int version, uint64_t id, int64_t step)
{
	struct byte_buffer bytes = {0};
	cleanup_free uint8_t *chunk = NULL;
	size_t len;

	bytes_put(&bytes, "\0\0\0\0", 4); /* no changed words, strings, locations or processes */
	bytes_put_number(&bytes, id != 0);
	if (id) {
		bytes_put_number(&bytes, 0);
		bytes_put_number(&bytes, id);
		bytes_put(&bytes, "\0\0\0\0\0\0", 6);
	}
	bytes_put_number(&bytes, 0); /* no names */
	bytes_put_number(&bytes, step != 0);
	if (step) {
		bytes_put(&bytes, "\0\1\0", 3); /* site 0 changes one word: SITE_PRESENT */
		bytes_put_signed(&bytes, step);
	}
	/* The remaining sections are empty. */
	bytes_put(&bytes, "\0\0\0\0\0\0\0\0\0\0",
		  4 + (version >= RECORDING_WITH_HOLDERS) + (version >= RECORDING_WITH_HANGING) +
			  (version >= RECORDING_WITH_UNMAPPED) +
			  (version >= RECORDING_WITH_GROWTHS) +
			  2 * (version >= RECORDING_WITH_BIRTHS));
	assert_false(bytes.failed);
	assert_int_equal(recording_pack(&bytes, &chunk, &len), 0);
	assert_int_equal(fwrite(chunk, 1, len, file), len);
	free(bytes.bytes);
}

/* Reads a recording whose only chunk has these bytes. Frees the bytes. */
static int read_data(unsigned int version, struct byte_buffer *data)
{
	struct recording_header header = recording_header_now(0);
	uint8_t bytes[HEADER_BYTES + 512];
	cleanup_free uint8_t *chunk = NULL;
	size_t len;
	int read_cnt;

	header.version = version;
	assert_int_equal(recording_pack(data, &chunk, &len), 0);
	free(data->bytes);
	assert_true(len <= 512);
	recording_header_put(&header, bytes);
	memcpy(bytes + HEADER_BYTES, chunk, len);
	return read_all(bytes, HEADER_BYTES + len, &read_cnt);
}

/*
 * Reads a recording whose snapshot has `cnt` growing classes of Python (if kind is PYTHON_NAME_CNT)
 * or containers, each with `numbers` numbers.
 */
static int read_python(unsigned int version, uint64_t kind, size_t numbers, size_t cnt)
{
	struct byte_buffer data = {0};

	bytes_put(&data, "\0\0\0\0\0\0\0\0\0\0\0\0\0", 13); /* preceding sections, all empty */
	bytes_put_number(&data, cnt);
	for (size_t i = 0; i < cnt; i++) {
		bytes_put_number(&data, kind);
		bytes_put(&data, "\0\0\0\0\0\0\0\0\0\0", numbers);
	}
	if (version >= RECORDING_WITH_GROWTHS)
		bytes_put_number(&data, 0); /* no growing caches */
	if (version >= RECORDING_WITH_BIRTHS)
		bytes_put(&data, "\0\0", 2); /* no allocation times */
	return read_data(version, &data);
}

static void too_many_classes(void **state)
{
	assert_int_equal(read_python(RECORDING_VERSION, PYTHON_NAME_CNT, 8, PYTHON_CLASSES_MAX), 0);
	assert_int_equal(read_python(RECORDING_VERSION, PYTHON_NAME_CNT, 8, PYTHON_CLASSES_MAX + 1),
			 -EBADMSG);
}

/*
 * In newer versions, the record of a growing class or container consists of more numbers. Since
 * RECORDING_WITH_ALLOCATOR, there is also a record for the allocator. Since
 * RECORDING_WITH_UNCOUNTED, the record for the allocator includes the number of uncounted objects.
 */
static void python_of_versions(void **state)
{
	for (uint64_t kind = 0; kind <= PYTHON_NAME_CNT; kind += PYTHON_NAME_CNT)
		for (size_t numbers = 4; numbers <= 10; numbers++) {
			assert_int_equal(read_python(RECORDING_WITH_ITEMS - 1, kind, numbers, 1),
					 numbers == 5 ? 0 : -EBADMSG);
			assert_int_equal(read_python(RECORDING_WITH_ITEMS, kind, numbers, 1),
					 numbers == 6 ? 0 : -EBADMSG);
			assert_int_equal(read_python(RECORDING_WITH_PLACES, kind, numbers, 1),
					 numbers == (kind ? 8 : 6) ? 0 : -EBADMSG);
			assert_int_equal(read_python(RECORDING_WITH_ADDERS, kind, numbers, 1),
					 numbers == (kind ? 8 : 9) ? 0 : -EBADMSG);
		}
	assert_int_equal(read_python(RECORDING_WITH_ITEMS, RECORDING_PYTHON_ALLOCATOR, 1, 1),
			 -EBADMSG);
	for (size_t numbers = 1; numbers <= 3; numbers++) {
		assert_int_equal(read_python(RECORDING_WITH_ALLOCATOR, RECORDING_PYTHON_ALLOCATOR,
					     numbers, 1),
				 numbers == 1 ? 0 : -EBADMSG);
		assert_int_equal(read_python(RECORDING_WITH_UNCOUNTED, RECORDING_PYTHON_ALLOCATOR,
					     numbers, 1),
				 numbers == 2 ? 0 : -EBADMSG);
	}
}

/* Reads a recording whose snapshot has `cnt` growing kernel caches of the given kind and name. */
static int read_growths(size_t cnt, unsigned int kind, uint64_t name)
{
	struct byte_buffer data = {0};

	bytes_put(&data, "\0\1\1x", 4);                   /* a string */
	bytes_put(&data, "\0\0\0\0\0\0\0\0\0\0\0\0", 12); /* empty sections */
	bytes_put_number(&data, cnt);
	for (size_t i = 0; i < cnt; i++) {
		bytes_put_number(&data, kind);
		bytes_put_number(&data, name);
		bytes_put(&data, "\1\1\1", 3);
	}
	bytes_put(&data, "\0\0", 2); /* no allocation times */
	return read_data(RECORDING_VERSION, &data);
}

/*
 * A recording is refused if it has more growing caches than there is room for, or a cache without a
 * name or of an unknown kind.
 */
static void hostile_growths(void **state)
{
	const size_t most = KERNEL_GROWTH_KIND_CNT * KERNEL_GROWTHS_MAX;

	assert_int_equal(read_growths(most, 0, 1), 0);
	assert_int_equal(read_growths(most + 1, 0, 1), -EBADMSG);
	assert_int_equal(read_growths(1, KERNEL_GROWTH_KIND_CNT - 1, 1), 0);
	assert_int_equal(read_growths(1, KERNEL_GROWTH_KIND_CNT, 1), -EBADMSG);
	assert_int_equal(read_growths(1, 0, 0), -EBADMSG);
}

/*
 * Reads a recording whose snapshot has allocation times of a site's blocks. `first` and `second`
 * are the times of two earlier snapshots. is_present: true if the snapshot has the site.
 */
static int read_births(bool is_present, uint64_t first, uint64_t second)
{
	static const uint64_t none[BIRTH_WORDS], words[BIRTH_WORDS] = {1, 1};
	struct byte_buffer data = {0};

	bytes_put(&data, "\0\0\0\0\1\0\1\0\0\0\0\0\0", 13); /* site 0 with id 1 */
	bytes_put(&data, "\0\1\0\1\0", 5); /* no names; site 0 changes SITE_PRESENT */
	bytes_put_signed(&data, is_present);
	bytes_put(&data, "\0\0\0\0\0\0\0\0", 8); /* eight sections, all empty */
	/* allocation times of one site; two earlier snapshots */
	bytes_put(&data, "\1\2\0", 3);
	bytes_put_number(&data, first);
	bytes_put_number(&data, 0);
	bytes_put_number(&data, second);
	bytes_put_number(&data, 0);
	bytes_put_changes(&data, none, words, BIRTH_WORDS);
	return read_data(RECORDING_VERSION, &data);
}

/*
 * A recording is refused if its earlier snapshots are out of order, or if it has allocation times
 * of an absent site.
 */
static void hostile_births(void **state)
{
	assert_int_equal(read_births(true, 5, 6), 0);
	assert_int_equal(read_births(true, 5, 5), -EBADMSG);
	assert_int_equal(read_births(true, 5, 4), -EBADMSG);
	assert_int_equal(read_births(false, 5, 6), -EBADMSG);
}

/* Counts by allocation time do not change if the times of the earlier snapshots are the same. */
static void births_stay(void **state)
{
	const struct moments moments = {.ns = {10, 20, 30}, .cnt = 3};
	const struct ages births = {.bytes = {1, 2, 3, 4}, .count = {5, 6, 7, 8}};
	struct ages moved = births;

	recording_births_move(&moved, &moments, &moments);
	assert_memory_equal(&moved, &births, sizeof(births));
}

/*
 * Returns how much of the memory budget remains after reading a recording of cnt snapshots. Only
 * the first snapshot has a site, whose allocation times are `births`.
 */
static size_t memory_after(const struct ages *births, int cnt)
{
	struct site site = {.id = 1, .count = 1, .bytes = 1, .births = births};
	struct snapshot snap = {.sites = &site, .site_cnt = 1};
	struct symbol_backend symbols = {.prepare = prepare_nothing};
	struct recording *recording;
	struct recorder *recorder;
	size_t left;
	bool final;

	assert_int_equal(recorder__new(path, &recorder), 0);
	assert_int_equal(recorder__begin(recorder, 0), 0);
	for (int i = 0; i < cnt; i++) {
		snap.site_cnt = i == 0;
		assert_int_equal(recorder__add(recorder, &snap, false, &symbols, UINT64_MAX), 0);
	}
	recorder__free(recorder);
	recording = open_recording();
	while (recording__next(recording, &snap, &final) == 1)
		snapshot_deinit(&snap);
	left = recording->memory_left;
	recording__free(recording);
	return left;
}

/* The allocation times of a site use the memory budget until the site disappears. */
static void memory_of_births(void **state)
{
	const struct ages births = {.bytes = {1}, .count = {1}};

	assert_int_equal(memory_after(NULL, 1) - memory_after(&births, 1), 2 * sizeof(births));
	assert_int_equal(memory_after(NULL, 2), memory_after(&births, 2));
}

/*
 * Reads a recording of the given version in which a process has `cnt` numbers, all of this value,
 * after its flag RECORDING_TALLY_*.
 */
static int read_tally(unsigned int version, unsigned int flag, size_t cnt, uint64_t number)
{
	struct byte_buffer data = {0};

	bytes_put(&data, "\0\0\0\1\1\1\0\0", 8); /* a process */
	bytes_put(&data, "\0\0\0\0\0", 5);       /* five empty sections */
	bytes_put(&data, "\1\1\0\0\0\0", 6);     /* a tally without counts */
	bytes_put_number(&data, flag);
	for (size_t i = 0; i < cnt; i++)
		bytes_put_number(&data, number);
	bytes_put(&data, "\0\0\0\0\0\0\0",
		  1 + (version >= RECORDING_WITH_HOLDERS) + (version >= RECORDING_WITH_HANGING) +
			  (version >= RECORDING_WITH_UNMAPPED) +
			  (version >= RECORDING_WITH_GROWTHS) +
			  2 * (version >= RECORDING_WITH_BIRTHS));
	return read_data(version, &data);
}

static int read_footprint(unsigned int version, size_t cnt)
{
	return read_tally(version, RECORDING_TALLY_FOOTPRINT, cnt,
			  version < RECORDING_WITH_MAPPINGS);
}

/* The footprint of a process has more numbers in newer versions. */
static void footprints_of_versions(void **state)
{
	static const size_t parts[] = {
		[5] = 6,   [6] = 6,   [7] = 7,   [8] = 8,   [9] = 8,   [10] = 9,
		[11] = 10, [12] = 11, [13] = 11, [14] = 11, [15] = 11, [16] = 19,
		[17] = 20, [18] = 22, [19] = 22, [20] = 22, [21] = 22};

	for (unsigned int version = 5; version <= RECORDING_VERSION; version++) {
		assert_int_equal(read_footprint(version, parts[version]), 0);
		assert_int_equal(read_footprint(version, parts[version] - 1), -EBADMSG);
		assert_int_equal(read_footprint(version, parts[version] + 1), -EBADMSG);
	}
}

/* The resident memory of a process has more numbers in newer versions. */
static void memory_of_versions(void **state)
{
	static const size_t numbers[] = {
		[5] = 15,  [8] = 15,  [9] = 16,  [12] = 16, [13] = 18, [16] = 18,
		[17] = 20, [18] = 20, [19] = 21, [20] = 21, [21] = 22};

	for (unsigned int version = 5; version <= RECORDING_VERSION; version++) {
		if (!numbers[version])
			continue;
		for (size_t cnt = 14; cnt <= 23; cnt++)
			assert_int_equal(read_tally(version, RECORDING_TALLY_RSS, cnt, 0),
					 cnt == numbers[version] ? 0 : -EBADMSG);
	}
}

/*
 * Reads a recording in which site 0 has id 1 in the first snapshot, is absent from the second one
 * if `after` > 1, and gets the given id `after` snapshots after the first one.
 */
static int read_reused(unsigned int version, int after, uint64_t id)
{
	struct recording_header header = recording_header_now(0);
	uint8_t bytes[HEADER_BYTES + 2 * HISTORY_POINTS_MAX * 64] = {0};
	FILE *file = fmemopen(bytes, sizeof(bytes), "w");
	int cnt;

	assert_non_null(file);
	header.version = version;
	recording_header_put(&header, bytes);
	assert_int_equal(fwrite(bytes, 1, HEADER_BYTES, file), HEADER_BYTES);
	add_chunk(file, version, 1, 1);
	for (int i = 1; i < after; i++)
		add_chunk(file, version, 0, i == 1 ? -1 : 0);
	add_chunk(file, version, id, 0);
	cnt = (int)ftell(file);
	fclose(file);
	return read_all(bytes, (size_t)cnt, &cnt);
}

/*
 * The number of a site may be given another id only after reports have forgotten the site. A
 * recording that does so earlier is refused: it could make reports use ever more memory.
 */
static void reused_numbers(void **state)
{
	const unsigned int now = RECORDING_VERSION;

	assert_int_equal(read_reused(now, 1, 1), 0);
	assert_int_equal(read_reused(now, 1, 2), -EBADMSG);
	assert_int_equal(read_reused(now, 2, 1), 0);
	assert_int_equal(read_reused(now, 2, 2), -EBADMSG);
	assert_int_equal(read_reused(now, HISTORY_POINTS_MAX, 2), -EBADMSG);
	assert_int_equal(read_reused(now, HISTORY_POINTS_MAX + 1, 2), 0);
}

/* Older versions, with fewer sections, are read. Newer versions are refused. */
static void versions(void **state)
{
	for (unsigned int version = 1; version <= RECORDING_VERSION; version++)
		assert_int_equal(read_reused(version, 2, 1), 0);
	assert_int_equal(read_reused(RECORDING_VERSION + 1, 2, 1), -ENOTSUP);
}

/*
 * Skips all snapshots. Returns the result for the last one. left_else: memory budget that remains
 * after the last snapshot. Before the last snapshot, the budget is reduced so that only `left`
 * bytes of it would remain.
 */
static int skip_with(size_t left_else, size_t left)
{
	struct recording *recording = open_recording();
	struct recorded_moment moment;
	int got;

	for (int i = 1; i < SMALL_CNT; i++)
		assert_int_equal(recording__skip(recording, &moment), 1);
	recording->memory_left -= left_else - left;
	got = recording__skip(recording, &moment);
	recording__free(recording);
	return got;
}

/* A snapshot is refused if the remaining memory budget is too small for it. */
static void memory_of_snapshot(void **state)
{
	size_t len, ends[SMALL_CNT], made, left;
	struct recording *recording;
	struct snapshot snap = {0};
	bool final;

	free(small_recording(&len, ends, SMALL_CNT));
	recording = open_recording();
	for (int i = 0; i < SMALL_CNT; i++) {
		snapshot_deinit(&snap);
		assert_int_equal(recording__next(recording, &snap, &final), 1);
	}
	assert_true(snap.site_cnt && snap.block_cnt && recording->frame_cnt);
	made = (snap.site_cnt + 2 * recording->peak.site_cnt) * sizeof(*snap.sites) +
	       snap.block_cnt * sizeof(*snap.blocks) +
	       recording->frame_cnt * (sizeof(*snap.frames) + sizeof(void *));
	left = recording->memory_left;
	assert_int_equal(skip_with(left, made), 1);
	assert_int_equal(skip_with(left, made - 1), -EFBIG);
	snapshot_deinit(&snap);
	recording__free(recording);
}

static void full_disk(void **state)
{
	struct recorder *recorder;

	assert_int_equal(recorder__new("/dev/full", &recorder), 0);
	assert_int_equal(recorder__begin(recorder, 0), -ENOSPC);
	recorder__free(recorder);
	assert_int_equal(recorder__new("/nonexistent/file", &recorder), -ENOENT);
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(name, &st), 0);
	return st.st_mode & 07777;
}

/* An existing file becomes readable by its owner only. The mode of a device does not change. */
static void for_its_owner(void **state)
{
	mode_t of_device = mode_of("/dev/null");
	struct recorder *recorder;

	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(recorder__new(path, &recorder), 0);
	assert_int_equal(recorder__begin(recorder, 0), 0);
	recorder__free(recorder);
	assert_int_equal(mode_of(path), 0600);
	assert_int_equal(recorder__new("/dev/null", &recorder), 0);
	recorder__free(recorder);
	assert_int_equal(mode_of("/dev/null"), of_device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_of_day),       cmocka_unit_test(round_trips),
		cmocka_unit_test(late_lines),         cmocka_unit_test(truncations),
		cmocka_unit_test(bit_flips),          cmocka_unit_test(other_files),
		cmocka_unit_test(full_disk),          cmocka_unit_test(reused_numbers),
		cmocka_unit_test(versions),           cmocka_unit_test(footprints_of_versions),
		cmocka_unit_test(memory_of_versions), cmocka_unit_test(memory_of_snapshot),
		cmocka_unit_test(for_its_owner),      cmocka_unit_test(too_many_classes),
		cmocka_unit_test(hostile_growths),    cmocka_unit_test(python_of_versions),
		cmocka_unit_test(hostile_births),     cmocka_unit_test(births_stay),
		cmocka_unit_test(memory_of_births),
	};
	int fd = mkstemp(path);
	int result;

	setenv("TZ", "UTC", 1);
	if (fd < 0)
		return 99;
	close(fd);
	result = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return result;
}
