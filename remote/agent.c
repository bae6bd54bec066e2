/* remote/agent.c: `autotune agent`. One thread reads what the search says and keeps the lease; the
 * other does what it says, one thing after another, with the engine as a local search uses it. */
#include "remote/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/engine.h"
#include "remote/core_claim.h"
#include "remote/remote.h"
#include "remote/result.h"

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
static const double hold_s = 0.05;

/* A frame with the texts in it. */
typedef struct waiting {
    struct waiting *next;
    at_arena *arena;
    at_frame frame;
} waiting;

typedef struct agent {
    at_link *link;
    const volatile int *stop_all; /* may be NULL */
    const at_agent_told *told;    /* likewise */
    volatile int stop;            /* what goes on comes to an end */
    at_agent_end end;             /* once over */
    bool over;
    double lease_s;
    int64_t heard_ns;
    pthread_mutex_t lock; /* of the queue, the end and what is unsent */
    pthread_cond_t more;
    waiting *first, **last;
    int num_waiting;
    int64_t said_ns;
    int64_t held_ns; /* since when something unsent waits for more; 0: nothing does */
    /* of the task: */
    bool has_task;
    at_tuning tuning; /* session and what is known; no tuner and no log */
    at_trial_pair *trials;
    at_core_claim claim;
    char *folder; /* of a file that came with the task, as long as it is read */
    int64_t told_ns;
    const char *anchor, *objective; /* lines about them; NULL: none */
    const char *second;             /* as in the task; "": none */
    double last_gflops;
    double last_at_s;
} agent;

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

static void say(agent *g, const at_frame *f) {
    pthread_mutex_lock(&g->lock);
    put(g, f);
    send_unsent(g);
    pthread_mutex_unlock(&g->lock);
}

static bool is_held_long(const agent *g) {
    return g->held_ns && (double)(at_now_ns() - g->held_ns) * 1e-9 > hold_s;
}

static void say_result(agent *g, const at_frame *f) {
    pthread_mutex_lock(&g->lock);
    put(g, f);
    if (!g->held_ns) g->held_ns = at_now_ns();
    if (g->num_waiting < WAITING_TO_HOLD || is_held_long(g)) send_unsent(g);
    pthread_mutex_unlock(&g->lock);
}

static void say_text(agent *g, at_frame_type type, const char *text) {
    say(g, &(at_frame){.type = type, .text = text});
}

static void warn(void *ctx, const char *text) { say_text(ctx, AT_FRAME_TOLD, text); }

static void hello(agent *g) {
    char host[256] = "";
    const char *node = getenv("SLURMD_NODENAME");
    gethostname(host, sizeof host - 1);
    say(g, &(at_frame){.type = AT_FRAME_HELLO,
                       .version = AT_VERSION,
                       .node = node && *node ? node : host,
                       .cpu = at_cpu_facts()->name,
                       .pid = (uint32_t)getpid()});
}

/* ---- hearing --------------------------------------------------------------------------------- */

static void finish(agent *g, at_agent_end end) {
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
            finish(g, AT_AGENT_GARBLED);
            return false;
        }
        if (!there) {
            at_arena_free(a);
            return true;
        }
        g->heard_ns = at_now_ns();
        if (f.type == AT_FRAME_TASK && f.lease_s >= AT_LEASE_LEAST && f.lease_s <= AT_LEASE_MOST)
            g->lease_s = f.lease_s;
        if (f.type == AT_FRAME_BYE) finish(g, AT_AGENT_DONE);
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

static void *listen_to(void *ctx) {
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
        if (fine && g->link->is_closed) finish(g, AT_AGENT_DONE);
        if (silent_s > g->lease_s) finish(g, AT_AGENT_SILENT);
        if (at_is_set(g->stop_all)) finish(g, AT_AGENT_STOPPED);
        pthread_mutex_lock(&g->lock);
        bool over = g->over;
        bool is_due = (double)(now_ns - g->said_ns) * 1e-9 > g->lease_s * alive_part;
        if (!over && is_held_long(g)) send_unsent(g);
        pthread_mutex_unlock(&g->lock);
        if (over && !over_ns) over_ns = now_ns;
        if (over && !g->has_task) return NULL;
        if (over && (double)(now_ns - over_ns) * 1e-9 > grace_s) end_hard(g);
        if (!over && is_due) say(g, &(at_frame){.type = AT_FRAME_ALIVE});
        if (over) usleep(10000);
    }
}

/* ---- the task -------------------------------------------------------------------------------- */

/* A file that came with the task, under the name that it had; path NULL: it has no such name. */
static at_status put_file(agent *g, at_arena *a, const char *name, const char *bytes, size_t len,
                          const char **path, at_error *err) {
    const char *slash = strrchr(name, '/'), *tmp = getenv("TMPDIR");
    name = slash ? slash + 1 : name;
    if (!*name || *name == '.')
        return at_fail(err, AT_E_USAGE, "\"%s\" is no name of a file", name);
    g->folder = strdup(at_format(a, "%s/autotune-agent-XXXXXX", tmp && *tmp ? tmp : "/tmp"));
    AT_NEED(g->folder);
    if (!mkdtemp(g->folder)) {
        free(g->folder);
        g->folder = NULL;
        return at_fail(err, AT_E_OUTPUT, "no folder for %s: %s", name, strerror(errno));
    }
    *path = at_format(a, "%s/%s", g->folder, name);
    return at_write_file(*path, bytes, len, err);
}

static void drop_file(agent *g, const char *path) {
    if (path) unlink(path);
    if (g->folder) rmdir(g->folder);
    free(g->folder);
    g->folder = NULL;
}

/* Template of a user's own: its text becomes a file again. */
static at_status load_template(agent *g, at_arena *a, const at_frame *f,
                               const at_template_row **row, at_error *err) {
    const char *path = NULL;
    if (!*f->template_text) return at_template_find(f->template_name, row, err);
    if (!at_is_template_file(f->template_file))
        return at_fail(err, AT_E_USAGE, "%s is no name of a template's file", f->template_file);
    at_status s =
        put_file(g, a, f->template_file, f->template_text, strlen(f->template_text), &path, err);
    if (s == AT_OK) s = at_user_template_load(path, row, err);
    drop_file(g, path);
    return s;
}

/* With the weight of the user's own, if it has one, as long as that is read. */
static at_status open_session(agent *g, at_arena *a, const at_frame *f, const at_engine_options *o,
                              at_request *q, at_error *err) {
    if (!f->weight_bytes) return at_session_open(o, q, true, &g->tuning.s, err);
    at_status s =
        put_file(g, a, f->weight_file, f->weight, (size_t)f->weight_bytes, &q->weight, err);
    if (s == AT_OK) s = at_session_open(o, q, true, &g->tuning.s, err);
    drop_file(g, q->weight);
    return s;
}

static const char *given(at_arena *a, const char *text) {
    return *text ? at_strdup(a, text) : NULL;
}

static int64_t bounded(uint64_t x) { return x < INT32_MAX ? (int64_t)x : INT32_MAX; }

static void read_options(agent *g, const at_frame *f, at_engine_options *o) {
    *o = (at_engine_options){.compiler = (at_compiler)f->compiler,
                             .packing = (at_packing)f->packing,
                             .cache = (at_cache)f->cache,
                             .threads = f->threads,
                             .paranoid = f->paranoid != 0,
                             .seed = f->seed,
                             .number = bounded(f->runs),
                             .repeat = bounded(f->repeat),
                             .min_repeat_ms = f->min_repeat_ms,
                             .timeout_s = f->timeout_s,
                             .cooldown_s = f->cooldown_s,
                             .max_error = f->max_error,
                             .prune = f->prune,
                             .jobs = f->jobs,
                             .objective = (at_objective)f->objective_asked,
                             .warn = warn,
                             .ctx = g,
                             .stop = &g->stop};
}

static void drop_task(agent *g) {
    if (!g->has_task) return;
    at_trial_pair_free(g->trials);
    g->trials = NULL;
    if (g->tuning.s.options.jobs > 1) at_cpu_return();
    at_session_close(&g->tuning.s);
    memset(&g->tuning, 0, sizeof g->tuning);
    at_core_claim_give(&g->claim);
    g->has_task = false;
}

static at_status open_task(agent *g, const at_frame *f, at_error *err) {
    at_tuning *t = &g->tuning;
    at_session *s = &t->s;
    at_engine_options o;
    at_arena *a = at_arena_new(); /* as long as this process, as templates are */
    if (strcmp(f->version, AT_VERSION) != 0)
        return at_fail(err, AT_E_USAGE, "the search is of version %s, this agent of " AT_VERSION,
                       f->version);
    at_request q = {.template_name = at_strdup(a, f->template_name),
                    .args = given(a, f->args),
                    .sparsity = given(a, f->sparsity),
                    .block = given(a, f->block)};
    AT_TRY(load_template(g, a, f, &q.row, err));
    if (f->objective_asked >= AT_OBJECTIVE_COUNT)
        return at_fail(err, AT_E_INPUT, "objective %u", f->objective_asked);
    read_options(g, f, &o);
    o.isa = given(a, f->isa);
    AT_TRY(at_engine_check(&o, err));
    int cores = o.threads > 1 ? (int)o.threads : 1;
    AT_TRY(at_core_claim_take(&g->claim, cores + (o.jobs > 1), err));
    g->has_task = true;
    AT_TRY(open_session(g, a, f, &o, &q, err));
    AT_TRY(at_session_context(s, true, err));
    if (o.prune > 0) AT_TRY(at_session_machine(s, err));
    if (strcmp(s->context.template_hash, f->template_hash) != 0)
        return at_fail(err, AT_E_USAGE, "the template %s is another one here", f->template_name);
    AT_TRY(at_session_reserve(s, err));
    t->known = at_known_new(s->arena);
    g->trials = at_trial_pair_new();
    if (o.jobs > 1) at_cpu_leave(s->threads);
    return at_session_start(s, err);
}

/* What is being done here, for `autotune workers`. */
static void tell_state(agent *g, bool now) {
    const at_session *s = &g->tuning.s;
    char host[256] = "";
    at_text line = {0};
    if (!now && at_now_ns() - g->told_ns < 1000000000) return;
    g->told_ns = at_now_ns();
    gethostname(host, sizeof host - 1);
    at_text_add(&line, "{\"host\": ");
    at_text_add_json_string(&line, host);
    at_text_addf(&line, ", \"pid\": %d, \"cpu\": ", (int)getpid());
    at_text_add_json_string(&line, at_cpu_facts()->name);
    at_text_add(&line, ", \"task\": ");
    at_text_add_json_string(
        &line, at_format(s->scratch, "%s %s", s->row->name, at_task_args_text(s->task)));
    at_text_addf(&line, ", \"peak_gflops\": %.1f, \"last_gflops\": %.2f, \"last_s\": %.3f}\n",
                 s->peak, g->last_gflops, g->last_at_s);
    at_core_claim_tell(&g->claim, at_text_str(&line));
    if (g->told) g->told->tell(g->told->ctx, at_text_str(&line));
    at_text_free(&line);
}

/* A record as trials of this session begin: that of the default configuration, not measured. */
static at_status say_ready(agent *g, at_error *err) {
    at_session *s = &g->tuning.s;
    at_config config;
    at_candidate candidate;
    at_record r;
    at_text line = {0};
    at_arena *a = s->scratch;
    at_arena_reset(a);
    AT_TRY(at_task_default_config(a, s->task, s->target->default_lanes, &config, err));
    at_candidate_build(s, a, &config, &candidate, &r);
    r.extra.peak_gflops = s->peak;
    at_record_print(&line, &r);
    say(g, &(at_frame){.type = AT_FRAME_READY,
                       .records = at_text_str(&line),
                       .anchor = g->anchor,
                       .objective = g->objective});
    at_text_free(&line);
    return AT_OK;
}

/* The anchor's line, with how far it is from the search's second kernel now. */
static at_status compare(agent *g, at_error *err) {
    at_tuning *t = &g->tuning;
    at_session *s = &t->s;
    const at_json *json;
    at_config c;
    at_text text = {0};
    if (!s->anchors.kernel) return AT_OK;
    at_anchor_line l = *at_known_anchor(t->known, -1);
    l.config = &s->anchors.kernel->config;
    if (*g->second) {
        AT_TRY(at_json_parse(s->arena, g->second, strlen(g->second), &json, err));
        AT_TRY(at_config_from_json(s->arena, s->space, json, &c, err));
        AT_TRY(at_anchor_second(s, t->known, &c, &l, err));
    }
    at_anchor_line_print(&text, &l);
    g->anchor = at_text_take(s->arena, &text);
    return AT_OK;
}

/* What trials are timed against, and what counts. */
static at_status find_anchor(agent *g, const char *second, at_error *err) {
    at_tuning *t = &g->tuning;
    at_session *s = &t->s;
    at_text text = {0};
    g->anchor = g->objective = NULL;
    g->second = at_strdup(s->arena, second);
    AT_TRY(at_anchor_ready(s, t->known, NULL, err));
    if (!s->anchors.kernel) return AT_OK;
    const at_objective_line *objective = at_known_objective(t->known);
    if (objective) at_objective_line_print(&text, objective);
    g->objective = at_text_take(s->arena, &text);
    return compare(g, err);
}

static void take_task(agent *g, const at_frame *f) {
    at_error err = {0};
    drop_task(g);
    at_status status = open_task(g, f, &err);
    if (status == AT_OK) status = find_anchor(g, f->second, &err);
    if (status == AT_OK) status = say_ready(g, &err);
    if (status == AT_OK) {
        tell_state(g, true);
        return;
    }
    if (!g->over) say_text(g, AT_FRAME_REFUSED, err.text);
    finish(g, AT_AGENT_DONE);
}

/* ---- trials and finals ----------------------------------------------------------------------- */

static at_status index_of(const agent *g, at_arena *a, const char *entity, int64_t *index,
                          at_error *err) {
    const at_json *json;
    at_config c;
    AT_TRY(at_json_parse(a, entity, strlen(entity), &json, err));
    AT_TRY(at_config_from_json(a, g->tuning.s.space, json, &c, err));
    if (c.index < 0) return at_fail(err, AT_E_INPUT, "no configuration of this space");
    *index = c.index;
    return AT_OK;
}

/* The trial that waits; -1: there is none. */
static int64_t next_index(agent *g, at_arena *a) {
    int64_t index = -1;
    pthread_mutex_lock(&g->lock);
    const at_frame *f =
        g->first && g->first->frame.type == AT_FRAME_TRIAL ? &g->first->frame : NULL;
    const char *entity = f ? at_strdup(a, f->entity) : NULL;
    pthread_mutex_unlock(&g->lock);
    return entity && index_of(g, a, entity, &index, NULL) == AT_OK ? index : -1;
}

static at_status measure(agent *g, at_arena *a, const at_frame *f, at_error *err) {
    at_tuning *t = &g->tuning;
    at_record r;
    int64_t index;
    AT_TRY(index_of(g, a, f->entity, &index, err));
    at_arena_reset(t->s.scratch);
    AT_TRY(at_trial_measure(t, g->trials, index, next_index(g, a),
                            isfinite(f->best_s) ? f->best_s : 0, &r, err));
    if (!r.error_no) {
        g->last_gflops = r.extra.gflops;
        g->last_at_s = at_wall_time_s();
    }
    const at_trial_id id = {.search = f->search,
                            .epoch = (int)f->epoch,
                            .number = (int64_t)f->number,
                            .attempt = (int)f->attempt};
    const at_frame result = at_result_frame(&id, &r);
    say_result(g, &result);
    at_arena_reset(t->s.scratch);
    tell_state(g, false);
    return AT_OK;
}

/* The records are what is known for the final. */
static at_status run_final(agent *g, at_arena *a, const at_frame *f, at_error *err) {
    at_session *s = &g->tuning.s;
    at_known *known = at_known_new(a);
    at_final *final = AT_NEW(a, at_final);
    at_text lines = {0};
    for (const char *line = f->records; *line;) {
        size_t n = strcspn(line, "\n");
        at_record r;
        at_config c;
        if (at_record_parse(a, line, n, &r, NULL) == AT_OK &&
            at_config_rebind(a, s->space, &r.config, &c, NULL) == AT_OK && c.index >= 0)
            at_known_add(known, at_session_keep(s, a, &r, c.index), NULL);
        line += n + (line[n] == '\n');
    }
    double budget_s = isfinite(f->budget_s) && f->budget_s > 0 ? f->budget_s : 0;
    AT_TRY(at_final_run(s, known, NULL, (at_final_limits){budget_s, budget_s}, final, err));
    at_final_print(&lines, s, final);
    say_text(g, AT_FRAME_TURNS, at_text_str(&lines));
    at_text_free(&lines);
    return AT_OK;
}

static at_status compare_again(agent *g, at_error *err) {
    AT_TRY(compare(g, err));
    return say_ready(g, err);
}

static void say_states(agent *g) {
    at_text states = {0};
    at_core_claims_read(&states);
    say_text(g, AT_FRAME_STATES, at_text_str(&states));
    at_text_free(&states);
}

static void take_frame(agent *g, at_arena *a, const at_frame *f) {
    at_error err = {0};
    at_status status = AT_OK;
    if (f->type == AT_FRAME_TASK) take_task(g, f);
    else if (f->type == AT_FRAME_ASK) say_states(g);
    else if (!g->has_task) status = at_fail(&err, AT_E_INPUT, "a trial without a task");
    else if (f->type == AT_FRAME_TRIAL) status = measure(g, a, f, &err);
    else if (f->type == AT_FRAME_FINAL) status = run_final(g, a, f, &err);
    else if (f->type == AT_FRAME_COMPARE) status = compare_again(g, &err);
    if (status == AT_OK || status == AT_E_INTERRUPTED) return;
    say_text(g, AT_FRAME_REFUSED, err.text);
    finish(g, AT_AGENT_GARBLED);
}

static waiting *next_frame(agent *g) {
    pthread_mutex_lock(&g->lock);
    while (!g->first && !g->over) pthread_cond_wait(&g->more, &g->lock);
    waiting *w = g->over ? NULL : g->first;
    if (w) {
        g->first = w->next;
        if (!g->first) g->last = &g->first;
        g->num_waiting--;
    }
    pthread_mutex_unlock(&g->lock);
    return w;
}

at_agent_end at_agent_serve(at_link *l, double lease_s, const volatile int *stop,
                            const at_agent_told *told) {
    agent *g = calloc(1, sizeof *g);
    pthread_t listener;
    AT_NEED(g);
    g->link = l;
    l->takes_tasks = true;
    g->stop_all = stop;
    g->told = told;
    g->lease_s = lease_s;
    g->heard_ns = at_now_ns();
    g->last = &g->first;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->more, NULL);
    hello(g);
    if (pthread_create(&listener, NULL, listen_to, g)) AT_BUG("no thread: %s", strerror(errno));
    for (waiting *w; (w = next_frame(g));) {
        take_frame(g, w->arena, &w->frame);
        at_arena_free(w->arena);
    }
    drop_task(g);
    pthread_join(listener, NULL);
    for (waiting *w = g->first, *next; w; w = next) {
        next = w->next;
        at_arena_free(w->arena);
    }
    at_agent_end end = g->end;
    pthread_cond_destroy(&g->more);
    pthread_mutex_destroy(&g->lock);
    at_link_close(l);
    free(g);
    return end;
}

at_status at_agent_main(int in, int out, const volatile int *stop, at_error *err) {
    static const char magic[] = "\n" AT_FRAME_MAGIC "\n";
    at_link link;
    signal(SIGPIPE, SIG_IGN);
    if (write(out, magic, sizeof magic - 1) != (ssize_t)sizeof magic - 1)
        return at_fail(err, AT_E_OUTPUT, "agent: nobody reads its output");
    at_link_of_pipes(&link, in, out);
    at_agent_end end = at_agent_serve(&link, AT_LEASE_S, stop, NULL);
    if (end == AT_AGENT_GARBLED)
        return at_fail(err, AT_E_INPUT, "agent: what came on standard input is not from a search");
    if (end == AT_AGENT_SILENT)
        return at_fail(err, AT_E_INTERRUPTED, "agent: nothing was heard of the search");
    return end == AT_AGENT_STOPPED ? at_fail(err, AT_E_INTERRUPTED, "interrupted") : AT_OK;
}
