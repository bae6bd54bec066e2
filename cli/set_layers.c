/* cli/set_layers.c: what came out of several tasks, and the layers that it is of. */
#include "cli/set_layers.h"

#include "cli/describe.h"

void at_set_result_add(at_set_result *r, int problem, const at_tuning *t) {
    at_layer_result *l = at_push(r->arena, &r->ways);
    at_best best;
    at_out out = {0};
    *l = (at_layer_result){.problem = problem,
                           .row = t->s.what.row,
                           .task = at_strdup(r->arena, t->s.what.row->name),
                           .args = at_strdup(r->arena, at_task_args_text(t->s.what.task)),
                           .title = at_task_title(r->arena, t->s.what.task),
                           .args_json = at_json_text(r->arena, at_task_args(t->s.what.task)),
                           .tally = t->tally,
                           .has_others = at_known_has_others(t->known),
                           .threads = t->s.how.threads,
                           .isa = at_strdup(r->arena, t->s.how.context.isa),
                           .found = at_tuning_best(t, &best)};
    at_out_best(&out, NULL, t, l->found ? &best : NULL);
    l->best_json = at_text_take(r->arena, &out.text);
    if (!r->log_path && t->log_path) r->log_path = at_strdup(r->arena, t->log_path);
    if (!l->found) return;
    l->time_s = best.time_s;
    l->gflops = best.gflops;
    l->of_peak = best.of_peak.median;
    l->accuracy = best.record->extra.accuracy;
}

static void add_tally(at_tally *sum, const at_tally *t) {
    sum->done += t->done;
    sum->answered += t->answered;
    for (int e = 0; e <= AT_ERR_UNKNOWN; e++) sum->failed[e] += t->failed[e];
    if (t->inaccurate && (!sum->inaccurate || t->least_error < sum->least_error))
        sum->least_error = t->least_error;
    sum->inaccurate += t->inaccurate;
}

at_set_layers at_set_layers_of(const at_set_result *r) {
    at_set_layers all = {.result = r};
    at_set_layer *l = NULL;
    for (int i = 0; i < r->ways.len; i++) {
        const at_layer_result *way = &r->ways.data[i];
        if (!l || l->of != &r->problems[way->problem]) {
            l = at_push(r->arena, &all.of);
            *l = (at_set_layer){.of = &r->problems[way->problem], .best = way, .first = way};
        }
        l->num_ways++;
        add_tally(&l->tally, &way->tally);
        bool better = !l->best->found || way->time_s < l->best->time_s;
        if (way->found && better) l->best = way;
        l->tally.in_bytes = l->best->tally.in_bytes;
    }
    for (int i = 0; i < all.of.len; i++) {
        l = &all.of.data[i];
        if (l->best->found) l->sum_s = (double)l->of->count * l->best->time_s;
        else all.missing += l->of->count > 0;
        all.sum_s += l->sum_s;
    }
    return all;
}

int64_t at_set_done(const at_set_result *r) {
    int64_t n = 0;
    for (int i = 0; i < r->ways.len; i++) n += r->ways.data[i].tally.done;
    return n;
}
