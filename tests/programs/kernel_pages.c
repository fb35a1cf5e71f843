// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Things (see kernel_things.h) for which the kernel allocates whole pages, blocks too large for the
 * slab allocator, or per-CPU memory.
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/if_packet.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "kernel_things.h"

#define PAGE 4096
#define HUGE_PAGE (2 << 20)

/* Pipes with SIZE pages of data. */

static struct handles pipes[2];

static void pipes_init(int cnt, int size)
{
	must(size <= 16, "a pipe has 16 pages");
	handles_init(&pipes[0], cnt);
	handles_init(&pipes[1], cnt);
}

static void pipes_make(int i, int size)
{
	static char data[16 * PAGE];
	int fds[2];

	must(!pipe2(fds, O_CLOEXEC | O_NONBLOCK), "pipe");
	must(write(fds[1], data, (size_t)size * PAGE) == (ssize_t)size * PAGE, "write to a pipe");
	pipes[0].at[i] = fds[0];
	pipes[1].at[i] = fds[1];
}

static void pipes_drop(int i, int size)
{
	close(pipes[0].at[i]);
	close(pipes[1].at[i]);
}

static long page_bytes(int size)
{
	return PAGE;
}

static int size_blocks(int size)
{
	return size;
}

/*
 * Pipes with room for 256 pages: each has an array of 256 * 40 bytes. This is too large for the
 * slab allocator, which takes the array from the page allocator. Both allocators report the array,
 * but it is one block.
 */
static struct handles arrays;

static void arrays_init(int cnt, int size)
{
	handles_init(&arrays, cnt);
}

static void arrays_make(int i, int size)
{
	int fds[2];

	must(!pipe2(fds, O_CLOEXEC), "pipe");
	close(fds[0]);
	must(fcntl(fds[1], F_SETPIPE_SZ, 256 * PAGE) == 256 * PAGE, "F_SETPIPE_SZ");
	arrays.at[i] = fds[1];
}

static void arrays_drop(int i, int size)
{
	close(arrays.at[i]);
}

static long arrays_bytes(int size)
{
	return 4 * PAGE;
}

/* Packet rings of SIZE blocks of four pages. */

static struct handles rings;

static void rings_init(int cnt, int size)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0)
		missing("packet sockets");
	close(fd);
	handles_init(&rings, cnt);
}

static void rings_make(int i, int size)
{
	struct tpacket_req ring = {
		.tp_block_size = 4 * PAGE,
		.tp_block_nr = size,
		.tp_frame_size = 2048,
		.tp_frame_nr = size * 8,
	};

	rings.at[i] = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	must(rings.at[i] >= 0, "packet socket");
	must(!setsockopt(rings.at[i], SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)),
	     "PACKET_RX_RING");
}

static void rings_drop(int i, int size)
{
	close(rings.at[i]);
}

static long rings_bytes(int size)
{
	return 4 * PAGE;
}

/*
 * Huge pages. Because one page in each huge page is marked by MADV_FREE, the kernel splits the huge
 * page. Then the upper half is freed page by page.
 */

#define KPF_THP 22

static struct handles huge;
static int pagemap = -1, kpageflags = -1;

static void huge_init(int cnt, int size)
{
	pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	kpageflags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	if (pagemap < 0 || kpageflags < 0)
		missing("page flags");
	handles_init(&huge, cnt);
}

static int is_huge(const char *p)
{
	uint64_t entry, flags;

	must(pread(pagemap, &entry, 8, (uintptr_t)p / PAGE * 8) == 8, "pagemap");
	entry &= (1ULL << 55) - 1;
	must(pread(kpageflags, &flags, 8, entry * 8) == 8, "kpageflags");
	return flags >> KPF_THP & 1;
}

static void huge_make(int i, int size)
{
	char *p = mmap(NULL, 2 * HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	char *start = (char *)(((uintptr_t)p + HUGE_PAGE - 1) & -(uintptr_t)HUGE_PAGE);

	must(p != MAP_FAILED, "mmap");
	munmap(p, start - p);
	munmap(start + HUGE_PAGE, HUGE_PAGE - (start - p));
	madvise(start, HUGE_PAGE, MADV_HUGEPAGE);
	memset(start, 1, HUGE_PAGE);
	if (!is_huge(start))
		missing("free huge pages");
	madvise(start + PAGE, PAGE, MADV_FREE);
	if (is_huge(start))
		missing("way to split a huge page");
	/* Keeps khugepaged from merging the remaining half into a huge page again. */
	madvise(start, HUGE_PAGE, MADV_NOHUGEPAGE);
	madvise(start + HUGE_PAGE / 2, HUGE_PAGE / 2, MADV_DONTNEED);
	huge.at[i] = (long)start;
}

static void huge_drop(int i, int size)
{
	munmap((void *)huge.at[i], HUGE_PAGE);
}

static long huge_bytes(int size)
{
	return HUGE_PAGE / 2;
}

/* Per-CPU BPF maps with SIZE elements. */

static struct handles percpu;

static void maps_init(int cnt, int size)
{
	const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};

	setrlimit(RLIMIT_MEMLOCK, &all); /* older kernels count BPF maps as locked memory */
	handles_init(&percpu, cnt);
}

static void maps_make(int i, int size)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_PERCPU_ARRAY,
		.key_size = 4,
		.value_size = 64,
		.max_entries = size,
	};

	percpu.at[i] = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	must(percpu.at[i] >= 0, "BPF_MAP_CREATE");
}

static void maps_drop(int i, int size)
{
	close(percpu.at[i]);
}

const struct thing page_things[] = {
	{"pipes", "page", 8, pipes_init, pipes_make, pipes_drop, page_bytes, size_blocks},
	{"arrays", "slab", 0, arrays_init, arrays_make, arrays_drop, arrays_bytes, NULL},
	{"rings", "page", 4, rings_init, rings_make, rings_drop, rings_bytes, size_blocks},
	{"huge", "page", 0, huge_init, huge_make, huge_drop, huge_bytes, NULL},
	{"maps", "percpu", 16, maps_init, maps_make, maps_drop, NULL, size_blocks},
	{0},
};
