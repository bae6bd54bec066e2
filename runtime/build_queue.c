/* runtime/build_queue.c: compilers beside each other: threads that each look after one at a time.
 */
#include "runtime/runtime_int.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 64 };

typedef struct job {
    int64_t number;
    at_arena *arena;
    at_build build;
    at_object made;
    at_status status;
    at_error error;
    bool begun;
} job;

struct at_build_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t threads[MOST_THREADS];
    int num_threads, wanted;
    job **jobs;         /* [num] those that were not taken yet, by number */
    int num, cap, left; /* left: not done */
    int64_t last;
    bool ends;
};

static job *next_job(at_build_queue *q) {
    for (int i = 0; i < q->num; i++)
        if (!q->jobs[i]->begun) return q->jobs[i];
    return NULL;
}

static void *work(void *ctx) {
    at_build_queue *q = ctx;
    pthread_mutex_lock(&q->lock);
    for (;;) {
        job *j = next_job(q);
        if (!j && q->ends) break;
        if (!j) {
            pthread_cond_wait(&q->changed, &q->lock);
            continue;
        }
        j->begun = true;
        pthread_mutex_unlock(&q->lock);
        j->status = at_build_run(j->arena, &j->build, &j->made, &j->error);
        pthread_mutex_lock(&q->lock);
        q->left--;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

at_build_queue *at_build_queue_new(int threads) {
    at_build_queue *q = calloc(1, sizeof *q);
    AT_NEED(q);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    q->wanted = threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : threads;
    return q;
}

/* Signals are the other threads' business. */
static void start_thread(at_build_queue *q) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!pthread_create(&q->threads[q->num_threads], NULL, work, q)) q->num_threads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!q->num_threads) AT_BUG("no thread can be started");
}

static at_build copy(at_arena *a, const at_build *b) {
    at_build c = *b;
    const char **words = AT_NEW_ARRAY(a, const char *, b->num_words + 1);
    for (int i = 0; i < b->num_words; i++) words[i] = at_strdup(a, b->words[i]);
    c.words = words;
    c.program = at_strdup(a, b->program);
    c.source = at_strdup(a, b->source);
    c.entry = b->entry ? at_strdup(a, b->entry) : NULL;
    return c;
}

int64_t at_build_queue_add(at_build_queue *q, const at_build *b) {
    job *j = calloc(1, sizeof *j);
    AT_NEED(j);
    j->arena = at_arena_new();
    j->build = copy(j->arena, b);
    pthread_mutex_lock(&q->lock);
    j->number = ++q->last;
    if (q->num == q->cap) {
        q->cap = q->cap ? 2 * q->cap : 16;
        q->jobs = realloc(q->jobs, sizeof *q->jobs * (size_t)q->cap);
        AT_NEED(q->jobs);
    }
    q->jobs[q->num++] = j;
    q->left++;
    if (q->num_threads < q->wanted && q->num_threads < q->left) start_thread(q);
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    return j->number;
}

static job *leave(at_build_queue *q, int64_t number) {
    for (int i = 0; i < q->num; i++) {
        job *j = q->jobs[i];
        if (j->number != number) continue;
        memmove(q->jobs + i, q->jobs + i + 1, sizeof *q->jobs * (size_t)(--q->num - i));
        return j;
    }
    AT_BUG("build %lld was not added, or taken before", (long long)number);
}

at_status at_build_queue_take(at_build_queue *q, int64_t number, at_arena *a, at_object *out,
                              at_error *err) {
    pthread_mutex_lock(&q->lock);
    while (q->left) pthread_cond_wait(&q->changed, &q->lock);
    job *j = leave(q, number);
    pthread_mutex_unlock(&q->lock);
    at_status s = j->status;
    *out = j->made;
    out->arena = a;
    out->path = j->made.path ? at_strdup(a, j->made.path) : NULL;
    if (s != AT_OK && err) *err = j->error;
    at_arena_free(j->arena);
    free(j);
    return s;
}

void at_build_queue_free(at_build_queue *q) {
    if (!q) return;
    pthread_mutex_lock(&q->lock);
    q->ends = true;
    for (int i = 0; i < q->num; i++) q->jobs[i]->begun = true; /* a job that waits need not begin */
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    for (int i = 0; i < q->num_threads; i++) pthread_join(q->threads[i], NULL);
    for (int i = 0; i < q->num; i++) {
        at_object_remove(q->jobs[i]->made.path);
        at_arena_free(q->jobs[i]->arena);
        free(q->jobs[i]);
    }
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->changed);
    free(q->jobs);
    free(q);
}
