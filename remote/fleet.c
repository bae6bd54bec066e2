/* remote/fleet.c: the workers of a search: reached, kept, lost and reached again. Nothing here
 * decides what is measured. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "remote/core_claim.h"
#include "remote/gate.h"
#include "remote/places.h"
#include "remote/remote.h"
#include "remote/result.h"

static const double alive_part = 1.0 / 6; /* of the lease: so often something is said */
/* At all workers: what only time tells of, and files of which nobody tells. */
static const double look_s = 0.1, look_at_files_s = 0.02;
static const double end_s = 3, term_s = 10, most_pause_s = 30;
/* In a row: of one that was of use or began to be, and of one that never said a word. */
enum { MOST_FAILURES = 5, MOST_SILENT_FAILURES = 1 };
enum { MOST_WEIGHT_BYTES = AT_FRAME_MOST_TASK_BYTES - (1 << 20) };
enum { MOST_WORKERS = 4096 }; /* those that come in through a directory included */

typedef enum state {
    DOWN,    /* to be started at retry_ns */
    STARTED, /* it has not said what it is */
    GREETED, /* it has the task */
    READY,
    GONE /* for good */
} state;

typedef struct worker {
    int number;
    const at_spot *spot;
    const char *name;
    const char *box; /* of a directory: its folder */
    state state;
    at_link link;
    bool ends; /* its process was told to; until kill_ns it may do so by itself */
    int64_t kill_ns;
    int64_t heard_ns, said_ns, retry_ns;
    int failures;
    bool was_there, has_left, is_useless;
    bool has_worked;    /* was ready once */
    bool compares;      /* it was asked to, and is ready once more then */
    bool is_queued;     /* to be heard */
    bool waits_to_send; /* epoll tells when more can be written */
    char *told;         /* for the user; owned */
    char *node, *cpu;
    at_arena *arena; /* of the record that it sent when it was ready */
    at_record ready;
} worker;

typedef struct gate {
    const at_spot *spot;
    at_gate *gate;
    struct worker *step; /* a process that starts those who come in; NULL: nobody of ours */
} gate;

struct at_fleet {
    at_far far;
    at_arena *arena;
    at_spots spots;
    double lease_s;
    at_frame task; /* as it is sent */
    int cores;     /* of a worker */
    worker *workers[MOST_WORKERS];
    int num_workers;
    int epoll;               /* -1: none */
    int queue[MOST_WORKERS]; /* [num_queued] from first on, in a circle: who has something to say */
    int first, num_queued;
    int64_t looked_ns; /* at all workers */
    gate *gates;
    int num_gates;
    char *program; /* to be sent where it is missing */
    size_t program_bytes;
};
typedef struct at_fleet fleet;

/* ---- a worker's course ------------------------------------------------------------------------
 */

static void tell(worker *w, const char *text) {
    free(w->told);
    w->told = strdup(text);
    AT_NEED(w->told);
}

static worker *new_worker(fleet *f, const at_spot *spot, const char *name) {
    worker *w = AT_NEW(f->arena, worker);
    *w = (worker){.number = f->num_workers, .spot = spot, .name = name, .arena = at_arena_new()};
    w->link = (at_link){.in = -1, .out = -1, .errors = -1};
    f->workers[f->num_workers++] = w;
    return w;
}

static void enqueue(fleet *f, worker *w) {
    if (w->is_queued) return;
    w->is_queued = true;
    f->queue[(f->first + f->num_queued++) % MOST_WORKERS] = w->number;
}

static void watch(fleet *f, const worker *w, int fd, uint32_t events) {
    struct epoll_event e = {.events = events, .data.u32 = (uint32_t)w->number};
    if (fd >= 0 && epoll_ctl(f->epoll, EPOLL_CTL_ADD, fd, &e) && errno != EEXIST)
        AT_BUG("epoll: %s", strerror(errno));
}

static void unwatch(fleet *f, int fd) {
    if (fd >= 0) epoll_ctl(f->epoll, EPOLL_CTL_DEL, fd, NULL);
}

/* What comes from it is heard of. A file that is closed is not watched any more. */
static void watch_link(fleet *f, const worker *w) {
    struct pollfd p[AT_LINK_FDS];
    int n = at_link_fds(&w->link, p);
    for (int i = 0; i < n; i++)
        if (p[i].events == POLLIN) watch(f, w, p[i].fd, EPOLLIN);
}

/* Where a pipe is full, that there is room again is waited for. */
static void watch_room(fleet *f, worker *w) {
    bool waits = w->link.out >= 0 && at_link_has_unsent(&w->link);
    if (waits == w->waits_to_send) return;
    if (waits) watch(f, w, w->link.out, EPOLLOUT);
    else unwatch(f, w->link.out);
    w->waits_to_send = waits;
}

/* Why it ended: what the program there said last, or what was seen here. */
static void note_end(worker *w, const char *why) {
    at_text text = {0};
    char *said = w->link.last_words;
    size_t n = strlen(said);
    while (n && strchr("\n\r ", said[n - 1])) said[--n] = 0;
    const char *last = strrchr(said, '\n');
    at_text_addf(&text, "%s: ", w->name);
    at_text_add_visible(&text, n ? last ? last + 1 : said : why);
    tell(w, at_text_str(&text));
    at_text_free(&text);
}

static at_gate *gate_of(const fleet *f, const at_spot *s) {
    for (int i = 0; i < f->num_gates; i++)
        if (f->gates[i].spot == s) return f->gates[i].gate;
    return NULL;
}

/* srun takes its step along only where it may. */
static void shut(fleet *f, worker *w) {
    unwatch(f, w->link.in);
    unwatch(f, w->link.errors);
    if (w->waits_to_send) unwatch(f, w->link.out);
    w->waits_to_send = false;
    enqueue(f, w); /* that it has left */
    if (w->box) {
        at_link_close(&w->link);
        at_gate_drop(gate_of(f, w->spot), w->box);
        return;
    }
    at_link_hang_up(&w->link);
    if (w->link.pid) kill(-w->link.pid, SIGTERM);
    w->ends = true;
    w->kill_ns = at_now_ns() + (int64_t)(term_s * 1e9);
}

/* Whether its process is over, or made to be. */
static bool has_ended(worker *w) {
    if (!w->ends) return true;
    at_link_pump_in(&w->link);
    if (!at_link_is_over(&w->link) && at_now_ns() < w->kill_ns) return false;
    at_link_close(&w->link);
    w->ends = false;
    return true;
}

/* It is reached again after a pause, unless it cannot be of use, or it fails again and again. */
static void lose(fleet *f, worker *w, const char *why) {
    note_end(w, why);
    w->has_left |= w->state == READY;
    w->compares = false;
    shut(f, w);
    w->failures++;
    int most = w->was_there ? MOST_FAILURES : MOST_SILENT_FAILURES;
    bool again = !w->is_useless && !w->box && w->failures <= most;
    double pause_s = fmin(0.25 * pow(2, w->failures), most_pause_s);
    w->state = again ? DOWN : GONE;
    w->retry_ns = at_now_ns() + (int64_t)(pause_s * 1e9);
}

static void start(fleet *f, worker *w) {
    char **argv;
    at_error err;
    at_status s = at_place_command(f->arena, w->spot, f->cores, &argv, &err);
    if (s == AT_OK) s = at_link_start(&w->link, argv, &err);
    w->heard_ns = w->said_ns = at_now_ns();
    w->state = STARTED;
    if (s == AT_OK) watch_link(f, w);
    else lose(f, w, err.text);
}

static bool is_open(const worker *w) {
    return w->state == STARTED || w->state == GREETED || w->state == READY;
}

static void say(fleet *f, worker *w, const at_frame *frame) {
    at_error err;
    if (at_link_send(&w->link, frame, &err) != AT_OK) lose(f, w, err.text);
    at_link_pump_out(&w->link);
    if (is_open(w)) watch_room(f, w);
    w->said_ns = at_now_ns();
}

/* The other side has no such program yet, or never will. */
static void look_for_words(fleet *f, worker *w) {
    at_text *got = &w->link.got;
    if (w->state != STARTED || !w->link.greets || w->spot->kind != AT_PLACE_SSH || !got->len)
        return;
    if (strstr(got->data, "\n" AT_PLACE_OTHER " ")) {
        w->is_useless = true;
        lose(f, w,
             "its architecture is another one; install autotune there, and start it by "
             "dir: or slurm:program=");
        return;
    }
    char *missing = strstr(got->data, "\n" AT_PLACE_MISSING "\n");
    if (!missing) return;
    at_error err;
    if (!f->program && at_own_program(f->arena, &f->program, &f->program_bytes, &err) != AT_OK) {
        lose(f, w, err.text);
        return;
    }
    at_text_clear(got);
    at_link_send_raw(&w->link, f->program, f->program_bytes);
}

/* ---- what it says -----------------------------------------------------------------------------
 */

static void greet(fleet *f, worker *w, const at_frame *frame) {
    if (strcmp(frame->version, AT_VERSION) != 0) {
        at_text text = {0};
        at_text_addf(&text, "its agent is of version %.40s, this program of " AT_VERSION,
                     frame->version);
        w->is_useless = true;
        lose(f, w, at_text_str(&text));
        at_text_free(&text);
        return;
    }
    free(w->node), free(w->cpu);
    w->node = strdup(frame->node);
    w->cpu = strdup(frame->cpu);
    AT_NEED(w->node && w->cpu);
    w->state = GREETED;
    w->was_there = true;
    say(f, w, &f->task);
}

static bool read_record(at_arena *a, const char *text, at_record *out) {
    size_t n = strcspn(text, "\n");
    const char *line = at_strndup(a, text, n);
    return at_record_parse(a, line, n, out, NULL) == AT_OK && out->extra.present;
}

/* true: *out is an event of it. */
static bool take_frame(fleet *f, worker *w, at_arena *a, const at_frame *frame, at_far_event *out) {
    bool fine = true;
    out->kind = AT_FAR_NOTHING;
    switch (frame->type) {
    case AT_FRAME_HELLO:
        if (w->state == STARTED) greet(f, w, frame);
        return false;
    case AT_FRAME_READY:
        if (w->state == READY && !w->compares) return false; /* delivered twice */
        fine = (w->state == GREETED || w->compares) && read_record(a, frame->records, &out->record);
        if (!fine) break;
        at_arena_reset(w->arena);
        read_record(w->arena, frame->records, &w->ready);
        out->kind = AT_FAR_JOINED;
        out->anchor = frame->anchor;
        out->objective = frame->objective;
        w->state = READY;
        w->has_worked = true;
        w->compares = false;
        break;
    case AT_FRAME_RESULT:
        out->kind = AT_FAR_RESULT;
        fine = w->state == READY && at_result_read(frame, &w->ready, &out->record, &out->trial);
        w->failures = 0;
        break;
    case AT_FRAME_TURNS:
        out->kind = AT_FAR_TURNS;
        out->text = frame->text;
        break;
    case AT_FRAME_TOLD:
        out->kind = AT_FAR_TOLD;
        out->text = at_format(a, "%s: %s", w->name, at_visible(a, frame->text));
        break;
    case AT_FRAME_REFUSED: {
        const char *why = at_visible(a, frame->text);
        /* One that has worked may find its cores taken, by its own end before, for a while. */
        w->is_useless |= !w->has_worked;
        lose(f, w, why);
        tell(w, at_format(a, "%s: %s", w->name, why));
        return false;
    }
    default: return false;
    }
    if (!fine) lose(f, w, "what it says makes no sense");
    return fine;
}

/* ---- the rounds -------------------------------------------------------------------------------
 */

/* What happened to a worker that is not something it said. */
static bool take_state(worker *w, at_arena *a, at_far_event *out) {
    if (w->has_left) {
        w->has_left = false;
        out->kind = AT_FAR_LEFT;
        return true;
    }
    if (!w->told) return false;
    out->kind = AT_FAR_TOLD;
    out->text = at_strdup(a, w->told);
    free(w->told);
    w->told = NULL;
    return true;
}

/* A worker that waits in Slurm's queue says nothing, and that is fine. */
static bool is_silent(const fleet *f, const worker *w) {
    bool waits = w->state == STARTED && w->spot->kind == AT_PLACE_SLURM;
    return !waits && (double)(at_now_ns() - w->heard_ns) * 1e-9 > f->lease_s;
}

/* What only time tells of. */
static void keep(fleet *f, worker *w) {
    int64_t now_ns = at_now_ns();
    bool ended = has_ended(w);
    if (w->state == DOWN && ended && now_ns >= w->retry_ns) start(f, w);
    if (!is_open(w)) return;
    if (w->box || is_silent(f, w)) enqueue(f, w); /* not every file system tells of files */
    if (w->state != STARTED && (double)(now_ns - w->said_ns) * 1e-9 > f->lease_s * alive_part)
        say(f, w, &(at_frame){.type = AT_FRAME_ALIVE});
}

static void keep_all(fleet *f) {
    double every_s = f->num_gates ? look_at_files_s : look_s;
    int64_t now_ns = at_now_ns();
    if (f->looked_ns && (double)(now_ns - f->looked_ns) * 1e-9 < every_s) return;
    f->looked_ns = now_ns;
    for (int i = 0; i < f->num_workers; i++) keep(f, f->workers[i]);
}

/* The next event of a worker; what it has said beyond that stays for the next time. */
static bool take_one(fleet *f, worker *w, at_arena *a, at_far_event *out) {
    bool pumped = false;
    if (take_state(w, a, out)) return true;
    while (is_open(w)) {
        at_frame frame;
        at_error err;
        bool there;
        if (at_link_receive(&w->link, a, &frame, &there, &err) != AT_OK) {
            lose(f, w, err.text);
        } else if (there) {
            w->heard_ns = at_now_ns();
            if (take_frame(f, w, a, &frame, out)) return true;
        } else if (!pumped) {
            at_link_pump(&w->link);
            look_for_words(f, w);
            at_link_pump_out(&w->link);
            if (is_open(w)) watch_room(f, w);
            pumped = true;
        } else {
            if (w->link.is_closed) lose(f, w, "it ended");
            else if (is_silent(f, w)) lose(f, w, "it is not heard of any more");
            break;
        }
    }
    return take_state(w, a, out);
}

static at_status look_at_gates(fleet *f, at_arena *a, at_error *err) {
    for (int i = 0; i < f->num_gates; i++) {
        at_link link;
        const char *name;
        bool there = true;
        while (there && f->num_workers < MOST_WORKERS) {
            AT_TRY(at_gate_look(f->gates[i].gate, a, &link, &name, &there, err));
            if (!there) break;
            worker *w = new_worker(f, f->gates[i].spot, at_format(f->arena, "dir:%s", name));
            w->box = at_strdup(f->arena, name);
            w->link = link;
            w->state = STARTED;
            w->heard_ns = w->said_ns = at_now_ns();
            watch_link(f, w);
        }
    }
    return AT_OK;
}

/* Until one of them says something, or it is time to look at all. */
static void wait_for_something(fleet *f, double most_s) {
    enum { AT_ONCE = 256 };
    struct epoll_event e[AT_ONCE];
    double every_s = f->num_gates ? look_at_files_s : look_s;
    if (most_s > every_s) most_s = every_s;
    int n = epoll_wait(f->epoll, e, AT_ONCE, (int)ceil(most_s * 1e3));
    for (int i = 0; i < n; i++) enqueue(f, f->workers[e[i].data.u32]);
}

static bool any_left(const fleet *f) {
    for (int i = 0; i < f->num_workers; i++)
        if (f->workers[i]->state != GONE) return true;
    for (int i = 0; i < f->num_gates; i++)
        if (!f->gates[i].step) return true;
    return false;
}

static at_status next(void *self, at_arena *a, double wait_s, at_far_event *out, at_error *err) {
    fleet *f = self;
    int64_t begin_ns = at_now_ns();
    for (;;) {
        AT_TRY(look_at_gates(f, a, err));
        keep_all(f);
        while (f->num_queued) {
            int number = f->queue[f->first];
            worker *w = f->workers[number];
            f->first = (f->first + 1) % MOST_WORKERS;
            f->num_queued--;
            w->is_queued = false;
            *out =
                (at_far_event){.worker = number, .name = w->name, .node = w->node ? w->node : ""};
            if (!take_one(f, w, a, out)) continue;
            if (w->link.taken < w->link.got.len || w->told || w->has_left) enqueue(f, w);
            if (out->kind == AT_FAR_TOLD && !any_left(f))
                return at_fail(err, AT_E_BUG, "no worker is left; %s", out->text);
            return AT_OK;
        }
        if (!any_left(f)) return at_fail(err, AT_E_BUG, "no worker is left");
        double left_s = wait_s - (double)(at_now_ns() - begin_ns) * 1e-9;
        if (left_s <= 0) break;
        wait_for_something(f, left_s);
    }
    *out = (at_far_event){.kind = AT_FAR_NOTHING, .worker = -1};
    return AT_OK;
}

/* ---- what the search says ---------------------------------------------------------------------
 */

static void trial(void *self, int number, const at_trial_id *id, const char *entity,
                  double best_s) {
    fleet *f = self;
    worker *w = f->workers[number];
    if (w->state != READY) return; /* that it left is told next */
    say(f, w,
        &(at_frame){.type = AT_FRAME_TRIAL,
                    .search = id->search,
                    .epoch = (uint32_t)id->epoch,
                    .number = (uint64_t)id->number,
                    .attempt = (uint32_t)id->attempt,
                    .entity = entity,
                    .best_s = best_s});
}

static void final(void *self, int number, const char *records, double budget_s) {
    fleet *f = self;
    worker *w = f->workers[number];
    if (w->state != READY) return;
    say(f, w, &(at_frame){.type = AT_FRAME_FINAL, .records = records, .budget_s = budget_s});
}

static void compare(void *self, int number) {
    fleet *f = self;
    worker *w = f->workers[number];
    if (w->state != READY) return;
    w->compares = true;
    say(f, w, &(at_frame){.type = AT_FRAME_COMPARE});
}

static void refuse(void *self, int number, const char *why) {
    fleet *f = self;
    worker *w = f->workers[number];
    if (!is_open(w)) return;
    at_link_send(&w->link, &(at_frame){.type = AT_FRAME_BYE}, NULL);
    shut(f, w);
    w->state = GONE;
    (void)why;
}

static int workers(void *self) {
    const fleet *f = self;
    int n = 0;
    for (int i = 0; i < f->num_workers; i++) n += f->workers[i]->state == READY;
    return n;
}

/* ---- beginning and end ------------------------------------------------------------------------
 */

/* Templates of the user's own go as text. */
static at_status make_task(fleet *f, const at_far_task *t, at_error *err) {
    const at_engine_options *o = t->options;
    const at_request *q = t->request;
    char *text = "", *weight = "";
    size_t len, weight_bytes = 0;
    if (q->weight)
        AT_TRY(
            at_read_file_most(f->arena, q->weight, MOST_WEIGHT_BYTES, &weight, &weight_bytes, err));
    if (q->num_arrays)
        return at_fail(err, AT_E_USAGE,
                       "--array: with --on inputs are made on the worker from the seed; a file is "
                       "not sent there");
    if (t->template_file) AT_TRY(at_read_file(f->arena, t->template_file, &text, &len, err));
    f->cores = (o->threads > 1 ? (int)o->threads : 1) + (o->jobs > 1);
    f->task = (at_frame){.type = AT_FRAME_TASK,
                         .version = AT_VERSION,
                         .lease_s = f->lease_s,
                         .template_name = t->template_name,
                         .template_hash = t->template_hash,
                         .template_file = t->template_file,
                         .template_text = text,
                         .args = t->args,
                         .sparsity = q->sparsity,
                         .block = q->block,
                         .isa = o->isa,
                         .second = t->second,
                         .objective_asked = (uint32_t)o->objective,
                         .compiler = (uint32_t)o->compiler,
                         .packing = (uint32_t)o->packing,
                         .cache = (uint32_t)o->cache,
                         .threads = (uint32_t)o->threads,
                         .paranoid = o->paranoid,
                         .seed = o->seed,
                         .runs = (uint64_t)o->number,
                         .repeat = (uint64_t)o->repeat,
                         .min_repeat_ms = o->min_repeat_ms,
                         .timeout_s = o->timeout_s,
                         .cooldown_s = o->cooldown_s,
                         .max_error = o->max_error,
                         .prune = o->prune,
                         .jobs = (uint32_t)o->jobs,
                         .weight_file = q->weight,
                         .weight = weight,
                         .weight_bytes = (int)weight_bytes};
    return AT_OK;
}

static at_status begin(void *self, const at_far_task *t, at_error *err) {
    fleet *f = self;
    signal(SIGPIPE, SIG_IGN);
    AT_TRY(make_task(f, t, err));
    f->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (f->epoll < 0) AT_BUG("epoll: %s", strerror(errno));
    f->gates = AT_NEW_ARRAY(f->arena, gate, f->spots.len);
    for (int i = 0; i < f->spots.len; i++) {
        const at_spot *s = &f->spots.data[i];
        if (s->kind == AT_PLACE_DIR) {
            f->gates[f->num_gates].spot = s;
            at_status status = at_gate_open(s->path, &f->gates[f->num_gates++].gate, err);
            if (status != AT_OK) return at_fail_at(err, "--on %s: ", s->name);
            continue;
        }
        worker *w = new_worker(f, s, s->name);
        w->was_there = s->path != NULL; /* it has nothing to say */
        if (s->path) f->gates[f->num_gates - 1].step = w;
        start(f, w);
    }
    return AT_OK;
}

/* A process has ended; who came in through a directory has taken its box away. */
static bool is_over(const fleet *f, worker *w) {
    const at_gate *g = w->box ? gate_of(f, w->spot) : NULL;
    if (w->box) return w->state == GONE || !g || !at_gate_has(g, w->box);
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
    for (int64_t begin_ns = at_now_ns(); (double)(at_now_ns() - begin_ns) * 1e-9 < most_s;) {
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
        if (!is_open(w)) continue;
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
    f->num_workers = f->first = f->num_queued = 0;
    f->looked_ns = 0;
    if (f->epoll >= 0) close(f->epoll);
    f->epoll = -1;
}

at_status at_fleet_new(const char *const *places, int n, double lease_s, at_fleet **out,
                       at_error *err) {
    fleet *f = calloc(1, sizeof *f);
    AT_NEED(f);
    f->arena = at_arena_new();
    f->lease_s = lease_s;
    f->epoll = -1;
    f->far = (at_far){f, begin, next, trial, final, compare, refuse, workers, end};
    at_status s = AT_OK;
    for (int i = 0; i < n && s == AT_OK; i++)
        s = at_places_parse(f->arena, places[i], &f->spots, err);
    if (s == AT_OK) *out = f;
    else at_fleet_free(f);
    return s;
}

void at_fleet_free(at_fleet *f) {
    if (!f) return;
    at_arena_free(f->arena);
    free(f);
}

const at_far *at_fleet_far(at_fleet *f) { return &f->far; }
