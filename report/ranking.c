// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Remembers sites in a hash table with open addressing. A site that holds nothing any more is kept
 * for as many reports as it has moments, so that what comes and goes is known to.
 */
#include "report/ranking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	struct site_history history;
	uint64_t update;              /* the last that had it */
	uint32_t last[AGE_CLASS_CNT]; /* blocks of the last snapshot, as sampled */
};

struct ranking {
	struct entry **slots; /* at most half full */
	size_t slot_cnt;      /* a power of two */
	size_t cnt;
	uint64_t updates;
	uint64_t elapsed_ns; /* of the last snapshot */
};

/* The slot of id, or the free one where it belongs. Ids may come from anywhere, so mix them. */
static struct entry **find_slot(struct entry **slots, size_t slot_cnt, uint64_t id)
{
	size_t at = (size_t)((id * 0x9e3779b97f4a7c15ULL) >> 32) & (slot_cnt - 1);

	while (slots[at] && slots[at]->history.id != id)
		at = (at + 1) & (slot_cnt - 1);
	return &slots[at];
}

static void free_entry(struct entry *entry)
{
	if (!entry)
		return;
	free(entry->history.moments);
	free(entry);
}

int ranking__new(struct ranking **ret)
{
	struct ranking *ranking = calloc(1, sizeof(*ranking));

	if (!ranking)
		return -ENOMEM;
	*ret = ranking;
	return 0;
}

void ranking__free(struct ranking *ranking)
{
	if (!ranking)
		return;
	for (size_t i = 0; i < ranking->slot_cnt; i++)
		free_entry(ranking->slots[i]);
	free(ranking->slots);
	free(ranking);
}

/* Lays all entries out anew, in so many slots. */
static int rehash(struct ranking *ranking, size_t slot_cnt)
{
	struct entry **slots = calloc(slot_cnt, sizeof(struct entry *));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < ranking->slot_cnt; i++)
		if (ranking->slots[i])
			*find_slot(slots, slot_cnt, ranking->slots[i]->history.id) =
				ranking->slots[i];
	free(ranking->slots);
	ranking->slots = slots;
	ranking->slot_cnt = slot_cnt;
	return 0;
}

/* A table with room for so many more sites. */
static int make_room(struct ranking *ranking, size_t more_cnt)
{
	size_t slot_cnt = ranking->slot_cnt ? ranking->slot_cnt : 16;

	while (slot_cnt / 2 < ranking->cnt + more_cnt)
		slot_cnt *= 2;
	return slot_cnt == ranking->slot_cnt ? 0 : rehash(ranking, slot_cnt);
}

/*
 * The moment that is missed least: the one whose neighbours would be closest to each other,
 * measured by how long ago it was. So the past is remembered whole, the less densely the longer
 * ago it was.
 */
static size_t least_telling(const struct site_history *history)
{
	const struct moment *moments = history->moments;
	uint64_t now_ns = moments[history->moment_cnt - 1].elapsed_ns;
	double least = 0;
	size_t ret = 1;

	for (size_t i = 1; i + RECENT_MOMENTS < history->moment_cnt; i++) {
		double gap = (double)(moments[i + 1].elapsed_ns - moments[i - 1].elapsed_ns);
		double weight = gap / (double)(now_ns - moments[i].elapsed_ns + 1);

		if (i == 1 || weight < least) {
			least = weight;
			ret = i;
		}
	}
	return ret;
}

static int add_moment(struct site_history *history, const struct moment *moment)
{
	size_t cnt = history->moment_cnt;

	if (cnt == MOMENT_CNT) {
		size_t drop = least_telling(history);

		memmove(history->moments + drop, history->moments + drop + 1,
			(cnt - drop - 1) * sizeof(*history->moments));
		cnt--;
	} else if (!(cnt & (cnt - 1))) {
		size_t cap = cnt ? cnt * 2 : 1;
		struct moment *grown =
			reallocarray(history->moments, cap, sizeof(*history->moments));

		if (!grown)
			return -ENOMEM;
		history->moments = grown;
	}
	history->moments[cnt] = *moment;
	history->moment_cnt = cnt + 1;
	return 0;
}

static struct moment moment_of(const struct snapshot *snap, const struct site *site)
{
	struct moment moment = {
		.elapsed_ns = snap->elapsed_ns,
		.bytes = site->bytes,
		.count = site->count,
	};
	uint64_t bytes = 0;

	for (size_t i = AGE_CLASS_CNT, span = SPAN_CNT; i-- > 0;) {
		bytes += site->ages.bytes[i];
		moment.sampled += site->ages.count[i];
		if (!span || i != SPAN_CLASS(span - 1))
			continue;
		span--;
		moment.old_bytes[span] = (float)bytes;
		moment.old_count[span] = moment.sampled;
	}
	return moment;
}

static void count_blocks(struct entry *entry, const struct site *site)
{
	for (size_t i = 0; i < AGE_CLASS_CNT; i++) {
		uint32_t last = entry->last[i], kept = site->kept[i] < last ? site->kept[i] : last;

		entry->history.freed[i] += last - kept;
		entry->history.seen += site->ages.count[i];
		entry->history.seen -= kept;
		entry->last[i] = site->ages.count[i];
	}
}

/* A site that is new to reports held nothing at the one before. */
static int add_site(struct ranking *ranking, uint64_t id, struct entry **ret)
{
	const struct moment none = {.elapsed_ns = ranking->elapsed_ns};
	struct entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return -ENOMEM;
	entry->history.id = id;
	if (ranking->updates > 1 && add_moment(&entry->history, &none)) {
		free_entry(entry);
		return -ENOMEM;
	}
	*find_slot(ranking->slots, ranking->slot_cnt, id) = entry;
	ranking->cnt++;
	*ret = entry;
	return 0;
}

static int update_site(struct ranking *ranking, const struct snapshot *snap,
		       const struct site *site, struct growth *ret)
{
	struct entry *entry = *find_slot(ranking->slots, ranking->slot_cnt, site->id);
	const struct moment moment = moment_of(snap, site);
	struct site_history *history;
	struct moment last = {0};
	int err = entry ? 0 : add_site(ranking, site->id, &entry);

	if (err)
		return err;
	history = &entry->history;
	if (history->moment_cnt)
		last = history->moments[history->moment_cnt - 1];
	err = add_moment(history, &moment);
	if (err)
		return err;
	entry->update = ranking->updates;
	count_blocks(entry, site);
	if (!ret)
		return 0;
	trend_of(history, &history->trend);
	*ret = (struct growth){
		.bytes = (int64_t)(site->bytes - last.bytes),
		.count = (int64_t)(site->count - last.count),
		.history = history,
	};
	return 0;
}

/* Sites that this snapshot does not have hold nothing; those that have not for long are dropped. */
static int update_absent(struct ranking *ranking, const struct snapshot *snap)
{
	const struct site nothing = {0};
	size_t dropped = 0;
	int err = 0;

	for (size_t i = 0; !err && i < ranking->slot_cnt; i++) {
		struct entry *entry = ranking->slots[i];
		const struct moment moment = moment_of(snap, &nothing);

		if (!entry || entry->update == ranking->updates)
			continue;
		if (ranking->updates - entry->update > MOMENT_CNT) {
			free_entry(entry);
			ranking->slots[i] = NULL;
			dropped++;
			continue;
		}
		count_blocks(entry, &nothing);
		err = add_moment(&entry->history, &moment);
	}
	ranking->cnt -= dropped;
	/* Holes break the probe sequences. */
	return err || !dropped ? err : rehash(ranking, ranking->slot_cnt);
}

int ranking__update(struct ranking *ranking, const struct snapshot *snap, struct growth *growth)
{
	int err = make_room(ranking, snap->site_cnt);

	ranking->updates++;
	for (size_t i = 0; !err && i < snap->site_cnt; i++)
		err = update_site(ranking, snap, &snap->sites[i], growth ? &growth[i] : NULL);
	if (!err)
		err = update_absent(ranking, snap);
	ranking->elapsed_ns = snap->elapsed_ns;
	return err;
}
