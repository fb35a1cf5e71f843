// SPDX-License-Identifier: GPL-2.0-or-later
/* From one list of symbols to the next: what the kernel does not list any more. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/kallsyms.h"

static bool is_free(const struct kallsyms *table, const struct kernel_symbol *symbol)
{
	return !kallsyms_find(table, symbol->start) &&
	       !kallsyms_find(table, symbol->start + symbol->bytes - 1);
}

static size_t names_len(const struct kallsyms *table)
{
	size_t end = 0;

	for (size_t i = 0; i < table->cnt; i++)
		if (end <= table->symbols[i].name)
			end = table->symbols[i].name +
			      strlen(table->names + table->symbols[i].name) + 1;
	return end;
}

/* Room for all that may be added. */
static int reserve(struct kallsyms *table, size_t cnt, size_t bytes)
{
	struct kernel_symbol *symbols = reallocarray(table->symbols, cnt + 1, sizeof(*symbols));
	char *names;

	if (!symbols)
		return -ENOMEM;
	table->symbols = symbols;
	names = realloc(table->names, bytes + 1);
	if (!names)
		return -ENOMEM;
	table->names = names;
	return 0;
}

static int compare_starts(const void *a, const void *b)
{
	const struct kernel_symbol *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Those of from that are to be added, and how long their names are; to be freed. */
static struct kernel_symbol *choose(const struct kallsyms *table, const struct kallsyms *from,
				    bool (*keep)(void *arg, const struct kernel_symbol *symbol),
				    void *arg, size_t *ret_cnt, size_t *ret_bytes)
{
	struct kernel_symbol *chosen = calloc(from->cnt + 1, sizeof(*chosen));
	size_t cnt = 0, bytes = 0;

	for (size_t i = 0; chosen && i < from->cnt; i++) {
		const struct kernel_symbol *symbol = &from->symbols[i];

		if (!keep(arg, symbol) || !is_free(table, symbol))
			continue;
		chosen[cnt++] = *symbol;
		bytes += strlen(from->names + symbol->name) + 1;
	}
	*ret_cnt = cnt;
	*ret_bytes = bytes;
	return chosen;
}

int kallsyms_keep(struct kallsyms *table, const struct kallsyms *from,
		  bool (*keep)(void *arg, const struct kernel_symbol *symbol), void *arg)
{
	size_t cnt, bytes, at = names_len(table);
	struct kernel_symbol *added = choose(table, from, keep, arg, &cnt, &bytes);
	int err = added ? 0 : -ENOMEM;

	if (!err && cnt)
		err = at + bytes < UINT32_MAX ? reserve(table, table->cnt + cnt, at + bytes)
					      : -ENOMEM;
	for (size_t i = 0; !err && i < cnt; i++) {
		const char *name = from->names + added[i].name;

		added[i].name = at;
		memcpy(table->names + at, name, strlen(name) + 1);
		at += strlen(name) + 1;
		table->symbols[table->cnt++] = added[i];
	}
	if (!err && cnt)
		qsort(table->symbols, table->cnt, sizeof(*table->symbols), compare_starts);
	free(added);
	return err;
}
