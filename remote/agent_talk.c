/* remote/agent_talk.c: what an agent says and hears. One thread hears all that the search says and
 * keeps the lease; both speak. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "remote/agent_state.h"
#include "remote/remote.h"

/* What is said where nothing else is; a lease lasts several of these. */
static const double alive_part = 1.0 / 6, look_s = 0.02;
/* At signals, and at the lease, where the file system or a pipe tells of what comes. */
static const double look_seldom_s = 0.2;
/* After the lease everything here has so long to end by itself. */
static const double grace_s = 5;
enum { MOST_WAITING = 1024 }; /* frames that wait to be done */
/* Results wait for others while so many trials are still to be done, for a while: whoever reads
 * them may have to do so on a core that another agent measures on. */
enum { WAITING_TO_HOLD = 4 };
static const double hold_s = 0.1;

typedef at_waiting waiting;
typedef at_agent agent;

/* ---- saying ---------------------------------------------------------------------------------- */

static void put(agent *g, const at_frame *f) {
    at_error err;
    if (at_link_send(g->link, f, &err) != AT_OK)
        at_link_send(g->link, &(at_frame){.type = AT_FRAME_REFUSED, .text = err.text}, NULL);
}

/* Waits until all is written, or nobody reads it any more. Locked. */
static void send_unsent(agent *g) {
    at_link_pump_out(g->link);
    while (at_link_has_unsent(g->link) && !g->over) {
        struct pollfd p = {.fd = g->link->out, .events = POLLOUT};
        pthread_mutex_unlock(&g->lock);
        poll(&p, g->link->out >= 0, (int)(look_s * 1e3));
        pthread_mutex_lock(&g->lock);
        at_link_pump_out(g->link);
    }
    g->said_ns = at_now_ns();
    g->held_ns = 0;
}

void at_agent_say(agent *g, const at_frame *f) {
    pthread_mutex_lock(&g->lock);
    put(g, f);
    send_unsent(g);
    pthread_mutex_unlock(&g->lock);
}

static bool is_held_long(const agent *g) {
    return g->held_ns && at_seconds_since(g->held_ns) > hold_s;
}

void at_agent_say_result(agent *g, const at_frame *f) {
    pthread_mutex_lock(&g->lock);
    put(g, f);
    if (!g->held_ns) g->held_ns = at_now_ns();
    if (g->num_waiting < WAITING_TO_HOLD || is_held_long(g)) send_unsent(g);
    pthread_mutex_unlock(&g->lock);
}

void at_agent_say_text(agent *g, at_frame_type type, const char *text) {
    at_agent_say(g, &(at_frame){.type = type, .text = text});
}

void at_agent_hello(agent *g) {
    char host[256] = "";
    const char *node = getenv("SLURMD_NODENAME");
    gethostname(host, sizeof host - 1);
    at_agent_say(g, &(at_frame){.type = AT_FRAME_HELLO,
                                .version = AT_VERSION,
                                .node = node && *node ? node : host,
                                .cpu = at_cpu_facts()->name,
                                .pid = (uint32_t)getpid()});
}

/* ---- hearing --------------------------------------------------------------------------------- */

void at_agent_finish(agent *g, at_agent_end end) {
    pthread_mutex_lock(&g->lock);
    if (!g->over) g->end = end;
    g->over = true;
    __atomic_store_n(&g->stop, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&g->more);
    pthread_mutex_unlock(&g->lock);
}

static void enqueue(agent *g, at_arena *a, const at_frame *f) {
    waiting *w = AT_NEW(a, waiting);
    *w = (waiting){.arena = a, .frame = *f};
    pthread_mutex_lock(&g->lock);
    *g->last = w;
    g->last = &w->next;
    g->num_waiting++;
    pthread_cond_signal(&g->more);
    pthread_mutex_unlock(&g->lock);
}

/* Every frame that has come; false: the link is of no use any more. */
static bool take_frames(agent *g) {
    for (;;) {
        at_arena *a = at_arena_new();
        at_frame f;
        at_error err;
        bool there;
        if (at_link_receive(g->link, a, &f, &there, &err) != AT_OK) {
            at_arena_free(a);
            at_agent_finish(g, AT_AGENT_GARBLED);
            return false;
        }
        if (!there) {
            at_arena_free(a);
            return true;
        }
        g->heard_ns = at_now_ns();
        if (f.type == AT_FRAME_TASK && f.lease_s >= AT_LEASE_LEAST && f.lease_s <= AT_LEASE_MOST)
            g->lease_s = f.lease_s;
        if (f.type == AT_FRAME_BYE) at_agent_finish(g, AT_AGENT_DONE);
        if (f.type != AT_FRAME_ALIVE && f.type != AT_FRAME_BYE && g->num_waiting < MOST_WAITING)
            enqueue(g, a, &f);
        else at_arena_free(a);
    }
}

/* Whoever measures may be where no flag is looked at: the worker dies with this process. */
static _Noreturn void end_hard(agent *g) {
    at_core_claim_give(&g->claim);
    _exit(1);
}

void *at_agent_listen(void *ctx) {
    agent *g = ctx;
    int64_t over_ns = 0;
    sigset_t all; /* signals are for the other thread */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (;;) {
        struct pollfd p[4];
        int n = at_link_fds(g->link, p), kept = 0;
        for (int i = 0; i < n; i++)
            if (p[i].events == POLLIN && p[i].fd >= 0) p[kept++] = p[i];
        poll(p, (nfds_t)kept, (int)((at_link_is_told(g->link) ? look_seldom_s : look_s) * 1e3));
        at_link_pump_in(g->link);
        bool fine = take_frames(g);
        int64_t now_ns = at_now_ns();
        double silent_s = (double)(now_ns - g->heard_ns) * 1e-9;
        if (fine && g->link->is_closed) at_agent_finish(g, AT_AGENT_DONE);
        if (silent_s > g->lease_s) at_agent_finish(g, AT_AGENT_SILENT);
        if (at_is_stopped(g->stop_all)) at_agent_finish(g, AT_AGENT_STOPPED);
        pthread_mutex_lock(&g->lock);
        bool over = g->over;
        bool is_due = (double)(now_ns - g->said_ns) * 1e-9 > g->lease_s * alive_part;
        if (!over && is_held_long(g)) send_unsent(g);
        pthread_mutex_unlock(&g->lock);
        if (over && !over_ns) over_ns = now_ns;
        if (over && !g->has_task) return NULL;
        if (over && (double)(now_ns - over_ns) * 1e-9 > grace_s) end_hard(g);
        if (!over && is_due) at_agent_say(g, &(at_frame){.type = AT_FRAME_ALIVE});
        if (over) usleep(10000);
    }
}
