/* remote/fleet.c: the workers of a search: heard in turn, looked after, begun and ended. Nothing
 * here decides what is measured. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "remote/core_claim.h"
#include "remote/fleet_state.h"
#include "remote/result.h"

static const double alive_part = 1.0 / 6; /* of the lease: so often something is said */
/* At all workers: what only time tells of, and files where nobody tells of them. */
static const double look_s = 0.1, look_at_files_s = 0.02;
static const double end_s = 3, term_s = 10;

typedef at_fleet_worker worker;
typedef at_fleet fleet;

/* ---- the rounds ------------------------------------------------------------------------------ */

/* What only time tells of. */
static void keep(fleet *f, worker *w) {
    int64_t now_ns = at_now_ns();
    bool ended = at_fleet_has_ended(w);
    if (w->state == AT_FLEET_DOWN && ended && now_ns >= w->retry_ns) at_fleet_start(f, w);
    if (!at_fleet_is_open(w)) return;
    if (w->box || at_fleet_is_silent(f, w))
        at_fleet_enqueue(f, w); /* not every file system tells of files */
    if (w->state != AT_FLEET_STARTED &&
        (double)(now_ns - w->said_ns) * 1e-9 > f->lease_s * alive_part)
        at_fleet_say(f, w, &(at_frame){.type = AT_FRAME_ALIVE});
}

static double look_every_s(const fleet *f) { return f->looks_at_files ? look_at_files_s : look_s; }

static void keep_all(fleet *f) {
    int64_t now_ns = at_now_ns();
    if (f->looked_ns && (double)(now_ns - f->looked_ns) * 1e-9 < look_every_s(f)) return;
    f->looked_ns = now_ns;
    f->looks_at_files = false;
    for (int i = 0; i < f->num_workers; i++) {
        worker *w = f->workers[i];
        keep(f, w);
        f->looks_at_files |= at_fleet_is_open(w) && !at_link_is_told(&w->link);
    }
}

static at_status look_at_gates(fleet *f, at_arena *a, at_error *err) {
    for (int i = 0; i < f->num_gates; i++) {
        at_link link;
        const char *name;
        bool there = true;
        while (there && f->num_workers < AT_FLEET_WORKERS) {
            AT_TRY(at_gate_look(f->gates[i].gate, a, &link, &name, &there, err));
            if (!there) break;
            worker *w = at_fleet_add(f, f->gates[i].spot, at_format(f->arena, "dir:%s", name));
            w->box = at_strdup(f->arena, name);
            w->link = link;
            w->state = AT_FLEET_STARTED;
            w->heard_ns = w->said_ns = at_now_ns();
            at_fleet_watch(f, w);
        }
    }
    return AT_OK;
}

/* Until one of them says something, or it is time to look at all. */
static void wait_for_something(fleet *f, double most_s) {
    enum { AT_ONCE = 256 };
    struct epoll_event e[AT_ONCE];
    if (most_s > look_every_s(f)) most_s = look_every_s(f);
    int n = epoll_wait(f->epoll, e, AT_ONCE, (int)ceil(most_s * 1e3));
    for (int i = 0; i < n; i++) at_fleet_enqueue(f, f->workers[e[i].data.u32]);
}

static bool any_left(const fleet *f) {
    for (int i = 0; i < f->num_workers; i++)
        if (f->workers[i]->state != AT_FLEET_GONE) return true;
    for (int i = 0; i < f->num_gates; i++)
        if (!f->gates[i].step) return true;
    return false;
}

static at_status next(void *self, at_arena *a, double wait_s, at_far_event *out, at_error *err) {
    fleet *f = self;
    int64_t begin_ns = at_now_ns();
    at_fleet_flush(f);
    for (;;) {
        AT_TRY(look_at_gates(f, a, err));
        keep_all(f);
        while (f->num_queued) {
            int number = f->queue[f->first];
            worker *w = f->workers[number];
            f->first = (f->first + 1) % AT_FLEET_WORKERS;
            f->num_queued--;
            w->is_queued = false;
            *out =
                (at_far_event){.worker = number, .name = w->name, .node = w->node ? w->node : ""};
            if (!at_fleet_hear(f, w, a, out)) continue;
            if (w->link.taken < w->link.got.len || w->told || w->has_left) at_fleet_enqueue(f, w);
            if (out->kind == AT_FAR_TOLD && !any_left(f))
                return at_fail(err, AT_E_BUG, "no worker is left; %s", out->text);
            return AT_OK;
        }
        if (!any_left(f)) return at_fail(err, AT_E_BUG, "no worker is left");
        double left_s = wait_s - at_seconds_since(begin_ns);
        if (left_s <= 0) break;
        wait_for_something(f, left_s);
    }
    *out = (at_far_event){.kind = AT_FAR_NOTHING, .worker = -1};
    return AT_OK;
}

/* ---- what the search says -------------------------------------------------------------------- */

static void trial(void *self, int number, const at_trial_id *id, const char *entity,
                  double best_s) {
    fleet *f = self;
    worker *w = f->workers[number];
    if (w->state != AT_FLEET_READY) return; /* that it left is told next */
    at_frame frame = at_trial_frame(AT_FRAME_TRIAL, id);
    frame.entity = entity;
    frame.best_s = best_s;
    at_fleet_put(f, w, &frame);
}

static void final(void *self, int number, const char *records, double budget_s) {
    fleet *f = self;
    worker *w = f->workers[number];
    if (w->state != AT_FLEET_READY) return;
    at_fleet_say(f, w,
                 &(at_frame){.type = AT_FRAME_FINAL, .records = records, .budget_s = budget_s});
}

static void compare(void *self, int number) {
    fleet *f = self;
    worker *w = f->workers[number];
    if (w->state != AT_FLEET_READY) return;
    w->compares = true;
    at_fleet_say(f, w, &(at_frame){.type = AT_FRAME_COMPARE});
}

static void refuse(void *self, int number, const char *why) {
    fleet *f = self;
    worker *w = f->workers[number];
    if (!at_fleet_is_open(w)) return;
    at_link_send(&w->link, &(at_frame){.type = AT_FRAME_BYE}, NULL);
    at_fleet_shut(f, w);
    w->state = AT_FLEET_GONE;
    (void)why;
}

static int workers(void *self) {
    const fleet *f = self;
    int n = 0;
    for (int i = 0; i < f->num_workers; i++) n += f->workers[i]->state == AT_FLEET_READY;
    return n;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

/* What workers still say of the task before is not heard (fleet_hear.c). That others have left was
 * perhaps told while another search had its turn: it is told again. */
static void turn_all(fleet *f) {
    f->has_turned = true;
    for (int i = 0; i < f->num_workers; i++) {
        worker *w = f->workers[i];
        if (w->state != AT_FLEET_GREETED && w->state != AT_FLEET_READY) {
            w->has_left = true;
            at_fleet_enqueue(f, w);
            continue;
        }
        w->state = AT_FLEET_GREETED;
        w->compares = false;
        at_fleet_say(f, w, &f->task);
    }
}

/* Does a step of Slurm's, which is the spot behind it, start the workers of this directory? */
static bool has_step(const at_spots *spots, int dir) {
    return dir + 1 < spots->len && spots->data[dir + 1].path == spots->data[dir].path;
}

static at_status begin(void *self, const at_far_task *t, at_error *err) {
    fleet *f = self;
    signal(SIGPIPE, SIG_IGN);
    AT_TRY(at_fleet_task(f, t, err));
    if (f->epoll >= 0) return turn_all(f), AT_OK;
    f->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (f->epoll < 0) AT_BUG("epoll: %s", strerror(errno));
    f->gates = AT_NEW_ARRAY(f->arena, at_fleet_door, f->spots.len);
    for (int i = 0; i < f->spots.len; i++) {
        const at_spot *s = &f->spots.data[i];
        if (s->kind == AT_PLACE_DIR) {
            f->gates[f->num_gates].spot = s;
            at_status status =
                at_gate_open(s->path, has_step(&f->spots, i), &f->gates[f->num_gates++].gate, err);
            if (status != AT_OK) return at_fail_at(err, "--on %s: ", s->name);
            continue;
        }
        worker *w = at_fleet_add(f, s, s->name);
        w->was_there = s->path != NULL; /* it has nothing to say */
        if (s->path) f->gates[f->num_gates - 1].step = w;
        at_fleet_start(f, w);
    }
    return AT_OK;
}

/* A process has ended; who came in through a directory has taken its box away. */
static bool is_over(const fleet *f, worker *w) {
    const at_gate *g = w->box ? at_fleet_gate(f, w->spot) : NULL;
    if (w->box) return w->state == AT_FLEET_GONE || !g || !at_gate_has(g, w->box);
    return !w->link.pid || at_link_is_over(&w->link);
}

/* It starts those that come in through a directory, and ends when they have. */
static bool is_step(const worker *w) { return !w->box && w->spot->path; }

static bool all_over(const fleet *f, bool steps) {
    bool over = true;
    for (int i = 0; i < f->num_workers; i++)
        if (steps || !is_step(f->workers[i])) over &= is_over(f, f->workers[i]);
    return over;
}

static void wait_for_ends(const fleet *f, bool steps, double most_s) {
    for (int64_t begin_ns = at_now_ns(); at_seconds_since(begin_ns) < most_s;) {
        for (int i = 0; i < f->num_workers; i++) at_link_pump_in(&f->workers[i]->link);
        if (all_over(f, steps)) return;
        usleep(2000);
    }
}

/* Each is told, and has a while to end; then it is made to. */
static void end(void *self) {
    fleet *f = self;
    for (int i = 0; i < f->num_workers; i++) {
        worker *w = f->workers[i];
        if (!at_fleet_is_open(w)) continue;
        if (!is_step(w)) at_link_send(&w->link, &(at_frame){.type = AT_FRAME_BYE}, NULL);
        at_link_hang_up(&w->link);
    }
    wait_for_ends(f, false, end_s);
    for (int i = 0; i < f->num_gates; i++) at_gate_close(f->gates[i].gate);
    f->num_gates = 0;
    wait_for_ends(f, true, end_s);
    bool waits = false;
    for (int i = 0; i < f->num_workers; i++)
        if (f->workers[i]->link.pid) waits = true, kill(-f->workers[i]->link.pid, SIGTERM);
    if (waits) wait_for_ends(f, true, term_s);
    for (int i = 0; i < f->num_workers; i++) {
        worker *w = f->workers[i];
        at_link_close(&w->link);
        free(w->told), free(w->node), free(w->cpu);
        at_arena_free(w->arena);
    }
    at_core_claims_clean(); /* of those here */
    f->num_workers = f->first = f->num_queued = f->num_put = 0;
    f->looked_ns = 0;
    f->has_turned = false;
    if (f->epoll >= 0) close(f->epoll);
    f->epoll = -1;
}

/* As --on names them; who comes in through a directory is started by somebody else. */
static const char *awaited(at_arena *a, const char *const *places, int n, const at_spots *spots) {
    at_text out = {0};
    for (int i = 0; i < n; i++) at_text_addf(&out, "%s%s", i ? " or " : "", places[i]);
    for (int i = 0; i < spots->len; i++) {
        const at_spot *s = &spots->data[i];
        if (s->kind == AT_PLACE_DIR && !has_step(spots, i))
            at_text_addf(&out, "; autotune work %s starts one there", at_shell_word(a, s->path));
    }
    return at_text_take(a, &out);
}

at_status at_fleet_new(const char *const *places, int n, double lease_s, at_fleet **out,
                       at_error *err) {
    fleet *f = calloc(1, sizeof *f);
    AT_NEED(f);
    f->arena = at_arena_new();
    f->task_arena = at_arena_new();
    f->lease_s = lease_s;
    f->epoll = -1;
    f->far = (at_far){f, "", begin, next, trial, final, compare, refuse, workers, end};
    at_status s = AT_OK;
    for (int i = 0; i < n && s == AT_OK; i++)
        s = at_places_parse(f->arena, places[i], &f->spots, err);
    if (s != AT_OK) return at_fleet_free(f), s;
    f->far.places = awaited(f->arena, places, n, &f->spots);
    *out = f;
    return AT_OK;
}

void at_fleet_free(at_fleet *f) {
    if (!f) return;
    at_arena_free(f->arena);
    at_arena_free(f->task_arena);
    free(f);
}

const at_far *at_fleet_far(at_fleet *f) { return &f->far; }
