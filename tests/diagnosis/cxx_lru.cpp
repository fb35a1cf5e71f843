// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: an LRU cache of 150 pages.
// expect: nothing
#include <list>
#include <string>
#include <unordered_map>

#include "server.h"

using Entry = std::pair<unsigned int, std::string>;

static std::list<Entry> order;
static std::unordered_map<unsigned int, std::list<Entry>::iterator> pages;

static const std::string &get_page(unsigned int number)
{
	auto found = pages.find(number);

	if (found != pages.end()) {
		order.splice(order.begin(), order, found->second);
		return order.front().second;
	}
	order.emplace_front(number, std::string(300 + number, 'x'));
	pages[number] = order.begin();
	if (order.size() > 150) {
		pages.erase(order.back().first);
		order.pop_back();
	}
	return order.front().second;
}

void handle_request(unsigned int number)
{
	must(get_page(random_below(1000)).size() >= 300, "get a page");
}
