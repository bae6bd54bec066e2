/* network/program.c: see program.h: the course from a graph to a program, and its run. */
#include "network/program.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void find_kernels(at_net_program *p) {
    p->kernels = AT_NEW_ARRAY(p->arena, at_net_kernel, p->cut.num_parts);
    for (int i = 0; i < p->cut.num_parts; i++) {
        const at_net_part *part = &p->cut.parts[i];
        if (part->same == i) p->kernels[p->num_kernels++] = (at_net_kernel){.part = part};
        at_net_kernel *k = p->kernels;
        while (k->part != &p->cut.parts[part->same]) k++;
        k->count++;
        if (!at_net_form_of(k, part))
            *at_push(p->arena, &k->forms) = (at_net_form){.rows = part->rows};
    }
}

double at_net_kernel_flops(const at_net_kernel *k) {
    const double flops = k->whole.compute ? 0 : at_task_flops(k->chosen.task);
    return flops > 0 ? flops * k->count : 0;
}

at_status at_net_program_plan(const at_net *net, const at_net_build *b, at_net_program *out,
                              at_error *err) {
    const at_engine_options *o = &b->engine;
    *out = (at_net_program){
        .arena = at_arena_new(), .net = net, .read_bytes = at_net_weights_bytes(net)};
    const at_net *rewritten = at_net_rewrite(out->arena, net, at_engine_target(o)->has_integers);
    AT_TRY(at_net_cut_by_cost(out->arena, rewritten, b, &out->logged, &out->cut,
                              b->is_search ? &out->tries : NULL, err));
    find_kernels(out);
    return at_net_find_ways(out, err);
}

/* Whoever does not only look at a program runs its kernels here, if only to pack weights. */
static at_status check_runs_here(const at_net_build *b, at_error *err) {
    const char *isa = b->engine.isa;
    if (!isa || b->without_weights || at_target_check(at_engine_target(&b->engine), err) == AT_OK)
        return AT_OK;
    return at_fail(err, AT_E_USAGE,
                   "--isa %s: a network's weights are packed by its own kernels, which do not run "
                   "here: this CPU (%s) has %s; show takes any set",
                   isa, at_cpu_facts()->name, at_target_here()->name);
}

at_status at_net_program_new(const at_net *net, const at_net_build *b, at_net_program *out,
                             at_error *err) {
    *out = (at_net_program){0};
    AT_TRY(check_runs_here(b, err));
    AT_TRY(at_net_program_plan(net, b, out, err));
    out->without_weights = b->without_weights;
    out->threads = b->engine.threads > 1 ? (int)b->engine.threads : 1;
    AT_TRY(at_net_select(out, b, err));
    AT_TRY(at_net_compile(out, b, err));
    return at_net_prepare(out, err);
}

at_status at_net_prepare(at_net_program *p, at_error *err) {
    p->storages.len = p->steps.len = 0;
    free(p->weights);
    p->weights = NULL;
    at_net_make_steps(p);
    at_net_place_storages(p);
    return at_net_pack_weights(p, err);
}

void at_net_program_free(at_net_program *p) {
    if (!p->arena) return;
    for (int i = 0; i < p->num_kernels; i++) {
        for (int f = 0; f < p->kernels[i].forms.len; f++)
            at_net_form_free(&p->kernels[i].forms.data[f]);
    }
    free(p->weights);
    at_arena_free(p->arena);
    *p = (at_net_program){0};
}

/* ---- a run ----------------------------------------------------------------------------------- */

typedef struct running {
    const at_net_program *p;
    const void *const *inputs;
    void *const *outputs;
    char *workspace;
} running;

static void *address(const running *r, at_net_place x) {
    switch (x.where) {
    case AT_NET_INPUT: return (void *)r->inputs[x.number];
    case AT_NET_OUTPUT: return r->outputs[x.number];
    case AT_NET_WORKSPACE: return r->workspace + x.offset;
    case AT_NET_WEIGHTS: return r->p->weights + x.offset;
    default: return NULL;
    }
}

static void call(const running *r, const at_net_step *s) {
    enum { MOST = 256 };
    const at_net_kernel *k = &r->p->kernels[s->kernel];
    const at_net_form *f = &k->forms.data[s->form];
    void *tensors[MOST], *scratch = NULL;
    AT_ASSERT(s->num_args <= MOST);
    for (int i = 0; i < s->num_args; i++)
        tensors[i] = s->args[i] < 0 ? NULL
                                    : (char *)address(r, r->p->storages.data[s->args[i]].place) +
                                          s->offsets[i];
    if (s->scratch >= 0) scratch = address(r, r->p->storages.data[s->scratch].place);
    if (k->whole.call) k->whole.call(tensors, scratch, NULL);
    else if (!f->is_late) f->fast(tensors, address(r, s->packed), scratch);
    else f->call(tensors, scratch);
}

/* The network's name of what lies there. */
static const char *name_of(const at_net_program *p, const at_net_storage *s) {
    const int v = s->value < -1 ? -2 - s->value : s->value; /* an input that is copied */
    return v < 0 ? "" : p->cut.net->values.data[v].name;
}

static at_status convert(const running *r, const at_net_step *s, at_error *err) {
    const at_net_storage *from = &r->p->storages.data[s->args[0]];
    const at_net_storage *to = &r->p->storages.data[s->args[1]];
    const void *x = address(r, from->place);
    void *y = address(r, to->place);
    const at_net_limits *l = &s->limits;
    const bool checked = l->depth > 0;
    if (from->type == to->type && !checked) return memcpy(y, x, (size_t)to->bytes), AT_OK;
    if (!checked && at_net_widen(from->type, x, to->type, y, to->elements)) return AT_OK;
    for (int64_t i = 0; i < to->elements; i++) {
        double e = at_net_element(from->type, x, i);
        const int64_t at = checked ? i % l->depth : 0;
        if (checked && !(e >= (double)l->lo[at] && e <= (double)l->hi[at]))
            return at_fail(
                err, AT_E_INPUT, "element %lld of \"%s\" is %.17g; it must be from %lld to %lld",
                (long long)i, name_of(r->p, from), e, (long long)l->lo[at], (long long)l->hi[at]);
        at_net_store(to->type, y, i, e);
    }
    return AT_OK;
}

static at_status run_step(const running *r, const at_net_step *s, at_error *err) {
    if (s->kind == AT_NET_CONVERT) return convert(r, s, err);
    call(r, s);
    return AT_OK;
}

at_status at_net_program_run(const at_net_program *p, const void *const *inputs,
                             void *const *outputs, void *workspace, at_error *err) {
    const running r = {p, inputs, outputs, workspace};
    for (int i = 0; i < p->steps.len; i++) AT_TRY(run_step(&r, &p->steps.data[i], err));
    return AT_OK;
}

double at_net_seconds(const at_net_program *p) {
    struct timespec t;
    clock_gettime(p->threads > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

at_status at_net_program_time(const at_net_program *p, const void *const *inputs,
                              void *const *outputs, void *workspace, double *steps_s,
                              at_error *err) {
    const running r = {p, inputs, outputs, workspace};
    double begin = at_net_seconds(p);
    for (int i = 0; i < p->steps.len; i++) {
        AT_TRY(run_step(&r, &p->steps.data[i], err));
        double end = at_net_seconds(p);
        if (end - begin < steps_s[i]) steps_s[i] = end - begin;
        begin = end;
    }
    return AT_OK;
}
