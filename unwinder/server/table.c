// SPDX-License-Identifier: GPL-2.0-or-later
/* Lays out and checks unwind tables. */
#include "unwinder/server/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t granule_of(uint64_t offset)
{
	return offset >> UNWIND_GRANULE_BITS;
}

static uint64_t pages_for(uint64_t words)
{
	return (words + UNWIND_PAGE_WORDS - 1) / UNWIND_PAGE_WORDS;
}

/*
 * State of the layout, which goes through the code granule by granule (see bpf/unwind.h). If
 * `words` is NULL, rows are only counted.
 */
struct layout {
	const struct unwind_row *rows;
	size_t row_cnt;
	uint32_t *words;
	uint32_t index;
	uint64_t first; /* number of the table's first granule */
	uint64_t position;
	uint32_t placed;
};

/*
 * Lays out the rows of one granule, beginning with the row that applies at the granule's start. *at
 * is the index of the first row that begins in this granule or later. If the granule has too many
 * rows, the last one that fits gets rule UNKNOWN.
 */
static void place_granule(struct layout *layout, uint64_t granule, size_t *at)
{
	uint32_t held[UNWIND_GRANULE_ROWS_MAX], cnt = 0;
	uint64_t begin = granule << UNWIND_GRANULE_BITS;
	size_t next = *at;

	if (next == layout->row_cnt || layout->rows[next].offset > begin)
		held[cnt++] = UNWIND_ROW(0, next ? layout->rows[next - 1].rule : 0);
	while (next < layout->row_cnt && granule_of(layout->rows[next].offset) == granule) {
		uint32_t low = (uint32_t)(layout->rows[next].offset - begin);

		if (cnt < UNWIND_GRANULE_ROWS_MAX)
			held[cnt++] = UNWIND_ROW(low, layout->rows[next].rule);
		else
			held[cnt - 1] =
				UNWIND_ROW(UNWIND_ROW_LOW(held[cnt - 1]), UNWIND_RULE_UNKNOWN);
		next++;
	}
	if (layout->position % UNWIND_PAGE_WORDS + cnt > UNWIND_PAGE_WORDS)
		layout->position += UNWIND_PAGE_WORDS - layout->position % UNWIND_PAGE_WORDS;
	if (layout->words) {
		layout->words[layout->index + (granule - layout->first)] =
			UNWIND_INDEX((uint32_t)layout->position, cnt);
		memcpy(layout->words + layout->position, held, cnt * sizeof(*held));
	}
	layout->position += cnt;
	layout->placed += cnt;
	*at = next;
}

static void place_rows(struct layout *layout, uint64_t granule_cnt)
{
	size_t at = 0;

	for (uint64_t i = 0; i < granule_cnt; i++)
		place_granule(layout, layout->first + i, &at);
}

int unwind_table_init(const struct unwind_rule *rules, uint32_t rule_cnt,
		      const struct unwind_row *rows, size_t row_cnt, struct unwind_table *ret)
{
	struct layout layout = {.rows = rows, .row_cnt = row_cnt};
	uint64_t granule_cnt, row_page, page_cnt;

	if (!row_cnt || !rule_cnt)
		return -ENOENT;
	layout.first = granule_of(rows[0].offset);
	granule_cnt = granule_of(rows[row_cnt - 1].offset) - layout.first + 1;
	layout.index = (uint32_t)(pages_for(2ULL * rule_cnt) * UNWIND_PAGE_WORDS);
	/* Reject an index of more than half the table: each granule also needs at least one row. */
	if (rule_cnt > UNWIND_RULES_MAX || granule_cnt > UNWIND_TABLE_WORDS_MAX / 2)
		return -E2BIG;
	row_page = layout.index / UNWIND_PAGE_WORDS + pages_for(granule_cnt);
	layout.position = row_page * UNWIND_PAGE_WORDS;
	place_rows(&layout, granule_cnt);
	page_cnt = pages_for(layout.position);
	if (page_cnt * UNWIND_PAGE_WORDS > UNWIND_TABLE_WORDS_MAX)
		return -E2BIG;
	layout.words = calloc(page_cnt, UNWIND_PAGE_WORDS * sizeof(*layout.words));
	if (!layout.words)
		return -ENOMEM;
	memcpy(layout.words, rules, rule_cnt * sizeof(*rules));
	layout.position = row_page * UNWIND_PAGE_WORDS;
	layout.placed = 0;
	place_rows(&layout, granule_cnt);
	*ret = (struct unwind_table){
		.words = layout.words,
		.page_cnt = (uint32_t)page_cnt,
		.rule_cnt = rule_cnt,
		.index = layout.index,
		.granule_cnt = (uint32_t)granule_cnt,
		.first = layout.first << UNWIND_GRANULE_BITS,
		.row_cnt = layout.placed,
	};
	return 0;
}

void unwind_table_deinit(struct unwind_table *table)
{
	free(table->words);
	*table = (struct unwind_table){0};
}

static bool rules_valid(const struct unwind_table *table)
{
	const struct unwind_rule *rules = (const struct unwind_rule *)table->words;

	for (uint32_t i = 0; i < table->rule_cnt; i++)
		if (rules[i].cfa >= UNWIND_CFA_CNT || rules[i].saved >= UNWIND_SAVED_CNT)
			return false;
	return true;
}

static bool granule_valid(const struct unwind_table *table, uint64_t word_cnt, uint32_t entry)
{
	uint64_t position = UNWIND_INDEX_POSITION(entry), cnt = UNWIND_INDEX_COUNT(entry);
	uint32_t before = 0;

	if (!cnt || position + cnt > word_cnt ||
	    position % UNWIND_PAGE_WORDS + cnt > UNWIND_PAGE_WORDS ||
	    UNWIND_ROW_LOW(table->words[position]))
		return false;
	for (uint64_t i = position; i < position + cnt; i++) {
		uint32_t low = UNWIND_ROW_LOW(table->words[i]);

		if (UNWIND_ROW_RULE(table->words[i]) >= table->rule_cnt)
			return false;
		if (i > position && low <= before)
			return false;
		before = low;
	}
	return true;
}

bool unwind_table_valid(const struct unwind_table *table)
{
	uint64_t word_cnt = (uint64_t)table->page_cnt * UNWIND_PAGE_WORDS;

	if (!table->words || !table->granule_cnt || !table->rule_cnt ||
	    table->rule_cnt > UNWIND_RULES_MAX || word_cnt > UNWIND_TABLE_WORDS_MAX ||
	    table->index % UNWIND_PAGE_WORDS || 2ULL * table->rule_cnt > table->index ||
	    table->index + (uint64_t)table->granule_cnt > word_cnt ||
	    table->first % UNWIND_GRANULE_BYTES || table->first > INT64_MAX)
		return false;
	if (!rules_valid(table))
		return false;
	for (uint32_t i = 0; i < table->granule_cnt; i++)
		if (!granule_valid(table, word_cnt, table->words[table->index + i]))
			return false;
	return true;
}
