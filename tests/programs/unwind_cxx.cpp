// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allocates in C++ code without frame pointers: in containers, during exception handling, and in
 * std::thread. A line "chain FUNCTION..." lists the program's functions in order. In the stack,
 * there may be template code of the C++ library between them.
 */
#include "truth.h"

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static inline void back()
{
	__asm__ volatile("" : : : "memory");
}

OWN_FRAME static void leak_here()
{
	keep(malloc(40)); /* LEAK */
	back();
}

static std::map<int, std::string> *kept;

OWN_FRAME static void fill_map()
{
	for (int i = 0; i < 50; i++)
		(*kept)[i * 7 % 50] = std::string(static_cast<size_t>(100 + i), 'x'); /* LEAK */
	back();
}

OWN_FRAME static void container()
{
	kept = new std::map<int, std::string>; /* LEAK */
	fill_map();
	back();
	say("chain fill_map container main\n");
}

struct Guard {
	OWN_FRAME ~Guard()
	{
		leak_here();
		back();
	}
};

OWN_FRAME static void throws(int value)
{
	if (value)
		throw std::runtime_error("on its way");
	back();
}

OWN_FRAME static void guarded(int value)
{
	Guard guard;

	throws(value);
	back();
}

OWN_FRAME static void cleanup()
{
	try {
		guarded(1);
	} catch (const std::exception &) {
		back();
	}
	back();
	say("chain Guard::~Guard guarded cleanup main\n");
}

OWN_FRAME static void in_catch()
{
	try {
		throws(1);
	} catch (const std::exception &) {
		leak_here();
		back();
	}
	back();
	say("chain leak_here in_catch main\n");
}

OWN_FRAME static void thread_body(int depth)
{
	if (depth)
		thread_body(depth - 1);
	else
		leak_here();
	back();
}

OWN_FRAME static void thread()
{
	std::thread other(thread_body, 2);

	other.join();
	say("chain leak_here thread_body thread_body thread_body\n");
}

OWN_FRAME static void call(const std::function<void()> &function)
{
	function();
	back();
}

OWN_FRAME static void function()
{
	call([] {
		leak_here();
		back();
	});
	back();
	say("chain leak_here call function main\n");
}

int main(int argc, char **argv)
{
	static const std::vector<std::pair<std::string, void (*)()>> ways = {
		{"container", container}, {"cleanup", cleanup},	  {"catch", in_catch},
		{"thread", thread},	  {"function", function},
	};

	must(argc == 2, "which way?");
	ready();
	for (const auto &way : ways)
		if (way.first == argv[1])
			way.second();
	back();
	ready();
	return 0;
}
