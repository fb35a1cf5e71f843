// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the strings in a map, keyed by hash. Strings with the same hash form a linked list. */
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct interned {
	struct interned *next; /* next string with an equal hash */
	uint64_t number;
	size_t len;
	uint8_t bytes[];
};

uint64_t intern_hash(const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	uint64_t hash = len, word;

	for (; len >= sizeof(word); len -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = hash_word(hash, word);
	}
	word = 0;
	if (len)
		memcpy(&word, at, len);
	hash = hash_word(hash, word);
	return hash ? hash : 1;
}

static struct interned *find(const struct intern *table, uint64_t hash, const void *bytes,
			     size_t len)
{
	struct interned *string = hash_map_get(&table->strings, hash);

	while (string && (string->len != len || memcmp(string->bytes, bytes, len) != 0))
		string = string->next;
	return string;
}

uint64_t intern_get(struct intern *table, const void *bytes, size_t len, bool *fresh)
{
	uint64_t hash = intern_hash(bytes, len);
	struct interned *string = find(table, hash, bytes, len);

	*fresh = false;
	if (string)
		return string->number;
	string = malloc(sizeof(*string) + len);
	if (!string)
		return 0;
	string->next = hash_map_get(&table->strings, hash);
	if (hash_map_set(&table->strings, hash, string)) {
		free(string);
		return 0;
	}
	string->number = ++table->cnt;
	string->len = len;
	memcpy(string->bytes, bytes, len);
	*fresh = true;
	return string->number;
}

bool intern_has(const struct intern *table, const void *bytes, size_t len)
{
	return find(table, intern_hash(bytes, len), bytes, len);
}

void intern_deinit(struct intern *table)
{
	for (const struct hash_map_slot *slot = NULL;
	     (slot = hash_map_next(&table->strings, slot));) {
		struct interned *next;

		for (struct interned *string = slot->value; string; string = next) {
			next = string->next;
			free(string);
		}
	}
	hash_map_deinit(&table->strings);
	*table = (struct intern){0};
}
