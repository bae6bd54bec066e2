/* runtime/team.c: the parallel loop of kernels in a program of others: the calling thread and
 * helpers of its own share the turns, in pieces that whoever is free takes. A helper that does not
 * run, since others use its core, takes none, and nobody waits for it. Helpers look out for the
 * next loop for some microseconds, then they sleep. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/runtime.h"

enum { PIECES = 4 /* of each thread */, MOST_HELPERS = 255 };
static const int64_t look_out_ns = 20000;

typedef struct team {
    pid_t pid;
    int threads, num_helpers;
    struct helper {
        struct team *team;
        int number;
        pthread_t thread;
    } helpers[MOST_HELPERS];
    pthread_mutex_t lock;
    pthread_cond_t begins;
    atomic_int sleeping;
    atomic_bool ends;
    atomic_uint_least64_t left; /* number of the loop << 32 | pieces that nobody has taken */
    atomic_int done;            /* pieces */
    /* Of the loop: they stay while a piece is taken and not done. */
    void (*body)(long i, int thread, void *context);
    void *context;
    long n;
    int pieces;
} team;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

static int pieces_left(uint64_t left) { return (int)(left & UINT32_MAX); }

/* False: none is left. */
static bool do_piece(team *t, int thread) {
    uint64_t left = atomic_load(&t->left);
    do {
        if (!pieces_left(left)) return false;
    } while (!atomic_compare_exchange_weak(&t->left, &left, left - 1));
    const long k = t->pieces - pieces_left(left), end = t->n * (k + 1) / t->pieces;
    for (long i = t->n * k / t->pieces; i < end; i++) t->body(i, thread, t->context);
    atomic_fetch_add(&t->done, 1);
    return true;
}

static void sleep_until_begun(team *t) {
    pthread_mutex_lock(&t->lock);
    atomic_fetch_add(&t->sleeping, 1);
    while (!pieces_left(atomic_load(&t->left)) && !atomic_load(&t->ends))
        pthread_cond_wait(&t->begins, &t->lock);
    atomic_fetch_sub(&t->sleeping, 1);
    pthread_mutex_unlock(&t->lock);
}

static void *help(void *of) {
    const struct helper *h = of;
    int64_t since_ns = at_now_ns();
    while (!atomic_load(&h->team->ends)) {
        if (do_piece(h->team, h->number)) since_ns = at_now_ns();
        else if (at_now_ns() - since_ns > look_out_ns) {
            sleep_until_begun(h->team);
            since_ns = at_now_ns();
        }
    }
    return NULL;
}

static void wake(team *t) {
    if (!atomic_load(&t->sleeping)) return;
    pthread_mutex_lock(&t->lock);
    pthread_cond_broadcast(&t->begins);
    pthread_mutex_unlock(&t->lock);
}

static void end_team(void *of) {
    team *t = of;
    if (t->pid != getpid()) return; /* a child's helpers stayed behind */
    atomic_store(&t->ends, true);
    wake(t);
    for (int i = 0; i < t->num_helpers; i++) pthread_join(t->helpers[i].thread, NULL);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->begins);
    free(t);
}

static void make_key(void) { (void)pthread_key_create(&key, end_team); }

/* Fewer helpers where no more threads can be made. */
static team *new_team(int threads) {
    team *t = calloc(1, sizeof *t);
    AT_NEED(t);
    t->pid = getpid();
    t->threads = threads;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->begins, NULL);
    for (int i = 0; i < threads - 1 && i < MOST_HELPERS; i++) {
        struct helper *h = &t->helpers[i];
        *h = (struct helper){.team = t, .number = i + 1};
        if (pthread_create(&h->thread, NULL, help, h)) break;
        t->num_helpers++;
    }
    return t;
}

/* Of the calling thread. */
static team *team_of(int threads) {
    pthread_once(&once, make_key);
    team *t = pthread_getspecific(key);
    if (t && t->pid == getpid() && t->threads == threads) return t;
    if (t) end_team(t);
    t = new_team(threads);
    pthread_setspecific(key, t);
    return t;
}

void at_par_for(int threads, void (*body)(long i, int thread, void *context), long n,
                void *context) {
    if (threads <= 1 || n <= 1) {
        for (long i = 0; i < n; i++) body(i, 0, context);
        return;
    }
    team *t = team_of(threads);
    t->body = body, t->context = context, t->n = n;
    t->pieces = n < (long)threads * PIECES ? (int)n : threads * PIECES;
    atomic_store(&t->done, 0);
    const uint64_t number = (atomic_load(&t->left) >> 32) + 1;
    atomic_store(&t->left, number << 32 | (uint64_t)t->pieces);
    wake(t);
    while (do_piece(t, 0)) continue;
    for (int64_t since_ns = at_now_ns(); atomic_load(&t->done) < t->pieces;)
        if (at_now_ns() - since_ns > look_out_ns) sched_yield();
}
