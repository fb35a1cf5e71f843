// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads small blocks with several workers. Each worker takes a range of blocks at a time. */
#include "proof/links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/huge_pages.h"
#include "base/parallel.h"
#include "proof/scan.h"

/* Blocks of at least this size in bytes are read only when marking reaches them. */
#define SMALL_BYTES 4096

/* Number of blocks that a worker takes at a time. */
#define SHARE 4096

#define CHUNK_LINKS (1U << LINKS_CHUNK_BITS)
#define CHUNKS_MAX (LINKS_MANY >> LINKS_CHUNK_BITS)

struct worker {
	struct crew *crew;
	struct scan scan;
	uint32_t *chunk; /* element of links.chunks that this worker fills */
	uint32_t chunk_place;
	uint32_t chunk_cnt;
	/* State of the block being read. */
	uint32_t block;
	uint32_t links[LINKS_MOST];
	size_t cnt;  /* words in `links`; above LINKS_MOST if the links do not fit */
	size_t last; /* index in `links` of the last link */
	uint32_t *small;
	int err;
};

struct crew {
	const struct links_request *request;
	struct links links;
	struct worker *workers;
	size_t next;
	bool stopped;
};

static bool failed(struct crew *crew, struct worker *worker)
{
	const struct links_request *request = crew->request;

	if (!worker->err)
		worker->err = worker->scan.window.err;
	if (request->stop && request->stop(request->arg))
		__atomic_store_n(&crew->stopped, true, __ATOMIC_RELAXED);
	return worker->err || __atomic_load_n(&crew->stopped, __ATOMIC_RELAXED);
}

static int new_chunk(struct worker *worker)
{
	struct links *links = &worker->crew->links;
	uint32_t *chunk = malloc(CHUNK_LINKS * sizeof(*chunk));
	size_t at;

	if (!chunk)
		return -ENOMEM;
	huge_pages_use(chunk, CHUNK_LINKS * sizeof(*chunk));
	at = __atomic_fetch_add(&links->chunk_cnt, 1, __ATOMIC_RELAXED);
	if (at >= CHUNKS_MAX) {
		__atomic_fetch_sub(&links->chunk_cnt, 1, __ATOMIC_RELAXED);
		free(chunk);
		return -ENOSPC;
	}
	links->chunks[at] = chunk;
	worker->chunk = chunk;
	worker->chunk_place = (uint32_t)(at << LINKS_CHUNK_BITS);
	worker->chunk_cnt = 0;
	return 0;
}

static void keep_many(struct worker *worker)
{
	uint32_t *first = &worker->crew->links.first[worker->block];
	size_t cnt = worker->cnt;
	int err = 0;

	*first = LINKS_UNREAD;
	if (cnt > LINKS_MOST)
		return;
	if (!worker->chunk || worker->chunk_cnt + cnt > CHUNK_LINKS)
		err = new_chunk(worker);
	if (err == -ENOMEM)
		worker->err = err;
	if (err)
		return;
	worker->links[worker->last] |= LINK_LAST;
	memcpy(worker->chunk + worker->chunk_cnt, worker->links, cnt * sizeof(*worker->links));
	*first = LINKS_MANY | (worker->chunk_place + worker->chunk_cnt);
	worker->chunk_cnt += (uint32_t)cnt;
}

static void end_block(struct worker *worker)
{
	if (worker->cnt == 1)
		worker->crew->links.first[worker->block] = worker->links[0];
	else if (worker->cnt)
		keep_many(worker);
	worker->cnt = 0;
}

static void add_link(struct worker *worker, const struct pointer *pointer)
{
	size_t at = worker->cnt, cnt = pointer->offset ? 2 : 1;

	worker->cnt += cnt;
	/* A `cnt` above LINKS_MOST means that the block's links are not stored. */
	if (worker->cnt > LINKS_MOST || pointer->block == NO_BLOCK) {
		worker->cnt = LINKS_MOST + 1;
		return;
	}
	worker->last = at;
	worker->links[at] = pointer->block;
	if (pointer->offset) {
		worker->links[at] |= LINK_INSIDE;
		worker->links[at + 1] = pointer->offset;
	}
}

static void found(void *arg, const struct pointer *pointers, size_t cnt)
{
	struct worker *worker = arg;

	for (size_t i = 0; i < cnt; i++) {
		if (pointers[i].holder != worker->block) {
			end_block(worker);
			worker->block = pointers[i].holder;
		}
		add_link(worker, &pointers[i]);
	}
}

static void work(void *arg, size_t number)
{
	struct crew *crew = arg;
	struct worker *worker = &crew->workers[number];
	const struct block_index *index = crew->request->index;

	while (!failed(crew, worker)) {
		size_t at = __atomic_fetch_add(&crew->next, SHARE, __ATOMIC_RELAXED), cnt = 0;

		if (at >= index->cnt)
			break;
		for (size_t end = at + SHARE; at < end && at < index->cnt; at++) {
			bool is_small = index->blocks[at].size < SMALL_BYTES;

			crew->links.first[at] = is_small ? LINKS_NONE : LINKS_UNREAD;
			if (is_small)
				worker->small[cnt++] = (uint32_t)at;
		}
		scan_blocks(&worker->scan, worker->small, cnt);
		scan_flush(&worker->scan);
		end_block(worker);
	}
}

static int crew_init(struct crew *crew)
{
	const struct links_request *request = crew->request;
	int err = 0;

	crew->links.first = malloc((request->index->cnt + 1) * sizeof(*crew->links.first));
	crew->links.chunks = malloc(CHUNKS_MAX * sizeof(*crew->links.chunks));
	crew->workers = calloc(request->worker_cnt, sizeof(*crew->workers));
	if (!crew->links.first || !crew->links.chunks || !crew->workers)
		return -ENOMEM;
	huge_pages_use(crew->links.first, request->index->cnt * sizeof(*crew->links.first));
	for (size_t i = 0; !err && i < request->worker_cnt; i++) {
		struct worker *worker = &crew->workers[i];

		worker->crew = crew;
		worker->block = NO_BLOCK;
		worker->small = malloc(SHARE * sizeof(*worker->small));
		err = worker->small ? scan_init(request->memory, request->index, found, worker,
						&worker->scan)
				    : -ENOMEM;
		worker->scan.most = LINKS_MOST;
	}
	return err;
}

static int crew_result(const struct crew *crew)
{
	for (size_t i = 0; i < crew->request->worker_cnt; i++)
		if (crew->workers[i].err)
			return crew->workers[i].err;
	return crew->stopped ? -ECANCELED : 0;
}

static void crew_deinit(struct crew *crew)
{
	for (size_t i = 0; crew->workers && i < crew->request->worker_cnt; i++) {
		crew->links.read_bytes += crew->workers[i].scan.window.read_bytes;
		scan_deinit(&crew->workers[i].scan);
		free(crew->workers[i].small);
	}
	free(crew->workers);
}

int links_init(const struct links_request *request, struct links *ret)
{
	struct crew crew = {.request = request};
	int err = crew_init(&crew);

	if (!err) {
		parallel_run(request->worker_cnt, work, &crew);
		err = crew_result(&crew);
	}
	crew_deinit(&crew);
	if (err)
		links_deinit(&crew.links);
	else
		*ret = crew.links;
	return err;
}

void links_deinit(struct links *links)
{
	for (size_t i = 0; i < links->chunk_cnt; i++)
		free(links->chunks[i]);
	free(links->chunks);
	free(links->first);
	memset(links, 0, sizeof(*links));
}
