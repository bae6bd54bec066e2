/* records/final.c: what finals say about records. At the end of a run the best few are timed again,
 * in turn, round by round; a comment line of the log holds all rounds of one of them:
 *
 *     #final {"task": ..., "args": [...], "context_hash": "...", "index": 7, "entity": [...],
 *             "begun": 1763800000.5, "rounds": 2, "rounds_s": [[0.001], [0.0012, 0.0011]],
 *             "peaks_gflops": [117.1, 116.9]}
 *
 * Before, each round was a line of its own, with "samples_s" and "peak_gflops".
 */
#include "records/records_int.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FINALISTS = 1000 }; /* of a final; ours have fewer */
static const double level = 0.05;

typedef struct said {
    at_turns turns;
    const char *comment;
    int order; /* of appearance */
} said;

/* Of one finalist. */
typedef struct at_finalist_lines {
    at_final_line who;
    AT_VEC(said) lines;
    bool in_order;           /* the lines are sorted, and finals made of them */
    AT_VEC(at_turns) finals; /* ascending by when they began */
} at_finalist_lines;

void at_finals_init(at_finals *f, at_arena *a) {
    *f = (at_finals){.keys.arena = a, .comments.arena = a};
}

/* ---- one line ------------------------------------------------------------------------------- */

/* Is a sample of a round in a state that counts? */
static bool does_count(const at_turns *t, int round, int sample) {
    const char *states = t->rounds[round].states;
    at_state s;
    return states && *states && at_state_from_letter(states[sample], &s) &&
           at_objective_counts(t->objective, s);
}

/* The samples that count, or all where none does. Owned. */
static double *take_samples(const at_turns *t, int *n) {
    int all = 0, counting = 0;
    for (int i = 0; i < t->num_rounds; i++) all += t->rounds[i].num_samples;
    double *of = malloc((size_t)all * sizeof *of + 1);
    AT_NEED(of);
    for (int pass = 0; pass < 2 && !counting; pass++)
        for (int i = 0; i < t->num_rounds; i++) {
            const at_round *r = &t->rounds[i];
            for (int k = 0; k < r->num_samples; k++)
                if (pass || does_count(t, i, k)) of[counting++] = r->samples_s[k];
        }
    *n = counting;
    return of;
}

static bool has_states(const at_turns *t) {
    return t->among && t->num_rounds && t->rounds[0].states && *t->rounds[0].states;
}

double at_turns_time(const at_turns *t) {
    int n = t->num_rounds;
    if (!n) return 0;
    double *times = has_states(t) ? take_samples(t, &n) : malloc((size_t)n * sizeof *times);
    AT_NEED(times);
    for (int i = 0; i < n && !has_states(t); i++) times[i] = t->rounds[i].time_s;
    at_sort_doubles(times, n);
    double time_s = !n              ? 0
                    : has_states(t) ? at_sorted_middle(times, n)
                                    : at_sorted_median(times, n);
    free(times);
    return time_s;
}

int at_turns_counting(const at_turns *t) {
    int n;
    free(take_samples(t, &n));
    return n;
}

bool at_turns_are_few(const at_turns *t) {
    int seen = 0;
    for (int i = 0; i < t->num_rounds; i++)
        for (int k = 0; k < t->rounds[i].num_samples; k++) seen += does_count(t, i, k);
    return has_states(t) && seen < AT_FEW_SAMPLES;
}

int at_turns_for(at_turns *t, at_objective o, at_round *rounds) {
    int counting = 0;
    if (!has_states(t)) return 0;
    for (int i = 0; i < t->num_rounds; i++) {
        int n;
        rounds[i] = t->rounds[i];
        double time_s = at_median_that_counts(rounds[i].samples_s, rounds[i].states,
                                              rounds[i].num_samples, o, &n);
        if (n) rounds[i].time_s = time_s;
        counting += n;
    }
    if (!counting) return 0;
    if (o != t->objective) t->first = NULL; /* its time was another one there */
    t->objective = o;
    t->rounds = rounds;
    t->time_s = at_turns_time(t);
    return counting;
}

at_interval at_turns_interval(const at_turns *t) {
    int n;
    double *all = take_samples(t, &n);
    at_interval m = at_median_always(all, n, level / (t->among > 0 ? t->among : 1));
    free(all);
    return m;
}

bool at_turns_behind(const at_turns *x, const at_turns *y) {
    return at_turns_interval(x).low > at_turns_interval(y).high * (1 + AT_TIE);
}

static bool is_list(const at_json *v) { return v && v->kind == AT_JSON_ARRAY; }

/* false: no time comes of it. */
static bool read_round(at_arena *a, const at_json *samples, const at_json *peak,
                       const at_json *states, at_objective o, at_round *out) {
    if (!is_list(samples) || !samples->count) return false;
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
    if (!is_list(rounds) || !is_list(peaks) || rounds->count != peaks->count) return false;
    /* A line that was written over in part has lost some. */
    if (!count || !count->is_int || count->integer != rounds->count) return false;
    const at_json *states = at_json_get(v, "states");
    if (states && (!is_list(states) || states->count != rounds->count)) return false;
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

bool at_final_line_read(at_arena *a, const char *comment, at_final_line *out) {
    at_comment c;
    if (!at_comment_read(a, comment, "final", &c)) return false;
    const at_json *v = c.value;
    const at_json *index = at_json_get(v, "index"), *begun = at_json_get(v, "begun");
    const at_json *error_no = at_json_get(v, "error_no"), *error = at_json_get(v, "error");
    *out = (at_final_line){.task = c.task,
                           .context_hash = c.context_hash,
                           .args = c.args,
                           .entity = at_json_get(v, "entity"),
                           .index = index && index->is_int ? index->integer : -1};
    if (!out->entity) return false;
    at_turns *t = &out->turns;
    t->error = error && error->string ? error->string : "";
    if (!begun || !(begun->number > 0)) {
        at_round *only = AT_NEW(a, at_round);
        t->rounds = only;
        t->num_rounds = 1;
        if (!read_round(a, at_json_get(v, "samples_s"), at_json_get(v, "peak_gflops"), NULL,
                        AT_OBJECTIVE_NONE, only))
            return false;
    } else {
        t->begun_s = begun->number;
        const at_json *among = at_json_get(v, "among"), *anchor = at_json_get(v, "anchor");
        if (among && among->is_int && among->integer > 0 && among->integer <= MOST_FINALISTS)
            t->among = (int)among->integer;
        t->anchor = anchor && anchor->is_int ? anchor->integer : -1;
        if (error_no && error_no->is_int && error_no->integer > 0)
            t->error_no = (int)error_no->integer;
        t->dialect = at_json_string_or(at_json_get(v, "dialect"), t->dialect);
        const at_json *objective = at_json_get(v, "objective"), *first = at_json_get(v, "first");
        const at_json *first_s = at_json_get(v, "first_s");
        if (first && first->kind == AT_JSON_STRING && first_s && first_s->number > 0)
            t->first = first->string, t->first_s = first_s->number;
        const at_json *first_error = at_json_get(v, "first_error");
        if (t->first && first_error && first_error->number > 0)
            t->first_error = first_error->number;
        if (objective && objective->string)
            at_objective_from_name(objective->string, &t->objective);
        if (!read_rounds(a, v, t)) return false;
    }
    t->time_s = at_turns_time(t);
    return t->num_rounds || t->error_no;
}

static void add_member(at_text *out, const char *name) { at_text_addf(out, ", \"%s\": ", name); }

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
    at_text_addf(out, ", \"rounds\": %d", t->num_rounds);
    add_member(out, "rounds_s");
    at_text_add(out, "[");
    for (int i = 0; i < t->num_rounds; i++) {
        at_text_add(out, i ? ", [" : "[");
        for (int k = 0; k < t->rounds[i].num_samples; k++) {
            if (k) at_text_add(out, ", ");
            at_text_add_double(out, t->rounds[i].samples_s[k]);
        }
        at_text_add(out, "]");
    }
    at_text_add(out, "]");
    if (has_states(t)) {
        add_member(out, "states");
        for (int i = 0; i < t->num_rounds; i++)
            at_text_addf(out, "%s\"%s\"", i ? ", " : "[", t->rounds[i].states);
        at_text_add(out, "]");
    }
    add_member(out, l->in_bytes ? "bandwidths_gbytes_per_s" : "peaks_gflops");
    at_text_add(out, "[");
    for (int i = 0; i < t->num_rounds; i++) {
        if (i) at_text_add(out, ", ");
        at_text_add_double(out, t->rounds[i].peak_gflops);
    }
    at_text_add(out, "]}\n");
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* r: task and args. */
static void print_key(at_text *out, const char *context_hash, const at_record *r) {
    at_text_addf(out, "%s\n", context_hash);
    at_workload_identity(out, r);
    at_text_add(out, "\n");
}

/* By final; the line that says the most of it comes first: a run that was killed, and logs that
 * were put together, leave several. */
static int by_final(const void *x, const void *y) {
    const said *a = x, *b = y;
    if (a->turns.begun_s != b->turns.begun_s) return a->turns.begun_s < b->turns.begun_s ? -1 : 1;
    if (a->turns.begun_s > 0 && a->turns.num_rounds != b->turns.num_rounds)
        return a->turns.num_rounds > b->turns.num_rounds ? -1 : 1;
    if (!a->turns.error_no != !b->turns.error_no) return a->turns.error_no ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

/* Rounds that do not say which final they are of are taken for one, the first. */
static int join_old(at_arena *a, at_finalist_lines *l) {
    int n = 0;
    while (n < l->lines.len && l->lines.data[n].turns.begun_s == 0) n++;
    if (!n) return 0;
    at_round *rounds = AT_NEW_ARRAY(a, at_round, n);
    for (int i = 0; i < n; i++) rounds[i] = l->lines.data[i].turns.rounds[0];
    *at_push(a, &l->finals) = (at_turns){.rounds = rounds, .num_rounds = n, .error = ""};
    at_turns *joined = &l->finals.data[l->finals.len - 1];
    joined->time_s = at_turns_time(joined);
    return n;
}

static void put_in_order(at_arena *a, at_finalist_lines *l) {
    if (l->in_order) return;
    l->in_order = true;
    l->finals.len = 0;
    qsort(l->lines.data, (size_t)l->lines.len, sizeof *l->lines.data, by_final);
    int kept = join_old(a, l);
    for (int i = kept; i < l->lines.len; i++) {
        const said *x = &l->lines.data[i];
        if (l->finals.len && l->finals.data[l->finals.len - 1].begun_s == x->turns.begun_s)
            continue;
        *at_push(a, &l->finals) = x->turns;
        l->lines.data[kept++] = *x;
    }
    l->lines.len = kept;
}

/* In a, and nothing else of its line, whose JSON takes several times as much. */
static at_turns copy_turns(at_arena *a, const at_turns *t) {
    at_turns copy = *t;
    at_round *rounds = AT_NEW_ARRAY(a, at_round, t->num_rounds);
    for (int i = 0; i < t->num_rounds; i++) {
        const at_round *r = &t->rounds[i];
        rounds[i] = *r;
        rounds[i].samples_s =
            at_copy(a, r->samples_s, (size_t)r->num_samples * sizeof *r->samples_s);
        if (r->states) rounds[i].states = at_strdup(a, r->states);
    }
    copy.rounds = rounds;
    if (t->first) copy.first = at_strdup(a, t->first);
    if (t->dialect) copy.dialect = at_strdup(a, t->dialect);
    copy.error = at_strdup(a, t->error);
    return copy;
}

static at_final_line copy_who(at_arena *a, const at_final_line *l) {
    return (at_final_line){.task = at_strdup(a, l->task),
                           .context_hash = at_strdup(a, l->context_hash),
                           .args = at_json_copy(a, l->args),
                           .entity = at_json_copy(a, l->entity),
                           .index = l->index};
}

static void add_line(at_finals *f, at_arena *scratch, const char *comment) {
    at_arena *a = f->keys.arena;
    at_final_line read;
    if (!at_final_line_read(scratch, comment, &read)) return;
    int known = f->comments.keys.len;
    at_key_map_add(&f->comments, comment);
    at_text key = {0};
    print_key(&key, read.context_hash, &(at_record){.task = read.task, .args = read.args});
    at_json_print(&key, read.entity);
    int i = at_key_map_add(&f->keys, at_text_str(&key));
    if (i == f->of.len) *at_push(a, &f->of) = (at_finalist_lines){.who = copy_who(a, &read)};
    at_finalist_lines *l = &f->of.data[i];
    *at_push(a, &l->lines) =
        (said){copy_turns(a, &read.turns), f->comments.keys.data[known], l->lines.len};
    l->in_order = false;
    at_text_free(&key);
}

void at_finals_add(void *finals, const char *comment, int64_t line) {
    at_finals *f = finals;
    (void)line;
    if (at_key_map_find(&f->comments, comment) >= 0) return; /* in logs that were merged */
    at_arena *scratch = at_arena_new();
    add_line(f, scratch, comment);
    at_arena_free(scratch);
}

void at_finals_key(at_text *out, const at_record *r) {
    print_key(out, r->extra.context_hash, r);
    at_config_print_entity(out, &r->config);
}

int at_finals_find(const at_finals *f, const at_record *r) {
    if (!f->of.len || !r->extra.present) return -1;
    at_text key = {0};
    at_finals_key(&key, r);
    int i = at_key_map_find(&f->keys, at_text_str(&key));
    at_text_free(&key);
    return i;
}

const at_turns *at_finals_get(const at_finals *f, int i, at_final_line *who, int *num_finals) {
    at_finalist_lines *l = &f->of.data[i];
    put_in_order(f->keys.arena, l);
    *who = l->who;
    *num_finals = l->finals.len;
    return l->finals.data;
}

void at_finals_apply(const at_finals *f, at_record *r) {
    at_final_line who;
    int i = at_finals_find(f, r);
    if (i >= 0) r->finals = at_finals_get(f, i, &who, &r->num_finals);
}

void at_finals_print(at_text *out, const at_finals *f, const at_record *r) {
    int n = at_finals_find(f, r);
    if (n < 0) return;
    at_finalist_lines *l = &f->of.data[n];
    put_in_order(f->keys.arena, l);
    for (int i = 0; i < l->lines.len; i++) at_text_addf(out, "#%s\n", l->lines.data[i].comment);
}
