/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile of pprof in the making. Strings, mappings, functions and locations are in it once,
 * however often they are asked for. What finds no memory sets err, and all after it does nothing.
 */
#ifndef SINKS_PROFILE_H
#define SINKS_PROFILE_H

#include <stdint.h>

#include "base/intern.h"
#include "sinks/profile.pb-c.h"
#include "symbolizer/symbolizer.h"

struct profile {
	Pprof__Profile *message;
	struct intern strings; /* numbers of what the message has */
	struct intern mappings;
	struct intern functions;
	struct intern locations;
	int err; /* 0 or -ENOMEM */
};

void profile_init(struct profile *profile);
void profile_deinit(struct profile *profile);

/* Its place in the table. Text is made printable UTF-8; NULL is "". */
int64_t profile_string(struct profile *profile, const char *text);

Pprof__ValueType *profile_value_type(struct profile *profile, const char *type, const char *unit);
void profile_add_sample_type(struct profile *profile, const char *type, const char *unit);
void profile_add_comment(struct profile *profile, const char *text);

/* The id of a place in code; address: of the call, location: NULL if no more is known. */
uint64_t profile_location(struct profile *profile, uint64_t address, const char *module,
			  const struct sym_location *location);
/* The id of what is no place in code, but has a name. */
uint64_t profile_named(struct profile *profile, const char *name);

/* A sample to be filled; NULL: no memory. */
Pprof__Sample *profile_add_sample(struct profile *profile);
void profile_add_frame(struct profile *profile, Pprof__Sample *sample, uint64_t location_id);
void profile_add_value(struct profile *profile, Pprof__Sample *sample, uint64_t value);
/* text NULL: number is the label. */
void profile_add_label(struct profile *profile, Pprof__Sample *sample, const char *key,
		       const char *text, int64_t number);
/* A number of something. */
void profile_add_number(struct profile *profile, Pprof__Sample *sample, const char *key,
			int64_t number, const char *unit);

#endif
