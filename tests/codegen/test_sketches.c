/* Whatever rules derive is right: sketches of random computations, and of those in examples/te on
 * odd shapes, at random points, run in every form that lowering gives them and compared with the
 * interpreter of the computation before all edits. No point may be refused. The same of sketches
 * that are given again without sizes and with only some of their leaves. In the environment:
 * AT_SEED and AT_COUNT choose other computations and more, AT_POINTS how many points of each sketch
 * (100 in a full run, the first of them through compilers, too), AT_ONLY one file of examples/te,
 * or with its folder one of another ("tests/te/add_transposed"), that file with any arguments
 * ("norm B=3,M=7,N=12"), random or begun.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/any_task.h"
#include "tests/codegen/phases.h"
#include "tests/setting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 40, COMPILED = 12 }; /* points of a sketch that compilers see, too */

/* Points of one computation, waiting to be run. */
typedef struct batch {
    const char *what;
    random_program *programs;
    const random_program *list[BATCH];
    at_arena *arenas[BATCH];
    outcome *out;
    int n;
    phase last;
    long run, wrong, refused, large, sketches;
} batch;

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
    return a;
}

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
            const float *want = x->expected[t].f,
                        *have = found[at_compute_find(b.compute, o->name)].f;
            for (int64_t i = 0; i < build_elements(&x->built, t) && same; i++) {
                double limit = 1e-5 * fabs((double)want[i]);
                same = fabs((double)want[i] - (double)have[i]) <= limit ||
                       (isnan(want[i]) && isnan(have[i])) || want[i] == have[i];
                if (!same)
                    snprintf(text, 200, "%s[%lld] is %g, %g before all edits", o->name,
                             (long long)i, (double)have[i], (double)want[i]);
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

/* The computation of p, whose tree is of no interest, as a .te file. */
static void check_random(batch *b, const random_program *p, int points) {
    original x = {.p = p};
    at_text text = {0};
    const at_template_row *row;
    at_error err;
    assert_int_equal(build_open(&x.built, p), USE_OK);
    for (int i = 0; i < p->num_sizes; i++)
        if (*p->size[i].expr)
            at_text_addf(&text, "sizes %s = %s\n", p->size[i].name, p->size[i].expr);
        else
            at_text_addf(&text, "args %s=%lld from 0\n", p->size[i].name,
                         (long long)p->size[i].value);
    at_text_add(&text, p->compute);
    if (at_te_parse(x.built.arena, "my.te", at_text_str(&text), text.len, &row, &err) != AT_OK ||
        at_task_new(x.built.arena, row, "", &x.task, &err) != AT_OK)
        fail_msg("%s: %s\n%s", b->what, err.text, at_text_str(&text));
    check_task(b, &x, points);
    build_close(&x.built);
    at_text_free(&text);
}

/* The task of a computation; its plain tree is what random programs have. */
static void check_plain(batch *b, at_task *task, int points) {
    at_arena *a = at_arena_new();
    random_program *p = calloc(1, sizeof *p);
    original x = {.p = p, .task = task};
    at_tree *plain;
    int64_t *values;
    at_text text = {0}, tree = {0};
    at_error err;
    assert_non_null(p);
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

static at_task *task_of_file(at_arena *a, const char *file, const char *args) {
    return any_task(a, at_format(a, strchr(file, '/') ? "%s.te" : "examples/te/%s.te", file), args);
}

/* ---- trees of which a part is written -------------------------------------------------------- */

static size_t blanks(const char *line) { return strspn(line, " "); }

/* What is left of the marks of loops: all of them, none for rules to find, or, where no knob of its
 * own has another number, lanes by number. */
static const char *change_marks(at_arena *a, const char *tree, bool has_knobs, at_rng *rng) {
    static const struct {
        const char *from, *to;
    } changes[] = {{"", ""}, {":vec", ""}, {":unroll", ""}, {":vec", ":4 vec"}};
    at_text out = {0};
    uint64_t i = at_rng_below(rng, has_knobs ? 3 : 4);
    size_t length = strlen(changes[i].from);
    for (const char *p = tree; *p;)
        if (length && !strncmp(p, changes[i].from, length)) {
            at_text_add(&out, changes[i].to);
            p += length;
        } else at_text_addn(&out, p++, 1);
    return at_text_take(a, &out);
}

/* The tree without some of its leaves, and without the loops that are empty then. */
static void add_some(at_text *out, const char *tree, at_rng *rng) {
    const char *line[200];
    bool kept[200] = {false};
    int n = 0;
    for (const char *p = tree; *p; p += strcspn(p, "\n") + 1) {
        AT_ASSERT(n < 200);
        line[n++] = p;
    }
    for (int i = n - 1; i >= 0; i--)
        if (line[i][blanks(line[i])] == '@') kept[i] = at_rng_below(rng, 3) > 0;
        else
            for (int k = i + 1; k < n && blanks(line[k]) > blanks(line[i]); k++) kept[i] |= kept[k];
    for (int i = 0; i < n; i++)
        if (kept[i]) at_text_addn(out, line[i], strcspn(line[i], "\n") + 1);
}

/* A computation whose sizes knobs decide keeps those knobs; it is a template in C. */
static const at_template_row *keep_knobs(at_arena *a, const at_sketch *s, const char *tree) {
    return &at_schedulable_untried(a, "begun", s->s->row.args, s->s->row.record_args,
                                   s->s->definitions, s->s->num_definitions, NULL, 0,
                                   s->s->compute_text, tree)
                ->row;
}

/* Any other is a .te file. */
static const at_template_row *drop_knobs(at_arena *a, const at_task *sketch, const at_sketch *s,
                                         const char *tree) {
    at_text text = {0};
    const at_template_row *row;
    at_error err;
    at_text_addf(&text, "args %s\n", s->s->row.args);
    for (int i = 0; i < at_task_num_definitions(sketch); i++)
        if (at_task_definition(sketch, i)->kind == AT_DEFINE_SIZES)
            at_text_addf(&text, "sizes %s\n", at_task_definition(sketch, i)->text[0]);
    at_text_addf(&text, "%sschedule\n%s", s->s->compute_text, tree);
    if (at_te_parse(a, "begun.te", at_text_str(&text), text.len, &row, &err) != AT_OK)
        fail_msg("%s\n%s", err.text, at_text_str(&text));
    at_text_free(&text);
    return row;
}

/* A task's sketches, each begun by hand, with some of its leaves and without the sizes of parts,
 * and gone on with by rules. */
static void check_begun(batch *b, const at_task *task, int points, at_rng *rng) {
    for (int i = 0; i < at_task_num_sketches(task); i++) {
        at_arena *a = at_arena_new();
        const at_task *sketch = at_task_sketch(task, i);
        const at_sketch *s = at_sketch_of_task(task, i);
        at_text tree = {0};
        at_task *begun;
        at_error err;
        bool has_knobs = strstr(s->name, "pack_");
        const char *marked = change_marks(a, s->s->tree_text, has_knobs, rng);
        while (!tree.len) add_some(&tree, marked, rng);
        const at_template_row *row = has_knobs ? keep_knobs(a, s, at_text_str(&tree))
                                               : drop_knobs(a, sketch, s, at_text_str(&tree));
        if (at_task_new(a, row, at_task_args_text(task), &begun, &err) != AT_OK)
            fail_msg("%s: %s: %s\n%s", b->what, s->name, err.text, at_text_str(&tree));
        if (at_task_num_sketches(begun)) check_plain(b, begun, points);
        at_text_free(&tree);
        at_arena_free(a);
    }
}

static void open_batch(batch *b) {
    *b = (batch){.programs = calloc(BATCH, sizeof(random_program)), .out = outcomes_new(BATCH)};
    assert_non_null(b->programs);
}

static void close_batch(batch *b, const char *of, long computations) {
    print_message("%ld %s: %ld sketches, %ld points run, %ld too large, %ld refused, %ld wrong\n",
                  computations, of, b->sketches, b->run, b->large, b->refused, b->wrong);
    outcomes_free(b->out, BATCH);
    free(b->programs);
    assert_true(b->run > 0 || getenv("AT_ONLY"));
    assert_int_equal(b->wrong, 0);
    assert_int_equal(b->refused, 0);
}

static void random_computations(void **state) {
    (void)state;
    long seed = setting("AT_SEED", 1), count = setting("AT_COUNT", 12), done = 0;
    batch b;
    const char *only = getenv("AT_ONLY");
    if (only && strcmp(only, "random") != 0) skip();
    random_program *p = calloc(1, sizeof *p);
    assert_non_null(p);
    open_batch(&b);
    for (; done < count; seed++) {
        char what[40];
        random_program_make((uint64_t)seed, p);
        built open;
        use u = build_open(&open, p);
        build_close(&open);
        if (u != USE_OK) continue;
        snprintf(what, sizeof what, "seed %ld", seed);
        b.what = what;
        check_random(&b, p, (int)setting("AT_POINTS", 2));
        done++;
    }
    free(p);
    close_batch(&b, "random computations", done);
}

static void check_operator(batch *b, const char *file, const char *args, long points) {
    char what[200];
    at_arena *a = at_arena_new();
    snprintf(what, sizeof what, "%s %s", file, args);
    b->what = what;
    check_plain(b, task_of_file(a, file, args), points ? (int)points : 2);
    at_arena_free(a);
}

/* The operators on which tuners without templates are compared: odd sizes, primes, batches.
 * Softmax, whose sums are not exact, is in tests/sketch. */
static void operators(void **state) {
    (void)state;
    static const struct {
        const char *file, *args;
    } cases[] = {
        {"matmul_add", "N=13,L=7,M=18"},
        {"matmul_add", "N=37,L=5,M=67"},
        {"matmul_add", "N=1,L=3,M=5"},
        {"matmul_add", "N=8,L=16,M=32"},
        {"batch_matmul", "B=3,N=5,M=9,K=6"},
        {"batch_matmul", "B=1,N=17,M=31,K=3"},
        {"batch_matmul", "B=2,N=16,M=16,K=4"},
        {"transpose_batch_matmul", "B=2,S=9,H=3,D=5"},
        {"transpose_batch_matmul", "B=1,S=16,H=2,D=8"},
        {"transpose_batch_matmul", "B=3,S=7,H=1,D=11"},
        {"conv1d", "N=3,L=11,CI=5,CO=12,K=3,S=2,P=1,D=1"},
        {"conv1d", "N=1,L=23,CI=3,CO=17,K=1,S=2,P=0,D=1"},
        {"conv1d", "N=2,L=13,CI=4,CO=8,K=5,S=1,P=2,D=2"},
        {"conv2d", "N=1,H=7,W=9,CI=4,CO=8,K=3,S=1,P=1,D=1"},
        {"conv2d", "N=2,H=9,W=8,CI=3,CO=11,K=3,S=2,P=2,D=2"},
        {"conv2d", "N=3,H=5,W=7,CI=3,CO=9,K=1,S=1,P=0,D=1"},
        {"conv2d", "N=1,H=11,W=11,CI=3,CO=4,K=7,S=2,P=3,D=1"},
        {"conv2d_bn_relu", "N=1,H=7,W=6,CI=3,CO=8,K=3,S=2,P=1"},
        {"conv2d_bn_relu", "N=3,H=5,W=5,CI=2,CO=13,K=3,S=1,P=1"},
        {"conv2d_bn_relu", "N=1,H=9,W=7,CI=5,CO=16,K=1,S=2,P=0"},
        {"conv3d", "N=1,Z=4,H=5,W=6,CI=3,CO=8,K=3,S=2,P=1"},
        {"conv3d", "N=3,Z=3,H=3,W=5,CI=2,CO=5,K=1,S=1,P=0"},
        {"conv3d", "N=1,Z=2,H=5,W=5,CI=2,CO=7,K=3,S=1,P=1"},
        {"group_conv2d", "N=1,H=7,W=7,CI=8,CO=16,K=3,S=1,P=1,G=2"},
        {"group_conv2d", "N=1,H=7,W=6,CI=6,CO=12,K=3,S=2,P=1,G=3"},
        {"group_conv2d", "N=3,H=5,W=5,CI=4,CO=20,K=1,S=1,P=0,G=4"},
        {"depthwise_conv2d", "N=3,H=7,W=9,C=12,K=3,S=2,P=1"},
        {"depthwise_conv2d", "N=1,H=13,W=5,C=17,K=3,S=1,P=1"},
        {"depthwise_conv2d", "N=1,H=8,W=7,C=16,K=5,S=1,P=2"},
        {"depthwise_conv2d", "N=1,H=2,W=2,C=517,K=3,S=1,P=1"}, /* wide tiles */
        {"conv2d_transpose", "N=1,H=3,W=4,CI=5,CO=6,K=4,S=2,P=1"},
        {"conv2d_transpose", "N=1,H=4,W=4,CI=4,CO=3,K=4,S=2,P=1"},
        {"conv2d_transpose", "N=3,H=3,W=3,CI=3,CO=9,K=3,S=1,P=1"},
        {"capsule_conv2d", "N=1,H=5,W=4,CI=3,CO=8,K=3,S=2,P=1,C=2"},
        {"capsule_conv2d", "N=3,H=3,W=3,CI=2,CO=5,K=3,S=1,P=1,C=2"},
        {"norm", "B=3,M=7,N=12"},
        {"norm", "B=1,M=13,N=17"},
        /* With those above four shapes of each operator, built as those of te_workload are. */
        {"batch_matmul", "B=3,N=19,M=5,K=11"},
        {"transpose_batch_matmul", "B=3,S=5,H=3,D=7"},
        {"conv1d", "N=3,L=7,CI=11,CO=11,K=3,S=1,P=1,D=1"},
        {"conv2d", "N=3,H=5,W=5,CI=5,CO=7,K=3,S=1,P=1,D=1"},
        {"conv2d", "N=1,H=13,W=13,CI=3,CO=5,K=7,S=2,P=3,D=2"},
        {"conv2d", "N=3,H=7,W=5,CI=5,CO=11,K=1,S=1,P=0,D=2"},
        {"conv2d", "N=3,H=5,W=7,CI=3,CO=7,K=3,S=1,P=1,D=2"},
        {"conv2d_bn_relu", "N=3,H=7,W=7,CI=3,CO=5,K=7,S=2,P=3"},
        /* With channels enough for lists of places. */
        {"conv2d", "N=3,H=5,W=7,CI=9,CO=11,K=3,S=2,P=1,D=1"},
        {"conv2d", "N=1,H=6,W=10,CI=8,CO=12,K=3,S=2,P=1,D=2"},
        {"conv2d", "N=1,H=9,W=11,CI=8,CO=8,K=5,S=2,P=2,D=1"},
        {"conv2d_bn_relu", "N=1,H=5,W=6,CI=8,CO=8,K=3,S=1,P=1"},
        {"conv1d", "N=3,L=17,CI=8,CO=12,K=5,S=2,P=2,D=1"},
        {"conv3d", "N=1,Z=8,H=8,W=11,CI=8,CO=5,K=3,S=3,P=1"},
        {"conv2d_transpose", "N=1,H=6,W=7,CI=8,CO=9,K=3,S=1,P=1"},
        {"group_conv2d", "N=1,H=6,W=5,CI=16,CO=16,K=3,S=1,P=1,G=2"},
        {"conv3d", "N=3,Z=3,H=5,W=3,CI=1,CO=5,K=3,S=2,P=1"},
        {"group_conv2d", "N=3,H=3,W=3,CI=12,CO=12,K=3,S=1,P=1,G=4"},
        {"depthwise_conv2d", "N=3,H=5,W=5,C=19,K=3,S=1,P=1"},
        {"conv2d_transpose", "N=3,H=2,W=3,CI=7,CO=5,K=4,S=2,P=1"},
        {"capsule_conv2d", "N=1,H=3,W=3,CI=2,CO=4,K=3,S=1,P=1,C=4"},
        {"capsule_conv2d", "N=3,H=4,W=3,CI=3,CO=3,K=3,S=2,P=1,C=3"},
        {"conv2d_nchw", "N=2,H=9,W=11,CI=3,CO=5,K=3,S=1,P=1"},
        {"conv2d_nchw", "N=1,H=17,W=19,CI=2,CO=3,K=3,S=2,P=1"},
        {"conv2d_nchw", "N=1,H=4,W=9,CI=2,CO=3,K=5,S=1,P=2"},
        {"conv2d_data_gradient", "N=1,H=7,W=5,CI=9,CO=3,K=3,S=2,P=1"},
        {"conv2d_weight_gradient", "N=2,H=7,W=5,CI=3,CO=9,K=3,S=2,P=1"},
        {"separable_conv2d", "N=1,H=5,W=7,CI=5,CO=9"},
        {"embedding_bag", "B=5,E=23,V=11,D=19"},
        {"distances", "N=13,M=37,D=5"},
        {"complex_matmul", "M=13,N=37,K=5"},
        {"norm", "B=3,M=5,N=23"},
        {"norm", "B=1,M=31,N=8"},
        {"transpose", "N=70,M=33"},
        {"channels_last", "N=2,C=13,H=3,W=9"},
        {"tests/te/add_transposed", "N=21,M=13"},
        {"tests/te/blocks_to_rows", "N=2,C=16,H=3,W=9,B=8"},
        {"tests/te/pad_transposed", "H=13,W=19"},
        {"tests/te/distances_of_parts", "N=13,M=37,K=9"},
        {"tests/te/scaled_product", "N=19,M=37,K=9,P=2"},
        {"tests/te/scaled_rows", "N=19,M=37,K=9"},
        {"tests/te/scale_then_conv2d", "N=1,H=5,W=7,CI=3,CO=17"},
        {"tests/te/two_gates", "M=13,K=9,F=37"},
        {"tests/te/max_pool_first", "N=2,C=3,H=5,W=37,S=2"},
        {"tests/te/max_pool_first", "N=1,C=2,H=3,W=19,S=3"},
        {"tests/te/max_pool_first", "N=1,C=3,H=2,W=23,S=4"},
        {"tests/te/moments", "N=3,H=5,W=7,C=19"},
        {"tests/te/moments_first", "N=3,C=7,H=3,W=29"},
        {"tests/te/numbered_rows", "N=11,U=13,G=5"},
    };
    enum { CASES = sizeof cases / sizeof cases[0] };
    const char *only = getenv("AT_ONLY");
    batch b;
    open_batch(&b);
    /* A fifth of them at a time, by the seed: all in a full run. */
    long points = setting("AT_POINTS", 0), fifth = setting("AT_SEED", 0) % 5, done = 0;
    for (int i = 0; i < CASES; i++) {
        if (only ? strcmp(only, cases[i].file) : !points && i % 5 != fifth) continue;
        check_operator(&b, cases[i].file, cases[i].args, points);
        done++;
    }
    const char *args = only ? strchr(only, ' ') : NULL;
    if (args) {
        char file[100];
        snprintf(file, sizeof file, "%.*s", (int)(args - only), only);
        check_operator(&b, file, args + 1, points);
        done++;
    }
    close_batch(&b, "operators", done);
}

/* Sketches without sizes of parts and without some of their leaves come back right. */
static void begun_by_hand(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"matmul_add", "N=13,L=7,M=70"},
        {"conv2d_bn_relu", "N=1,H=7,W=6,CI=3,CO=8,K=3,S=2,P=1"},
        {"group_conv2d", "N=1,H=7,W=6,CI=6,CO=12,K=3,S=2,P=1,G=3"},
        {"conv2d_transpose", "N=1,H=4,W=4,CI=4,CO=3,K=4,S=2,P=1"},
        {"depthwise_conv2d", "N=3,H=7,W=9,C=12,K=3,S=2,P=1"},
        {"norm", "B=3,M=7,N=12"},
        {"capsule_conv2d", "N=1,H=5,W=4,CI=3,CO=8,K=3,S=2,P=1,C=2"},
    };
    enum { CASES = sizeof cases / sizeof cases[0] };
    long seed = setting("AT_SEED", 1), count = setting("AT_COUNT", 1);
    const char *only = getenv("AT_ONLY");
    batch b;
    at_rng rng;
    at_rng_seed(&rng, (uint64_t)seed, 5);
    open_batch(&b);
    for (long i = 0; i < count * CASES; i++) {
        const char *const *x = cases[i % CASES];
        at_arena *a = at_arena_new();
        b.what = x[0];
        if (!only || !strcmp(only, x[0]) || !strcmp(only, "begun"))
            check_begun(&b, task_of_file(a, x[0], x[1]), (int)setting("AT_POINTS", 2), &rng);
        at_arena_free(a);
    }
    close_batch(&b, "times a computation's trees", count * CASES);
}

int main(void) {
    at_sketches_for_templates();
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_computations),
                                       cmocka_unit_test(operators),
                                       cmocka_unit_test(begun_by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
