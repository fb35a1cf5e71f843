// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes samples from the ring, gives them to libdwfl's helper, and counts what comes back. */
#include "loader/unwind_check.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/memleak.h"
#include "loader/cleanup.h"
#include "loader/log.h"
#include "loader/modules.h"
#include "loader/unwind_files.h"
#include "loader/unwind_verdicts.h"
#include "symbolizer/proc_maps.h"
#include "unwinder/reference.h"

/* Stacks compared in one go, so that nothing else waits long. */
#define BATCH 16
/* So many batches at least hold what the ring can. */
#define RING_BATCHES 16
/* What processes had mapped lately is kept: samples may be on their way. */
#define OLD_SPACES 4
/* Stacks through unknown code that are kept until it is known. */
#define WAITING_MAX 128

/* What a process had mapped, while the programs called it generation. */
struct checked_space {
	pid_t pid;
	uint32_t image;
	uint32_t generation;
	struct proc_maps maps;
};

struct unwind_check {
	struct ring_buffer *ring;
	struct reference *reference;
	uint32_t wanted;
	uint32_t left_in_batch;
	int err;                      /* why nothing is compared any more */
	struct checked_space *spaces; /* oldest first */
	size_t space_cnt;
	/* Went through code of which the programs had not been told, until they are. */
	struct memleak_unwind_sample *waiting[WAITING_MAX];
	size_t waiting_cnt;
	struct unwind_verdicts verdicts;
	struct reference_stack stack;
};

static const struct checked_space *find_space(const struct unwind_check *check, uint32_t generation)
{
	for (size_t i = check->space_cnt; i; i--)
		if (check->spaces[i - 1].generation == generation)
			return &check->spaces[i - 1];
	return NULL;
}

static void fail(struct unwind_check *check, int err)
{
	if (check->err)
		return;
	check->err = err;
	log_note("stacks are verified no further: the helper that runs libdwfl failed (%s)",
		 strerror(-err));
}

static void compare(struct unwind_check *check, const struct checked_space *space,
		    const struct memleak_unwind_sample *sample)
{
	uint64_t frames[MEMLEAK_MAX_STACK_DEPTH];
	struct agreement found;
	int err;

	if (check->err)
		return;
	err = reference__walk(check->reference, space->generation, &sample->copy, &check->stack);
	if (err) {
		fail(check, err);
		return;
	}
	for (uint32_t i = 0; i < sample->frame_cnt; i++)
		frames[i] = MEMLEAK_FRAME_ADDR(sample->frames[i]);
	found = agreement_find(frames, sample->frame_cnt, sample->end, &check->stack);
	unwind_verdicts_add(&check->verdicts, &space->maps, frames, sample->frame_cnt,
			    &check->stack, &found);
}

/* Keeps a copy for later; false: there is no room. */
static bool keep_waiting(struct unwind_check *check, const struct memleak_unwind_sample *sample)
{
	struct memleak_unwind_sample *kept;

	if (check->waiting_cnt == WAITING_MAX)
		return false;
	kept = malloc(sizeof(*kept));
	if (!kept)
		return false;
	memcpy(kept, sample, sizeof(*kept));
	check->waiting[check->waiting_cnt++] = kept;
	return true;
}

/* Those of the image are compared with what it has mapped by now. */
static void compare_waiting(struct unwind_check *check, const struct checked_space *space)
{
	size_t kept = 0;

	for (size_t i = 0; i < check->waiting_cnt; i++) {
		struct memleak_unwind_sample *waiting = check->waiting[i];

		if (waiting->image == space->image) {
			compare(check, space, waiting);
			free(waiting);
		} else {
			check->waiting[kept++] = waiting;
		}
	}
	check->waiting_cnt = kept;
}

static void take_sample(struct unwind_check *check, const struct memleak_unwind_sample *sample)
{
	const struct checked_space *space = find_space(check, sample->generation);

	if (check->verdicts.stack_cnt + check->waiting_cnt >= check->wanted)
		return;
	if (!sample->frame_cnt || sample->frame_cnt > MEMLEAK_MAX_STACK_DEPTH)
		return;
	if ((!space || sample->unknown) && keep_waiting(check, sample))
		return;
	if (space)
		compare(check, space, sample);
	else
		check->verdicts.unknown_cnt++;
}

/* A negative number makes the ring stop behind this one. */
static int handle_sample(void *arg, void *data, size_t len)
{
	struct unwind_check *check = arg;

	if (len >= sizeof(struct memleak_unwind_sample))
		take_sample(check, data);
	return --check->left_in_batch ? 0 : -EAGAIN;
}

int unwind_check__new(int ring_fd, uint32_t stack_cnt, struct unwind_check **ret)
{
	struct unwind_check *check = calloc(1, sizeof(*check));
	int err;

	if (!check)
		return -ENOMEM;
	check->wanted = stack_cnt;
	check->ring = ring_buffer__new(ring_fd, handle_sample, check, NULL);
	err = check->ring ? reference__new(&check->reference) : -errno;
	if (err) {
		unwind_check__free(check);
		return err;
	}
	*ret = check;
	return 0;
}

void unwind_check__free(struct unwind_check *check)
{
	if (!check)
		return;
	ring_buffer__free(check->ring);
	reference__free(check->reference);
	for (size_t i = 0; i < check->space_cnt; i++)
		proc_maps_deinit(&check->spaces[i].maps);
	free(check->spaces);
	for (size_t i = 0; i < check->waiting_cnt; i++)
		free(check->waiting[i]);
	unwind_verdicts_deinit(&check->verdicts);
	free(check);
}

int unwind_check__poll_fd(const struct unwind_check *check)
{
	return check ? ring_buffer__epoll_fd(check->ring) : -1;
}

/* True: there may be more. */
static bool consume_batch(struct unwind_check *check)
{
	check->left_in_batch = BATCH;
	return ring_buffer__consume(check->ring) == -EAGAIN;
}

void unwind_check__consume(struct unwind_check *check)
{
	if (check)
		consume_batch(check);
}

/* Where the beginning of the same file is mapped, next below. */
static uint64_t find_headers(const struct proc_maps *maps, const struct mapping *code)
{
	for (const struct mapping *m = code; m >= maps->mappings; m--)
		if (!m->offset && m->inode == code->inode && m->dev_major == code->dev_major &&
		    m->dev_minor == code->dev_minor)
			return m->start;
	return 0;
}

static int send_mapping(struct unwind_check *check, const struct checked_space *space,
			const struct mapping *mapping)
{
	struct reference_code code = {.start = mapping->start, .offset = mapping->offset};
	cleanup_close int fd = -1;

	if (!mapping->executable)
		return 0;
	if (!strcmp(mapping->path, "[vdso]")) {
		fd = unwind_files_copy_vdso();
	} else if (mapping->inode) {
		fd = process_open_mapping(space->pid, mapping);
		code.headers = find_headers(&space->maps, mapping);
	}
	if (fd < 0)
		return 0; /* code without a file */
	return reference__add_code(check->reference, space->generation, fd, &code);
}

/* Forgets what the process mapped long ago. */
static void drop_old(struct unwind_check *check, pid_t pid)
{
	size_t kept = 0, cnt = 0;

	for (size_t i = 0; i < check->space_cnt; i++)
		cnt += check->spaces[i].pid == pid;
	for (size_t i = 0; i < check->space_cnt; i++) {
		struct checked_space *space = &check->spaces[i];

		if (space->pid == pid && cnt-- > OLD_SPACES) {
			reference__close(check->reference, space->generation);
			proc_maps_deinit(&space->maps);
		} else {
			check->spaces[kept++] = *space;
		}
	}
	check->space_cnt = kept;
}

static int add_space(struct unwind_check *check, pid_t pid, uint32_t image, uint32_t generation)
{
	struct checked_space *grown;
	struct proc_maps maps;
	int err = proc_maps_read(pid, &maps);

	if (err)
		return 0; /* it has ended */
	grown = reallocarray(check->spaces, check->space_cnt + 1, sizeof(*grown));
	if (!grown) {
		proc_maps_deinit(&maps);
		return -ENOMEM;
	}
	check->spaces = grown;
	grown[check->space_cnt++] = (struct checked_space){pid, image, generation, maps};
	err = reference__open(check->reference, generation);
	for_each_mapping (mapping, &maps)
		if (!err)
			err = send_mapping(check, &check->spaces[check->space_cnt - 1], mapping);
	return err;
}

void unwind_check__refresh(struct unwind_check *check, pid_t pid, uint32_t image,
			   uint32_t generation)
{
	int err;

	if (!check || check->err || !generation || find_space(check, generation))
		return;
	err = add_space(check, pid, image, generation);
	if (err) {
		fail(check, err);
		return;
	}
	/* While it is still known what those in the ring have met. */
	for (int i = 0; i < RING_BATCHES && consume_batch(check); i++)
		;
	compare_waiting(check, &check->spaces[check->space_cnt - 1]);
	drop_old(check, pid);
}

void unwind_check__finish(struct unwind_check *check)
{
	if (!check)
		return;
	while (consume_batch(check))
		;
	for (size_t i = check->space_cnt; i; i--)
		compare_waiting(check, &check->spaces[i - 1]);
	check->verdicts.unknown_cnt += check->waiting_cnt;
	unwind_verdicts_say(&check->verdicts);
}
