/* tests/codegen/sketch_points.c: see sketch_points.h. */
#include "tests/codegen/sketch_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 40, COMPILED = 12 }; /* points of a sketch that compilers see, too */

struct batch {
    const char *what;
    random_program *programs;
    const random_program *list[BATCH];
    at_arena *arenas[BATCH];
    outcome *out;
    int n;
    phase last;
    long run, wrong, refused, large, sketches;
};

static void flush_batch(batch *b) {
    run_phases(b->list, b->n, PHASE_TREE, b->last, b->out);
    for (int i = 0; i < b->n; i++) {
        if (b->out[i].verdict != VERDICT_RIGHT && b->wrong++ < 20) {
            at_text sizes = {0};
            random_program_sizes(b->list[i], &sizes);
            fprintf(stderr, "%s: %s: %.300s\n%s\n%s\n%s\n", b->what, phase_name(b->out[i].phase),
                    b->out[i].text, at_text_str(&sizes), b->list[i]->compute, b->list[i]->tree);
            at_text_free(&sizes);
        }
        at_arena_free(b->arenas[i]);
    }
    b->run += b->n;
    b->n = 0;
}

/* ---- one computation ------------------------------------------------------------------------- */

typedef struct original {
    const random_program *p; /* the computation, and how its index tensors are filled */
    at_task *task;
    built built;
    at_data *expected;
} original;

/* The point as texts; its arena. */
static at_arena *make_point(const original *x, int sketch, int64_t index, random_program *out,
                            at_error *err) {
    at_arena *a = at_arena_new();
    const at_task *t = at_task_sketch(x->task, sketch);
    const at_sketch *s = at_sketch_of_task(x->task, sketch);
    at_config c;
    at_program *program;
    int64_t *values;
    if (at_config_at(a, at_task_space(t), index, &c, err) != AT_OK ||
        at_task_values(a, t, &c, &values, err) != AT_OK ||
        at_task_program(a, t, &c, &program, err) != AT_OK) {
        at_arena_free(a);
        return NULL;
    }
    const at_symbols *names = at_task_compute(t)->symbols;
    AT_ASSERT(names->names.len <= RP_SIZES);
    *out = *x->p;
    out->num_sizes = names->names.len;
    for (int i = 0; i < names->names.len; i++) {
        out->size[i] = (rp_size){.value = values[i]};
        snprintf(out->size[i].name, RP_NAME, "%s", names->names.data[i]);
    }
    AT_ASSERT(strlen(s->s->compute_text) < sizeof out->compute);
    strcpy(out->compute, s->s->compute_text);
    out->tree = at_strdup(a, s->s->tree_text);
    out->seed = x->p->seed;
    out->range = x->built.range;
    out->entries_of = &x->built;
    return a;
}

static double value_at(const at_data *d, int64_t i) { return d->i ? d->i[i] : (double)d->f[i]; }

/* The sketch's computation gives what the original one does, on the same data. */
static bool is_same_computation(const original *x, const random_program *point, char text[200]) {
    built b;
    bool same = true;
    use u = build_open(&b, point);
    if (u == USE_OK) {
        at_data *found = at_copy(b.arena, b.data, sizeof *found * (size_t)b.compute->num_tensors);
        if (at_compute_interpret(b.arena, b.compute, b.values, found, &b.err) != AT_OK)
            fail_msg("%s", b.err.text);
        for (int t = 0; t < x->built.compute->num_tensors; t++) {
            const at_tensor *o = &x->built.compute->tensors[t];
            if (!o->is_output) continue;
            const at_data *want = &x->expected[t],
                          *have = &found[at_compute_find(b.compute, o->name)];
            for (int64_t i = 0; i < build_elements(&x->built, t) && same; i++) {
                const double was = value_at(want, i), is = value_at(have, i),
                             limit = want->i ? 0 : 1e-5 * fabs(was);
                same = fabs(was - is) <= limit || (isnan(was) && isnan(is)) || was == is;
                if (!same)
                    snprintf(text, 200, "%s[%lld] is %g, %g before all edits", o->name,
                             (long long)i, is, was);
            }
        }
    }
    build_close(&b);
    return same;
}

static void add_points(batch *b, const original *x, int sketch, int points) {
    at_space *space = at_task_space(at_task_sketch(x->task, sketch));
    at_rng rng;
    at_rng_seed(&rng, x->p->seed, (uint64_t)sketch + 1);
    b->sketches++;
    for (int i = 0; i < points; i++) {
        at_error err;
        char text[200];
        phase last = i < COMPILED ? PHASE_COUNT - 1 : PHASE_C - 1;
        if (b->n && b->last != last) flush_batch(b);
        b->last = last;
        random_program *point = &b->programs[b->n];
        int64_t index = (int64_t)at_rng_below(&rng, (uint64_t)at_space_range_length(space));
        if (!at_space_is_valid(space, index)) continue;
        at_arena *a = make_point(x, sketch, index, point, &err);
        if (!a) {
            fprintf(stderr, "%s: %s: point %lld is refused: %s\n%s\n%s\n", b->what,
                    at_task_sketch_name(x->task, sketch), (long long)index, err.text, x->p->compute,
                    at_sketch_of_task(x->task, sketch)->s->tree_text);
            b->refused++;
            return;
        }
        point->seed += (uint64_t)i; /* targets and layouts in turn */
        built open;
        use u = build_open(&open, point);
        if (u == USE_REFUSED) fail_msg("%s: %s", b->what, open.err.text);
        build_close(&open);
        if (u == USE_TOO_LARGE) {
            b->large++;
            at_arena_free(a);
            continue;
        }
        point->seed = x->p->seed;
        if (i == 0 && !is_same_computation(x, point, text)) {
            fprintf(stderr, "%s: %s: %s\n%s\n", b->what, at_task_sketch_name(x->task, sketch), text,
                    point->compute);
            b->wrong++;
        }
        point->seed += (uint64_t)i;
        b->arenas[b->n] = a;
        b->list[b->n] = point;
        if (++b->n == BATCH) flush_batch(b);
    }
}

static void check_task(batch *b, original *x, int points) {
    at_arena *a = x->built.arena;
    at_error err;
    x->expected =
        at_copy(a, x->built.data, sizeof(at_data) * (size_t)x->built.compute->num_tensors);
    if (at_compute_interpret(a, x->built.compute, x->built.values, x->expected, &err) != AT_OK)
        fail_msg("%s", err.text);
    for (int i = 0; i < at_task_num_sketches(x->task); i++) add_points(b, x, i, points);
    if (b->n) flush_batch(b);
}

/* As a .te file. */
at_task *task_of_random(at_arena *a, const random_program *p) {
    at_text text = {0};
    for (int i = 0; i < p->num_sizes; i++)
        if (*p->size[i].expr)
            at_text_addf(&text, "sizes %s = %s\n", p->size[i].name, p->size[i].expr);
        else
            at_text_addf(&text, "args %s=%lld from 0\n", p->size[i].name,
                         (long long)p->size[i].value);
    at_text_add(&text, p->compute);
    return task_of_text(a, "my.te", at_text_take(a, &text), "");
}

void check_random(batch *b, const char *what, const random_program *p, int points) {
    b->what = what;
    original x = {.p = p};
    assert_int_equal(build_open(&x.built, p), USE_OK);
    x.task = task_of_random(x.built.arena, p);
    check_task(b, &x, points);
    build_close(&x.built);
}

/* Its plain tree is what random programs have. */
void check_plain(batch *b, const char *what, at_task *task, int points) {
    at_arena *a = at_arena_new();
    random_program *p = calloc(1, sizeof *p);
    original x = {.p = p, .task = task};
    at_tree *plain;
    int64_t *values;
    at_text text = {0}, tree = {0};
    at_error err;
    assert_non_null(p);
    b->what = what;
    if (at_edit_plain(a, at_task_compute(x.task), &plain, &err) != AT_OK ||
        at_task_plain_values(a, x.task, &values, &err) != AT_OK)
        fail_msg("%s: %s", b->what, err.text);
    at_compute_print(&text, at_task_compute(x.task));
    at_tree_print(&tree, plain);
    AT_ASSERT(text.len < sizeof p->compute);
    strcpy(p->compute, at_text_str(&text));
    p->tree = at_text_str(&tree);
    p->num_sizes = at_task_compute(x.task)->symbols->names.len;
    for (int i = 0; i < p->num_sizes; i++) {
        p->size[i].value = values[i];
        snprintf(p->size[i].name, RP_NAME, "%s", at_task_compute(x.task)->symbols->names.data[i]);
    }
    use u = build_open(&x.built, p);
    if (u != USE_OK)
        fail_msg("%s: %s", b->what,
                 u == USE_TOO_LARGE ? "too large to interpret" : x.built.err.text);
    check_task(b, &x, points);
    build_close(&x.built);
    at_text_free(&text);
    at_text_free(&tree);
    free(p);
    at_arena_free(a);
}

at_task *task_of_file(at_arena *a, const char *file, const char *args) {
    return any_task(a, at_format(a, strchr(file, '/') ? "%s.te" : "examples/te/%s.te", file), args);
}

/* ---- all of them ----------------------------------------------------------------------------- */

batch *batch_open(void) {
    batch *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->programs = calloc(BATCH, sizeof *b->programs);
    assert_non_null(b->programs);
    b->out = outcomes_new(BATCH);
    return b;
}

void batch_close(batch *b, const char *of, long computations) {
    print_message("%ld %s: %ld sketches, %ld points run, %ld too large, %ld refused, %ld wrong\n",
                  computations, of, b->sketches, b->run, b->large, b->refused, b->wrong);
    const batch sums = *b;
    outcomes_free(b->out, BATCH);
    free(b->programs);
    free(b);
    assert_true(sums.run > 0 || getenv("AT_ONLY"));
    assert_int_equal(sums.wrong, 0);
    assert_int_equal(sums.refused, 0);
}
