// SPDX-License-Identifier: GPL-2.0-or-later
/* Byte strings in a hash table. */
#include "sinks/intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/memleak.h"

uint64_t intern_hash(const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	uint64_t hash = len, word;

	for (; len >= sizeof(word); len -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = hash_mix(hash, word);
	}
	word = 0;
	if (len)
		memcpy(&word, at, len);
	hash = hash_mix(hash, word);
	return hash ? hash : 1;
}

static struct interned *find_slot(const struct intern *table, const struct interned *key)
{
	size_t at = (size_t)key->hash & (table->slot_cnt - 1);

	for (;; at = (at + 1) & (table->slot_cnt - 1)) {
		struct interned *slot = &table->slots[at];

		if (!slot->number || (slot->hash == key->hash && slot->len == key->len &&
				      !memcmp(slot->bytes, key->bytes, key->len)))
			return slot;
	}
}

static int grow(struct intern *table)
{
	struct intern grown = {.slot_cnt = table->slot_cnt ? table->slot_cnt * 2 : 64,
			       .cnt = table->cnt};

	grown.slots = calloc(grown.slot_cnt, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < table->slot_cnt; i++)
		if (table->slots[i].number)
			*find_slot(&grown, &table->slots[i]) = table->slots[i];
	free(table->slots);
	*table = grown;
	return 0;
}

int intern_get(struct intern *table, const void *bytes, size_t len, uint64_t *ret, bool *fresh)
{
	struct interned key = {.hash = intern_hash(bytes, len), .bytes = (void *)bytes, .len = len};
	struct interned *slot;

	if (table->cnt >= table->slot_cnt / 2 && grow(table))
		return -ENOMEM;
	slot = find_slot(table, &key);
	*fresh = !slot->number;
	if (*fresh) {
		key.bytes = malloc(len + 1);
		if (!key.bytes)
			return -ENOMEM;
		memcpy(key.bytes, bytes, len);
		key.number = ++table->cnt;
		*slot = key;
	}
	*ret = slot->number;
	return 0;
}

bool intern_has(const struct intern *table, const void *bytes, size_t len)
{
	struct interned key = {.hash = intern_hash(bytes, len), .bytes = (void *)bytes, .len = len};

	return table->slot_cnt && find_slot(table, &key)->number;
}

void intern_deinit(struct intern *table)
{
	for (size_t i = 0; i < table->slot_cnt; i++)
		free(table->slots[i].bytes);
	free(table->slots);
	*table = (struct intern){0};
}
