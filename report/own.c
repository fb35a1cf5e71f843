// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Distinguishes the program's own code from libraries and language runtimes by the paths of files.
 */
#include "report/own.h"

#include <ctype.h>
#include <string.h>

#include "base/path.h"
#include "base/prefix.h"
#include "report/allocator_frames.h"
#include "report/function_name.h"

#define CNT(array) (sizeof(array) / sizeof((array)[0]))

/* Folders in which systems keep their libraries. */
static const char *const system_folders[] = {
	"/usr/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/opt/", "/nix/", "/gnu/", "/snap/",
};

/* Names of folders for executables, below the folder that a program is installed in. */
static const char *const program_folders[] = {"bin", "sbin", "libexec"};

/* Names of folders shared by many programs. */
static const char *const shared_folders[] = {
	"usr", "local", "lib", "lib32", "lib64", "libx32", "opt", "home", "srv", "store",
};

/* Prefixes of the names of third-party libraries that are often installed with programs. */
static const char *const bundled_libraries[] = {
	"libssl",     "libcrypto", "libz.",     "libz-",    "libzstd",     "liblz",
	"libbz2",     "libcurl",   "libxml2",   "libxslt",  "libsqlite",   "libpng",
	"libjpeg",    "libtiff",   "libffi",    "libglib-", "libgio-",     "libgobject-",
	"libicu",     "libQt",     "libboost_", "libabsl",  "libprotobuf", "libgrpc",
	"libuv",      "libevent",  "libpq",     "libmysql", "libX",        "libxcb",
	"libncurses", "libtinfo",  "libexpat",  "libpcre",  "libyaml",     "libnss",
	"libsasl",    "libldap",   "libkrb5",   "libcares", "libfreetype",
};

/*
 * Folders with source files of compilers and languages. Code from such files may be compiled into
 * programs.
 */
static const char *const language_folders[] = {
	"/usr/include/", "/usr/local/include/", "/usr/lib/", "/usr/local/go/", "/rustc/",
};

/* Folders, anywhere in a path, in which programs and package managers keep third-party code. */
static const char *const package_folders[] = {
	"deps",          "_deps",       "third_party", "third-party",     "thirdparty",
	"3rdparty",      "vendor",      "subprojects", "node_modules",    "site-packages",
	"dist-packages", "include/c++", "pkg/mod",     ".cargo/registry", ".cargo/git",
	"lib-dynload",   ".pyenv",
};

/* Prefixes of the paths of scripts that are built into the language and have no file. */
static const char *const built_in_scripts[] = {"node:", "<frozen"};

/* Path of Python code that is compiled from a string. */
#define PYTHON_STRING "<string>"
/*
 * Prefixes of the names of functions that Python's standard library compiles from strings: those of
 * dataclasses and the constructors of named tuples.
 */
static const char *const generated_functions[] = {"__create_fn__.", "<lambda>"};

/*
 * Names of programs that run scripts, and of their libraries ("libNAME.so"). A version may follow
 * the name.
 */
static const char *const interpreters[] = {
	"python", "pypy",    "node", "nodejs", "perl",  "ruby",  "php", "php-fpm",  "php-cgi",
	"java",   "jvm",     "lua",  "luajit", "tclsh", "tcl",   "R",   "guile",    "mono",
	"dotnet", "coreclr", "deno", "bun",    "julia", "mozjs", "gjs", "beam.smp",
};

/* Prefixes of the symbols of code that V8 and Erlang's BEAM generate for themselves. */
static const char *const built_in_code[] = {
	"Builtin:", "BytecodeHandler:", "Stub:", "RegExp:", "$global::",
};

/* Prefixes of the names of Java's own classes, as jcmd and perf-map-agent write them. */
static const char *const java_packages[] = {
	"java.", "javax.", "jdk.", "sun.", "com.sun.", "Ljava/", "Ljavax/", "Ljdk/", "Lsun/",
};

#define BEGINS(text, prefixes) has_prefix_of(text, prefixes, CNT(prefixes))

/* Returns the part of a path after its first folder; NULL if there is none. */
static const char *next_part(const char *path)
{
	const char *slash = strchr(path, '/');

	return slash ? slash + 1 : NULL;
}

static bool begins_with_part(const char *path, const char *part)
{
	const char *rest = behind_prefix(path, part);

	return rest && (!*rest || *rest == '/');
}

/* True if `part`, which is one or several folders, is in a path. */
static bool has_part(const char *path, const char *part)
{
	for (; path; path = next_part(path))
		if (begins_with_part(path, part))
			return true;
	return false;
}

static bool is_of_package(const char *path)
{
	for (; path; path = next_part(path))
		for (size_t i = 0; i < CNT(package_folders); i++)
			if (begins_with_part(path, package_folders[i]))
				return true;
	return false;
}

bool module_is_library(const char *path)
{
	return strstr(path_name(path), ".so");
}

/* Returns the file's name without the "lib" of a library. */
static const char *plain_name(const char *module)
{
	const char *file = path_name(module);

	return !strncmp(file, "lib", 3) && module_is_library(module) ? file + 3 : file;
}

static bool is_version_of(const char *file, const char *name)
{
	const char *rest = behind_prefix(file, name);

	if (!rest)
		return false;
	rest += strspn(rest, "0123456789.-");
	return !*rest || !strncmp(rest, "so", 2);
}

/* Accepts names such as "python3.11", "libpython3.11.so.1.0" and "libruby-3.1.so". */
bool module_is_named(const char *module, const char *name)
{
	return is_version_of(plain_name(module), name);
}

const char *interpreter_of(const char *module)
{
	const char *file = plain_name(module);

	for (size_t i = 0; i < CNT(interpreters); i++)
		if (is_version_of(file, interpreters[i]))
			return interpreters[i];
	return NULL;
}

const char *interpreter_file(const struct sym_location *location)
{
	return location && location->module && interpreter_of(location->module) ? location->module
										: NULL;
}

/*
 * True if `path` is `own` or lies below it. If `own` is relative, it may be anywhere in the path.
 */
static bool is_below(const char *path, const char *own)
{
	size_t len = strlen(own);

	while (len > 1 && own[len - 1] == '/')
		len--;
	if (*own != '/')
		return has_part(path, own);
	return !strncmp(path, own, len) && (!path[len] || path[len] == '/' || len == 1);
}

static bool is_named_own(const struct options *opts, const char *path)
{
	for (size_t i = 0; path && i < opts->own_cnt; i++)
		if (is_below(path, opts->own[i]))
			return true;
	return false;
}

/* True if a path has a folder such as "/lib/python3.11/", and no folder of packages. */
static bool is_in_standard_library(const char *path)
{
	const char *version = strstr(path, "/lib/python");

	if (!version)
		return false;
	version += strlen("/lib/python");
	version += strspn(version, "0123456789");
	return *version == '.' && !has_part(path, "site-packages") &&
	       !has_part(path, "dist-packages");
}

bool script_is_of_language(const char *path)
{
	/* CPython 3.13 calls constructors through internal code that has the path "__init__". */
	return BEGINS(path, built_in_scripts) || !strcmp(path, "__init__") ||
	       is_in_standard_library(path);
}

static bool is_generated(const struct script_function *script)
{
	return !strcmp(script->path, PYTHON_STRING) && BEGINS(script->name, generated_functions);
}

bool script_is_of_program(const struct options *opts, const struct script_function *script)
{
	if (opts && opts->own_cnt)
		return !BEGINS(script->path, built_in_scripts) && is_named_own(opts, script->path);
	return !script_is_of_language(script->path) && !is_generated(script) &&
	       !BEGINS(script->path, language_folders) && !strstr(script->path, "/lib/python") &&
	       !is_of_package(script->path);
}

/* Methods are named with their class ("void Cart.add(int)", "LCart;::add"), parts of the JVM not.
 */
static enum code_owner java_owner(const char *symbol)
{
	if (!strpbrk(symbol, ".:"))
		return CODE_OF_INTERPRETER;
	return BEGINS(function_name_of(symbol).whole, java_packages) ? CODE_OF_LIBRARY
								     : CODE_OF_PROGRAM;
}

static enum code_owner script_owner(const struct options *opts, const struct program *program,
				    const char *symbol)
{
	const char *runtime = program->interpreter ? interpreter_of(program->interpreter) : NULL;
	struct script_function script;

	if (!symbol)
		return CODE_OF_NOBODY;
	if (runtime && !strcmp(runtime, "jvm"))
		return java_owner(symbol);
	if (!script_function_of(symbol, &script))
		return BEGINS(symbol, built_in_code) ? CODE_OF_INTERPRETER : CODE_OF_PROGRAM;
	return script_is_of_program(opts, &script) ? CODE_OF_PROGRAM : CODE_OF_LIBRARY;
}

/*
 * Returns the part of `path` after the folders that it has in common with `other`. `other` may be
 * NULL.
 */
static const char *behind_common(const char *path, const char *other)
{
	const char *ret = path;

	for (size_t i = 0; other && path[i] && path[i] == other[i]; i++)
		if (path[i] == '/')
			ret = path + i + 1;
	return ret;
}

static bool is_from_elsewhere(const char *source, const char *main_source)
{
	return source && (BEGINS(source, language_folders) ||
			  is_of_package(behind_common(source, main_source)));
}

/*
 * True if `part` is `name`. Unless `whole` is set, also true if `part` begins with `name`, and the
 * next character is neither a letter nor a digit.
 */
static bool is_named(const char *part, size_t part_len, const char *name, size_t len, bool whole)
{
	return part_len >= len && !strncmp(part, name, len) &&
	       (part_len == len || (!whole && !isalnum((unsigned char)part[len])));
}

/*
 * True if `part` is named after `program`. `part` may lack a final "c" or "d" of the program's
 * name: "aria2" is named after aria2c, and "dovecot" after dovecotd.
 */
static bool is_named_after(const char *part, size_t part_len, const char *program, bool whole)
{
	size_t len = strlen(program);

	return is_named(part, part_len, program, len, whole) ||
	       (len > 4 && strchr("cd", program[len - 1]) &&
		is_named(part, part_len, program, len - 1, whole));
}

/*
 * True if a system library counts as the program's own code, because many system programs are
 * little more than a call to their library. Examples: "libaria2.so.0" for the program aria2c,
 * "/usr/lib/dovecot/libsql.so" for dovecot. Compares the program's name with the names of the file
 * and of its folders, except the system's folder, such as "/usr/lib/".
 */
static bool is_library_of(const char *module, const char *program)
{
	const char *part = strstr(module, "/lib"), *end;

	if (!program || strlen(program) < 2 || interpreter_of(program) || !part ||
	    !BEGINS(module, system_folders) || is_of_package(module))
		return false;
	for (part = strchrnul(part + 1, '/'); *part && (end = strchr(part + 1, '/')); part = end)
		if (is_named_after(part + 1, (size_t)(end - part - 1), program, true))
			return true;
	part = path_name(module);
	part += strncmp(part, "lib", 3) ? 0 : 3;
	return is_named_after(part, strlen(part), program, false);
}

static bool is_one_of(const char *part, size_t len, const char *const *names, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (strlen(names[i]) == len && !strncmp(part, names[i], len))
			return true;
	return false;
}

/* Returns the length of the path's parent folder; 0 if there is none. */
static size_t folder_len(const char *path, size_t len)
{
	while (len && path[len - 1] != '/')
		len--;
	return len ? len - 1 : 0;
}

/*
 * Returns the length of the folder that a program is installed in, for example that of "/opt/acme"
 * for "/opt/acme/bin/portald". Returns 0 if many programs are installed in the folder, such as
 * "/usr".
 */
static size_t prefix_len(const char *file)
{
	size_t len = folder_len(file, strlen(file)), above = folder_len(file, len);

	if (len &&
	    is_one_of(file + above + 1, len - above - 1, program_folders, CNT(program_folders))) {
		len = above;
		above = folder_len(file, len);
	}
	if (!len ||
	    is_one_of(file + above + 1, len - above - 1, shared_folders, CNT(shared_folders)))
		return 0;
	return len;
}

/*
 * True for a library that is installed with the program, such as "/opt/acme/lib/libledger.so" with
 * the program "/opt/acme/bin/portald".
 */
static bool is_installed_with(const char *module, const char *file)
{
	size_t len = file && !interpreter_of(file) ? prefix_len(file) : 0;

	return len && !strncmp(module, file, len) && module[len] == '/' &&
	       !is_of_package(module + len + 1) && !BEGINS(path_name(module), bundled_libraries);
}

/* True if the code in a file is the program's own. Node addons in installed packages are not. */
static bool is_program(const char *module, const struct program *program)
{
	if (!module_is_library(module))
		return !has_part(module, "node_modules");
	if (is_installed_with(module, program->file) || is_library_of(module, program->name))
		return true;
	return !BEGINS(module, system_folders) &&
	       !is_of_package(behind_common(module, program->file));
}

enum code_owner code_owner(const struct options *opts, const struct program *program,
			   const struct sym_location *location, const struct sym_frame *frame)
{
	static const struct program unknown;
	const char *module = location ? location->module : NULL;
	const char *source = frame ? frame->file : NULL;

	program = program ?: &unknown;
	if (!module || !*module)
		return CODE_OF_NOBODY;
	if (!strcmp(module, "[jit]") || sym_is_script(location))
		return script_owner(opts, program, frame ? frame->symbol : NULL);
	if (*module == '[')
		return CODE_OF_NOBODY;
	if (module_is_runtime(module))
		return CODE_OF_RUNTIME;
	if (opts && opts->own_cnt && (is_named_own(opts, module) || is_named_own(opts, source)))
		return CODE_OF_PROGRAM;
	if (interpreter_of(module) ||
	    (program->interpreter && !strcmp(module, program->interpreter)))
		return CODE_OF_INTERPRETER;
	if ((opts && opts->own_cnt) || is_from_elsewhere(source, program->main_source))
		return CODE_OF_LIBRARY;
	return is_program(module, program) ? CODE_OF_PROGRAM : CODE_OF_LIBRARY;
}
