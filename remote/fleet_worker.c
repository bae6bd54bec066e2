/* remote/fleet_worker.c: a worker's course: started, spoken to, lost and reached again. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "remote/fleet_state.h"

static const double term_s = 10, most_pause_s = 30;
/* In a row: of one that was of use or began to be, and of one that never said a word. */
enum { MOST_FAILURES = 5, MOST_SILENT_FAILURES = 1 };

typedef at_fleet_worker worker;
typedef at_fleet fleet;

void at_fleet_tell(worker *w, const char *text) {
    free(w->told);
    w->told = strdup(text);
    AT_NEED(w->told);
}

worker *at_fleet_add(fleet *f, const at_spot *spot, const char *name) {
    worker *w = AT_NEW(f->arena, worker);
    *w = (worker){.number = f->num_workers,
                  .spot = spot,
                  .name = name,
                  .arena = at_arena_new(),
                  .link = at_link_none()};
    f->workers[f->num_workers++] = w;
    return w;
}

void at_fleet_enqueue(fleet *f, worker *w) {
    if (w->is_queued) return;
    w->is_queued = true;
    f->queue[(f->first + f->num_queued++) % AT_FLEET_WORKERS] = w->number;
}

static void watch(fleet *f, const worker *w, int fd, uint32_t events) {
    struct epoll_event e = {.events = events, .data.u32 = (uint32_t)w->number};
    if (fd >= 0 && epoll_ctl(f->epoll, EPOLL_CTL_ADD, fd, &e) && errno != EEXIST)
        AT_BUG("epoll: %s", strerror(errno));
}

static void unwatch(fleet *f, int fd) {
    if (fd >= 0) epoll_ctl(f->epoll, EPOLL_CTL_DEL, fd, NULL);
}

void at_fleet_watch(fleet *f, const worker *w) {
    struct pollfd p[AT_LINK_FDS];
    int n = at_link_fds(&w->link, p);
    for (int i = 0; i < n; i++)
        if (p[i].events == POLLIN) watch(f, w, p[i].fd, EPOLLIN);
}

void at_fleet_watch_room(fleet *f, worker *w) {
    bool waits = w->link.out >= 0 && at_link_has_unsent(&w->link);
    if (waits == w->waits_to_send) return;
    if (waits) watch(f, w, w->link.out, EPOLLOUT);
    else unwatch(f, w->link.out);
    w->waits_to_send = waits;
}

/* Why it ended: what the program there said last, or what was seen here. */
static void note_end(worker *w, const char *why) {
    at_text text = {0};
    const char *said = at_link_last_line(&w->link);
    at_text_addf(&text, "%s: ", w->name);
    at_text_add_visible(&text, *said ? said : why);
    at_fleet_tell(w, at_text_str(&text));
    at_text_free(&text);
}

at_gate *at_fleet_gate(const fleet *f, const at_spot *s) {
    for (int i = 0; i < f->num_gates; i++)
        if (f->gates[i].spot == s) return f->gates[i].gate;
    return NULL;
}

/* srun takes its step along only where it may. */
void at_fleet_shut(fleet *f, worker *w) {
    unwatch(f, w->link.in);
    unwatch(f, w->link.errors);
    if (w->waits_to_send) unwatch(f, w->link.out);
    w->waits_to_send = false;
    at_fleet_enqueue(f, w); /* that it has left */
    if (w->box) {
        at_link_close(&w->link);
        at_gate_drop(at_fleet_gate(f, w->spot), w->box);
        return;
    }
    at_link_hang_up(&w->link);
    if (w->link.pid) kill(-w->link.pid, SIGTERM);
    w->ends = true;
    w->kill_ns = at_now_ns() + (int64_t)(term_s * 1e9);
}

bool at_fleet_has_ended(worker *w) {
    if (!w->ends) return true;
    at_link_pump_in(&w->link);
    if (!at_link_is_over(&w->link) && at_now_ns() < w->kill_ns) return false;
    at_link_close(&w->link);
    w->ends = false;
    return true;
}

void at_fleet_lose(fleet *f, worker *w, const char *why) {
    note_end(w, why);
    w->has_left |= w->state == AT_FLEET_READY || (w->state == AT_FLEET_GREETED && w->has_worked);
    w->compares = false;
    at_fleet_shut(f, w);
    w->failures++;
    int most = w->was_there ? MOST_FAILURES : MOST_SILENT_FAILURES;
    bool again = !w->is_useless && !w->box && w->failures <= most;
    double pause_s = fmin(0.25 * pow(2, w->failures), most_pause_s);
    w->state = again ? AT_FLEET_DOWN : AT_FLEET_GONE;
    w->retry_ns = at_now_ns() + (int64_t)(pause_s * 1e9);
}

void at_fleet_start(fleet *f, worker *w) {
    char **argv;
    at_error err;
    at_status s = at_place_command(f->arena, w->spot, f->cores, &argv, &err);
    /* A step of a directory's does not notice that nobody reads it any more. */
    if (s == AT_OK) s = at_link_start(&w->link, argv, w->spot->path ? SIGTERM : SIGINT, &err);
    w->heard_ns = w->said_ns = at_now_ns();
    w->state = AT_FLEET_STARTED;
    if (s == AT_OK) at_fleet_watch(f, w);
    else at_fleet_lose(f, w, err.text);
}

bool at_fleet_is_open(const worker *w) {
    return w->state == AT_FLEET_STARTED || w->state == AT_FLEET_GREETED ||
           w->state == AT_FLEET_READY;
}

static void send_unsent(fleet *f, worker *w) {
    at_link_pump_out(&w->link);
    if (at_fleet_is_open(w)) at_fleet_watch_room(f, w);
    w->said_ns = at_now_ns();
}

void at_fleet_put(fleet *f, worker *w, const at_frame *frame) {
    at_error err;
    if (at_link_send(&w->link, frame, &err) != AT_OK) {
        at_fleet_lose(f, w, err.text);
        return;
    }
    if (!w->is_put) f->put[f->num_put++] = w->number;
    w->is_put = true;
}

void at_fleet_flush(fleet *f) {
    for (int i = 0; i < f->num_put; i++) {
        worker *w = f->workers[f->put[i]];
        w->is_put = false;
        send_unsent(f, w);
    }
    f->num_put = 0;
}

void at_fleet_say(fleet *f, worker *w, const at_frame *frame) {
    at_error err;
    if (at_link_send(&w->link, frame, &err) != AT_OK) at_fleet_lose(f, w, err.text);
    send_unsent(f, w);
}

bool at_fleet_is_silent(const fleet *f, const worker *w) {
    bool waits = w->state == AT_FLEET_STARTED && w->spot->kind == AT_PLACE_SLURM;
    return !waits && at_seconds_since(w->heard_ns) > f->lease_s;
}
