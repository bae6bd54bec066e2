/* library/lib_task.c: tasks, their options and their spaces. */
#include "library/library.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- tasks ----------------------------------------------------------------------------------- */

static const char *copy(at_arena *a, const char *text) { return text ? at_strdup(a, text) : NULL; }

static at_status open_task(at_lib_task *t, const char *name, at_error *err) {
    at_request *q = &t->request;
    at_halt_when(&(at_halt){.stop = &t->stop});
    if (!strcmp(name, "-"))
        return at_fail(err, AT_E_USAGE,
                       "\"-\": the library reads no standard input; give a template's name or its "
                       "file");
    if (at_is_template_file(name)) AT_TRY(at_user_template_load(name, &q->row, err));
    if (!q->row) (void)at_template_find(name, &q->row, NULL); /* a template's name means that */
    q->template_name = q->row ? q->row->name : at_strdup(t->arena, name);
    AT_TRY(at_problem_make(t->arena, &t->options, q, &t->problem, err));
    return at_select_task(t->arena, &t->problem.ways[0], &t->chosen, err);
}

at_lib_task *at_lib_task_new_sparse(at_lib *lib, const char *name, const char *args,
                                    const char *weight, const char *sparsity, const char *block) {
    at_lib_state state;
    at_error err = {0};
    if (!lib) return NULL;
    if (!name) return at_lib_misuse(lib, "no template: give its name or its file"), NULL;
    at_lib_enter(lib, &state);
    at_lib_task *t = calloc(1, sizeof *t);
    AT_NEED(t);
    t->lib = lib;
    t->arena = at_arena_new();
    t->scratch = at_arena_new();
    t->request = (at_request){.args = copy(t->arena, args),
                              .weight = copy(t->arena, weight),
                              .sparsity = copy(t->arena, sparsity),
                              .block = copy(t->arena, block)};
    at_status s = open_task(t, name, &err);
    if (at_lib_code_of(lib, s, &err)) at_lib_task_free(t), t = NULL;
    at_lib_leave(lib, &state);
    return t;
}

at_lib_task *at_lib_task_new(at_lib *lib, const char *name, const char *args) {
    return at_lib_task_new_sparse(lib, name, args, NULL, NULL, NULL);
}

void at_lib_task_free(at_lib_task *t) {
    if (!t) return;
    at_arena_free(t->scratch);
    at_arena_free(t->arena);
    free(t);
}

const char *at_lib_task_name(const at_lib_task *t) { return t ? t->problem.name : ""; }

const char *at_lib_task_args(const at_lib_task *t) {
    return t ? at_task_args_text(t->chosen.task) : "";
}

double at_lib_task_flops(const at_lib_task *t) { return t ? at_task_flops(t->chosen.task) : -1; }

/* ---- options --------------------------------------------------------------------------------- */

typedef enum option_kind {
    INTEGER,
    AMOUNT,
    FACTOR,
    SHARE,
    DURATION,
    PAUSE,
    SWITCH,
    TEXT,
    SEED,
    ISA,
    COMPILER,
    PACK,
    CACHE,
    SANDBOX,
    FEATURE
} option_kind;
typedef struct option {
    const char *name;
    option_kind kind;
    size_t at;    /* in at_engine_options */
    unsigned set; /* AT_SET_* */
} option;

#define AT(member) offsetof(at_engine_options, member)
static const option options[] = {
    {"trials", INTEGER, AT(trials), 0},
    {"time", DURATION, AT(time_s), 0},
    {"tuner", TEXT, AT(tuner), 0},
    {"early-stopping", INTEGER, AT(early_stopping), 0},
    {"feature", FEATURE, AT(features), 0},
    {"prune", FACTOR, AT(prune), 0},
    {"seed", SEED, AT(seed), 0},
    {"jobs", INTEGER, AT(jobs), 0},
    {"isa", ISA, AT(isa), 0},
    {"compiler", COMPILER, AT(compiler), AT_SET_COMPILER},
    {"pack", PACK, AT(packing), AT_SET_PACKING},
    {"threads", INTEGER, AT(threads), AT_SET_THREADS},
    {"cache", CACHE, AT(cache), 0},
    {"sandbox", SANDBOX, AT(sandbox), 0},
    {"number", INTEGER, AT(number), 0},
    {"repeat", INTEGER, AT(repeat), 0},
    {"min-repeat-ms", AMOUNT, AT(min_repeat_ms), 0},
    {"timeout", DURATION, AT(timeout_s), 0},
    {"cooldown", PAUSE, AT(cooldown_s), 0},
    {"accept-changed", SWITCH, AT(accept_changed), 0},
    {"paranoid", SWITCH, AT(paranoid), 0},
    {"max-error", SHARE, AT(max_error), 0},
};
enum { NUM_OPTIONS = sizeof options / sizeof *options };

static at_status wrong(const char *option_name, const char *value, const char *accepted,
                       at_error *err) {
    return at_fail(err, AT_E_USAGE, "%s \"%s\": %s", option_name, value, accepted);
}

static at_status read_integer(const option *o, const char *value, int64_t *out, at_error *err) {
    const int64_t least = o->kind == SEED ? 0 : 1;
    char *end;
    errno = 0;
    *out = strtoll(value, &end, 10);
    if (end != value && !*end && !errno && *out >= least) return AT_OK;
    return wrong(o->name, value,
                 least ? "a whole number from 1 on is accepted"
                       : "a whole number from 0 on is accepted",
                 err);
}

static bool is_within(option_kind kind, double x) {
    switch (kind) {
    case FACTOR: return x >= 1;
    case SHARE: return x > 0 && x <= 1;
    case DURATION: return x > 0;
    default: return x >= 0;
    }
}

/* "90", "90s", "5m", "2h", "300ms" where it is a time. */
static at_status read_real(const option *o, const char *value, double *out, at_error *err) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}};
    static const char *const accepted[] = {
        [AMOUNT] = "a number from 0 on is accepted",
        [FACTOR] = "a number from 1 on is accepted",
        [SHARE] = "a number above 0 and up to 1 is accepted",
        [DURATION] = "a time above 0 is accepted: 90, 90s, 5m, 300ms",
        [PAUSE] = "a time is accepted: 90, 90s, 5m, 300ms",
    };
    char *end;
    double x = strtod(value, &end);
    size_t n = o->kind == DURATION || o->kind == PAUSE ? sizeof units / sizeof *units : 1;
    for (size_t i = 0; i < n && end != value && isfinite(x) && is_within(o->kind, x); i++)
        if (!strcmp(end, units[i].name)) return *out = x * units[i].seconds, AT_OK;
    return wrong(o->name, value, accepted[o->kind], err);
}

static bool read_word(option_kind kind, const char *value, at_engine_options *e) {
    static const char *const features[] = {[AT_FEATURES_ITERVAR] = "itervar",
                                           [AT_FEATURES_KNOB] = "knob",
                                           [AT_FEATURES_CURVE] = "curve",
                                           [AT_FEATURES_BOUND] = "bound"};
    switch (kind) {
    case ISA: {
        const at_target *t = at_target_find(value);
        if (t) e->isa = t->name;
        return t != NULL;
    }
    case COMPILER: return at_compiler_from_name(value, &e->compiler);
    case PACK: return at_packing_from_name(value, &e->packing);
    case CACHE: return at_cache_from_name(value, &e->cache);
    case SANDBOX: return at_sandbox_from_name(value, &e->sandbox);
    default: break;
    }
    for (int i = 0; i <= AT_FEATURES_BOUND; i++)
        if (!strcmp(value, features[i])) return e->features = (at_feature_set)i, true;
    return false;
}

static const char *words_of(option_kind kind) {
    switch (kind) {
    case COMPILER: return "tcc, gcc and clang are accepted";
    case PACK: return "ahead and inline are accepted";
    case CACHE: return "hot and cold are accepted";
    case SANDBOX: return "auto, require and off are accepted";
    default: return "itervar, knob, curve and bound are accepted";
    }
}

static at_status read_option(at_lib_task *t, const option *o, const char *value,
                             at_engine_options *e, at_error *err) {
    void *at = (char *)e + o->at;
    int64_t number = 0;
    double real = 0;
    switch (o->kind) {
    case INTEGER: AT_TRY(read_integer(o, value, at, err)); break;
    case SEED:
        AT_TRY(read_integer(o, value, &number, err));
        *(uint64_t *)at = (uint64_t)number;
        break;
    case AMOUNT:
    case FACTOR:
    case SHARE:
    case DURATION:
    case PAUSE:
        AT_TRY(read_real(o, value, &real, err));
        *(double *)at = real;
        break;
    case SWITCH:
        if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
            return wrong(o->name, value, "1 and 0 are accepted", err);
        *(bool *)at = *value == '1';
        break;
    case TEXT: {
        at_tuner_options parsed = {0};
        const at_tuner_class *row;
        AT_TRY(at_tuner_parse(value, &parsed, &row, err));
        *(const char **)at = at_strdup(t->arena, value);
        break;
    }
    default:
        if (o->kind == ISA && !read_word(ISA, value, e)) {
            at_engine_options asked = {.isa = value};
            return at_engine_check(&asked, err); /* names those there are */
        }
        if (!read_word(o->kind, value, e)) return wrong(o->name, value, words_of(o->kind), err);
    }
    e->set |= o->set;
    return at_engine_check(e, err);
}

static at_status set_option(at_lib_task *t, const char *name, const char *value, at_error *err) {
    at_engine_options e = t->options;
    const char *names[NUM_OPTIONS];
    for (int i = 0; i < NUM_OPTIONS; i++) {
        names[i] = options[i].name;
        if (strcmp(options[i].name, name) != 0) continue;
        AT_TRY(read_option(t, &options[i], value, &e, err));
        t->options = e;
        return AT_OK;
    }
    at_text list = {0};
    at_text_add_names(&list, name, names, NUM_OPTIONS);
    at_status s =
        at_fail(err, AT_E_USAGE, "unknown option \"%s\"; there are: %s", name, at_text_str(&list));
    at_text_free(&list);
    return s;
}

int at_lib_set(at_lib_task *t, const char *name, const char *value) {
    at_lib_state state;
    at_error err = {0};
    if (!t) return AT_LIB_USAGE;
    if (!name || !value) return at_lib_misuse(t->lib, "an option needs a name and a value");
    at_lib_enter(t->lib, &state);
    int code = at_lib_code_of(t->lib, set_option(t, name, value, &err), &err);
    at_lib_leave(t->lib, &state);
    return code;
}

/* ---- the caller's tuner ---------------------------------------------------------------------- */

static int ask_caller(void *ctx, int64_t *indices, int n) {
    at_lib_task *t = ctx;
    at_lib_out(t->lib);
    int found = t->next(t->tuner_ctx, indices, n);
    at_lib_in(t->lib);
    return found;
}

static void tell_caller(void *ctx, const at_trial *trials, int n) {
    at_lib_task *t = ctx;
    if (!t->update) return;
    at_lib_out(t->lib);
    for (int i = 0; i < n; i++)
        t->update(t->tuner_ctx, trials[i].index, trials[i].valid, trials[i].score);
    at_lib_in(t->lib);
}

int at_lib_set_tuner(at_lib_task *t, at_lib_next_fn *next, at_lib_update_fn *update, void *ctx) {
    if (!t) return AT_LIB_USAGE;
    if (next && t->problem.is_operator)
        return at_lib_misuse(t->lib,
                             "%s is computed in several ways, each with a space and a tuner of its "
                             "own: name a template",
                             t->problem.name);
    t->next = next;
    t->update = update;
    t->tuner_ctx = ctx;
    t->tuner = (at_tuner_caller){next ? ask_caller : NULL, tell_caller, t};
    return AT_LIB_OK;
}

at_engine_options at_lib_options(at_lib_task *t) {
    at_engine_options o = t->options;
    if (t->tuner.next) o.tuner_options.caller = &t->tuner;
    o.warn = o.note = at_lib_tell;
    o.ctx = t->lib;
    o.stop = &t->stop;
    return o;
}

/* ---- the space ------------------------------------------------------------------------------- */

/* NULL: an operator has one of each of its ways. */
static at_space *space_of(const at_lib_task *t) {
    if (!t->problem.is_operator) return at_task_space(t->chosen.task);
    at_lib_misuse(t->lib, "%s is computed in several ways, whose spaces are those of templates",
                  t->problem.name);
    return NULL;
}

int64_t at_lib_space_length(at_lib_task *t) {
    at_space *s = t ? space_of(t) : NULL;
    return s ? at_space_len(s) : -1;
}

int at_lib_knob_count(const at_lib_task *t) {
    const at_space *s = t ? space_of(t) : NULL;
    return s ? at_space_num_knobs(s) : -1;
}

int at_lib_knob_at(at_lib_task *t, int i, at_lib_knob *out) {
    at_lib_state state;
    if (!t) return AT_LIB_USAGE;
    const at_space *s = space_of(t);
    if (!s) return AT_LIB_USAGE;
    int n = at_space_num_knobs(s);
    if (!out || i < 0 || i >= n)
        return at_lib_misuse(t->lib, "knob %d: %d are there, from 0 on", i, n);
    at_lib_enter(t->lib, &state);
    at_text text = {0};
    at_space_print_knob(&text, s, i);
    *out = (at_lib_knob){.name = at_space_knob_name(s, i),
                         .text = at_text_take(t->arena, &text),
                         .length = at_space_knob_len(s, i)};
    at_lib_leave(t->lib, &state);
    return AT_LIB_OK;
}

const char *at_lib_entity(at_lib_task *t, int64_t index) {
    at_lib_state state;
    at_error err = {0};
    at_config c;
    const char *found = NULL;
    at_space *space = t ? space_of(t) : NULL;
    if (!space) return NULL;
    at_lib_enter(t->lib, &state);
    at_arena_reset(t->scratch);
    at_status s = at_config_at(t->scratch, space, index, &c, &err);
    if (!at_lib_code_of(t->lib, s, &err)) {
        at_text text = {0};
        at_config_print_json(&text, &c);
        found = at_text_take(t->scratch, &text);
    }
    at_lib_leave(t->lib, &state);
    return found;
}

int64_t at_lib_index(at_lib_task *t, const char *entity) {
    at_lib_state state;
    at_error err = {0};
    int64_t index = -1;
    if (!t) return -1;
    if (!entity) return at_lib_misuse(t->lib, "no entity"), -1;
    if (!space_of(t)) return -1;
    at_lib_enter(t->lib, &state);
    at_arena *a = at_arena_new(); /* entity may be the text of the last answer */
    at_selection chosen = t->chosen;
    at_engine_options o = at_lib_options(t);
    at_status s = at_config_of_text(a, &o, entity, &chosen, &err);
    if (s == AT_OK && chosen.config.index < 0)
        s = at_fail(&err, AT_E_NO_VALID, "this entity is no point of the space");
    if (!at_lib_code_of(t->lib, s, &err)) index = chosen.config.index;
    at_arena_free(a);
    at_lib_leave(t->lib, &state);
    return index;
}
