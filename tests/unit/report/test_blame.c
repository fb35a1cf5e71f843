// SPDX-License-Identifier: GPL-2.0-or-later
/* Which function of a stack is named for its memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/blame.h"
#include "report/frame_walk.h"
#include "report/naming.h"
#include "tests/unit/lib/fake_symbols.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define MOST 8

/* Of a stack: "module:function", "module:function,function" with the inlined ones first. */
struct stack {
	const char *frames[MOST];
	const char *named; /* NULL: a place without a name */
	size_t frame;
};

static const char *const wrapper_symbols[] = {
	"xmalloc",
	"zmalloc_usable",
	"zmalloc",
	"ztrymalloc_usable_internal.lto_priv.0",
	"PyObject_Malloc",
	"_PyObject_Malloc.part.0",
	"_PyMem_RawMalloc",
	"g_malloc0_n",
	"CRYPTO_zalloc",
	"XMALLOC",
	"ngx_palloc",
	"palloc0",
	"repalloc",
	"pg_strdup",
	"sqlite3MemMalloc",
	"my_malloc",
	"xstrndup",
	"kmemdup_noprof",
	"kasprintf",
	"__alloc_skb",
	"AllocSetAlloc",
	"_PyObject_GC_New.isra.0",
	"ggc_internal_alloc(unsigned long, void (*)(void*), unsigned long)",
	"Pool::operator new(unsigned long)",
	"operator new(unsigned long)",
	"std::allocator<int>::allocate(unsigned long)",
	"void std::vector<int, std::allocator<int> >::_M_realloc_insert<int>(int&&)",
	"std::__cxx11::basic_string<char>::_M_create(unsigned long&, unsigned long)",
	"__gnu_cxx::new_allocator<char>::allocate(unsigned long, void const*)",
	"(anonymous namespace)::my_malloc(unsigned long)",
	"void (anonymous namespace)::my_malloc<int>(int)",
	"v8::(anonymous namespace)::my_malloc(unsigned long)",
	"v8::internal::AlignedMalloc(unsigned long)",
	"pool::xmalloc::<u8>",
	"alloc::alloc::alloc",
	"alloc::vec::from_elem::<u8>",
	"<alloc::vec::Vec<u8> as core::clone::Clone>::clone",
	"alloc::raw_vec::RawVec<T,A>::grow_one",
	"hashbrown::raw::RawTable<T>::reserve_rehash",
};

static const char *const other_symbols[] = {
	"main",
	"session_new",
	"itemAlloc",
	"heapAlloc",
	"stackAlloc",
	"session_alloc",
	"alloc",
	"xallocate",
	"create_buffer(std::allocator<char>, malloc_flags)",
	"std::vector<int> make_ints<int>(int)",
	"std::__cxx11::basic_string<char> Session::name() const",
	"Session<my_malloc>::open()",
	"malloc_user::run()",
	"stdlib::copy()",
	"core::Engine::load()",
	"app::load::<app::malloc>",
	"alloc::Pool::grow()",
	"leak(int)::{lambda(int)#1}::operator()(int) const",
	"load [clone .malloc]",
	"(anonymous namespace)::load(malloc_flags)",
	"operator<(Session const&, Session const&)",
	"PyObject_GC_Newer",
	"ngx_alloc2(int)",
	"Kitchen::SlabAlloc(int)",
	"",
	"::",
	"<",
	"(((",
	"> operator",
	"operator",
};

static void wrappers(void **state)
{
	for (size_t i = 0; i < LENGTH(wrapper_symbols); i++)
		if (!function_is_wrapper(wrapper_symbols[i]))
			fail_msg("named for memory: %s", wrapper_symbols[i]);
	for (size_t i = 0; i < LENGTH(other_symbols); i++)
		if (function_is_wrapper(other_symbols[i]))
			fail_msg("taken for a wrapper: %s", other_symbols[i]);
}

/* The stack's functions, in store; what has no name has no frame. */
static struct sym_location location_of(const char *text, char *store, struct sym_frame *frames)
{
	struct sym_location location = {.frames = frames};
	char *at;

	strcpy(store, text);
	at = strchr(store, ':');
	*at++ = 0;
	location.module = *store ? store : NULL;
	for (char *name = strtok(at, ","); name; name = strtok(NULL, ",")) {
		if (location.frame_cnt)
			frames[location.frame_cnt - 1].inlined = true;
		frames[location.frame_cnt++].symbol = name;
	}
	return location;
}

static void check(const struct stack *stack)
{
	struct sym_frame frames[MOST][4] = {0};
	struct sym_location locations[MOST];
	char store[MOST][100];
	uint64_t addrs[MOST];
	struct site site = {.id = 1, .bytes = 1, .count = 1, .frames = addrs};
	const struct sym_location *found[MOST];
	struct report_site shown = {.site = &site, .locations = found};
	struct frame_walk walk;
	struct fake_symbols fake;
	const char *named;
	size_t met = 0;

	for (size_t i = 0; i < MOST && stack->frames[i]; i++) {
		addrs[i] = 0x1000 + i;
		locations[i] = location_of(stack->frames[i], store[i], frames[i]);
		locations[i].addr = addrs[i];
		site.frame_cnt++;
	}
	fake = fake_symbols_of(locations, site.frame_cnt);
	report_site_name(&fake.backend, &shown);
	assert_int_equal(frame_walk_blamed(&walk, &shown), site.frame_cnt > 0);
	if (!site.frame_cnt)
		return;
	named = walk.frame ? walk.frame->symbol : NULL;
	if (walk.next != stack->frame || !named != !stack->named ||
	    (named && strcmp(named, stack->named)))
		fail_msg("%s: named %s of frame %zu", stack->frames[0], named, walk.next);
	assert_true(frame_walk_at_blamed(&walk));
	for (frame_walk_begin(&walk, &shown); frame_walk_next(&walk);)
		met += frame_walk_at_blamed(&walk);
	assert_int_equal(met, 1);
}

static void culprits(void **state)
{
	static const struct stack stacks[] = {
		{{NULL}, NULL, 0},
		{{"app:leak", "app:main"}, "leak", 0},
		{{"app:malloc", "app:zmalloc", "app:leak", "app:main"}, "leak", 2},
		/* What is inlined counts as well. */
		{{"app:xmalloc,xstrdup,keep,load", "app:main"}, "keep", 0},
		{{"app:xmalloc,xstrdup", "app:keep,load", "app:main"}, "keep", 1},
		/* Libraries that ask for whoever calls them. */
		{{"/lib/libc.so.6:fopen", "app:open_log", "app:main"}, "open_log", 1},
		{{"/lib/libstdc++.so.6:grow", "app:std::vector<int>::push_back(int)",
		  "app:add(int)"},
		 "add(int)",
		 2},
		/* But not those that are programs' own. */
		{{"/lib/libssl.so.3:CRYPTO_malloc", "/lib/libssl.so.3:SSL_new", "app:main"},
		 "SSL_new",
		 1},
		/* There is nobody else. */
		{{"app:xmalloc", "/lib/libc.so.6:__libc_start_call_main", "app:_start"},
		 "xmalloc",
		 0},
		{{"app:xmalloc", "app:xstrdup"}, "xmalloc", 0},
		{{"/lib/libc.so.6:malloc", "/lib/ld.so.2:dl_init"}, "dl_init", 1},
		/* A place in a file says where to look, one in nothing does not. */
		{{"app:zmalloc", "app:", "app:main"}, NULL, 1},
		{{"app:zmalloc", ":", "app:main"}, "zmalloc", 0},
		{{":", "app:main"}, NULL, 0},
	};

	for (size_t i = 0; i < LENGTH(stacks); i++)
		check(&stacks[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrappers),
		cmocka_unit_test(culprits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
