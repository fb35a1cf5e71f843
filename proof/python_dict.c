// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the head of a PyDictKeysObject, which is followed by a table of indexes and then by the
 * entries.
 */
#include "proof/python_dict.h"

#define WORD sizeof(uint64_t)

/*
 * Maximum sizes in bytes of the table of indexes, as log2. Shared keys are few, so their table is
 * smaller.
 */
#define LOG2_INDEX_BYTES_MAX 32
#define LOG2_SHARED_INDEX_BYTES_MAX 8

struct head {
	uint64_t references;
	uint8_t log2_size;
	uint8_t log2_index_bytes;
	uint8_t kind;
	uint8_t unused;
	uint32_t version;
	uint64_t usable;
	uint64_t entry_cnt;
};

bool python_keys_read(const struct memory *memory, uint64_t addr, struct python_keys *ret)
{
	struct head head;
	uint64_t hash_bytes;

	if (memory->ops->read(memory, addr, &head, sizeof(head)) != (ssize_t)sizeof(head) ||
	    head.kind >= PYTHON_KEYS_KIND_CNT || head.log2_index_bytes > LOG2_INDEX_BYTES_MAX ||
	    (head.kind == PYTHON_KEYS_SHARED &&
	     head.log2_index_bytes > LOG2_SHARED_INDEX_BYTES_MAX))
		return false;
	/*
	 * The entries contain the hashes of the keys only if keys may be other objects than
	 * strings.
	 */
	hash_bytes = head.kind == PYTHON_KEYS_GENERAL ? WORD : 0;
	*ret = (struct python_keys){
		.kind = head.kind,
		.cnt = head.entry_cnt,
		.first = addr + sizeof(head) + (1ULL << head.log2_index_bytes) + hash_bytes,
		.key_bytes = hash_bytes + 2 * WORD,
	};
	return true;
}
