/* engine/task/workload.c: from a set of layers and a template to tasks. */
#include "engine/task/workload.h"

#include <string.h>

#include "engine/task/operator.h"
#include "engine/task/task_weight.h"

static const at_workload *const sets[] = {&at_workload_resnet50, &at_workload_resnet50_512,
                                          &at_workload_mobilenet};
enum { NUM_SETS = sizeof sets / sizeof *sets };

static const char *blocked(at_arena *a, const at_layer *l) {
    if (!l->kernel || l->depthwise) return NULL;
    return at_format(a, "N=%d,IC=%d,H=%d,W=%d,OC=%d,KH=%d,KW=%d,strides=%d,padding=%d", l->n, l->in,
                     l->height, l->width, l->out, l->kernel, l->kernel, l->stride, l->padding);
}

static const char *channels_last(at_arena *a, const at_layer *l) {
    if (!l->kernel || l->depthwise) return NULL;
    return at_format(a, "N=%d,CI=%d,H=%d,W=%d,CO=%d,KH=%d,KW=%d,strides=%d,padding=%d", l->n, l->in,
                     l->height, l->width, l->out, l->kernel, l->kernel, l->stride, l->padding);
}

static const char *depthwise_blocked(at_arena *a, const at_layer *l) {
    if (!l->depthwise) return NULL;
    return at_format(a, "N=%d,IC=%d,H=%d,W=%d,KH=%d,KW=%d,strides=%d,padding=%d", l->n, l->in,
                     l->height, l->width, l->kernel, l->kernel, l->stride, l->padding);
}

static const char *depthwise(at_arena *a, const at_layer *l) {
    if (!l->depthwise) return NULL;
    return at_format(a, "N=%d,C=%d,H=%d,W=%d,KH=%d,KW=%d,strides=%d,padding=%d", l->n, l->in,
                     l->height, l->width, l->kernel, l->kernel, l->stride, l->padding);
}

static const char *gemm_3x3(at_arena *a, const at_layer *l) {
    if (l->depthwise || l->kernel != 3 || l->stride != 1 || l->padding != 1) return NULL;
    return at_format(a, "N=%d,H=%d,W=%d,CI=%d,CO=%d", l->n, l->height, l->width, l->in, l->out);
}

static const char *dense(at_arena *a, const at_layer *l) {
    return l->kernel ? NULL : at_format(a, "M=%d,K=%d,N=%d", l->n, l->in, l->out);
}

static const char *matmul_add(at_arena *a, const at_layer *l) {
    return l->kernel ? NULL : at_format(a, "N=%d,L=%d,M=%d", l->n, l->in, l->out);
}

/* Which layers a template computes, and with what arguments; NULL: not this one. */
static const struct {
    const char *name;
    const char *(*args)(at_arena *a, const at_layer *l);
    bool is_sparse;
} fits[] = {
    {"conv2d_3x3_gemm", gemm_3x3, false},
    {"conv2d_NCHWc", blocked, false},
    {"conv2d_nhwc", channels_last, false},
    {"dense", dense, false},
    {"matmul_add", matmul_add, false},
    {"spconv2d_3x3_gemm", gemm_3x3, true},
    {"spconv2d_nhwc", channels_last, true},
    {"sparse_dense", dense, true},
    {"depthwise_conv2d_NCHWc", depthwise_blocked, false},
    {"depthwise_conv2d_nhwc", depthwise, false},
};

const char *at_workload_name(int i) { return i < NUM_SETS ? sets[i]->name : NULL; }

static at_status find_set(const char *name, const at_workload **out, at_error *err) {
    const char *names[NUM_SETS];
    for (int i = 0; i < NUM_SETS; i++) {
        names[i] = sets[i]->name;
        if (strcmp(sets[i]->name, name) != 0) continue;
        *out = sets[i];
        return AT_OK;
    }
    at_text list = {0};
    at_text_add_names(&list, name, names, NUM_SETS);
    at_status s = at_fail(err, AT_E_USAGE,
                          "--workload %s: a file of layers or a log is given by its path, ./%s; "
                          "there are %s",
                          name, name, at_text_str(&list));
    at_text_free(&list);
    return s;
}

/* ---- named sets ------------------------------------------------------------------------------ */

typedef struct reading {
    at_arena *arena;
    const at_engine_options *options;
    const at_request *request;
    const char *workload;
    const at_operator *ways_of; /* NULL: it is a template */
    const char *name;           /* the operator's with stages */
    const at_template_row *row; /* the template's, or that of the operator's first way */
    at_layers *out;
    at_error *err;
} reading;

static at_status add_layer(reading *r, const at_workload *set, int fit, const char *args,
                           int count) {
    bool is_sparse = r->ways_of ? at_operator_is_sparse(r->ways_of) : fits[fit].is_sparse;
    int n = is_sparse && !r->request->sparsity ? set->num_sparsities : 0;
    for (int i = 0; i < (n ? n : 1); i++) {
        at_request q = *r->request;
        at_problem p;
        q.args = args;
        if (n) q.sparsity = set->sparsities[i];
        AT_TRY(at_problem_make(r->arena, r->options, &q, &p, r->err));
        p.count = count;
        *at_push(r->arena, r->out) = p;
    }
    return AT_OK;
}

static at_status layers_of_set(reading *r) {
    const at_workload *set = NULL;
    int fit = 0, num_fits = sizeof fits / sizeof *fits;
    AT_TRY(find_set(r->workload, &set, r->err));
    const char *name = at_template_base(r->row)->name;
    while (fit < num_fits && strcmp(fits[fit].name, name) != 0) fit++;
    at_error why = {0};
    for (int i = 0; i < set->num_layers && fit < num_fits; i++) {
        const char *args = fits[fit].args(r->arena, &set->layers[i]);
        if (args && (r->ways_of || at_weight_fits(r->arena, r->request, r->row, args, &why)))
            AT_TRY(add_layer(r, set, fit, args, set->layers[i].count));
    }
    if (r->out->len) return AT_OK;
    return at_fail(r->err, AT_E_USAGE, "--workload %s: holds no layer for %s%s%s%s", set->name,
                   r->ways_of ? r->request->template_name : r->row->name, why.text[0] ? " (" : "",
                   why.text, why.text[0] ? ")" : "");
}

/* ---- logs ------------------------------------------------------------------------------------ */

typedef struct new_tasks {
    const reading *of;
    at_arena *arena; /* of its own: the records' is rewound where one is not wanted */
    at_key_map seen, layers;
    AT_VEC(const char *) args; /* of an operator's layers, as its first template has them */
    at_text key;
} new_tasks;

/* Its layer of the operator; false: it is of none, or not of that one with those stages. */
static bool layer_of(new_tasks *t, const at_record *r, const at_json **args) {
    at_task *task;
    const at_task *layer;
    if (at_task_of_record(t->arena, r->task, r->args, &task, NULL) != AT_OK ||
        !at_operator_layer_of(t->arena, t->of->name, task, &layer))
        return false;
    *args = at_task_args(layer);
    return true;
}

/* The first record of each task of the template, or of each layer of the operator. */
static bool is_new(void *ctx, const at_record *r) {
    new_tasks *t = ctx;
    const at_template_row *row = NULL;
    const at_json *args = r->args;
    if (at_template_find(r->task, &row, NULL) != AT_OK || (!t->of->ways_of && row != t->of->row))
        return false;
    at_text_clear(&t->key);
    at_workload_identity(&t->key, &(at_record){.task = row->name, .args = args});
    int known = t->seen.keys.len;
    if (at_key_map_add(&t->seen, at_text_str(&t->key)) < known) return false;
    if (!t->of->ways_of) return true;
    if (!layer_of(t, r, &args)) return false;
    at_text_clear(&t->key);
    at_workload_identity(&t->key, &(at_record){.task = "", .args = args});
    known = t->layers.keys.len;
    if (at_key_map_add(&t->layers, at_text_str(&t->key)) < known) return false;
    *at_push(t->arena, &t->args) = at_json_text(t->arena, args);
    return true;
}

static at_status read_log(reading *r, new_tasks *t) {
    at_record *records;
    int n;
    AT_TRY(at_log_read_wanted(r->arena, r->workload, is_new, t, r->options->warn, r->options->ctx,
                              &records, &n, NULL, r->err));
    for (int i = 0; i < n; i++) {
        at_request q = *r->request;
        at_problem p;
        q.args = r->ways_of ? at_strdup(r->arena, t->args.data[i])
                            : at_json_text(r->arena, records[i].args);
        const char *from = at_format(r->arena, "%s:%lld", r->workload, (long long)records[i].line);
        if (at_problem_make(r->arena, r->options, &q, &p, r->err) != AT_OK)
            return at_fail_at(r->err, "%s: ", from);
        p.from = from;
        *at_push(r->arena, r->out) = p;
    }
    return AT_OK;
}

/* The tasks of the template, or the layers of the operator, that a log holds records of, in their
 * order. */
static at_status layers_of_log(reading *r) {
    at_arena *own = at_arena_new();
    new_tasks new = {.of = r, .arena = own, .seen.arena = own, .layers.arena = own};
    at_status s = read_log(r, &new);
    at_text_free(&new.key);
    at_arena_free(own);
    AT_TRY(s);
    return r->out->len
               ? AT_OK
               : at_fail(r->err, AT_E_INPUT, "--workload %s: holds no record of %s", r->workload,
                         r->ways_of ? r->request->template_name : r->row->name);
}

at_status at_workload_read(at_arena *a, const at_engine_options *o, const at_request *q,
                           const char *workload, at_problem **out, int *n, at_error *err) {
    at_layers all = {0};
    const at_workload *set;
    bool names = q->row || q->template_name;
    reading r = {.arena = a,
                 .options = o,
                 .request = q,
                 .workload = workload,
                 .ways_of = at_operator_find(q),
                 .out = &all,
                 .err = err};
    if (q->args) return at_fail(err, AT_E_USAGE, "give one of --workload and --args, not both");
    if (q->weight)
        return at_fail(err, AT_E_USAGE, "--weight is for one task; --workload has several");
    if (names) AT_TRY(at_problem_row(a, q, &r.row, err));
    if (r.ways_of) r.name = at_problem_name(a, q);
    bool is_path = strpbrk(workload, "./") != NULL;
    bool of_layers = is_path && at_is_layer_file(workload);
    if (!names && !is_path) AT_TRY(find_set(workload, &set, err));
    if (!names && !of_layers)
        return at_fail(
            err, AT_E_USAGE,
            "tune needs a template: autotune tune TEMPLATE --workload %s; only a file of layers "
            "names its own: it ends in .workload or begins with a count",
            at_shell_word(a, workload));
    AT_TRY(of_layers ? at_layer_file_read(a, o, q, workload, &all, err)
           : is_path ? layers_of_log(&r)
                     : layers_of_set(&r));
    *out = all.data;
    *n = all.len;
    return AT_OK;
}
