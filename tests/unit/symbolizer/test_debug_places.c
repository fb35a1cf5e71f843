// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests which debug files are opened for the helper, and which are refused because of their type,
 * owner or folder.
 */
#include <fcntl.h>
#include <sys/wait.h>

#include "symbolizer/debug_file.h"
#include "tests/unit/lib/rights.h"
#include "tests/unit/symbolizer/known.h"

/* Makes a module for a file in the test's folder; it needs the debug file `file`. */
static struct module *make_module(enum server_need kind, const char *file)
{
	struct file_version version;
	struct module *module;
	struct stat st;
	int fd;

	assert_true(run("echo whole > whole"));
	fd = open(in_folder("whole"), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	version = file_version_of(&st);
	assert_int_equal(module__new(fd, &version, in_folder("whole"), &module), 0);
	module->need.kind = kind;
	module->need.file = strdup(file);
	return module;
}

/*
 * True if debug_file_open() opens a file for a module that needs `file`. root_path: root folder of
 * the process, or NULL if unknown.
 */
static bool is_offered_in(enum server_need kind, const char *file, const char *root_path)
{
	struct module *module = make_module(kind, file);
	int root = root_path ? open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1, err = 0;
	bool offered = false;

	for (unsigned int i = 0; err != -ERANGE; i++) {
		char *path = NULL;
		int fd = -1;

		err = debug_file_open(module, root, i, &fd, &path);
		assert_int_not_equal(err, -ENOMEM);
		if (err)
			continue;
		offered = true;
		close(fd);
		free(path);
	}
	if (root >= 0)
		close(root);
	module__free(module);
	return offered;
}

static bool is_offered(enum server_need kind, const char *file, bool root_known)
{
	return is_offered_in(kind, file, root_known ? "/" : NULL);
}

static void beside(void **state)
{
	assert_true(run("echo debug > open.debug && chmod 644 open.debug"));
	assert_true(run("echo debug > closed.debug && chmod 600 closed.debug"));
	for (int known = 0; known < 2; known++) {
		assert_true(is_offered(NEED_DEBUG, "open.debug", known));
		assert_true(is_offered(NEED_DEBUG, "closed.debug", known));
		assert_true(is_offered(NEED_ALTERNATE, "open.debug", known));
	}
}

/* FIFOs, links, folders and files of /proc are not opened, even next to the program's file. */
static void not_a_file_of_its_own(void **state)
{
	assert_true(run("mkfifo fifo; ln -s /etc/passwd link; mkdir folder; "
			"ln -s /proc/self/environ made_up; ln -s . .debug; echo 1 > target"));
	for (int known = 0; known < 2; known++) {
		assert_false(is_offered(NEED_DEBUG, "fifo", known));
		assert_false(is_offered(NEED_DEBUG, "link", known));
		assert_false(is_offered(NEED_DEBUG, "folder", known));
		assert_false(is_offered(NEED_DEBUG, "made_up", known));
		assert_false(is_offered(NEED_ALTERNATE, "link", known));
	}
	assert_true(run("rm .debug && ln -s /etc .debug"));
	assert_false(is_offered(NEED_DEBUG, "passwd", true));
	assert_true(run("rm .debug"));
}

/* A file of another user than the program's file is not opened unless everybody may read it. */
static void not_of_its_owner(void **state)
{
	NEED_ROOT(CAP_CHOWN);
	assert_true(run("echo secret > secret && chmod 600 secret && chown 12345 secret"));
	assert_false(is_offered(NEED_DEBUG, "secret", true));
	assert_true(run("chmod 644 secret"));
	assert_true(is_offered(NEED_DEBUG, "secret", true));
}

/* In /usr/lib/debug, too, a file of another user is not opened unless everybody may read it. */
static void not_of_its_owner_below_folder(void **state)
{
	char make[512], root[256];

	NEED_ROOT(CAP_CHOWN);
	snprintf(root, sizeof(root), "%s", in_folder("root"));
	snprintf(make, sizeof(make),
		 "d=root/usr/lib/debug$PWD && mkdir -p $d && echo secret > $d/hidden && "
		 "chmod 600 $d/hidden && chown 12345 $d/hidden && echo debug > $d/shown && "
		 "chmod 600 $d/shown");
	assert_true(run(make));
	assert_false(is_offered_in(NEED_DEBUG, "hidden", root));
	assert_true(is_offered_in(NEED_DEBUG, "shown", root));
}

/* No file outside of the program's folder and of /usr/lib/debug is opened, whatever its path. */
static void elsewhere(void **state)
{
	char inside[] = "/usr/lib/debug/../../../etc/passwd";

	for (int known = 0; known < 2; known++) {
		assert_false(is_offered(NEED_ALTERNATE, "/etc/passwd", known));
		assert_false(is_offered(NEED_ALTERNATE, "/etc/shadow", known));
		assert_false(is_offered(NEED_ALTERNATE, "../../../../../../etc/passwd", known));
		assert_false(is_offered(NEED_ALTERNATE, inside, known));
		assert_false(is_offered(NEED_ALTERNATE, "/dev/zero", known));
		assert_false(is_offered(NEED_ALTERNATE, "/proc/self/environ", known));
		assert_false(is_offered(NEED_DEBUG, "../../../../../../etc/passwd", known));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beside),           cmocka_unit_test(not_a_file_of_its_own),
		cmocka_unit_test(not_of_its_owner), cmocka_unit_test(not_of_its_owner_below_folder),
		cmocka_unit_test(elsewhere),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
