// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decompresses a profile, checks it by the same rules as pprof's CheckValid, and prints it as text.
 */
#include "tests/unit/sinks/profile_dump.h"
#include "tests/unit/lib/golden.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "sinks/profile.pb-c.h"

/* Decompresses a gzip file. Fails the test if anything follows the compressed data. */
static uint8_t *gunzip(const char *bytes, size_t len, size_t *ret_len)
{
	size_t room = 1 << 22;
	uint8_t *ret = malloc(room);
	z_stream stream = {
		.next_in = (uint8_t *)bytes,
		.avail_in = (uInt)len,
		.next_out = ret,
		.avail_out = (uInt)room,
	};

	assert_non_null(ret);
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	*ret_len = stream.total_out;
	inflateEnd(&stream);
	return ret;
}

static const char *profile_text(const Pprof__Profile *profile, int64_t index)
{
	assert_true(index >= 0 && (size_t)index < profile->n_string_table);
	return profile->string_table[index];
}

static void check_sample(const Pprof__Profile *profile, const Pprof__Sample *sample)
{
	assert_int_equal(sample->n_value, profile->n_sample_type);
	assert_true(sample->n_location_id > 0);
	for (size_t i = 0; i < sample->n_location_id; i++)
		assert_true(sample->location_id[i] &&
			    sample->location_id[i] <= profile->n_location);
	for (size_t i = 0; i < sample->n_value; i++)
		assert_true(sample->value[i] >= 0);
	for (size_t i = 0; i < sample->n_label; i++) {
		assert_true(*profile_text(profile, sample->label[i]->key));
		assert_false(sample->label[i]->str && sample->label[i]->num);
	}
}

/* Checks a profile. The id of an element is its index in its table plus 1, so ids are unique. */
static void check_profile(const Pprof__Profile *profile)
{
	assert_true(profile->n_string_table > 0);
	assert_string_equal(profile->string_table[0], "");
	for (size_t i = 0; i < profile->n_string_table; i++)
		check_text(profile->string_table[i]);
	for (size_t i = 0; i < profile->n_sample; i++)
		check_sample(profile, profile->sample[i]);
	for (size_t i = 0; i < profile->n_mapping; i++)
		assert_int_equal(profile->mapping[i]->id, i + 1);
	for (size_t i = 0; i < profile->n_function; i++)
		assert_int_equal(profile->function[i]->id, i + 1);
	for (size_t i = 0; i < profile->n_location; i++) {
		const Pprof__Location *place = profile->location[i];

		assert_int_equal(place->id, i + 1);
		assert_true(place->mapping_id <= profile->n_mapping);
		for (size_t j = 0; j < place->n_line; j++)
			assert_true(place->line[j]->function_id &&
				    place->line[j]->function_id <= profile->n_function);
	}
}

static void dump_type(FILE *out, const Pprof__Profile *profile, const Pprof__ValueType *type)
{
	fprintf(out, " %s/%s", profile_text(profile, type->type),
		profile_text(profile, type->unit));
}

static void dump_location(FILE *out, const Pprof__Profile *profile, uint64_t id)
{
	const Pprof__Location *place = profile->location[id - 1];

	fprintf(out, "\t0x%" PRIx64 " in %" PRIu64, place->address, place->mapping_id);
	for (size_t i = 0; i < place->n_line; i++) {
		const Pprof__Function *function =
			profile->function[place->line[i]->function_id - 1];

		fprintf(out, "%s %s %s:%" PRId64, i ? " <-" : "",
			profile_text(profile, function->name),
			profile_text(profile, function->filename), place->line[i]->line);
	}
	fputc('\n', out);
}

static void dump_sample(FILE *out, const Pprof__Profile *profile, const Pprof__Sample *sample)
{
	fputs("sample", out);
	for (size_t i = 0; i < sample->n_value; i++)
		fprintf(out, " %" PRId64, sample->value[i]);
	for (size_t i = 0; i < sample->n_label; i++) {
		const Pprof__Label *label = sample->label[i];

		fprintf(out, " %s=", profile_text(profile, label->key));
		if (label->str)
			fputs(profile_text(profile, label->str), out);
		else
			fprintf(out, "%" PRId64, label->num);
		if (label->num_unit)
			fprintf(out, " %s", profile_text(profile, label->num_unit));
	}
	fputc('\n', out);
	for (size_t i = 0; i < sample->n_location_id; i++)
		dump_location(out, profile, sample->location_id[i]);
}

static void dump_mapping(FILE *out, const Pprof__Profile *profile, const Pprof__Mapping *mapping)
{
	fprintf(out,
		"mapping %" PRIu64 " 0x%" PRIx64 "-0x%" PRIx64 " 0x%" PRIx64 " %s %s%s%s%s%s\n",
		mapping->id, mapping->memory_start, mapping->memory_limit, mapping->file_offset,
		profile_text(profile, mapping->filename), profile_text(profile, mapping->build_id),
		mapping->has_functions ? " functions" : "", mapping->has_filenames ? " files" : "",
		mapping->has_line_numbers ? " lines" : "",
		mapping->has_inline_frames ? " inlined" : "");
}

char *profile_dump(const char *bytes, size_t len)
{
	size_t raw_len, text_len;
	cleanup_free uint8_t *raw = gunzip(bytes, len, &raw_len);
	Pprof__Profile *profile = pprof__profile__unpack(NULL, raw_len, raw);
	char *text = NULL;
	FILE *out = open_memstream(&text, &text_len);

	assert_non_null(profile);
	assert_non_null(out);
	check_profile(profile);
	fprintf(out, "time %" PRId64 " duration %" PRId64 "\ntypes", profile->time_nanos,
		profile->duration_nanos);
	for (size_t i = 0; i < profile->n_sample_type; i++)
		dump_type(out, profile, profile->sample_type[i]);
	fprintf(out, " default %s\nperiod %" PRId64,
		profile_text(profile, profile->default_sample_type), profile->period);
	dump_type(out, profile, profile->period_type);
	fputc('\n', out);
	for (size_t i = 0; i < profile->n_comment; i++)
		fprintf(out, "comment %s\n", profile_text(profile, profile->comment[i]));
	for (size_t i = 0; i < profile->n_mapping; i++)
		dump_mapping(out, profile, profile->mapping[i]);
	for (size_t i = 0; i < profile->n_sample; i++)
		dump_sample(out, profile, profile->sample[i]);
	assert_int_equal(fclose(out), 0);
	pprof__profile__free_unpacked(profile, NULL);
	return text;
}
