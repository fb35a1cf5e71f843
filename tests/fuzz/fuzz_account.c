// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the code that reads an agent's account, the shared memory with the blocks of a program;
 * "make fuzz" builds and runs it. Bit 0 of an input's first byte allows changes to the account's
 * header, bit 1 enables sampling. The rest of the input is a list of pairs: a place in the account,
 * and the 64-bit word to write there. Before these changes, the account contains two blocks, their
 * stack, a module, an event and a range.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/memleak.h"
#include "loader/agent/agent_process.h"
#include "loader/agent/peak.h"

#define PAGE 4096ULL
#define REGION (8 * PAGE)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct word {
	uint64_t at; /* selects a region of the account and an offset in the region */
	uint64_t value;
};

static const struct options opts = {.stack_depth = MEMLEAK_MAX_STACK_DEPTH, .max_size = UINT64_MAX};

/*
 * Fills in the account's header: the offsets of its regions, and numbers of items. Except for
 * chunks, the numbers are larger than the regions allow.
 */
static void lay_out(struct account *account)
{
	uint64_t at = PAGE;

	account->magic = ACCOUNT_MAGIC;
	for (unsigned int i = 0; i < ACCOUNT_REGION_CNT; i++) {
		account->region[i] = at;
		at += i == ACCOUNT_CHUNKS ? 2 * sizeof(struct account_chunk) : REGION;
	}
	account->bytes = account->end = at;
	account->depth = 32;
	account->thread_cnt = account->module_cnt = account->spill_cnt = account->frame_cnt = 1
											      << 30;
	account->chunk_cnt = 2;
	account->event_cnt = account->range_cnt = 1 << 30;
}

static uint64_t bytes_of(const struct account *account)
{
	return account->region[ACCOUNT_CHUNKS] + 2 * sizeof(struct account_chunk);
}

/*
 * Adds two blocks of one stack with a script frame, an event and a range. One block is in a spill
 * (see account.h).
 */
static void fill(char *file, const struct account *layout)
{
	struct account_frame *frames = (void *)(file + layout->region[ACCOUNT_FRAMES]);
	struct account_chunk *chunk = (void *)(file + layout->region[ACCOUNT_CHUNKS]);
	struct account_spill *spill = (void *)(file + layout->region[ACCOUNT_SPILLS]);
	struct account_module *module = (void *)(file + layout->region[ACCOUNT_MODULES]);
	struct account_event *event = (void *)(file + layout->region[ACCOUNT_EVENTS]);
	struct account_range *range = (void *)(file + layout->region[ACCOUNT_RANGES]);
	const uint32_t first = ACCOUNT_STACK_ENDS;

	for (uint32_t i = 0; i < 8; i++)
		frames[first + i] = (struct account_frame){
			.frame = i % 2 ? MEMLEAK_FRAME_FILE | 100 : 0x400000 + i,
			.parent = i ? first + i - 1 : ACCOUNT_STACK_END(UNWIND_END_COMPLETE)};
	frames[first + 7].frame = ACCOUNT_SCRIPT_FRAME(1, 8);
	*module = (struct account_module){.start = 0x1000, .end = 0x2000, .ino = 7};
	chunk->base = ACCOUNT_CHUNK_SPAN * 7;
	chunk->lines[3].cells[2].block = ACCOUNT_CELL(first + 7, 100, 4);
	chunk->lines[3].cells[2].life = ACCOUNT_LIFE(1ULL, 0, 1ULL);
	spill->line = chunk->base + ACCOUNT_LINE_SPAN * 3;
	spill->cells[0] = chunk->lines[3].cells[2];
	*event = (struct account_event){
		.number = 1, .type = ACCOUNT_EVENT_MAP, .addr = 0x10000, .len = 8192};
	*range = (struct account_range){.start = 0x20000, .end = 0x30000, .mapped_size = 0x10000};
}

/*
 * Writes a word near the start of a region, in the last 32 KiB of the account, or, only if
 * `in_head` is set, in its header. `word->at` selects the place.
 */
static void write_word(char *file, const struct account *layout, const struct word *word,
		       bool in_head)
{
	uint64_t which = word->at % (ACCOUNT_REGION_CNT + 2);
	uint64_t place = word->at / (ACCOUNT_REGION_CNT + 2) % (REGION / 8) * 8;

	if (which < ACCOUNT_REGION_CNT)
		place += layout->region[which];
	else if (which == ACCOUNT_REGION_CNT)
		place = bytes_of(layout) - REGION + place;
	else if (in_head)
		place %= sizeof(*layout);
	else
		return;
	memcpy(file + place, &word->value, sizeof(word->value));
}

static int make_account(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct account layout = {0};
	struct word word;
	char *file;

	lay_out(&layout);
	if (fd < 0 || ftruncate(fd, (off_t)bytes_of(&layout)))
		abort();
	file = mmap(NULL, bytes_of(&layout), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		abort();
	memcpy(file, &layout, sizeof(layout));
	fill(file, &layout);
	for (size_t i = 1; i + sizeof(word) <= size; i += sizeof(word)) {
		memcpy(&word, data + i, sizeof(word));
		write_word(file, &layout, &word, data[0] & 1);
	}
	munmap(file, bytes_of(&layout));
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		abort();
	return fd;
}

static bool find_owner(void *arg, uint32_t image, struct block_owner *ret)
{
	const struct agent_process *process = arg;

	*ret = (struct block_owner){.process = &process->info};
	return true;
}

static struct agent_process *find_process(void *arg, uint32_t image)
{
	struct agent_process *process = arg;

	return image == process->info.image ? process : NULL;
}

/* Checks that each allocation site has blocks, a valid number of frames and a valid kind. */
static void check(const struct snapshot *snap)
{
	for (size_t i = 0; i < snap->site_cnt; i++)
		if (!snap->sites[i].count || snap->sites[i].frame_cnt > MEMLEAK_MAX_STACK_DEPTH ||
		    snap->sites[i].kind >= KIND_CNT)
			abort();
}

static void read_process(struct agent_process *process, bool samples)
{
	struct code_files files = {0};
	struct block_walker walker = {
		.opts = &opts, .space = SPACE_USER, .owner = find_owner, .arg = process};
	const struct ancestry ancestry = {&files, find_process, process};
	struct agent_peak peak = {.timer_fd = -1};
	struct snapshot snap;
	struct block_walk walk;
	int err;

	if (account_view_take_ranges(&process->view, &process->ranges) ||
	    agent_process__take_events(process))
		abort();
	if (samples)
		walker.sampling = agent_process__sampling(process);
	agent_process__begin_epoch(process, 1000);
	if (agent_process__add_up(process, 500, 0))
		abort();
	agent_peak_look(&peak, agent_process__outstanding(process, 0),
			agent_process__highest(process), true);
	block_walk_begin(&walker, 2000, &walk, &snap);
	err = agent_process__walk(process, &ancestry, 0, &walk);
	if (!err)
		err = block_walk_fill(&walk, &snap);
	if (block_walk_end(&walk, err, &snap))
		abort();
	check(&snap);
	snapshot_deinit(&snap);
	agent_process__store_mappings(process);
	site_table_deinit(&walker.sites);
	code_files_deinit(&files);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct agent_process process = {.info = {.pid = getpid(), .image = 1}, .pidfd = -1};
	struct account_totals totals;

	if (!size || account_view_init(make_account(data, size), &process.view))
		return 0;
	ranges_init(&process.ranges, PAGE, 1ULL << 34);
	account_view_totals(&process.view, &totals);
	read_process(&process, data[0] & 2);
	ranges_deinit(&process.ranges);
	hash_map_deinit(&process.sites);
	free(process.files);
	account_view_deinit(&process.view);
	return 0;
}
