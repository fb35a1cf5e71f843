/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sites a source has met, by id: their stacks, which never change, and the sums of the walk
 * in progress. Knows nothing of where blocks come from.
 */
#ifndef SITE_TABLE_H
#define SITE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/memleak.h"
#include "loader/image_set.h"
#include "report/snapshot.h"

struct site_entry {
	uint64_t id;
	bool met;    /* image, kind and stack are known */
	bool loaded; /* and the frames */
	bool late;   /* but the frames may yet become others */
	uint32_t image;
	uint32_t kind;
	uint64_t stack;
	uint64_t *frames;
	size_t frame_cnt;
	enum unwind_end end;
	bool interrupt;
	uint64_t heir_of;       /* the site of a forebear whose stack it has; 0: it is of its own */
	uint64_t settled_stack; /* the stack, hashed when it is known what its frames were */
	uint64_t settled_id;    /* of the same stack when it is known what its frames were */
	struct site_entry *joined;    /* that site, of which this one is a part; NULL: itself */
	struct memleak_origin origin; /* kernel sites: as of the last walk */

	/* sums of the walk */
	uint64_t walk; /* which one; another: the sums are 0 */
	uint64_t bytes;
	uint64_t count;
	struct estimate estimate; /* with sampling */
	struct part inherited;
	uint64_t oldest_birth_ns;
	uint64_t newest_birth_ns;
	struct block largest;
	struct ages ages;
	uint32_t kept[AGE_CLASS_CNT];
	size_t index; /* in the snapshot being made */
};

struct site_table {
	struct site_entry **slots; /* open addressing, a power of two */
	size_t slot_cnt;
	size_t cnt;
	uint64_t walk;
};

void site_table_deinit(struct site_table *table);

/* A new walk: all sums are 0. */
void site_table_begin(struct site_table *table);

/* The entry of a site, made if it is new; NULL: no memory. Sums belong to the present walk. */
struct site_entry *site_table_get(struct site_table *table, uint64_t id);

/*
 * Adds one block born at birth_ns. last_age_ns: how old it was when the last snapshot had it;
 * AGE_UNKNOWN: that did not.
 */
void site_entry_add(struct site_entry *entry, const struct block *block, uint64_t birth_ns,
		    uint64_t last_age_ns);

/* Adds the sums of another site. */
void site_entry_join(struct site_entry *entry, const struct site_entry *part);

/* Forgets the sites of an image. */
void site_table_drop_images(struct site_table *table, const struct image_set *images);

#endif
