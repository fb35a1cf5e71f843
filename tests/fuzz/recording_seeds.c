// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes seed inputs for fuzz_recording to a folder. Each contains the chunks of a random
 * recording, unpacked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recording/format.h"
#include "tests/unit/recording/world.h"

static void record(const char *path, uint64_t seed, unsigned int what)
{
	struct world *world = world_new(seed, what);
	struct recorder *recorder;

	world->site_cnt = 1 + seed % 6;
	assert_int_equal(recorder__new(path, &recorder), 0);
	assert_int_equal(recorder__begin(recorder, what), 0);
	for (size_t i = 0; i < 2 + seed % 3; i++) {
		struct snapshot snap;

		world_step(world);
		world_snapshot(world, &snap);
		assert_int_equal(recorder__add(recorder, &snap, false, &world->symbols, 1), 0);
		snapshot_deinit(&snap);
	}
	recorder__free(recorder);
	world_free(world);
}

static void unpack(const char *path, const char *seed_path)
{
	FILE *in = fopen(path, "re"), *out = fopen(seed_path, "we");
	uint8_t *bytes;
	size_t len;

	assert_non_null(in);
	assert_non_null(out);
	assert_int_equal(fseek(in, HEADER_BYTES, SEEK_SET), 0);
	while (recording_unpack(in, &bytes, &len) == 1) {
		fputc((int)(len & 0xff), out);
		fputc((int)(len >> 8), out);
		fwrite(bytes, 1, len, out);
		free(bytes);
	}
	fclose(in);
	fclose(out);
}

int main(int argc, char **argv)
{
	char path[4096], seed_path[4096];

	if (argc != 2)
		return 2;
	snprintf(path, sizeof(path), "%s/recording", argv[1]);
	for (unsigned int seed = 1; seed <= 40; seed++) {
		snprintf(seed_path, sizeof(seed_path), "%s/seed%u", argv[1], seed);
		record(path, seed, seed % 16);
		unpack(path, seed_path);
	}
	return 0;
}
