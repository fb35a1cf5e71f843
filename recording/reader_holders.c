// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads, for each site, the chain of holders of its blocks. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "recording/reader.h"

#define LINK_BYTES_MIN 2
/* Bytes of the memory budget per holder: its entry in the chain, and its copy in the snapshot. */
#define LINK_MEMORY (2 * sizeof(struct holder) + sizeof(size_t))

static void take_link(const struct recording *recording, struct byte_reader *from,
		      struct holder *ret, size_t *ret_site)
{
	ret->kind = (enum holder_kind)bytes_take_below(from, HOLDER_KIND_CNT);
	if (ret->kind == HOLDER_BLOCK) {
		*ret_site = (size_t)bytes_take_below(from, recording->site_cnt + 1);
		ret->repeats = bytes_take_number(from);
		return;
	}
	ret->words = recording_take_string_ref(recording, from);
	from->failed |= !ret->words;
}

/* Adds a chain with `cnt` empty holders for a site. */
static int add_chain(struct recording *recording, size_t site, size_t cnt, struct read_chain **ret)
{
	struct read_chain *chain;

	if (!recording_take_memory(recording, 2, sizeof(*chain)) ||
	    !recording_take_memory(recording, cnt, LINK_MEMORY))
		return -EFBIG;
	if (array_reserve(&recording->chains, &recording->chain_cap, recording->chain_cnt + 1))
		return -ENOMEM;
	chain = &recording->chains[recording->chain_cnt++];
	*chain = (struct read_chain){
		.site = site,
		.holders = calloc(cnt + 1, sizeof(*chain->holders)),
		.sites = calloc(cnt + 1, sizeof(*chain->sites)),
		.cnt = cnt,
	};
	*ret = chain;
	return chain->holders && chain->sites ? 0 : -ENOMEM;
}

int recording_take_chain(struct recording *recording, struct byte_reader *from)
{
	size_t site = (size_t)bytes_take_below(from, recording->site_cnt);
	size_t cnt = bytes_take_cnt(from, LINK_BYTES_MIN);
	struct read_chain *chain;
	int err;

	if (from->failed)
		return -EBADMSG;
	err = add_chain(recording, site, cnt, &chain);
	if (err)
		return err;
	for (size_t i = 0; i < cnt; i++)
		take_link(recording, from, &chain->holders[i], &chain->sites[i]);
	return from->failed ? -EBADMSG : 0;
}

void recording_free_chains(struct recording *recording)
{
	for (size_t i = 0; i < recording->chain_cnt; i++) {
		struct read_chain *chain = &recording->chains[i];

		recording->memory_left += 2 * sizeof(*chain) + chain->cnt * LINK_MEMORY;
		free(chain->holders);
		free(chain->sites);
	}
	free(recording->chains);
	recording->chains = NULL;
	recording->chain_cnt = 0;
	recording->chain_cap = 0;
}

void recording_give_chains(struct recording *recording, struct snapshot *snap, const size_t *index)
{
	for (size_t i = 0; i < recording->chain_cnt; i++) {
		struct read_chain *chain = &recording->chains[i];
		struct site_reach *reach;

		for (size_t j = 0; j < chain->cnt; j++)
			if (chain->sites[j] && index[chain->sites[j] - 1] != SIZE_MAX)
				chain->holders[j].site = &snap->sites[index[chain->sites[j] - 1]];
		if (index[chain->site] == SIZE_MAX)
			continue;
		reach = &snap->sites[index[chain->site]].reach;
		reach->held_by = chain->holders;
		reach->held_by_cnt = chain->cnt;
	}
}
