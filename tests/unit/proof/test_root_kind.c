// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests what kind of memory a root is in. ELF headers are read from the target, which may make them
 * up and change them while they are read.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proof/root_kind.h"
#include "tests/unit/proof/fake_memory.h"

#define PAGE 4096ULL
#define BASE 0x555500000000ULL
#define BSS (BASE + 2 * PAGE)
#define PAGES 5

struct world {
	struct fake_memory fake;
	struct mapping mappings[8];
	struct thread_state thread;
	struct thread_states threads;
	struct heap_picture picture;
};

/*
 * Makes the mappings: a file's header, its data, memory that may be its .bss, and memory without a
 * file.
 */
static void begin(struct world *world)
{
	const struct mapping mappings[] = {
		{.start = BASE, .end = BASE + PAGE, .readable = true, .path = "/bin/program"},
		{.start = BASE + PAGE,
		 .end = BSS,
		 .offset = PAGE,
		 .writable = true,
		 .path = "/bin/program"},
		{.start = BSS, .end = BSS + PAGE, .writable = true, .path = ""},
		{.start = BSS + PAGE, .end = BSS + 2 * PAGE, .writable = true, .path = "[heap]"},
		{.start = BSS + 2 * PAGE, .end = BSS + 3 * PAGE, .writable = true, .path = ""},
		{.start = BSS + 8 * PAGE, .end = BSS + 9 * PAGE, .writable = true, .path = ""},
	};

	*world = (struct world){.thread = {.known = true, .sp = BSS + 8 * PAGE + 8}};
	fake_memory_init(&world->fake, BASE, PAGES * PAGE / 8);
	memcpy(world->mappings, mappings, sizeof(mappings));
	world->fake.memory.maps = (struct proc_maps){.mappings = world->mappings,
						     .cnt = sizeof(mappings) / sizeof(mappings[0])};
	world->threads = (struct thread_states){.items = &world->thread, .cnt = 1};
	world->picture =
		(struct heap_picture){.memory = &world->fake.memory, .threads = &world->threads};
}

/* Writes the headers of an ELF file whose .bss ends `bytes` bytes after the file's load address. */
static Elf64_Ehdr *put_header(struct world *world, uint64_t bytes)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)world->fake.words;
	Elf64_Phdr *segments = (Elf64_Phdr *)(header + 1);

	*header = (Elf64_Ehdr){
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2, .e_phoff = sizeof(*header)};
	memcpy(header->e_ident, ELFMAG, SELFMAG);
	segments[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_memsz = PAGE};
	segments[1] = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = PAGE, .p_memsz = bytes - PAGE};
	return header;
}

static enum holder_kind kind_of(const struct world *world, uint64_t addr)
{
	return root_kind(&world->picture, addr);
}

static void test_kinds(void **state)
{
	struct world world;

	begin(&world);
	put_header(&world, 2 * PAGE + 8);
	assert_int_equal(kind_of(&world, BASE + PAGE), HOLDER_GLOBAL);
	assert_int_equal(kind_of(&world, BSS), HOLDER_GLOBAL);
	assert_int_equal(kind_of(&world, BSS + PAGE), HOLDER_HEAP);
	assert_int_equal(kind_of(&world, BSS + 2 * PAGE), HOLDER_MEMORY);
	assert_int_equal(kind_of(&world, BSS + 8 * PAGE), HOLDER_STACK);
	assert_int_equal(kind_of(&world, BSS + 20 * PAGE), HOLDER_MEMORY);
	assert_int_equal(kind_of(&world, 0), HOLDER_MEMORY);
	assert_int_equal(kind_of(&world, UINT64_MAX), HOLDER_MEMORY);
	/* The file has no .bss: the mapping after its data is unrelated. */
	put_header(&world, 2 * PAGE);
	assert_int_equal(kind_of(&world, BSS), HOLDER_MEMORY);
	fake_memory_deinit(&world.fake);
}

static void test_hints(void **state)
{
	struct world world;

	begin(&world);
	put_header(&world, 2 * PAGE + 8);
	assert_int_equal(root_hint(&world.picture, BSS), ROOT_HINT_GOOD);
	assert_int_equal(root_hint(&world.picture, BSS + PAGE), ROOT_HINT_NONE);
	assert_int_equal(root_hint(&world.picture, BSS + 8 * PAGE), ROOT_HINT_GOOD);
	world.picture.is_python = true;
	assert_int_equal(root_hint(&world.picture, BSS), ROOT_HINT_GOOD);
	assert_int_equal(root_hint(&world.picture, BSS + 8 * PAGE), ROOT_HINT_WEAK);
	world.mappings[0].path = world.mappings[1].path = "/usr/bin/python3.11";
	assert_int_equal(root_hint(&world.picture, BSS), ROOT_HINT_WEAK);
	world.mappings[0].path = world.mappings[1].path = "/lib/libc.so.6";
	assert_int_equal(root_hint(&world.picture, BSS), ROOT_HINT_RUNTIME);
	fake_memory_deinit(&world.fake);
}

/* With an invalid header, a mapping right after the file's data counts as its .bss. */
static void test_hostile_headers(void **state)
{
	struct world world;
	Elf64_Ehdr *header;

	begin(&world);
	assert_int_equal(kind_of(&world, BSS), HOLDER_GLOBAL);
	header = put_header(&world, 2 * PAGE);
	header->e_phnum = 0;
	assert_int_equal(kind_of(&world, BSS), HOLDER_GLOBAL);
	header->e_phnum = UINT16_MAX;
	assert_int_equal(kind_of(&world, BSS), HOLDER_GLOBAL);
	header = put_header(&world, 2 * PAGE);
	header->e_phentsize = 1;
	assert_int_equal(kind_of(&world, BSS), HOLDER_GLOBAL);
	header = put_header(&world, 2 * PAGE);
	header->e_phoff = UINT64_MAX - 8;
	assert_int_equal(kind_of(&world, BSS), HOLDER_GLOBAL);
	header->e_phoff = PAGES * PAGE - sizeof(Elf64_Phdr);
	assert_int_equal(kind_of(&world, BSS), HOLDER_GLOBAL);
	put_header(&world, UINT64_MAX);
	assert_int_equal(kind_of(&world, BSS), HOLDER_GLOBAL);
	fake_memory_deinit(&world.fake);
}

/*
 * The list of mappings begins with the .bss, or with the file's data before it: the file's header
 * is missing in both cases.
 */
static void test_first_mapping(void **state)
{
	struct world world;

	begin(&world);
	world.fake.memory.maps.mappings = &world.mappings[2];
	world.fake.memory.maps.cnt -= 2;
	assert_int_equal(kind_of(&world, BSS), HOLDER_MEMORY);
	world.fake.memory.maps.mappings = &world.mappings[1];
	world.fake.memory.maps.cnt++;
	assert_int_equal(kind_of(&world, BSS), HOLDER_GLOBAL);
	fake_memory_deinit(&world.fake);
}

/* Memory whose header changes with each read. */
struct changing {
	struct memory memory;
	struct world *world;
	size_t reads;
};

static ssize_t read_changing(const struct memory *memory, uint64_t addr, void *buf, size_t len)
{
	struct changing *changing = (struct changing *)memory;
	const struct memory *whole = &changing->world->fake.memory;

	if (addr == BASE)
		put_header(changing->world, changing->reads++ % 2 ? 2 * PAGE : 2 * PAGE + 8);
	return whole->ops->read(whole, addr, buf, len);
}

static void test_changing_header(void **state)
{
	static const struct memory_ops ops = {.read = read_changing};
	struct changing changing = {0};
	struct world world;

	begin(&world);
	changing.memory = world.fake.memory;
	changing.memory.ops = &ops;
	changing.world = &world;
	world.picture.memory = &changing.memory;
	for (size_t i = 0; i < 4; i++) {
		bool is_file = changing.reads % 2 == 0;

		assert_int_equal(root_hint(&world.picture, BSS),
				 is_file ? ROOT_HINT_GOOD : ROOT_HINT_NONE);
	}
	assert_int_equal(changing.reads, 4);
	fake_memory_deinit(&world.fake);
}

static void test_python(void **state)
{
	struct world world;

	begin(&world);
	assert_false(root_is_python(&world.fake.memory.maps));
	world.mappings[0].path = "/usr/bin/python3.11";
	assert_false(root_is_python(&world.fake.memory.maps));
	world.mappings[0].executable = true;
	assert_true(root_is_python(&world.fake.memory.maps));
	world.mappings[0].path = "python3";
	assert_false(root_is_python(&world.fake.memory.maps));
	fake_memory_deinit(&world.fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),           cmocka_unit_test(test_hints),
		cmocka_unit_test(test_hostile_headers), cmocka_unit_test(test_first_mapping),
		cmocka_unit_test(test_changing_header), cmocka_unit_test(test_python),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
