// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which function of a stack is blamed for the stack's memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "options/options.h"
#include "report/frame_walk.h"
#include "report/function_name.h"
#include "report/naming.h"
#include "report/wrapper_names.h"
#include "tests/unit/lib/fake_symbols.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define MOST 8

/*
 * A stack and the expected result. A frame is "module|function", or "module|inlined,function" with
 * inlined functions first. A function may be followed by "@" and its source file.
 */
struct stack {
	const char *frames[MOST];
	const char *named; /* name of the blamed function; NULL if it is unnamed */
	size_t frame;
	const char *through; /* library function that the blamed function has called, or NULL */
	char *own[2];
	size_t wrapped_frame;
	bool in_pool;
	char *program; /* name of the process; NULL for "app" */
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
	"Text std::operator+<char, std::allocator<char> >(char const*)",
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
	"py::keep:/srv/malloc/app.py",
	"JS:*keep /srv/malloc/app.js:3:9",
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
			fail_msg("not taken for a wrapper: %s", wrapper_symbols[i]);
	for (size_t i = 0; i < LENGTH(other_symbols); i++)
		if (function_is_wrapper(other_symbols[i]))
			fail_msg("taken for a wrapper: %s", other_symbols[i]);
}

/* Stores a frame's text in `store` and its functions in `frames`; an unnamed one is left out. */
static struct sym_location location_of(const char *text, char *store, struct sym_frame *frames)
{
	struct sym_location location = {.frames = frames};
	char *at;

	strcpy(store, text);
	at = strchr(store, '|');
	*at++ = 0;
	location.module = *store ? store : NULL;
	for (char *name = strtok(at, ","); name; name = strtok(NULL, ",")) {
		if (location.frame_cnt)
			frames[location.frame_cnt - 1].inlined = true;
		frames[location.frame_cnt].symbol = name;
		name = strchr(name, '@');
		if (name) {
			*name++ = 0;
			frames[location.frame_cnt].file = name;
		}
		location.frame_cnt++;
	}
	return location;
}

static const char *name_of(const struct sym_location *location, const struct stack_pos *place,
			   char *store)
{
	if (location->frame_cnt)
		return location->frames[place->function].symbol;
	snprintf(store, 32, "at %zu", place->frame);
	return store;
}

static void check(const struct stack *stack)
{
	struct sym_frame frames[MOST][4] = {0};
	struct sym_location locations[MOST];
	char store[MOST][100];
	uint64_t addrs[MOST];
	struct process process = {.comm = stack->program ?: "app"};
	struct site site = {.id = 1, .process = &process, .bytes = 1, .count = 1, .frames = addrs};
	const struct sym_location *found[MOST];
	struct report_site shown = {.site = &site,
				    .locations = found,
				    .wrapped_frame = stack->wrapped_frame,
				    .in_pool = stack->in_pool};
	struct options opts = {.own = (char **)stack->own,
			       .own_cnt = !!stack->own[0] + !!stack->own[1]};
	struct frame_walk walk;
	struct fake_symbols fake;
	const char *named, *through = NULL;
	char place_name[32];
	size_t met = 0;

	for (size_t i = 0; i < MOST && stack->frames[i]; i++) {
		addrs[i] = 0x1000 + i;
		locations[i] = location_of(stack->frames[i], store[i], frames[i]);
		locations[i].addr = addrs[i];
		site.frame_cnt++;
	}
	fake = fake_symbols_of(locations, site.frame_cnt);
	report_site_name(&opts, &fake.backend, NULL, &shown);
	assert_int_equal(frame_walk_blamed(&walk, &shown), site.frame_cnt > 0);
	if (!site.frame_cnt)
		return;
	named = walk.frame ? walk.frame->symbol : NULL;
	if (walk.next != stack->frame || !named != !stack->named ||
	    (named && strcmp(named, stack->named)))
		fail_msg("%s: blamed %s in frame %zu", stack->frames[0], named, walk.next);
	if (shown.has_through)
		through = name_of(found[shown.through.frame], &shown.through, place_name);
	if (!through != !stack->through || (through && strcmp(through, stack->through)))
		fail_msg("%s: through %s", stack->frames[0], through);
	assert_true(frame_walk_at_blamed(&walk));
	for (frame_walk_begin(&walk, &shown); frame_walk_next(&walk);)
		met += frame_walk_at_blamed(&walk);
	assert_int_equal(met, 1);
}

static const struct stack stacks[] = {
	{.frames = {NULL}},
	{.frames = {"app|leak", "app|main"}, .named = "leak"},
	{.frames = {"app|malloc", "app|zmalloc", "app|leak", "app|main"},
	 .named = "leak",
	 .frame = 2},
	{.frames = {"app|xmalloc,xstrdup,keep,load", "app|main"}, .named = "keep"},
	{.frames = {"app|xmalloc,xstrdup", "app|keep,load", "app|main"},
	 .named = "keep",
	 .frame = 1},
	/* If a library function allocates for its caller, the caller is blamed. */
	{.frames = {"/lib/libc.so.6|_IO_file_open", "/lib/libc.so.6|fopen", "app|open_log",
		    "app|main"},
	 .named = "open_log",
	 .frame = 2,
	 .through = "fopen"},
	{.frames = {"/lib/libstdc++.so.6|std::grow", "app|std::vector<int>::push_back(int)",
		    "app|add(int)"},
	 .named = "add(int)",
	 .frame = 2},
	{.frames = {"/lib/libssl.so.3|CRYPTO_malloc", "/lib/libssl.so.3|BUF_grow",
		    "/lib/libssl.so.3|SSL_new", "app|accept_one", "app|main"},
	 .named = "accept_one",
	 .frame = 3,
	 .through = "SSL_new"},
	/*
	 * A library function is called by a wrapper of the program; a function of the program is
	 * called by a library.
	 */
	{.frames = {"/usr/lib/libz.so.1|deflateInit2_", "app|my_zalloc", "app|pack", "app|main"},
	 .named = "pack",
	 .frame = 2,
	 .through = "deflateInit2_"},
	{.frames = {"app|keep_row", "/usr/lib/libsqlite3.so.0|sqlite3_exec", "app|load",
		    "app|main"},
	 .named = "keep_row"},
	/* If a named function ends with a tail call, its frame has no name. */
	{.frames = {"/lib/libcrypto.so.3|BUF_MEM_grow", "/lib/libssl.so.3|", "/lib/libssl.so.3|",
		    "app|accept_one"},
	 .named = "accept_one",
	 .frame = 3,
	 .through = "at 2"},
	{.frames = {"/lib/libssl.so.3|SSL_new", "/lib/libssl.so.3|", "app|accept_one"},
	 .named = "accept_one",
	 .frame = 2,
	 .through = "SSL_new"},
	/*
	 * strdup() and similar library functions, which only allocate for their caller, are not
	 * named in addition to the blamed function.
	 */
	{.frames = {"/lib/libglib-2.0.so.0|g_malloc", "/lib/libglib-2.0.so.0|g_strdup", "app|keep",
		    "app|main"},
	 .named = "keep",
	 .frame = 2},
	{.frames = {"/lib/libc.so.6|strdup", "app|keep", "app|main"}, .named = "keep", .frame = 1},
	/* Whether a file belongs to the program depends on its folder. */
	{.frames = {"/lib/libssl.so.3|BIO_new", "/srv/shop/libcart.so|cart_open", "app|serve"},
	 .named = "cart_open",
	 .frame = 1,
	 .through = "BIO_new"},
	{.frames = {"/opt/x/libcart.so|cart_open", "app|serve"},
	 .named = "serve",
	 .frame = 1,
	 .through = "cart_open"},
	{.frames = {"app|lua_newstate@/src/deps/lua/lstate.c", "app|script_new@/src/script.c"},
	 .named = "script_new",
	 .frame = 1,
	 .through = "lua_newstate"},
	{.frames = {"app|boost::make@/usr/include/boost/a.hpp,connect@a.cc", "app|main"},
	 .named = "connect",
	 .through = "boost::make"},
	{.frames = {"/opt/x/libcart.so|cart_open", "app|serve"},
	 .named = "cart_open",
	 .own = {"/srv", "/opt/x/"}},
	{.frames = {"app|list_add@/home/me/base/list.c", "app|serve@/home/me/shop/serve.c"},
	 .named = "serve",
	 .frame = 1,
	 .through = "list_add",
	 .own = {"shop"}},
	{.frames = {"app|list_add", "app|serve"}, .named = "list_add", .own = {"/srv/shop"}},
	/* The executable only calls its own library, which is nearly all of the program. */
	{.frames = {"/usr/lib/libc++x.so|make", "/usr/lib/libaria2.so.0.0.0|add_uri",
		    "/usr/lib/libaria2.so.0.0.0|execute", "/usr/bin/aria2c|"},
	 .named = "add_uri",
	 .frame = 1,
	 .through = "make",
	 .program = "aria2c"},
	{.frames = {"/usr/lib/dovecot/modules/libsql.so|query", "/usr/lib/libdovecot.so.0|run"},
	 .named = "query",
	 .program = "dovecot"},
	{.frames = {"/usr/lib/libsql.so|query", "/usr/lib/libdovecot-sql.so.0|run"},
	 .named = "run",
	 .frame = 1,
	 .through = "query",
	 .program = "dovecot"},
	{.frames = {"/usr/lib/libxml2.so.2|grow", "/usr/lib/libxml2.so.2|read", "/bin/xml|"},
	 .named = "read",
	 .frame = 1,
	 .program = "xml"},
	{.frames = {"/usr/lib/libssh.so.4|grow", "/usr/lib/libssh.so.4|read", "/bin/sshd|"},
	 .named = "read",
	 .frame = 1,
	 .program = "sshd"},
	{.frames = {"/usr/lib/x86_64-linux-gnu/rsyslog/imtcp.so|accept", "/usr/lib/libx.so|run"},
	 .named = "accept",
	 .program = "rsyslogd"},
	/*
	 * These files do not belong to the program: packages of scripts, third-party libraries, and
	 * files in system folders.
	 */
	{.frames = {"/usr/lib/python3/dist-packages/numpy/core.so|new", "/usr/bin/python3|call",
		    "[jit]|py::handle:/srv/app.py"},
	 .named = "py::handle:/srv/app.py",
	 .frame = 2,
	 .through = "new",
	 .program = "python3"},
	/*
	 * First, a program embeds an interpreter's library. Then an interpreter's executable runs a
	 * script through the interpreter's library.
	 */
	{.frames = {"/usr/lib/liblua5.4.so.0|luaH_resize", "/usr/lib/liblua5.4.so.0|lua_pcallk",
		    "/srv/game|run_turn"},
	 .named = "run_turn",
	 .frame = 2,
	 .through = "lua_pcallk"},
	{.frames = {"/usr/lib/libpython3.11.so.1.0|resize", "[jit]|py::handle:/srv/app.py",
		    "/usr/lib/libpython3.11.so.1.0|run", "/usr/bin/python3.11|main"},
	 .named = "py::handle:/srv/app.py",
	 .frame = 1,
	 .program = "python3"},
	{.frames = {"/usr/lib/python3/lib-x/core.so|new", "/usr/bin/python3|call",
		    "[jit]|py::handle:/srv/app.py"},
	 .named = "py::handle:/srv/app.py",
	 .frame = 2,
	 .through = "new",
	 .program = "python3"},
	{.frames = {"/opt/shop/third_party/lib/shop/libz.so|deflate", "/opt/shop/bin/shop|pack"},
	 .named = "pack",
	 .frame = 1,
	 .through = "deflate",
	 .program = "shop"},
	{.frames = {"/opt/shop/lib/libssl.so.3|SSL_new", "/opt/shop/bin/shop|connect_peer"},
	 .named = "connect_peer",
	 .frame = 1,
	 .through = "SSL_new",
	 .program = "shop"},
	{.frames = {"/usr/local/lib/libssl.so.3|SSL_new", "/usr/lib/postfix/sbin/local|deliver"},
	 .named = "deliver",
	 .frame = 1,
	 .through = "SSL_new",
	 .program = "local"},
	{.frames = {"/usr/lib/libx.so.3|new_one", "/usr/bin/x|run"},
	 .named = "run",
	 .frame = 1,
	 .through = "new_one",
	 .program = "x"},
	{.frames = {"/usr/lib/libpython3.11.so|grow", "/usr/lib/libpython3.11.so|Py_Main",
		    "/usr/bin/python3.11|"},
	 .named = "grow",
	 .program = "python3.11"},
	{.frames = {"/usr/bin/python3.12|list_resize", "/usr/bin/python3.12|list_append",
		    "[jit]|py::push:/usr/lib/python3.12/heapq.py", "[jit]|py::keep:/srv/app.py",
		    "/usr/bin/python3.12|_PyEval_Vector"},
	 .named = "py::keep:/srv/app.py",
	 .frame = 3,
	 .through = "py::push:/usr/lib/python3.12/heapq.py"},
	{.frames = {"/usr/bin/python3.11|list_resize",
		    "[script]|py::push:/usr/lib/python3.11/heapq.py",
		    "[script]|py::keep:/srv/app.py", "/usr/bin/python3.11|_PyEval_Vector"},
	 .named = "py::keep:/srv/app.py",
	 .frame = 2,
	 .through = "py::push:/usr/lib/python3.11/heapq.py"},
	/* The program contains the interpreter. */
	{.frames = {"/srv/shop|list_resize", "[script]|py::keep:/srv/app.py",
		    "/srv/shop|_PyEval_Vector", "/srv/shop|main"},
	 .named = "py::keep:/srv/app.py",
	 .frame = 1},
	{.frames = {"/usr/bin/python3.13|list_resize", "[script]|py::__init__:__init__",
		    "[script]|py::keep:/srv/app.py", "/usr/bin/python3.13|_PyEval_Vector"},
	 .named = "py::keep:/srv/app.py",
	 .frame = 2,
	 .through = "py::__init__:__init__"},
	/* Code that only runs the event loop is not to blame for what tasks allocate. */
	{.frames = {"/usr/bin/python3.11|list_resize",
		    "[script]|py::push:/usr/lib/python3.11/heapq.py",
		    "[script]|py::sleep:/usr/lib/python3.11/asyncio/tasks.py",
		    "/usr/bin/python3.11|_PyEval_Vector",
		    "[script]|py::Handle._run:/usr/lib/python3.11/asyncio/events.py",
		    "[script]|py::<module>:/srv/app.py", "/usr/bin/python3.11|_PyEval_Vector"},
	 .named = "py::sleep:/usr/lib/python3.11/asyncio/tasks.py",
	 .frame = 2,
	 .through = "py::push:/usr/lib/python3.11/heapq.py"},
	{.frames = {"/usr/bin/python3.11|list_resize", "[script]|py::keep:/srv/app.py",
		    "[script]|py::Handle._run:/usr/lib/python3.11/asyncio/events.py",
		    "[script]|py::<module>:/srv/app.py", "/usr/bin/python3.11|_PyEval_Vector"},
	 .named = "py::keep:/srv/app.py",
	 .frame = 1},
	/* Constructors that Python's library compiles from strings. */
	{.frames = {"/usr/bin/python3.13|new_dict",
		    "[script]|py::__create_fn__.<locals>.__init__:<string>",
		    "[script]|py::keep:/srv/app.py", "/usr/bin/python3.13|_PyEval_Vector"},
	 .named = "py::keep:/srv/app.py",
	 .frame = 2,
	 .through = "py::__create_fn__.<locals>.__init__:<string>"},
	{.frames = {"/usr/bin/python3.11|new_tuple", "[script]|py::<lambda>:<string>",
		    "[script]|py::keep:<string>", "/usr/bin/python3.11|_PyEval_Vector"},
	 .named = "py::keep:<string>",
	 .frame = 2,
	 .through = "py::<lambda>:<string>"},
	{.frames = {"/usr/lib/libsqlite3.so.0|sqlite3_step", "/usr/lib/x.so|pysqlite_step",
		    "/usr/bin/python3|cfunction_call", "/usr/bin/python3|main"},
	 .named = "pysqlite_step",
	 .frame = 1},
	{.frames = {"/usr/bin/python3|", "/usr/bin/python3|PyList_Append", "/usr/bin/python3|main"},
	 .named = "PyList_Append",
	 .frame = 1},
	{.frames = {"/usr/bin/node|v8::internal::Heap::Grow()", "[jit]|Builtin:ArrayPush",
		    "[jit]|JS:*remember /srv/app.js:3:1", "[jit]|JS:~emit node:events:510:44"},
	 .named = "JS:*remember /srv/app.js:3:1",
	 .frame = 2},
	/* Classes of Java itself, and code that the JVM generates for itself, are not the program's
	   own. */
	{.frames = {"/opt/jdk/libjvm.so|Unsafe_AllocateMemory0",
		    "[jit]|long jdk.internal.misc.Unsafe.allocateMemory0(long)",
		    "[jit]|StubRoutines (1)", "[jit]|void java.nio.DirectByteBuffer.<init>(int)",
		    "[jit]|void Cart.add(int)", "/opt/jdk/libjvm.so|JavaMain"},
	 .named = "void Cart.add(int)",
	 .frame = 4,
	 .through = "void java.nio.DirectByteBuffer.<init>(int)"},
	{.frames = {"/usr/lib/libz.so.1|deflateInit2_",
		    "/opt/jdk/libzip.so|Java_java_util_zip_Deflater_init", "[jit]|Interpreter",
		    "/opt/jdk/libjvm.so|JavaMain"},
	 .named = "Java_java_util_zip_Deflater_init",
	 .frame = 1},
	{.frames = {"/opt/jdk/libjvm.so|os::malloc", "[jit]|Ljava/util/zip/Deflater;::init",
		    "[jit]|Lshop/Cart;::pack"},
	 .named = "Lshop/Cart;::pack",
	 .frame = 2,
	 .through = "Ljava/util/zip/Deflater;::init"},
	{.frames = {"/usr/bin/beam.smp|erts_alloc", "[jit]|$global::call_light_bif_shared",
		    "[jit]|$cart:add/2", "/usr/bin/beam.smp|main"},
	 .named = "$cart:add/2",
	 .frame = 2},
	/* A library can be blamed only if it is installed with the program. */
	{.frames = {"/opt/acme/lib/libledger.so.1|ledger_book",
		    "/opt/acme/lib/libledger.so.1|ledger_post", "/opt/acme/bin/app|poll",
		    "/opt/acme/bin/app|main"},
	 .named = "ledger_book"},
	{.frames = {"/usr/lib/firefox/libxul.so|load", "/usr/lib/firefox/app|main"},
	 .named = "load"},
	{.frames = {"/opt/acme/lib/libledger.so|ledger_book", "/opt/bin/app|main"},
	 .named = "main",
	 .frame = 1,
	 .through = "ledger_book"},
	{.frames = {"/opt/acme/vendor/libz.so|deflate", "/opt/acme/app|main"},
	 .named = "main",
	 .frame = 1,
	 .through = "deflate"},
	{.frames = {"/usr/lib/libz.so|deflate", "/usr/bin/app|main"},
	 .named = "main",
	 .frame = 1,
	 .through = "deflate"},
	{.frames = {"/opt/py/lib/libz.so|deflate", "/opt/py/bin/python3.12|main"},
	 .named = "deflate"},
	/* All of the program is in a folder for third-party code. */
	{.frames = {"app|zput@/src/vendor/acme/deps/z/z.c", "app|append@/src/vendor/acme/a.c",
		    "app|main@/src/vendor/acme/main.c"},
	 .named = "append",
	 .frame = 1,
	 .through = "zput"},
	{.frames = {"/srv/vendor/acme/libbook.so|add", "/srv/vendor/acme/app|main"},
	 .named = "add"},
	/* A stack of wrappers and library functions only: one of them is blamed. */
	{.frames = {"app|xmalloc", "/lib/libc.so.6|__libc_start_call_main", "app|_start"},
	 .named = "xmalloc"},
	{.frames = {"app|xmalloc", "app|xstrdup"}, .named = "xmalloc"},
	{.frames = {"/lib/libc.so.6|malloc", "/lib/ld.so.2|dl_init"},
	 .named = "dl_init",
	 .frame = 1},
	{.frames = {"/lib/libglib-2.0.so.0|g_malloc", "/lib/liba.so|helper", "/lib/liba.so|work",
		    "/lib/libglib-2.0.so.0|g_thread_proxy"},
	 .named = "helper",
	 .frame = 1},
	/* The search for the function to blame goes on after unnamed frames. */
	{.frames = {"app|zmalloc", "app|", "app|serve"}, .named = "serve", .frame = 2},
	{.frames = {"app|zmalloc", "|", "app|serve"}, .named = "serve", .frame = 2},
	{.frames = {"|", "app|serve"}, .named = "serve", .frame = 1},
	{.frames = {"/lib/libsqlite3.so.0|", "/lib/libsqlite3.so.0|sqlite3_step", "app|", "app|"},
	 .named = "sqlite3_step",
	 .frame = 1},
	{.frames = {"/lib/libc.so.6|strdup", "app|", "app|"}, .frame = 1},
	/* An event loop of a library called the program, so it is not to blame. */
	{.frames = {"app|", "app|", "/usr/lib/libevent.so|", "/usr/lib/libevent.so|event_base_loop",
		    "app|"}},
	/* wrapped_frame: number of innermost functions that were found to behave like wrappers */
	{.frames = {"app|get_mem", "app|grow", "app|load", "app|main"},
	 .named = "load",
	 .frame = 2,
	 .through = "grow",
	 .wrapped_frame = 2},
	{.frames = {"app|get_mem"}, .named = "get_mem", .wrapped_frame = 1},
	/* In a pool, the function that happened to make the pool grow is not blamed. */
	{.frames = {"/lib/libc.so.6|mmap", "/usr/lib/libgc.so.1|", "/usr/lib/libgc.so.1|GC_malloc",
		    "app|garbage", "app|main"},
	 .named = "GC_malloc",
	 .frame = 2,
	 .in_pool = true},
	{.frames = {"/usr/lib/libgc.so.1|grow", "app|make", "/usr/lib/libgc.so.1|GC_malloc"},
	 .named = "grow",
	 .in_pool = true},
	{.frames = {"/usr/lib/libpython3.11.so|grow", "/usr/bin/python3.11|"},
	 .named = "grow",
	 .in_pool = true},
};

static void culprits(void **state)
{
	for (size_t i = 0; i < LENGTH(stacks); i++)
		check(&stacks[i]);
}

static void short_names(void **state)
{
	static const char *const names[][2] = {
		{"leak", "leak"},
		{"pkg::Class::method(int, char const*) const", "pkg::Class::method"},
		{"std::vector<int> make_ints<int>(int)", "make_ints<int>"},
		{"void Map<std::string, std::vector<int> >::put<int>(int&&)", "Map<...>::put<int>"},
		{"load.isra.0", "load"},
		{"load.part.0.constprop.1", "load"},
		{"load [clone .cold]", "load"},
		{"load(int) [clone .isra.0]", "load"},
		{"ztry.lto_priv.0", "ztry"},
		{"dlopen@@GLIBC_2.34", "dlopen"},
		{"main.(*Server).Serve", "main.(*Server).Serve"},
		{"(anonymous namespace)::load(int)", "load"},
		{"v8::(anonymous namespace)::load(int)", "v8::load"},
		{"Shop::operator()(int)", "Shop::operator()"},
		{"Shop::operator<<(int)", "Shop::operator<<"},
		{"Text std::operator+<char, std::allocator<char> >(char const*)",
		 "std::operator+<...>"},
		{"Text& operator<< <char>(Text&)", "operator<< <char>"},
		{"Shop::operator[](int)", "Shop::operator[]"},
		{"my_operator<int>(int)", "my_operator<int>"},
		{"operator new(unsigned long)", "operator new"},
		{"<app::Cache as app::Store>::put", "app::Cache::put"},
		{"<alloc::vec::Vec<T>>::push", "alloc::vec::Vec<T>::push"},
		{"<alloc::vec::Vec<alloc::string::String> as core::ops::Drop>::drop",
		 "alloc::vec::Vec<...>::drop"},
		{"<Vec<<A as B>::C> as D>::e", "Vec<<A as B>::C>::e"},
		{"<F as core::Fn() -> X>::call", "F::call"},
		{"main::{lambda(int)#1}::operator()(int) const",
		 "main::{lambda(int)#1}::operator()"},
		{"main::{lambda(std::map<int, int>&, long)#1}::operator()() const",
		 "main::{lambda(...)#1}::operator()"},
		{"app::main::{{closure}}", "app::main::{{closure}}"},
		{"{{lambda(", "{{lambda("},
		{"py::keep:/srv/app.py", "keep"},
		{"JS:*remember /srv/app.js:3:1", "remember"},
		{"JS:~ /srv/app.js:3:1", "[script]"},
		{"", ""},
		{"::", "::"},
		{"<", ""},
		{"> operator", "operator"},
		{"a<b", "a<b"},
	};

	for (size_t i = 0; i < LENGTH(names); i++) {
		char *name = function_name_short(names[i][0]);

		assert_string_equal(name, names[i][1]);
		free(name);
	}
}

static void template_names(void **state)
{
	static const char *const names[][2] = {
		{"Handler<5>::remember", "Handler<...>::remember"},
		{"Handler<a::b<int>, 7>::remember(int)", "Handler<...>::remember"},
		{"Foo* create<Foo>(int)", "create<...>"},
		{"std::vector<int> create<int>(int)", "create<...>"},
		{"a::operator<< <x>(x)", "a::operator<< <...>"},
		{"f<>::g<i>", "f<...>::g<...>"},
		{"handle<int>(int)::{lambda()#2}::operator()() const", "handle<...>"},
		/* These are no instances of a template. */
		{"put(std::vector<int>, int)", NULL},
		{"std::vector<int> put(int)", NULL},
		{"a::operator<", NULL},
		{"<app::Cache as app::Store>::put", NULL},
		{"py::f<int>:/srv/a.py", NULL},
		{"plain", NULL},
	};

	for (size_t i = 0; i < LENGTH(names); i++) {
		char *name = function_name_template(names[i][0]);

		if (names[i][1])
			assert_string_equal(name, names[i][1]);
		else
			assert_null(name);
		free(name);
	}
}

/* Two functions are instances of one template or lambda if their texts are equal. */
static void names_of_instances(void **state)
{
	static const struct {
		const char *a, *b;
		bool are_instances;
	} pairs[] = {
		{"put<1>()", "put<std::map<int, long>>()", true},
		{"put<1>()", "take<1>()", false},
		{"auto M<1>::f(int)::{lambda(auto:1 const&)#1}::operator()<A>(A const&) const",
		 "auto M<22>::f(X<int>)::{lambda(auto:1 const&)#1}::operator()<B>(B const&) const",
		 true},
		{"M<1>::f()::{lambda()#1}::operator()() const",
		 "M<2>::f()::{lambda(int (*)())#1}::operator()(int (*)()) const", true},
		{"M<1>::f()::{lambda()#1}::operator()() const",
		 "M<1>::f()::{lambda()#2}::operator()() const", false},
		{"M<1>::f()::{lambda()#1}::operator()() const", "M<1>::f()", false},
		{"auto f()::{lambda(auto:1)#1}::operator()<int>(int) const",
		 "auto f()::{lambda(auto:1)#1}::operator()<char>(char) const", true},
	};

	for (size_t i = 0; i < LENGTH(pairs); i++) {
		char *a = function_name_instances(pairs[i].a);
		char *b = function_name_instances(pairs[i].b);

		assert_non_null(a);
		assert_non_null(b);
		assert_int_equal(!strcmp(a, b), pairs[i].are_instances);
		free(a);
		free(b);
	}
	assert_null(function_name_instances("f(int)::{lambda()#1}::operator()() const"));
}

static void cut_names(void **state)
{
	char name[] = "abcdefghijklmnop";

	function_name_cut(name, 16);
	assert_string_equal(name, "abcdefghijklmnop");
	function_name_cut(name, 10);
	assert_string_equal(name, "abc...mnop");
}

static void script_functions(void **state)
{
	struct script_function script;

	assert_true(script_function_of("JS:*remember /srv/a.js:30:1", &script));
	assert_int_equal(script.line, 30);
	assert_int_equal(script.path_len, strlen("/srv/a.js"));
	assert_true(script_function_of("Function:~run app.js:3", &script));
	assert_int_equal(script.line, 3);
	assert_int_equal(script.path_len, strlen("app.js"));
	assert_true(script_function_of("py::<module>:/srv/a.py", &script));
	assert_int_equal(script.name_len, strlen("<module>"));
	assert_string_equal(script.path, "/srv/a.py");
	assert_false(script_function_of("py::", &script));
	assert_false(script_function_of("JS:", &script));
	assert_false(script_function_of("main", &script));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrappers),           cmocka_unit_test(culprits),
		cmocka_unit_test(short_names),        cmocka_unit_test(cut_names),
		cmocka_unit_test(script_functions),   cmocka_unit_test(template_names),
		cmocka_unit_test(names_of_instances),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
