// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * proofs PID
 *
 * For each line on stdin, makes a proof (proof/heap_proof.h): determines which heap blocks of the
 * process PID are reachable. Then prints these numbers:
 *   time for which the threads of the process were stopped, in ns
 *   CPU time of the proof, in ns
 *   duration of the proof, in ns
 *   CPU time of one read of all anonymous memory that the process has written to, in ns
 *   size of this memory, in bytes
 *   peak growth of resident memory of this program during the proof, in bytes
 *   number of blocks
 *   number of reachable blocks
 *
 * For the line "known", the proof starts with a list of the blocks that the previous proof found.
 * For "census", it starts without a list, and finds all blocks itself. For the line "stop", stops
 * the threads, but makes no proof and prints only the first number.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "proof/heap_proof.h"
#include "proof/picture.h"

#define DEADLINE_NS 600000000000ULL
#define READ_BYTES (1ULL << 18)

static uint64_t cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

/* Returns the size in the field `name` of /proc/self/status, in bytes. */
static uint64_t memory_bytes(const char *name)
{
	char *text = NULL, *at;
	uint64_t kib = 0;

	if (!proc_read(getpid(), "status", &text)) {
		at = strstr(text, name);
		kib = at ? strtoull(at + strlen(name), NULL, 10) : 0;
	}
	free(text);
	return kib << 10;
}

static void reset_peak(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "w");

	if (file) {
		fputs("5", file);
		fclose(file);
	}
}

/*
 * Prepares the blocks of the previous proof for the next proof, which knows them in advance. Puts
 * them in random order.
 */
static void know(struct heap *heap)
{
	for (size_t i = 0; i < heap->block_cnt; i++) {
		size_t other = (size_t)(((uint64_t)rand() << 31 | (uint64_t)rand()) % (i + 1));
		struct heap_block block = heap->blocks[i];

		block.site = 0;
		heap->blocks[i] = heap->blocks[other];
		heap->blocks[other] = block;
	}
}

struct reading {
	const struct memory *memory;
	char *buf;
	uint64_t bytes;
	uint64_t sum;
};

static int read_pages(void *arg, uint64_t start, uint64_t end)
{
	struct reading *reading = arg;

	while (start < end) {
		size_t len = end - start < READ_BYTES ? end - start : READ_BYTES;
		ssize_t got = reading->memory->ops->read(reading->memory, start, reading->buf, len);

		for (ssize_t i = 0; i < got; i += 64)
			reading->sum += (unsigned char)reading->buf[i];
		reading->bytes += len;
		start += len;
	}
	return 0;
}

/*
 * Reads each page that the process has written to in private, writable, anonymous mappings. The
 * proof's CPU time is compared with that of these reads.
 */
static int read_once(const struct memory *memory, struct reading *ret)
{
	struct reading reading = {.memory = memory, .buf = malloc(READ_BYTES)};
	int err = reading.buf ? 0 : -ENOMEM;

	for_each_mapping (mapping, &memory->maps)
		if (!err && mapping->writable && !mapping->shared && mapping->path[0] != '/')
			err = memory->ops->visit_written(memory, mapping, mapping->start,
							 mapping->end, read_pages, &reading);
	free(reading.buf);
	*ret = reading;
	return err;
}

static int prove(const struct picture *picture, struct heap *heap)
{
	struct heap_picture seen = {.memory = picture->memory, .threads = &picture->threads};
	size_t known = heap->block_cnt;
	struct heap_proof proof;
	uint64_t before, cpu, begin, read_ns = cpu_ns(), reachable = 0;
	struct reading reading;
	int err = read_once(picture->memory, &reading);

	if (err)
		return err;
	read_ns = cpu_ns() - read_ns;
	malloc_trim(0);
	reset_peak();
	before = memory_bytes("VmRSS:") - known * sizeof(*heap->blocks);
	cpu = cpu_ns();
	begin = clock_ns(CLOCK_MONOTONIC);
	err = heap_proof_init(&seen, heap, NULL, NULL, &proof);
	if (err)
		return err;
	cpu = cpu_ns() - cpu;
	begin = clock_ns(CLOCK_MONOTONIC) - begin;
	for (uint32_t i = 0; i < proof.cnt; i++)
		reachable += proof.marks.kinds[i] == MARK_REACHABLE;
	printf("%ju %ju %ju %ju %ju %ju %ju %ju\n", (uintmax_t)picture->stopped_ns, (uintmax_t)cpu,
	       (uintmax_t)begin, (uintmax_t)read_ns, (uintmax_t)reading.bytes,
	       (uintmax_t)(memory_bytes("VmHWM:") - before), (uintmax_t)proof.cnt,
	       (uintmax_t)reachable);
	fflush(stdout);
	heap_proof_deinit(&proof);
	return 0;
}

static int obey(const char *line, const struct picture *picture, struct heap *heap)
{
	if (!strcmp(line, "stop\n")) {
		printf("%ju\n", (uintmax_t)picture->stopped_ns);
		fflush(stdout);
		return 0;
	}
	if (!strcmp(line, "known\n"))
		know(heap);
	else
		heap->block_cnt = 0;
	return prove(picture, heap);
}

int main(int argc, char **argv)
{
	struct picture_taker *taker;
	struct heap heap = {0};
	char line[16];
	int err = argc == 2 ? picture_taker__new(&taker) : -1;

	while (!err && fgets(line, sizeof(line), stdin)) {
		struct picture *picture;

		err = picture_taker__take(taker, atoi(argv[1]), false,
					  clock_deadline_ns(DEADLINE_NS), &picture);
		if (err)
			break;
		err = obey(line, picture, &heap);
		picture__free(picture);
	}
	if (err)
		fprintf(stderr, "proofs: %s\n", strerror(-err));
	return err != 0;
}
