// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads that update maps of maps. The caller waits until the programs see the change, and no
 * longer.
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

/* So many updates can wait for the kernel at once. */
#define THREADS 4

struct map_updater {
	pthread_t threads[THREADS];
	size_t thread_cnt;
	pid_t tids[THREADS];
	size_t ready_cnt;
	size_t idle_cnt;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool ends;
	/* The update that is handed to a thread; it is the caller's until it is seen in the map. */
	bool waiting;
	int maps_fd;
	uint32_t key;
	int map_fd; /* -1: the map under key is taken out */
	int err;
};

static void update(struct map_updater *map_updater)
{
	int maps_fd = map_updater->maps_fd, map_fd = map_updater->map_fd, err;
	uint32_t key = map_updater->key;

	map_updater->waiting = false;
	map_updater->idle_cnt--;
	pthread_cond_broadcast(&map_updater->changed);
	pthread_mutex_unlock(&map_updater->lock);
	if (map_fd < 0)
		err = bpf_map_delete_elem(maps_fd, &key) ? -errno : 0;
	else
		err = bpf_map_update_elem(maps_fd, &key, &map_fd, BPF_ANY) ? -errno : 0;
	pthread_mutex_lock(&map_updater->lock);
	/* An update that fails is never seen, so the caller is still waiting for it. */
	if (err && map_fd >= 0)
		map_updater->err = err;
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
		else
			pthread_cond_wait(&map_updater->changed, &map_updater->lock);
	}
	pthread_mutex_unlock(&map_updater->lock);
	return NULL;
}

/*
 * All signals are left to the main thread. Others may fork: once this returns, the threads never
 * hold a lock of any library.
 */
static int start_threads(struct map_updater *map_updater)
{
	sigset_t all, before;
	int err = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (!err && map_updater->thread_cnt < THREADS) {
		err = -pthread_create(&map_updater->threads[map_updater->thread_cnt], NULL, run,
				      map_updater);
		map_updater->thread_cnt += !err;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	while (map_updater->ready_cnt < map_updater->thread_cnt)
		pthread_cond_wait(&map_updater->changed, &map_updater->lock);
	return map_updater->thread_cnt ? 0 : err;
}

int map_updater__new(struct map_updater **ret)
{
	struct map_updater *map_updater = calloc(1, sizeof(*map_updater));

	if (!map_updater)
		return -ENOMEM;
	pthread_mutex_init(&map_updater->lock, NULL);
	pthread_cond_init(&map_updater->changed, NULL);
	*ret = map_updater;
	return 0;
}

/*
 * A thread that was joined may still be in the kernel's list for a moment, where leak checkers
 * look.
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
	pthread_cond_broadcast(&map_updater->changed);
	pthread_mutex_unlock(&map_updater->lock);
	for (size_t i = 0; i < map_updater->thread_cnt; i++)
		join(map_updater->threads[i], map_updater->tids[i]);
	pthread_cond_destroy(&map_updater->changed);
	pthread_mutex_destroy(&map_updater->lock);
	free(map_updater);
}

static int hand_over(struct map_updater *map_updater, int maps_fd, uint32_t key, int map_fd)
{
	int err = map_updater->thread_cnt ? 0 : start_threads(map_updater);

	if (err)
		return err;
	while (map_updater->waiting || !map_updater->idle_cnt)
		pthread_cond_wait(&map_updater->changed, &map_updater->lock);
	map_updater->maps_fd = maps_fd;
	map_updater->key = key;
	map_updater->map_fd = map_fd;
	map_updater->err = 0;
	map_updater->waiting = true;
	pthread_cond_broadcast(&map_updater->changed);
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
	/* It takes a thread some microseconds, and nothing else tells when it is done. */
	while (!err && !is_seen(maps_fd, key, info.id)) {
		pthread_mutex_unlock(&map_updater->lock);
		sched_yield();
		pthread_mutex_lock(&map_updater->lock);
		err = map_updater->err;
	}
	pthread_mutex_unlock(&map_updater->lock);
	return err;
}

void map_updater__remove(struct map_updater *map_updater, int maps_fd, uint32_t key)
{
	pthread_mutex_lock(&map_updater->lock);
	hand_over(map_updater, maps_fd, key, -1);
	pthread_mutex_unlock(&map_updater->lock);
}
