// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Demangles with libiberty. A mangled name can refer to its own parts again and again, so that a
 * few hundred bytes may expand to more than fits into memory. So the output is collected piece by
 * piece, and demangling is aborted when it gets too long.
 */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "helper/message.h"
#include "symbolizer/server/demangle.h"

struct output {
	char *text;
	size_t len;
	size_t cap;
	jmp_buf too_much;
};

static void append(const char *part, size_t len, void *arg)
{
	struct output *out = arg;

	if (out->len + len > MESSAGE_STRING_BYTES ||
	    array_reserve(&out->text, &out->cap, out->len + len + 1))
		longjmp(out->too_much, 1);
	if (len) /* The text of an empty piece may be NULL. */
		memcpy(out->text + out->len, part, len);
	out->len += len;
}

/*
 * Demangles a name. Returns false if it is not mangled or the result is too long. append() may
 * leave the demangler by longjmp(); this leaks nothing, since demanglers allocate only on the
 * stack.
 */
static bool demangle_to(const char *name, struct output *out)
{
	/* Show parameters of C++ functions; omit the hash of Rust symbols. */
	const int options = DMGL_PARAMS | DMGL_ANSI;

	if (setjmp(out->too_much))
		return false;
	if (rust_demangle_callback(name, options, append, out))
		return true;
	out->len = 0;
	return cplus_demangle_v3_callback(name, options, append, out);
}

char *demangle(const char *name)
{
	struct output out = {.text = NULL};

	if (demangle_to(name, &out) && out.text) {
		out.text[out.len] = '\0';
		return out.text;
	}
	free(out.text);
	return strdup(name);
}
