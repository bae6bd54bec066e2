/* cli/workload.c: from a set of layers and a template to tasks. */
#include "cli/workload.h"

#include <string.h>

#include "engine/engine.h"

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

static void add_layer(at_arena *a, const at_options *o, const at_workload *set, int fit,
                      const char *args, int count, at_layer_list *out) {
    int n = fits[fit].is_sparse && !o->request.sparsity ? set->num_sparsities : 0;
    for (int i = 0; i < (n ? n : 1); i++) {
        at_options *task = at_push(a, out);
        *task = *o;
        task->request.args = args;
        task->count = count;
        if (n) task->request.sparsity = set->sparsities[i];
    }
}

typedef struct new_tasks {
    const at_template_row *row;
    at_key_map seen;
    at_text key;
} new_tasks;

/* The first record of each task of the template. */
static bool is_new(void *ctx, const at_record *r) {
    new_tasks *t = ctx;
    const at_template_row *of;
    if (at_template_find(r->task, &of, NULL) != AT_OK || of != t->row) return false;
    at_text_clear(&t->key);
    at_workload_identity(&t->key, &(at_record){.task = of->name, .args = r->args});
    int known = t->seen.keys.len;
    return at_key_map_add(&t->seen, at_text_str(&t->key)) == known;
}

/* The tasks of the template that a log holds records of, in their order. */
static at_status tasks_of_log(at_arena *a, const at_options *o, const at_template_row *row,
                              at_layer_list *out, at_error *err) {
    at_record *records;
    int n;
    /* Of its own: the records' is rewound where one is not wanted. */
    at_arena *seen = at_arena_new();
    new_tasks new = {.row = row, .seen.arena = seen};
    at_status s =
        at_log_read_wanted(a, o->workload, is_new, &new, at_warn, NULL, &records, &n, err);
    at_text_free(&new.key);
    at_arena_free(seen);
    AT_TRY(s);
    for (int i = 0; i < n; i++) {
        const at_record *r = &records[i];
        at_options *task = at_push(a, out);
        *task = *o;
        task->request.args = at_json_text(a, r->args);
        task->count = 1;
    }
    return out->len ? AT_OK
                    : at_fail(err, AT_E_INPUT, "--workload %s: holds no record of %s", o->workload,
                              row->name);
}

static at_status tasks_of_named(at_arena *a, const at_options *o, const at_template_row *row,
                                at_layer_list *out, at_error *err) {
    const at_workload *set = NULL;
    int fit = 0, num_fits = sizeof fits / sizeof *fits;
    AT_TRY(find_set(o->workload, &set, err));
    const char *name = at_template_base(row)->name;
    while (fit < num_fits && strcmp(fits[fit].name, name) != 0) fit++;
    at_error why = {0};
    for (int i = 0; i < set->num_layers && fit < num_fits; i++) {
        const char *args = fits[fit].args(a, &set->layers[i]);
        if (args && at_weight_fits(a, &o->request, row, args, &why))
            add_layer(a, o, set, fit, args, set->layers[i].count, out);
    }
    if (out->len) return AT_OK;
    return at_fail(err, AT_E_USAGE, "--workload %s: holds no layer for %s%s%s%s", set->name,
                   row->name, why.text[0] ? " (" : "", why.text, why.text[0] ? ")" : "");
}

at_status at_workload_tasks(at_arena *a, const at_options *o, const at_template_row *row,
                            at_options **tasks, int *num_tasks, at_error *err) {
    at_layer_list all = {0};
    const at_workload *set;
    if (o->request.args)
        return at_fail(err, AT_E_USAGE, "give one of --workload and --args, not both");
    if (o->request.weight)
        return at_fail(err, AT_E_USAGE, "--weight is for one task; --workload has several");
    bool is_path = strpbrk(o->workload, "./") != NULL;
    bool of_layers = is_path && at_is_layer_file(o->workload);
    if (!row && !is_path) AT_TRY(find_set(o->workload, &set, err));
    if (!row && !of_layers)
        return at_fail(
            err, AT_E_USAGE,
            "tune needs a template: autotune tune TEMPLATE --workload %s; only a file of layers "
            "names its own: it ends in .workload or begins with a count",
            o->workload);
    AT_TRY(of_layers ? at_layer_file_read(a, o, row, &all, err)
           : is_path ? tasks_of_log(a, o, row, &all, err)
                     : tasks_of_named(a, o, row, &all, err));
    for (int i = 0; i < all.len; i++) all.data[i].task = i + 1, all.data[i].num_tasks = all.len;
    *tasks = all.data;
    *num_tasks = all.len;
    return AT_OK;
}
