// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts and finishes the proofs of reports. */
#include "app/prover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "loader/probes/file_system.h"
#include "loader/target/child.h"

/*
 * Time in nanoseconds after which a proof in progress is logged for the first time, and interval of
 * further messages
 */
#define FIRST_MESSAGE_NS 1000000000ULL
#define MESSAGE_NS 5000000000ULL

/*
 * Maximum lifetime, in nanoseconds, of the copy of a process in which a proof searches memory.
 * While the copy exists, the kernel has to copy each page to which the process writes.
 */
#define PROOF_NS 120000000000ULL

static void log_no_proofs(int err)
{
	if (err == -EOPNOTSUPP)
		log_error(
			"proofs are not possible: the kernel rejects the BPF program for threads, "
			"and without it, system calls of the target could fail");
	else
		log_error("cannot prepare proofs: %s", strerror(-err));
}

int prover_init(const struct options *opts, struct prover *ret)
{
	int err;

	*ret = (struct prover){.opts = opts, .reports = UINT64_MAX};
	if (opts->prove)
		file_system_refuse_served();
	err = opts->prove ? proof__new(options_take_several(opts), &ret->proof) : 0;
	if (err)
		log_no_proofs(err);
	else if (opts->census)
		proof__want_census(ret->proof);
	return err;
}

void prover_deinit(struct prover *prover)
{
	proof__free(prover->proof);
	prover->proof = NULL;
}

int prover_watch(struct prover *prover, struct child *child)
{
	int err;

	if (!prover->proof || !child->stopped) {
		child_release(child);
		return 0;
	}
	child_hand_over(child);
	err = proof__watch_end(prover->proof, child->pid);
	if (err)
		log_error("cannot watch for the command's end: %s%s", strerror(-err),
			  err == -EPERM
				  ? " (kernel.yama.ptrace_scope must be at most 1, or memleak "
				    "needs CAP_SYS_PTRACE)"
				  : "");
	else
		prover->watched = child->pid;
	child_go_on(child);
	return err;
}

int prover_end_fd(const struct prover *prover)
{
	return prover->watched ? proof__end_fd(prover->proof) : -1;
}

bool prover_note_end(struct prover *prover, struct source *source)
{
	if (!prover->watched || !proof__note_end(prover->proof))
		return false;
	prover->at_end = true;
	source->ops->at_end(source, prover->watched);
	return true;
}

static const char *obstacle(const struct options *opts)
{
	if (!options_trace_processes(opts))
		return "no proof: only memory of processes is searched, not kernel memory";
	if (opts->combined_only || opts->sample_bytes || opts->sample_rate > 1)
		return "no proof: --combined-only and sampling do not keep all blocks, which a "
		       "proof needs";
	return opts->agent ? "no proof: with --agent, memleak must be started with --prove" : NULL;
}

int prover_want(struct prover *prover)
{
	const char *words = prover->opts->prove ? NULL : obstacle(prover->opts);
	int err = 0;

	if (words) {
		log_note("%s", words);
		return -ENOTSUP;
	}
	if (!prover->proof)
		err = proof__new(options_take_several(prover->opts), &prover->proof);
	if (err)
		log_no_proofs(err);
	prover->wanted = err ? 0 : 2;
	return err;
}

/* True if the next report gets a proof. Updates the state that this depends on. */
static bool is_time(struct prover *prover, enum proof_time time)
{
	bool now = time == PROOF_NOW || prover->wanted || prover->at_end;

	prover->wanted -= prover->wanted > 0;
	prover->at_end = false;
	if (!now && (time == PROOF_NOT_NOW || prover->reports < prover->opts->prove_every - 1)) {
		prover->reports++;
		return false;
	}
	prover->reports = 0;
	return true;
}

int prover_begin(struct prover *prover, struct source *source, enum proof_time time,
		 uint64_t *ret_before_ns)
{
	cleanup_free struct traced_process *processes = NULL;
	size_t cnt;
	int err;

	/* A termination signal may have cancelled the report after its pictures were taken. */
	prover_cancel(prover);
	*ret_before_ns = 0;
	if (!prover->proof || (!prover->opts->prove && !prover->wanted))
		return 0;
	if (!is_time(prover, time))
		return 0;
	err = source->ops->processes(source, &processes, &cnt);
	if (!err && source->ops->expect_pictures)
		source->ops->expect_pictures(source);
	if (!err)
		err = proof__begin(prover->proof, processes, cnt, clock_deadline_ns(PROOF_NS),
				   ret_before_ns);
	prover->begun = !err;
	return err;
}

/*
 * Logs at intervals that a proof is in progress. Called by several threads. Always returns false:
 * the proof is not cancelled.
 */
static bool log_progress(void *arg)
{
	struct prover *prover = arg;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t next_message_ns = __atomic_load_n(&prover->next_message_ns, __ATOMIC_RELAXED);

	if (now_ns > next_message_ns &&
	    __atomic_compare_exchange_n(&prover->next_message_ns, &next_message_ns,
					now_ns + MESSAGE_NS, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		log_note("looking for pointers in the memory of the traced processes ...");
	return false;
}

int prover_finish(struct prover *prover, struct snapshot *snap)
{
	int err;

	if (!prover->begun)
		return 0;
	prover->begun = false;
	prover->next_message_ns = clock_deadline_ns(FIRST_MESSAGE_NS);
	err = proof__finish(prover->proof, snap, log_progress, prover);
	return err == -ECANCELED ? 0 : err;
}

pid_t prover_copy_of(const struct prover *prover, uint32_t image)
{
	return prover->begun ? proof__copy_of(prover->proof, image) : 0;
}

void prover_cancel(struct prover *prover)
{
	if (prover->begun)
		proof__cancel(prover->proof);
	prover->begun = false;
}
