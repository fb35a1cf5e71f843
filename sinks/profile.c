// SPDX-License-Identifier: GPL-2.0-or-later
/* Puts a profile together: each thing is looked up in a tree before it is added. */
#include "sinks/profile.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/cleanup.h"
#include "sinks/escape.h"

struct string {
	const char *text; /* the table's */
	int64_t index;
};

/* Arrays have room for the next power of two. NULL: no memory, array is as it was. */
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

static void keep_item(void *item)
{
}

/* Puts into the tree what is not there. */
static void index_item(struct profile *profile, void **tree, const void *item,
		       int (*compare)(const void *, const void *))
{
	if (!tsearch(item, tree, compare))
		profile->err = -ENOMEM;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_strings(const void *left, const void *right)
{
	const struct string *a = left;
	const struct string *b = right;

	return strcmp(a->text, b->text);
}

static int compare_functions(const void *left, const void *right)
{
	const Pprof__Function *a = left;
	const Pprof__Function *b = right;

	return compare_numbers((uint64_t)a->name, (uint64_t)b->name)
		       ?: compare_numbers((uint64_t)a->filename, (uint64_t)b->filename);
}

static int compare_mappings(const void *left, const void *right)
{
	const Pprof__Mapping *a = left;
	const Pprof__Mapping *b = right;

	return compare_numbers(a->memory_start, b->memory_start)
		       ?: compare_numbers(a->memory_limit, b->memory_limit)
		       ?: compare_numbers(a->file_offset, b->file_offset)
		       ?: compare_numbers((uint64_t)a->filename, (uint64_t)b->filename)
		       ?: compare_numbers((uint64_t)a->build_id, (uint64_t)b->build_id);
}

static int compare_locations(const void *left, const void *right)
{
	const Pprof__Location *a = left;
	const Pprof__Location *b = right;
	int diff = compare_numbers(a->address, b->address)
			   ?: compare_numbers(a->mapping_id, b->mapping_id)
			   ?: compare_numbers(a->n_line, b->n_line);

	for (size_t i = 0; !diff && i < a->n_line; i++)
		diff = compare_numbers(a->line[i]->function_id, b->line[i]->function_id)
			       ?: compare_numbers((uint64_t)a->line[i]->line,
						  (uint64_t)b->line[i]->line);
	return diff;
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
	tdestroy(profile->strings, free);
	tdestroy(profile->mappings, keep_item);
	tdestroy(profile->functions, keep_item);
	tdestroy(profile->locations, keep_item);
	if (profile->message)
		pprof__profile__free_unpacked(profile->message, NULL);
}

/* text: from malloc, which this takes. */
static int64_t add_string(struct profile *profile, char *text)
{
	Pprof__Profile *message = profile->message;
	struct string *string = malloc(sizeof(*string));

	if (!string || APPEND(message->string_table, message->n_string_table, text)) {
		free(text);
		free(string);
		profile->err = -ENOMEM;
		return 0;
	}
	*string = (struct string){text, (int64_t)message->n_string_table - 1};
	if (tsearch(string, &profile->strings, compare_strings))
		return string->index;
	free(string);
	profile->err = -ENOMEM;
	return 0;
}

static char *clean_text(const char *text)
{
	char *clean = NULL;
	size_t len;
	FILE *stream = open_memstream(&clean, &len);

	if (!stream)
		return NULL;
	escape_puts(stream, text);
	if (!fclose(stream))
		return clean;
	free(clean);
	return NULL;
}

int64_t profile_string(struct profile *profile, const char *text)
{
	struct string key = {.text = profile->err ? NULL : clean_text(text ? text : "")};
	struct string **known;

	if (!key.text) {
		profile->err = -ENOMEM;
		return 0;
	}
	known = tfind(&key, &profile->strings, compare_strings);
	if (!known)
		return add_string(profile, (char *)key.text);
	free((char *)key.text);
	return (*known)->index;
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
	Pprof__Function key = PPROF__FUNCTION__INIT;
	Pprof__Function **known;
	Pprof__Function *function;

	key.id = message->n_function + 1;
	key.name = key.system_name = profile_string(profile, name);
	key.filename = profile_string(profile, file);
	known = tfind(&key, &profile->functions, compare_functions);
	if (profile->err || known)
		return known ? (*known)->id : 0;
	function = malloc(sizeof(*function));
	if (!function || APPEND(message->function, message->n_function, function)) {
		free(function);
		profile->err = -ENOMEM;
		return 0;
	}
	*function = key;
	index_item(profile, &profile->functions, function, compare_functions);
	return key.id;
}

static Pprof__Mapping *mapping_of(struct profile *profile, const char *module,
				  const struct sym_location *location)
{
	Pprof__Profile *message = profile->message;
	Pprof__Mapping key = PPROF__MAPPING__INIT;
	Pprof__Mapping **known;
	Pprof__Mapping *mapping;

	key.id = message->n_mapping + 1;
	key.memory_start = location->mapping.start;
	key.memory_limit = location->mapping.end;
	key.file_offset = location->mapping.offset;
	key.filename = profile_string(profile, module);
	key.build_id = profile_string(profile, location->build_id);
	key.has_functions = key.has_filenames = key.has_line_numbers = true;
	known = tfind(&key, &profile->mappings, compare_mappings);
	if (profile->err || known)
		return known ? *known : NULL;
	mapping = malloc(sizeof(*mapping));
	if (!mapping || APPEND(message->mapping, message->n_mapping, mapping)) {
		free(mapping);
		profile->err = -ENOMEM;
		return NULL;
	}
	*mapping = key;
	index_item(profile, &profile->mappings, mapping, compare_mappings);
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

/* Takes place; its id is that of one that is the same, or a new one. */
static uint64_t add_location(struct profile *profile, Pprof__Location *place)
{
	Pprof__Profile *message = profile->message;
	Pprof__Location **known = tfind(place, &profile->locations, compare_locations);

	place->id = known ? (*known)->id : message->n_location + 1;
	if (profile->err || known) {
		uint64_t id = place->id;

		pprof__location__free_unpacked(place, NULL);
		return id;
	}
	if (APPEND(message->location, message->n_location, place)) {
		pprof__location__free_unpacked(place, NULL);
		profile->err = -ENOMEM;
		return 0;
	}
	index_item(profile, &profile->locations, place, compare_locations);
	return place->id;
}

static void add_lines(struct profile *profile, Pprof__Location *place, Pprof__Mapping *mapping,
		      const struct sym_location *location)
{
	for (size_t i = 0; i < location->frame_cnt; i++) {
		const struct sym_frame *frame = &location->frames[i];

		if (frame->symbol && *frame->symbol)
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

void profile_add_label(struct profile *profile, Pprof__Sample *sample, const char *key,
		       const char *text, int64_t number)
{
	Pprof__Label *label = malloc(sizeof(*label));

	if (!label || APPEND(sample->label, sample->n_label, label)) {
		free(label);
		profile->err = -ENOMEM;
		return;
	}
	pprof__label__init(label);
	label->key = profile_string(profile, key);
	if (text)
		label->str = profile_string(profile, text);
	else
		label->num = number;
}
