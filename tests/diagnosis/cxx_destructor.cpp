// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: members of a derived class, as the base class has no virtual destructor.
// expect: make_view
#include <memory>
#include <string>

#include "server.h"

struct View {
	unsigned int number = 0;
};

struct Page : View {
	std::string text;
};

#pragma GCC diagnostic ignored "-Wdelete-non-virtual-dtor"

static View *make_view(unsigned int number)
{
	Page *page = new Page;

	page->number = number;
	page->text = std::string(100 + number % 50, 'x'); // LEAK
	return page;
}

void handle_request(unsigned int number)
{
	delete make_view(number);
}
