/* engine/measure/session.c: opening and closing what tune, run, show and apply share. */
#include "engine/measure/session.h"

#include <string.h>

#include "engine/measure/bench.h"
#include "engine/measure/foreign_build.h"
#include "engine/task/problem.h"

static void begin(const at_engine_options *o, at_session *s) {
    memset(s, 0, sizeof *s);
    s->spent.start_ns = at_now_ns();
    if (o->time_s > 0) s->deadline_ns = s->spent.start_ns + (int64_t)(o->time_s * 1e9);
    s->options = *o;
    s->how.tuner = "";
    s->arena = at_arena_new();
    s->scratch = at_arena_new();
    s->tiles = at_tile_memo_new();
    s->bench = AT_NEW(s->arena, at_bench);
}

static void take_chosen(at_session *s) {
    s->what.row = s->what.chosen.row;
    s->what.task = s->what.chosen.task;
    s->what.space = at_task_space(s->what.task);
    s->what.flops = at_task_flops(s->what.task);
    at_session_count_work(s);
}

void at_session_open_chosen(const at_engine_options *o, const at_selection *chosen, at_session *s) {
    begin(o, s);
    s->what.chosen = *chosen;
    take_chosen(s);
}

/* A sketch is a range of the space. */
static void search_sketch(at_session *s) {
    at_tuner_options *to = &s->options.tuner_options;
    to->begin = at_space_part_begin(s->what.space, s->what.chosen.sketch);
    to->end = at_space_part_begin(s->what.space, s->what.chosen.sketch + 1);
}

at_status at_session_open(const at_engine_options *o, const at_request *q, bool task_only,
                          at_session *s, at_error *err) {
    begin(o, s);
    AT_TRY(at_engine_check(o, err));
    if (task_only) AT_TRY(at_select_task(s->arena, q, &s->what.chosen, err));
    else AT_TRY(at_problem_select(s->arena, o, q, &s->what.chosen, err));
    take_chosen(s);
    if (q->sketch && task_only) search_sketch(s);
    return AT_OK;
}

void at_session_rest(at_session *s) { at_worker_rest(s->bench->worker); }

at_status at_session_wake(at_session *s, at_error *err) {
    return at_worker_wake(s->bench->worker, err);
}

at_seen at_session_seen(const at_session *s) {
    const at_bench *b = s->bench;
    return (at_seen){.peak_gflops = b->peak_gflops,
                     .peak = b->peak,
                     .disturbed = b->disturbed,
                     .is_exact = b->data.is_exact,
                     .is_projected = b->is_projected,
                     .objective = b->states.objective,
                     .waited_s = b->states.waited_s,
                     .core = b->states.core,
                     .cores = b->states.cores,
                     .ring_bytes = b->ring_bytes};
}

void at_session_stop(at_session *s) {
    if (!s->bench) return; /* it was never opened */
    if (s->bench->worker) at_worker_free(s->bench->worker);
    if (s->bench->anchors.object) at_object_remove(s->bench->anchors.object);
    if (s->bench->anchors.twin.store) at_dataset_free(&s->bench->anchors.twin);
    s->bench->anchors = (at_anchors){0};
    if (s->bench->accuracy.limited.store) at_dataset_free(&s->bench->accuracy.limited);
    if (s->bench->accuracy.normal.store) at_dataset_free(&s->bench->accuracy.normal);
    s->bench->accuracy.limited = s->bench->accuracy.normal = (at_dataset){0};
    for (int i = 0; i < s->bench->num_others; i++) at_dataset_free(&s->bench->others[i]);
    s->bench->num_others = 0;
    if (s->bench->cover.store) at_dataset_free(&s->bench->cover);
    s->bench->moved = (at_moved){0};
    if (s->bench->data.store) at_dataset_free(&s->bench->data);
    s->bench->worker = NULL;
}

void at_session_close(at_session *s) {
    at_session_stop(s);
    at_foreign_close(s);
    at_arena_free(s->scratch);
    at_arena_free(s->arena);
    at_tile_memo_free(s->tiles);
    memset(s, 0, sizeof *s);
}
