// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes pictures before the tables of blocks are read, marks blocks afterwards, and compares each
 * proof with the previous proof of the process.
 */
#include "proof/proof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/fair_lock.h"
#include "base/hash_map.h"
#include "base/log.h"
#include "proof/frame_finder.h"
#include "proof/hanging_sums.h"
#include "proof/heap_proof.h"
#include "proof/holders.h"
#include "proof/kernel_roots.h"
#include "proof/picture.h"
#include "proof/root_kind.h"

/*
 * Margin for comparing the allocation times of blocks with the time of a picture, in nanoseconds.
 * Allocation times have the resolution of the kernel's tick, at most 10 ms.
 */
#define MARGIN_NS 30000000ULL

/*
 * Maximum number of picture takers. Each can have only one process stopped or copied at a time, so
 * this is also the maximum number of processes with running threads that one report can prove. The
 * next report continues with the remaining processes.
 */
#define TAKERS_MAX 4

/* Data from the most recent proof of a process, for the next proof of the process. */
struct definite {
	uint32_t image;
	/* true if the next picture is to wait for a running thread; see picture_taker__take() */
	bool waits_for_runner;
	bool kernel_hangs; /* true if kernel_roots_read() hung; it is not called again */
	/*
	 * calls of proof__finish() since the last proof of the process, including the one that made
	 * it
	 */
	unsigned int unseen;
	uint64_t *addrs; /* addresses of the blocks definite in that proof, ascending */
	size_t cnt;
};

/*
 * Maximum of definite.unseen. Above it, the process is forgotten: it has ended, or there are too
 * many processes to prove each in time.
 */
#define UNSEEN_MOST 64

/* Maximum number of pointers that the kernel keeps for a process; they need 8 MB. */
#define KERNEL_ROOTS_MAX 1000000

/* How the number of lost blocks of a site changed over time. */
struct loss_history {
	uint64_t first_ns; /* time from the start of tracing until the first lost block was found */
	uint64_t last_ns;
	uint64_t last_cnt;
};

struct proof {
	struct picture_taker *takers[TAKERS_MAX];
	size_t taker_cnt;
	/* index of the first process for the next proof__begin(), modulo the number of processes */
	size_t next;
	pid_t watched; /* pid of the process whose exit the first taker watches, 0 if none */
	bool saw_end;  /* true if a picture of the watched process was taken at its exit */
	struct picture **pictures;
	uint32_t *images; /* for each picture, the exec image number of its process */
	size_t picture_cnt;
	size_t asked_cnt; /* number of requested pictures */
	bool wants_census;
	struct definite *definite;
	size_t definite_cnt;
	size_t definite_cap;
	struct hash_map losses; /* maps a site id to a struct loss_history */
	/* Maps a site id to 1 + the site's number of reachable blocks in the previous proof. */
	struct hash_map reachable;
	struct frame_finder frames;
	struct hash_map logged; /* pids of processes whose failure was logged */
};

/* State of proof__finish(). */
struct finishing {
	struct proof *proof;
	struct snapshot *snap;
	struct proof_facts facts;
	struct heap_census census;
	struct hanging_sums hanging;
	/* reachable blocks of each site in the previous proof, NULL if there was none */
	uint64_t *before;
	marking_stop_fn *stop;
	void *arg;
};

int proof__new(bool several, struct proof **ret)
{
	struct proof *proof = calloc(1, sizeof(*proof));
	size_t wanted = several ? TAKERS_MAX : 1;
	int err = 0;

	if (!proof)
		return -ENOMEM;
	while (!err && proof->taker_cnt < wanted) {
		err = picture_taker__new(&proof->takers[proof->taker_cnt]);
		proof->taker_cnt += !err;
	}
	if (err)
		proof__free(proof);
	else
		*ret = proof;
	return err;
}

void proof__want_census(struct proof *proof)
{
	proof->wants_census = true;
}

int proof__watch_end(struct proof *proof, pid_t pid)
{
	proof->watched = pid;
	return picture_taker__watch_end(proof->takers[0], pid);
}

int proof__end_fd(const struct proof *proof)
{
	return picture_taker__end_fd(proof->takers[0]);
}

bool proof__note_end(struct proof *proof)
{
	return picture_taker__note_end(proof->takers[0]);
}

void proof__cancel(struct proof *proof)
{
	for (size_t i = 0; i < proof->picture_cnt; i++)
		picture__free(proof->pictures[i]);
	free(proof->pictures);
	free(proof->images);
	proof->pictures = NULL;
	proof->images = NULL;
	proof->picture_cnt = 0;
}

void proof__free(struct proof *proof)
{
	if (!proof)
		return;
	proof__cancel(proof);
	for (size_t i = 0; i < proof->taker_cnt; i++)
		picture_taker__free(proof->takers[i]);
	for (size_t i = 0; i < proof->definite_cnt; i++)
		free(proof->definite[i].addrs);
	free(proof->definite);
	hash_map_free_all(&proof->losses);
	hash_map_deinit(&proof->reachable);
	hash_map_deinit(&proof->logged);
	frame_finder_deinit(&proof->frames);
	kernel_roots_end();
	free(proof);
}

static void say_why(struct proof *proof, pid_t pid, int err)
{
	/* Do not log these errors: the next report may succeed. */
	if (err == -ESRCH || err == -EAGAIN || err == -ETIMEDOUT ||
	    hash_map_get(&proof->logged, (uint64_t)pid))
		return;
	hash_map_set(&proof->logged, (uint64_t)pid, proof);
	if (err == -EBUSY)
		log_note("no proof for process %d: a debugger or another tracer is attached to it",
			 pid);
	else if (err == -ENODATA)
		log_note("no proof for process %d: cannot read all pointers that the kernel keeps "
			 "for it (epoll, io_uring, timers)",
			 pid);
	else if (err == -EOPNOTSUPP)
		log_note("no proof for process %d: it has had threads, whose registers at the end "
			 "only a BPF program can read: run memleak as root",
			 pid);
	else
		log_note("no proof for process %d: cannot read its memory: %s", pid,
			 strerror(-err));
}

/*
 * Takes a picture with an idle picture taker. The first taker is reserved for the watched process,
 * if there is one. Returns -EAGAIN if all takers are busy, or the result of picture_taker__take().
 */
static int take_picture(struct proof *proof, pid_t pid, bool waits_for_runner, uint64_t deadline_ns,
			struct picture **ret)
{
	bool is_watched = pid == proof->watched;
	size_t first = proof->watched && !is_watched ? 1 : 0;

	for (size_t i = first; i < (is_watched ? 1 : proof->taker_cnt); i++)
		if (!picture_taker__is_busy(proof->takers[i]))
			return picture_taker__take(proof->takers[i], pid, waits_for_runner,
						   deadline_ns, ret);
	return -EAGAIN;
}

/*
 * Returns the time before which a block must have been allocated to be judged. At the exit of a
 * process, all blocks are judged.
 */
static uint64_t judged_before_ns(const struct picture *picture)
{
	return picture->method == PICTURE_ENDED ? picture->taken_ns + 1
						: picture->taken_ns - MARGIN_NS;
}

/*
 * Returns the struct definite of a process, and adds it if needed; NULL if memory runs out. With
 * several takers, the first picture of a process does not wait for a running thread: with many
 * processes, this would take too long.
 */
static struct definite *definite_of(struct proof *proof, uint32_t image)
{
	for (size_t i = 0; i < proof->definite_cnt; i++)
		if (proof->definite[i].image == image)
			return &proof->definite[i];
	if (array_reserve(&proof->definite, &proof->definite_cap, proof->definite_cnt + 1))
		return NULL;
	proof->definite[proof->definite_cnt] = (struct definite){
		.image = image,
		.waits_for_runner = proof->taker_cnt == 1,
	};
	return &proof->definite[proof->definite_cnt++];
}

int proof__begin(struct proof *proof, const struct traced_process *processes, size_t cnt,
		 uint64_t deadline_ns, uint64_t *ret_before_ns)
{
	uint64_t before_ns = UINT64_MAX;
	size_t first = cnt ? proof->next % cnt : 0;

	proof__cancel(proof);
	/*
	 * A watched process that ended without stopping at its exit is counted as a process without
	 * a proof.
	 */
	proof->asked_cnt = !cnt && proof->watched && !proof->saw_end ? 1 : cnt;
	proof->pictures = calloc(cnt + 1, sizeof(*proof->pictures));
	proof->images = calloc(cnt + 1, sizeof(*proof->images));
	if (!proof->pictures || !proof->images)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		const struct traced_process *process = &processes[(first + i) % cnt];
		const struct definite *before = definite_of(proof, process->image);
		struct picture *picture;
		int err = before ? take_picture(proof, process->pid, before->waits_for_runner,
						deadline_ns, &picture)
				 : -ENOMEM;

		if (err) {
			say_why(proof, process->pid, err);
			continue;
		}
		proof->saw_end |= picture->method == PICTURE_ENDED;
		proof->next = first + i + 1;
		proof->images[proof->picture_cnt] = process->image;
		proof->pictures[proof->picture_cnt++] = picture;
		if (judged_before_ns(picture) < before_ns)
			before_ns = judged_before_ns(picture);
	}
	*ret_before_ns = proof->picture_cnt ? before_ns : 0;
	return 0;
}

static void add_to(struct reach_sum *sum, uint64_t bytes)
{
	sum->bytes += bytes;
	sum->count++;
}

/*
 * True if the block at addr was definite in the previous proof; always true if `definite` is NULL.
 */
static bool was_definite(const struct definite *definite, uint64_t addr)
{
	size_t at = definite ? bisect_numbers(definite->addrs, definite->cnt, addr) : 0;

	return !definite || (at < definite->cnt && definite->addrs[at] == addr);
}

static enum reach reach_of(enum mark mark)
{
	static const enum reach kinds[MARK_CNT] = {
		[MARK_DEFINITE] = REACH_DEFINITE,
		[MARK_INDIRECT] = REACH_INDIRECT,
		[MARK_POSSIBLE] = REACH_POSSIBLE,
		[MARK_REACHABLE] = REACH_REACHABLE,
	};

	return kinds[mark];
}

/* Adds the judged blocks to the sums of their sites, and to the totals. */
static int add_blocks(struct finishing *finishing, const struct heap_proof *heap,
		      const struct definite *before)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < heap->cnt; i++) {
		const struct heap_block *block = &heap->blocks[i];
		struct site_reach *reach;
		enum mark mark = heap->marks.kinds[i];
		const struct heap_block *head;

		if (!heap_block_is_judged(block))
			continue;
		reach = &finishing->snap->sites[block->site].reach;
		reach->proved = true;
		add_to(&reach->of[reach_of(mark)], block->size);
		add_to(&finishing->facts.of[reach_of(mark)], block->size);
		if (mark != MARK_DEFINITE && mark != MARK_INDIRECT)
			continue;
		head = &heap->blocks[heap->marks.holders[i]];
		if (!heap_block_is_judged(head))
			continue;
		err = hanging_sums_add(&finishing->hanging, head->site, block->site, block->size);
		if (!was_definite(before, head->addr))
			continue;
		reach = &finishing->snap->sites[head->site].reach;
		add_to(mark == MARK_DEFINITE ? &reach->lost : &reach->hanging, block->size);
	}
	return err;
}

/* Stores the addresses of the definite blocks, for comparison with the next proof. */
static int keep_definite(const struct heap_proof *heap, struct definite *ret)
{
	uint64_t *addrs;
	size_t cnt = 0;

	for (uint32_t i = 0; i < heap->cnt; i++)
		cnt += heap->marks.kinds[i] == MARK_DEFINITE;
	addrs = malloc((cnt + 1) * sizeof(*addrs));
	if (!addrs)
		return -ENOMEM;
	cnt = 0;
	for (uint32_t i = 0; i < heap->cnt; i++)
		if (heap->marks.kinds[i] == MARK_DEFINITE)
			addrs[cnt++] = heap->blocks[i].addr;
	free(ret->addrs);
	ret->addrs = addrs;
	ret->cnt = cnt;
	ret->unseen = 0;
	return 0;
}

pid_t proof__copy_of(const struct proof *proof, uint32_t image)
{
	for (size_t i = 0; i < proof->picture_cnt; i++)
		if (proof->images[i] == image && proof->pictures[i])
			return proof->pictures[i]->copy;
	return 0;
}

static const enum proof_method methods[] = {
	[PICTURE_STILL] = PROOF_STILL,
	[PICTURE_CLONE] = PROOF_CLONE,
	[PICTURE_FREEZE] = PROOF_FREEZE,
	[PICTURE_ENDED] = PROOF_ENDED,
};

static void add_facts(struct proof_facts *facts, const struct picture *picture,
		      const struct heap_proof *heap)
{
	if (picture->method == PICTURE_ENDED)
		facts->pictures = 1;
	if (methods[picture->method] > facts->method)
		facts->method = methods[picture->method];
	if (picture->stopped_ns > facts->stopped_ns)
		facts->stopped_ns = picture->stopped_ns;
	facts->scanned_bytes += heap->scanned_bytes;
}

static void add_census(struct heap_census *census, const struct picture *picture,
		       const struct heap_proof *heap)
{
	struct heap_census part = heap->census;

	part.memory = picture->use;
	heap_census_join(census, &part);
}

/*
 * True if memory is unchanged since the picture, so that it can still be read to find names. False
 * if threads are stopped: they must not stay stopped just for names.
 */
static bool lasts(void *arg)
{
	struct picture *picture = arg;

	return picture->method != PICTURE_FREEZE && picture__is_valid(picture);
}

static int find_holders(struct finishing *finishing, const struct heap_proof *proof,
			const struct heap_picture *picture)
{
	struct holders *holders;
	int err;

	fair_lock_release();
	err = holders_search(proof, picture, finishing->before, finishing->snap, &holders);
	fair_lock_acquire();
	if (err)
		return err;
	frame_finder_begin(picture->frames);
	err = holders_fill(holders, finishing->snap);
	holders_free(holders);
	return err;
}

static int read_kernel_roots(struct definite *before, pid_t pid, struct kernel_words *ret)
{
	int err = before->kernel_hangs ? -ENODATA : kernel_roots_read(pid, KERNEL_ROOTS_MAX, ret);

	before->kernel_hangs |= err == -ETIMEDOUT;
	return err == -ETIMEDOUT ? -ENODATA : err;
}

/*
 * Makes the proof of the heap of one picture. words: pointers that the kernel keeps. Returns
 * -EAGAIN if the process may have changed its memory since the picture was taken.
 */
static int judge_heap(struct finishing *finishing, struct picture *picture, struct definite *before,
		      const struct kernel_words *words, struct heap *heap)
{
	struct heap_picture seen = {
		.memory = picture->memory,
		.threads = &picture->threads,
		.words = words->items,
		.word_cnt = words->cnt,
		.wants_census = finishing->proof->wants_census,
		.lasts = lasts,
		.arg = picture,
		.pid = picture->pid,
		.is_python = root_is_python(&picture->memory->maps),
		.frames = &finishing->proof->frames,
	};
	struct heap_proof proof;
	bool is_valid;
	int err;

	/* Let memleak's other threads run: they do not use the data of this proof. */
	fair_lock_release();
	err = heap_proof_init(&seen, heap, finishing->stop, finishing->arg, &proof);
	fair_lock_acquire();
	if (err)
		return err;
	is_valid = picture__is_valid(picture);
	if (picture->method == PICTURE_STILL)
		before->waits_for_runner = !is_valid;
	if (!is_valid) {
		err = -EAGAIN;
	} else {
		err = add_blocks(finishing, &proof,
				 picture->method == PICTURE_ENDED ? NULL : before);
		add_facts(&finishing->facts, picture, &proof);
		add_census(&finishing->census, picture, &proof);
		if (!err)
			err = keep_definite(&proof, before);
		if (!err)
			err = find_holders(finishing, &proof, &seen);
	}
	heap_proof_deinit(&proof);
	return err;
}

static int prove_heap(struct finishing *finishing, struct picture *picture, uint32_t image,
		      struct heap *heap)
{
	struct definite *before = definite_of(finishing->proof, image);
	struct kernel_words words = {0};
	int err = before ? read_kernel_roots(before, picture->pid, &words) : -ENOMEM;

	if (!err)
		err = judge_heap(finishing, picture, before, &words, heap);
	free(words.items);
	return err;
}

static struct heap *heap_of(struct snapshot *snap, uint32_t image)
{
	for (size_t i = 0; i < snap->heap_cnt; i++)
		if (snap->heaps[i].image == image)
			return &snap->heaps[i];
	return NULL;
}

/* Forgets processes whose last proof was more than UNSEEN_MOST calls of proof__finish() ago. */
static void forget_unseen(struct proof *proof)
{
	size_t kept = 0;

	for (size_t i = 0; i < proof->definite_cnt; i++) {
		if (proof->definite[i].unseen++ > UNSEEN_MOST) {
			free(proof->definite[i].addrs);
			continue;
		}
		proof->definite[kept++] = proof->definite[i];
	}
	proof->definite_cnt = kept;
}

static int note_loss(struct proof *proof, uint64_t elapsed_ns, struct site *site)
{
	struct loss_history *history = hash_map_get(&proof->losses, site->id);
	uint64_t cnt = site->reach.lost.count;

	if (!history) {
		history = calloc(1, sizeof(*history));
		if (!history || hash_map_set(&proof->losses, site->id, history)) {
			free(history);
			return -ENOMEM;
		}
		history->first_ns = elapsed_ns;
	} else if (elapsed_ns > history->last_ns) {
		site->reach.lost_per_s = ((double)cnt - (double)history->last_cnt) * 1e9 /
					 (double)(elapsed_ns - history->last_ns);
		site->reach.lost_for_ns = elapsed_ns - history->first_ns;
	}
	history->last_ns = elapsed_ns;
	history->last_cnt = cnt;
	return 0;
}

static int note_losses(struct proof *proof, struct snapshot *snap)
{
	int err = 0;

	for (size_t i = 0; !err && i < snap->site_cnt; i++)
		if (snap->sites[i].reach.lost.count)
			err = note_loss(proof, snap->elapsed_ns, &snap->sites[i]);
	return err;
}

/* Looks up the number of reachable blocks that each site had in the previous proof. */
static int recall_reachable(struct finishing *finishing)
{
	const struct snapshot *snap = finishing->snap;
	const struct hash_map *reachable = &finishing->proof->reachable;

	if (!reachable->cnt)
		return 0;
	finishing->before = calloc(snap->site_cnt + 1, sizeof(*finishing->before));
	if (!finishing->before)
		return -ENOMEM;
	for (size_t i = 0; i < snap->site_cnt; i++) {
		uintptr_t known = (uintptr_t)hash_map_get(reachable, snap->sites[i].id);

		finishing->before[i] = known ? known - 1 : 0;
	}
	return 0;
}

static int keep_reachable(struct finishing *finishing)
{
	const struct snapshot *snap = finishing->snap;
	struct hash_map *reachable = &finishing->proof->reachable;
	int err = 0;

	hash_map_deinit(reachable);
	for (size_t i = 0; !err && i < snap->site_cnt; i++) {
		const struct site *site = &snap->sites[i];

		if (site->reach.of[REACH_REACHABLE].count)
			err = hash_map_set(
				reachable, site->id,
				(void *)(uintptr_t)(site->reach.of[REACH_REACHABLE].count + 1));
	}
	return err;
}

/*
 * Makes the proofs of all pictures. If a process may have changed its memory since its picture was
 * taken, this report has no proof of it, but a later report may have one.
 */
static int prove_heaps(struct finishing *finishing)
{
	struct proof *proof = finishing->proof;
	int err = 0;

	for (size_t i = 0; !err && i < proof->picture_cnt; i++) {
		struct heap none = {0}, *heap = heap_of(finishing->snap, proof->images[i]);

		err = prove_heap(finishing, proof->pictures[i], proof->images[i],
				 heap ? heap : &none);
		/*
		 * Without a heap in the snapshot, `none` was used. It may now have blocks from
		 * before tracing began, which the census has found.
		 */
		free(none.blocks);
		if (err == -ECANCELED || err == -ENOMEM)
			break;
		if (err && err != -EAGAIN)
			say_why(proof, proof->pictures[i]->pid, err);
		picture__free(proof->pictures[i]);
		proof->pictures[i] = NULL;
		finishing->facts.unproved += err != 0;
		err = 0;
	}
	return err;
}

int proof__finish(struct proof *proof, struct snapshot *snap, marking_stop_fn *stop, void *arg)
{
	struct finishing finishing = {
		.proof = proof,
		.snap = snap,
		.stop = stop,
		.arg = arg,
		.facts = {.pictures = 2, .processes = proof->asked_cnt},
	};
	int err;

	finishing.facts.unproved = proof->asked_cnt - proof->picture_cnt;
	err = recall_reachable(&finishing);
	if (!err)
		err = prove_heaps(&finishing);
	if (!err)
		err = hanging_sums_fill(&finishing.hanging, snap);
	hanging_sums_deinit(&finishing.hanging);
	free(finishing.before);
	proof__cancel(proof);
	snapshot_drop_heaps(snap);
	if (!err)
		err = note_losses(proof, snap);
	if (!err)
		err = keep_reachable(&finishing);
	if (err) {
		for (size_t i = 0; i < snap->site_cnt; i++)
			snap->sites[i].reach = (struct site_reach){0};
		return err;
	}
	forget_unseen(proof);
	snap->proof = arena_copy(&snap->arena, &finishing.facts, sizeof(finishing.facts));
	if (finishing.census.processes)
		snap->census =
			arena_copy(&snap->arena, &finishing.census, sizeof(finishing.census));
	return snap->proof && (snap->census || !finishing.census.processes) ? 0 : -ENOMEM;
}
