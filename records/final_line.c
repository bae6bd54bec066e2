/* records/final_line.c: the comment line about a finalist. At the end of a run the best few are
 * timed again, in turn, round by round; a line of the log holds all rounds of one of them:
 *
 *     #final {"task": ..., "args": [...], "context_hash": "...", "index": 7, "entity": [...],
 *             "begun": 1763800000.5, "rounds": 2, "rounds_s": [[0.001], [0.0012, 0.0011]],
 *             "peaks_gflops": [117.1, 116.9]}
 *
 * Before, each round was a line of its own, with "samples_s" and "peak_gflops".
 */
#include "records/records_int.h"

#include <string.h>

enum { MOST_FINALISTS = 1000 }; /* of a final; ours have fewer */

/* false: no time comes of it. */
static bool read_round(at_arena *a, const at_json *samples, const at_json *peak,
                       const at_json *states, at_objective o, at_round *out) {
    if (!at_json_is(samples, AT_JSON_ARRAY) || !samples->count) return false;
    double sum = 0, *all = AT_NEW_ARRAY(a, double, samples->count);
    int n = 0;
    for (const at_json *v = samples->child; v; v = v->next) {
        if (v->kind != AT_JSON_NUMBER || !at_can_be_time(v->number)) return false;
        all[n++] = v->number;
    }
    *out = (at_round){.samples_s = all,
                      .num_samples = n,
                      .peak_gflops = peak && peak->number > 0 ? peak->number : 0};
    if (states) {
        if (states->kind != AT_JSON_STRING || strlen(states->string) != (size_t)n) return false;
        out->states = states->string;
        out->time_s = at_median_that_counts(all, out->states, n, o, NULL);
        return true;
    }
    const double *costs = at_costs_of_samples(a, all, n, &n);
    for (int i = 0; i < n; i++) sum += costs[i];
    out->time_s = sum / n;
    return true;
}

static bool read_rounds(at_arena *a, const at_json *v, at_turns *out) {
    const at_json *rounds = at_json_get(v, "rounds_s"), *peaks = at_json_get(v, "peaks_gflops");
    if (!peaks) peaks = at_json_get(v, "bandwidths_gbytes_per_s");
    const at_json *count = at_json_get(v, "rounds");
    if (!at_json_is(rounds, AT_JSON_ARRAY) || !at_json_is(peaks, AT_JSON_ARRAY) ||
        rounds->count != peaks->count)
        return false;
    /* A line that was written over in part has lost some. */
    if (!count || !count->is_int || count->integer != rounds->count) return false;
    const at_json *states = at_json_get(v, "states");
    if (states && (!at_json_is(states, AT_JSON_ARRAY) || states->count != rounds->count))
        return false;
    at_round *all = AT_NEW_ARRAY(a, at_round, rounds->count);
    const at_json *peak = peaks->child, *state = states ? states->child : NULL;
    int n = 0;
    for (const at_json *r = rounds->child; r; r = r->next, peak = peak->next) {
        if (!read_round(a, r, peak, state, out->objective, &all[n++])) return false;
        if (state) state = state->next;
    }
    out->rounds = all;
    out->num_rounds = n;
    return true;
}

/* What a line says of its final beside the rounds. */
static void read_turns(const at_json *v, at_turns *t) {
    t->begun_s = at_json_number_in(v, "begun");
    const at_json *among = at_json_get(v, "among"), *anchor = at_json_get(v, "anchor");
    const at_json *error_no = at_json_get(v, "error_no");
    if (among && among->is_int && among->integer > 0 && among->integer <= MOST_FINALISTS)
        t->among = (int)among->integer;
    t->anchor = anchor && anchor->is_int ? anchor->integer : -1;
    if (error_no && error_no->is_int && error_no->integer > 0) t->error_no = (int)error_no->integer;
    t->dialect = at_json_string_in(v, "dialect");
    const char *first = at_json_string_in(v, "first"),
               *objective = at_json_string_in(v, "objective");
    const double first_s = at_json_number_in(v, "first_s"),
                 first_error = at_json_number_in(v, "first_error");
    if (first && first_s > 0) t->first = first, t->first_s = first_s;
    if (t->first && first_error > 0) t->first_error = first_error;
    if (objective) at_objective_from_name(objective, &t->objective);
}

bool at_final_line_read(at_arena *a, const char *comment, at_final_line *out) {
    at_comment c;
    if (!at_comment_read(a, comment, "final", &c)) return false;
    const at_json *v = c.value;
    const at_json *index = at_json_get(v, "index");
    *out = (at_final_line){.task = c.task,
                           .context_hash = c.context_hash,
                           .args = c.args,
                           .entity = at_json_get(v, "entity"),
                           .index = index && index->is_int ? index->integer : -1};
    if (!out->entity) return false;
    at_turns *t = &out->turns;
    t->error = at_json_string_or(at_json_get(v, "error"), "");
    if (!(at_json_number_in(v, "begun") > 0)) {
        at_round *only = AT_NEW(a, at_round);
        t->rounds = only;
        t->num_rounds = 1;
        if (!read_round(a, at_json_get(v, "samples_s"), at_json_get(v, "peak_gflops"), NULL,
                        AT_OBJECTIVE_NONE, only))
            return false;
    } else {
        read_turns(v, t);
        if (!read_rounds(a, v, t)) return false;
    }
    t->time_s = at_turns_time(t);
    return t->num_rounds || t->error_no;
}

static void add_member(at_text *out, const char *name) { at_text_addf(out, ", \"%s\": ", name); }

static void add_rounds(at_text *out, const at_turns *t) {
    at_text_addf(out, ", \"rounds\": %d", t->num_rounds);
    add_member(out, "rounds_s");
    at_text_add(out, "[");
    for (int i = 0; i < t->num_rounds; i++) {
        if (i) at_text_add(out, ", ");
        at_add_doubles(out, t->rounds[i].samples_s, t->rounds[i].num_samples);
    }
    at_text_add(out, "]");
    if (at_turns_have_states(t)) {
        add_member(out, "states");
        for (int i = 0; i < t->num_rounds; i++)
            at_text_addf(out, "%s\"%s\"", i ? ", " : "[", t->rounds[i].states);
        at_text_add(out, "]");
    }
}

void at_final_line_print(at_text *out, const at_final_line *l) {
    const at_turns *t = &l->turns;
    at_comment_begin(out, "#final", l->task, l->args, l->context_hash);
    at_text_addf(out, ", \"index\": %lld", (long long)l->index);
    add_member(out, "entity");
    at_config_print_entity(out, l->config);
    add_member(out, "begun");
    at_text_add_double(out, t->begun_s);
    if (t->error_no) {
        at_text_addf(out, ", \"error_no\": %d", t->error_no);
        add_member(out, "error");
        at_text_add_json_string(out, t->error);
    }
    if (t->among)
        at_text_addf(out, ", \"among\": %d, \"anchor\": %lld", t->among, (long long)t->anchor);
    if (t->dialect) {
        add_member(out, "dialect");
        at_text_add_json_string(out, t->dialect);
    }
    if (t->objective) at_text_addf(out, ", \"objective\": \"%s\"", at_objective_name(t->objective));
    if (t->first) {
        add_member(out, "first");
        at_text_add_json_string(out, t->first);
        add_member(out, "first_s");
        at_text_add_double(out, t->first_s);
        if (t->first_error > 0 && t->first_error < 1) {
            add_member(out, "first_error");
            at_text_add_double(out, t->first_error);
        }
    }
    add_rounds(out, t);
    add_member(out, l->in_bytes ? "bandwidths_gbytes_per_s" : "peaks_gflops");
    at_text_add(out, "[");
    for (int i = 0; i < t->num_rounds; i++) {
        if (i) at_text_add(out, ", ");
        at_text_add_double(out, t->rounds[i].peak_gflops);
    }
    at_text_add(out, "]}\n");
}
