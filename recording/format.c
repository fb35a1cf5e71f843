// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The format of recordings: header, compressed chunks with checksums, and conversion of snapshots,
 * sites and summaries to 64-bit words and back.
 */
#include "recording/format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <zlib.h>

#include "base/cleanup.h"

#define MAGIC "memleak\x1a"
#define MAGIC_BYTES 8

/* Maximum compression ratio of deflate. */
#define DEFLATE_RATIO_MAX 1032

static void put_u32(uint8_t *bytes, uint32_t number)
{
	for (size_t i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(number >> 8 * i);
}

static uint32_t take_u32(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

static uint32_t crc_of(uint32_t crc, const uint8_t *bytes, size_t len)
{
	return (uint32_t)crc32(crc, bytes, (uInt)len);
}

struct recording_header recording_header_now(unsigned int flags)
{
	struct recording_header header = {
		.version = RECORDING_VERSION,
		.flags = flags,
		.lost_cnt = LOSS_CNT,
		.shape_cnt = FAMILY_CNT,
		.table_cnt = TABLE_CNT,
	};

	/*
	 * Without a random run id, use 0. All recordings with this id seem to be of the same run,
	 * so comparing two of them may match different sites.
	 */
	if (getrandom(header.run, sizeof(header.run), GRND_NONBLOCK) < 0)
		memset(header.run, 0, sizeof(header.run));
	return header;
}

void recording_header_put(const struct recording_header *header, uint8_t *bytes)
{
	memset(bytes, 0, HEADER_BYTES);
	memcpy(bytes, MAGIC, MAGIC_BYTES);
	put_u32(bytes + 8, header->version);
	put_u32(bytes + 12, header->flags);
	memcpy(bytes + 16, header->run, RUN_ID_BYTES);
	bytes[32] = (uint8_t)header->lost_cnt;
	bytes[33] = (uint8_t)header->shape_cnt;
	bytes[34] = (uint8_t)header->table_cnt;
	put_u32(bytes + 36, crc_of(0, bytes, 36));
}

int recording_header_take(const uint8_t *bytes, struct recording_header *ret)
{
	struct recording_header header = {
		.version = take_u32(bytes + 8),
		.flags = take_u32(bytes + 12),
		.lost_cnt = bytes[32],
		.shape_cnt = bytes[33],
		.table_cnt = bytes[34],
	};

	if (memcmp(bytes, MAGIC, MAGIC_BYTES))
		return -ENOEXEC;
	if (header.version > RECORDING_VERSION)
		return -ENOTSUP;
	if (take_u32(bytes + 36) != crc_of(0, bytes, 36))
		return -ENOEXEC;
	if (header.lost_cnt > LOSS_CNT || header.shape_cnt > FAMILY_CNT ||
	    header.table_cnt > TABLE_CNT)
		return -ENOTSUP;
	memcpy(header.run, bytes + 16, RUN_ID_BYTES);
	*ret = header;
	return 0;
}

int recording_pack(const struct byte_buffer *payload, uint8_t **ret, size_t *ret_len)
{
	uLongf len = compressBound(payload->len);
	uint8_t *chunk;

	if (payload->len > CHUNK_BYTES_MAX)
		return -EFBIG;
	chunk = malloc(CHUNK_HEAD_BYTES + len);
	if (!chunk || compress2(chunk + CHUNK_HEAD_BYTES, &len, payload->bytes, payload->len,
				Z_DEFAULT_COMPRESSION) != Z_OK) {
		free(chunk);
		return -ENOMEM;
	}
	put_u32(chunk, (uint32_t)len);
	put_u32(chunk + 4, (uint32_t)payload->len);
	put_u32(chunk + 8, crc_of(crc_of(0, chunk, 8), chunk + CHUNK_HEAD_BYTES, len));
	*ret = chunk;
	*ret_len = CHUNK_HEAD_BYTES + len;
	return 0;
}

/* Inflates a chunk. Returns false if it is damaged, or does not inflate to exactly `len` bytes. */
static bool inflate_all(const uint8_t *packed, size_t packed_len, uint8_t *bytes, size_t len)
{
	uLongf inflated = len;

	return uncompress(bytes, &inflated, packed, packed_len) == Z_OK && inflated == len;
}

int recording_unpack(FILE *file, uint8_t **ret, size_t *ret_len)
{
	uint8_t head[CHUNK_HEAD_BYTES];
	size_t got = fread(head, 1, sizeof(head), file);
	size_t packed_len = take_u32(head), len = take_u32(head + 4);
	cleanup_free uint8_t *packed = NULL;
	uint8_t *bytes;

	if (!got && feof(file))
		return 0;
	if (got < sizeof(head))
		return ferror(file) ? -EIO : -EBADMSG;
	if (!len || len > CHUNK_BYTES_MAX || packed_len > compressBound(CHUNK_BYTES_MAX) ||
	    len / DEFLATE_RATIO_MAX > packed_len)
		return -EBADMSG;
	packed = malloc(packed_len + 1);
	if (!packed)
		return -ENOMEM;
	if (fread(packed, 1, packed_len, file) < packed_len)
		return ferror(file) ? -EIO : -EBADMSG;
	if (take_u32(head + 8) != crc_of(crc_of(0, head, 8), packed, packed_len))
		return -EBADMSG;
	bytes = malloc(len);
	if (!bytes)
		return -ENOMEM;
	if (!inflate_all(packed, packed_len, bytes, len)) {
		free(bytes);
		return -EBADMSG;
	}
	*ret = bytes;
	*ret_len = len;
	return 1;
}

static uint64_t word_of(double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

static double double_of(uint64_t word)
{
	double value;

	memcpy(&value, &word, sizeof(value));
	return value;
}

static void stats_words(const struct stats *stats, uint64_t *word)
{
	*word++ = stats->known;
	*word++ = stats->calls;
	*word++ = stats->failed;
	*word++ = stats->walked;
	*word++ = stats->cached;
	*word++ = stats->checked;
	*word++ = stats->disagreed;
	*word++ = stats->stored;
	for (size_t i = 0; i < FAMILY_CNT; i++)
		*word++ = stats->calls_of[i];
	for (size_t i = 0; i < TABLE_CNT; i++) {
		*word++ = stats->fills[i].used;
		*word++ = stats->fills[i].size;
	}
}

static void stats_from(const struct recording_header *header, const uint64_t *word,
		       struct stats *stats)
{
	stats->known = *word++ != 0;
	stats->calls = *word++;
	stats->failed = *word++;
	stats->walked = *word++;
	stats->cached = *word++;
	stats->checked = *word++;
	stats->disagreed = *word++;
	stats->stored = *word++;
	for (size_t i = 0; i < header->shape_cnt; i++)
		stats->calls_of[i] = *word++;
	for (size_t i = 0; i < header->table_cnt; i++) {
		stats->fills[i].used = *word++;
		stats->fills[i].size = *word++;
	}
}

static void proof_words(const struct proof_facts *proof, uint64_t *word)
{
	memset(word, 0, PROOF_WORDS * sizeof(*word));
	if (!proof)
		return;
	*word++ = 1;
	*word++ = proof->method;
	*word++ = proof->stopped_ns;
	*word++ = proof->scanned_bytes;
	*word++ = proof->pictures;
	*word++ = proof->processes;
	*word++ = proof->unproved;
	for (size_t i = 0; i < REACH_CNT; i++) {
		*word++ = proof->of[i].bytes;
		*word++ = proof->of[i].count;
	}
}

bool recording_proof_from(const struct recording_header *header, const uint64_t *words,
			  struct proof_facts *ret)
{
	const uint64_t *word = words + SNAPSHOT_WORDS(header) - TAIL_WORDS + 3;

	if (!*word++)
		return false;
	*ret = (struct proof_facts){.method = PROOF_NONE};
	if (*word < PROOF_METHOD_CNT)
		ret->method = (enum proof_method) * word;
	word++;
	ret->stopped_ns = *word++;
	ret->scanned_bytes = *word++;
	ret->pictures = *word++;
	ret->processes = *word++;
	ret->unproved = *word++;
	if (ret->method == PROOF_NONE)
		ret->unproved = ret->processes;
	for (size_t i = 0; i < REACH_CNT; i++) {
		ret->of[i].bytes = *word++;
		ret->of[i].count = *word++;
	}
	return true;
}

static void census_words(const struct heap_census *census, uint64_t *word)
{
	memset(word, 0, CENSUS_WORDS * sizeof(*word));
	if (!census)
		return;
	*word++ = 1;
	*word++ = census->processes;
	*word++ = census->without_heap;
	*word++ = census->requested_bytes;
	*word++ = census->elsewhere.bytes;
	*word++ = census->elsewhere.count;
	*word++ = census->arenas;
	*word++ = census->skipped_arenas;
	*word++ = census->cut_lists;
	*word++ = census->heap_bytes;
	*word++ = census->spare_bytes;
	*word++ = census->present_bytes;
	*word++ = census->memory.anonymous;
	*word++ = census->memory.file;
	*word++ = census->memory.shared;
	*word++ = census->memory.swapped;
	for (size_t i = 0; i < HEAP_CLASSES; i++)
		for (size_t use = 0; use < HEAP_USE_CNT; use++) {
			*word++ = census->classes[i][use].bytes;
			*word++ = census->classes[i][use].count;
		}
}

bool recording_census_from(const struct recording_header *header, const uint64_t *words,
			   struct heap_census *ret)
{
	const uint64_t *word = words + SNAPSHOT_WORDS(header) - TAIL_WORDS + 3 + PROOF_WORDS;

	if (!*word++)
		return false;
	ret->processes = *word++;
	ret->without_heap = *word++;
	ret->requested_bytes = *word++;
	ret->elsewhere.bytes = *word++;
	ret->elsewhere.count = *word++;
	ret->arenas = *word++;
	ret->skipped_arenas = *word++;
	ret->cut_lists = *word++;
	ret->heap_bytes = *word++;
	ret->spare_bytes = *word++;
	ret->present_bytes = *word++;
	ret->memory.anonymous = *word++;
	ret->memory.file = *word++;
	ret->memory.shared = *word++;
	ret->memory.swapped = *word++;
	for (size_t i = 0; i < HEAP_CLASSES; i++)
		for (size_t use = 0; use < HEAP_USE_CNT; use++) {
			ret->classes[i][use].bytes = *word++;
			ret->classes[i][use].count = *word++;
		}
	return true;
}

static void cost_words(const struct tracing_cost *cost, uint64_t *word)
{
	*word++ = cost->elapsed_ns;
	*word++ = cost->calls;
	*word++ = cost->cpu_ns;
	*word++ = cost->ns;
	*word++ = cost->trap_ns;
	*word++ = cost->is_least;
}

static void overhead_words(const struct tracing_cost *cost, uint64_t *word)
{
	*word++ = word_of(cost->most_share);
	*word++ = cost->sample_bytes;
}

static void overhead_from(const uint64_t *word, struct tracing_cost *cost)
{
	double most_share = double_of(*word++);

	if (most_share > 0 && most_share < 1)
		cost->most_share = most_share;
	cost->sample_bytes = *word++;
}

static void cost_from(const uint64_t *word, struct tracing_cost *cost)
{
	cost->elapsed_ns = *word++;
	cost->calls = *word++;
	cost->cpu_ns = *word++;
	cost->ns = *word++;
	cost->trap_ns = *word++;
	cost->is_least = *word++ != 0;
}

static void kernel_words(const struct snapshot *snap, uint64_t *word)
{
	*word++ = snap->kernel_memory.unreclaimable;
	*word++ = snap->kernel_memory.reclaimable;
	*word++ = snap->kernel_memory.vmalloc;
	*word++ = snap->kernel_memory_before.unreclaimable;
	*word++ = snap->kernel_memory_before.reclaimable;
	*word++ = snap->kernel_memory_before.vmalloc;
}

static void kernel_from(const uint64_t *word, struct snapshot *snap)
{
	snap->kernel_memory.unreclaimable = *word++;
	snap->kernel_memory.reclaimable = *word++;
	snap->kernel_memory.vmalloc = *word++;
	snap->kernel_memory_before.unreclaimable = *word++;
	snap->kernel_memory_before.reclaimable = *word++;
	snap->kernel_memory_before.vmalloc = *word++;
}

/* The purpose of a snapshot: a report, the final report, or none (between reports). */
enum { ROLE_REPORT, ROLE_FINAL, ROLE_BETWEEN };

void recording_snapshot_words(const struct recording_header *header, const struct snapshot *snap,
			      bool final, uint64_t *words)
{
	const uint64_t head[HEAD_WORDS] = {
		(uint64_t)snap->wall_ns,
		snap->t0_ns,
		snap->walk_ns,
		snap->elapsed_ns,
		snap->sampling.mode,
		snap->sampling.rate,
		snap->calls,
		snap->replaced,
		snap->gone_with_page,
		final           ? ROLE_FINAL
		: snap->between ? ROLE_BETWEEN
				: ROLE_REPORT,
		snap->baseline_ns,
	};

	memcpy(words, head, sizeof(head));
	words += HEAD_WORDS;
	memcpy(words, snap->lost, sizeof(snap->lost));
	words += header->lost_cnt;
	for (size_t i = 0; i < SPACE_CNT; i++, words += STAT_WORDS(header))
		stats_words(&snap->stats[i], words);
	words[0] = snap->beyond_caches;
	words[1] = snap->frees_hidden;
	words[2] = snap->vmalloc_hidden;
	proof_words(snap->proof, words + 3);
	census_words(snap->census, words + 3 + PROOF_WORDS);
	cost_words(&snap->cost, words + 3 + PROOF_WORDS + CENSUS_WORDS);
	kernel_words(snap, words + 3 + PROOF_WORDS + CENSUS_WORDS + COST_WORDS);
	overhead_words(&snap->cost,
		       words + 3 + PROOF_WORDS + CENSUS_WORDS + COST_WORDS + KERNEL_WORDS);
}

void recording_snapshot_from(const struct recording_header *header, const uint64_t *words,
			     struct snapshot *snap, bool *final)
{
	snap->wall_ns = (int64_t)words[0];
	snap->t0_ns = words[1];
	snap->walk_ns = words[2];
	snap->elapsed_ns = words[3];
	if (words[4] <= SAMPLING_STEPS)
		snap->sampling.mode = (enum sampling_mode)words[4];
	snap->sampling.rate = words[5];
	snap->calls = words[6];
	snap->replaced = words[7];
	snap->gone_with_page = words[8];
	*final = words[9] == ROLE_FINAL;
	snap->between = words[9] == ROLE_BETWEEN;
	snap->baseline_ns = words[10];
	words += HEAD_WORDS;
	memcpy(snap->lost, words, header->lost_cnt * sizeof(*words));
	words += header->lost_cnt;
	for (size_t i = 0; i < SPACE_CNT; i++, words += STAT_WORDS(header))
		stats_from(header, words, &snap->stats[i]);
	snap->beyond_caches = words[0];
	snap->frees_hidden = words[1] != 0;
	snap->vmalloc_hidden = words[2];
	cost_from(words + 3 + PROOF_WORDS + CENSUS_WORDS, &snap->cost);
	kernel_from(words + 3 + PROOF_WORDS + CENSUS_WORDS + COST_WORDS, snap);
	overhead_from(words + 3 + PROOF_WORDS + CENSUS_WORDS + COST_WORDS + KERNEL_WORDS,
		      &snap->cost);
}

enum {
	MARK_SEVERAL_PIDS = 1 << 0,
	MARK_INTERRUPT = 1 << 1,
	MARK_SEVERAL_CACHES = 1 << 2,
	MARK_RECLAIMABLE = 1 << 3,
};

static uint64_t marks_of(const struct site_origin *origin)
{
	return (origin->several_pids ? MARK_SEVERAL_PIDS : 0) |
	       (origin->interrupt ? MARK_INTERRUPT : 0) |
	       (origin->several_caches ? MARK_SEVERAL_CACHES : 0) |
	       (origin->reclaimable ? MARK_RECLAIMABLE : 0);
}

static void reach_words(const struct site_reach *reach, uint64_t t0_ns, uint64_t *words)
{
	words[SITE_PROVED] = reach->proved;
	for (size_t i = 0; i < REACH_CNT; i++) {
		words[SITE_REACH + 2 * i] = reach->of[i].bytes;
		words[SITE_REACH + 2 * i + 1] = reach->of[i].count;
	}
	words[SITE_LOST_BYTES] = reach->lost.bytes;
	words[SITE_LOST_COUNT] = reach->lost.count;
	words[SITE_LOST_WITH_BYTES] = reach->hanging.bytes;
	words[SITE_LOST_WITH_COUNT] = reach->hanging.count;
	words[SITE_LOST_PER_S] = word_of(reach->lost_per_s);
	words[SITE_LOST_SINCE] = reach->lost.count ? birth_of(t0_ns, reach->lost_for_ns) : 0;
}

static void reach_from(const uint64_t *words, uint64_t t0_ns, struct site_reach *reach)
{
	reach->proved = words[SITE_PROVED] != 0;
	for (size_t i = 0; i < REACH_CNT; i++) {
		reach->of[i].bytes = words[SITE_REACH + 2 * i];
		reach->of[i].count = words[SITE_REACH + 2 * i + 1];
	}
	reach->lost.bytes = words[SITE_LOST_BYTES];
	reach->lost.count = words[SITE_LOST_COUNT];
	reach->hanging.bytes = words[SITE_LOST_WITH_BYTES];
	reach->hanging.count = words[SITE_LOST_WITH_COUNT];
	reach->lost_per_s = double_of(words[SITE_LOST_PER_S]);
	if (words[SITE_LOST_SINCE])
		reach->lost_for_ns = age_of(t0_ns, words[SITE_LOST_SINCE]);
}

void recording_site_words(const struct site *site, uint64_t t0_ns, uint64_t *words)
{
	const struct block *largest = &site->largest;

	words[SITE_PRESENT] = 1;
	words[SITE_BYTES] = site->bytes;
	words[SITE_COUNT] = site->count;
	words[SITE_BYTES_VARIANCE] = word_of(site->bytes_variance);
	words[SITE_COUNT_VARIANCE] = word_of(site->count_variance);
	words[SITE_INHERITED_BYTES] = site->inherited_bytes;
	words[SITE_INHERITED_COUNT] = site->inherited_count;
	words[SITE_OLDEST] = birth_of(t0_ns, site->oldest_ns);
	words[SITE_NEWEST] = birth_of(t0_ns, site->newest_ns);
	if (largest->addr) {
		words[SITE_LARGEST_ADDR] = largest->addr;
		words[SITE_LARGEST_SIZE] = largest->size;
		words[SITE_LARGEST_SAMPLED_SIZE] = largest->sampled_size;
		words[SITE_LARGEST_BIRTH] = birth_of(t0_ns, largest->age_ns);
		words[SITE_LARGEST_TID] = (uint64_t)largest->tid;
		words[SITE_LARGEST_INHERITED] = largest->inherited;
	}
	words[SITE_LAST_PID] = (uint64_t)site->origin.last_pid;
	words[SITE_MARKS] = marks_of(&site->origin);
	words[SITE_OWNER_PID] = (uint64_t)site->origin.owner_pid;
	words[SITE_UNSEEN_FREES] = site->origin.unseen_frees;
	words[SITE_PINNED] = site->pinned_bytes;
	for (size_t i = 0; i < AGE_CLASS_CNT; i++) {
		words[SITE_AGES + 3 * i] = site->ages.bytes[i];
		words[SITE_AGES + 3 * i + 1] = site->ages.count[i];
		words[SITE_AGES + 3 * i + 2] = site->kept[i];
	}
	reach_words(&site->reach, t0_ns, words);
}

void recording_site_from(const uint64_t *words, uint64_t t0_ns, struct site *site)
{
	site->bytes = words[SITE_BYTES];
	site->count = words[SITE_COUNT];
	site->bytes_variance = double_of(words[SITE_BYTES_VARIANCE]);
	site->count_variance = double_of(words[SITE_COUNT_VARIANCE]);
	site->inherited_bytes = words[SITE_INHERITED_BYTES];
	site->inherited_count = words[SITE_INHERITED_COUNT];
	site->oldest_ns = age_of(t0_ns, words[SITE_OLDEST]);
	site->newest_ns = age_of(t0_ns, words[SITE_NEWEST]);
	if (words[SITE_LARGEST_ADDR])
		site->largest = (struct block){
			.addr = words[SITE_LARGEST_ADDR],
			.size = words[SITE_LARGEST_SIZE],
			.sampled_size = words[SITE_LARGEST_SAMPLED_SIZE],
			.age_ns = age_of(t0_ns, words[SITE_LARGEST_BIRTH]),
			.tid = (pid_t)words[SITE_LARGEST_TID],
			.inherited = words[SITE_LARGEST_INHERITED] != 0,
		};
	site->pinned_bytes = words[SITE_PINNED];
	site->origin.last_pid = (pid_t)words[SITE_LAST_PID];
	site->origin.owner_pid = (pid_t)words[SITE_OWNER_PID];
	site->origin.several_pids = words[SITE_MARKS] & MARK_SEVERAL_PIDS;
	site->origin.interrupt = words[SITE_MARKS] & MARK_INTERRUPT;
	site->origin.several_caches = words[SITE_MARKS] & MARK_SEVERAL_CACHES;
	site->origin.reclaimable = words[SITE_MARKS] & MARK_RECLAIMABLE;
	site->origin.unseen_frees = words[SITE_UNSEEN_FREES];
	for (size_t i = 0; i < AGE_CLASS_CNT; i++) {
		site->ages.bytes[i] = words[SITE_AGES + 3 * i];
		site->ages.count[i] = (uint32_t)words[SITE_AGES + 3 * i + 1];
		site->kept[i] = (uint32_t)words[SITE_AGES + 3 * i + 2];
	}
	reach_from(words, t0_ns, &site->reach);
}

void recording_summary_words(const struct process_summary *summary, uint64_t *words)
{
	*words++ = summary->allocated;
	*words++ = summary->freed;
	*words++ = summary->outstanding;
	*words++ = summary->peak;
	*words++ = summary->largest;
	*words++ = summary->calls;
	memcpy(words, summary->calls_of, sizeof(summary->calls_of));
}

void recording_summary_from(const struct recording_header *header, const uint64_t *words,
			    struct process_summary *summary)
{
	summary->allocated = *words++;
	summary->freed = *words++;
	summary->outstanding = *words++;
	summary->peak = *words++;
	summary->largest = *words++;
	summary->calls = *words++;
	memcpy(summary->calls_of, words, header->shape_cnt * sizeof(*words));
}

void recording_birth_words(const struct ages *births, uint64_t *words)
{
	for (size_t i = 0; i < AGE_CLASS_CNT; i++) {
		words[2 * i] = births->bytes[i];
		words[2 * i + 1] = births->count[i];
	}
}

void recording_births_from(const uint64_t *words, struct ages *births)
{
	for (size_t i = 0; i < AGE_CLASS_CNT; i++) {
		births->bytes[i] = words[2 * i];
		births->count[i] = (uint32_t)words[2 * i + 1];
	}
}

void recording_births_move(struct ages *births, const struct moments *before,
			   const struct moments *now)
{
	struct ages moved = {.bytes = {births->bytes[0]}, .count = {births->count[0]}};
	size_t to = 0;

	/* Class i of `births` has blocks that were allocated after before->ns[i - 1]. */
	for (size_t i = 1; i < AGE_CLASS_CNT; i++) {
		while (i <= before->cnt && to < now->cnt && now->ns[to] <= before->ns[i - 1])
			to++;
		moved.bytes[to] += births->bytes[i];
		moved.count[to] += births->count[i];
	}
	*births = moved;
}
