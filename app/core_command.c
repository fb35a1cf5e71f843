// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memleak core: makes a report of the heap in a core file, by the same steps as for a snapshot of a
 * running process.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "app/commands.h"
#include "app/core_account.h"
#include "app/core_sorts.h"
#include "app/core_space.h"
#include "app/reporter.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/regular_file.h"
#include "proof/core_proof.h"
#include "sinks/sink.h"

/* Maximum number of threads whose current functions are looked up */
#define NAMED_THREADS 256

struct core_run {
	const struct options *opts;
	struct core_file core;
	struct core_sorts sorts;
	struct core_space space;
	struct process process;
	struct snapshot snap;
};

/* True if the file is compressed in a format that is usual for core dumps. */
static bool is_packed(int fd)
{
	static const char *const begins[] = {"\x28\xb5\x2f\xfd",
					     ("\xfd"
					      "7zXZ"),
					     "\x04\x22\x4d\x18", "\x1f\x8b"};
	char begin[8] = "";

	if (pread(fd, begin, sizeof(begin), 0) < 4)
		return false;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!memcmp(begin, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static void say_error(const char *path, int err, bool packed)
{
	if (packed)
		log_error("%s is compressed: unpack it first (coredumpctl dump -o FILE, zstd -d, "
			  "xz -d)",
			  path);
	else if (err == -ENOEXEC || err == -EINVAL)
		log_error("%s: not a core file", path);
	else if (err == -ENOTSUP)
		log_error("%s: unsupported machine: only x86-64 and aarch64 are supported", path);
	else if (err == -EBADMSG)
		log_error("%s: invalid or truncated program headers", path);
	else
		log_error("cannot read %s: %s", path, strerror(-err));
}

static int open_core(const char *path, struct core_file *ret)
{
	struct stat st;
	int fd = regular_file_open(AT_FDCWD, -1, path, LINKS_ALL, &st), err = fd;
	bool packed = fd >= 0 && is_packed(fd);

	if (fd >= 0)
		err = core_file_init(fd, ret);
	if (err)
		say_error(path, err, packed);
	else
		core_account_leave_out(ret);
	return err < 0 ? err : 0;
}

/*
 * If the command line names the program's file, sets *ret to the file's real path, to be freed;
 * otherwise sets *ret to NULL. The path replaces the program's path in the mappings of the core
 * file, so it must be absolute. Logs if the file cannot be read. Returns 0 or a negative errno.
 */
static int find_executable(const struct options *opts, char **ret)
{
	struct stat st;
	int fd;

	*ret = NULL;
	if (opts->file_cnt < 2)
		return 0;
	fd = regular_file_open(AT_FDCWD, -1, opts->files[1], LINKS_ALL, &st);
	if (fd < 0) {
		log_error("cannot read %s: %s", opts->files[1],
			  fd == -ENOEXEC ? "not a file" : strerror(-fd));
		return fd;
	}
	close(fd);
	*ret = realpath(opts->files[1], NULL);
	return *ret ? 0 : -errno;
}

/* Looks up which function each thread was executing when the process was dumped. */
static int name_threads(struct core_run *run, struct core_thread *threads, size_t cnt)
{
	cleanup_free const struct sym_location **locations = calloc(cnt + 1, sizeof(*locations));
	cleanup_free struct sym_query *queries = calloc(cnt + 1, sizeof(*queries));
	int err;

	if (!locations || !queries)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		queries[i] = (struct sym_query){.addr = threads[i].pc, .exact = true};
	err = symspace__resolve(run->space.space, queries, cnt, UINT64_MAX, locations);
	for (size_t i = 0; !err && i < cnt; i++) {
		threads[i].module = locations[i]->module;
		threads[i].function = locations[i]->frames[0].symbol;
		threads[i].file = locations[i]->frames[0].file;
		threads[i].line = locations[i]->frames[0].line;
	}
	return err;
}

static int fill_facts(struct core_run *run)
{
	const struct core_notes *notes = &run->core.notes;
	const size_t cnt = notes->threads.cnt;
	struct core_thread *threads = arena_take(&run->snap.arena, (cnt + 1) * sizeof(*threads));
	const struct core_facts facts = {
		.path = run->opts->files[0],
		.program = notes->name,
		.arguments = notes->arguments,
		.pid = notes->pid,
		.signal = notes->signal,
		.threads = threads,
		.thread_cnt = cnt,
		.memory_bytes = run->core.content_bytes,
		.missing_bytes = run->core.missing_bytes,
		.absent_bytes = run->core.absent_bytes,
		.used = run->sorts.used,
		.free_ = run->sorts.free_,
		.own_bytes = run->sorts.own_bytes,
	};

	run->snap.core = arena_copy(&run->snap.arena, &facts, sizeof(facts));
	if (run->opts->census)
		run->snap.census =
			arena_copy(&run->snap.arena, &run->sorts.census, sizeof(run->sorts.census));
	if (!threads || !run->snap.core || (run->opts->census && !run->snap.census))
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		threads[i] = (struct core_thread){.tid = notes->threads.items[i].tid,
						  .pc = notes->pcs[i]};
	return name_threads(run, threads, cnt < NAMED_THREADS ? cnt : NAMED_THREADS);
}

/*
 * Makes a proof if a heap was found and the core file is complete: a missing part of the memory may
 * have pointers to any block.
 */
static int prove(struct core_run *run)
{
	if (run->core.missing_bytes) {
		log_note("%s is truncated: no proof is made, as %" PRIu64 " bytes of memory are "
			 "missing",
			 run->opts->files[0], run->core.missing_bytes);
		return 0;
	}
	if (!run->sorts.heap.block_cnt)
		return 0;
	return core_proof_fill(&run->core, &run->sorts.heap, NULL, NULL, &run->snap);
}

static int make_snapshot(struct core_run *run)
{
	struct stat st;
	int err = core_sorts_init(&run->core, &run->sorts);

	if (err)
		return err;
	if (!run->sorts.heap.block_cnt)
		log_note("%s has no glibc heap: other allocators are not supported",
			 run->opts->files[0]);
	err = core_sorts_name(&run->sorts, run->space.space, UINT64_MAX);
	run->process = (struct process){.pid = run->core.notes.pid, .comm = run->core.notes.name};
	if (!fstat(run->core.fd, &st))
		run->snap.wall_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	if (!err)
		err = core_sorts_sites(&run->sorts, &run->process, &run->snap);
	if (!err)
		err = fill_facts(run);
	return err ? err : prove(run);
}

static int open_output(const struct options *opts, struct output *ret)
{
	const struct sink *sink = sink_for(opts->format);
	int err = output_init(ret, opts->output, !format_holds_reports(opts->format), sink->binary);

	for (size_t i = 0; !err && i < opts->file_cnt; i++)
		if (output_is(ret, opts->files[i])) {
			log_error("--output %s is also an input file", opts->output);
			err = -EINVAL;
		}
	return err ? err : output_empty(ret);
}

static int report(struct core_run *run, struct output *out, enum last_verdict *ret_verdict)
{
	struct reporter reporter;
	int err = reporter_init(run->opts, &run->space.backend, out, &reporter);

	if (err)
		return err;
	reporter.recorded = true;
	reporter.last = true;
	err = reporter_add(&reporter, &run->snap, UINT64_MAX, true, true);
	*ret_verdict = reporter.verdict;
	reporter_deinit(&reporter);
	return err;
}

static int look_at(struct core_run *run, const char *executable, enum last_verdict *ret_verdict)
{
	struct output out = {.fd = -1};
	int err = core_space_init(&run->core, executable, &run->space);

	run->space.sorts = &run->sorts;
	if (!err)
		err = make_snapshot(run);
	if (err)
		log_error("cannot analyse %s: %s", run->opts->files[0], strerror(-err));
	if (!err)
		err = open_output(run->opts, &out);
	if (!err)
		err = report(run, &out, ret_verdict);
	output_deinit(&out);
	return err;
}

int core_command(const struct options *opts)
{
	struct core_run run = {.opts = opts};
	cleanup_free char *executable = NULL;
	enum last_verdict verdict = VERDICT_CLEAN;
	int err = find_executable(opts, &executable);

	if (!err)
		err = open_core(opts->files[0], &run.core);
	if (err)
		return EXIT_CANNOT;
	err = look_at(&run, executable, &verdict);
	snapshot_deinit(&run.snap);
	core_sorts_deinit(&run.sorts);
	core_space_deinit(&run.space);
	core_file_deinit(&run.core);
	if (err)
		return err == -EPIPE ? 0 : EXIT_CANNOT;
	return verdict_exit_code(opts, verdict, 0);
}
