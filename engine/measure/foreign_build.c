/* engine/measure/foreign_build.c: see foreign_build.h. */
#include "engine/measure/foreign_build.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEPT = 64 << 20, OTHERS = 4, LONG_ROW = 16 };
#define ROW_S 1.0 /* that a row of builds may take */

typedef struct kept {
    char text[33], object[33]; /* hashes */
    void *bytes;
    size_t num;
} kept;

struct at_foreign_session {
    const at_foreign *of;
    const char *program;
    at_build_queue *queue;
    AT_VEC(kept) kept;
    size_t kept_bytes;
    bool has_compiled; /* a candidate has */
    int cores;
    double mean_s; /* of a build */
    int64_t builds;
};

/* ---- the compiler ---------------------------------------------------------------------------- */

static const char *default_program(at_language l) {
    return l == AT_LANGUAGE_FORTRAN ? "gfortran" : l == AT_LANGUAGE_CXX ? "g++" : "gcc";
}

/* A path of the head is relative to the kernel's folder, one of the command line to where it is. */
static const char *find_program(at_session *s, const at_foreign *f) {
    const at_engine_options *o = &s->options;
    const char *asked = o->program                 ? o->program
                        : o->set & AT_SET_COMPILER ? at_compiler_name(o->compiler)
                                                   : NULL;
    const char *name = asked ? asked : f->compiler ? f->compiler : default_program(f->language);
    char whole[PATH_MAX];
    if (!strchr(name, '/') || *name == '/') return name;
    if (!asked) name = at_format(s->arena, "%s/%s", f->folder, name);
    return realpath(name, whole) ? at_strdup(s->arena, whole) : name;
}

at_status at_foreign_open(at_session *s, bool measuring, at_error *err) {
    const at_foreign *f = at_foreign_of(s->what.task);
    at_foreign_session *x = AT_NEW(s->arena, at_foreign_session);
    *x = (at_foreign_session){.of = f, .program = f->metric ? "command" : find_program(s, f)};
    x->cores = at_cpu_facts()->cores;
    s->foreign = x;
    s->how.compiler = AT_GCC; /* its objects are loaded alike */
    if (!measuring) return AT_OK;
    if (!at_program_is_there(x->program))
        return at_fail(err, s->options.set & AT_SET_COMPILER ? AT_E_USAGE : AT_E_INPUT,
                       "%s: the compiler %s is not found on this machine; --compiler names another",
                       f->path, x->program);
    if (f->unused)
        at_engine_warn(&s->options, at_format(s->arena, "%s: nothing in it uses the knob %s",
                                              f->path, f->unused));
    return at_program_version(s->arena, x->program, fmax(s->options.timeout_s, 10), s->options.stop,
                              &s->how.compiler_version, err);
}

const char *at_foreign_compiler(const at_session *s) { return at_base_name(s->foreign->program); }

void at_foreign_close(at_session *s) {
    at_foreign_session *x = s->foreign;
    if (!x) return;
    at_build_queue_free(x->queue);
    for (int i = 0; i < x->kept.len; i++) free(x->kept.data[i].bytes);
    s->foreign = NULL;
}

/* ---- objects --------------------------------------------------------------------------------- */

static void hash_unit(const at_foreign_unit *u, char hex[33]) {
    at_hash h;
    at_hash_init(&h);
    at_hash_add_str(&h, u->source);
    at_hash_add_str(&h, u->wrapper ? u->wrapper : "");
    for (int i = 0; i < u->num_flags; i++) at_hash_add_str(&h, u->flags[i]);
    at_hash_hex(&h, hex);
}

static const kept *find_kept(const at_foreign_session *x, const char *text) {
    for (int i = 0; i < x->kept.len; i++)
        if (!strcmp(x->kept.data[i].text, text)) return &x->kept.data[i];
    return NULL;
}

/* The words of a compiler: libraries and further sources, which are among the flags, come behind
 * the text. */
static at_build build_of(at_session *s, at_arena *a, const at_foreign_unit *u) {
    const at_foreign_session *x = s->foreign;
    AT_VEC(const char *) w = {0};
    /* A function that is nowhere is a mistake of the compiler's, not of every candidate's loading.
     */
    const bool is_tcc = strstr(at_foreign_compiler(s), "tcc") != NULL;
    static const char *const begin[] = {"-shared", "-fPIC", "-o", "kernel.so"};
    static const char *const text[][6] = {
        [AT_LANGUAGE_C] = {"kernel.c"},
        [AT_LANGUAGE_CXX] = {"-x", "c++", "kernel.c", "-x", "none"},
        [AT_LANGUAGE_FORTRAN] = {"-x", "f95-cpp-input", "kernel.c"}};
    static const char *const entry[] = {"-x", "c", "entry.c", "-x", "none"};
    for (int i = 0; i < 4; i++) *at_push(a, &w) = begin[i];
    if (!is_tcc) *at_push(a, &w) = "-Wl,-z,defs";
    *at_push(a, &w) = "-I";
    *at_push(a, &w) = x->of->folder;
    for (int i = 0; i < 6 && text[x->of->language][i]; i++)
        *at_push(a, &w) = text[x->of->language][i];
    for (int i = 0; i < 5 && u->wrapper; i++) *at_push(a, &w) = entry[i];
    for (int i = 0; i < u->num_flags; i++) *at_push(a, &w) = u->flags[i];
    *at_push(a, &w) = "-lm";
    return (at_build){.program = x->program,
                      .words = w.data,
                      .num_words = w.len,
                      .source = u->source,
                      .entry = u->wrapper,
                      .timeout_s = s->options.timeout_s,
                      .stop = s->options.stop};
}

static void keep(at_session *s, const char *text, at_object *made, char hash[33]) {
    at_foreign_session *x = s->foreign;
    kept k = {0};
    at_hash h;
    k.bytes = at_object_bytes(made->path, &k.num);
    at_hash_init(&h);
    at_hash_add(&h, k.bytes, k.num);
    at_hash_hex(&h, hash);
    strcpy(k.text, text);
    strcpy(k.object, hash);
    if (x->kept_bytes + k.num > MOST_KEPT) {
        free(k.bytes);
        return;
    }
    x->kept_bytes += k.num;
    *at_push(s->arena, &x->kept) = k;
}

static void count(at_foreign_session *x, const at_object *made) {
    x->builds++;
    x->mean_s += ((double)made->compile_ns * 1e-9 - x->mean_s) / (double)x->builds;
}

/* Compiled or known. */
static at_status build(at_session *s, at_arena *a, const at_foreign_unit *u, int64_t number,
                       at_object *made, char hash[33], at_error *err) {
    at_foreign_session *x = s->foreign;
    char text[33];
    hash_unit(u, text);
    const kept *k = number ? NULL : find_kept(x, text);
    if (k) {
        *made = (at_object){.arena = a};
        strcpy(hash, k->object);
        return at_object_of_bytes(a, k->bytes, k->num, &made->path, err);
    }
    if (number) AT_TRY(at_build_queue_take(x->queue, number, a, made, err));
    else {
        const at_build b = build_of(s, a, u);
        AT_TRY(at_build_run(a, &b, made, err));
    }
    count(x, made);
    if (made->end) return AT_OK;
    x->has_compiled = true;
    keep(s, text, made, hash);
    return AT_OK;
}

/* ---- who is to blame ------------------------------------------------------------------------- */

/* Until a candidate has compiled: where others do not compile either, the head or the file is
 * wrong. */
static at_status blame(at_session *s, at_arena *a, const at_object *failed, at_error *err) {
    at_rng rng;
    at_rng_seed(&rng, s->options.seed, 1);
    for (int i = 0; i < OTHERS; i++) {
        at_config c;
        at_foreign_unit u;
        at_object made;
        char hash[33];
        int64_t place = (int64_t)at_rng_below(&rng, (uint64_t)at_space_num_places(s->what.space));
        int64_t index = at_space_at_place(s->what.space, place);
        if (at_config_at(a, s->what.space, index, &c, NULL) != AT_OK ||
            at_foreign_unit_of(a, s->what.task, &c, NULL, "kernel_entry", &u, NULL) != AT_OK)
            continue;
        AT_TRY(build(s, a, &u, 0, &made, hash, err));
        at_object_remove(made.path);
        if (!made.end) return AT_OK;
    }
    return at_fail(err, AT_E_INPUT, "%s: no candidate compiles: %s", s->foreign->of->path,
                   failed->error);
}

at_status at_foreign_build(at_session *s, at_arena *a, const at_foreign_unit *u, int64_t number,
                           at_object *made, char hash[33], at_error *err) {
    AT_TRY(build(s, a, u, number, made, hash, err));
    if (made->end != AT_JOB_NOT_COMPILED || s->foreign->has_compiled) return AT_OK;
    return blame(s, a, made, err);
}

at_status at_foreign_compile(at_session *s, at_arena *a, const at_foreign_unit *u, at_object *made,
                             char hash[33], at_error *err) {
    return build(s, a, u, 0, made, hash, err);
}

at_status at_foreign_check(at_session *s, at_error *err) {
    at_config c;
    at_foreign_unit u;
    at_object made;
    char hash[33];
    at_arena *a = s->scratch;
    AT_TRY(at_task_default_config(a, s->what.task, s->how.target->default_lanes, &c, err));
    AT_TRY(at_foreign_unit_of(a, s->what.task, &c, NULL, "kernel_entry", &u, err));
    AT_TRY(at_foreign_build(s, a, &u, 0, &made, hash, err));
    at_object_remove(made.path);
    return AT_OK;
}

/* ---- ahead ----------------------------------------------------------------------------------- */

int at_foreign_in_a_row(const at_session *s) {
    const at_foreign_session *x = s->foreign;
    double each = x->mean_s > 1e-3 ? x->mean_s : 1e-3, row = ROW_S / each * x->cores;
    return row > LONG_ROW ? LONG_ROW : row < x->cores ? x->cores : (int)row;
}

void at_foreign_ahead(at_session *s, at_arena *a, at_candidate *c) {
    at_foreign_session *x = s->foreign;
    char text[33];
    hash_unit(&c->unit, text);
    if (find_kept(x, text)) return;
    if (!x->queue) x->queue = at_build_queue_new(x->cores);
    const at_build b = build_of(s, a, &c->unit);
    c->ahead = at_build_queue_add(x->queue, &b);
}
