/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds the sites of a source by id: their stacks, which are kept between walks, and the sums of
 * the walk in progress. Does not know where blocks come from.
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
	bool is_known; /* true if image, kind and stack are known */
	bool loaded;   /* true if the frames of the stack have been read */
	bool deferred; /* true if the stack is deferred: its frames may still be replaced */
	uint32_t image;
	uint32_t kind;
	uint32_t step; /* --max-overhead: sampling step of the blocks; see bpf/memleak.h */
	uint64_t stack;
	uint64_t *frames;
	size_t frame_cnt;
	enum unwind_end end;
	bool interrupt;
	uint64_t stack_of; /* site from which this site copies its stack (a site of the same image
			      with another kind, or a site of an ancestor); 0 if the image itself
			      has allocated here */
	uint64_t resolved_stack; /* hash of the stack with resolved frames */
	uint64_t resolved_id;    /* id of the site that has resolved_stack as its stack */
	/*
	 * entry of resolved_id, whose sums include those of this entry; NULL if that is this entry
	 */
	struct site_entry *joined;
	struct memleak_origin origin; /* origin of a kernel site, as of the last walk */
	uint32_t owner_pid;           /* last known owner of a kernel site's blocks; 0 if unknown */
	char owner_comm[MEMLEAK_COMM_SIZE];

	/* Sums of the walk: */
	/* walk that made the sums; in later walks, these sums count as 0 */
	uint64_t walk;
	uint64_t bytes;
	uint64_t count;
	struct part left_out; /* blocks that are too recent or older than the baseline, if these are
				 counted */
	struct estimate estimate; /* estimated totals, with sampling */
	struct part inherited;
	uint64_t oldest_birth_ns;
	uint64_t newest_birth_ns;
	struct block largest;
	/*
	 * Numbers of blocks by the number of snapshots made before their allocation; NULL if not
	 * counted.
	 */
	struct ages *births;
	/* used to find the pid that allocated more than half of a kernel site's blocks */
	struct majority owners;
	size_t index;    /* index in site_table.sites, then in the snapshot */
	uint32_t number; /* number in the walk's heap_list, if the list has this site */
};

struct site_table {
	struct hash_map entries; /* values are struct site_entry */
	uint64_t walk;
	bool has_births; /* true if entries have `births` */
	/*
	 * The sites of the walk, which become those of the snapshot. Until block_walk_fill(), all
	 * fields but `ages` and `kept` are 0.
	 */
	struct site *sites;
	size_t site_cnt;
	size_t site_cap;
	struct site_entry **walked; /* the entry of each of the sites */
	size_t walked_cap;
};

void site_table_deinit(struct site_table *table);

/* Begins a new walk: sets all sums to 0. */
void site_table_begin(struct site_table *table);

/*
 * Returns the entry of a site, creating it if needed. The entry has the sums of the current walk.
 * Returns NULL if out of memory.
 */
struct site_entry *site_table_get(struct site_table *table, uint64_t id);

/*
 * Adds one block, which was allocated at birth_ns. `moment`: number of earlier snapshots made
 * before birth_ns. last_age_ns: age of the block in the previous snapshot; AGE_UNKNOWN if it was
 * not in that snapshot.
 */
void site_table_add(struct site_table *table, struct site_entry *entry, const struct block *block,
		    uint64_t birth_ns, size_t moment, uint64_t last_age_ns);

/* Adds the sums of the site `part` to the sums of `entry`, except left_out. */
void site_table_join(struct site_table *table, struct site_entry *entry,
		     const struct site_entry *part);

/* Drops the sites of ended images. */
void site_table_drop_images(struct site_table *table, const struct image_set *images);

#endif
