// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cxx NAME: runs one of several C++ functions that allocate: by each operator new, in templates, in
 * inlined functions, and with exceptions.
 */
#include <sys/wait.h>

#include <new>
#include <string>
#include <vector>

#include "truth.h"

struct alignas(256) Aligned {
	char bytes[512];
};

OWN_FRAME static void leak_new(int times)
{
	for (int i = 0; i < times; i++)
		keep(::operator new(100)); /* LEAK */
	leaks("leak_new", times, times * 100);
}

OWN_FRAME static void leak_array(int times)
{
	for (int i = 0; i < times; i++)
		keep(new char[77]); /* LEAK */
	leaks("leak_array", times, times * 77);
}

OWN_FRAME static void leak_nothrow(int times)
{
	for (int i = 0; i < times; i++)
		keep(new (std::nothrow) char[88]); /* LEAK */
	leaks("leak_nothrow", times, times * 88);
}

OWN_FRAME static void leak_aligned(int times)
{
	for (int i = 0; i < times; i++)
		keep(new Aligned); /* LEAK */
	leaks("leak_aligned", times, times * sizeof(Aligned));
}

template <typename T> OWN_FRAME static void leak_template(int times)
{
	for (int i = 0; i < times; i++)
		keep(malloc(sizeof(T))); /* LEAK */
	leaks("leak_template", times, times * sizeof(T));
}

__attribute__((always_inline)) static inline void inlined_alloc(int size)
{
	keep(malloc(size)); /* LEAK */
}

OWN_FRAME static void around_inlined(int times)
{
	for (int i = 0; i < times; i++)
		inlined_alloc(40);
	leaks("inlined_alloc", times, times * 40);
}

OWN_FRAME static void frees_all(int times)
{
	for (int i = 0; i < times; i++) {
		delete static_cast<char *>(keep(new char));
		delete[] static_cast<char *>(keep(new char[1000]));
		delete static_cast<Aligned *>(keep(new Aligned));
		::operator delete(keep(::operator new(64)), std::size_t(64));
		std::vector<std::string> strings(20, std::string(100, 'x'));
		keep(&strings);
	}
}

/*
 * An exception is thrown out of operator new: a return probe on operator new would crash the
 * program.
 */
OWN_FRAME static void bad_alloc(int times)
{
	volatile std::size_t huge = PTRDIFF_MAX;
	int caught = 0;

	for (int i = 0; i < times; i++)
		try {
			keep(::operator new(huge));
		} catch (const std::bad_alloc &) {
			caught++;
		}
	must(caught == times, "bad_alloc");
}

/*
 * Makes an allocation that throws. The caller catches the exception, and its next call uses the
 * same part of the stack.
 */
OWN_FRAME static void *too_much(std::size_t size)
{
	void *p = ::operator new(size); /* LEAK */

	return keep(p);
}

/* Mixes failing and successful calls. All successful calls must be counted. */
OWN_FRAME static void between_throws(int times)
{
	volatile std::size_t huge = std::size_t(1) << 62;
	int caught = 0;

	for (int i = 0; i < times; i++) {
		keep(::operator new(100)); /* LEAK */
		try {
			keep(too_much(huge));
		} catch (const std::bad_alloc &) {
			caught++;
			keep(malloc(50)); /* LEAK */
		}
		must(!::operator new(huge, std::nothrow), "nothrow");
		keep(::operator new(30)); /* LEAK */
		try {
			keep(::operator new(huge, std::align_val_t(128)));
		} catch (const std::bad_alloc &) {
			caught++;
		}
		keep(too_much(70));
	}
	must(caught == 2 * times, "bad_alloc");
	leaks("between_throws", 3 * times, times * (100 + 50 + 30));
	leaks("too_much", times, times * 70);
}

static void *reserve[40];
static std::size_t reserve_cnt;

OWN_FRAME static void *reserve_block(std::size_t size)
{
	return keep(malloc(size)); /* LEAK */
}

/* Frees one reserved block, as programs do when memory is short. Throws if only one is left. */
static void give_back()
{
	if (reserve_cnt == 1)
		throw std::bad_alloc();
	free(reserve[--reserve_cnt]);
}

/* operator new calls the handler repeatedly; the handler frees memory and finally throws. */
OWN_FRAME static void new_handler(int times)
{
	volatile std::size_t huge = std::size_t(1) << 62;
	int caught = 0;

	std::set_new_handler(give_back);
	for (int i = 0; i < times; i++) {
		for (reserve_cnt = 0; reserve_cnt < ARRAY_SIZE(reserve); reserve_cnt++)
			reserve[reserve_cnt] = reserve_block(300);
		if (i % 2) {
			must(!::operator new(huge, std::nothrow), "nothrow");
			caught++;
		} else {
			try {
				keep(::operator new(huge));
			} catch (const std::bad_alloc &) {
				caught++;
			}
		}
	}
	std::set_new_handler(nullptr);
	must(caught == times, "bad_alloc");
	leaks("reserve_block", times, times * 300);
}

/* Mixes successful calls with calls of a nothrow operator new that fail and return NULL. */
OWN_FRAME static void between_failures(int times)
{
	volatile std::size_t huge = std::size_t(1) << 62;

	for (int i = 0; i < times; i++) {
		keep(::operator new(100)); /* LEAK */
		must(!::operator new(huge, std::nothrow), "nothrow");
		keep(::operator new(30)); /* LEAK */
		must(!::operator new(huge, std::align_val_t(128), std::nothrow), "aligned nothrow");
		keep(::operator new[](128, std::align_val_t(64))); /* LEAK */
	}
	leaks("between_failures", 3 * times, times * (100 + 30 + 128));
}

/* Allocates in a forked child, which is not traced although its code has the same probes. */
OWN_FRAME static void in_child(int times)
{
	pid_t child = fork();
	int status;

	if (!child) {
		bad_alloc(times);
		_exit(0);
	}
	must(waitpid(child, &status, 0) == child && !status, "the child lives");
}

extern "C" void *mi_new_realloc(void *old, std::size_t size) __attribute__((weak));

/* A block stays allocated if realloc fails. */
OWN_FRAME static void reallocated(int times)
{
	volatile std::size_t huge = std::size_t(1) << 62;
	int caught = 0;

	for (int i = 0; i < times; i++) {
		void *p = keep(::operator new(40)); /* LEAK */
		void *q = keep(mi_new_realloc(keep(::operator new(50)), 21)); /* LEAK */

		try {
			keep(mi_new_realloc(p, huge));
		} catch (const std::bad_alloc &) {
			caught++;
		}
		keep(mi_new_realloc(q, 18)); /* LEAK */
	}
	must(caught == times, "bad_alloc");
	leaks("reallocated", 2 * times, times * (40 + 18));
}

/* Allocates blocks of sizes from 1 byte to 4 MiB, to take the slow paths of the allocator, too. */
OWN_FRAME static void leak_sizes(int times)
{
	std::size_t bytes = 0, cnt = 0;

	for (int i = 0; i < times; i++)
		for (std::size_t size = 1; size < 4 << 20; size += 1 + size / 3) {
			keep(::operator new(size)); /* LEAK */
			bytes += size;
			cnt++;
		}
	leaks("leak_sizes", cnt, bytes);
}

/* Allocates many blocks of one size, so that the thread's cache is refilled again and again. */
OWN_FRAME static void leak_many(int times)
{
	for (int i = 0; i < times * 10000; i++)
		keep(::operator new(48)); /* LEAK */
	leaks("leak_many", times * 10000, times * 10000 * 48);
}

static const struct {
	const char *name;
	void (*run)(int times);
} things[] = {
	{"new", leak_new},
	{"array", leak_array},
	{"nothrow", leak_nothrow},
	{"aligned", leak_aligned},
	{"template", leak_template<double[5]>},
	{"inline", around_inlined},
	{"delete", frees_all},
	{"bad_alloc", bad_alloc},
	{"between_throws", between_throws},
	{"new_handler", new_handler},
	{"between_failures", between_failures},
	{"in_child", in_child},
	{"reallocated", reallocated},
	{"sizes", leak_sizes},
	{"many", leak_many},
};

int main(int argc, char **argv)
{
	must(argc == 2, "usage");
	ready();
	for (const auto &thing : things)
		if (!strcmp(argv[1], thing.name)) {
			thing.run(3);
			marker();
			ready();
			return 0;
		}
	must(0, argv[1]);
}
