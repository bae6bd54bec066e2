/* library/lib_kernel.c: kernels: a configuration, lowered, compiled in memory by TinyCC and
 * looked up as functions. Nothing is measured, and no process is started. */
#include "library/library.h"

#include <stdlib.h>
#include <string.h>

enum { FACES = AT_LIB_IN_BLOCKS + 1, MOST_TENSORS = AT_MAX_BUFS };

struct at_lib_kernel {
    at_arena *arena;
    at_resident *code;
    at_lib_fn *faces[FACES];
    const char *prototypes[FACES];
    int (*call)(void *const *tensors, void *workspace);
    size_t workspace_bytes, packed_bytes;
    int threads, num_tensors;
    at_lib_tensor *tensors;
    const at_memory_tensor *given; /* [num_tensors] */
    at_lib_fn **orders;            /* [num_tensors] */
    const char *isa, *entity, *source;
};

/* ---- what is compiled ------------------------------------------------------------------------ */

typedef unsigned long workspace_fn(int threads);
typedef unsigned long packed_fn(void);

static const char kernel_name[] = "kernel", parallel_for[] = "at_par_for";

static at_lib_fn *function(void *p) {
    at_lib_fn *f;
    memcpy(&f, &p, sizeof f);
    return f;
}

/* Its functions by name; those that it has not stay NULL. */
static at_status compile(at_lib_kernel *k, const at_kernel *lowered, const at_memory_kernel *m,
                         at_error *err) {
    const char *named[6 + MOST_TENSORS] = {m->plain,           m->pack,        m->fast, m->call,
                                           m->workspace_bytes, m->packed_bytes};
    void *all[6 + MOST_TENSORS];
    for (int i = 0; i < m->num_tensors; i++) named[6 + i] = m->tensors[i].order;
    AT_TRY(at_kernel_load(k->arena, lowered, m->source, parallel_for, named, 6 + m->num_tensors,
                          all, &k->code, err));
    k->faces[AT_LIB_PLAIN] = function(all[0]);
    k->faces[AT_LIB_PACK] = function(all[1]);
    k->faces[AT_LIB_IN_BLOCKS] = function(all[2]);
    memcpy(&k->call, &all[3], sizeof k->call);
    k->workspace_bytes = ((workspace_fn *)function(all[4]))(k->threads);
    if (all[5]) k->packed_bytes = ((packed_fn *)function(all[5]))();
    for (int i = 0; i < m->num_tensors; i++) k->orders[i] = function(all[6 + i]);
    return AT_OK;
}

static void describe(at_lib_kernel *k, const at_memory_kernel *m) {
    k->prototypes[AT_LIB_PLAIN] = m->plain_prototype;
    k->prototypes[AT_LIB_PACK] = m->pack_prototype;
    k->prototypes[AT_LIB_IN_BLOCKS] = m->fast_prototype;
    k->num_tensors = m->num_tensors;
    k->tensors = AT_NEW_ARRAY(k->arena, at_lib_tensor, m->num_tensors);
    k->given = m->tensors;
    k->orders = AT_NEW_ARRAY(k->arena, at_lib_fn *, m->num_tensors);
    for (int i = 0; i < m->num_tensors; i++) {
        const at_memory_tensor *t = &m->tensors[i];
        k->tensors[i] =
            (at_lib_tensor){.name = t->name,
                            .type = t->is_s64 ? "s64" : at_type_of(t->type)->name,
                            .is_output = t->is_read ? 2 : t->is_output,
                            .is_int = at_type_of(t->type)->is_int,
                            .is_packed = m->pack && t->is_ahead,
                            .num_dims = t->num_dims,
                            .dims = t->dims,
                            .elements = t->elements,
                            .size_bytes = t->elements * (t->is_s64 ? 8 : at_type_bytes(t->type)),
                            .num_block_dims = t->num_block_dims,
                            .block_dims = t->block_dims};
    }
}

/* ---- from a configuration -------------------------------------------------------------------- */

static at_status lower(at_session *s, at_arena *a, at_candidate *c, at_file_kernel *f,
                       at_error *err) {
    at_config own;
    const at_task *task = at_task_of_config(s->what.task, &s->what.chosen.config, &own);
    const at_compute *compute = at_task_compute(task);
    const int **layouts = AT_NEW_ARRAY(a, const int *, compute->num_tensors);
    int64_t *plain;
    at_lower_options lo = at_session_lower_options(s, kernel_name);
    AT_TRY(at_candidate_lower(s, a, &s->what.chosen.config, &lo, c, err));
    for (int t = 0; t < compute->num_tensors; t++) layouts[t] = at_task_layout(task, t);
    AT_TRY(at_task_plain_values(a, task, &plain, err));
    *f = (at_file_kernel){.program = c->program,
                          .kernel = c->kernel,
                          .threads = s->how.threads,
                          .name = kernel_name,
                          .head = "",
                          .plain_values = plain,
                          .layouts = layouts,
                          .tensor_names = s->what.chosen.tensor_names,
                          .weight_order = s->what.chosen.weight_order,
                          .ordered_weight = s->what.chosen.ordered_weight};
    return AT_OK;
}

static at_status fill(at_lib_kernel *k, at_session *s, at_error *err) {
    at_candidate c;
    at_file_kernel f;
    at_memory_kernel m;
    at_text entity = {0};
    AT_TRY(lower(s, k->arena, &c, &f, err));
    AT_TRY(at_emit_in_memory(k->arena, &f, parallel_for, &m, err));
    k->threads = s->how.threads;
    k->isa = s->how.target->name;
    k->source = at_strdup(k->arena, s->what.chosen.from);
    at_config_print_json(&entity, &s->what.chosen.config);
    k->entity = at_text_take(k->arena, &entity);
    if (m.num_tensors > MOST_TENSORS)
        return at_fail(err, AT_E_INPUT, "%d tensors; %d are accepted", m.num_tensors, MOST_TENSORS);
    describe(k, &m);
    return compile(k, c.kernel, &m, err);
}

/* What the record of a log was made for; "" where it does not say: then this CPU's best is taken.
 */
static const char *isa_of(const at_selection *s) {
    const at_record *r = s->record;
    return r && r->extra.present ? r->extra.context.isa : "";
}

static bool runs_here(const char *isa, at_error *err) {
    const at_target *t = at_target_find(isa);
    if (t) return at_target_check(t, err) == AT_OK;
    if (*isa) at_fail(err, AT_E_USAGE, "%s is no instruction set that is known here", isa);
    return !*isa;
}

/* The winner of the log; where this CPU cannot run it, the winner among those it can. */
static at_status open_log(at_lib_task *t, const at_engine_options *o, const char *log,
                          at_session *s, at_error *err) {
    at_request q = t->request;
    q.log = log;
    AT_TRY(at_session_open(o, &q, false, s, err));
    char first[32];
    snprintf(first, sizeof first, "%s", isa_of(&s->what.chosen));
    at_error why;
    if (o->isa || runs_here(first, &why)) return AT_OK;
    at_engine_options of_set = *o;
    int n = 0;
    while (at_target_at(n)) n++;
    while (n-- > 0) {
        of_set.isa = at_target_at(n)->name;
        if (!runs_here(of_set.isa, NULL)) continue;
        at_session_close(s);
        AT_TRY(at_session_open(&of_set, &q, false, s, err));
        if (!strcmp(isa_of(&s->what.chosen), of_set.isa)) return AT_OK;
    }
    return at_fail(err, AT_E_USAGE, "%s: its records of this task are for %s: %s", log, first,
                   why.text);
}

static at_status open_source(at_lib_task *t, const at_engine_options *o, const char *log,
                             const char *entity, at_session *s, at_error *err) {
    at_request q = t->request;
    if (o->isa && !runs_here(o->isa, err)) return at_fail_at(err, "isa %s: ", o->isa);
    if (log) return open_log(t, o, log, s, err);
    q.config = entity;
    return at_session_open(o, &q, false, s, err);
}

static at_status load(at_lib_task *t, at_lib_kernel *k, const char *log, const char *entity,
                      at_error *err) {
    at_session s = {0};
    const at_engine_options o = at_lib_options(t);
    at_template_limit(o.timeout_s > 0 ? o.timeout_s : 10);
    at_halt_when(&(at_halt){.stop = &t->stop});
    at_status status = open_source(t, &o, log, entity, &s, err);
    /* Its own compiler makes it, and it may include what this program cannot compile. */
    if (status == AT_OK && at_foreign_of(s.what.task))
        status = at_fail(err, AT_E_USAGE,
                         "%s is a kernel of somebody's own: it is tuned here, and loaded nowhere; "
                         "compile what autotune apply writes of the log",
                         s.what.row->name);
    /* It has to run here, whatever it was measured with. */
    s.options.compiler = AT_TCC;
    s.options.set |= AT_SET_COMPILER;
    if (status == AT_OK) status = at_session_context(&s, false, err);
    if (status == AT_OK) status = fill(k, &s, err);
    if (s.arena) at_session_close(&s);
    return status;
}

static at_lib_kernel *new_kernel(at_lib_task *t, const char *log, const char *entity) {
    at_lib_state state;
    at_error err = {0};
    __atomic_store_n(&t->stop, 0, __ATOMIC_RELAXED);
    at_lib_enter(t->lib, &state);
    at_lib_kernel *k = calloc(1, sizeof *k);
    AT_NEED(k);
    k->arena = at_arena_new();
    at_status s = load(t, k, log, entity, &err);
    if (at_lib_code_of(t->lib, s, &err)) at_lib_kernel_free(k), k = NULL;
    at_lib_leave(t->lib, &state);
    return k;
}

at_lib_kernel *at_lib_load_log(at_lib_task *t, const char *log) {
    if (!t) return NULL;
    if (!log) return at_lib_misuse(t->lib, "no log: give its path"), NULL;
    return new_kernel(t, log, NULL);
}

at_lib_kernel *at_lib_load_entity(at_lib_task *t, const char *entity) {
    return t ? new_kernel(t, NULL, entity) : NULL;
}

void at_lib_kernel_free(at_lib_kernel *k) {
    if (!k) return;
    at_resident_free(k->code);
    at_arena_free(k->arena);
    free(k);
}

int at_lib_best(at_lib_task *t, const char *log, at_lib_record *out) {
    at_lib_state state;
    at_error err = {0};
    at_session session = {0};
    if (!t) return AT_LIB_USAGE;
    if (!log || !out) return at_lib_misuse(t->lib, "a log and a place for its record are needed");
    at_lib_enter(t->lib, &state);
    const at_engine_options o = at_lib_options(t);
    at_status s = open_source(t, &o, log, NULL, &session, &err);
    if (s == AT_OK) {
        at_arena_reset(t->scratch);
        at_lib_fill_record(t->scratch, session.what.chosen.record, out);
        out->is_best = 1;
    }
    if (session.arena) at_session_close(&session);
    int code = at_lib_code_of(t->lib, s, &err);
    at_lib_leave(t->lib, &state);
    return code;
}

/* ---- asking ---------------------------------------------------------------------------------- */

at_lib_fn *at_lib_function(const at_lib_kernel *k, int face) {
    return k && face >= 0 && face < FACES ? k->faces[face] : NULL;
}

const char *at_lib_prototype(const at_lib_kernel *k, int face) {
    return at_lib_function(k, face) ? k->prototypes[face] : NULL;
}

at_lib_fn *at_lib_order(const at_lib_kernel *k, int i) {
    return k && i >= 0 && i < k->num_tensors ? k->orders[i] : NULL;
}

/* At indices of 32 bits the kernel's own functions do not look. In runs of a fixed length compilers
 * compare several at once. */
static bool is_within(const at_memory_tensor *t, const int32_t *entries) {
    enum { RUN = 64 };
    if (!t->is_bounded || t->is_checked) return true;
    const int32_t lo = t->given.lo > INT32_MIN ? (int32_t)t->given.lo : INT32_MIN,
                  hi = t->given.hi < INT32_MAX ? (int32_t)t->given.hi : INT32_MAX;
    int32_t beyond = 0;
    int64_t i = 0;
    for (; i + RUN <= t->elements; i += RUN)
        for (int k = 0; k < RUN; k++) beyond |= (entries[i + k] < lo) | (entries[i + k] > hi);
    for (; i < t->elements; i++) beyond |= (entries[i] < lo) | (entries[i] > hi);
    return !beyond;
}

int at_lib_call(const at_lib_kernel *k, void *const *tensors, void *workspace) {
    if (!k || !k->call || !tensors || (k->workspace_bytes && !workspace)) return AT_LIB_USAGE;
    for (int i = 0; i < k->num_tensors; i++)
        if (k->tensors[i].elements && !tensors[i]) return AT_LIB_USAGE;
    for (int i = 0; i < k->num_tensors; i++)
        if (!is_within(&k->given[i], tensors[i])) return AT_LIB_INPUT;
    return k->call(tensors, workspace) ? AT_LIB_INPUT : AT_LIB_OK;
}

int at_lib_tensor_count(const at_lib_kernel *k) { return k ? k->num_tensors : -1; }

int at_lib_tensor_at(const at_lib_kernel *k, int i, at_lib_tensor *out) {
    if (!k || !out || i < 0 || i >= k->num_tensors) return AT_LIB_USAGE;
    *out = k->tensors[i];
    return AT_LIB_OK;
}

int at_lib_tensor_range(const at_lib_kernel *k, int i, int64_t *least, int64_t *most) {
    if (!k || !least || !most || i < 0 || i >= k->num_tensors || !k->given[i].is_bounded)
        return AT_LIB_USAGE;
    *least = k->given[i].given.lo;
    *most = k->given[i].given.hi;
    return AT_LIB_OK;
}

size_t at_lib_workspace_bytes(const at_lib_kernel *k) { return k ? k->workspace_bytes : 0; }
size_t at_lib_packed_bytes(const at_lib_kernel *k) { return k ? k->packed_bytes : 0; }
int at_lib_threads(const at_lib_kernel *k) { return k ? k->threads : 0; }
const char *at_lib_isa(const at_lib_kernel *k) { return k ? k->isa : ""; }
const char *at_lib_kernel_entity(const at_lib_kernel *k) { return k ? k->entity : ""; }
const char *at_lib_kernel_source(const at_lib_kernel *k) { return k ? k->source : ""; }
