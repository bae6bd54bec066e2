/* engine/task/operator.c: which operator is meant, its ways, and the layer of a task; see
 * operator.h. */
#include "engine/task/operator_table.h"

#include <string.h>

const char *at_operator_name(const at_operator *p) { return p->name; }
const char *at_operator_help(const at_operator *p) { return p->help; }

bool at_operator_is_sparse(const at_operator *p) { return p->is_sparse; }

const char *at_operator_way(const at_operator *p, int i) {
    return i < AT_MOST_WAYS ? p->ways[i].template_name : NULL;
}

/* ---- which operator -------------------------------------------------------------------------- */

static const at_operator *find(const char *name) {
    size_t n = strcspn(name, "+");
    const at_operator *p;
    for (int i = 0; (p = at_operator_at(i)); i++)
        if (strlen(p->name) == n && !strncmp(p->name, name, n)) return p;
    return NULL;
}

/* Whether --args gives this one. A record's array gives all. */
static bool gives(const char *args, const char *name) {
    size_t n = strlen(name);
    if (!args) return false;
    for (const char *at = args; at; at = strchr(at, ',')) {
        at += strspn(at, ", ");
        if (*at == '[' && at == args) return true;
        if (!strncmp(at, name, n) && at[n + strspn(at + n, " ")] == '=') return true;
    }
    return false;
}

const char *at_operator_open_args(const char *template_name) {
    const at_operator *p = find(template_name);
    return p && p->is_template ? "m and points" : NULL;
}

const at_operator *at_operator_find(const at_request *q) {
    const at_template_row *row; /* of that name, built in or in a file of the user's */
    const char *name = q->template_name, *args = q->args;
    const at_operator *p = q->row || !name ? NULL : find(name);
    if (!p || at_template_find(name, &row, NULL) != AT_OK) return p;
    bool asked = p->is_template ? !gives(args, "m") || !gives(args, "points")
                                : q->all_ways || q->sparsity || q->block;
    return asked && !at_template_file(at_template_base(row)) ? p : NULL;
}

/* ---- its ways -------------------------------------------------------------------------------- */

static const char *stages_of(const char *name) { return name + strcspn(name, "+"); }

at_status at_operator_way_row(at_arena *a, const at_request *q, const char *template_name,
                              const at_template_row **out, at_error *err) {
    const char *stages = stages_of(q->template_name);
    AT_TRY(at_template_find(at_format(a, "%s%s", template_name, stages), out, err));
    return q->fuse ? at_template_fuse(*out, q->fuse, ",", out, err) : AT_OK;
}

/* What a way is asked for. A weight that the tool makes is sparse for the sparse ways only: no time
 * of a dense one hangs on what it holds. */
static at_request request_of(const at_request *of, const at_way *w, const at_template_row *row,
                             const char *args, const at_input *weight, const at_weight_form *form) {
    at_request q = *of;
    q.row = row;
    q.template_name = row->name;
    q.fuse = NULL;
    q.all_ways = false;
    q.args = args;
    q.weight_file = weight;
    q.form = *form;
    q.form.outputs_first = w->outputs_first;
    if (!w->block) q.sparsity = q.block = NULL;
    else if (!q.block) q.block = w->block;
    return q;
}

/* The weight of the user's, read once for all ways; NULL: there is none. *zeros: something in it
 * is 0. */
static at_status read_weight(at_arena *a, const at_request *q, const at_weight_form *form,
                             const at_input **out, bool *zeros, at_error *err) {
    at_input *file = AT_NEW(a, at_input), in;
    *out = NULL;
    *zeros = false;
    if (!q->weight) return AT_OK;
    AT_TRY(at_weight_read(a, q->weight, file, err));
    AT_TRY(at_weight_in_form(a, q->weight, file, form, &in, err));
    *zeros = at_weight_form_zeros(form, &in) > 0;
    *out = file;
    return AT_OK;
}

/* Errors of large tiles exceed smaller limits; kernels of 6x6 and 7x7 have no others. */
static bool is_tried(const at_engine_options *o, const at_request *q, const at_operator *p,
                     const at_task *t, const at_way *w) {
    bool small = w->side < 8 || at_task_arg(t, "KH") > 5,
         given = p->is_template && gives(q->args, "m");
    if (given && w->side != at_task_arg(t, "m") + at_task_arg(t, "KH") - 1) return false;
    if (p->is_template && gives(q->args, "points") && w->points != at_task_arg(t, "points"))
        return false;
    if (q->all_ways) return true;
    double from = small ? 0 : at_task_arg(t, "KH") == 3 ? 2e-5 : 4e-5;
    return given || (!w->rarely && from <= at_accuracy_limit(o));
}

/* The task that --args is of. Of a template with open arguments, with one of those that go with
 * the others. */
static at_status base_task(at_arena *a, const at_request *q, const at_operator *p,
                           const at_template_row *row, at_task **out, at_error *err) {
    static const char *const rest[] = {"m=2", "m=3"};
    const char *args = q->args;
    at_status status = at_task_new(a, row, args, out, err);
    for (int i = 0; status != AT_OK && p->is_template && !gives(args, "m") && i < 2; i++)
        if (at_task_new(a, row, args ? at_format(a, "%s,%s", args, rest[i]) : rest[i], out, NULL) ==
            AT_OK)
            return AT_OK;
    return status;
}

at_status at_operator_ways(at_arena *a, const at_engine_options *o, const at_request *asked_for,
                           const at_operator *p, const at_request **ways, int *num_ways,
                           at_error *err) {
    const at_template_row *row;
    at_task *task;
    at_error why;
    AT_VEC(at_request) all = {0};
    const at_input *weight;
    const bool asked = p->is_sparse || asked_for->sparsity || asked_for->block;
    bool zeros, one_block = false, any_sparse = false;
    AT_TRY(at_operator_way_row(a, asked_for, p->ways[0].template_name, &row, err));
    AT_TRY(base_task(a, asked_for, p, row, &task, err));
    const at_weight_form form = p->form(task);
    AT_TRY(read_weight(a, asked_for, &form, &weight, &zeros, err));
    const bool is_sparse = asked || zeros; /* ways with a sparse weight compete */
    for (int i = 0; i < AT_MOST_WAYS && p->ways[i].template_name; i++) {
        const at_way *w = &p->ways[i];
        const char *args = w->side ? at_way_winograd(a, p, task, w) : w->args(a, task);
        if (!args || (w->block && (!is_sparse || one_block)) || !is_tried(o, asked_for, p, task, w))
            continue;
        AT_TRY(at_operator_way_row(a, asked_for, w->template_name, &row, err));
        at_request q = request_of(asked_for, w, row, args, weight, &form);
        one_block |= w->block && asked_for->block;
        if (w->block && !asked_for->block && !at_weight_fits(a, &q, row, args, &why)) continue;
        any_sparse |= w->block != NULL;
        *at_push(a, &all) = q;
    }
    if (asked && !any_sparse)
        return at_fail(err, AT_E_USAGE,
                       "%s: no template with a sparse weight has these arguments; "
                       "spconv2d_nhwc, spconv2d_3x3_gemm and sparse_dense are the ones there are",
                       asked_for->template_name);
    *ways = all.data;
    *num_ways = all.len;
    return AT_OK;
}

/* ---- records --------------------------------------------------------------------------------- */

/* A task's layer, as the first template of p has it, without stages. */
static bool layer_by(at_arena *a, const at_operator *p, at_way_args *args, const at_task *task,
                     const at_task **layer) {
    const at_template_row *row;
    at_task *first;
    const char *given = args ? args(a, task) : NULL;
    if (!given || at_template_find(p->ways[0].template_name, &row, NULL) != AT_OK ||
        at_task_new(a, row, given, &first, NULL) != AT_OK)
        return false;
    *layer = first;
    return true;
}

static bool is_way(const at_way *w, const at_task *task) {
    return !strcmp(w->template_name, at_template_base(at_task_row(task))->name);
}

static bool find_layer(at_arena *a, const at_task *task, bool sparse_too, const char **name,
                       const at_task **layer) {
    for (int i = 0; i < at_operator_count(); i++) {
        const at_operator *p = at_operator_at(i);
        for (int k = 0; k < AT_MOST_WAYS && p->ways[k].template_name; k++) {
            const at_way *w = &p->ways[k];
            if ((w->block && !sparse_too) || !is_way(w, task) ||
                !layer_by(a, p, w->back, task, layer))
                continue;
            *name = at_format(a, "%s%s", p->name, stages_of(at_task_row(task)->name));
            return true;
        }
    }
    return false;
}

bool at_operator_of_task(at_arena *a, const at_task *task, const char **name,
                         const at_task **layer) {
    return find_layer(a, task, false, name, layer);
}

bool at_operator_of_record(at_arena *a, const at_record *r, const char **name,
                           const at_json **args) {
    const at_task *layer;
    at_task *task;
    if (at_task_of_record(a, r->task, r->args, &task, NULL) != AT_OK ||
        !find_layer(a, task, false, name, &layer))
        return false;
    *args = at_task_args(layer);
    return true;
}

bool at_operator_layer(at_arena *a, const at_record *r, const char **layer, const at_task **task) {
    const at_task *first;
    at_task *of;
    const char *name;
    if (at_task_of_record(a, r->task, r->args, &of, NULL) != AT_OK ||
        !find_layer(a, of, true, &name, &first))
        return false;
    *layer = at_format(a, "%s %s", name, at_task_args_text(first));
    *task = of;
    return true;
}

/* ---- one operator ---------------------------------------------------------------------------- */

bool at_operator_layer_of(at_arena *a, const char *name, const at_task *task,
                          const at_task **layer) {
    const at_operator *p = find(name);
    const at_template_row *row;
    for (int k = 0; p && k < AT_MOST_WAYS && p->ways[k].template_name; k++) {
        const at_way *w = &p->ways[k];
        if (w->block || !is_way(w, task)) continue;
        if (at_template_find(at_format(a, "%s%s", w->template_name, stages_of(name)), &row, NULL) ==
                AT_OK &&
            row == at_task_row(task) && layer_by(a, p, w->own ? w->own : w->back, task, layer))
            return true;
    }
    return false;
}

const int *at_operator_weight_order(const char *name, const at_task *task, int *tensor) {
    static const int outputs_last[] = {1, 0}, outputs_first[] = {3, 0, 1, 2};
    const at_operator *p = find(name);
    const at_compute *c = at_task_compute(task);
    const at_way *w = p ? p->ways : NULL;
    while (w && w->template_name && !is_way(w, task)) w++;
    *tensor = 0;
    while (*tensor < c->num_tensors && c->tensors[*tensor].role != AT_ROLE_WEIGHT) ++*tensor;
    if (!w || !w->template_name || w->outputs_first == p->ways->outputs_first) return NULL;
    return w->outputs_first ? outputs_last : outputs_first;
}
