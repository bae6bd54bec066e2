/* network/kernels.c: the kernel of each kind of part, compiled in memory. */
#include <string.h>

#include "network/net_memory.h"
#include "network/program.h"

static const char parallel_for[] = "at_par_for", name[] = "kernel";

/* They run here, where weights are cold, whatever a record was measured with. */
static at_engine_options engine_of(const at_net_build *b, const at_net_form *f) {
    at_engine_options o = b->engine;
    o.row = f->rows;
    o.compiler = AT_TCC;
    o.for_dialect = false;
    o.cache = AT_CACHE_WEIGHTS_COLD;
    o.set |= AT_SET_COMPILER | AT_SET_THREADS;
    return o;
}

/* An index that is an argument of the network is prepared at every call. */
static bool prepares_late(const at_net_program *p, const at_net_part *part) {
    for (int i = 0; i < part->num_params; i++)
        if (part->params[i].role == AT_ROLE_INDEX &&
            !p->cut.net->values.data[part->params[i].value].is_constant)
            return true;
    return false;
}

static at_status compile(at_net_program *p, at_net_form *f, at_error *err) {
    const at_kernel *lowered = f->candidate.kernel;
    const char *named[] = {f->memory.call, f->memory.fast_call, f->memory.pack_call,
                           f->memory.workspace_bytes, f->memory.packed_bytes};
    enum { NAMED = sizeof named / sizeof *named };
    void *all[NAMED];
    AT_TRY(at_kernel_load(p->arena, lowered, f->memory.source, parallel_for, named, NAMED, all,
                          &f->code, err));
    unsigned long (*workspace_bytes)(int), (*packed_bytes)(void);
    memcpy(&f->call, &all[0], sizeof f->call);
    memcpy(&f->fast, &all[1], sizeof f->fast);
    memcpy(&f->pack, &all[2], sizeof f->pack);
    memcpy(&workspace_bytes, &all[3], sizeof workspace_bytes);
    memcpy(&packed_bytes, &all[4], sizeof packed_bytes);
    if (packed_bytes && !f->is_late) f->packed_bytes = (int64_t)packed_bytes();
    f->scratch_bytes =
        lowered->workspace_bytes + lowered->workspace_per_thread_bytes *
                                       (f->session.how.threads > 1 ? f->session.how.threads : 1);
    if (f->is_late) f->scratch_bytes = (int64_t)workspace_bytes(f->session.how.threads);
    return AT_OK;
}

/* What it takes until all threads of a part run, and until the last of them is seen to end. */
static const double team_s = 5e-6;

/* A part that its threads hardly share ends sooner on one. */
static int64_t threads_of(const at_net_build *b, const at_selection *s) {
    const int64_t n = b->engine.threads;
    return n <= 1 || at_config_saved(&b->engine, s->task, &s->config) > team_s ? n : 1;
}

static at_status make(at_net_program *p, at_net_kernel *k, at_net_form *form, const at_net_build *b,
                      at_error *err) {
    at_engine_options o = engine_of(b, form);
    at_file_kernel f;
    at_session *s = &form->session;
    o.isa = at_net_isa(b, k->chosen.task);
    o.threads = threads_of(b, &k->chosen);
    at_session_open_chosen(&o, &k->chosen, s);
    AT_TRY(at_session_context(s, false, err));
    if (b->with_bounds) AT_TRY(at_session_machine(s, err));
    const at_lower_options lo = at_session_lower_options(s, name);
    AT_TRY(at_candidate_lower(s, s->arena, &s->what.chosen.config, &lo, &form->candidate, err));
    f = (at_file_kernel){.program = form->candidate.program,
                         .kernel = form->candidate.kernel,
                         .threads = s->how.threads,
                         .name = name,
                         .head = ""};
    AT_TRY(at_emit_in_memory(s->arena, &f, parallel_for, &form->memory, err));
    /* What is prepared of nothing that the network gives has no function of its own either. */
    form->is_late = prepares_late(p, k->part) || !form->memory.fast_call;
    AT_TRY(compile(p, form, err));
    form->overwritten = at_net_find_overwritten(k, form, p->without_weights);
    return p->without_weights ? AT_OK : at_net_check_rows(k, form, err);
}

/* C's types of what lies in memory; integers leave as doubles, which then become their type. */
static at_status make_whole(at_net_program *p, at_net_kernel *k, at_error *err) {
    static const at_symbols none = {0};
    const at_net_part *part = k->part;
    at_compute *c;
    at_text source = {0};
    const char *entry = at_c_name(p->arena, part->name);
    void *found;
    AT_TRY(at_compute_parse(p->arena, &none, part->text, part->title, &c, err));
    const char **types = AT_NEW_ARRAY(p->arena, const char *, c->num_tensors);
    for (int t = 0, i = 0; t < c->num_tensors; t++) {
        types[t] = "double";
        if (c->tensors[t].role == AT_ROLE_STAGE && !c->tensors[t].is_output) continue;
        const at_net_param *x = &part->params[i++];
        const char *type = at_net_c_type(at_net_param_type(p, part, x));
        types[t] = x->role == AT_ROLE_STAGE ? type : at_format(p->arena, "const %s", type);
    }
    AT_TRY(at_compute_check_reads(c, NULL, NULL, NULL, err));
    at_net_form *f = k->forms.data;
    AT_TRY(at_compute_typed_c(p->arena, c, types, entry, &source, &f->scratch_bytes, err));
    k->whole.compute = c;
    k->whole.source = at_text_take(p->arena, &source);
    const at_unit unit = {.source = k->whole.source, .names = &entry, .num_names = 1};
    AT_TRY(at_resident_new(&unit, &found, &f->code, err));
    memcpy(&k->whole.call, &found, sizeof found);
    return AT_OK;
}

static at_status make_named(at_net_program *p, at_net_kernel *k, const at_net_build *b,
                            at_error *err) {
    at_status s = k->part->is_whole ? make_whole(p, k, err) : AT_OK;
    for (int i = 0; i < k->forms.len && !k->part->is_whole && s == AT_OK; i++)
        s = make(p, k, &k->forms.data[i], b, err);
    return s == AT_OK ? AT_OK : at_fail_at(err, "part %s: ", k->part->title);
}

void at_net_form_free(at_net_form *f) {
    at_resident_free(f->code);
    if (f->session.arena) at_session_close(&f->session);
    *f = (at_net_form){.rows = f->rows};
}

at_status at_net_recompile(at_net_program *p, const at_net_build *b, int kernel, int choice,
                           at_error *err) {
    at_net_kernel *k = &p->kernels[kernel];
    for (int i = 0; i < k->forms.len; i++) at_net_form_free(&k->forms.data[i]);
    at_net_choose(k, choice);
    return make_named(p, k, b, err);
}

at_status at_net_compile(at_net_program *p, const at_net_build *b, at_error *err) {
    for (int i = 0; i < p->num_kernels; i++) AT_TRY(make_named(p, &p->kernels[i], b, err));
    return AT_OK;
}
