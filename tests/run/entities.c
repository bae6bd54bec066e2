#include "tests/run/entities.h"
#include "tests/setting.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { SECONDS = 60, BATCH = 25, MOST_LISTED = 20 };

enum { MOST_SETS = 4, MOST_DESCRIPTORS = 64 };
static const entities_of *tasks;
static int num_tasks;
static long count;
static uint64_t seed = 1;
static bool bounded; /* nobody asked for a number */
static int64_t end_ns = INT64_MAX;

/* One task at a time is open: each has a worker, and takes two descriptors. */
static void open_task(shape *s, int i) { shape_open(s, tasks[i].template_name, tasks[i].args); }

static void limit_descriptors(void) {
    struct rlimit most;
    AT_ASSERT(!getrlimit(RLIMIT_NOFILE, &most));
    if (most.rlim_cur > MOST_DESCRIPTORS) most.rlim_cur = MOST_DESCRIPTORS;
    AT_ASSERT(!setrlimit(RLIMIT_NOFILE, &most));
}

/* ---- which entities -------------------------------------------------------------------------- */

typedef struct draw {
    at_rng rng;
    at_space *space;
    bool *drawn; /* [range_length] */
    long num_drawn, left;
} draw;

/* n different ones, or all where there are fewer. */
static void draw_start(draw *d, at_arena *a, const shape *s, uint64_t stream, long n) {
    at_rng_seed(&d->rng, seed, stream);
    d->space = at_task_space(s->task);
    d->drawn = AT_NEW_ARRAY(a, bool, at_space_range_length(d->space));
    d->num_drawn = 0;
    d->left = n < at_space_len(d->space) ? n : (long)at_space_len(d->space);
}

/* At least one, however late it is. */
static bool draw_next(draw *d, int64_t *index) {
    if (!d->left || (d->num_drawn && at_now_ns() > end_ns)) return false;
    do *index = (int64_t)at_rng_below(&d->rng, (uint64_t)at_space_range_length(d->space));
    while (d->drawn[*index] || !at_space_is_valid(d->space, *index));
    d->drawn[*index] = true;
    d->num_drawn++;
    d->left--;
    return true;
}

/* ---- results --------------------------------------------------------------------------------- */

typedef struct tally {
    long run, wrong, left;
} tally;

static void note(tally *y, const shape *s, int64_t index, const way *w, const char *fault) {
    y->run++;
    if (!fault || y->wrong++ >= MOST_LISTED) return;
    print_error("%s --args %s --index %lld --compiler %s --isa %s%s%s: %s\n",
                at_task_row(s->task)->name, at_task_args_text(s->task), (long long)index,
                at_compiler_name(w->compiler), at_vector_set_name(w->set),
                w->pack_inline ? " --pack inline" : "", w->paranoid ? " --paranoid" : "", fault);
}

static void finish(const tally *y, const char *what) {
    print_message("%s: %ld right, %ld wrong\n", what, y->run - y->wrong, y->wrong);
    if (y->left) print_message("%s: %ld were not run for want of time\n", what, y->left);
    assert_int_equal(y->wrong, 0);
    assert_true(y->run > 0);
}

/* Of each task's points a part, but one at least. */
static long part_of_count(long parts) { return count < parts ? 1 : count / parts; }

/* Every fourth between guard pages, every fifth with its packing inside. */
static way way_of(at_compiler compiler, int set, long n) {
    return (way){compiler, set, .pack_inline = n % 5 == 4, .paranoid = n % 4 == 3};
}

/* ---- TinyCC ---------------------------------------------------------------------------------- */

static void check_one(shape *s, at_arena *a, int64_t index, const way *w, tally *y) {
    at_error err = {0};
    at_config c;
    if (at_config_at(a, at_task_space(s->task), index, &c, &err) != AT_OK) fail_msg("%s", err.text);
    candidate made;
    const char *fault = shape_lower(s, a, &c, w, "kernel", &made);
    note(y, s, index, w, fault ? fault : shape_check(s, a, &made, w, NULL));
}

static void under_tcc(void **state) {
    const char *name = *state;
    int set = at_vector_set(name);
    if (!at_cpu_has_set(set)) {
        print_message("this CPU has no %s: skipped\n", name);
        skip();
    }
    tally y = {0};
    at_arena *lasting = at_arena_new(), *a = at_arena_new();
    for (int i = 0; i < num_tasks; i++) {
        draw d;
        shape s;
        int64_t index;
        open_task(&s, i);
        draw_start(&d, lasting, &s, (uint64_t)(i * MOST_SETS + set),
                   set == at_cpu_best_set() ? count : part_of_count(5));
        for (long n = 0; draw_next(&d, &index); n++) {
            way w = way_of(AT_TCC, set, n);
            check_one(&s, a, index, &w, &y);
            at_arena_reset(a);
        }
        y.left += d.left;
        shape_close(&s);
    }
    at_arena_free(a);
    at_arena_free(lasting);
    finish(&y, name);
}

/* ---- gcc, clang ------------------------------------------------------------------------------ */

/* Several kernels in one text: each brings its own declaration of at_par, the other declarations
 * are the same. */
static void add_kernel(at_text *out, const at_kernel *k, int i) {
    at_text_addf(out, "#define at_par at_par%d\n%s\n#undef at_par\n", i, k->source);
}

static bool build(at_arena *a, at_compiler compiler, const char *source, char **object,
                  char error[1024]) {
    static const char *const flags[] = {
        [AT_GCC] = "-O3 -Wall -Wextra -Werror", [AT_CLANG] = "-O3 -fno-unroll-loops -Werror"};
    at_object made;
    at_error err = {0};
    bool built =
        at_build_object(a, compiler, source, flags[compiler], 120, NULL, &made, &err) == AT_OK &&
        !made.end;
    *object = made.path;
    snprintf(error, 1024, "%s", *err.text ? err.text : made.error);
    return built;
}

/* The text of a batch did not compile: each kernel alone tells whose fault it is. */
static void blame(at_arena *a, const shape *s, const int64_t *index, const candidate *c,
                  const way *w, int n, tally *y) {
    for (int i = 0; i < n; i++) {
        char *object, error[1024];
        if (!c[i].kernel) continue;
        if (build(a, w[i].compiler, c[i].kernel->source, &object, error)) at_object_remove(object);
        else note(y, s, index[i], &w[i], error);
    }
}

static void check_batch(shape *s, at_arena *a, const int64_t *index, at_compiler compiler, int set,
                        int n, tally *y) {
    candidate made[BATCH] = {{0}};
    way w[BATCH];
    char *object, error[1024];
    at_text source = {0};
    for (int i = 0; i < n; i++) {
        at_error err = {0};
        at_config c;
        w[i] = way_of(compiler, set, i);
        if (at_config_at(a, at_task_space(s->task), index[i], &c, &err) != AT_OK)
            fail_msg("%s", err.text);
        const char *fault = shape_lower(s, a, &c, &w[i], at_format(a, "k%d", i), &made[i]);
        if (fault) note(y, s, index[i], &w[i], fault);
        else add_kernel(&source, made[i].kernel, i);
    }
    if (build(a, compiler, at_text_str(&source), &object, error)) {
        for (int i = 0; i < n; i++)
            if (made[i].kernel)
                note(y, s, index[i], &w[i], shape_check(s, a, &made[i], &w[i], object));
        at_object_remove(object);
    } else {
        long before = y->wrong;
        blame(a, s, index, made, w, n, y);
        if (y->wrong == before) note(y, s, index[0], &w[0], error);
    }
    at_text_free(&source);
}

/* One set at a time: its types have the same names as those of the others. */
static void check_batches(shape *s, int task, at_arena *lasting, at_compiler compiler, int set,
                          tally *y) {
    draw d;
    int64_t index[BATCH];
    at_arena *a = at_arena_new();
    draw_start(&d, lasting, s, (uint64_t)(1000 + task * MOST_SETS + set),
               part_of_count(set == at_cpu_best_set() ? 6 : 30));
    for (int n = 1; n;) {
        for (n = 0; n < BATCH && draw_next(&d, &index[n]);) n++;
        if (n) check_batch(s, a, index, compiler, set, n, y);
        at_arena_reset(a);
    }
    y->left += d.left;
    at_arena_free(a);
}

/* Starting a compiler takes long: without AT_COUNT, gcc gets one half of the tasks and clang the
 * other. */
static void under_compiler(void **state) {
    at_compiler compiler = *(const at_compiler *)*state;
    if (!at_compiler_available(compiler)) {
        print_message("%s is not there: skipped\n", at_compiler_name(compiler));
        skip();
    }
    tally y = {0};
    at_arena *lasting = at_arena_new();
    for (int i = 0; i < num_tasks; i++) {
        shape s;
        if (bounded && i % 2 == (compiler == AT_CLANG)) continue;
        open_task(&s, i);
        for (int set = 0; at_vector_set_name(set); set++)
            if (at_cpu_has_set(set)) check_batches(&s, i, lasting, compiler, set, &y);
        shape_close(&s);
    }
    at_arena_free(lasting);
    finish(&y, at_compiler_name(compiler));
}

int entities_main(const char *name, const entities_of *of, int n, long default_count) {
    static at_compiler compilers[] = {AT_GCC, AT_CLANG};
    const struct CMUnitTest tests[] = {
        {"avx512", under_tcc, NULL, NULL, "avx512"},
        {"avx2", under_tcc, NULL, NULL, "avx2"},
        {"sse2", under_tcc, NULL, NULL, "sse2"},
        {"scalar", under_tcc, NULL, NULL, "scalar"},
        {"gcc", under_compiler, NULL, NULL, &compilers[0]},
        {"clang", under_compiler, NULL, NULL, &compilers[1]},
    };
    limit_descriptors();
    tasks = of;
    num_tasks = n;
    count = how_many("AT_COUNT", default_count);
    seed = (uint64_t)setting("AT_SEED", 1);
    bounded = !getenv("AT_COUNT");
    if (getenv("AT_ONLY")) cmocka_set_test_filter(getenv("AT_ONLY"));
    if (bounded) end_ns = at_now_ns() + setting("AT_SECONDS", SECONDS) * 1000000000;
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}
