// SPDX-License-Identifier: GPL-2.0-or-later
/* C++ pointers that do not point to the start of a block, and memory that the C++ library keeps. */
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "prove.h"

#define NODE 32

struct Destroyed {
	void *word;
	~Destroyed()
	{
		keep(word);
	}
};

struct alignas(16) Wide {
	void *words[2];
	~Wide()
	{
		keep(words[0]);
	}
};

OWN_FRAME static void *array_lost(size_t cnt)
{
	return keep(new Destroyed[cnt]); /* LEAK */
}

OWN_FRAME static void *array_kept(size_t cnt)
{
	return keep(new Destroyed[cnt]); /* LEAK */
}

OWN_FRAME static void *wide_array_kept(size_t cnt)
{
	return keep(new Wide[cnt]); /* LEAK */
}

OWN_FRAME static void *plain_array(size_t cnt)
{
	return keep(new long[cnt]); /* LEAK */
}

/*
 * new[] stores the number of elements in the block before the first element. The program has only a
 * pointer to the first element.
 */
SCENE(arrays_of_new)
{
	array_lost(5);
	held[0] = array_kept(5);
	held[1] = wide_array_kept(4);
	held[2] = plain_array(6);
	planted(array_lost, definite, 1, 8 + 5 * 8);
	planted(array_kept, reachable, 1, 8 + 5 * 8);
	planted(wide_array_kept, reachable, 1, 16 + 4 * 16);
	planted(plain_array, reachable, 1, 48);
	differs(valgrind, wide_array_kept, reachable, possible,
		"it knows counts of eight bytes before elements alone");
}

OWN_FRAME static void *no_elements_kept()
{
	return keep(new Destroyed[0]); /* LEAK */
}

OWN_FRAME static void *no_elements_lost()
{
	return keep(new Destroyed[0]); /* LEAK */
}

/*
 * The array has no elements. Its block has only the element count, so the program's pointer is to
 * the end of the block.
 */
SCENE(array_without_elements)
{
	held[0] = no_elements_kept();
	no_elements_lost();
	planted(no_elements_kept, reachable, 1, 8);
	planted(no_elements_lost, definite, 1, 8);
	differs(valgrind, no_elements_kept, reachable, definite,
		"behind the end is nothing for it");
}

struct First {
	void *first[3];
	virtual ~First() = default;
	virtual void *one()
	{
		return first[0];
	}
};

struct Second {
	void *second[3];
	virtual ~Second() = default;
	virtual void *two()
	{
		return second[0];
	}
};

struct Third {
	void *third[3];
};

struct Both final : First, Second, Third {
	void *mine;
	void *two() override
	{
		return mine;
	}
};

/* A virtual base is at the end of the object. */
struct Shared : virtual Second {
	void *mine;
};

OWN_FRAME static Both *object_by_second_base()
{
	return static_cast<Both *>(keep(new Both())); /* LEAK */
}

OWN_FRAME static Both *object_by_plain_base()
{
	return static_cast<Both *>(keep(new Both())); /* LEAK */
}

OWN_FRAME static Shared *object_by_virtual_base()
{
	return static_cast<Shared *>(keep(new Shared())); /* LEAK */
}

OWN_FRAME static Both *object_lost()
{
	return static_cast<Both *>(keep(new Both())); /* LEAK */
}

MAKER(behind_object); /* LEAK */

/* A pointer to a base class with a virtual table counts as a pointer to the object. */
SCENE(base_classes)
{
	Both *both = object_by_second_base();

	both->mine = behind_object(NODE);
	keep(both);
	held[0] = static_cast<Second *>(both);
	held[1] = static_cast<Third *>(object_by_plain_base());
	held[2] = static_cast<Second *>(object_by_virtual_base());
	object_lost();
	planted(object_by_second_base, reachable, 1, sizeof(Both));
	planted(behind_object, reachable, 1, NODE);
	planted(object_by_plain_base, possible, 1, sizeof(Both));
	planted(object_by_virtual_base, reachable, 1, sizeof(Shared));
	planted(object_lost, definite, 1, sizeof(Both));
}

/*
 * String of the C++ library's old ABI. Length, capacity and reference count precede the characters.
 */
struct OldString {
	size_t length;
	size_t capacity;
	int users;
	char text[1];
};

OWN_FRAME static OldString *old_string(const char *text)
{
	size_t length = strlen(text);
	OldString *string = static_cast<OldString *>(keep(operator new(length + 25))); /* LEAK */

	string->length = string->capacity = length;
	string->users = 0;
	memcpy(reinterpret_cast<char *>(string) + 24, text, length + 1);
	return static_cast<OldString *>(keep(string));
}

OWN_FRAME static void *sized_block(size_t size)
{
	size_t *block = static_cast<size_t *>(keep(malloc(size + 8))); /* LEAK */

	*block = size;
	return keep(block + 1);
}

OWN_FRAME static void *new_string()
{
	static std::string text;

	text = std::string(100, 'x'); /* LEAK */
	return keep(&text);
}

SCENE(strings)
{
	held[0] = reinterpret_cast<char *>(old_string("a string that is long")) + 24;
	new_string();
	planted(old_string, reachable, 1, 25 + sizeof("a string that is long") - 1);
	planted(new_string, reachable, 1, 101);
}

/* A block that begins with its size, as in sqlite. The program has only a pointer past the size. */
SCENE(block_that_begins_with_its_size)
{
	held[0] = sized_block(56);
	planted(sized_block, reachable, 1, 64);
}

static std::map<int, std::vector<long>> *map_kept, *map_lost;

OWN_FRAME static std::map<int, std::vector<long>> *make_map()
{
	auto *map = new std::map<int, std::vector<long>>(); /* LEAK */

	return static_cast<std::map<int, std::vector<long>> *>(keep(map));
}

OWN_FRAME static void fill_kept()
{
	for (int i = 0; i < 100; i++)
		(*map_kept)[i].resize(10); /* LEAK */
}

OWN_FRAME static void fill_lost()
{
	for (int i = 0; i < 100; i++)
		(*map_lost)[i].resize(10); /* LEAK */
}

MAKER(between); /* LEAK */

/*
 * Nodes of a map's tree point to their parents, and the root points to the head, which is in the
 * map itself.
 */
SCENE(maps_of_vectors)
{
	map_kept = make_map();
	fill_kept();
	/*
	 * This block separates the vectors' blocks: a vector has a pointer to its end, which may be
	 * the start of the next block.
	 */
	held[0] = between(80);
	map_lost = make_map();
	fill_lost();
	*static_cast<std::map<int, std::vector<long>> *volatile *>(&map_lost) = nullptr;
	planted(between, reachable, 1, 80);
	planted(make_map, reachable, 1, 48);
	planted(make_map, definite, 1, 48);
	planted(fill_kept, reachable, 200, 100 * 64 + 100 * 80);
	planted(fill_lost, indirect, 200, 100 * 64 + 100 * 80);
	differs(lsan, make_map, definite, indirect,
		"in a cycle each block is reachable from another");
}

struct Peer {
	std::shared_ptr<Peer> other;
	long numbers[4];
};

OWN_FRAME static std::shared_ptr<Peer> shared_peer()
{
	return std::make_shared<Peer>(); /* LEAK */
}

static std::shared_ptr<Peer> peer_kept;

OWN_FRAME static std::shared_ptr<Peer> shared_and_kept()
{
	return std::make_shared<Peer>(); /* LEAK */
}

OWN_FRAME static void join_peers()
{
	auto one = shared_peer(), other = shared_peer();

	one->other = other;
	other->other = one;
}

/* Two objects with shared pointers to each other are never destroyed. */
SCENE(shared_pointers_in_a_circle)
{
	join_peers();
	peer_kept = shared_and_kept();
	planted(shared_peer, definite, 1, 64);
	planted(shared_peer, indirect, 1, 64);
	planted(shared_and_kept, reachable, 1, 64);
	differs(lsan, shared_peer, definite, indirect,
		"in a cycle each block is reachable from another");
}

static std::function<void *()> *function_kept;

OWN_FRAME static void capture(void *a, void *b, void *c)
{
	static std::function<void *()> function;

	function = [a, b, c]() { return a ? b : c; }; /* LEAK */
	function_kept = &function;
}

MAKER(captured); /* LEAK */

/* Large captures of a std::function are in a separate block. */
SCENE(captured_by_a_function)
{
	capture(captured(NODE), captured(NODE), captured(NODE));
	planted(capture, reachable, 1, 24);
	planted(captured, reachable, 3, 3 * NODE);
}

struct Fault {
	void *words[4];
};

MAKER(behind_fault); /* LEAK */

static std::exception_ptr fault_kept;

OWN_FRAME static void raise_fault()
{
	throw Fault{{nullptr, behind_fault(NODE)}}; /* LEAK */
}

/*
 * The C++ library allocates a header before each exception. Programs have pointers only to the
 * exception.
 */
SCENE(exception_that_is_kept)
{
	try {
		raise_fault();
	} catch (const Fault &) {
		fault_kept = std::current_exception();
	}
	planted(raise_fault, possible, 1, 128 + sizeof(Fault));
	planted(behind_fault, possible, 1, NODE);
}

struct Virtual {
	virtual ~Virtual() = default;
	std::unique_ptr<Virtual> next;
};

OWN_FRAME static std::unique_ptr<Virtual> chained()
{
	return std::make_unique<Virtual>(); /* LEAK */
}

OWN_FRAME static std::unique_ptr<Virtual> chain(int cnt)
{
	std::unique_ptr<Virtual> first;

	for (int i = 0; i < cnt; i++) {
		auto before = chained();

		before->next = std::move(first);
		first = std::move(before);
	}
	return first;
}

/* Leaks an object because it calls release() instead of reset() by mistake. */
SCENE(unique_pointer_that_was_released)
{
	keep(chain(10).release());
	planted(chained, definite, 1, 16);
	planted(chained, indirect, 9, 9 * 16);
}
