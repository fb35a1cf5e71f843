// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parses demangled names of C++ and Rust, and the names that runtimes give to functions of scripts.
 */
#include "report/function_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/prefix.h"

/*
 * Maximum length, in bytes, of template arguments that are kept; longer arguments make a name hard
 * to read.
 */
#define ARGUMENTS_MAX 16

#define CNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool ends_in_operator(const char *symbol, const char *end)
{
	size_t len = strlen("operator");

	return (size_t)(end - symbol) >= len && !strncmp(end - len, "operator", len);
}

/*
 * True if the "<" at `at` begins template arguments: it is at the beginning of the symbol, or
 * follows a name and is not part of an operator.
 */
static bool opens_template(const char *symbol, const char *at)
{
	return at == symbol ||
	       ((is_word(at[-1]) || at[-1] == ':') && !ends_in_operator(symbol, at));
}

/*
 * True if the "(" at `at` begins the parameters: it follows a name and is not part of "operator()".
 * The "(" of "(anonymous namespace)", and of "(*Type)" in Go, follows no name.
 */
static bool opens_parameters(const char *symbol, const char *at)
{
	return at > symbol && !strchr(":. ", at[-1]) &&
	       !(at[1] == ')' && ends_in_operator(symbol, at));
}

/*
 * Returns the end of the operator name that begins at `at`, before any template arguments:
 * "operator+<char>", "operator<< <char>". Returns `at` if no operator name begins there.
 */
static const char *behind_operator(const char *symbol, const char *at)
{
	const char *signs = at + strlen("operator");

	if (strncmp(at, "operator", strlen("operator")) || (at > symbol && is_word(at[-1])))
		return at;
	if (!strncmp(signs, "()", 2) || !strncmp(signs, "[]", 2))
		return signs + 2;
	if (!*signs || !strchr("+-*/%^&|~!=<>,", *signs))
		return at;
	signs += *signs == '<' ? strspn(signs, "<=>") : strspn(signs, "+-*/%^&|~!=>,");
	return signs + (signs[0] == ' ' && signs[1] == '<');
}

struct function_name function_name_of(const char *symbol)
{
	struct function_name name = {symbol, symbol, NULL, NULL};
	size_t depth = 0;
	const char *at = symbol;

	while (is_word(*at))
		at++;
	if (!*at)
		return (struct function_name){symbol, symbol, at, at}; /* as in C */
	for (at = symbol; *at; at++) {
		const char *behind = depth ? at : behind_operator(symbol, at);

		if (behind > at) {
			at = behind - (*behind != '<');
			if (*behind != '<')
				continue;
			depth++;
			name.end = at;
			continue;
		}
		if (!depth && *at == '(' && opens_parameters(symbol, at))
			break;
		if (*at == '{') {
			depth++; /* "{lambda(int)#1}" */
		} else if (*at == '(' || (*at == '<' && (depth || opens_template(symbol, at)))) {
			if (!depth++)
				name.end = at;
		} else if (strchr(")>}", *at) && depth) {
			depth -= *at != '>' || at[-1] != '-';
		} else if (!depth && *at == ' ' && at[1] == '[') {
			break; /* "[clone .cold]" */
		} else if (!depth && *at == ' ' && !ends_in_operator(symbol, at)) {
			name = (struct function_name){at + 1, at + 1, NULL, NULL};
		} else if (!depth && !strncmp(at, "::", 2) && at[2] != '<') {
			name.last = at + 2;
			name.end = NULL;
		}
	}
	if (!name.end || name.end <= name.last)
		name.end = at;
	name.rest = at;
	return name;
}

/* Parses the form "py::NAME:PATH" of CPython. */
static bool python_function_of(const char *symbol, struct script_function *ret)
{
	const char *name = symbol + strlen("py::"), *colon;

	if (strncmp(symbol, "py::", strlen("py::")))
		return false;
	colon = strchr(name, ':');
	if (!colon || colon == name)
		return false;
	*ret = (struct script_function){name, (size_t)(colon - name), colon + 1, strlen(colon + 1),
					0};
	return true;
}

/*
 * Cuts ":NUMBER" off the end of a text of *len bytes, and sets *ret to the number. Returns false if
 * the text does not end like this.
 */
static bool take_number(const char *text, size_t *len, unsigned int *ret)
{
	size_t at = *len;

	while (at && isdigit((unsigned char)text[at - 1]))
		at--;
	if (at == *len || at < 2 || text[at - 1] != ':')
		return false;
	*ret = (unsigned int)strtoul(text + at, NULL, 10);
	*len = at - 1;
	return true;
}

/*
 * Parses the form "JS:*NAME PATH:LINE:COLUMN" of V8. The sign before the name, here '*', is the
 * kind of compilation.
 */
static bool v8_function_of(const char *symbol, struct script_function *ret)
{
	static const char *const kinds[] = {"JS:", "LazyCompile:", "Function:", "Script:", "Eval:"};
	struct script_function found = {0};
	unsigned int last;

	for (size_t i = 0; i < CNT(kinds) && !found.name; i++)
		if (behind_prefix(symbol, kinds[i]))
			found.name = symbol + strlen(kinds[i]);
	if (!found.name)
		return false;
	found.name += strspn(found.name, "*~^+");
	found.path = strrchr(found.name, ' ');
	if (!found.path)
		return false;
	found.name_len = (size_t)(found.path - found.name);
	found.path_len = strlen(++found.path);
	if (take_number(found.path, &found.path_len, &last) &&
	    !take_number(found.path, &found.path_len, &found.line))
		found.line = last;
	*ret = found;
	return true;
}

bool script_function_of(const char *symbol, struct script_function *ret)
{
	return python_function_of(symbol, ret) || v8_function_of(symbol, ret);
}

/*
 * Suffixes of compiler clones, which follow a dot. Any other text after a dot belongs to a Go name.
 */
static const char *const clone_suffixes[] = {
	"isra", "constprop", "part", "cold", "lto_priv", "llvm", "localalias", "clone", "0",
};

static const char *name_end(const char *name, const char *end)
{
	const char *at;

	for (at = name + 1; at < end; at++) {
		if (*at == '@')
			return at; /* "@@GLIBC_2.34" */
		if (*at != '.')
			continue;
		for (size_t i = 0; i < CNT(clone_suffixes); i++) {
			size_t len = strlen(clone_suffixes[i]);

			if ((size_t)(end - at) > len && !strncmp(at + 1, clone_suffixes[i], len) &&
			    (at + 1 + len == end || at[1 + len] == '.'))
				return at;
		}
	}
	return end;
}

/* Returns the position after the bracket that closes the bracket at `at`. */
static const char *behind_bracket(const char *at, const char *end)
{
	size_t depth = 0;

	for (; at < end; at++) {
		if (*at == '<' || *at == '(')
			depth++;
		else if ((*at == '>' || *at == ')') && at[-1] != '-' && !--depth)
			return at + 1;
	}
	return end;
}

/* Returns the end of the type in "<app::Cache<T> as app::Store>"; the type begins at `at`. */
static const char *type_end(const char *at, const char *end)
{
	size_t depth = 0;

	for (; at < end; at++) {
		if (*at == '<' || *at == '(')
			depth++;
		else if ((*at == '>' || *at == ')') && at[-1] != '-' && !--depth)
			break;
		else if (depth == 1 && end - at >= 4 && !strncmp(at, " as ", 4))
			break;
	}
	return at;
}

/*
 * Returns the end of the arguments that begin at `at`. They belong to a template, or to a lambda in
 * braces. Returns `at` if no arguments begin there.
 */
static const char *behind_arguments(const char *symbol, const char *at, const char *end,
				    bool is_operator, bool in_braces)
{
	if (at < end && ((*at == '<' && (is_operator || opens_template(symbol, at))) ||
			 (*at == '(' && in_braces)))
		return behind_bracket(at, end);
	return at;
}

/*
 * Copies a name to `out`, but writes arguments of more than `most` bytes as "<...>" or "(...)", and
 * leaves out "(anonymous namespace)::". Returns the end of the copy.
 */
static char *shorten(const char *symbol, const char *at, const char *end, ptrdiff_t most, char *out)
{
	size_t braces = 0;

	while (at < end) {
		const char *signs = behind_operator(symbol, at), *behind;
		bool is_operator = signs > at;

		while (at < signs && at < end)
			*out++ = *at++;
		if (!strncmp(at, "(anonymous namespace)::", 23)) {
			at += 23;
			continue;
		}
		behind = behind_arguments(symbol, at, end, is_operator, braces);
		if (behind - at > most) {
			out = stpcpy(out, *at == '(' ? "(...)" : "<...>");
			at = behind;
			continue;
		}
		if (behind == at && at < end)
			behind++;
		if (at < end && *at == '{')
			braces++;
		else if (at < end && *at == '}' && braces)
			braces--;
		while (at < behind)
			*out++ = *at++;
	}
	return out;
}

static char *short_form(const char *symbol, ptrdiff_t most_arguments)
{
	struct script_function script;
	struct function_name name;
	const char *at, *end;
	char *ret, *out;

	if (script_function_of(symbol, &script))
		return script.name_len ? strndup(script.name, script.name_len) : strdup("[script]");
	name = function_name_of(symbol);
	if (name.whole == name.rest)
		return strdup(symbol);
	/* "<...>" is at most three times as long as the arguments that it replaces. */
	ret = malloc(3 * strlen(symbol) + 1);
	if (!ret)
		return NULL;
	out = ret;
	at = name.whole;
	end = name_end(name.whole, name.rest);
	/* Change Rust's "<app::Cache as app::Store>::put" to "app::Cache::put". */
	if (at < end && *at == '<') {
		out = shorten(symbol, at + 1, type_end(at, end), most_arguments, out);
		at = behind_bracket(at, end);
	}
	*shorten(symbol, at, end, most_arguments, out) = 0;
	return ret;
}

char *function_name_short(const char *symbol)
{
	return short_form(symbol, ARGUMENTS_MAX);
}

char *function_name_template(const char *symbol)
{
	struct script_function script;
	char *name;

	if (!strchr(symbol, '<') || script_function_of(symbol, &script))
		return NULL;
	name = short_form(symbol, 0);
	if (name && !strstr(name, "<...>")) {
		free(name);
		return NULL;
	}
	return name;
}

/* Copies a text to `out` without everything that is in angle or round brackets. */
static void copy_outside_brackets(const char *text, char *out)
{
	size_t depth = 0;

	for (; *text; text++) {
		depth += *text == '<' || *text == '(';
		if (!depth)
			*out++ = *text;
		depth -= depth && (*text == ')' || (*text == '>' && text[-1] != '-'));
	}
	*out = 0;
}

char *function_name_instances(const char *symbol)
{
	const char *lambda = strstr(symbol, "{lambda(");
	char *name = function_name_template(symbol), *ret;
	size_t len;

	if (!name && lambda && strstr(lambda, "operator()<"))
		name = strndup(symbol, (size_t)(lambda - symbol));
	if (!name || !lambda)
		return name;
	len = strlen(name);
	ret = realloc(name, len + strlen(lambda) + 1);
	if (ret)
		copy_outside_brackets(lambda, ret + len);
	else
		free(name);
	return ret;
}

void function_name_cut(char *name, size_t max)
{
	size_t len = strlen(name), head = (max - 3) / 2, tail = max - 3 - head;

	if (len <= max)
		return;
	memcpy(name + head, "...", 3);
	memmove(name + head + 3, name + len - tail, tail + 1);
}
