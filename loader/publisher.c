// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that update maps of maps, and a caller who waits until that shows and no longer. */
#include "loader/publisher.h"

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

/* So many updates can be waiting for their end. */
#define THREADS 4

struct publisher {
	pthread_t threads[THREADS];
	size_t thread_cnt;
	pid_t tids[THREADS];
	size_t ready_cnt;
	size_t idle_cnt;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool ends;
	/* What is handed to a thread, one at a time: until it is seen in the map. */
	bool waiting;
	int maps_fd;
	uint32_t key;
	int map_fd; /* -1: what is there goes */
	int err;
};

static void update(struct publisher *publisher)
{
	int maps_fd = publisher->maps_fd, map_fd = publisher->map_fd, err;
	uint32_t key = publisher->key;

	publisher->waiting = false;
	publisher->idle_cnt--;
	pthread_cond_broadcast(&publisher->changed);
	pthread_mutex_unlock(&publisher->lock);
	if (map_fd < 0)
		err = bpf_map_delete_elem(maps_fd, &key) ? -errno : 0;
	else
		err = bpf_map_update_elem(maps_fd, &key, &map_fd, BPF_ANY) ? -errno : 0;
	pthread_mutex_lock(&publisher->lock);
	/* One that fails is never seen, so it is still the one that is waited for. */
	if (err && map_fd >= 0)
		publisher->err = err;
	publisher->idle_cnt++;
	pthread_cond_broadcast(&publisher->changed);
}

static void *run(void *arg)
{
	struct publisher *publisher = arg;

	pthread_mutex_lock(&publisher->lock);
	publisher->tids[publisher->ready_cnt++] = gettid();
	publisher->idle_cnt++;
	pthread_cond_broadcast(&publisher->changed);
	while (!publisher->ends) {
		if (publisher->waiting)
			update(publisher);
		else
			pthread_cond_wait(&publisher->changed, &publisher->lock);
	}
	pthread_mutex_unlock(&publisher->lock);
	return NULL;
}

/*
 * Signals are for the thread that waits for them. Others may fork: threads hold no lock of any
 * library's any more when this returns, nor ever after.
 */
static int start_threads(struct publisher *publisher)
{
	sigset_t all, before;
	int err = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (!err && publisher->thread_cnt < THREADS) {
		err = -pthread_create(&publisher->threads[publisher->thread_cnt], NULL, run,
				      publisher);
		publisher->thread_cnt += !err;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	while (publisher->ready_cnt < publisher->thread_cnt)
		pthread_cond_wait(&publisher->changed, &publisher->lock);
	return publisher->thread_cnt ? 0 : err;
}

int publisher__new(struct publisher **ret)
{
	struct publisher *publisher = calloc(1, sizeof(*publisher));

	if (!publisher)
		return -ENOMEM;
	pthread_mutex_init(&publisher->lock, NULL);
	pthread_cond_init(&publisher->changed, NULL);
	*ret = publisher;
	return 0;
}

/* A thread that was joined may be in the kernel's list for a moment, where leak checkers look. */
static void join(pthread_t thread, pid_t tid)
{
	pthread_join(thread, NULL);
	while (!syscall(SYS_tgkill, getpid(), tid, 0))
		sched_yield();
}

void publisher__free(struct publisher *publisher)
{
	if (!publisher)
		return;
	pthread_mutex_lock(&publisher->lock);
	publisher->ends = true;
	pthread_cond_broadcast(&publisher->changed);
	pthread_mutex_unlock(&publisher->lock);
	for (size_t i = 0; i < publisher->thread_cnt; i++)
		join(publisher->threads[i], publisher->tids[i]);
	pthread_cond_destroy(&publisher->changed);
	pthread_mutex_destroy(&publisher->lock);
	free(publisher);
}

static int hand_over(struct publisher *publisher, int maps_fd, uint32_t key, int map_fd)
{
	int err = publisher->thread_cnt ? 0 : start_threads(publisher);

	if (err)
		return err;
	while (publisher->waiting || !publisher->idle_cnt)
		pthread_cond_wait(&publisher->changed, &publisher->lock);
	publisher->maps_fd = maps_fd;
	publisher->key = key;
	publisher->map_fd = map_fd;
	publisher->err = 0;
	publisher->waiting = true;
	pthread_cond_broadcast(&publisher->changed);
	return 0;
}

static bool is_seen(int maps_fd, uint32_t key, uint32_t id)
{
	uint32_t found;

	return !bpf_map_lookup_elem(maps_fd, &key, &found) && found == id;
}

int publisher__put(struct publisher *publisher, int maps_fd, uint32_t key, int map_fd)
{
	struct bpf_map_info info = {0};
	uint32_t len = sizeof(info);
	int err;

	if (bpf_obj_get_info_by_fd(map_fd, &info, &len))
		return -errno;
	pthread_mutex_lock(&publisher->lock);
	err = hand_over(publisher, maps_fd, key, map_fd);
	/* It takes a thread some microseconds, and there is nothing else that tells. */
	while (!err && !is_seen(maps_fd, key, info.id)) {
		pthread_mutex_unlock(&publisher->lock);
		sched_yield();
		pthread_mutex_lock(&publisher->lock);
		err = publisher->err;
	}
	pthread_mutex_unlock(&publisher->lock);
	return err;
}

void publisher__remove(struct publisher *publisher, int maps_fd, uint32_t key)
{
	pthread_mutex_lock(&publisher->lock);
	hand_over(publisher, maps_fd, key, -1);
	pthread_mutex_unlock(&publisher->lock);
}
