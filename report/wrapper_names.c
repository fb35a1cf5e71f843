// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists names of functions that allocate on behalf of their callers. */
#include "report/wrapper_names.h"

#include <ctype.h>
#include <string.h>

#include "base/prefix.h"
#include "report/function_name.h"

/*
 * A function is a wrapper if its name, without namespaces, contains one of these texts in upper or
 * lower case.
 */
static const char *const wrapper_parts[] = {
	"malloc", "calloc",  "realloc", "memalign",  "zalloc",   "palloc",
	"strdup", "strndup", "memdup",  "mem_alloc", "memalloc", "asprintf",
};

/* Names of other wrappers, without leading underscores. They must match completely. */
static const char *const wrapper_names[] = {
	"xalloc",
	"ngx_alloc", /* nginx */
	"ngx_palloc_block",
	"ngx_palloc_large",
	"sdsnewlen",     /* Redis */
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
	"MemoryContextAllocZeroAligned",
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

/* Prefixes of the names of functions in the standard libraries of C++ and Rust. */
static const char *const library_prefixes[] = {
	"std::",          "__gnu_cxx::",        "alloc::alloc::", "alloc::borrow::",
	"alloc::boxed::", "alloc::collections", "alloc::fmt::",   "alloc::raw_vec::",
	"alloc::rc::",    "alloc::slice::",     "alloc::str::",   "alloc::string::",
	"alloc::sync::",  "alloc::vec::",       "core::clone::",  "core::iter::",
	"core::ops::",    "core::option::",     "core::ptr::",    "core::result::",
	"core::slice::",  "core::str::",        "hashbrown::",
};

#define CNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * True if the matched text is within one word of a camel-case name. For example, "malloc" must not
 * match the "mAlloc" in "itemAlloc".
 */
static bool is_one_word(const char *text, size_t len)
{
	for (size_t i = 1; i < len; i++)
		if (islower((unsigned char)text[i - 1]) && isupper((unsigned char)text[i]))
			return false;
	return true;
}

static bool is_part(const char *text, size_t len, const char *part)
{
	size_t part_len = strlen(part);

	return len >= part_len && !strncasecmp(text, part, part_len) && is_one_word(text, part_len);
}

/* True if a name contains one of wrapper_parts. */
static bool has_wrapper_part(const struct function_name *name)
{
	for (const char *at = name->last; at < name->end; at++) {
		int first = tolower((unsigned char)*at);

		for (size_t i = 0; i < CNT(wrapper_parts); i++)
			if (*wrapper_parts[i] == first &&
			    is_part(at, (size_t)(name->end - at), wrapper_parts[i]))
				return true;
	}
	return false;
}

static bool is_of_library(const char *whole)
{
	whole += *whole == '<'; /* for Rust methods such as "<alloc::vec::Vec<T> as ...>::push" */
	return has_prefix_of(whole, library_prefixes, CNT(library_prefixes));
}

/*
 * True if a function is in wrapper_names. Ignores suffixes that compilers append, such as
 * ".isra.0".
 */
static bool is_known_wrapper(const struct function_name *name)
{
	const char *plain = name->last + strspn(name->last, "_");
	size_t len = strcspn(plain, ".(");

	for (size_t i = 0; name->last == name->whole && i < CNT(wrapper_names); i++)
		if (strlen(wrapper_names[i]) == len && !strncmp(plain, wrapper_names[i], len))
			return true;
	return false;
}

bool function_is_of_library(const char *symbol)
{
	struct function_name name = function_name_of(symbol);

	return behind_prefix(name.last, "operator new") || is_of_library(name.whole);
}

bool function_is_wrapper(const char *symbol)
{
	struct function_name name = function_name_of(symbol);
	struct script_function script;

	/* The symbol of a script's function contains a file path, which may match by chance. */
	if (script_function_of(symbol, &script))
		return false;
	return has_wrapper_part(&name) || is_known_wrapper(&name) || function_is_of_library(symbol);
}
