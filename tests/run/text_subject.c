#include "tests/run/text_subject.h"

#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/agree.h"
#include "tests/any_task.h"
#include "tests/setting.h"

AT_AGREES

enum { MOST_BUFS = 600, POINTS = 160, MOST_WORK = 2000000 };

/* ---- the computation as C ---------------------------------------------------------------------
 */

static text_made compile(const text_subject *s, bool has_limits) {
    at_text source = {0};
    at_error err = {0};
    text_made m = {0};
    char path[] = "/tmp/autotune-mutant-XXXXXX";
    at_arena *a = at_arena_new();
    if ((has_limits ? at_compute_limits_c : at_compute_reference_c)(
            a, s->compute, s->values, "mutant", &source, &m.workspace_bytes, &err))
        fail_msg("%s: %s", s->name, err.text);
    if (!mkdtemp(path)) fail_msg("no folder");
    FILE *f = fopen(at_format(a, "%s/m.c", path), "w");
    if (!f || fputs(at_text_str(&source), f) < 0 || fclose(f)) fail_msg("no file in %s", path);
    const char *command = at_format(a, "cd %s && cc -O2 -w -shared -fPIC m.c -o m.so", path);
    if (system(command)) fail_msg("%s: %s failed", s->name, command);
    m.object = dlopen(at_format(a, "%s/m.so", path), RTLD_NOW | RTLD_LOCAL);
    if (!m.object) fail_msg("%s", dlerror());
    void *found = dlsym(m.object, "mutant");
    memcpy(&m.run, &found, sizeof found);
    if (system(at_format(a, "rm -rf %s", path))) fail_msg("%s stays", path);
    at_text_free(&source);
    at_arena_free(a);
    return m;
}

/* Bytes that an output takes there: whole words. */
static int64_t room(const at_dataset *d, int t) { return (d->size_bytes[t] + 3) / 4 * 4; }

enum { PAGE = 4096, GUARD = 1 << 20 };

static int64_t in_pages(int64_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

/* Inputs of further draws end where nobody may read, as in a worker. */
static void put_apart(text_subject *s, int draw) {
    const at_dataset *d = &s->draw[draw];
    char **apart = s->apart[draw] = AT_NEW_ARRAY(s->arena, char *, s->compute->num_tensors);
    for (int t = 0; t < s->compute->num_tensors; t++) {
        const int64_t bytes = d->size_bytes[t], whole = in_pages(bytes);
        if (s->compute->tensors[t].role == AT_ROLE_STAGE) continue;
        char *map =
            mmap(NULL, (size_t)(whole + 2 * GUARD), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED || mprotect(map + GUARD, (size_t)whole, PROT_READ | PROT_WRITE))
            fail_msg("no memory");
        apart[t] = map + GUARD + whole - (bytes + 3) / 4 * 4;
        memcpy(apart[t], at_store_at(d->store, d->offset[t]), (size_t)bytes);
    }
}

static void release_apart(const text_subject *s, int draw) {
    for (int t = 0; s->apart[draw] && t < s->compute->num_tensors; t++) {
        const int64_t bytes = s->draw[draw].size_bytes[t], whole = in_pages(bytes);
        char *at = s->apart[draw][t];
        if (at) munmap(at + (bytes + 3) / 4 * 4 - whole - GUARD, (size_t)(whole + 2 * GUARD));
    }
}

/* inputs: [tensor], NULL: as the dataset has them. Outputs, then limits, one behind the other, in
 * memory that is shared with a child; NULL: it crashed, as what reads elsewhere may. */
static char *run(const text_subject *s, const at_dataset *d, char *const *inputs,
                 const text_made *m, bool has_limits, int64_t *bytes) {
    const at_compute *c = s->compute;
    void *bufs[MOST_BUFS];
    int n = 0, status;
    *bytes = 0;
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].is_output) *bytes += room(d, t) * (has_limits ? 2 : 1);
    char *out = mmap(NULL, (size_t)(*bytes + 64), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0),
         *at = out;
    if (out == MAP_FAILED) fail_msg("no memory");
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role != AT_ROLE_STAGE)
            bufs[n++] = inputs ? inputs[t] : at_store_at(d->store, d->offset[t]);
    for (int limits = 0; limits < (has_limits ? 2 : 1); limits++)
        for (int t = 0; t < c->num_tensors; t++)
            if (c->tensors[t].is_output) bufs[n++] = at, at += room(d, t);
    fflush(NULL);
    const pid_t child = fork();
    if (!child) {
        static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGXCPU};
        for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) signal(crashes[i], SIG_DFL);
        void *workspace = calloc(1, (size_t)m->workspace_bytes + 64);
        setrlimit(RLIMIT_CPU, &(struct rlimit){120, 120});
        _exit(workspace ? m->run(bufs, workspace, NULL) : 1);
    }
    if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
        !WEXITSTATUS(status))
        return out;
    munmap(out, (size_t)(*bytes + 64));
    return NULL;
}

static void put_away(char *out, int64_t bytes) {
    if (out) munmap(out, (size_t)(bytes + 64));
}

/* ---- the subject ------------------------------------------------------------------------------
 */

static void expect(text_subject *s, at_dataset *d, const text_made *m) {
    int64_t bytes;
    char *out = run(s, d, NULL, m, !d->is_exact, &bytes), *at = out;
    if (!out) fail_msg("%s: its reference crashed", s->name);
    for (int limits = 0; limits < (d->is_exact ? 1 : 2); limits++)
        for (int t = 0; t < s->compute->num_tensors; t++) {
            if (!s->compute->tensors[t].is_output) continue;
            const size_t n = (size_t)d->size_bytes[t];
            memcpy((char *)at_store_at(d->store, d->expected[t]) + (size_t)limits * n, at, n);
            at += room(d, t);
        }
    put_away(out, bytes);
}

static void open_data(text_subject *s, const at_task *task, at_dataset *d) {
    at_error err = {0};
    const int n = s->compute->num_tensors;
    at_bsr b;
    const int **layouts = AT_NEW_ARRAY(s->arena, const int *, n);
    if (at_dataset_new(s->arena, s->compute, s->values, layouts, NULL, d, &err) != AT_OK)
        fail_msg("%s: %s", s->name, err.text);
    if (at_task_bsr(task, &b)) {
        at_pattern *p = AT_NEW(s->arena, at_pattern);
        if (at_pattern_random(s->arena, b.rows, b.columns, b.r, b.c, -1, b.nnz, p, &err) != AT_OK)
            fail_msg("%s: %s", s->name, err.text);
        d->pattern = p;
        d->bsr = b;
    }
    if (at_dataset_expect(s->arena, d, &err) != AT_OK) fail_msg("%s: %s", s->name, err.text);
}

static void open_cover(text_subject *s, const at_task *task) {
    at_error err = {0};
    if (!at_dataset_has_cover(&s->draw[0])) return;
    open_data(s, task, &s->cover);
    at_dataset_take_cover(&s->cover);
    s->cover.scale = s->draw[0].scale;
    if (!at_dataset_fill(&s->cover, 0)) fail_msg("%s: not filled", s->name);
    s->right = compile(s, !s->cover.is_exact);
    if (at_dataset_move(s->arena, &s->cover, 1, &s->moved, &err) != AT_OK)
        fail_msg("%s: %s", s->name, err.text);
    s->kept = AT_NEW_ARRAY(s->arena, char *, s->compute->num_tensors);
    for (int t = 0; t < s->compute->num_tensors; t++)
        if (s->compute->tensors[t].role != AT_ROLE_STAGE)
            s->kept[t] = at_copy(s->arena, at_store_at(s->cover.store, s->cover.offset[t]),
                                 (size_t)s->cover.size_bytes[t]);
}

static void open_draw(text_subject *s, const at_task *task, at_dataset *d, int draw) {
    const int n = s->compute->num_tensors;
    open_data(s, task, d);
    d->draw = draw;
    if (!at_dataset_fill(d, (uint64_t)draw)) fail_msg("%s: not filled", s->name);
    at_data *data = AT_NEW_ARRAY(s->arena, at_data, n);
    for (int t = 0; t < n; t++) {
        if (s->compute->tensors[t].role == AT_ROLE_STAGE) continue;
        if (s->compute->tensors[t].role == AT_ROLE_INDEX)
            data[t].i = at_store_at(d->store, d->offset[t]);
        else data[t].f = at_store_at(d->store, d->offset[t]);
    }
    s->points[draw] = points_new(s->arena, s->compute, s->values, s->extents, data);
}

/* The first draw is smaller where most outputs say little, as at_reference_end chooses it. */
static void expect_of_size(text_subject *s, int draw, const text_made *m) {
    at_dataset *d = &s->draw[draw];
    double first, share;
    expect(s, d, m);
    bool is_idle = draw == 0 && at_dataset_is_idle(d, &first);
    if (!is_idle) return;
    share = first;
    for (int i = 0; i < AT_MOST_SHRINKS && is_idle && at_dataset_shrink(d, AT_SHRINK); i++) {
        if (!at_dataset_fill(d, (uint64_t)draw)) fail_msg("%s: not filled", s->name);
        expect(s, d, m);
        is_idle = at_dataset_is_idle(d, &share);
    }
    if (share < first || d->scale == 1) return;
    d->scale = 1;
    if (!at_dataset_fill(d, (uint64_t)draw)) fail_msg("%s: not filled", s->name);
    expect(s, d, m);
}

void text_subject_open(text_subject *s, const char *name, const char *args) {
    at_error err = {0};
    at_config config;
    int64_t *values;
    at_rng rng;
    memset(s, 0, sizeof *s);
    s->taken = -1;
    s->arena = at_arena_new();
    s->name = name;
    const at_task *task = any_task(s->arena, name, args);
    if (at_task_default_config(s->arena, task, 8, &config, &err) != AT_OK ||
        at_task_values(s->arena, task, &config, &values, &err) != AT_OK)
        fail_msg("%s: %s", name, err.text);
    s->task = task;
    s->compute = (at_compute *)(uintptr_t)at_task_compute(task); /* which mutants change */
    s->values = values;
    if (at_compute_extents(s->arena, s->compute, values, &s->extents, &err) != AT_OK)
        fail_msg("%s: %s", name, err.text);
    open_draw(s, task, &s->draw[0], 0);
    s->num_draws = s->draw[0].rule.num_draws;
    for (int k = 1; k < s->num_draws; k++) open_draw(s, task, &s->draw[k], k);
    const text_made m = compile(s, !s->draw[0].is_exact);
    for (int k = 0; k < s->num_draws; k++) expect_of_size(s, k, &m);
    dlclose(m.object);
    for (int k = 1; k < s->num_draws; k++) put_apart(s, k);
    open_cover(s, task);
    at_rng_seed(&rng, 1, 1);
    if (text_subject_differs_in_points(s, NULL, &rng))
        fail_msg("%s: elements are not what the reference says", name);
}

void text_subject_close(text_subject *s) {
    for (int i = 0; i < OTHER_DRAWS; i++) put_away(s->other[i].outputs, s->bytes);
    for (int k = 0; k < s->num_draws; k++) {
        release_apart(s, k);
        points_free(s->points[k]);
        at_dataset_free(&s->draw[k]);
    }
    if (s->cover.store) at_dataset_free(&s->cover), dlclose(s->right.object);
    at_arena_free(s->arena);
}

/* ---- comparing --------------------------------------------------------------------------------
 */

bool text_subject_agrees(const at_dataset *d, int t, int64_t i, double got) {
    const float *want = at_store_at(d->store, d->expected[t]);
    const at_type type = d->compute->tensors[t].type;
    if (at_type_of(type)->is_int) return got == at_type_value(type, want, i);
    return at_agrees((float)got, want[i], d->is_exact ? 0 : want[d->size_bytes[t] / 4 + i]);
}

/* Ends of axes as often as other places, and those that the change is about; of what goes from step
 * to step, early steps first. */
static int64_t draw_point(const text_subject *s, int output, const text_mutant *m, int number,
                          at_rng *rng) {
    const at_tensor *t = &s->compute->tensors[output];
    const bool goes_on = at_compute_has_recurrence(s->compute);
    int64_t offset = 0;
    for (int i = 0; i < t->num_axes; i++) {
        const int64_t extent = s->extents[output][i],
                      most = goes_on && number / 4 + 2 < extent ? number / 4 + 2 : extent;
        int64_t at = (int64_t)at_rng_below(rng, (uint64_t)most);
        const int kind = (int)at_rng_below(rng, 4);
        if (kind == 0) at = 0;
        if (kind == 1 && !goes_on) at = extent - 1;
        if (m && m->axis >= 0 && m->axis == i && kind != 3 && m->at < extent) at = m->at;
        offset = offset * extent + at;
    }
    return offset;
}

/* Is the element without the change what the reference has? */
static bool original_agrees(const text_subject *s, const text_mutant *m, int draw, int t,
                            int64_t at) {
    at_expr *changed = *m->slot;
    *m->slot = m->before;
    points_forget(s->points[draw]);
    const double got = points_at(s->points[draw], t, at);
    *m->slot = changed;
    return text_subject_agrees(&s->draw[draw], t, at, got);
}

bool text_subject_differs_in_points(text_subject *s, const text_mutant *m, at_rng *rng) {
    for (int k = 0; k < s->num_draws; k++) points_forget(s->points[k]);
    for (int i = 0; i < POINTS; i++)
        for (int k = 0; k < s->num_draws; k++)
            for (int t = 0; t < s->compute->num_tensors; t++) {
                if (!s->compute->tensors[t].is_output) continue;
                if (points_work(s->points[k]) > MOST_WORK) return false;
                const int64_t at = draw_point(s, t, m, i, rng);
                const double got = points_at(s->points[k], t, at);
                if (!text_subject_agrees(&s->draw[k], t, at, got))
                    return !m || original_agrees(s, m, k, t, at);
            }
    return false;
}

/* Do any elements? */
static bool differs(const text_subject *s, const text_made *mutant) {
    bool any = false;
    for (int k = 0; k < s->num_draws && !any; k++) {
        const at_dataset *d = &s->draw[k];
        int64_t bytes, n = 0;
        char *out = run(s, d, s->apart[k], mutant, false, &bytes);
        any = !out;
        for (int t = 0; t < s->compute->num_tensors && !any; t++) {
            if (!s->compute->tensors[t].is_output) continue;
            for (int64_t i = 0; i < at_dataset_elements(d, t) && !any; i++)
                any = !text_subject_agrees(d, t, i,
                                           at_type_value(d->compute->tensors[t].type, out + n, i));
            n += room(d, t);
        }
        put_away(out, bytes);
    }
    return any;
}

/* back: inputs are again as they were. */
static void move(const text_subject *s, int64_t run, bool back) {
    for (int t = 0; t < s->compute->num_tensors; t++) {
        const int num = s->moved.num[t];
        const size_t bytes = (size_t)at_type_bytes(s->compute->tensors[t].type);
        if (s->moved.step[t] && !s->compute->tensors[t].is_output && !back)
            memcpy(at_store_at(s->cover.store, s->cover.offset[t]),
                   at_store_at(s->cover.store, s->moved.first[t] + run * s->moved.step[t]),
                   (size_t)s->cover.size_bytes[t]);
        if (!num) continue;
        const at_move *moves =
            (const at_move *)at_store_at(s->cover.store, s->moved.moves[t]) + run * num;
        char *to = at_store_at(s->cover.store, s->cover.offset[t]);
        for (int k = 0; k < num; k++)
            memcpy(to + moves[k].at, back ? s->kept[t] + moves[k].at : (const char *)&moves[k].bits,
                   bytes);
    }
}

bool text_subject_take_run(text_subject *s, int64_t run) {
    if (!s->cover.store || run >= s->moved.runs) return false;
    if (s->taken >= 0) move(s, s->taken, true);
    move(s, run, false);
    s->taken = run;
    expect(s, &s->cover, &s->right);
    return true;
}

bool text_subject_add_specials(text_subject *s, bool any) {
    at_dataset *d = &s->draw[s->num_draws - 1];
    if (!d->is_exact) return false;
    if (!at_dataset_fill(d, (uint64_t)d->draw)) fail_msg("%s: not filled", s->name);
    d->has_specials = false;
    if (any) at_dataset_add_specials(d, 1);
    const text_made right = compile(s, false);
    expect(s, d, &right);
    dlclose(right.object);
    return d->has_specials;
}

/* Limits lie so many bytes behind the right ones. */
static bool outputs_differ(const text_subject *s, const char *right, const char *wrong,
                           int64_t bytes) {
    const at_dataset *d = &s->cover;
    for (int t = 0; t < s->compute->num_tensors; t++) {
        const at_type type = s->compute->tensors[t].type;
        if (!s->compute->tensors[t].is_output) continue;
        const float *limits = (const float *)(const void *)(right + bytes);
        for (int64_t i = 0; i < at_dataset_elements(d, t); i++) {
            const double x = at_type_value(type, right, i), y = at_type_value(type, wrong, i);
            const bool is_same = at_type_of(type)->is_int
                                     ? x == y
                                     : at_agrees((float)y, (float)x, d->is_exact ? 0 : limits[i]);
            if (!is_same) return true;
        }
        right += room(d, t), wrong += room(d, t);
        bytes += d->is_exact ? 0 : at_dataset_elements(d, t) * 4 - room(d, t);
    }
    return false;
}

/* In a child: do the two differ in one of the runs? */
static bool runs_differ(const text_subject *s, const text_made *right, const text_made *wrong) {
    const at_dataset *d = &s->cover;
    const int n = s->compute->num_tensors;
    void *bufs[MOST_BUFS];
    int inputs = 0;
    int64_t bytes = 0, limits = 0;
    for (int t = 0; t < n; t++) {
        const at_tensor *x = &s->compute->tensors[t];
        if (x->is_output) bytes += room(d, t), limits += at_dataset_elements(d, t) * 4;
        if (x->role == AT_ROLE_STAGE) continue;
        bufs[inputs++] = at_store_at(d->store, d->offset[t]);
    }
    char *out[2];
    void *workspace = calloc(1, (size_t)(right->workspace_bytes + wrong->workspace_bytes) + 64);
    for (int k = 0; k < 2; k++) out[k] = calloc(1, (size_t)(bytes + limits) + 64);
    if (s->taken >= 0) move(s, s->taken, true);
    for (int64_t run = 0; run < s->moved.runs; run++) {
        move(s, run, false);
        for (int k = 0; k < 2; k++) {
            int to = inputs;
            char *at = out[k];
            for (int t = 0; t < n; t++)
                if (s->compute->tensors[t].is_output) bufs[to++] = at, at += room(d, t);
            for (int t = 0; t < n; t++)
                if (s->compute->tensors[t].is_output)
                    bufs[to++] = at, at += at_dataset_elements(d, t) * 4;
            if ((k ? wrong : right)->run(bufs, workspace, NULL)) return true;
        }
        move(s, run, true);
        if (outputs_differ(s, out[0], out[1], bytes)) return true;
    }
    return false;
}

static bool differs_in_cover(const text_subject *s, const text_made *wrong) {
    if (!s->cover.store) return false;
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (!child) _exit(runs_differ(s, &s->right, wrong));
    const bool has_ended = child > 0 && waitpid(child, &status, 0) == child;
    return !has_ended || !WIFEXITED(status) || WEXITSTATUS(status);
}

bool text_subject_tells_from(const text_subject *s, const char *text) {
    text_subject other = *s;
    other.compute = (at_compute *)(uintptr_t)at_task_compute(any_task(s->arena, text, ""));
    const text_made wrong = compile(&other, false);
    const bool any = differs(s, &wrong) || differs_in_cover(s, &wrong);
    dlclose(wrong.object);
    return any;
}

/* Where a condition makes something 0 that is multiplied, as padding is, a kernel need not multiply
 * by what is not a number. */
static bool leaves_out_zeros(const at_compute *c) {
    bool chooses = false, multiplies = false;
    for (int t = 0; t < c->num_tensors; t++) {
        if (c->tensors[t].role != AT_ROLE_STAGE) continue;
        chooses |= at_dataset_calculates(c->tensors[t].body, AT_X_SELECT);
        multiplies |= at_dataset_calculates(c->tensors[t].body, AT_X_MUL);
    }
    return chooses && multiplies;
}

static void add_specials(at_dataset *d, uint64_t seed) {
    if (d->compute->in_steps) return; /* what a NaN becomes as an integer is open */
    const bool is_finite = leaves_out_zeros(d->compute);
    static const float specials[] = {NAN, INFINITY, -INFINITY, -0.0f, 0, 1e30f, -1e-30f, 0.5f};
    enum { NUM = sizeof specials / sizeof *specials };
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *x = &d->compute->tensors[t];
        const int64_t n = d->size_bytes[t] / 4;
        if (x->role == AT_ROLE_STAGE || at_type_of(x->type)->is_int || n < 4 * NUM) continue;
        at_rng rng;
        at_rng_seed(&rng, seed, (uint64_t)t + 7);
        float *to = at_store_at(d->store, d->offset[t]);
        for (int i = is_finite ? 3 : 0; i < NUM; i++)
            to[at_rng_below(&rng, (uint64_t)n)] = specials[i];
    }
}

static bool same_bits(const char *x, const char *y, int64_t bytes) {
    for (int64_t i = 0; i < bytes / 4; i++) {
        float p, q;
        memcpy(&p, x + 4 * i, 4);
        memcpy(&q, y + 4 * i, 4);
        if (memcmp(&p, &q, 4) && !(isnan(p) && isnan(q))) return false;
    }
    return true;
}

void text_subject_fill_otherwise(text_subject *s, uint64_t seed) {
    at_dataset *d = &s->draw[0];
    if (!seed) at_dataset_fill(d, 0);
    else at_dataset_fill_normal(d, seed);
    if (seed > 1) add_specials(d, seed);
}

/* The other draws, and what the computation without the change makes of them. */
static void open_others(text_subject *s, const text_mutant *m) {
    const at_dataset *d = &s->draw[0];
    at_expr *changed = *m->slot;
    if (s->other[0].outputs) return;
    *m->slot = m->before;
    const text_made original = compile(s, false);
    for (int i = 0; i < OTHER_DRAWS; i++) {
        text_other *o = &s->other[i];
        o->inputs = AT_NEW_ARRAY(s->arena, char *, s->compute->num_tensors);
        text_subject_fill_otherwise(s, (uint64_t)i + 1);
        for (int t = 0; t < s->compute->num_tensors; t++)
            if (s->compute->tensors[t].role != AT_ROLE_STAGE)
                o->inputs[t] = at_copy(s->arena, at_store_at(d->store, d->offset[t]),
                                       (size_t)d->size_bytes[t]);
        o->outputs = run(s, d, o->inputs, &original, false, &s->bytes);
        if (!o->outputs) fail_msg("%s: its reference crashed", s->name);
    }
    text_subject_fill_otherwise(s, 0);
    *m->slot = changed;
    dlclose(original.object);
}

/* Are all bits of all outputs the same on the other draws? */
static bool is_same(text_subject *s, const text_mutant *m, const text_made *mutant) {
    bool same = true;
    open_others(s, m);
    for (int i = 0; i < OTHER_DRAWS && same; i++) {
        char *x = run(s, &s->draw[0], s->other[i].inputs, mutant, false, &s->bytes);
        same = x && same_bits(x, s->other[i].outputs, s->bytes);
        put_away(x, s->bytes);
    }
    return same;
}

text_verdict text_subject_judge(text_subject *s, const text_mutant *m) {
    const text_made mutant = compile(s, false);
    const bool any = differs(s, &mutant) || differs_in_cover(s, &mutant);
    const text_verdict v = any                      ? TEXT_NOTICED
                           : is_same(s, m, &mutant) ? TEXT_SAME
                                                    : TEXT_NOT_NOTICED;
    dlclose(mutant.object);
    return v;
}

/* Elements of an output on the first draw's data, the ones that `places` names. */
static void elements_at(const text_subject *s, int t, const int64_t *places, int n, double *out) {
    points_forget(s->points[0]);
    for (int i = 0; i < n; i++) out[i] = points_at(s->points[0], t, places[i]);
}

bool text_subject_rounds_otherwise(text_subject *s, const text_mutant *m, at_rng *rng) {
    enum { LOOKED_AT = 40 };
    at_dataset *d = &s->draw[0];
    bool same = !d->is_exact;
    for (uint64_t seed = 1; seed <= 3 && same; seed++) {
        at_dataset_fill_normal(d, seed);
        for (int t = 0; t < s->compute->num_tensors && same; t++) {
            int64_t places[LOOKED_AT];
            double x[LOOKED_AT], y[LOOKED_AT];
            at_expr *changed = *m->slot;
            if (!s->compute->tensors[t].is_output) continue;
            for (int i = 0; i < LOOKED_AT; i++) places[i] = draw_point(s, t, m, i, rng);
            elements_at(s, t, places, LOOKED_AT, x);
            *m->slot = m->before;
            elements_at(s, t, places, LOOKED_AT, y);
            *m->slot = changed;
            for (int i = 0; i < LOOKED_AT && same; i++)
                same = fabs(x[i] - y[i]) <= 1e-9 * (fabs(x[i]) + fabs(y[i])) + 1e-12;
        }
    }
    at_dataset_fill(d, 0);
    return same;
}

static int wanted_of(const char *name, const char *args, int all) {
    static const char *const words[] = {"int8", "_q", "u8s8", "s8s8", "int4"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]) || strstr(args, words[i])) return 5 * all;
    return all;
}

static bool is_asked(const char *name) {
    const char *only = getenv("AT_ONLY");
    return !only || (*only == '=' ? !strcmp(name, only + 1) : strstr(name, only) != NULL);
}

int mutants_missed_of(const char *const (*tasks)[2], int n, int wanted, int all,
                      mutants_missed *missed) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        const char *name = tasks[i][0], *args = tasks[i][1];
        if (is_asked(name))
            sum += missed(name, args,
                          wanted ? wanted : (int)setting("AT_COUNT", wanted_of(name, args, all)));
    }
    return sum;
}

bool mutants_are_all(void) {
    const char *all = getenv("AT_MUTANTS");
    return all && !strcmp(all, "all");
}
