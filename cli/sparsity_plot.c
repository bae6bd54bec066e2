/* cli/sparsity_plot.c: see sparsity_plot.h. */
#include "cli/sparsity_plot.h"

#include <string.h>

#include "cli/json_out.h"
#include "cli/outputs.h"
#include "view/sparsity.h"

/* The best of each task and context, layer by layer; those without a sparse weight are left out. */
static at_status read_sparsities(const at_options *o, at_arena *a, at_sparse_panels *out,
                                 at_error *err) {
    at_pick *picks;
    int n;
    at_sparse_panels all = {0};
    at_engine_options all_versions = o->engine;
    all_versions.accept_changed = true;
    const at_pick_request q = {.logs = o->operands, .num_logs = o->num_operands};
    AT_TRY(at_pick_usable(a, &all_versions, &q, &picks, &n, err));
    for (int i = 0; i < n; i++) {
        const at_record *r = &picks[i].record;
        const char *title;
        const at_task *task;
        at_bsr b;
        if (!at_operator_layer(a, r, &title, &task)) continue;
        at_sparse_point point = {-1, at_record_time(r)};
        bool sparse = at_task_bsr(task, &b);
        if (sparse) point.sparsity = 1 - (double)b.nnz / (double)(b.rows * b.columns);
        if (o->only && !strstr(title, o->only)) continue;
        at_sparse_panels_add(a, &all, title,
                             sparse ? at_format(a, "%lldx%lld", (long long)b.r, (long long)b.c)
                                    : at_template_base(at_task_row(task))->name,
                             !sparse, point);
    }
    for (int i = 0; i < all.of.len; i++) {
        bool any = false;
        for (int k = 0; k < all.of.data[i].lines.len; k++)
            any |= !all.of.data[i].lines.data[k].is_dense;
        if (any) *at_push(a, &out->of) = all.of.data[i];
    }
    if (out->of.len) return AT_OK;
    return at_fail(
        err, AT_E_NO_VALID,
        "%s: no valid record with a sparse weight; autotune conv2d --sparsity 0.8 writes "
        "some",
        o->operands[0]);
}

static at_status print_sparsities_json(const at_sparse_panels *p, const at_options *o,
                                       at_error *err) {
    at_out out = at_out_object();
    at_out_begin(&out, "tasks", '[');
    for (int i = 0; i < p->of.len; i++) {
        const at_sparse_panel *panel = &p->of.data[i];
        const at_sparse_line *dense = at_sparse_panel_dense(panel);
        at_out_begin(&out, NULL, '{');
        at_out_string(&out, "layer", panel->title);
        at_out_begin(&out, "lines", '[');
        for (int k = 0; k < panel->lines.len; k++) {
            const at_sparse_line *l = &panel->lines.data[k];
            double from =
                dense && !l->is_dense ? at_sparse_line_below(l, dense->points.data[0].time_s) : -1;
            at_out_begin(&out, NULL, '{');
            at_out_string(&out, "label", l->label);
            at_out_bool(&out, "dense", l->is_dense);
            if (from < 0) at_out_string(&out, "faster_from", NULL);
            else at_out_double(&out, "faster_from", from);
            at_out_begin(&out, "points", '[');
            for (int n = 0; n < l->points.len; n++) {
                at_out_begin(&out, NULL, '{');
                if (l->is_dense) at_out_string(&out, "sparsity", NULL);
                else at_out_double(&out, "sparsity", l->points.data[n].sparsity);
                at_out_double(&out, "time_ns", l->points.data[n].time_s * 1e9);
                at_out_end(&out, '}');
            }
            at_out_end(&out, ']');
            at_out_end(&out, '}');
        }
        at_out_end(&out, ']');
        at_out_end(&out, '}');
    }
    at_out_end(&out, ']');
    at_out_string(&out, "output", o->output);
    return at_out_print(&out, err);
}

at_status at_plot_sparsities(const at_options *o, at_arena *a, at_error *err) {
    at_sparse_panels panels = {0};
    at_text text = {0};
    AT_TRY(read_sparsities(o, a, &panels, err));
    if (o->output) {
        at_output_rules rules = at_rules_of_output(o);
        AT_TRY(at_sparsity_file(&panels, o->output, &rules, err));
    }
    if (o->json) return print_sparsities_json(&panels, o, err);
    if (o->output) return AT_OK;
    at_sparsity_text(&text, a, &panels);
    return at_print(&text, err);
}
