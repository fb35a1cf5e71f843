/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sites a source has met, by id: their stacks, which never change, and the sums of the walk
 * in progress. Knows nothing of where blocks come from.
 */
#ifndef LOADER_TABLES_SITE_TABLE_H
#define LOADER_TABLES_SITE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "base/majority.h"
#include "bpf/memleak.h"
#include "loader/target/image_set.h"
#include "report/snapshot.h"

struct site_entry {
	uint64_t id;
	bool met;      /* image, kind and stack are known */
	bool loaded;   /* and the frames */
	bool deferred; /* but the frames may yet be replaced */
	uint32_t image;
	uint32_t kind;
	uint64_t stack;
	uint64_t *frames;
	size_t frame_cnt;
	enum unwind_end end;
	bool interrupt;
	uint64_t stack_of; /* the site whose stack it has, an ancestor's or of another kind; 0:
			      none, the image has allocated there */
	uint64_t resolved_stack; /* its stack, hashed with resolved frames */
	uint64_t resolved_id;    /* the site with that stack */
	struct site_entry
		*joined; /* the entry of resolved_id, of which this one is a part; NULL: none */
	struct memleak_origin origin; /* of a kernel site, as of the last walk */
	uint32_t owner_pid;           /* of a kernel site, as of the last walk that knew it; 0 */
	char owner_comm[MEMLEAK_COMM_SIZE];

	/* sums of the walk */
	uint64_t walk; /* the walk of the sums; if that is not the present one, they are 0 */
	uint64_t bytes;
	uint64_t count;
	struct part left_out; /* too recent, or from before the baseline, if that is asked for */
	struct estimate estimate; /* with sampling */
	struct part inherited;
	uint64_t oldest_birth_ns;
	uint64_t newest_birth_ns;
	struct block largest;
	struct ages ages;
	uint32_t kept[AGE_CLASS_CNT];
	struct majority owners; /* of a kernel site: pids, by block */
	size_t index;           /* in the snapshot being made */
	uint32_t number;        /* in the walk's heap_list, if that has it there */
};

struct site_table {
	struct hash_map entries; /* struct site_entry */
	uint64_t walk;
};

void site_table_deinit(struct site_table *table);

/* A new walk: all sums are 0. */
void site_table_begin(struct site_table *table);

/* The entry of a site, made if it is new; NULL: no memory. Sums belong to the present walk. */
struct site_entry *site_table_get(struct site_table *table, uint64_t id);

/*
 * Adds one block born at birth_ns. last_age_ns: how old it was in the last snapshot; AGE_UNKNOWN:
 * it was not in that.
 */
void site_entry_add(struct site_entry *entry, const struct block *block, uint64_t birth_ns,
		    uint64_t last_age_ns);

/* Adds the sums of another site. */
void site_entry_join(struct site_entry *entry, const struct site_entry *part);

/* Forgets the sites of an image. */
void site_table_drop_images(struct site_table *table, const struct image_set *images);

#endif
