// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads that update maps of maps. map_updater__put() waits until the BPF programs see the map;
 * map_updater__remove() does not wait.
 */
#include "loader/stacks/map_updater.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"

/*
 * Maximum threads. Each update waits 10 to 100 ms in the kernel, and several hundred programs may
 * start per second. Threads are started on demand.
 */
#define THREADS 32

/* List of keys to be removed from a map of maps. */
struct keys {
	uint32_t *items;
	size_t cnt;
	size_t cap;
};

struct map_updater {
	pthread_t threads[THREADS];
	size_t thread_cnt;
	pid_t tids[THREADS];
	size_t ready_cnt;
	size_t idle_cnt;
	pthread_mutex_t lock;
	pthread_cond_t work;    /* an update or a removal is pending: wakes one idle thread */
	pthread_cond_t changed; /* a thread has started, begun an update or become idle */
	bool ends;
	/*
	 * The update that map_updater__put() passes to a thread. waiting: no thread has begun it.
	 */
	bool waiting;
	int maps_fd;
	uint32_t key;
	int map_fd;
	int err;
	/*
	 * Keys whose removal is pending (`removed`) or in progress (`removing`). While `removes` is
	 * true, one thread removes keys.
	 */
	int removed_fd;
	struct keys removed;
	struct keys removing;
	bool removes;
};

static void update(struct map_updater *map_updater)
{
	int maps_fd = map_updater->maps_fd, map_fd = map_updater->map_fd, err;
	uint32_t key = map_updater->key;

	map_updater->waiting = false;
	map_updater->idle_cnt--;
	pthread_cond_broadcast(&map_updater->changed);
	pthread_mutex_unlock(&map_updater->lock);
	err = bpf_map_update_elem(maps_fd, &key, &map_fd, BPF_ANY) ? -errno : 0;
	pthread_mutex_lock(&map_updater->lock);
	/*
	 * Report the error: after a failure the map never appears, and map_updater__put() would
	 * wait for it forever.
	 */
	if (err)
		map_updater->err = err;
	map_updater->idle_cnt++;
	pthread_cond_broadcast(&map_updater->changed);
}

/*
 * Removes keys in a batch, which waits for one grace period (on older kernels, one per key). On
 * kernels without batch operations, removes keys one by one.
 */
static void remove_keys(int maps_fd, const struct keys *keys)
{
	for (size_t i = 0; i < keys->cnt;) {
		uint32_t cnt = (uint32_t)(keys->cnt - i);

		if (!bpf_map_delete_batch(maps_fd, &keys->items[i], &cnt, NULL))
			return;
		if (errno != ENOENT)
			cnt = 0;
		i += cnt;
		/*
		 * The batch stops at a missing key, or fails if the kernel has no batches. Remove
		 * the next key on its own.
		 */
		bpf_map_delete_elem(maps_fd, &keys->items[i++]);
	}
}

static void remove_gathered(struct map_updater *map_updater)
{
	struct keys keys = map_updater->removed;

	map_updater->removed = map_updater->removing;
	map_updater->removed.cnt = 0;
	map_updater->removing = keys;
	map_updater->removes = true;
	map_updater->idle_cnt--;
	pthread_mutex_unlock(&map_updater->lock);
	remove_keys(map_updater->removed_fd, &keys);
	pthread_mutex_lock(&map_updater->lock);
	map_updater->removes = false;
	map_updater->idle_cnt++;
	pthread_cond_broadcast(&map_updater->changed);
}

static void *run(void *arg)
{
	struct map_updater *map_updater = arg;

	pthread_mutex_lock(&map_updater->lock);
	map_updater->tids[map_updater->ready_cnt++] = gettid();
	map_updater->idle_cnt++;
	pthread_cond_broadcast(&map_updater->changed);
	while (!map_updater->ends) {
		if (map_updater->waiting)
			update(map_updater);
		else if (map_updater->removed.cnt && !map_updater->removes)
			remove_gathered(map_updater);
		else
			pthread_cond_wait(&map_updater->work, &map_updater->lock);
	}
	pthread_mutex_unlock(&map_updater->lock);
	return NULL;
}

/*
 * Starts a thread with all signals blocked, since the main thread handles signals. Waits until the
 * thread runs: a starting thread may hold a lock, which would stay locked in a child forked at that
 * moment. Fails only if no thread at all could be started.
 */
static int start_thread(struct map_updater *map_updater)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&map_updater->threads[map_updater->thread_cnt], NULL, run,
			      map_updater);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	map_updater->thread_cnt += !err;
	while (map_updater->ready_cnt < map_updater->thread_cnt)
		pthread_cond_wait(&map_updater->changed, &map_updater->lock);
	return map_updater->thread_cnt ? 0 : err;
}

/* Starts a thread if none is idle and the limit allows it. */
static int find_thread(struct map_updater *map_updater)
{
	if (map_updater->idle_cnt || map_updater->thread_cnt == THREADS)
		return 0;
	return start_thread(map_updater);
}

int map_updater__new(struct map_updater **ret)
{
	struct map_updater *map_updater = calloc(1, sizeof(*map_updater));

	if (!map_updater)
		return -ENOMEM;
	pthread_mutex_init(&map_updater->lock, NULL);
	pthread_cond_init(&map_updater->work, NULL);
	pthread_cond_init(&map_updater->changed, NULL);
	*ret = map_updater;
	return 0;
}

/*
 * Joins a thread, then waits until the kernel has removed the thread's task: leak checkers would
 * report a thread that still exists.
 */
static void join(pthread_t thread, pid_t tid)
{
	pthread_join(thread, NULL);
	while (!syscall(SYS_tgkill, getpid(), tid, 0))
		sched_yield();
}

void map_updater__free(struct map_updater *map_updater)
{
	if (!map_updater)
		return;
	pthread_mutex_lock(&map_updater->lock);
	map_updater->ends = true;
	pthread_cond_broadcast(&map_updater->work);
	pthread_mutex_unlock(&map_updater->lock);
	for (size_t i = 0; i < map_updater->thread_cnt; i++)
		join(map_updater->threads[i], map_updater->tids[i]);
	pthread_cond_destroy(&map_updater->work);
	pthread_cond_destroy(&map_updater->changed);
	pthread_mutex_destroy(&map_updater->lock);
	free(map_updater->removed.items);
	free(map_updater->removing.items);
	free(map_updater);
}

static int hand_over(struct map_updater *map_updater, int maps_fd, uint32_t key, int map_fd)
{
	int err;

	while (map_updater->waiting)
		pthread_cond_wait(&map_updater->changed, &map_updater->lock);
	err = find_thread(map_updater);
	if (err)
		return err;
	while (!map_updater->idle_cnt)
		pthread_cond_wait(&map_updater->changed, &map_updater->lock);
	map_updater->maps_fd = maps_fd;
	map_updater->key = key;
	map_updater->map_fd = map_fd;
	map_updater->err = 0;
	map_updater->waiting = true;
	pthread_cond_signal(&map_updater->work);
	return 0;
}

static bool is_seen(int maps_fd, uint32_t key, uint32_t id)
{
	uint32_t found;

	return !bpf_map_lookup_elem(maps_fd, &key, &found) && found == id;
}

int map_updater__put(struct map_updater *map_updater, int maps_fd, uint32_t key, int map_fd)
{
	struct bpf_map_info info = {0};
	uint32_t len = sizeof(info);
	int err;

	if (bpf_obj_get_info_by_fd(map_fd, &info, &len))
		return -errno;
	pthread_mutex_lock(&map_updater->lock);
	err = hand_over(map_updater, maps_fd, key, map_fd);
	/*
	 * Poll, since the kernel does not report when BPF programs see the map. They see it within
	 * microseconds.
	 */
	while (!err && !is_seen(maps_fd, key, info.id)) {
		pthread_mutex_unlock(&map_updater->lock);
		sched_yield();
		pthread_mutex_lock(&map_updater->lock);
		err = map_updater->err;
	}
	pthread_mutex_unlock(&map_updater->lock);
	return err;
}

/*
 * Ignores a key that is not in the map: a batch would stop at this key, and the remaining keys
 * would need another batch with its own grace period.
 */
void map_updater__remove(struct map_updater *map_updater, int maps_fd, uint32_t key)
{
	struct keys *removed = &map_updater->removed;
	uint32_t found;

	if (bpf_map_lookup_elem(maps_fd, &key, &found))
		return;
	pthread_mutex_lock(&map_updater->lock);
	map_updater->removed_fd = maps_fd;
	/*
	 * If out of memory, or if no thread can be started, the key stays in the map. Do not access
	 * *removed before find_thread() returns: it releases the lock for some time, and another
	 * thread may swap the lists.
	 */
	if (!find_thread(map_updater) &&
	    !array_reserve(&removed->items, &removed->cap, removed->cnt + 1))
		removed->items[removed->cnt++] = key;
	pthread_cond_signal(&map_updater->work);
	pthread_mutex_unlock(&map_updater->lock);
}
