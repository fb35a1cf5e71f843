// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Scenes about graphs of pointers: the cases of valgrind's manual, cycles, trees, lists, pools, and
 * random graphs. Blocks are reachable only from global variables, if at all.
 */
#include <sys/mman.h>

#include "prove.h"

#define NODE 32

static void link_to(void *from, size_t word, void *to)
{
	((void *volatile *)from)[word] = to;
}

static void *inside(void *block)
{
	return (char *)block + 16;
}

MAKER(only_marker); /* LEAK */

SCENE(nothing_lost)
{
	held[0] = only_marker(NODE);
	planted(only_marker, reachable, 1, NODE);
}

MAKER(plain_lost); /* LEAK */
MAKER(plain_kept); /* LEAK */

SCENE(plain)
{
	for (int i = 0; i < 5; i++)
		plain_lost(48);
	held[0] = plain_kept(64);
	planted(plain_lost, definite, 5, 5 * 48);
	planted(plain_kept, reachable, 1, 64);
}

MAKER(case1_a); /* LEAK */
MAKER(case2_a); /* LEAK */
MAKER(case2_b); /* LEAK */
MAKER(case3_b); /* LEAK */
MAKER(case4_a); /* LEAK */
MAKER(case4_b); /* LEAK */
MAKER(case5_a); /* LEAK */
MAKER(case6_a); /* LEAK */
MAKER(case6_b); /* LEAK */
MAKER(case7_a); /* LEAK */
MAKER(case7_b); /* LEAK */
MAKER(case8_a); /* LEAK */
MAKER(case8_b); /* LEAK */
MAKER(case9_a); /* LEAK */
MAKER(case9_b); /* LEAK */

/*
 * Chains of pointers to the start of blocks, some beginning at a global variable and some at a lost
 * block.
 */
SCENE(chains_of_begins)
{
	void *a;

	held[0] = case1_a(NODE);
	held[1] = a = case2_a(NODE);
	link_to(a, 0, case2_b(NODE));
	case3_b(NODE);
	a = case4_a(NODE);
	link_to(a, 0, case4_b(48));
	planted(case1_a, reachable, 1, NODE);
	planted(case2_a, reachable, 1, NODE);
	planted(case2_b, reachable, 1, NODE);
	planted(case3_b, definite, 1, NODE);
	planted(case4_a, definite, 1, NODE);
	planted(case4_b, indirect, 1, 48);
}

/* Like chains_of_begins, but with pointers into the middle of a block. */
SCENE(chains_of_interiors)
{
	void *a;

	held[0] = inside(case5_a(NODE));
	held[1] = a = case6_a(NODE);
	link_to(a, 0, inside(case6_b(NODE)));
	held[2] = inside(a = case7_a(NODE));
	link_to(a, 0, case7_b(NODE));
	held[3] = inside(a = case8_a(NODE));
	link_to(a, 0, inside(case8_b(NODE)));
	a = case9_a(NODE);
	link_to(a, 0, inside(case9_b(NODE)));
	planted(case5_a, possible, 1, NODE);
	planted(case6_a, reachable, 1, NODE);
	planted(case6_b, possible, 1, NODE);
	planted(case7_a, possible, 1, NODE);
	planted(case7_b, possible, 1, NODE);
	planted(case8_a, possible, 1, NODE);
	planted(case8_b, possible, 1, NODE);
	planted(case9_a, definite, 1, NODE);
	planted(case9_b, indirect, 1, NODE);
}

MAKER(both_ways); /* LEAK */

/*
 * A block with one pointer to its start and two into its middle: the pointer to the start decides
 * the block's kind, in whichever order the pointers are found.
 */
SCENE(begin_and_interior)
{
	void *block = both_ways(NODE);

	held[0] = inside(block);
	held[1] = block;
	held[2] = inside(block);
	planted(both_ways, reachable, 1, NODE);
}

MAKER(last_byte);   /* LEAK */
MAKER(past_end);    /* LEAK */
MAKER(word_before); /* LEAK */
MAKER(between);     /* LEAK */

/*
 * A pointer to the last byte of a block counts. Pointers past a block's end or before its start do
 * not count. They may point to a neighbouring block, since some allocators leave no gap; this
 * changes nothing, because all neighbours are reachable by pointers to their start.
 */
SCENE(ends_of_blocks)
{
	held[0] = between(48);
	held[1] = (char *)last_byte(48) + 47;
	held[2] = between(48);
	held[3] = (char *)past_end(48) + 48;
	held[4] = between(48);
	held[5] = (char *)word_before(48) - 8;
	held[6] = between(48);
	planted(between, reachable, 4, 4 * 48);
	planted(last_byte, possible, 1, 48);
	planted(past_end, definite, 1, 48);
	planted(word_before, definite, 1, 48);
}

MAKER(selfish);        /* LEAK */
MAKER(selfish_inside); /* LEAK */

SCENE(points_to_itself)
{
	void *block = selfish(NODE);

	link_to(block, 0, block);
	block = selfish_inside(NODE);
	link_to(block, 3, inside(block));
	planted(selfish, definite, 1, NODE);
	planted(selfish_inside, definite, 1, NODE);
}

MAKER(pair_low);  /* LEAK */
MAKER(pair_high); /* LEAK */

/*
 * In an unreachable cycle, the block with the lowest address is definite, and all other blocks are
 * indirect.
 */
SCENE(circle_of_two)
{
	void *low = pair_low(NODE), *high = pair_high(NODE);

	must(low < high, "blocks in ascending order");
	link_to(low, 0, high);
	link_to(high, 0, low);
	planted(pair_low, definite, 1, NODE);
	planted(pair_high, indirect, 1, NODE);
	differs(lsan, pair_low, definite, indirect,
		"in a cycle each block is reachable from another");
}

MAKER(ring_first); /* LEAK */
MAKER(ring_other); /* LEAK */
MAKER(ring_tail);  /* LEAK */

/* A lost cycle of 100 blocks, one of which points to a list of ten more blocks. */
SCENE(circle_with_tail)
{
	void *first = ring_first(NODE), *last = first, *next;

	for (int i = 0; i < 99; i++) {
		next = ring_other(NODE);
		must(last < next, "blocks in ascending order");
		link_to(last, 0, next);
		last = next;
	}
	link_to(last, 0, first);
	for (int i = 0; i < 10; i++) {
		next = ring_tail(48);
		link_to(last, 1, next);
		last = next;
	}
	planted(ring_first, definite, 1, NODE);
	planted(ring_other, indirect, 99, 99 * NODE);
	planted(ring_tail, indirect, 10, 10 * 48);
	differs(lsan, ring_first, definite, indirect,
		"in a cycle each block is reachable from another");
}

MAKER(below_ring); /* LEAK */
MAKER(led_ring);   /* LEAK */
MAKER(above_ring); /* LEAK */

/*
 * A lost block, at a higher address than a cycle, points to the cycle: all blocks of the cycle are
 * indirect.
 */
SCENE(circle_with_head)
{
	void *low = below_ring(NODE), *high = led_ring(NODE), *head = above_ring(NODE);

	link_to(low, 0, high);
	link_to(high, 0, low);
	link_to(head, 0, low);
	planted(below_ring, indirect, 1, NODE);
	planted(led_ring, indirect, 1, NODE);
	planted(above_ring, definite, 1, NODE);
}

MAKER(first_ring);  /* LEAK */
MAKER(first_rest);  /* LEAK */
MAKER(second_ring); /* LEAK */
MAKER(second_rest); /* LEAK */

/* Two lost cycles: the cycle allocated first points to the other cycle. */
SCENE(circle_behind_circle)
{
	void *a = first_ring(NODE), *b = first_rest(NODE), *c = second_ring(NODE),
	     *d = second_rest(NODE);

	link_to(a, 0, b);
	link_to(b, 0, a);
	link_to(b, 1, c);
	link_to(c, 0, d);
	link_to(d, 0, c);
	planted(first_ring, definite, 1, NODE);
	planted(first_rest, indirect, 1, NODE);
	planted(second_ring, indirect, 1, NODE);
	planted(second_rest, indirect, 1, NODE);
	differs(lsan, first_ring, definite, indirect,
		"in a cycle each block is reachable from another");
}

MAKER(under_ring); /* LEAK */
MAKER(under_rest); /* LEAK */
MAKER(upper_ring); /* LEAK */
MAKER(upper_rest); /* LEAK */

/* Like circle_behind_circle, but the cycle allocated last points to the other cycle. */
SCENE(circle_before_circle)
{
	void *a = under_ring(NODE), *b = under_rest(NODE), *c = upper_ring(NODE),
	     *d = upper_rest(NODE);

	link_to(a, 0, b);
	link_to(b, 0, a);
	link_to(c, 0, d);
	link_to(d, 0, c);
	link_to(d, 1, b);
	planted(under_ring, indirect, 1, NODE);
	planted(under_rest, indirect, 1, NODE);
	planted(upper_ring, definite, 1, NODE);
	planted(upper_rest, indirect, 1, NODE);
	differs(lsan, upper_ring, definite, indirect,
		"in a cycle each block is reachable from another");
	differs(valgrind, under_ring, indirect, definite,
		"valgrind starts its search there, and the other cycle points to another block");
}

MAKER(kept_ring); /* LEAK */

SCENE(circle_that_is_held)
{
	void *a = kept_ring(NODE), *b = kept_ring(NODE);

	link_to(a, 0, b);
	link_to(b, 0, a);
	held[0] = b;
	planted(kept_ring, reachable, 2, 2 * NODE);
}

MAKER(lost_root);   /* LEAK */
MAKER(lost_branch); /* LEAK */

static void grow(void *root, int depth)
{
	for (size_t i = 0; depth && i < 2; i++) {
		void *branch = lost_branch(48);

		link_to(branch, 2, root);
		link_to(root, i, branch);
		grow(branch, depth - 1);
	}
}

/* A lost tree. Each node points to its two children and to its parent. */
SCENE(tree_with_parents)
{
	grow(lost_root(NODE), 6);
	planted(lost_root, definite, 1, NODE);
	planted(lost_branch, indirect, 126, 126 * 48);
	differs(lsan, lost_root, definite, indirect,
		"in a cycle each block is reachable from another");
}

MAKER(cut_leaf);  /* LEAK */
MAKER(cut_node);  /* LEAK */
MAKER(tree_kept); /* LEAK */

/* A part of a reachable tree is cut off, and thus lost. */
SCENE(tree_that_was_cut)
{
	void *root = tree_kept(NODE), *left = tree_kept(NODE), *cut = cut_node(NODE);

	held[0] = root;
	link_to(root, 0, left);
	link_to(root, 1, cut);
	link_to(cut, 0, cut_leaf(48));
	link_to(cut, 1, cut_leaf(48));
	link_to(root, 1, NULL);
	planted(tree_kept, reachable, 2, 2 * NODE);
	planted(cut_node, definite, 1, NODE);
	planted(cut_leaf, indirect, 2, 96);
}

MAKER(list_head); /* LEAK */
MAKER(list_rest); /* LEAK */

/* A lost list. Its last node is allocated first, so the head has the highest address. */
SCENE(list_of_thousands)
{
	void *next = NULL, *node;

	for (int i = 0; i < 5000; i++) {
		node = list_rest(NODE);
		link_to(node, 0, next);
		next = node;
	}
	link_to(list_head(48), 0, next);
	planted(list_head, definite, 1, 48);
	planted(list_rest, indirect, 5000, 5000 * NODE);
}

MAKER(half_first); /* LEAK */
MAKER(half_lost);  /* LEAK */
MAKER(half_kept);  /* LEAK */

/*
 * The only pointer to a list points to a node in its middle: the nodes before that node are lost.
 */
SCENE(list_held_at_its_middle)
{
	void *last = half_first(NODE), *next;

	for (int i = 0; i < 10; i++) {
		next = i < 4 ? half_lost(NODE) : half_kept(NODE);
		if (i == 4)
			held[0] = next;
		link_to(last, 0, next);
		last = next;
	}
	planted(half_first, definite, 1, NODE);
	planted(half_lost, indirect, 4, 4 * NODE);
	planted(half_kept, reachable, 6, 6 * NODE);
}

MAKER(double_kept);  /* LEAK */
MAKER(double_first); /* LEAK */
MAKER(double_lost);  /* LEAK */

/*
 * Two doubly linked lists. A pointer to the middle of one list makes all its nodes reachable; the
 * other list is lost.
 */
SCENE(lists_with_links_both_ways)
{
	void *last = double_kept(NODE), *next;

	for (int i = 0; i < 9; i++) {
		next = double_kept(NODE);
		link_to(last, 0, next);
		link_to(next, 1, last);
		last = next;
		if (i == 4)
			held[0] = next;
	}
	last = double_first(48);
	for (int i = 0; i < 9; i++) {
		next = double_lost(NODE);
		link_to(last, 0, next);
		link_to(next, 1, last);
		last = next;
	}
	planted(double_kept, reachable, 10, 10 * NODE);
	planted(double_first, definite, 1, 48);
	planted(double_lost, indirect, 9, 9 * NODE);
	differs(lsan, double_first, definite, indirect,
		"in a cycle each block is reachable from another");
}

MAKER(embedded); /* LEAK */

/*
 * A list with embedded links, as in the kernel: each link points from the middle of an object to
 * the middle of the next object. All objects must be possible leaks.
 */
SCENE(list_of_embedded_links)
{
	void *last = NULL;

	for (int i = 0; i < 20; i++) {
		void *node = embedded(64);

		link_to(node, 4, last);
		last = (char *)node + 32;
	}
	held[0] = last;
	planted(embedded, possible, 20, 20 * 64);
}

MAKER(shared_by_two); /* LEAK */
MAKER(one_owner);     /* LEAK */
MAKER(other_owner);   /* LEAK */

/* Two lost blocks point to the same block, which is counted once. */
SCENE(diamond)
{
	void *block = shared_by_two(64);

	link_to(one_owner(NODE), 0, block);
	link_to(other_owner(48), 0, block);
	planted(shared_by_two, indirect, 1, 64);
	planted(one_owner, definite, 1, NODE);
	planted(other_owner, definite, 1, 48);
}

MAKER(lost_to_kept); /* LEAK */
MAKER(kept_by_both); /* LEAK */

SCENE(lost_block_points_to_a_kept_one)
{
	void *block = kept_by_both(64);

	held[0] = block;
	link_to(lost_to_kept(NODE), 0, block);
	planted(kept_by_both, reachable, 1, 64);
	planted(lost_to_kept, definite, 1, NODE);
}

MAKER(last_word_holder); /* LEAK */
MAKER(last_word_held);   /* LEAK */
MAKER(tail_holder);      /* LEAK */
MAKER(tail_held);        /* LEAK */

/* A pointer in the last whole word of a block counts. A pointer in an unaligned word does not. */
SCENE(last_words)
{
	char *block = last_word_holder(40 + 7);
	void *to;

	held[0] = block;
	link_to(block, 4, last_word_held(NODE));
	block = tail_holder(32 + 13);
	held[1] = block;
	to = tail_held(NODE);
	memcpy(block + 32 + 5, &to, sizeof(to));
	planted(last_word_holder, reachable, 1, 47);
	planted(last_word_held, reachable, 1, NODE);
	planted(tail_holder, reachable, 1, 45);
	planted(tail_held, definite, 1, NODE);
}

MAKER(pool_memory); /* LEAK */
MAKER(from_pieces); /* LEAK */
MAKER(pool_lost);   /* LEAK */
MAKER(from_lost);   /* LEAK */

/*
 * Two pools, each a single block that is handed out in pieces. The program has pointers to pieces
 * of the first pool, but not to its beginning, and none into the second pool.
 */
SCENE(pool_of_pieces)
{
	char *pool = pool_memory(4096);

	for (size_t i = 1; i <= 5; i++) {
		held[i] = pool + i * 256;
		link_to(pool + i * 256, 0, from_pieces(NODE));
	}
	pool = pool_lost(4096);
	for (size_t i = 1; i <= 5; i++)
		link_to(pool + i * 256, 0, from_lost(NODE));
	planted(pool_memory, possible, 1, 4096);
	planted(from_pieces, possible, 5, 5 * NODE);
	planted(pool_lost, definite, 1, 4096);
	planted(from_lost, indirect, 5, 5 * NODE);
}

MAKER(delta_block); /* LEAK */

/*
 * Blocks are first reachable and later lost: each report must show the state at the time of the
 * report.
 */
SCENE(from_kept_to_lost)
{
	void *a = delta_block(NODE);

	held[0] = a;
	link_to(a, 0, delta_block(NODE));
	a = NULL;
	planted(delta_block, reachable, 2, 2 * NODE);
	stage();
	held[0] = inside(held[0]);
	planted(delta_block, possible, 2, 2 * NODE);
	stage();
	held[0] = NULL;
	planted(delta_block, definite, 1, NODE);
	planted(delta_block, indirect, 1, NODE);
}

MAKER(one_of_many); /* LEAK */

/* All blocks of an allocation site are lost, except one. */
SCENE(one_is_held)
{
	for (int i = 0; i < 10; i++)
		held[0] = one_of_many(NODE);
	planted(one_of_many, reachable, 1, NODE);
	planted(one_of_many, definite, 9, 9 * NODE);
}

#define RANDOM_CNT 2000

/* A random graph without cycles: pointers go only from lower to higher block numbers. */
struct graph {
	void *blocks[RANDOM_CNT];
	/* expected kinds: LOST (definite), HANGING (indirect), POSSIBLE or REACHABLE */
	unsigned char kinds[RANDOM_CNT];
	unsigned int state;
};

enum { LOST, HANGING, POSSIBLE, REACHABLE };

static unsigned int next_random(struct graph *graph)
{
	graph->state = graph->state * 1103515245 + 12345;
	return graph->state >> 16;
}

MAKER(random_block); /* LEAK */

static void add_edge(struct graph *graph, size_t from, size_t to, size_t word)
{
	int whole = next_random(graph) % 4 != 0;
	unsigned char from_kind = graph->kinds[from], kind = HANGING;

	link_to(graph->blocks[from], word, whole ? graph->blocks[to] : inside(graph->blocks[to]));
	if (from_kind >= POSSIBLE)
		kind = from_kind == REACHABLE && whole ? REACHABLE : POSSIBLE;
	if (kind > graph->kinds[to])
		graph->kinds[to] = kind;
}

/*
 * Allocates the blocks and stores pointers to some of them in `held`. Then stores in each block, in
 * the order of their numbers, pointers to blocks with higher numbers. So the kind of a block is
 * final before a pointer is stored in it.
 */
static void tangle(struct graph *graph)
{
	for (size_t i = 0; i < RANDOM_CNT; i++)
		graph->blocks[i] = random_block(NODE);
	for (size_t i = 0; i < 20; i++) {
		size_t block = next_random(graph) % RANDOM_CNT;
		int whole = next_random(graph) % 2;

		held[i] = whole ? graph->blocks[block] : inside(graph->blocks[block]);
		if (graph->kinds[block] < (whole ? REACHABLE : POSSIBLE))
			graph->kinds[block] = whole ? REACHABLE : POSSIBLE;
	}
	for (size_t i = 0; i + 1 < RANDOM_CNT; i++)
		for (size_t word = 0; word < 2; word++)
			if (next_random(graph) % 3 == 0)
				add_edge(graph, i,
					 i + 1 + next_random(graph) % (RANDOM_CNT - i - 1), word);
}

static void plant_random(unsigned int seed)
{
	static const char *const names[] = {"definite", "indirect", "possible", "reachable"};
	struct graph *graph = (struct graph *)mmap(NULL, sizeof(*graph), PROT_READ | PROT_WRITE,
						   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t counts[4] = {0};

	must(graph != MAP_FAILED, "mmap");
	graph->state = seed;
	tangle(graph);
	for (size_t i = 0; i < RANDOM_CNT; i++)
		counts[graph->kinds[i]]++;
	munmap(graph, sizeof(*graph));
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		must(counts[i] != 0, "blocks of each kind");
		say_kind("random_block", names[i], counts[i], counts[i] * NODE);
	}
}

SCENE(random_graph)
{
	plant_random(1);
}

SCENE(another_random_graph)
{
	plant_random(20);
}
