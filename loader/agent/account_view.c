// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads an account. Accounts are sparse files, so only their written pages are read. */
#include "loader/agent/account_view.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "bpf/memleak.h"
#include "loader/target/mapped_ranges.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define BYTES_MAX (1ULL << 40)

static const void *at(const struct account_view *view, enum account_region region, uint64_t offset)
{
	return (const char *)view->account + view->region[region] + offset;
}

static uint32_t load32(const __u32 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static uint64_t load64(const __u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Copies memory that the target may be changing. Callers check and use only the copy. */
static void copy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	/* Barrier: keeps the compiler from reading the target's memory again later. */
	__asm__ volatile("" : : "r"(to) : "memory");
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Reads and checks the layout, which the target can forge. A region must not be larger than the
 * agent makes it.
 */
static bool read_layout(struct account_view *view, const struct account *account, uint64_t size)
{
	uint64_t end = size;

	if (load64(&account->magic) != ACCOUNT_MAGIC || load64(&account->bytes) != size)
		return false;
	for (unsigned int i = ACCOUNT_REGION_CNT; i-- > 0;) {
		uint64_t start = load64(&account->region[i]);

		if (start < sizeof(*account) || start > end || start % 4096 ||
		    end - start >= account_region_most(i) + 4096)
			return false;
		view->region[i] = start;
		view->bytes[i] = end - start;
		end = start;
	}
	view->began_ns = account->began_ns;
	view->pid = account->pid;
	view->depth = account->depth;
	view->parent_pid = account->parent_pid;
	view->parent_began_ns = account->parent_began_ns;
	view->forked_ns = account->forked_ns;
	return true;
}

dev_t account_view_device(void)
{
	cleanup_close int fd = memfd_create("memleak", MFD_CLOEXEC);
	struct stat st;

	return fd < 0 || fstat(fd, &st) ? 0 : st.st_dev;
}

int account_view_init(int fd, struct account_view *ret)
{
	struct account_view view = {.fd = fd};
	int seals = fcntl(fd, F_GET_SEALS);
	struct account layout;
	struct stat st;
	void *addr;

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &st) ||
	    st.st_size < (off_t)sizeof(struct account) || (uint64_t)st.st_size > BYTES_MAX ||
	    st.st_dev != account_view_device()) {
		close(fd);
		return -EPROTO;
	}
	if (pread(fd, &layout, sizeof(layout), 0) != sizeof(layout) ||
	    !read_layout(&view, &layout, (uint64_t)st.st_size)) {
		close(fd);
		return -EPROTO;
	}
	addr = mmap(NULL, view.region[ACCOUNT_SPILLS], PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_NORESERVE, fd, 0);
	/* Accounts are writable: a file that cannot be mapped for writing is not an account. */
	if (addr == MAP_FAILED) {
		close(fd);
		return -EPROTO;
	}
	view.account = addr;
	view.event_at = load64(&view.account->event_read);
	*ret = view;
	return 0;
}

bool account_view_is_bypassed(const struct account_view *view)
{
	return load32(&view->account->is_bypassed);
}

uint64_t account_view_resident(const struct account_view *view)
{
	struct stat st;

	return fstat(view->fd, &st) ? 0 : (uint64_t)st.st_blocks * 512;
}

void account_view_deinit(struct account_view *view)
{
	if (!view->account)
		return;
	munmap(view->account, view->region[ACCOUNT_SPILLS]);
	close(view->fd);
	view->account = NULL;
}

uint32_t account_view_tid(const struct account_view *view, uint32_t thread)
{
	if (!thread || thread > view->bytes[ACCOUNT_THREADS] / sizeof(struct account_thread))
		return 0;
	return load32(
		&((const struct account_thread *)at(view, ACCOUNT_THREADS, 0))[thread - 1].tid);
}

/*
 * A mapped part of the account's file. The regions with blocks are mapped in parts, and only while
 * they are read: mapping all of them at once would take too much address space.
 */
struct window {
	const char *start;
	uint64_t offset; /* file offset of the window */
	uint64_t bytes;
};

static int open_window(const struct account_view *view, uint64_t offset, uint64_t bytes,
		       struct window *ret)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), skipped = offset % page;
	void *addr;

	*ret = (struct window){.offset = offset - skipped, .bytes = bytes + skipped};
	if (!bytes)
		return 0;
	addr = mmap(NULL, ret->bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, view->fd,
		    (off_t)ret->offset);
	if (addr == MAP_FAILED)
		return -ENOMEM;
	ret->start = addr;
	return 0;
}

static void close_window(struct window *window)
{
	if (window->start)
		munmap((void *)window->start, window->bytes);
}

static const void *in_window(const struct window *window, uint64_t offset)
{
	return window->start + (offset - window->offset);
}

struct visit {
	const struct account_view *view;
	struct window window;
	int (*visit)(void *arg, const struct account_block *block);
	void *arg;
};

/*
 * Returns the birth time of a block, UINT64_MAX if it was allocated just now. The birth time is the
 * start of the block's birth tick, or the start of its epoch if the epoch began later in that tick.
 * A block stores only the low bits of its epoch number. They stand for the newest epoch with these
 * bits that began before the tick ended.
 */
static uint64_t birth_of(const struct account_view *view, uint64_t life)
{
	const __u64 *times = at(view, ACCOUNT_EPOCH_TIMES, 0);
	uint64_t most = view->bytes[ACCOUNT_EPOCH_TIMES] / sizeof(*times), began_ns;
	uint64_t birth_ns = ACCOUNT_LIFE_BIRTH_NS(life);
	uint32_t epoch = load32(&view->account->epoch);

	if (!life)
		return UINT64_MAX;
	for (uint32_t ago = ACCOUNT_EPOCH(epoch - ACCOUNT_LIFE_EPOCH(life));
	     ago <= epoch && ago < most; ago += ACCOUNT_EPOCHS) {
		began_ns = load64(&times[(epoch - ago) % most]);
		if (began_ns <= birth_ns + ACCOUNT_TICK_NS)
			return began_ns > birth_ns ? began_ns : birth_ns;
	}
	return birth_ns;
}

void account_view_block(const struct account_view *view, uint64_t addr, uint64_t word,
			uint64_t life, struct account_block *ret)
{
	*ret = (struct account_block){
		.addr = addr,
		.size = ACCOUNT_CELL_SIZE(word),
		.birth_ns = birth_of(view, life),
		.epoch = ACCOUNT_LIFE_EPOCH(life),
		.tid = account_view_tid(view, ACCOUNT_LIFE_THREAD(life)),
		.stack = ACCOUNT_CELL_STACK(word),
		.is_sample = life & ACCOUNT_LIFE_SAMPLE,
	};
}

static int visit_cell(const struct visit *visit, const struct account_cell *cell,
		      uint64_t line_addr)
{
	uint64_t word = load64(&cell->block), life;
	struct account_block block;

	if (!word)
		return 0;
	life = load64(&cell->life);
	/*
	 * Skip a block that was freed while its cell was being read: the cell may now contain
	 * another block.
	 */
	if (load64(&cell->block) != word)
		return 0;
	account_view_block(visit->view,
			   line_addr +
				   (uint64_t)ACCOUNT_POSITION_SPAN * ACCOUNT_CELL_POSITION(word),
			   word, life, &block);
	return visit->visit(visit->arg, &block);
}

/*
 * Calls run() for each written part of the file between two offsets. Reading unwritten parts would
 * allocate pages.
 */
static int each_written(const struct account_view *view, uint64_t start, uint64_t end,
			int (*run)(const struct visit *visit, uint64_t from, uint64_t to,
				   uint64_t start),
			const struct visit *visit)
{
	off_t from = (off_t)start, to;
	int err = 0;

	while (!err && (uint64_t)from < end) {
		from = lseek(view->fd, from, SEEK_DATA);
		if (from < 0 || (uint64_t)from >= end)
			return from < 0 && errno != ENXIO ? -errno : 0;
		to = lseek(view->fd, from, SEEK_HOLE);
		if (to < 0)
			return -errno;
		if ((uint64_t)to > end)
			to = (off_t)end;
		err = run(visit, (uint64_t)from, (uint64_t)to, start);
		from = to;
	}
	return err;
}

/*
 * Visits the cells between two file offsets, which belong to one chunk. base: first address that
 * the chunk covers. number: index of the first cell to visit, within the chunk.
 */
static int visit_cells(const struct visit *visit, uint64_t from, uint64_t to, uint64_t base,
		       uint64_t number)
{
	int err = 0;

	for (; !err && from < to; from += sizeof(struct account_cell), number++)
		err = visit_cell(visit, in_window(&visit->window, from),
				 base + number / ACCOUNT_LINE_CELLS * ACCOUNT_LINE_SPAN);
	return err;
}

/* Visits the cells between two file offsets. Their chunk begins at offset `start`. */
static int visit_lines(const struct visit *visit, uint64_t from, uint64_t to, uint64_t start)
{
	const struct account_chunk *chunk = in_window(&visit->window, start);

	return visit_cells(visit, from, to, load64(&chunk->base),
			   (from - start) / sizeof(struct account_cell));
}

/*
 * Visits the cells of the spills between two file offsets. A spill that is partly in an unwritten
 * page was never used, so it is skipped.
 */
static int visit_spills(const struct visit *visit, uint64_t from, uint64_t to, uint64_t start)
{
	uint64_t number =
		(from - start + sizeof(struct account_spill) - 1) / sizeof(struct account_spill);
	int err = 0;

	for (; !err && start + (number + 1) * sizeof(struct account_spill) <= to; number++) {
		const struct account_spill *spill =
			in_window(&visit->window, start + number * sizeof(*spill));

		for (unsigned int i = 0; !err && i < ACCOUNT_SPILL_CELLS; i++)
			err = visit_cell(visit, &spill->cells[i],
					 load64(&spill->line) * ACCOUNT_LINE_SPAN);
	}
	return err;
}

/*
 * Maps part_bytes bytes of the file, from offset `start`. Calls run() for each written range within
 * the first `bytes` of these bytes.
 */
static int visit_part(struct visit *visit, uint64_t start, uint64_t part_bytes, uint64_t bytes,
		      int (*run)(const struct visit *visit, uint64_t from, uint64_t to,
				 uint64_t start))
{
	int err = open_window(visit->view, start, part_bytes, &visit->window);

	if (!err)
		err = each_written(visit->view, start, start + bytes, run, visit);
	close_window(&visit->window);
	return err;
}

static uint64_t in_use(const struct account_view *view, const __u32 *cnt,
		       enum account_region region, uint64_t size)
{
	return least(load32(cnt), view->bytes[region] / size);
}

int account_view_blocks(const struct account_view *view,
			int (*visit)(void *arg, const struct account_block *block), void *arg)
{
	struct visit request = {.view = view, .visit = visit, .arg = arg};
	uint64_t cnt = in_use(view, &view->account->chunk_cnt, ACCOUNT_CHUNKS,
			      sizeof(struct account_chunk));
	uint64_t spills = in_use(view, &view->account->spill_cnt, ACCOUNT_SPILLS,
				 sizeof(struct account_spill));
	int err = 0;

	/* Visit only the cells in the lines of each chunk. Spills are visited below. */
	for (uint64_t i = 0; !err && i < cnt; i++)
		err = visit_part(&request,
				 view->region[ACCOUNT_CHUNKS] + i * sizeof(struct account_chunk),
				 sizeof(struct account_chunk),
				 offsetof(struct account_chunk, spills), visit_lines);
	if (!err && spills)
		err = visit_part(&request, view->region[ACCOUNT_SPILLS],
				 spills * sizeof(struct account_spill),
				 spills * sizeof(struct account_spill), visit_spills);
	return err;
}

/* Decodes a script frame. Its code address is 0 if the code object's copy is out of range. */
static struct memleak_script_frame script_frame(const struct account_view *view, uint64_t frame)
{
	uint64_t offset = (uint64_t)ACCOUNT_SCRIPT_CODE(frame) * ACCOUNT_CODE_UNIT;
	struct memleak_script_frame ret = {.instr = (uint32_t)frame};
	struct account_code head;

	if (offset >= sizeof(head) && offset < view->bytes[ACCOUNT_CODES]) {
		copy(&head, at(view, ACCOUNT_CODES, offset - sizeof(head)), sizeof(head));
		ret.code = view->region[ACCOUNT_CODES] + offset;
		ret.cookie = head.cookie;
	}
	ret.code |= frame & MEMLEAK_FRAME_EXACT ? MEMLEAK_SCRIPT_BORDER : 0;
	ret.code |= frame & ACCOUNT_SCRIPT_CUT ? MEMLEAK_SCRIPT_CUT : 0;
	return ret;
}

size_t account_view_stack(const struct account_view *view, uint32_t number, uint64_t *frames,
			  size_t most, struct script_frames *scripts, unsigned int *ret_end)
{
	const struct account_frame *tree = at(view, ACCOUNT_FRAMES, 0);
	uint64_t tree_cnt = view->bytes[ACCOUNT_FRAMES] / sizeof(*tree);
	size_t cnt = 0;

	scripts->cnt = 0;
	if (most > view->depth)
		most = view->depth;
	/*
	 * Parents must have smaller numbers than their frames, so the loop ends even if the frames
	 * are forged.
	 */
	while (number >= ACCOUNT_STACK_ENDS && number < tree_cnt && cnt < most) {
		uint32_t parent = load32(&tree[number].parent);
		uint64_t frame = load64(&tree[number].frame);

		if (!parent || parent >= number)
			return 0;
		if (!MEMLEAK_FRAME_IS_SCRIPT(frame))
			frames[cnt++] = frame;
		else if (!cnt && scripts->cnt < MEMLEAK_SCRIPT_FRAMES_MAX)
			scripts->items[scripts->cnt++] = script_frame(view, frame);
		else
			return 0;
		number = parent;
	}
	if (number >= tree_cnt || !number)
		return 0;
	*ret_end =
		number < ACCOUNT_STACK_ENDS ? number - ACCOUNT_STACK_END(0) : UNWIND_END_TRUNCATED;
	return cnt;
}

bool account_view_module(const struct account_view *view, uint32_t number,
			 struct account_module *ret, char *path, size_t path_size)
{
	uint64_t text_bytes = view->bytes[ACCOUNT_TEXT];
	size_t len = 0;

	if (number >= load32(&view->account->module_cnt) || number >= ACCOUNT_MODULES_MAX ||
	    number >= view->bytes[ACCOUNT_MODULES] / sizeof(*ret))
		return false;
	copy(ret, at(view, ACCOUNT_MODULES, number * sizeof(*ret)), sizeof(*ret));
	if (!ret->end || ret->path >= text_bytes)
		return false;
	for (; len + 1 < path_size && ret->path + len < text_bytes; len++) {
		copy(&path[len], at(view, ACCOUNT_TEXT, ret->path + len), 1);
		if (!path[len])
			break;
	}
	path[len] = '\0';
	return true;
}

bool account_view_runs_scripts(const struct account_view *view, const struct account_module *module)
{
	uint64_t addr = load64(&view->account->interpreter);

	return addr >= module->start && addr < module->end;
}

uint64_t account_view_event_room(const struct account_view *view)
{
	return view->bytes[ACCOUNT_EVENTS] / sizeof(struct account_event);
}

bool account_view_event(struct account_view *view, bool ended, struct account_event *ret)
{
	const struct account_event *events = at(view, ACCOUNT_EVENTS, 0), *event;
	uint64_t cnt = load64(&view->account->event_cnt), room = account_view_event_room(view);

	/* The count is forged if there are more unread events than the buffer can hold. */
	if (!room || cnt - view->event_at > room)
		return false;
	for (; view->event_at < cnt; view->event_at++) {
		event = &events[view->event_at % room];
		if (load64(&event->number) == view->event_at + 1) {
			copy(ret, event, sizeof(*ret));
			view->event_at++;
			return true;
		}
		if (!ended)
			return false;
	}
	return false;
}

bool account_view_traced(struct account_view *view, bool ended, struct account_traced *ret)
{
	const struct account_traced *ring = at(view, ACCOUNT_TRACE, 0);
	uint64_t cnt = load64(&view->account->traced_cnt);
	uint64_t room = view->bytes[ACCOUNT_TRACE] / sizeof(*ring);

	if (!room || cnt < view->traced_at)
		return false;
	/*
	 * If another memleak process reads the same ring, the agent may overwrite entries that this
	 * process has not read: skip them.
	 */
	if (cnt - view->traced_at > room) {
		view->passed += cnt - view->traced_at - room;
		view->traced_at = cnt - room;
	}
	for (; view->traced_at < cnt; view->traced_at++) {
		const struct account_traced *traced = &ring[view->traced_at % room];
		uint64_t number = load64(&traced->number);

		/*
		 * A thread was interrupted while it was writing this entry. To keep the order, wait
		 * until the entry is complete or the process has ended.
		 */
		if (number <= view->traced_at && !ended)
			return false;
		copy(ret, traced, sizeof(*ret));
		if (number == view->traced_at + 1 && load64(&traced->number) == number)
			return true;
		view->passed++;
	}
	return false;
}

void account_view_take_traced(struct account_view *view)
{
	view->traced_at++;
	__atomic_store_n(&view->account->traced_read, view->traced_at, __ATOMIC_RELEASE);
}

void account_view_trace(struct account_view *view, bool with_stacks)
{
	struct account *account = view->account;
	uint32_t modes = ACCOUNT_TRACES | (with_stacks ? ACCOUNT_TRACES_STACKS : 0);

	view->traced_at = load64(&account->traced_cnt);
	if (!(__atomic_load_n(&account->modes, __ATOMIC_ACQUIRE) & ACCOUNT_TRACES))
		__atomic_store_n(&account->traced_read, view->traced_at, __ATOMIC_RELEASE);
	__atomic_fetch_or(&account->modes, modes, __ATOMIC_SEQ_CST);
}

void account_view_trace_no_more(struct account_view *view)
{
	__atomic_fetch_and(&view->account->modes,
			   ~(uint32_t)(ACCOUNT_TRACES | ACCOUNT_TRACES_STACKS), __ATOMIC_SEQ_CST);
}

bool account_view_events_half_full(const struct account_view *view)
{
	return view->event_at - load64(&view->account->event_read) >
	       account_view_event_room(view) / 2;
}

uint32_t account_view_begin_epoch(struct account_view *view, uint64_t now_ns)
{
	struct account *account = view->account;
	uint32_t epoch = __atomic_add_fetch(&account->epoch, 1, __ATOMIC_SEQ_CST);
	__u64 *times = (__u64 *)((char *)account + view->region[ACCOUNT_EPOCH_TIMES]);
	uint64_t most = view->bytes[ACCOUNT_EPOCH_TIMES] / sizeof(*times);

	if (most)
		__atomic_store_n(&times[epoch % most], now_ns, __ATOMIC_RELEASE);
	return epoch;
}

uint32_t account_view_epoch(const struct account_view *view)
{
	return load32(&view->account->epoch);
}

void account_view_keep_ranges(struct account_view *view, const struct ranges *ranges)
{
	struct account_range *kept =
		(struct account_range *)((char *)view->account + view->region[ACCOUNT_RANGES]);
	uint64_t most = view->bytes[ACCOUNT_RANGES] / sizeof(*kept), cnt = 0;

	for (size_t i = 0; i < ranges->cnt && cnt < most; i++) {
		const struct range *range = &ranges->items[i];

		kept[cnt++] = (struct account_range){
			.start = range->start,
			.end = range->end,
			.stack = range->site,
			.birth_ns = range->birth_ns,
			.mapped_size = range->mapped_size,
			.placed_ns = range->placed_ns,
			.tid = (uint32_t)range->tid,
			.kind = range->kind,
			.reserved = range->reserved,
		};
	}
	__atomic_store_n(&view->account->range_cnt, cnt, __ATOMIC_RELEASE);
	__atomic_store_n(&view->account->event_read, view->event_at, __ATOMIC_RELEASE);
}

int account_view_take_ranges(const struct account_view *view, struct ranges *ranges)
{
	const struct account_range *kept = at(view, ACCOUNT_RANGES, 0);
	uint64_t most = view->bytes[ACCOUNT_RANGES] / sizeof(*kept);
	uint64_t cnt = load64(&view->account->range_cnt);
	uint64_t end = 0;
	int err = 0;

	/* Stored mappings are sorted: an empty or misplaced mapping is forged. */
	for (uint64_t i = 0; !err && i < least(cnt, most); i++) {
		struct account_range was;
		struct range range;

		copy(&was, &kept[i], sizeof(was));
		range = (struct range){
			.start = was.start,
			.end = was.end,
			.site = was.stack,
			.birth_ns = was.birth_ns,
			.mapped_size = was.mapped_size,
			.placed_ns = was.placed_ns,
			.tid = (pid_t)was.tid,
			.kind = was.kind < MEMLEAK_KIND_CNT ? was.kind : MEMLEAK_KIND_MMAP,
			.reserved = was.reserved,
		};
		if (range.end <= range.start || range.start < end)
			break;
		end = range.end;
		err = ranges_insert(ranges, &range);
	}
	return err;
}

static void add_thread(const struct account_thread *thread, struct account_totals *ret)
{
	uint64_t largest = load64(&thread->largest);

	for (unsigned int i = 0; i < ACCOUNT_CALL_CNT; i++) {
		ret->calls[i] += load64(&thread->calls[i]);
		ret->asked[i] += load64(&thread->asked[i]);
	}
	ret->failed += load64(&thread->failed);
	ret->earlier_frees += load64(&thread->earlier_frees);
	ret->frees += load64(&thread->frees);
	ret->allocated += load64(&thread->allocated);
	if (largest > ret->largest)
		ret->largest = largest;
}

void account_view_totals(const struct account_view *view, struct account_totals *ret)
{
	const struct account_thread *threads = at(view, ACCOUNT_THREADS, 0);
	const struct account *account = view->account;
	uint64_t cnt = load32(&account->thread_cnt);
	uint64_t most = view->bytes[ACCOUNT_THREADS] / sizeof(*threads);
	int64_t outstanding = __atomic_load_n(&account->sums.outstanding, __ATOMIC_RELAXED);

	*ret = (struct account_totals){
		.allocated = (uint64_t)__atomic_load_n(&account->sums.before, __ATOMIC_RELAXED),
		.outstanding = outstanding > 0 ? (uint64_t)outstanding : 0,
		.peak = (uint64_t)__atomic_load_n(&account->sums.peak, __ATOMIC_RELAXED),
	};
	for (uint64_t i = 0; i < least(least(cnt, most), 1U << ACCOUNT_THREAD_BITS); i++)
		add_thread(&threads[i], ret);
	for (unsigned int i = 0; i < ACCOUNT_CALL_CNT; i++)
		ret->calls[i] -= load64(&account->calls_before[i]);
}
