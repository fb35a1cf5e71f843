// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests reading a child's memory, and finding the pages that were written to. */
#include "proof/live_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limited_call.h"
#include "base/regular_file.h"
#include "tests/unit/lib/process.h"
#include "tests/unit/lib/rights.h"

#define PAGES 64
#define HUGE_BYTES (16ULL << 40)
#define LARGE_BYTES (8ULL << 20)

struct child {
	pid_t pid;
	struct live_memory live;
	size_t page;
	char *sparse; /* mapping whose pages 3, 4 and 9 are written to */
	/* written to completely; then page 0 became unreadable and page 2 was unmapped */
	char *closed;
	char *shared;  /* shared mapping; the parent has written to page 2 before the fork */
	char *huge;    /* mapping whose first and last page are written to */
	char *of_file; /* private mapping of a file; page 1 is written to */
	char *seen;    /* each page was read, and page 2 was written to */
	char *large;   /* one page was read: the kernel has mapped its page of zeros there */
	/* page 0 is written to; accesses to pages that were never used fail (userfaultfd) */
	char *handled;
};

static char *map(size_t bytes, int flags, int fd)
{
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

static void make_mappings(struct child *child)
{
	FILE *file = tmpfile();

	child->sparse = map(PAGES * child->page, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	child->seen = map(PAGES * child->page, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	child->large = map(LARGE_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	child->handled = map(2 * child->page, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	madvise(child->handled, 2 * child->page, MADV_NOHUGEPAGE);
	madvise(child->seen, PAGES * child->page, MADV_NOHUGEPAGE);
	madvise(child->large, LARGE_BYTES, MADV_HUGEPAGE);
	child->closed = map(3 * child->page, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	child->shared = map(PAGES * child->page, MAP_SHARED | MAP_ANONYMOUS, -1);
	child->huge = map(HUGE_BYTES, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	madvise(child->huge, HUGE_BYTES, MADV_NOHUGEPAGE);
	madvise(child->sparse, PAGES * child->page, MADV_NOHUGEPAGE);
	assert_int_equal(ftruncate(fileno(file), (off_t)(4 * child->page)), 0);
	child->of_file = map(4 * child->page, MAP_PRIVATE, fileno(file));
	child->shared[2 * child->page] = 's';
	fclose(file);
}

/* If the kernel permits it, makes accesses to unused pages of child->handled fail. */
static void handle_faults(const struct child *child)
{
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_SIGBUS};
	struct uffdio_register range = {
		.range = {(uintptr_t)child->handled, 2 * child->page},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	child->handled[0] = 'u';
	if (fd >= 0 && (ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range)))
		_exit(1);
}

static void run_child(const struct child *child, int ready)
{
	size_t page = child->page;

	for (size_t i = 0; i < PAGES; i++)
		(void)((volatile char *)child->seen)[i * page];
	(void)((volatile char *)child->large)[LARGE_BYTES / 2];
	child->seen[2 * page] = 's';
	child->sparse[3 * page] = 'a';
	child->sparse[4 * page] = 'b';
	child->sparse[9 * page + 5] = 'c';
	handle_faults(child);
	memset(child->closed, 'x', 3 * page);
	mprotect(child->closed, page, PROT_NONE);
	munmap(child->closed + 2 * page, page);
	child->huge[0] = 'h';
	child->huge[HUGE_BYTES - 1] = 'i';
	child->of_file[page] = child->of_file[2 * page] + 'f';
	if (write(ready, "r", 1) == 1)
		pause();
	_exit(0);
}

static int set_up(void **state)
{
	struct child *child = calloc(1, sizeof(*child));
	int ends[2];
	char byte;

	child->page = (size_t)sysconf(_SC_PAGESIZE);
	make_mappings(child);
	assert_int_equal(pipe(ends), 0);
	child->pid = fork();
	if (!child->pid)
		run_child(child, ends[1]);
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	assert_int_equal(live_memory_init(child->pid, patience(), &child->live), 0);
	*state = child;
	return 0;
}

static int tear_down(void **state)
{
	struct child *child = *state;

	live_memory_deinit(&child->live);
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	munmap(child->sparse, PAGES * child->page);
	munmap(child->seen, PAGES * child->page);
	munmap(child->large, LARGE_BYTES);
	munmap(child->handled, 2 * child->page);
	munmap(child->closed, 3 * child->page);
	munmap(child->shared, PAGES * child->page);
	munmap(child->huge, HUGE_BYTES);
	munmap(child->of_file, 4 * child->page);
	free(child);
	return 0;
}

static ssize_t read_at(const struct child *child, const char *at, void *buf, size_t len)
{
	const struct memory *memory = &child->live.memory;

	return memory->ops->read(memory, (uintptr_t)at, buf, len);
}

static void memory_is_read(void **state)
{
	struct child *child = *state;
	char *buf = malloc(PAGES * child->page);

	assert_int_equal(read_at(child, child->sparse, buf, PAGES * child->page),
			 PAGES * child->page);
	assert_int_equal(buf[3 * child->page], 'a');
	assert_int_equal(buf[9 * child->page + 5], 'c');
	assert_int_equal(buf[8 * child->page], 0);
	free(buf);
}

static void pages_that_it_may_not_read_itself_are_read(void **state)
{
	struct child *child = *state;
	char *buf = malloc(4 * child->page);

	/*
	 * Some kernels let only a tracer of the process read pages without read permission; others
	 * let nobody read them.
	 */
	if (!read_at(child, child->closed, buf, 1)) {
		free(buf);
		print_message("skipped: this kernel does not read pages without permission\n");
		skip();
	}
	assert_int_equal(read_at(child, child->closed, buf, 4 * child->page), 2 * child->page);
	assert_int_equal(buf[0], 'x');
	assert_int_equal(buf[2 * child->page - 1], 'x');
	assert_int_equal(read_at(child, child->closed + 2 * child->page, buf, 8), 0);
	assert_int_equal(read_at(child, NULL, buf, 8), 0);
	assert_int_equal(read_at(child, (char *)UINT64_MAX - 7, buf, 8), 0);
	free(buf);
}

struct visits {
	const char *base;
	size_t page;
	char text[256];
};

static int note(void *arg, uint64_t start, uint64_t end)
{
	struct visits *visits = arg;
	size_t used = strlen(visits->text);

	snprintf(visits->text + used, sizeof(visits->text) - used, "%zd-%zd ",
		 (ssize_t)(start - (uintptr_t)visits->base) / (ssize_t)visits->page,
		 (ssize_t)(end - (uintptr_t)visits->base) / (ssize_t)visits->page);
	return 0;
}

static const char *visits_of(struct child *child, const char *base, struct visits *visits)
{
	const struct memory *memory = &child->live.memory;
	const struct mapping *mapping = proc_maps_find(&memory->maps, (uintptr_t)base);

	assert_non_null(mapping);
	*visits = (struct visits){.base = base, .page = child->page};
	assert_int_equal(memory->ops->visit_written(memory, mapping, mapping->start, mapping->end,
						    note, visits),
			 0);
	return visits->text;
}

static void only_written_pages_are_visited(void **state)
{
	struct child *child = *state;
	struct visits visits;

	assert_non_null(strstr(visits_of(child, child->sparse, &visits), "3-5 9-10 "));
	assert_string_equal(visits_of(child, child->of_file, &visits), "1-2 ");
}

static void written_pages_are_found_in_the_page_table(void **state)
{
	struct child *child = *state;
	bool scans = child->live.scans;

	child->live.scans = false;
	only_written_pages_are_visited(state);
	child->live.scans = scans;
}

static void zeros_that_were_only_read_are_not_visited(void **state)
{
	struct child *child = *state;
	bool scans = child->live.scans;
	struct visits visits;

	NEED_ROOT(CAP_SYS_ADMIN); /* to read physical page numbers from pagemap */
	if (!child->live.zero_frame) {
		print_message("skipped: this kernel has no page that all zeros share\n");
		skip();
	}
	child->live.scans = false;
	assert_non_null(strstr(visits_of(child, child->seen, &visits), "2-3 "));
	assert_null(strstr(visits.text, " 3-"));
	assert_string_equal(visits_of(child, child->large, &visits), "");
	child->live.scans = scans;
}

static void shared_memory_is_found_wherever_it_was_written(void **state)
{
	struct child *child = *state;
	struct visits visits;

	NEED_ROOT(CAP_CHECKPOINT_RESTORE); /* to open /proc/PID/map_files */
	assert_string_equal(visits_of(child, child->shared, &visits), "2-3 ");
}

static void large_empty_ranges_cost_nothing(void **state)
{
	struct child *child = *state;
	struct visits visits;
	uint64_t read_bytes;
	char wanted[64];

	if (!child->live.scans) {
		print_message("skipped: this kernel has no PAGEMAP_SCAN\n");
		skip();
	}
	snprintf(wanted, sizeof(wanted), "0-1 %llu-%llu ", HUGE_BYTES / child->page - 1,
		 HUGE_BYTES / child->page);
	read_bytes = process_read_bytes();
	assert_string_equal(visits_of(child, child->huge, &visits), wanted);
	/* The pagemap entries of the whole mapping would be 32 GiB. */
	assert_in_range(process_read_bytes() - read_bytes, 0, 1 << 20);
}

static int refuse(void *arg, uint64_t start, uint64_t end)
{
	return -ECANCELED;
}

static void search_ends_on_request(void **state)
{
	struct child *child = *state;
	const struct memory *memory = &child->live.memory;
	const struct mapping *mapping = proc_maps_find(&memory->maps, (uintptr_t)child->huge);

	/* An error of the callback ends the first visit, the deadline the second one. */
	assert_int_equal(memory->ops->visit_written(memory, mapping, (uintptr_t)child->huge,
						    (uintptr_t)child->huge + PAGES * child->page,
						    refuse, NULL),
			 -ECANCELED);
	child->live.deadline_ns = 0;
	assert_int_equal(memory->ops->visit_written(memory, mapping, mapping->start + child->page,
						    mapping->end, note,
						    &(struct visits){.page = 1}),
			 -ETIMEDOUT);
}

static void devices_are_not_touched(void **state)
{
	assert_false(live_memory_may_read(&(struct mapping){.path = "/dev/dri/card0"}));
	assert_false(live_memory_may_read(&(struct mapping){.path = "/dev/mem"}));
	assert_false(live_memory_may_read(&(struct mapping){.path = "/sys/devices/x/resource0"}));
	assert_false(live_memory_may_read(&(struct mapping){.path = "[vvar]"}));
	assert_false(live_memory_may_read(&(struct mapping){.path = "[vvar_vclock]"}));
	assert_false(live_memory_may_read(&(struct mapping){.path = "[vsyscall]"}));
	assert_true(live_memory_may_read(&(struct mapping){.path = "/dev/shm/x"}));
	assert_true(live_memory_may_read(&(struct mapping){.path = "/dev/zero"}));
	assert_true(live_memory_may_read(&(struct mapping){.path = "/memfd:x"}));
	assert_true(live_memory_may_read(&(struct mapping){.path = "[heap]"}));
	assert_true(live_memory_may_read(&(struct mapping){.path = ""}));
}

static bool is_any(int path_fd)
{
	return true;
}

/* If the server of a file may not answer, only pages that the process has copied are read. */
static void refused_files_are_read_where_copied(void **state)
{
	const struct child *child = *state;
	struct child other = *child;
	struct visits visits;
	char byte;

	if (geteuid())
		skip(); /* mapped files cannot be opened */
	regular_file_refuse(is_any);
	assert_int_equal(live_memory_init(child->pid, patience(), &other.live), 0);
	regular_file_refuse(NULL);
	assert_int_equal(read_at(child, child->of_file, &byte, 1), 1);
	assert_int_equal(read_at(&other, child->of_file, &byte, 1), 0);
	assert_int_equal(read_at(&other, child->of_file + child->page, &byte, 1), 1);
	assert_int_equal(byte, 'f');
	assert_string_equal(visits_of(&other, child->of_file, &visits), "1-2 ");
	assert_int_equal(read_at(&other, child->sparse, &byte, 1), 1);
	live_memory_deinit(&other.live);
}

/* A handler of userfaultfd(2), which may never answer, is not asked for pages. */
static void unused_pages_are_not_asked_for(void **state)
{
	const struct child *child = *state;
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	char *buf;

	if (fd < 0) {
		print_message("skipped: no permission to use userfaultfd\n");
		skip();
	}
	close(fd);
	buf = malloc(2 * child->page);
	memset(buf, 'x', 2 * child->page);
	assert_int_equal(read_at(child, child->handled, buf, 2 * child->page), 2 * child->page);
	assert_int_equal(buf[0], 'u');
	assert_int_equal(buf[child->page], 0);
	assert_int_equal(buf[2 * child->page - 1], 0);
	free(buf);
}

static int block(int fd, void *data)
{
	return (int)read(fd, data, 1);
}

/* While a file's server does not answer, only memory that needs no server is read. */
static void file_pages_are_read_in_limited_calls(void **state)
{
	static const struct limited_function function = {.run = block, .size = 1};
	const struct child *child = *state;
	const struct memory *memory = &child->live.memory;
	const struct mapping *mapping = proc_maps_find(&memory->maps, (uintptr_t)child->sparse);
	int fds[2];
	char byte;

	assert_int_equal(pipe(fds), 0);
	limited_calls_begin();
	assert_int_equal(limited_call(child->pid, fds[0], &function, &byte), -EAGAIN);
	assert_int_equal(read_at(child, child->of_file, &byte, 1), 0);
	assert_int_equal(read_at(child, child->of_file + child->page, &byte, 1), 1);
	assert_int_equal(byte, 'f');
	assert_int_equal(read_at(child, child->sparse, &byte, 1), 1);
	assert_int_equal(memory->ops->visit_written(memory, mapping, mapping->start, mapping->end,
						    note, &(struct visits){.page = 1}),
			 -EAGAIN);
	close(fds[1]);
	while (!read_at(child, child->of_file, &byte, 1))
		usleep(1000);
	close(fds[0]);
}

/*
 * Starts a process that has memory which its child, the copy, lacks. ret_copy: the pid of the
 * child. ret: the address of the memory.
 */
static pid_t start_original(pid_t *ret_copy, char **ret)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	*ret = map(2 * page, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	pid = fork();
	if (!pid) {
		pid_t copy;

		(*ret)[page] = 'o';
		if (madvise(*ret, 2 * page, MADV_DONTFORK))
			_exit(1);
		copy = fork();
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (copy && write(ends[1], &copy, sizeof(copy)) != sizeof(copy))
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ends[0], ret_copy, sizeof(*ret_copy)), sizeof(*ret_copy));
	munmap(*ret, 2 * page);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

/* Memory that only the original process has is read in limited calls, because that process runs. */
static void memory_of_the_original_is_read_in_limited_calls(void **state)
{
	static const struct limited_function function = {.run = block, .size = 1};
	struct live_memory live;
	pid_t copy, pid;
	ssize_t got;
	char *at, byte = 0;
	int fds[2];

	(void)state;
	pid = start_original(&copy, &at);
	at += sysconf(_SC_PAGESIZE);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(live_memory_init_copy(copy, pid, patience(), &live), 0);
	limited_calls_begin();
	assert_int_equal(limited_call(pid, fds[0], &function, &byte), -EAGAIN);
	assert_int_equal(live.memory.ops->read(&live.memory, (uintptr_t)at, &byte, 1), -EAGAIN);
	close(fds[1]);
	do {
		usleep(1000);
		got = live.memory.ops->read(&live.memory, (uintptr_t)at, &byte, 1);
	} while (got == -EAGAIN);
	assert_int_equal(got, 1);
	assert_int_equal(byte, 'o');
	live_memory_deinit(&live);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fds[0]);
}

static void a_process_that_has_ended_has_no_memory(void **state)
{
	struct live_memory live;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT);
	assert_true(live_memory_init(pid, UINT64_MAX, &live) < 0);
	waitpid(pid, NULL, 0);
	assert_true(live_memory_init(pid, UINT64_MAX, &live) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_written_pages_are_visited),
		cmocka_unit_test(written_pages_are_found_in_the_page_table),
		cmocka_unit_test(zeros_that_were_only_read_are_not_visited),
		cmocka_unit_test(shared_memory_is_found_wherever_it_was_written),
		cmocka_unit_test(large_empty_ranges_cost_nothing),
		cmocka_unit_test(devices_are_not_touched),
		cmocka_unit_test(a_process_that_has_ended_has_no_memory),
		cmocka_unit_test(search_ends_on_request),
		/*
		 * Run these tests last: reading memory allocates page tables, which affects other
		 * tests.
		 */
		cmocka_unit_test(memory_is_read),
		cmocka_unit_test(refused_files_are_read_where_copied),
		cmocka_unit_test(unused_pages_are_not_asked_for),
		cmocka_unit_test(pages_that_it_may_not_read_itself_are_read),
		/* Limited calls cannot be ended again. */
		cmocka_unit_test(file_pages_are_read_in_limited_calls),
		cmocka_unit_test(memory_of_the_original_is_read_in_limited_calls),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
