// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks up the names on the todo lists of modules by requests to the helper that parses files. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbolizer/debug_file.h"
#include "symbolizer/naming.h"

/* Maximum number of attempts per module if the helper ends during each attempt. */
#define TRIES_MAX 3

struct naming_pass {
	struct client *client;
	struct fetcher *fetcher;
	const struct module_opener *opener;
	int root_fd;
	uint64_t deadline_ns;
};

bool naming_is_open(const struct module *module, const struct name *name)
{
	if (!module->is_elf || module->max_level == NAME_NONE || name->level > module->max_level)
		return false;
	return name->level < module->max_level || name->generation != module->generation ||
	       module->fetched_fd >= 0;
}

static bool is_open(const struct naming_pass *run, const struct module *module)
{
	return run->client->helper.pid && module->incarnation == run->client->helper.incarnation;
}

/* Offers fd, a debug file that an earlier helper has accepted, to the current helper. */
static int offer_again(struct naming_pass *run, struct module *module, enum server_need kind,
		       int fd)
{
	if (module->need.kind != kind || fd < 0)
		return 0;
	/*
	 * Close the candidate that the earlier helper was still checking. The search for candidates
	 * begins again later.
	 */
	if (module->offered_fd >= 0 && module->offered_fd != fd) {
		close(module->offered_fd);
		free(module->offered_path);
		module->offered_path = NULL;
		module->candidate = 0;
	}
	module->offered_fd = fd;
	return client_offer(run->client, module, run->deadline_ns);
}

/*
 * Sets offered_fd to the next file to offer to the helper: a downloaded file, or else the next
 * candidate. Returns 0 or an error of debug_file_open().
 */
static int next_file(const struct naming_pass *run, struct module *module)
{
	if (module->offered_fd >= 0)
		return 0;
	if (module->fetched_fd >= 0) {
		module->offered_fd = module->fetched_fd;
		module->fetched_fd = -1;
		return 0;
	}
	return debug_file_open(module, run->root_fd, module->candidate++, &module->offered_fd,
			       &module->offered_path);
}

static int offer_files(struct naming_pass *run, struct module *module)
{
	while (module->need.kind != NEED_NOTHING) {
		int err = next_file(run, module);

		if (err == -ENOENT)
			continue;
		if (err == -ERANGE)
			break;
		if (!err)
			err = client_offer(run->client, module, run->deadline_ns);
		if (err)
			return err;
	}
	/* Download the file if it was not found, unless the module is the vdso ("[vdso]"). */
	if (module->need.kind != NEED_NOTHING && module->need.build_id && module->path[0] != '[' &&
	    !module->fetch_tried) {
		module->fetch_tried = true;
		fetcher_want(run->fetcher, module);
	}
	return 0;
}

static int open_once(struct naming_pass *run, struct module *module)
{
	int err = 0;

	if (!is_open(run, module)) {
		if (module->closed)
			run->opener->open(run->opener->arg, module);
		if (module->closed)
			return -ENOEXEC;
		err = client_open(run->client, module, run->deadline_ns);
		if (!err)
			err = offer_again(run, module, NEED_DEBUG, module->debug_fd);
		if (!err)
			err = offer_again(run, module, NEED_ALTERNATE, module->alternate_fd);
	}
	if (!err)
		err = offer_files(run, module);
	return err;
}

/*
 * True if an error means that no time or memory is left: no more modules are tried. Other errors
 * concern only one module.
 */
static bool is_final(int err)
{
	return err == -ETIMEDOUT || err == -ENOMEM;
}

static int open_module(struct naming_pass *run, struct module *module)
{
	int err = -EAGAIN;

	for (int i = 0; i < TRIES_MAX && (err == -EAGAIN || err == -EIO); i++) {
		err = -ENOEXEC;
		if (module->is_elf && module->max_level > NAME_NONE)
			err = open_once(run, module);
		if (!err && !module->is_elf)
			err = -ENOEXEC;
	}
	return err;
}

/*
 * True if a name was not yet looked up at this level, or if a debug file was added to the module
 * since then.
 */
static bool is_wanted(const struct module *module, const struct name *name, enum name_level level)
{
	return name->level < level ||
	       (name->level == level && name->generation != module->generation);
}

/*
 * Looks up the names on the module's todo list for which is_wanted() is true, at most
 * SERVER_OFFSETS_MAX per request.
 */
static int ask(struct naming_pass *run, struct module *module, enum name_level level)
{
	struct name *names[SERVER_OFFSETS_MAX];
	size_t cnt = 0;

	for (size_t i = 0; i < module->todo_cnt; i++) {
		struct name *name = module->todo[i];

		if (is_wanted(module, name, level))
			names[cnt++] = name;
		if (cnt == SERVER_OFFSETS_MAX || (cnt && i + 1 == module->todo_cnt)) {
			int err;

			run->client->named = i + 1 - cnt;
			err = client_ask(run->client, module, names, cnt, level, run->deadline_ns);
			if (err)
				return err;
			cnt = 0;
		}
	}
	return 0;
}

static int name_module(struct naming_pass *run, struct module *module, enum name_level level)
{
	int err = -EAGAIN;

	run->client->named = 0;
	run->client->wanted = module->todo_cnt;
	for (int i = 0; i < TRIES_MAX && (err == -EAGAIN || err == -EIO); i++) {
		err = open_module(run, module);
		if (err || module->max_level < level)
			break;
		err = ask(run, module, level);
	}
	return is_final(err) ? err : 0;
}

/*
 * Waits for the downloads of one module (its debug file, then perhaps an alternate file), and looks
 * up its names again after each download.
 */
static int await_fetch(struct naming_pass *run, struct module *module)
{
	int err = 0;

	while (!err && module->fetching && !module->fetch_awaited) {
		uint64_t progress_ns = clock_deadline_ns(CLIENT_PROGRESS_NS);
		bool more = progress_ns < run->deadline_ns;

		err = fetcher_take(run->fetcher, more ? progress_ns : run->deadline_ns);
		if (err == -ETIMEDOUT && more && !client_is_interrupted()) {
			client_report_progress(run->client, module->path, -1);
			err = 0;
		}
		if (!err && module->fetched_fd >= 0)
			err = name_module(run, module, NAME_FULL);
	}
	return is_final(err) ? err : 0;
}

/*
 * Waits for downloads, but only once for each file, so that a debuginfod server that does not
 * answer does not delay every report. Later calls only check whether the file has arrived.
 */
static int await_fetches(struct naming_pass *run, struct module *const *modules, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; !err && i < cnt; i++)
		err = await_fetch(run, modules[i]);
	/* Files of other modules may have arrived during the wait: use them now. */
	for (size_t i = 0; !err && i < cnt; i++)
		if (modules[i]->fetched_fd >= 0)
			err = name_module(run, modules[i], NAME_FULL);
	for (size_t i = 0; i < cnt; i++)
		modules[i]->fetch_awaited |= modules[i]->fetching;
	return err;
}

static int name_all(struct naming_pass *run, struct module *const *modules, size_t cnt)
{
	int err = client_wait(run->client, run->deadline_ns);

	for (int level = NAME_SYMBOL; level <= NAME_FULL; level++)
		for (size_t i = 0; !err && i < cnt; i++)
			err = name_module(run, modules[i], level);
	return err ? err : await_fetches(run, modules, cnt);
}

int naming_run(struct client *client, struct fetcher *fetcher, const struct module_opener *opener,
	       struct module *const *modules, size_t cnt, int root_fd, uint64_t deadline_ns)
{
	struct naming_pass run = {client, fetcher, opener, root_fd, deadline_ns};
	int err = cnt ? name_all(&run, modules, cnt) : 0;

	for (size_t i = 0; i < cnt; i++)
		module__want_nothing(modules[i]);
	client_report_progress(client, NULL, 0);
	return err == -ENOMEM ? err : 0;
}
