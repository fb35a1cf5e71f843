// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds a profile in pprof's format. Equal objects (strings, mappings, functions, locations) are
 * added only once.
 */
#include "sinks/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_buffer.h"
#include "base/escape.h"

/*
 * Returns `array` after making room for one more item; the array may have moved. Its capacity is a
 * power of two. Returns NULL if out of memory; the array is then unchanged.
 */
static void *make_room(void *array, size_t cnt, size_t size)
{
	if (cnt & (cnt - 1))
		return array;
	return reallocarray(array, cnt ? 2 * cnt : 1, size);
}

#define APPEND(array, cnt, ...)                                                                    \
	({                                                                                         \
		typeof(array) grown_ = make_room(array, cnt, sizeof(*(array)));                    \
		if (grown_) {                                                                      \
			(array) = grown_;                                                          \
			(array)[(cnt)++] = __VA_ARGS__;                                            \
		}                                                                                  \
		grown_ ? 0 : -ENOMEM;                                                              \
	})

/*
 * Returns the number of an object, such as a function, given the bytes that identify it. Numbers
 * begin with 1; 0 means out of memory. Sets *fresh if the object is new.
 */
static uint64_t number_of(struct profile *profile, struct intern *table, const void *bytes,
			  size_t len, bool *fresh)
{
	uint64_t number = 0;

	*fresh = false;
	if (!profile->err)
		number = intern_get(table, bytes, len, fresh);
	if (!number)
		profile->err = -ENOMEM;
	return number;
}

void profile_init(struct profile *profile)
{
	*profile = (struct profile){.message = malloc(sizeof(*profile->message))};
	if (!profile->message) {
		profile->err = -ENOMEM;
		return;
	}
	pprof__profile__init(profile->message);
	profile_string(profile, "");
}

void profile_deinit(struct profile *profile)
{
	intern_deinit(&profile->strings);
	intern_deinit(&profile->mappings);
	intern_deinit(&profile->functions);
	intern_deinit(&profile->locations);
	if (profile->message)
		pprof__profile__free_unpacked(profile->message, NULL);
}

int64_t profile_string(struct profile *profile, const char *text)
{
	Pprof__Profile *message = profile->message;
	char *clean = profile->err ? NULL : escape_dup(text ? text : "");
	uint64_t number;
	bool fresh;

	if (!clean) {
		profile->err = -ENOMEM;
		return 0;
	}
	number = number_of(profile, &profile->strings, clean, strlen(clean), &fresh);
	if (fresh && !APPEND(message->string_table, message->n_string_table, clean))
		return (int64_t)number - 1;
	if (fresh)
		profile->err = -ENOMEM;
	free(clean);
	return profile->err ? 0 : (int64_t)number - 1;
}

Pprof__ValueType *profile_value_type(struct profile *profile, const char *type, const char *unit)
{
	Pprof__ValueType *value_type = malloc(sizeof(*value_type));

	if (!value_type) {
		profile->err = -ENOMEM;
		return NULL;
	}
	pprof__value_type__init(value_type);
	value_type->type = profile_string(profile, type);
	value_type->unit = profile_string(profile, unit);
	return value_type;
}

void profile_add_sample_type(struct profile *profile, const char *type, const char *unit)
{
	Pprof__ValueType *value_type = profile_value_type(profile, type, unit);
	Pprof__Profile *message = profile->message;

	if (!profile->err && !APPEND(message->sample_type, message->n_sample_type, value_type))
		return;
	free(value_type);
	profile->err = -ENOMEM;
}

void profile_add_comment(struct profile *profile, const char *text)
{
	int64_t string = profile_string(profile, text);
	Pprof__Profile *message = profile->message;

	if (profile->err || APPEND(message->comment, message->n_comment, string))
		profile->err = -ENOMEM;
}

static uint64_t function_of(struct profile *profile, const char *name, const char *file)
{
	Pprof__Profile *message = profile->message;
	const int64_t key[] = {profile_string(profile, name), profile_string(profile, file)};
	Pprof__Function *function;
	bool fresh;
	uint64_t id = number_of(profile, &profile->functions, key, sizeof(key), &fresh);

	if (!fresh)
		return id;
	function = malloc(sizeof(*function));
	if (!function || APPEND(message->function, message->n_function, function)) {
		free(function);
		profile->err = -ENOMEM;
		return 0;
	}
	pprof__function__init(function);
	function->id = id;
	function->name = function->system_name = key[0];
	function->filename = key[1];
	return id;
}

static Pprof__Mapping *mapping_of(struct profile *profile, const char *module,
				  const struct sym_location *location)
{
	Pprof__Profile *message = profile->message;
	const uint64_t key[] = {
		location->mapping.start,
		location->mapping.end,
		location->mapping.offset,
		(uint64_t)profile_string(profile, module),
		(uint64_t)profile_string(profile, location->build_id),
	};
	Pprof__Mapping *mapping;
	bool fresh;
	uint64_t id = number_of(profile, &profile->mappings, key, sizeof(key), &fresh);

	if (!fresh)
		return id ? message->mapping[id - 1] : NULL;
	mapping = malloc(sizeof(*mapping));
	if (!mapping || APPEND(message->mapping, message->n_mapping, mapping)) {
		free(mapping);
		profile->err = -ENOMEM;
		return NULL;
	}
	pprof__mapping__init(mapping);
	mapping->id = id;
	mapping->memory_start = key[0];
	mapping->memory_limit = key[1];
	mapping->file_offset = key[2];
	mapping->filename = (int64_t)key[3];
	mapping->build_id = (int64_t)key[4];
	mapping->has_functions = mapping->has_filenames = mapping->has_line_numbers = true;
	return mapping;
}

static void add_line(struct profile *profile, Pprof__Location *place, const char *name,
		     const char *file, unsigned int number)
{
	Pprof__Line *line = malloc(sizeof(*line));

	if (!line || APPEND(place->line, place->n_line, line)) {
		free(line);
		profile->err = -ENOMEM;
		return;
	}
	pprof__line__init(line);
	line->function_id = function_of(profile, name, file);
	line->line = number;
}

static Pprof__Location *new_location(struct profile *profile)
{
	Pprof__Location *place = profile->err ? NULL : malloc(sizeof(*place));

	if (!place) {
		profile->err = -ENOMEM;
		return NULL;
	}
	pprof__location__init(place);
	return place;
}

static uint64_t location_number(struct profile *profile, const Pprof__Location *place, bool *fresh)
{
	struct byte_buffer key = {0};
	uint64_t number;

	bytes_put_number(&key, place->address);
	bytes_put_number(&key, place->mapping_id);
	for (size_t i = 0; i < place->n_line; i++) {
		bytes_put_number(&key, place->line[i]->function_id);
		bytes_put_number(&key, (uint64_t)place->line[i]->line);
	}
	if (key.failed)
		profile->err = -ENOMEM;
	number = number_of(profile, &profile->locations, key.bytes, key.len, fresh);
	free(key.bytes);
	return number;
}

/*
 * Adds a location, and takes ownership of `place`. Returns the id of an equal location, if there is
 * one, else a new id; 0 if out of memory.
 */
static uint64_t add_location(struct profile *profile, Pprof__Location *place)
{
	Pprof__Profile *message = profile->message;
	bool fresh;
	uint64_t id = location_number(profile, place, &fresh);

	place->id = id;
	if (fresh && !APPEND(message->location, message->n_location, place))
		return id;
	if (fresh)
		profile->err = -ENOMEM;
	pprof__location__free_unpacked(place, NULL);
	return profile->err ? 0 : id;
}

static void add_lines(struct profile *profile, Pprof__Location *place, Pprof__Mapping *mapping,
		      const struct sym_location *location)
{
	for (size_t i = 0; i < location->frame_cnt; i++) {
		const struct sym_frame *frame = &location->frames[i];

		if (sym_is_known(frame->symbol))
			add_line(profile, place, frame->symbol, frame->file, frame->line);
		if (!mapping)
			continue;
		mapping->has_functions &= place->n_line > 0;
		mapping->has_filenames &= place->n_line > 0 && frame->file && *frame->file;
		mapping->has_line_numbers &= place->n_line > 0 && frame->line > 0;
		mapping->has_inline_frames = mapping->has_line_numbers;
	}
}

uint64_t profile_location(struct profile *profile, uint64_t address, const char *module,
			  const struct sym_location *location)
{
	Pprof__Location *place = new_location(profile);
	Pprof__Mapping *mapping = NULL;

	if (!place)
		return 0;
	place->address = address;
	if (location && module && *module)
		mapping = mapping_of(profile, module, location);
	if (mapping)
		place->mapping_id = mapping->id;
	if (location)
		add_lines(profile, place, mapping, location);
	return add_location(profile, place);
}

uint64_t profile_named(struct profile *profile, const char *name)
{
	Pprof__Location *place = new_location(profile);

	if (!place)
		return 0;
	add_line(profile, place, name, NULL, 0);
	return add_location(profile, place);
}

Pprof__Sample *profile_add_sample(struct profile *profile)
{
	Pprof__Profile *message = profile->message;
	Pprof__Sample *sample = profile->err ? NULL : malloc(sizeof(*sample));

	if (sample && !APPEND(message->sample, message->n_sample, sample)) {
		pprof__sample__init(sample);
		return sample;
	}
	free(sample);
	profile->err = -ENOMEM;
	return NULL;
}

void profile_add_frame(struct profile *profile, Pprof__Sample *sample, uint64_t location_id)
{
	if (APPEND(sample->location_id, sample->n_location_id, location_id))
		profile->err = -ENOMEM;
}

void profile_add_value(struct profile *profile, Pprof__Sample *sample, uint64_t value)
{
	if (APPEND(sample->value, sample->n_value, value > INT64_MAX ? INT64_MAX : (int64_t)value))
		profile->err = -ENOMEM;
}

/* Adds a label to a sample, and returns it; NULL if out of memory. */
static Pprof__Label *add_label(struct profile *profile, Pprof__Sample *sample, const char *key)
{
	Pprof__Label *label = malloc(sizeof(*label));

	if (!label || APPEND(sample->label, sample->n_label, label)) {
		free(label);
		profile->err = -ENOMEM;
		return NULL;
	}
	pprof__label__init(label);
	label->key = profile_string(profile, key);
	return label;
}

void profile_add_label(struct profile *profile, Pprof__Sample *sample, const char *key,
		       const char *text, int64_t number)
{
	Pprof__Label *label = add_label(profile, sample, key);

	if (label && text)
		label->str = profile_string(profile, text);
	else if (label)
		label->num = number;
}

void profile_add_number(struct profile *profile, Pprof__Sample *sample, const char *key,
			int64_t number, const char *unit)
{
	Pprof__Label *label = add_label(profile, sample, key);

	if (!label)
		return;
	label->num = number;
	label->num_unit = profile_string(profile, unit);
}
