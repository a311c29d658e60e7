/* os_thread.c -- threads, locks and conditions, through POSIX. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_sigmask, pthread_getattr_np */
#endif

#include "core/core.h"
#include "core/os.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

struct heed__monitor {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
};

heed__monitor *heed__monitor_new(heed_ctx *c) {
    heed__monitor *l = heed__alloc(c, sizeof *l);
    if (!l) return NULL;
    pthread_mutex_init(&l->mutex, NULL);
    pthread_cond_init(&l->condition, NULL);
    return l;
}

void heed__monitor_free(heed__monitor *l) {
    if (!l) return;
    pthread_cond_destroy(&l->condition);
    pthread_mutex_destroy(&l->mutex);
    heed__free(l);
}

void heed__monitor_enter(heed__monitor *l) { pthread_mutex_lock(&l->mutex); }
void heed__monitor_leave(heed__monitor *l) { pthread_mutex_unlock(&l->mutex); }
void heed__monitor_wait(heed__monitor *l) { pthread_cond_wait(&l->condition, &l->mutex); }
void heed__monitor_broadcast(heed__monitor *l) { pthread_cond_broadcast(&l->condition); }

struct heed__thread {
    pthread_t id;
    void (*run)(void *);
    void *data;
};

static void *run_thread(void *thread) {
    heed__thread *t = thread;
    t->run(t->data);
    return NULL;
}

/* The new thread blocks all signals, so that they are delivered to the caller's threads. */
heed__thread *heed__thread_start(heed_ctx *c, void (*run)(void *), void *data) {
    heed__thread *t = heed__alloc(c, sizeof *t);
    if (!t) return NULL;
    *t = (heed__thread){.run = run, .data = data};
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int why = pthread_create(&t->id, NULL, run_thread, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (why == 0) return t;
    heed_fail(c, HEED_FAILED, "cannot start a thread: %s; hint: fewer `workers` or `threads`",
              strerror(why));
    heed__free(t);
    return NULL;
}

void heed__thread_join(heed__thread *t) {
    if (!t) return;
    pthread_join(t->id, NULL);
    heed__free(t);
}

size_t heed__os_stack_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
    return (size_t)limit.rlim_cur;
}

/* Of musl's first thread, pthread_getattr_np says how far its stack has grown, not how far it may.
 */
size_t heed__os_stack_left(void) {
#ifdef __GLIBC__
    pthread_attr_t about;
    void *lowest = NULL;
    size_t size = 0;
    char here;
    if (pthread_getattr_np(pthread_self(), &about) != 0) return SIZE_MAX;
    bool known = pthread_attr_getstack(&about, &lowest, &size) == 0;
    pthread_attr_destroy(&about);
    return known ? (size_t)((uintptr_t)&here - (uintptr_t)lowest) : SIZE_MAX;
#else
    return SIZE_MAX;
#endif
}
