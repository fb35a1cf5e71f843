// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings: what is written is read again, and nothing else is taken for one. */
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

#include "loader/cleanup.h"
#include "recording/recording.h"
#include "tests/unit/recording_same.h"

static char path[] = "/tmp/test_recording.XXXXXX";

static struct recording *open_recording(void)
{
	FILE *file = fopen(path, "re");
	struct recording *recording;

	assert_non_null(file);
	assert_int_equal(recording__new(file, &recording), 0);
	return recording;
}

/* Each snapshot of a world, written and read side by side. */
static void round_trip(unsigned int seed, unsigned int what)
{
	struct world *world = world_new(seed, what);
	struct recording *recording = NULL;
	struct recorder *recorder;

	assert_int_equal(recorder__new(path, what, &recorder), 0);
	for (int i = 0; i < 200; i++) {
		struct snapshot snap, again;
		bool final = i == 199, final_again;

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
	recorder__free(recorder);
	recording__free(recording);
	world_free(world);
}

static void round_trips(void **state)
{
	for (unsigned int seed = 1; seed <= 10; seed++) {
		round_trip(seed, RECORDING_AGES);
		round_trip(seed, RECORDING_AGES | RECORDING_BLOCKS);
		round_trip(seed, RECORDING_AGES | RECORDING_PEAK | RECORDING_SUMMARY);
		round_trip(seed, 0);
	}
}

/* A recording of a few snapshots as bytes. */
static uint8_t *small_recording(size_t *ret_len, size_t *ends, int cnt)
{
	unsigned int what = RECORDING_AGES | RECORDING_BLOCKS | RECORDING_PEAK | RECORDING_SUMMARY;
	struct world *world = world_new(99, what);
	struct recorder *recorder;
	uint8_t *bytes;
	FILE *file;

	world->site_cnt = 5;
	assert_int_equal(recorder__new(path, what, &recorder), 0);
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

/* How many snapshots there are before the end or an error, which is returned. */
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

/* Cut anywhere: what is whole is read, and that something is missing is known. */
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

/* No bit may be another: all before the chunk where it is are read, and no more. */
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

/* A full disk takes nothing of a snapshot. */
static void full_disk(void **state)
{
	struct recorder *recorder;

	assert_int_equal(recorder__new("/dev/full", 0, &recorder), -ENOSPC);
	assert_int_equal(recorder__new("/nonexistent/file", 0, &recorder), -ENOENT);
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(name, &st), 0);
	return st.st_mode & 07777;
}

/* Others may not read what they might before; devices stay as they are. */
static void for_its_owner(void **state)
{
	mode_t of_device = mode_of("/dev/null");
	struct recorder *recorder;

	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(recorder__new(path, 0, &recorder), 0);
	recorder__free(recorder);
	assert_int_equal(mode_of(path), 0600);
	assert_int_equal(recorder__new("/dev/null", 0, &recorder), 0);
	recorder__free(recorder);
	assert_int_equal(mode_of("/dev/null"), of_device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trips), cmocka_unit_test(truncations),
		cmocka_unit_test(bit_flips),   cmocka_unit_test(other_files),
		cmocka_unit_test(full_disk),   cmocka_unit_test(for_its_owner),
	};
	int fd = mkstemp(path);
	int result;

	if (fd < 0)
		return 99;
	close(fd);
	result = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return result;
}
