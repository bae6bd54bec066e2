/* cli/log_diff.c: two logs, task by task: which best record is better, and whether the difference
 * is more than what is not known. Records that were timed in pairs with one anchor are compared by
 * their ratios to it, others by time. */
#include "cli/json_out.h"
#include "cli/log_view.h"
#include "engine/engine.h"

#include <math.h>
#include <string.h>

#include "view/view.h"

/* NO_SPREAD: a single sample, or a few pairs, say nothing of their own uncertainty. */
typedef enum verdict { A_BETTER, B_BETTER, SAME, NO_SPREAD, ONLY_A, ONLY_B } verdict;
static const char *const verdict_names[] = {"a", "b", "same", "no_spread", "only_a", "only_b"};

typedef struct pair {
    const at_pick *a, *b; /* one may be NULL */
    at_spread sa, sb;
    verdict verdict;
    bool in_pairs; /* compared by the ratios to an anchor that both have */
    double ratio;  /* time of b over time of a; NAN where one is missing */
} pair;

typedef struct pairs {
    AT_VEC(pair) of;
    int count[ONLY_B + 1];
    double ratio; /* geometric mean; NAN: nothing in common */
} pairs;

static verdict judge(double a_low, double a_high, double b_low, double b_high) {
    if (a_high * (1 + AT_TIE) < b_low) return A_BETTER;
    return b_high * (1 + AT_TIE) < a_low ? B_BETTER : SAME;
}

static void compare(pair *p) {
    at_ratios a, b;
    p->sa = at_record_spread(&p->a->record);
    p->sb = at_record_spread(&p->b->record);
    p->in_pairs = at_record_ratios(&p->a->record, &a) && at_record_ratios(&p->b->record, &b) &&
                  at_ratios_comparable(&a, &b);
    if (p->in_pairs) {
        p->ratio = b.ratio / a.ratio;
        p->verdict =
            a.is_interval && b.is_interval ? judge(a.low, a.high, b.low, b.high) : NO_SPREAD;
    } else {
        p->ratio = p->sb.median_s / p->sa.median_s;
        p->verdict = p->sa.samples < 2 || p->sb.samples < 2
                         ? NO_SPREAD
                         : judge(p->sa.low_s, p->sa.high_s, p->sb.low_s, p->sb.high_s);
    }
}

static const at_pick *find(const at_pick *picks, int n, const at_record *r) {
    for (int i = 0; i < n; i++)
        if (at_same_task(picks[i].record.task, picks[i].record.args, r->task, r->args))
            return &picks[i];
    return NULL;
}

static void match(at_arena *arena, const at_pick *a, int na, const at_pick *b, int nb, pairs *out) {
    double log_sum = 0;
    int common = 0;
    for (int i = 0; i < na; i++) {
        pair p = {.a = &a[i], .b = find(b, nb, &a[i].record), .ratio = NAN, .verdict = ONLY_A};
        p.sa = at_record_spread(&p.a->record);
        if (p.b) {
            compare(&p);
            log_sum += log(p.ratio);
            common++;
        }
        *at_push(arena, &out->of) = p;
    }
    for (int i = 0; i < nb; i++) {
        if (find(a, na, &b[i].record)) continue;
        *at_push(arena, &out->of) = (pair){
            .b = &b[i], .sb = at_record_spread(&b[i].record), .verdict = ONLY_B, .ratio = NAN};
    }
    for (int i = 0; i < out->of.len; i++) out->count[out->of.data[i].verdict]++;
    out->ratio = common ? exp(log_sum / common) : NAN;
}

/* ---- text ----------------------------------------------------------------------------------- */

static void add_time(at_table *t, at_text *cell, const at_pick *p, const at_spread *s) {
    at_text_clear(cell);
    if (p) {
        at_text_add_time(cell, s->median_s);
        if (s->samples > 1)
            at_text_addf(cell, " +-%.1f %%", (s->high_s - s->low_s) / 2 / s->median_s * 100);
    } else at_text_add(cell, "-");
    at_table_add(t, at_text_str(cell));
}

static void add_verdict(at_table *t, at_text *cell, const pair *p) {
    double percent = p->ratio > 1 ? (p->ratio - 1) * 100 : (1 / p->ratio - 1) * 100;
    const char *faster = p->ratio > 1 ? "A" : "B";
    at_text_clear(cell);
    switch (p->verdict) {
    case A_BETTER:
    case B_BETTER: at_text_addf(cell, "%s %.1f %% faster", faster, percent); break;
    case SAME:
        at_text_addf(cell, "same (%s %.1f %% faster, within the spread)", faster, percent);
        break;
    case NO_SPREAD:
        at_text_addf(cell, "%s %.1f %% faster (%s)", faster, percent,
                     p->in_pairs ? "too few pairs to tell" : "a single sample");
        break;
    case ONLY_A: at_text_add(cell, "only in A"); break;
    case ONLY_B: at_text_add(cell, "only in B"); break;
    }
    if (p->in_pairs) at_text_add(cell, ", in pairs");
    at_table_add(t, at_text_str(cell));
}

/* What else differs than the log: "compiler tcc / gcc". */
static void add_contexts(at_table *t, at_text *cell, const pair *p) {
    at_text_clear(cell);
    if (p->a && p->b) {
        const at_record *x = &p->a->record, *y = &p->b->record;
        const at_context *c = &x->extra.context, *d = &y->extra.context;
        const char *const fields[][3] = {
            {"target", x->target, y->target},       {"cpu", c->cpu, d->cpu},
            {"compiler", c->compiler, d->compiler}, {"isa", c->isa, d->isa},
            {"packing", c->packing, d->packing},    {"cache", c->cache, d->cache},
        };
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
            if (!strcmp(fields[i][1], fields[i][2])) continue;
            if (cell->len) at_text_add(cell, "; ");
            at_text_addf(cell, "%s %s / %s", fields[i][0], *fields[i][1] ? fields[i][1] : "?",
                         *fields[i][2] ? fields[i][2] : "?");
        }
        if (c->threads != d->threads)
            at_text_addf(cell, "%sthreads %d / %d", cell->len ? "; " : "", c->threads, d->threads);
    }
    at_table_add(t, at_text_str(cell));
}

static at_status print_text(at_arena *arena, const at_options *o, const pairs *p, at_error *err) {
    at_table t = {.arena = arena, .columns = 5};
    at_text cell = {0}, out = {0};
    static const char *const heads[] = {"task", "A", "B", "verdict", "what else differs"};
    for (int i = 0; i < 5; i++) at_table_add(&t, heads[i]);
    for (int i = 0; i < p->of.len; i++) {
        const pair *q = &p->of.data[i];
        const at_record *r = &(q->a ? q->a : q->b)->record;
        at_text_clear(&cell);
        at_text_add_record_name(&cell, r->task, r->args);
        at_table_add(&t, at_text_str(&cell));
        add_time(&t, &cell, q->a, &q->sa);
        add_time(&t, &cell, q->b, &q->sb);
        add_verdict(&t, &cell, q);
        add_contexts(&t, &cell, q);
    }
    at_text_addf(&out, "A %s, B %s\n", at_visible(arena, o->operands[0]),
                 at_visible(arena, o->operands[1]));
    at_table_print(&out, &t);
    at_text_addf(&out,
                 "A better: %d, B better: %d, same: %d, single samples: %d, only in A: %d, "
                 "only in B: %d",
                 p->count[A_BETTER], p->count[B_BETTER], p->count[SAME], p->count[NO_SPREAD],
                 p->count[ONLY_A], p->count[ONLY_B]);
    if (isfinite(p->ratio)) at_text_addf(&out, "; on average B takes %.3f of A's time", p->ratio);
    at_text_add(&out, "\n");
    at_text_free(&cell);
    return at_print(&out, err);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void out_side(at_out *out, const char *name, const at_pick *p, const at_spread *s) {
    if (!p) {
        at_out_string(out, name, NULL);
        return;
    }
    at_out_begin(out, name, '{');
    at_out_double(out, "time_ns", s->median_s * 1e9);
    at_out_double(out, "low_ns", s->low_s * 1e9);
    at_out_double(out, "high_ns", s->high_s * 1e9);
    at_out_int(out, "samples", s->samples);
    at_out_string(out, "target", p->record.target);
    at_out_string(out, "context_hash",
                  p->record.extra.present ? p->record.extra.context_hash : NULL);
    at_out_int(out, "index", p->record.config.recorded_index);
    at_out_entity(out, "entity", &p->record.config);
    at_out_int(out, "line", p->record.line);
    at_out_end(out, '}');
}

static at_status print_json(const pairs *p, at_error *err) {
    at_out out = at_out_object();
    at_out_begin(&out, "tasks", '[');
    for (int i = 0; i < p->of.len; i++) {
        const pair *q = &p->of.data[i];
        const at_record *r = &(q->a ? q->a : q->b)->record;
        at_out_begin(&out, NULL, '{');
        at_out_string(&out, "task", r->task);
        at_out_json(&out, "args", r->args);
        out_side(&out, "a", q->a, &q->sa);
        out_side(&out, "b", q->b, &q->sb);
        at_out_double(&out, "ratio", q->ratio);
        if (q->a && q->b) at_out_string(&out, "compared", q->in_pairs ? "pairs" : "time");
        else at_out_string(&out, "compared", NULL);
        at_out_string(&out, "verdict", verdict_names[q->verdict]);
        at_out_end(&out, '}');
    }
    at_out_end(&out, ']');
    at_out_begin(&out, "count", '{');
    for (int v = 0; v <= ONLY_B; v++) at_out_int(&out, verdict_names[v], p->count[v]);
    at_out_end(&out, '}');
    at_out_double(&out, "ratio", p->ratio);
    return at_out_print(&out, err);
}

at_status at_log_print_diff(const at_options *o, at_error *err) {
    at_arena *arena = at_arena_new();
    at_pick *picks[2] = {0};
    int n[2] = {0};
    at_engine_options all = o->engine;
    at_status s = AT_OK;
    all.accept_changed = true; /* a log is shown as it is; but what cannot run is no winner */
    for (int i = 0; i < 2 && s == AT_OK; i++) {
        const at_pick_request q = {.logs = &o->operands[i], .num_logs = 1, .per = AT_PER_TASK};
        s = at_pick_usable(arena, &all, &q, &picks[i], &n[i], err);
    }
    if (s == AT_OK) {
        pairs p = {0};
        match(arena, picks[0], n[0], picks[1], n[1], &p);
        s = o->json ? print_json(&p, err) : print_text(arena, o, &p, err);
    }
    at_arena_free(arena);
    return s;
}
