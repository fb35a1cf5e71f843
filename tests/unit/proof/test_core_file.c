// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests reading core files. Cores of live processes are compared with the processes byte for byte.
 * Other cores are malformed.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "proof/core_build_id.h"
#include "proof/core_file.h"
#include "tests/unit/proof/made_core.h"

#define PAGE 4096ULL
#define AREA 32
#define PATTERN 0x1122334455667788ULL
#define IN_REGISTER 0x7a7b7c7d7e7f7071ULL
#define IN_VECTOR 0x6a6b6c6d6e6f6061ULL

/* A child process, and what its parent needs to know about it. */
struct child {
	pid_t pid;
	unsigned char *pages; /* three pages, the second of which is never touched */
	volatile int *told;   /* tid of the second thread; 0 until its registers are set */
};

static void *hold_registers(void *arg)
{
	struct child *child = arg;
	int tid = (int)syscall(SYS_gettid);

#if defined(__x86_64__)
	__asm__ volatile("movq %2, %%rbx\n"
			 "movq %3, %%xmm13\n"
			 "movl %1, (%0)\n"
			 "1: pause\n"
			 "jmp 1b\n"
			 :
			 : "r"(child->told), "r"(tid), "r"(IN_REGISTER), "r"(IN_VECTOR)
			 : "rbx", "xmm13", "memory");
#elif defined(__aarch64__)
	__asm__ volatile("mov x21, %2\n"
			 "fmov d13, %3\n"
			 "str %w1, [%0]\n"
			 "1: yield\n"
			 "b 1b\n"
			 :
			 : "r"(child->told), "r"(tid), "r"(IN_REGISTER), "r"(IN_VECTOR)
			 : "x21", "v13", "memory");
#endif
	return NULL;
}

static void live(struct child *child, const char *folder, int gate)
{
	const struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	pthread_t thread;
	char byte;

	memset(child->pages, 0x5a, PAGE);
	memset(child->pages + 2 * PAGE, 0xa5, PAGE);
	/* Let gdb attach even if only parents may trace processes. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || chdir(folder) || setrlimit(RLIMIT_CORE, &limit) ||
	    pthread_create(&thread, NULL, hold_registers, child) || read(gate, &byte, 1) != 1)
		_exit(1);
	signal(SIGSEGV, SIG_DFL);
	kill(getpid(), SIGSEGV);
	_exit(1);
}

/* Starts the child. Writing to *gate lets it continue and crash. */
static void begin_child(struct child *child, const char *folder, int *gate)
{
	int gates[2];

	*child = (struct child){
		.pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0),
		.told = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
	};
	assert_true(child->pages != MAP_FAILED && child->told != MAP_FAILED);
	assert_int_equal(pipe2(gates, O_CLOEXEC), 0);
	child->pid = fork();
	assert_true(child->pid >= 0);
	if (!child->pid)
		live(child, folder, gates[0]);
	close(gates[0]);
	*gate = gates[1];
	while (!*child->told)
		usleep(1000);
}

static void end_child(struct child *child, int gate)
{
	kill(child->pid, SIGKILL);
	ptrace(PTRACE_DETACH, child->pid, 0, 0);
	waitpid(child->pid, NULL, 0);
	close(gate);
	munmap(child->pages, 3 * PAGE);
	munmap((void *)child->told, PAGE);
}

static void open_core(const char *path, struct core_file *core)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(core_file_init(fd, core), 0);
	assert_false(core->odd || core->notes.odd);
	assert_int_equal(core->missing_bytes, 0);
	assert_true(core->memory.maps.whole);
}

/*
 * Counts the areas of 32 bytes that differ. A few may, since the kernel writes to the memory of
 * threads: it updates the current CPU in the rseq area, and clears the tid when a thread exits.
 */
static size_t count_differences(const unsigned char *in_core, const unsigned char *now, size_t len)
{
	size_t cnt = 0;

	for (size_t i = 0; i < len; i += AREA)
		cnt += memcmp(in_core + i, now + i, AREA) != 0;
	return cnt;
}

/* Returns the number of bytes compared. */
static uint64_t compare_memory(const struct core_file *core, const struct child *child)
{
	static unsigned char buf[PAGE], now[PAGE];
	size_t differences = 0;
	uint64_t same = 0;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)child->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	for (size_t i = 0; i < core->segment_cnt; i++) {
		const struct core_segment *segment = &core->segments[i];

		assert_int_equal(segment->bytes % PAGE, 0);
		for (uint64_t at = 0; at < segment->bytes; at += PAGE) {
			uint64_t addr = segment->start + at;

			assert_int_equal(core->memory.ops->read(&core->memory, addr, buf, PAGE),
					 PAGE);
			/* Pages such as [vsyscall] cannot be read from /proc/PID/mem. */
			if (addr >> 63 || pread(fd, now, PAGE, (off_t)addr) != PAGE)
				continue;
			differences += count_differences(buf, now, PAGE);
			same += PAGE;
		}
	}
	close(fd);
	/* Nothing may differ except one tid and the rseq areas of two threads. */
	assert_true(differences <= 3);
	assert_true(same > core->content_bytes / 10 * 9);
	return same;
}

static ssize_t read_own(const struct memory *memory, uint64_t addr, void *buf, size_t len)
{
	memcpy(buf, (const void *)(uintptr_t)addr, len);
	return (ssize_t)len;
}

static const struct memory_ops own_ops = {.read = read_own};

/*
 * Compares the mapped files and, unless gdb has written the core, their permissions. Core files
 * have no names of anonymous mappings.
 */
static void compare_maps(const struct core_file *core, const struct proc_maps *maps, bool by_gdb)
{
	size_t files = 0;

	for_each_mapping (m, maps) {
		const struct mapping *other = proc_maps_find(&core->memory.maps, m->start);

		if (m->path[0] != '/') {
			assert_true(!other || !*other->path || !strcmp(other->path, m->path));
			continue;
		}
		if (by_gdb && !other)
			continue;
		assert_non_null(other);
		assert_string_equal(other->path, m->path);
		assert_int_equal(other->offset, m->offset);
		assert_int_equal(other->deleted, m->deleted);
		assert_int_equal(other->start, m->start);
		assert_int_equal(other->end, m->end);
		files++;
		if (by_gdb)
			continue;
		assert_int_equal(other->writable, m->writable);
		assert_int_equal(other->readable, m->readable);
		assert_int_equal(other->executable, m->executable);
	}
	assert_true(files > 4);
}

/*
 * Compares the program's build id in the core with the build id of this process, which runs the
 * same program as the child.
 */
static void compare_build_id(const struct core_file *core)
{
	char in_core[2 * CORE_BUILD_ID_MAX + 1] = "", own[2 * CORE_BUILD_ID_MAX + 1] = "";
	const struct mapping *code = proc_maps_find(&core->memory.maps, core->notes.entry);
	const struct core_file live = {.memory.ops = &own_ops};

	assert_non_null(code);
	for_each_mapping (m, &core->memory.maps) {
		if (m->offset || strcmp(m->path, code->path))
			continue;
		assert_int_equal(core_build_id(&core->memory, m, in_core), 0);
		assert_int_equal(core_build_id(&live.memory, m, own), 0);
	}
	assert_true(strlen(in_core) >= 16);
	assert_string_equal(in_core, own);
}

static bool has_word(const struct thread_state *thread, uint64_t word)
{
	for (size_t i = 0; i < thread->word_cnt; i++)
		if (thread->words[i] == word)
			return true;
	return false;
}

static const struct thread_state *find_thread(const struct core_file *core, pid_t tid, uint64_t *pc)
{
	for (size_t i = 0; i < core->notes.threads.cnt; i++) {
		*pc = core->notes.pcs[i];
		if (core->notes.threads.items[i].tid == tid)
			return &core->notes.threads.items[i];
	}
	return NULL;
}

static void compare_threads(const struct core_file *core, const struct child *child)
{
	const struct mapping *stack, *code;
	const struct thread_state *second;
	uint64_t pc;

	assert_int_equal(core->notes.threads.cnt, 2);
	assert_int_equal(core->notes.pid, child->pid);
	assert_non_null(find_thread(core, child->pid, &pc));
	second = find_thread(core, *child->told, &pc);
	assert_non_null(second);
	stack = proc_maps_find(&core->memory.maps, second->sp);
	assert_true(stack && stack->writable && !*stack->path);
	code = proc_maps_find(&core->memory.maps, pc);
	assert_true(code && code->executable && strstr(code->path, "test_core_file"));
	assert_true(has_word(second, IN_REGISTER));
	assert_true(has_word(second, IN_VECTOR));
}

struct visited {
	uint64_t pages; /* address of the child's three pages */
	bool first;
	bool middle;
	bool last;
	uint64_t end;
};

static int note_visited(void *arg, uint64_t start, uint64_t end)
{
	struct visited *visited = arg;

	assert_true(start >= visited->end && end > start);
	assert_int_equal((start | end) % sizeof(uint64_t), 0);
	visited->end = end;
	visited->first |= start <= visited->pages && end >= visited->pages + PAGE;
	visited->middle |= start < visited->pages + 2 * PAGE && end > visited->pages + PAGE;
	visited->last |= start <= visited->pages + 2 * PAGE && end >= visited->pages + 3 * PAGE;
	return 0;
}

static void visit_all(const struct core_file *core, struct visited *visited)
{
	const struct memory *memory = &core->memory;

	for_each_mapping (m, &memory->maps)
		assert_int_equal(memory->ops->visit_written(memory, m, m->start, m->end,
							    note_visited, visited),
				 0);
}

/*
 * Makes a core as gcore does, but without libthread_db, which would make gdb write to the process.
 */
static bool run_gdb(const char *path, pid_t pid)
{
	char command[PATH_MAX + 256];

	snprintf(command, sizeof(command),
		 "gdb -nx -batch -iex 'set auto-load off' -p %d -ex 'generate-core-file %s' "
		 "-ex detach >/dev/null 2>&1 </dev/null",
		 (int)pid, path);
	return !system(command);
}

static void remove_folder(const char *folder, const char *file)
{
	unlink(file);
	assert_int_equal(rmdir(folder), 0);
}

/* True if gdb can be used. With AddressSanitizer it would read terabytes of reserved memory. */
static bool has_gdb(void)
{
#ifdef __SANITIZE_ADDRESS__
	return false;
#else
	return !system("command -v gdb >/dev/null 2>&1");
#endif
}

static void gdb_makes_one(void **state)
{
	char folder[] = "/tmp/test_core_file.XXXXXX", path[PATH_MAX];
	struct visited visited = {0};
	struct core_file core;
	struct proc_maps maps;
	struct child child;
	int gate;

	if (!has_gdb()) {
		print_message("skipped: gdb is missing, or would read terabytes\n");
		skip();
	}
	assert_non_null(mkdtemp(folder));
	begin_child(&child, folder, &gate);
	snprintf(path, sizeof(path), "%s/core", folder);
	assert_true(run_gdb(path, child.pid));
	open_core(path, &core);
	assert_true(compare_memory(&core, &child) > 3 * PAGE);
	assert_int_equal(proc_maps_read(child.pid, &maps), 0);
	compare_maps(&core, &maps, true);
	proc_maps_deinit(&maps);
	compare_threads(&core, &child);
	visited.pages = (uintptr_t)child.pages;
	visit_all(&core, &visited);
	assert_true(visited.first && visited.last);
	end_child(&child, gate);
	core_file_deinit(&core);
	remove_folder(folder, path);
}

/* True if the kernel writes cores as files to the current directory. */
static bool cores_are_files(void)
{
	FILE *file = fopen("/proc/sys/kernel/core_pattern", "re");
	char pattern[PATH_MAX] = "|";
	bool usual = file && fscanf(file, "%4095s", pattern) == 1 && !strcmp(pattern, "core");
	struct rlimit limit;

	if (file)
		fclose(file);
	return usual && !getrlimit(RLIMIT_CORE, &limit) && limit.rlim_max == RLIM_INFINITY;
}

/* Lets the child crash, and stops it after its core was written but before its memory is freed. */
static void let_die(const struct child *child, int gate)
{
	int status;

	assert_int_equal(ptrace(PTRACE_SEIZE, child->pid, 0, PTRACE_O_TRACEEXIT), 0);
	assert_int_equal(write(gate, "", 1), 1);
	for (;;) {
		assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
		assert_true(WIFSTOPPED(status));
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8))
			return;
		assert_int_equal(ptrace(PTRACE_CONT, child->pid, 0, WSTOPSIG(status)), 0);
	}
}

#if defined(__x86_64__)
#define SP_OF(regs) ((regs).rsp)
#define PC_OF(regs) ((regs).rip)
#elif defined(__aarch64__)
#define SP_OF(regs) ((regs).sp)
#define PC_OF(regs) ((regs).pc)
#endif

static void compare_registers(const struct core_file *core, pid_t pid)
{
	struct user_regs_struct regs;
	struct iovec iov = {&regs, sizeof(regs)};
	const struct thread_state *first = &core->notes.threads.items[0];

	assert_int_equal(ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &iov), 0);
	assert_int_equal(first->tid, pid);
	assert_int_equal(first->sp, SP_OF(regs));
	assert_int_equal(core->notes.pcs[0], PC_OF(regs));
	for (size_t i = 0; i < sizeof(regs) / sizeof(unsigned long long); i++) {
		uint64_t word = ((unsigned long long *)&regs)[i];

		assert_true(!word || has_word(first, word));
	}
#if defined(__x86_64__)
	assert_true(has_word(first, regs.fs_base));
#endif
}

static void kernel_makes_one(void **state)
{
	char folder[] = "/tmp/test_core_file.XXXXXX", path[PATH_MAX];
	struct visited visited = {0};
	struct core_file core;
	struct proc_maps maps;
	struct child child;
	int gate;

	if (!cores_are_files()) {
		print_message("skipped: the kernel does not write core files here\n");
		skip();
	}
	assert_non_null(mkdtemp(folder));
	begin_child(&child, folder, &gate);
	assert_int_equal(proc_maps_read(child.pid, &maps), 0);
	let_die(&child, gate);
	snprintf(path, sizeof(path), "%s/core", folder);
	if (access(path, F_OK))
		snprintf(path, sizeof(path), "%s/core.%d", folder, (int)child.pid);
	open_core(path, &core);
	assert_int_equal(core.notes.signal, SIGSEGV);
	assert_true(core.notes.has_info);
	assert_non_null(strstr("test_core_file", core.notes.name));
	assert_true(compare_memory(&core, &child) > 3 * PAGE);
	compare_maps(&core, &maps, false);
	proc_maps_deinit(&maps);
	compare_build_id(&core);
	compare_threads(&core, &child);
	compare_registers(&core, child.pid);
	visited.pages = (uintptr_t)child.pages;
	visit_all(&core, &visited);
	assert_true(visited.first && !visited.middle && visited.last);
	end_child(&child, gate);
	core_file_deinit(&core);
	remove_folder(folder, path);
}

static unsigned char content[4][PAGE];

/*
 * Makes a core with a program, a library, a heap, and a stack without content. The library is only
 * listed as a mapped file.
 */
static void make_usual(struct made_core *core, unsigned int machine)
{
	const struct made_thread threads[] = {
		{.tid = 4711, .signal = SIGABRT, .registers = {0x10, [15] = 0, [31] = 0x7ff0}},
		{.tid = 4712, .registers = {PATTERN, [19] = 0x7000, [16] = 0x401}},
	};
	const struct made_file files[] = {
		{0x400000, 0x402000, 0, "/bin/program"},
		{0x402000, 0x403000, 2, "/bin/program"},
		{0x500000, 0x504000, 1, "/lib/a (deleted)"},
	};
	const uint64_t auxv[] = {AT_PAGESZ, PAGE, AT_ENTRY, 0x400100, AT_NULL, 0};
	const uint64_t vector[] = {0, 0, IN_VECTOR, 0};

	*core = (struct made_core){.machine = machine};
	for (size_t i = 0; i < 4; i++)
		memset(content[i], (int)i + 1, PAGE);
	made_core_segment(core, 0x400000, 2 * PAGE, PF_R | PF_X, content[0], PAGE);
	made_core_segment(core, 0x402000, PAGE, PF_R | PF_W, content[1], PAGE);
	made_core_segment(core, 0x403000, PAGE, PF_R | PF_W, content[2], PAGE);
	made_core_segment(core, 0x600000, 2 * PAGE, PF_R | PF_W, content[3], PAGE);
	made_core_segment(core, 0x7ff000, 2 * PAGE, PF_R | PF_W, NULL, 0);
	made_core_thread(core, &threads[0]);
	made_core_info(core, 4711, "program", "/bin/program --fast");
	made_core_note(core, "CORE", NT_AUXV, auxv, sizeof(auxv));
	made_core_files(core, files, 3);
	made_core_thread(core, &threads[1]);
	made_core_note(core, "CORE", NT_FPREGSET, vector, sizeof(vector));
}

static int open_made(const struct made_core *made, struct core_file *ret)
{
	return core_file_init(made_core_open(made), ret);
}

static void expect_mapping(const struct core_file *core, size_t at, uint64_t start, uint64_t end,
			   const char *flags, const char *path, uint64_t offset)
{
	const struct mapping *m = &core->memory.maps.mappings[at];

	assert_true(at < core->memory.maps.cnt);
	assert_int_equal(m->start, start);
	assert_int_equal(m->end, end);
	assert_int_equal(m->readable, flags[0] == 'r');
	assert_int_equal(m->writable, flags[1] == 'w');
	assert_int_equal(m->executable, flags[2] == 'x');
	assert_string_equal(m->path, path);
	assert_int_equal(m->offset, offset);
}

static void expect_read(const struct core_file *core, uint64_t addr, size_t len, ssize_t got)
{
	unsigned char buf[4 * PAGE];

	assert_true(len <= sizeof(buf));
	assert_int_equal(core->memory.ops->read(&core->memory, addr, buf, len), got);
	for (ssize_t i = 0; i < got; i++) {
		uint64_t page = (addr + (uint64_t)i) / PAGE;

		assert_int_equal(buf[i], page == 0x400   ? 1
					 : page == 0x402 ? 2
					 : page == 0x403 ? 3
							 : 4);
	}
}

static void usual_parts(void **state)
{
	struct made_core made;
	struct core_file core;

	make_usual(&made, EM_X86_64);
	assert_int_equal(open_made(&made, &core), 0);
	assert_false(core.odd || core.notes.odd || core.missing_bytes);
	assert_int_equal(core.memory.maps.cnt, 6);
	expect_mapping(&core, 0, 0x400000, 0x402000, "r-x", "/bin/program", 0);
	expect_mapping(&core, 1, 0x402000, 0x403000, "rw-", "/bin/program", 2 * PAGE);
	expect_mapping(&core, 2, 0x403000, 0x404000, "rw-", "", 0);
	/* no segment for the library */
	expect_mapping(&core, 3, 0x500000, 0x504000, "--x", "/lib/a", PAGE);
	assert_true(core.memory.maps.mappings[3].deleted);
	expect_mapping(&core, 4, 0x600000, 0x602000, "rw-", "", 0);
	expect_mapping(&core, 5, 0x7ff000, 0x801000, "rw-", "", 0);
	assert_int_equal(core.memory.page_size, PAGE);
	assert_int_equal(core.content_bytes, 4 * PAGE);
	assert_int_equal(core.notes.pid, 4711);
	assert_int_equal(core.notes.signal, SIGABRT);
	assert_string_equal(core.notes.name, "program");
	assert_string_equal(core.notes.arguments, "/bin/program --fast");
	assert_int_equal(core.notes.entry, 0x400100);
	assert_int_equal(core.notes.threads.cnt, 2);
	assert_int_equal(core.notes.threads.items[1].sp, 0x7000);
	assert_int_equal(core.notes.pcs[1], 0x401);
	assert_true(has_word(&core.notes.threads.items[1], PATTERN));
	assert_true(has_word(&core.notes.threads.items[1], IN_VECTOR));
	assert_false(has_word(&core.notes.threads.items[0], IN_VECTOR));
	expect_read(&core, 0x400000, 100, 100);
	expect_read(&core, 0x400ff8, 100, 8);
	expect_read(&core, 0x401000, 100, 0);
	/* Reads across two segments. */
	expect_read(&core, 0x402ff0, 3 * PAGE, PAGE + 16);
	expect_read(&core, 0x500000, 8, 0);
	expect_read(&core, 0x600008, 4 * PAGE, PAGE - 8);
	expect_read(&core, 0x7ff000, 8, 0);
	expect_read(&core, UINT64_MAX - 8, 100, 0);
	core_file_deinit(&core);
}

static void aarch64_too(void **state)
{
	const uint64_t tls[] = {IN_REGISTER};
	struct made_core made;
	struct core_file core;

	make_usual(&made, EM_AARCH64);
	made_core_note(&made, "LINUX", NT_ARM_TLS, tls, sizeof(tls));
	assert_int_equal(open_made(&made, &core), 0);
	assert_int_equal(core.machine, EM_AARCH64);
	assert_int_equal(core.notes.threads.cnt, 2);
	assert_int_equal(core.notes.threads.items[0].sp, 0x7ff0);
	assert_true(has_word(&core.notes.threads.items[1], IN_REGISTER));
	core_file_deinit(&core);
}

struct sum {
	uint64_t bytes;
	int stop;
};

static int add_run(void *arg, uint64_t start, uint64_t end)
{
	struct sum *sum = arg;

	sum->bytes += end - start;
	return sum->stop;
}

static void written_memory_alone(void **state)
{
	static const uint64_t expected[] = {0, PAGE, PAGE, 0, PAGE, 0};
	struct made_core made;
	struct core_file core;
	struct sum sum = {0};
	const struct memory *memory = &core.memory;

	make_usual(&made, EM_X86_64);
	assert_int_equal(open_made(&made, &core), 0);
	for (size_t i = 0; i < 6; i++) {
		const struct mapping *m = &core.memory.maps.mappings[i];

		sum.bytes = 0;
		assert_int_equal(
			memory->ops->visit_written(memory, m, m->start, m->end, add_run, &sum), 0);
		assert_int_equal(sum.bytes, expected[i]);
	}
	sum = (struct sum){.stop = -EINTR};
	assert_int_equal(memory->ops->visit_written(memory, &memory->maps.mappings[4], 0x600010,
						    0x600100, add_run, &sum),
			 -EINTR);
	assert_int_equal(sum.bytes, 0xf0);
	core_file_deinit(&core);
}

static void more_than_the_header_can_count(void **state)
{
	struct made_core made, many;
	struct core_file core;

	make_usual(&made, EM_X86_64);
	many = made;
	many.content_end = 8 << 20;
	for (size_t i = 0; i < many.cnt; i++)
		many.segments[i].p_offset += 8 << 20;
	many.counts_in_section = true;
	many.empty_headers = 70000;
	assert_int_equal(open_made(&many, &core), 0);
	assert_int_equal(core.segment_cnt, 5);
	assert_int_equal(core.notes.threads.cnt, 2);
	expect_read(&core, 0x402ff0, 3 * PAGE, PAGE + 16);
	core_file_deinit(&core);
}

static void cut_off(void **state)
{
	struct made_core made;
	struct core_file core;
	int fd;

	make_usual(&made, EM_X86_64);
	fd = made_core_open(&made);
	assert_int_equal(ftruncate(fd, MADE_CONTENT + 2 * PAGE + 100), 0);
	assert_int_equal(core_file_init(fd, &core), 0);
	assert_int_equal(core.missing_bytes, PAGE - 100 + PAGE);
	assert_false(core.memory.maps.whole);
	expect_read(&core, 0x402ff0, 3 * PAGE, 16 + 96);
	expect_read(&core, 0x600000, 8, 0);
	core_file_deinit(&core);
	/* The core is truncated within its headers. */
	fd = made_core_open(&made);
	assert_int_equal(ftruncate(fd, 150), 0);
	assert_int_equal(core_file_init(fd, &core), -EBADMSG);
	fd = made_core_open(&made);
	assert_int_equal(ftruncate(fd, 40), 0);
	assert_int_equal(core_file_init(fd, &core), -EBADMSG);
}

static int open_bytes(const void *bytes, size_t len)
{
	struct core_file core;
	int fd = memfd_create("core", MFD_CLOEXEC), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	err = core_file_init(fd, &core);
	if (!err)
		core_file_deinit(&core);
	return err;
}

static void no_core_at_all(void **state)
{
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_phentsize = sizeof(Elf64_Phdr),
	};

	assert_int_equal(open_bytes("", 0), -ENOEXEC);
	assert_int_equal(open_bytes("\177ELF", 4), -ENOEXEC);
	assert_int_equal(open_bytes("(\265/\375 something packed", 21), -ENOEXEC);
	assert_int_equal(open_bytes(&header, sizeof(header)), -EINVAL);
	header.e_type = ET_CORE;
	assert_int_equal(open_bytes(&header, sizeof(header)), -EBADMSG);
	header.e_phnum = 10;
	assert_int_equal(open_bytes(&header, sizeof(header)), -EBADMSG);
	header.e_phoff = UINT64_MAX - 4;
	assert_int_equal(open_bytes(&header, sizeof(header)), -EBADMSG);
	header.e_phnum = PN_XNUM;
	assert_int_equal(open_bytes(&header, sizeof(header)), -EBADMSG);
	header.e_machine = EM_RISCV;
	assert_int_equal(open_bytes(&header, sizeof(header)), -ENOTSUP);
	header.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(open_bytes(&header, sizeof(header)), -ENOTSUP);
}

/*
 * Segments that overlap, are not word-aligned, or exceed the address space are ignored or
 * shortened.
 */
static void segments_that_lie(void **state)
{
	struct made_core made;
	struct core_file core;

	make_usual(&made, EM_X86_64);
	made_core_segment(&made, 0x401000, 16 * PAGE, PF_R | PF_W, content[3], PAGE);
	made_core_segment(&made, 0x900001, PAGE, PF_R | PF_W, content[3], PAGE);
	made_core_segment(&made, UINT64_MAX - 7, PAGE, PF_R | PF_W, content[3], PAGE);
	made_core_segment(&made, -2 * PAGE, PAGE, PF_R | PF_W, content[3], PAGE);
	made_core_segment(&made, 0xa00000, PAGE, PF_R | PF_W, content[3], PAGE);
	made_core_segment(&made, 0xb00000, 64, PF_R | PF_W, content[3], PAGE);
	made_core_segment(&made, 0xc00000, 0, PF_R | PF_W, content[3], PAGE);
	made.segments[made.cnt - 3].p_offset = UINT64_MAX - 100;
	made.contents[made.cnt - 3] = NULL;
	made.segments[made.cnt - 3].p_filesz = 0;
	assert_int_equal(open_made(&made, &core), 0);
	assert_true(core.odd);
	assert_false(core.memory.maps.whole);
	assert_int_equal(core.segment_cnt, 6);
	expect_read(&core, 0x402ff0, 3 * PAGE, PAGE + 16);
	expect_read(&core, 0xb00000, PAGE, 64);
	core_file_deinit(&core);
}

/* Checks a core with one malformed note, followed by another thread. */
static void expect_odd(const char *name, uint32_t type, const void *bytes, size_t len,
		       bool *still_there)
{
	const struct made_thread thread = {.tid = 4713};
	struct made_core made;
	struct core_file core;

	make_usual(&made, EM_X86_64);
	made_core_note(&made, name, type, bytes, len);
	made_core_thread(&made, &thread);
	assert_int_equal(open_made(&made, &core), 0);
	assert_true(core.notes.odd);
	*still_there = core.notes.threads.cnt == 3;
	core_file_deinit(&core);
}

static void notes_that_lie(void **state)
{
	const uint64_t too_many[] = {UINT64_MAX / 24 + 2, PAGE, 1, 2, 3};
	const uint64_t upside_down[] = {2, UINT64_MAX, 0x1000, 0x2000, 2, 0x5000, 0x4000, 0, 0};
	struct made_core made = {.machine = EM_X86_64};
	struct core_file core;
	bool there;

	expect_odd("CORE", NT_PRSTATUS, too_many, sizeof(too_many), &there);
	assert_true(there);
	expect_odd("CORE", NT_FILE, too_many, sizeof(too_many), &there);
	assert_true(there);
	expect_odd("CORE", NT_PRPSINFO, too_many, 8, &there);
	assert_true(there);
	made_core_note(&made, "CORE", NT_FILE, upside_down, sizeof(upside_down));
	made_core_note(&made, "A name that is longer than any", 1, too_many, sizeof(too_many));
	made_core_note(&made, "LINUX", NT_X86_XSTATE, too_many, sizeof(too_many));
	assert_int_equal(open_made(&made, &core), 0);
	assert_true(core.notes.odd);
	assert_int_equal(core.notes.threads.cnt, 0);
	assert_int_equal(core.memory.maps.cnt, 0);
	expect_read(&core, 0x1000, 8, 0);
	core_file_deinit(&core);
	/* The length in the note exceeds the size of all notes. */
	memset(made.notes + 4, 0xff, 4);
	assert_int_equal(open_made(&made, &core), 0);
	assert_true(core.notes.odd);
	core_file_deinit(&core);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_parts),
		cmocka_unit_test(aarch64_too),
		cmocka_unit_test(written_memory_alone),
		cmocka_unit_test(more_than_the_header_can_count),
		cmocka_unit_test(cut_off),
		cmocka_unit_test(no_core_at_all),
		cmocka_unit_test(segments_that_lie),
		cmocka_unit_test(notes_that_lie),
		cmocka_unit_test(kernel_makes_one),
		cmocka_unit_test(gdb_makes_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
