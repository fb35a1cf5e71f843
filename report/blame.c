// SPDX-License-Identifier: GPL-2.0-or-later
/* Knows by their names the functions that ask for memory on behalf of others. */
#include "report/blame.h"

#include <ctype.h>
#include <string.h>

#include "report/allocator_frames.h"

/* Anywhere in a function's own name, in small letters or large ones. */
static const char *const wrapper_parts[] = {
	"malloc", "calloc",  "realloc", "memalign",  "zalloc",   "palloc",
	"strdup", "strndup", "memdup",  "mem_alloc", "memalloc", "asprintf",
};

/* Whole names without the underscores before them; of programs that call theirs otherwise. */
static const char *const wrapper_names[] = {
	"xalloc",
	"ngx_alloc", /* nginx */
	"ngx_palloc_block",
	"ngx_palloc_large",
	"AllocSetAlloc", /* PostgreSQL */
	"AllocSetAllocLarge",
	"AllocSetAllocFromNewBlock",
	"AllocSetAllocChunkFromBlock",
	"AllocSetContextCreateInternal",
	"AllocSetRealloc",
	"GenerationAlloc",
	"SlabAlloc",
	"BumpAlloc",
	"MemoryContextAlloc",
	"MemoryContextAllocExtended",
	"MemoryContextAllocZero",
	"MemoryContextAllocHuge",
	"MemoryContextAllocAligned",
	"dynahash_alloc",
	"DynaHashAlloc",
	"g_slice_alloc", /* GLib */
	"g_slice_alloc0",
	"ggc_internal_alloc", /* GCC */
	"ggc_internal_cleared_alloc",
	"ggc_alloc",
	"obstack_begin",
	"obstack_newchunk",
	"PyObject_GC_New", /* CPython */
	"PyObject_GC_NewVar",
	"PyObject_New",
	"PyObject_NewVar",
	"PyType_GenericAlloc",
	"PyType_AllocNoTrack",
	"PyObject_ArenaMmap",
	"new_arena",
	"allocate_from_new_pool",
	"pymalloc_alloc",
	"gc_alloc",
	"alloc_skb", /* the kernel */
	"alloc_skb_with_frags",
	"netdev_alloc_skb",
	"napi_alloc_skb",
	"sock_alloc_send_pskb",
};

/* What the names of the standard libraries of C++ and Rust begin with. */
static const char *const library_prefixes[] = {
	"std::",          "__gnu_cxx::",        "alloc::alloc::", "alloc::borrow::",
	"alloc::boxed::", "alloc::collections", "alloc::fmt::",   "alloc::raw_vec::",
	"alloc::rc::",    "alloc::slice::",     "alloc::str::",   "alloc::string::",
	"alloc::sync::",  "alloc::vec::",       "core::clone::",  "core::iter::",
	"core::ops::",    "core::option::",     "core::ptr::",    "core::result::",
	"core::slice::",  "core::str::",        "hashbrown::",
};

#define CNT(array) (sizeof(array) / sizeof((array)[0]))

/* A function's name in a demangled symbol: without what it returns and takes. */
struct own_name {
	const char *whole; /* with its namespaces */
	const char *last;  /* without */
	const char *end;   /* of both, before the arguments of templates */
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* "<" and ">" of templates stand behind a name; those of operators do not. */
static bool opens_template(const char *symbol, const char *at)
{
	return at == symbol || is_word(at[-1]) || at[-1] == ':';
}

/* The parameters' parenthesis; that of "(anonymous namespace)" has no name before it. */
static bool opens_parameters(const char *symbol, const char *at)
{
	return at > symbol && at[-1] != ':' && at[-1] != ' ';
}

static bool ends_in_operator(const char *symbol, const char *end)
{
	size_t len = strlen("operator");

	return (size_t)(end - symbol) >= len && !strncmp(end - len, "operator", len);
}

static struct own_name own_name(const char *symbol)
{
	struct own_name name = {symbol, symbol, NULL};
	size_t depth = 0;
	const char *at;

	for (at = symbol; *at; at++) {
		if (!depth && *at == '(' && opens_parameters(symbol, at))
			break;
		if (*at == '(' || (*at == '<' && opens_template(symbol, at))) {
			if (!depth++)
				name.end = at;
		} else if ((*at == ')' || *at == '>') && depth) {
			depth--;
		} else if (!depth && *at == ' ' && at[1] == '[') {
			break; /* "[clone .cold]" */
		} else if (!depth && *at == ' ' && !ends_in_operator(symbol, at)) {
			name = (struct own_name){at + 1, at + 1, NULL};
		} else if (!depth && !strncmp(at, "::", 2) && at[2] != '<') {
			name.last = at + 2;
			name.end = NULL;
		}
	}
	if (!name.end || name.end <= name.last)
		name.end = at;
	return name;
}

static bool begins_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* A large letter behind a small one begins a word: "itemAlloc" has no "malloc". */
static bool is_one_word(const char *text, size_t len)
{
	for (size_t i = 1; i < len; i++)
		if (islower((unsigned char)text[i - 1]) && isupper((unsigned char)text[i]))
			return false;
	return true;
}

static bool holds(const struct own_name *name, const char *part)
{
	size_t len = strlen(part);

	for (const char *at = name->last; (size_t)(name->end - at) >= len; at++)
		if (!strncasecmp(at, part, len) && is_one_word(at, len))
			return true;
	return false;
}

static bool is_of_library(const char *whole)
{
	whole += *whole == '<'; /* Rust's methods: "<alloc::vec::Vec<T> as ...>::push" */
	for (size_t i = 0; i < CNT(library_prefixes); i++)
		if (begins_with(whole, library_prefixes[i]))
			return true;
	return false;
}

/* Compilers put ".isra.0" behind it. */
static bool is_known_wrapper(const struct own_name *name)
{
	const char *plain = name->last + strspn(name->last, "_");
	size_t len = strcspn(plain, ".(");

	for (size_t i = 0; name->last == name->whole && i < CNT(wrapper_names); i++)
		if (strlen(wrapper_names[i]) == len && !strncmp(plain, wrapper_names[i], len))
			return true;
	return false;
}

bool function_is_wrapper(const char *symbol)
{
	struct own_name name = own_name(symbol);

	for (size_t i = 0; i < CNT(wrapper_parts); i++)
		if (holds(&name, wrapper_parts[i]))
			return true;
	return is_known_wrapper(&name) || begins_with(name.last, "operator new") ||
	       is_of_library(name.whole);
}

bool frame_is_start(const struct sym_location *location)
{
	const char *symbol = location && location->frame_cnt ? location->frames[0].symbol : NULL;

	return symbol && (begins_with(symbol, "__libc_start") || !strcmp(symbol, "_start"));
}

struct place blamed_of(const struct report_site *shown)
{
	const struct place innermost = {.frame = shown->first_frame};

	for (size_t i = shown->first_frame; i < shown->site->frame_cnt; i++) {
		const struct sym_location *location = shown->locations[i];

		if (!location || !location->module || frame_is_start(location))
			break;
		if (module_is_runtime(location->module))
			continue;
		if (!location->frame_cnt)
			return (struct place){.frame = i};
		for (size_t j = 0; j < location->frame_cnt; j++)
			if (!location->frames[j].symbol ||
			    !function_is_wrapper(location->frames[j].symbol))
				return (struct place){.frame = i, .function = j};
	}
	return innermost;
}
