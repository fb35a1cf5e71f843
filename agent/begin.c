// SPDX-License-Identifier: GPL-2.0-or-later
/* Begins the account of a program or of a forked child, and adds threads to the account. */
#include <fcntl.h>
#include <linux/memfd.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/allocators.h"
#include "agent/call_tree.h"
#include "agent/forks.h"
#include "agent/samples.h"
#include "agent/scripts.h"
#include "agent/stacks.h"
#include "agent/system.h"
#include "agent/walk.h"

#define PAGE 4096ULL

/*
 * Maximum attempts to map an account within the resource limits. Each retry halves the regions of
 * spills and chunks.
 */
#define HALVES 8U

/*
 * Number of threads after which the numbers of ended threads are reused. Blocks of an ended thread
 * are then shown as blocks of the thread that has the number now.
 */
#define NUMBERS_BEFORE_REUSE (1U << 15)
/* Maximum numbers that a new thread checks to find the number of an ended thread */
#define REUSE_TRIES 64U
#define NUMBERS_MAX ((1U << ACCOUNT_THREAD_BITS) - 1)

struct gate gate __attribute__((aligned(4096), visibility("hidden")));
__thread struct thread self;

/* For gdb: `p *memleak_agent` shows the account. */
__attribute__((visibility("default"))) const volatile struct account *memleak_agent;

enum { NOT_YET, BEGINNING, OPEN, OFF };

static int state; /* NOT_YET, BEGINNING, OPEN or OFF */

static bool is_bypassed;

static pthread_key_t ends; /* key whose destructor is end_thread() */
static bool knows_ends;

/*
 * memleak's options for the agent, as found in the environment: PARENT:FLAGS:SOCKET. FLAGS has
 * letters and numbers: the first number is the stack depth, and each other number follows its
 * letter.
 */
struct orders {
	/* if not 0: only this process's children begin an account, unless `follow` is set */
	uint32_t parent;
	bool follow;           /* flag f: also begin accounts in forked children */
	uint64_t depth;        /* depth of stacks, 0 for the default */
	uint64_t sample_bytes; /* flag b: bytes per sample */
	/* flag s: blocks per sample; if b and s are both 0, all blocks are recorded */
	uint64_t sample_rate;
	bool adds_up;        /* flag p: maintain sums */
	bool counts;         /* flag c: count requested bytes */
	unsigned int traces; /* flag t: trace each call; tt: also stacks of frees */
	/* name of the abstract socket to which the account is sent, or NULL */
	const char *socket;
};

static const char *read_flags(const char *at, struct orders *ret)
{
	uint64_t *number = &ret->depth;

	for (; *at && *at != ':'; at++) {
		if (*at == 'f')
			ret->follow = true;
		else if (*at == 'b')
			number = &ret->sample_bytes;
		else if (*at == 'p')
			ret->adds_up = true;
		else if (*at == 'c')
			ret->counts = true;
		else if (*at == 't')
			ret->traces++;
		else if (*at == 's')
			number = &ret->sample_rate;
		else if (*at >= '0' && *at <= '9')
			*number = *number * 10 + (uint64_t)(*at - '0');
	}
	return at;
}

static struct orders read_orders(void)
{
	struct orders orders = {.follow = true};
	const char *at = NULL;

	for (char **entry = environ; *entry && !at; entry++)
		if (!strncmp(*entry, ACCOUNT_ENV "=", sizeof(ACCOUNT_ENV)))
			at = *entry + sizeof(ACCOUNT_ENV);
	if (!at)
		return orders;
	for (; *at >= '0' && *at <= '9'; at++)
		orders.parent = orders.parent * 10 + (uint32_t)(*at - '0');
	orders.follow = false;
	at = read_flags(at + (*at == ':'), &orders);
	if (*at == ':' && at[1])
		orders.socket = at + 1;
	return orders;
}

/*
 * Sets the offsets of the regions, with spills and chunks halved `halves` times. Returns the
 * account's size.
 */
static uint64_t lay_out(__u64 region[ACCOUNT_REGION_CNT], unsigned int halves)
{
	uint64_t at = (sizeof(struct account) + PAGE - 1) & ~(PAGE - 1);

	for (unsigned int i = 0; i < ACCOUNT_REGION_CNT; i++) {
		uint64_t bytes = account_region_most(i) >> (i >= ACCOUNT_SPILLS ? halves : 0);

		region[i] = at;
		at += (bytes + PAGE - 1) & ~(PAGE - 1);
	}
	return at;
}

static uint64_t limit_of(int resource)
{
	struct rlimit limit = {0};
	long err = system_call(SYS_prlimit64, 0, resource, 0, (long)&limit, 0, 0);

	return err ? RLIM_INFINITY : limit.rlim_cur;
}

/* Returns the maximum size of an account. A file larger than RLIMIT_FSIZE would raise SIGXFSZ. */
static uint64_t bytes_allowed(void)
{
	uint64_t address_space = limit_of(RLIMIT_AS) / 4, file = limit_of(RLIMIT_FSIZE);

	return address_space < file ? address_space : file;
}

/* Creates the account in a memfd and maps it. Returns the account, NULL on failure. */
static struct account *make_account(int *ret_fd)
{
	long fd = system_call(SYS_memfd_create, (long)ACCOUNT_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING,
			      0, 0, 0, 0);
	uint64_t most = bytes_allowed(), bytes = 0;
	__u64 region[ACCOUNT_REGION_CNT];
	struct account *account;
	long addr = -1;

	if (system_error(fd))
		return NULL;
	for (unsigned int halves = 0; halves < HALVES && system_error(addr); halves++) {
		bytes = lay_out(region, halves);
		if (bytes <= most && !system_call(SYS_ftruncate, fd, (long)bytes, 0, 0, 0, 0))
			addr = system_call(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_NORESERVE, fd, 0);
	}
	/*
	 * Exclude all but the first part of the account from core dumps: reading the sparse regions
	 * for a dump would allocate their pages.
	 */
	if (!system_error(addr) &&
	    (system_call(SYS_madvise, addr, (long)bytes, MADV_DONTFORK, 0, 0, 0) ||
	     system_call(SYS_madvise, addr + (long)region[0], (long)(bytes - region[0]),
			 MADV_DONTDUMP, 0, 0, 0))) {
		system_call(SYS_munmap, addr, (long)bytes, 0, 0, 0, 0);
		addr = -1;
	}
	if (system_error(addr)) {
		system_call(SYS_close, fd, 0, 0, 0, 0, 0);
		return NULL;
	}
	/* The account is sparse: huge pages, if used for all shared memory, would make it large. */
	system_call(SYS_madvise, addr, (long)bytes, MADV_NOHUGEPAGE, 0, 0, 0);
	/* Seal the file, so that readers can rely on its size. */
	system_call(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, 0, 0, 0);
	account = (struct account *)addr;
	account->bytes = account->end = bytes;
	memcpy(account->region, region, sizeof(region));
	account->page_size = PAGE;
	account->pid = (uint32_t)system_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
	account->began_ns = *epoch_ns(account, 0) = system_ns();
	call_tree_begin(account);
	*ret_fd = (int)fd;
	return account;
}

/*
 * Sends the account's descriptor to memleak, without waiting. Gives up if memleak's queue is full:
 * memleak can still find the account in /proc, as for programs that a user has started with the
 * agent.
 */
static bool send_account(const char *name, int fd)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	size_t len = strlen(name);
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = {0};
	uint8_t byte = 0;
	struct iovec data = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	long sock, sent = -1;

	if (len + 1 > sizeof(addr.sun_path))
		return false;
	memcpy(addr.sun_path + 1, name, len);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	sock = system_call(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0,
			   0, 0);
	if (system_error(sock))
		return false;
	if (!system_call(SYS_connect, sock, (long)&addr,
			 (long)(offsetof(struct sockaddr_un, sun_path) + 1 + len), 0, 0, 0))
		sent = system_call(SYS_sendmsg, sock, (long)&message, MSG_NOSIGNAL, 0, 0, 0);
	system_call(SYS_close, sock, 0, 0, 0, 0, 0);
	return !system_error(sent);
}

/*
 * Closes the account's descriptor if it was sent to memleak. Otherwise moves it to a high number,
 * which the program is unlikely to use; memleak can then open the account through /proc.
 */
static void put_away(int fd, bool is_sent)
{
	long high = is_sent ? 0 : system_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, ACCOUNT_FD, 0, 0, 0);

	/* If high numbers are not allowed, the descriptor keeps its number. */
	if (!system_error(high))
		system_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

static void open_gate(struct account *account)
{
	gate.threads = region(account, ACCOUNT_THREADS);
	gate.directory = region(account, ACCOUNT_DIRECTORY);
	gate.chunks = region(account, ACCOUNT_CHUNKS);
	gate.spills = region(account, ACCOUNT_SPILLS);
	gate.frames = region(account, ACCOUNT_FRAMES);
	gate.filter = region(account, ACCOUNT_FILTER);
	memleak_agent = account;
	__atomic_store_n(&gate.account, account, __ATOMIC_RELEASE);
}

static bool begin(const struct orders *orders)
{
	struct account *account = NULL;
	int fd;

	if (!system_call(SYS_madvise, (long)&gate, sizeof(gate), MADV_WIPEONFORK, 0, 0, 0))
		account = make_account(&fd);
	if (!account)
		return false;
	if (orders->sample_bytes || orders->sample_rate) {
		account->sample_bytes = orders->sample_bytes;
		account->sample_rate = orders->sample_rate;
		account->modes = ACCOUNT_SAMPLES | ACCOUNT_FILTERS;
	}
	if (orders->adds_up)
		account->modes |= ACCOUNT_ADDS_UP;
	if (orders->counts)
		account->modes |= ACCOUNT_COUNTS;
	if (orders->traces)
		account->modes |= ACCOUNT_TRACES;
	if (orders->traces > 1)
		account->modes |= ACCOUNT_TRACES_STACKS;
	account->depth = walk_set_depth((uint32_t)orders->depth);
	account->is_bypassed = is_bypassed;
	account->interpreter = scripts_interpreter();
	if (orders->follow && orders->socket)
		forks_follow();
	forks_describe(account);
	/* From now on, memleak can find the account in /proc. */
	__atomic_store_n(&account->magic, ACCOUNT_MAGIC, __ATOMIC_RELEASE);
	put_away(fd, orders->socket && send_account(orders->socket, fd));
	open_gate(account);
	return true;
}

/*
 * Begins an account in a forked child. Discards all remembered stacks, as a signal handler may have
 * forked while a stack was being walked.
 */
static bool begin_again(const struct orders *orders)
{
	if (!orders->follow)
		return false;
	self.account = NULL;
	stacks_forget();
	return begin(orders);
}

bool agent_begin(void)
{
	int seen = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
	struct orders orders;
	bool done;

	/*
	 * While environ is NULL, the C library is not initialised, and memleak's options are
	 * unknown.
	 */
	if (seen == OFF || seen == BEGINNING || !environ ||
	    !__atomic_compare_exchange_n(&state, &seen, BEGINNING, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return false;
	orders = read_orders();
	if (seen == NOT_YET)
		done = (!orders.parent || orders.follow ||
			orders.parent == (uint32_t)system_call(SYS_getppid, 0, 0, 0, 0, 0, 0)) &&
		       begin(&orders);
	else
		done = begin_again(&orders);
	__atomic_store_n(&state, done ? OPEN : OFF, __ATOMIC_RELEASE);
	return done;
}

void thread_free_number(void)
{
	struct account_thread *counts =
		self.account && self.account == gate.account ? self.counts : NULL;

	self.account = NULL;
	self.number = 0;
	if (counts)
		__atomic_store_n(&counts->has_ended, 1, __ATOMIC_RELEASE);
}

/*
 * Runs when a thread ends: frees its memo (its remembered stacks) and its number. If later
 * destructors allocate memory, the thread gets a new memo and a new number.
 */
static void end_thread(void *memo)
{
	self.memo = NULL;
	self.has_ended = 1;
	memo_free(memo);
	thread_free_number();
}

void thread_begin_memo(void)
{
	self.memo = memo_new();
	if (knows_ends && self.memo)
		pthread_setspecific(ends, self.memo);
}

/*
 * Sets the range of the thread's own stack, self.low to self.high, to one page, extended downwards
 * later. On the main stack, this is the page of the AT_RANDOM bytes, which are above all frames; on
 * other stacks, that of the thread pointer. Not called in a forked child, which keeps the range of
 * the thread that forked.
 */
static void find_stack(bool is_main)
{
	uint64_t own =
		is_main ? (uint64_t)getauxval(AT_RANDOM) : (uint64_t)__builtin_thread_pointer();

	self.low = own & ~(PAGE - 1);
	self.high = self.low + PAGE;
}

/* Takes the number of a thread that has ended. Returns 0 if none is found. */
static uint32_t reuse_number(const struct account *account)
{
	static uint32_t next;
	uint32_t cnt = __atomic_load_n(&account->thread_cnt, __ATOMIC_RELAXED);

	if (cnt > NUMBERS_MAX)
		cnt = NUMBERS_MAX;
	for (uint32_t i = 0; cnt >= NUMBERS_BEFORE_REUSE && i < REUSE_TRIES; i++) {
		uint32_t at = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % cnt, ended = 1;

		if (__atomic_compare_exchange_n(&gate.threads[at].has_ended, &ended, 0, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return at + 1;
	}
	return 0;
}

/* Takes a number that no thread has had. Returns 0 if there is none. */
static uint32_t new_number(struct account *account)
{
	uint32_t number = __atomic_add_fetch(&account->thread_cnt, 1, __ATOMIC_RELAXED);

	if (number <= NUMBERS_MAX)
		return number;
	__atomic_fetch_sub(&account->thread_cnt, 1, __ATOMIC_RELAXED);
	return 0;
}

bool thread_begin(struct account *account)
{
	uint32_t number = reuse_number(account), tid = system_tid();

	if (!number)
		number = new_number(account);
	if (!number) {
		lose(account, ACCOUNT_LOST_THREADS);
		return false;
	}
	self.number = number;
	self.counts = &gate.threads[number - 1];
	self.counts->tid = tid;
	if (!self.high)
		find_stack(tid == account->pid);
	self.foreign_low = self.foreign_high = 0;
	self.countdown = 0;
	self.random = mix(mix(system_ns(), tid), (uint64_t)&self);
	self.account = account;
	/*
	 * The C library may allocate memory for the key, so the thread must be complete. After the
	 * last destructor, nothing would free the memo.
	 */
	if (!self.memo && !self.has_ended)
		thread_begin_memo();
	return true;
}

/*
 * Runs when the agent is loaded. Libraries loaded earlier may already have called malloc(), which
 * began the account.
 */
static __attribute__((constructor)) void load(void)
{
	pthread_key_t key;

	allocators_find();
	is_bypassed = allocators_are_bypassed();
	if (gate.account)
		gate.account->is_bypassed = is_bypassed;
	system_find_clock();
	forks_load();
	scripts_load();
	if (gate.account)
		gate.account->interpreter = scripts_interpreter();
	if (!pthread_key_create(&key, end_thread)) {
		ends = key;
		knows_ends = true;
	}
	if (!gate.account)
		agent_begin();
}
