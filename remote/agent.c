/* remote/agent.c: `autotune agent`. One thread reads what the search says and keeps the lease
 * (agent_talk.c); the other does what it says, one thing after another, with the engine as a local
 * search uses it. */
#include "remote/agent.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "remote/agent_state.h"
#include "remote/remote.h"
#include "remote/result.h"

typedef at_waiting waiting;
typedef at_agent agent;

static at_status index_of(const agent *g, at_arena *a, const char *entity, int64_t *index,
                          at_error *err) {
    const at_json *json;
    at_config c;
    AT_TRY(at_json_parse(a, entity, strlen(entity), &json, err));
    AT_TRY(at_config_from_json(a, g->tuning.s.what.space, json, &c, err));
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
    const at_trial_id id = at_frame_trial(f);
    const at_frame result = at_result_frame(&id, &r);
    at_agent_say_result(g, &result);
    at_arena_reset(t->s.scratch);
    at_agent_tell_state(g, false);
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
            at_config_rebind(a, s->what.space, &r.config, &c, NULL) == AT_OK && c.index >= 0)
            at_known_add(known, at_session_keep(s, a, &r, c.index), NULL);
        line += n + (line[n] == '\n');
    }
    double budget_s = isfinite(f->budget_s) && f->budget_s > 0 ? f->budget_s : 0;
    AT_TRY(at_final_run(s, known, NULL, (at_final_limits){budget_s, budget_s, 0}, final, err));
    at_final_print(&lines, s, final);
    at_agent_say_text(g, AT_FRAME_TURNS, at_text_str(&lines));
    at_text_free(&lines);
    return AT_OK;
}

static at_status compare_again(agent *g, at_error *err) {
    AT_TRY(at_agent_compare(g, err));
    return at_agent_say_ready(g, err);
}

static void say_states(agent *g) {
    at_text states = {0};
    at_core_claims_read(&states);
    at_agent_say_text(g, AT_FRAME_STATES, at_text_str(&states));
    at_text_free(&states);
}

static void take_frame(agent *g, at_arena *a, const at_frame *f) {
    at_error err = {0};
    at_status status = AT_OK;
    if (f->type == AT_FRAME_TASK) at_agent_take_task(g, f);
    else if (f->type == AT_FRAME_ASK) say_states(g);
    else if (!g->has_task) status = at_fail(&err, AT_E_INPUT, "a trial without a task");
    else if (f->type == AT_FRAME_TRIAL) status = measure(g, a, f, &err);
    else if (f->type == AT_FRAME_FINAL) status = run_final(g, a, f, &err);
    else if (f->type == AT_FRAME_COMPARE) status = compare_again(g, &err);
    if (status == AT_OK || status == AT_E_INTERRUPTED) return;
    at_agent_say_text(g, AT_FRAME_REFUSED, err.text);
    at_agent_finish(g, AT_AGENT_GARBLED);
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

at_agent_end at_agent_serve(at_link *l, const volatile int *stop, const at_agent_told *told) {
    agent *g = calloc(1, sizeof *g);
    pthread_t listener;
    AT_NEED(g);
    g->link = l;
    l->takes_tasks = true;
    g->stop_all = stop;
    g->told = told;
    g->lease_s = AT_LEASE_S;
    g->heard_ns = at_now_ns();
    g->last = &g->first;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->more, NULL);
    at_agent_hello(g);
    if (pthread_create(&listener, NULL, at_agent_listen, g))
        AT_BUG("no thread: %s", strerror(errno));
    for (waiting *w; (w = next_frame(g));) {
        take_frame(g, w->arena, &w->frame);
        at_arena_free(w->arena);
    }
    at_agent_drop_task(g);
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
    at_agent_end end = at_agent_serve(&link, stop, NULL);
    if (end == AT_AGENT_GARBLED)
        return at_fail(err, AT_E_INPUT, "agent: what came on standard input is not from a search");
    if (end == AT_AGENT_SILENT)
        return at_fail(err, AT_E_INTERRUPTED, "agent: nothing was heard of the search");
    return end == AT_AGENT_STOPPED ? at_fail_stopped(err) : AT_OK;
}
