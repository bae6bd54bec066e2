/* engine/far/far_anchor.c: see far_anchor.h. */
#include "engine/far/far_anchor.h"
#include "engine/measure/states.h"

#include <math.h>
#include <string.h>

static const double most_apart = 0.03;
/* Contexts of machines that are apart are named by steps of this size, so that the next run, which
 * measures again, comes to the same name. */
static const double step = 0.05;
enum { MOST_ASKED = 5 };              /* while the other one has not answered */
static const double most_scale = 1e4; /* what is beyond is no machine's, but a lie */

/* ---- the second kernel ---------------------------------------------------------------------- */

enum { DRAWS = 64, SEED = 2 };
static const double second_s = 2; /* times the least estimate: one that is slow for some reason */

const char *at_far_anchor_second(const at_tuning *t) {
    const at_session *s = &t->s;
    at_cost_model *m = at_cost_model_built_in(s->what.task, &s->options);
    int64_t index[DRAWS];
    double ns[DRAWS], least = INFINITY;
    int best = -1;
    at_rng rng;
    at_config config;
    at_rng_seed(&rng, SEED, 0);
    for (int i = 0; i < DRAWS; i++)
        index[i] = (int64_t)at_rng_below(&rng, (uint64_t)at_space_len(s->what.space));
    at_cost_points(m, index, DRAWS, ns);
    at_cost_model_free(m);
    for (int i = 0; i < DRAWS; i++) least = fmin(least, ns[i]);
    for (int i = 0; i < DRAWS; i++)
        if (isfinite(ns[i]) && (best < 0 || fabs(log(ns[i] / least / second_s)) <
                                                fabs(log(ns[best] / least / second_s))))
            best = i;
    if (best < 0 || at_config_at(s->arena, s->what.space, index[best], &config, NULL) != AT_OK)
        return NULL;
    at_text text = {0};
    at_config_print_json(&text, &config);
    return at_text_take(s->arena, &text);
}

/* ---- machines that are not alike ------------------------------------------------------------- */

/* What a worker says, if it is the beginning of a chain. */
static bool read_anchor(at_arena *a, const at_far_event *e, at_anchor_line *out) {
    return e->anchor && at_anchor_line_read(a, e->anchor, out) && !out->links &&
           !strcmp(out->first, out->code_hash);
}

/* log of how far apart they are for certain; 0: not, or it is not known. What others do on a
 * machine moves the ratio of two kernels by more than machines differ, so both were alone. */
static double apart(const at_anchor_line *x, const at_anchor_line *y) {
    if (!*x->second_code || strcmp(x->second_code, y->second_code) || strcmp(x->first, y->first))
        return 0;
    if (x->state != AT_STATE_ALONE || y->state != AT_STATE_ALONE) return 0;
    double d = x->second - y->second, unsure = x->second_error + y->second_error;
    return fabs(d) - unsure > log1p(most_apart) ? d : 0;
}

/* What one moment says may be the moment's: the first machine's as well as this one's. So both
 * compare once more; the same side all times, or it is not apart. */
static bool is_apart_again(const at_doubt *x, const struct at_far_search *f,
                           const at_anchor_line *said, double d) {
    double d2 = f->has_again ? apart(said, &f->again) : d;
    return d != 0 && d2 != 0 && (d > 0) == (d2 > 0) && (!x->asked || (d > 0) == x->is_above);
}

static void ask_again(at_tuning *first, at_tuning *t, int worker, double d) {
    struct at_far_search *f = t->far;
    at_doubt *x = &first->far->doubts[worker];
    for (int i = 0; i < f->num_places && !f->asked_again; i++)
        if (f->places[i].is_in) f->asked_again = true, f->far->compare(f->far->self, i);
    if (!x->asked++) first->far->num_doubts++;
    x->is_above = d > 0;
    f->far->compare(f->far->self, worker);
}

void at_far_anchor_hear(at_tuning *t, const at_far_event *e) {
    struct at_far_search *f = t->far;
    f->has_again = read_anchor(t->s.arena, e, &f->again);
    f->asked_again = f->has_again;
}

void at_far_anchor_settle(at_tuning *first, int worker) {
    at_doubt *x = &first->far->doubts[worker];
    first->far->num_doubts -= x->asked > 0;
    *x = (at_doubt){0};
}

at_context at_far_anchor_context(at_tuning *first, at_arena *a, const at_far_event *e, bool *odd,
                                 bool *later) {
    const at_extra *x = &e->record.extra;
    const at_doubt *doubt = &first->far->doubts[e->worker];
    at_context c = x->context;
    at_tuning *t = first;
    at_anchor_line said;
    *odd = *later = false;
    while (t && strcmp(t->s.how.context_hash, x->context_hash) != 0) t = t->other;
    if (!t || !t->far->has_anchor || !read_anchor(a, e, &said)) return c;
    double d = apart(&said, &t->far->anchor);
    if (!is_apart_again(doubt, t->far, &said, d)) return c;
    bool waits = t->far->asked_again && !t->far->has_again; /* for the other */
    if (!doubt->asked || (waits && doubt->asked < MOST_ASKED)) {
        ask_again(first, t, e->worker, d);
        *later = true;
        return c;
    }
    *odd = true;
    c.machine = at_format(a, "%s, second kernel %.2f", c.machine, round(exp(d) / step) * step);
    return c;
}

/* ---- one scale ------------------------------------------------------------------------------- */

/* The last line of the log whose chain begins with that code. */
static const at_anchor_line *find_line(const at_known *k, const char *first) {
    const at_anchor_line *l, *found = NULL;
    for (int i = 0; (l = at_known_anchor(k, i)); i++)
        if (!strcmp(l->first, first)) found = l;
    return found;
}

static at_status tell(at_tuning *t, at_anchor_line *l, at_error *err) {
    at_session *s = &t->s;
    at_text text = {0};
    const at_json *json;
    at_config config;
    const char *entity = at_format(s->arena, "{\"entity\": %s}", at_json_text(s->arena, l->entity));
    AT_TRY(at_json_parse(s->arena, entity, strlen(entity), &json, err));
    AT_TRY(at_config_from_json(s->arena, s->what.space, json, &config, err));
    l->task = at_task_record_name(s->what.task);
    l->args = at_task_args(s->what.task);
    l->context_hash = s->how.context_hash;
    l->config = &config;
    at_anchor_line_print(&text, l);
    at_known_add_anchor(t->known, s, at_text_str(&text));
    at_status status = at_log_comment(t->log, at_text_str(&text), err);
    at_text_free(&text);
    return status;
}

/* Which state of the machine counts: in the log, or else where the search began. */
static at_status begin_objective(at_tuning *t, at_error *err) {
    at_session *s = &t->s;
    const char *said = t->far->first.objective;
    at_objective_line l;
    at_text text = {0};
    at_status status = AT_OK;
    if (!at_known_objective(t->known) && said && at_objective_line_read(s->arena, said, &l)) {
        l.task = at_task_record_name(s->what.task);
        l.args = at_task_args(s->what.task);
        l.context_hash = s->how.context_hash;
        at_objective_line_print(&text, &l);
        at_known_add_objective(t->known, s, at_text_str(&text));
        status = at_log_comment(t->log, at_text_str(&text), err);
        at_text_free(&text);
    }
    const at_objective_line *known = at_known_objective(t->known);
    if (known) at_states_count(s, known->objective);
    return status;
}

at_status at_far_anchor_begin(at_tuning *t, at_error *err) {
    struct at_far_search *f = t->far;
    AT_TRY(begin_objective(t, err));
    at_anchor_line own;
    if (!read_anchor(t->s.arena, &f->first, &own)) return AT_OK;
    const at_anchor_line *last = at_known_anchor(t->known, -1);
    const at_anchor_line *same = find_line(t->known, own.first);
    if (same) {
        own.first_s = same->first_s;
        memcpy(own.by, same->by, sizeof own.by);
    }
    if (!same || same->links || strcmp(same->second_code, own.second_code) != 0) {
        own.number = last ? last->number + 1 : 0;
        if (tell(t, &own, err) != AT_OK) return err->status == AT_E_OUTPUT ? err->status : AT_OK;
        same = at_known_anchor(t->known, -1);
    }
    f->has_anchor = same != NULL;
    if (same) f->anchor = *same;
    return AT_OK;
}

double at_far_anchor_scale(const at_tuning *t, const at_far_event *e) {
    const struct at_far_search *f = t->far;
    at_anchor_line said;
    if (!f->has_anchor || !read_anchor(f->scratch, e, &said) || strcmp(said.first, f->anchor.first))
        return 1;
    double scale = said.first_s / f->anchor.first_s;
    return scale < most_scale && scale > 1 / most_scale ? scale : 1;
}

static const double *scaled(at_arena *a, const double *x, int n, double by) {
    double *out = AT_NEW_ARRAY(a, double, n);
    for (int i = 0; i < n; i++) out[i] = at_with_digits(x[i] / by, AT_TIME_DIGITS);
    return out;
}

/* The median of the pairs that count in this log, times the anchor's time in it. */
static void apply_pairs(const at_tuning *t, at_record *r) {
    const at_anchor_line *anchor = &t->far->anchor;
    at_paired *p = &r->extra.pairs;
    double *cost_s = AT_NEW(t->far->scratch, double), link = p->of_first / p->ratio;
    p->anchor = anchor->number;
    p->ratio = at_median_that_counts(p->ratios, p->states, p->num_ratios,
                                     at_session_seen(&t->s).objective, NULL);
    p->of_first = p->ratio * link;
    *cost_s = at_with_digits(p->of_first * anchor->first_s, AT_TIME_DIGITS);
    r->costs_s = cost_s;
    r->num_costs = 1;
}

void at_far_anchor_apply(const at_tuning *t, const at_place *p, at_record *r) {
    const struct at_far_search *f = t->far;
    at_extra *x = &r->extra;
    x->context = t->s.how.context;
    memcpy(x->context_hash, t->s.how.context_hash, sizeof x->context_hash);
    if (r->error_no) return;
    if (p->scale != 1) {
        r->costs_s = scaled(f->scratch, r->costs_s, r->num_costs, p->scale);
        x->samples_s = scaled(f->scratch, x->samples_s, x->num_samples, p->scale);
    }
    if (f->has_anchor && x->pairs.num_ratios && !strcmp(x->pairs.first, f->anchor.first))
        apply_pairs(t, r);
    x->gflops = t->s.what.work / at_record_mean(r) * 1e-9;
}
