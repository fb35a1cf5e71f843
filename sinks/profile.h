/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds a profile in pprof's format. Strings, mappings, functions and locations are stored once,
 * even if they are added several times. If memory runs out, `err` is set, and later calls do
 * nothing.
 */
#ifndef SINKS_PROFILE_H
#define SINKS_PROFILE_H

#include <stdint.h>

#include "base/intern.h"
#include "sinks/profile.pb-c.h"
#include "symbolizer/symbolizer.h"

struct profile {
	Pprof__Profile *message;
	struct intern strings; /* maps each string to its number in `message` */
	struct intern mappings;
	struct intern functions;
	struct intern locations;
	int err; /* -ENOMEM if memory has run out, else 0 */
};

void profile_init(struct profile *profile);
void profile_deinit(struct profile *profile);

/*
 * Returns the index of a string in the string table of the profile. The stored string is printable
 * UTF-8. NULL is stored as "".
 */
int64_t profile_string(struct profile *profile, const char *text);

Pprof__ValueType *profile_value_type(struct profile *profile, const char *type, const char *unit);
void profile_add_sample_type(struct profile *profile, const char *type, const char *unit);
void profile_add_comment(struct profile *profile, const char *text);

/*
 * Returns the id of a code location. `address` is the address of the call. `location` is NULL if
 * only the address is known.
 */
uint64_t profile_location(struct profile *profile, uint64_t address, const char *module,
			  const struct sym_location *location);
/* Returns the id of a made-up location, which has a name instead of an address. */
uint64_t profile_named(struct profile *profile, const char *name);

/* Returns an empty sample; NULL if out of memory. */
Pprof__Sample *profile_add_sample(struct profile *profile);
void profile_add_frame(struct profile *profile, Pprof__Sample *sample, uint64_t location_id);
void profile_add_value(struct profile *profile, Pprof__Sample *sample, uint64_t value);
/* Adds a label to a sample: `text`, or `number` if `text` is NULL. */
void profile_add_label(struct profile *profile, Pprof__Sample *sample, const char *key,
		       const char *text, int64_t number);
/* Adds a label to a sample: a number with its unit, such as "bytes". */
void profile_add_number(struct profile *profile, Pprof__Sample *sample, const char *key,
			int64_t number, const char *unit);

#endif
