// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parses the text of /proc/kallsyms in place: names that are needed later are moved to the front of
 * the buffer, over lines that have been parsed.
 */
#include "symbolizer/kallsyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/number.h"
#include "base/order.h"
#include "base/prefix.h"

/*
 * Value of kernel_symbol.name for a symbol that is not a function; it is stored only because the
 * function before it ends there.
 */
#define NO_NAME UINT32_MAX

/* A parsed line. Its strings are not NUL-terminated. */
struct line {
	uint64_t addr;
	char type;
	const char *name;
	size_t name_len;
	const char *owner; /* NULL for the core kernel */
	size_t owner_len;
};

struct parse {
	struct kallsyms *table;
	size_t names_len;
	bool any_addr;
	size_t line_cnt;
	kallsyms_owner_fn owner_of;
	void *arg;
	/*
	 * cache for find_owner(): the latest owner in brackets, and its number. The lines of an
	 * owner are contiguous.
	 */
	const char *last_owner;
	size_t last_owner_len;
	int last_number;
};

/* Parses a line such as "ffffffff81000000 T _stext" or "ffffffffc0001000 t helper\t[module]". */
static bool split_line(const char *at, const char *end, struct line *ret)
{
	struct line line = {0};
	const char *tab;

	if (number_take(&at, end, 16, &line.addr) || end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return false;
	line.type = at[1];
	line.name = at + 3;
	tab = memchr(line.name, '\t', end - line.name);
	line.name_len = (tab ? tab : end) - line.name;
	if (!line.name_len || memchr(line.name, '\0', line.name_len))
		return false;
	if (tab) {
		if (end - tab < 4 || tab[1] != '[' || end[-1] != ']')
			return false;
		line.owner = tab + 2;
		line.owner_len = end - 1 - line.owner;
	}
	*ret = line;
	return true;
}

static bool is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* True for mapping symbols ($x, $d.3) and local labels (.L7), which lie inside functions. */
static bool is_mark(const struct line *line)
{
	if (line->name_len < 2)
		return false;
	return (line->name[0] == '$' && strchr("xdat", line->name[1])) ||
	       (line->name[0] == '.' && line->name[1] == 'L');
}

static bool is_name(const struct line *line, const char *name)
{
	return line->name_len == strlen(name) && !memcmp(line->name, name, line->name_len);
}

/*
 * Records the address of a marker symbol such as _stext or _etext as a limit of the core kernel's
 * text.
 */
static void note_limits(struct kallsyms *table, const struct line *line)
{
	if (line->name[0] != '_')
		return;
	if (is_name(line, "_stext") || (is_name(line, "_text") && !table->text.start))
		table->text.start = line->addr;
	else if (is_name(line, "_etext"))
		table->text.end = line->addr;
	else if (is_name(line, "_sinittext"))
		table->init_text.start = line->addr;
	else if (is_name(line, "_einittext"))
		table->init_text.end = line->addr;
}

static int find_owner(struct parse *parse, const struct line *line, uint32_t *ret)
{
	int number;

	*ret = KALLSYMS_CORE;
	if (!line->owner)
		return 0;
	number = parse->last_number;
	if (!parse->last_owner || parse->last_owner_len != line->owner_len ||
	    memcmp(parse->last_owner, line->owner, line->owner_len))
		number = parse->owner_of(parse->arg, line->owner, line->owner_len);
	if (number < 0)
		return number;
	/*
	 * Let last_owner point into this line, even if the owner is unchanged: keep_name()
	 * overwrites earlier lines.
	 */
	parse->last_owner = line->owner;
	parse->last_owner_len = line->owner_len;
	parse->last_number = number;
	*ret = number;
	return 0;
}

/*
 * Appends the line's name to the stored names and returns its offset; NO_NAME if the symbol is not
 * a function. The stored names are at the start of the text's buffer, and never reach text that is
 * not parsed yet.
 */
static uint32_t keep_name(struct parse *parse, const struct line *line)
{
	size_t at = parse->names_len;

	if (!is_text(line->type) || at + line->name_len >= NO_NAME)
		return NO_NAME;
	memmove(parse->table->names + at, line->name, line->name_len);
	parse->table->names[at + line->name_len] = '\0';
	parse->names_len += line->name_len + 1;
	return at;
}

static int add_line(struct parse *parse, const struct line *line)
{
	struct kallsyms *table = parse->table;
	struct kernel_symbol *symbol;
	uint32_t owner;
	int err;

	parse->line_cnt++;
	if (!line->addr)
		return 0;
	parse->any_addr = true;
	if (is_mark(line))
		return 0;
	err = array_reserve(&table->symbols, &table->cap, table->cnt + 1);
	if (!err)
		err = find_owner(parse, line, &owner);
	if (err)
		return err;
	if (!line->owner)
		note_limits(table, line);
	symbol = &table->symbols[table->cnt++];
	symbol->start = line->addr;
	symbol->bytes = 0;
	symbol->owner = owner;
	symbol->type = line->type;
	symbol->name = keep_name(parse, line);
	return 0;
}

static int parse_lines(struct parse *parse, size_t len)
{
	const char *at = parse->table->names, *end = at + len;
	struct line line;
	int err = 0;

	/* Skip text after the last newline: it is a truncated line. */
	while (!err && at < end) {
		const char *newline = memchr(at, '\n', end - at);

		if (!newline)
			break;
		if (split_line(at, newline, &line))
			err = add_line(parse, &line);
		at = newline + 1;
	}
	return err;
}

/*
 * Returns 0 for names from the source code, 2 for names that the build adds to functions (such as
 * __pfx_NAME), and 3 for marker symbols of the linker script (such as _stext).
 */
static unsigned int oddness(const char *name)
{
	static const char *const made[] = {"__pfx_", "__cfi_", "__pi_", "__SCT__", "__SCK__"};

	if (name[0] != '_')
		return 0;
	if (strstr(name, "text"))
		return 3;
	return has_prefix_of(name, made, sizeof(made) / sizeof(*made)) ? 2 : 0;
}

static unsigned int binding_rank(char type)
{
	return type == 'T' ? 0 : type == 'W' || type == 'w' ? 1 : 2;
}

/* Compares two symbols of one address: the name that a programmer would use comes first. */
static int compare_names(const struct kallsyms *table, const struct kernel_symbol *a,
			 const struct kernel_symbol *b)
{
	const char *x = table->names + a->name, *y = table->names + b->name;

	return ORDER(oddness(x), oddness(y)) ?: ORDER(binding_rank(a->type), binding_rank(b->type))
	       ?: ORDER(strspn(x, "_"), strspn(y, "_"))
	       ?: ORDER(strlen(x), strlen(y))
	       ?: strcmp(x, y);
}

static int compare_symbols(const void *a, const void *b)
{
	const struct kernel_symbol *x = a, *y = b;

	return ORDER(x->start, y->start) ?: ORDER(x->name, y->name);
}

static bool is_in(const struct kernel_range *range, uint64_t addr)
{
	return addr >= range->start && addr < range->end;
}

bool kallsyms_in_core(const struct kallsyms *table, uint64_t addr)
{
	return is_in(&table->text, addr) || is_in(&table->init_text, addr);
}

/* Returns the highest address where a symbol can end, ignoring the next symbol. */
static uint64_t limit_of(const struct kallsyms *table, const struct kernel_symbol *symbol)
{
	if (symbol->owner != KALLSYMS_CORE)
		return UINT64_MAX;
	if (is_in(&table->text, symbol->start))
		return table->text.end;
	if (is_in(&table->init_text, symbol->start))
		return table->init_text.end;
	/*
	 * A symbol outside the core kernel's text is data that is listed as code: return its start,
	 * so that it is dropped. If the limits of the text are not listed, return no limit.
	 */
	return table->text.end ? symbol->start : UINT64_MAX;
}

/* Returns the best-named of the symbols `first` to `last`, which all have the same address. */
static const struct kernel_symbol *best_of(const struct kallsyms *table, size_t first, size_t last)
{
	const struct kernel_symbol *best = NULL;

	for (size_t i = first; i <= last; i++) {
		const struct kernel_symbol *symbol = &table->symbols[i];

		if (symbol->name == NO_NAME)
			continue;
		if (!best || compare_names(table, symbol, best) < 0)
			best = symbol;
	}
	return best;
}

/*
 * Keeps only one symbol per address, computes the sizes of symbols, and drops symbols that cannot
 * be functions.
 */
static void finish(struct kallsyms *table)
{
	size_t kept = 0, last;

	for (size_t i = 0; i < table->cnt; i = last + 1) {
		uint64_t start = table->symbols[i].start, end;
		const struct kernel_symbol *best;

		for (last = i; last + 1 < table->cnt && table->symbols[last + 1].start == start;)
			last++;
		best = best_of(table, i, last);
		if (!best)
			continue;
		end = limit_of(table, best);
		if (last + 1 < table->cnt && table->symbols[last + 1].start < end)
			end = table->symbols[last + 1].start;
		if (end <= start)
			continue;
		table->symbols[kept] = *best;
		table->symbols[kept++].bytes = end - start > UINT32_MAX ? UINT32_MAX : end - start;
	}
	table->cnt = kept;
}

/* Shrinks the buffers of names and symbols to the size in use. */
static void shrink(struct kallsyms *table, size_t names_len)
{
	struct kernel_symbol *symbols;
	char *names = realloc(table->names, names_len + 1);

	if (names)
		table->names = names;
	symbols = reallocarray(table->symbols, table->cnt + 1, sizeof(*symbols));
	if (symbols) {
		table->symbols = symbols;
		table->cap = table->cnt + 1;
	}
}

int kallsyms_init(struct kallsyms *table, char *text, size_t len, kallsyms_owner_fn owner_of,
		  void *arg)
{
	struct kallsyms new = {.names = text};
	struct parse parse = {.table = &new, .owner_of = owner_of, .arg = arg};
	int err = parse_lines(&parse, len);

	if (err) {
		kallsyms_deinit(&new);
		return err;
	}
	new.hidden = parse.line_cnt && !parse.any_addr;
	if (new.cnt)
		qsort(new.symbols, new.cnt, sizeof(*new.symbols), compare_symbols);
	finish(&new);
	shrink(&new, parse.names_len);
	*table = new;
	return 0;
}

void kallsyms_deinit(struct kallsyms *table)
{
	free(table->names);
	free(table->symbols);
	*table = (struct kallsyms){0};
}

const struct kernel_symbol *kallsyms_find(const struct kallsyms *table, uint64_t addr)
{
	size_t after = bisect_upto(table->symbols, table->cnt, start, addr);
	const struct kernel_symbol *symbol;

	if (!after)
		return NULL;
	symbol = &table->symbols[after - 1];
	return addr - symbol->start < symbol->bytes ? symbol : NULL;
}

/* True if no symbol of the table contains the first or the last byte of the given symbol. */

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

int kallsyms_keep(struct kallsyms *table, const struct kallsyms *from,
		  bool (*keep)(void *arg, const struct kernel_symbol *symbol), void *arg)
{
	struct kallsyms listed;
	size_t at = names_len(table), most = at + names_len(from);
	char *names = most < UINT32_MAX ? realloc(table->names, most + 1) : NULL;

	if (names)
		table->names = names;
	if (!names || array_reserve(&table->symbols, &table->cap, table->cnt + from->cnt))
		return -ENOMEM;
	listed = *table;
	for (size_t i = 0; i < from->cnt; i++) {
		struct kernel_symbol symbol = from->symbols[i];
		const char *name = from->names + symbol.name;

		if (!keep(arg, &symbol) || !is_free(&listed, &symbol))
			continue;
		symbol.name = at;
		memcpy(table->names + at, name, strlen(name) + 1);
		at += strlen(name) + 1;
		table->symbols[table->cnt++] = symbol;
	}
	if (table->cnt > listed.cnt)
		qsort(table->symbols, table->cnt, sizeof(*table->symbols), compare_symbols);
	shrink(table, at);
	return 0;
}
