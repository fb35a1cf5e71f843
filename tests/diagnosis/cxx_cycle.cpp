// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: two objects with shared pointers to each other.
// expect: open_channel
#include <memory>
#include <string>

#include "server.h"

struct Peer {
	std::string name;
	std::shared_ptr<Peer> other;
};

static size_t open_channel(unsigned int number)
{
	auto client = std::make_shared<Peer>(); // LEAK
	auto server = std::make_shared<Peer>(); // LEAK

	client->name = "client " + std::to_string(number);
	client->other = server;
	server->other = client;
	return client->name.size();
}

void handle_request(unsigned int number)
{
	must(open_channel(number) > 0, "open");
}
