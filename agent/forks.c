// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * At each fork, begins an epoch, which separates older from newer blocks, and begins the child's
 * account. vfork() and posix_spawn() need neither, as their children use the parent's memory.
 */
#include "agent/forks.h"

#include <dlfcn.h>
#include <string.h>

#include "agent/events.h"
#include "agent/samples.h"
#include "agent/system.h"

static bool follows;

/*
 * Identity of this process's account. A forked child has a copy of it, from which the child knows
 * its parent's account.
 */
static struct {
	uint64_t began_ns;
	uint32_t pid;
} own;

/*
 * Copy of ACCOUNT_FILTER, made before a fork, because the child cannot read its parent's account.
 * The child's filter begins with these counts: the child inherits the samples that they count.
 */
static uint8_t filter[SAMPLES_FILTER_BYTES];

/* time of the fork in progress, 0 if there is none */
static __thread uint64_t forked_ns __attribute__((tls_model("initial-exec")));

static uint64_t begin_epoch(struct account *account)
{
	uint32_t epoch = __atomic_add_fetch(&account->epoch, 1, __ATOMIC_SEQ_CST);
	uint64_t now_ns = system_ns();

	__atomic_store_n(epoch_ns(account, epoch), now_ns, __ATOMIC_RELEASE);
	return now_ns;
}

/*
 * Prepares a fork. Allocations and frees that other threads make between this call and the fork may
 * count as made before or after the fork.
 */
static void before_fork(void)
{
	struct account *account = gate.account;

	if (!account || !follows)
		return;
	forked_ns = begin_epoch(account);
	__atomic_store_n(&account->last_fork_ns, forked_ns, __ATOMIC_RELAXED);
	if (__atomic_fetch_or(&account->modes, ACCOUNT_FORKED, __ATOMIC_SEQ_CST) & ACCOUNT_FILTERS)
		memcpy(filter, gate.filter, sizeof(filter));
	events_add(account,
		   &(struct account_event){.type = ACCOUNT_EVENT_FORK, .time_ns = forked_ns},
		   ACCOUNT_LOST_MAPPINGS);
}

static void in_parent(void)
{
	forked_ns = 0;
}

static void in_child(void)
{
	if (forked_ns)
		agent_begin();
	forked_ns = 0;
}

/*
 * Looks up the function that registers fork handlers, by name: glibc exports __register_atfork(),
 * musl pthread_atfork().
 */
void forks_load(void)
{
	typedef int at_fork(void (*before)(void), void (*parent)(void), void (*child)(void),
			    void *library);
	at_fork *function = (at_fork *)dlsym(RTLD_DEFAULT, "__register_atfork");

	if (!function)
		function = (at_fork *)dlsym(RTLD_DEFAULT, "pthread_atfork");
	if (function)
		function(before_fork, in_parent, in_child, NULL);
}

void forks_follow(void)
{
	follows = true;
}

void forks_describe(struct account *account)
{
	if (forked_ns) {
		account->parent_pid = own.pid;
		account->parent_began_ns = own.began_ns;
		account->forked_ns = forked_ns;
		if (account->modes & ACCOUNT_FILTERS)
			memcpy(region(account, ACCOUNT_FILTER), filter, sizeof(filter));
		account->modes |= ACCOUNT_INHERITS;
	}
	own.pid = account->pid;
	own.began_ns = account->began_ns;
}

void forks_freed_shared(struct account *account, uint64_t addr, const struct account_cell *cell)
{
	uint64_t last_ns = __atomic_load_n(&account->last_fork_ns, __ATOMIC_RELAXED);

	if (cell->life >> ACCOUNT_BIRTH_SHIFT > ACCOUNT_BIRTH(last_ns))
		return;
	events_add(account,
		   &(struct account_event){
			   .type = ACCOUNT_EVENT_FREED_SHARED,
			   .time_ns = system_ns(),
			   .addr = addr,
			   .len = cell->block,
			   .stack = (uint32_t)cell->life,
			   .flags = (uint32_t)(cell->life >> 32),
		   },
		   ACCOUNT_LOST_INHERITED);
}

void forks_freed_inherited(struct account *account, uint64_t addr)
{
	if (__atomic_load_n(&account->modes, __ATOMIC_RELAXED) & ACCOUNT_FILTERS) {
		if (!samples_may_have(addr))
			return;
		samples_taken(addr);
	}
	events_add(account,
		   &(struct account_event){.type = ACCOUNT_EVENT_FREED_INHERITED,
					   .time_ns = system_ns(),
					   .addr = addr},
		   ACCOUNT_LOST_INHERITED);
}
