/* cli/apply_kernel.c: see apply_kernel.h. */
#include "cli/apply_kernel.h"

#include "cli/describe.h"
#include "view/view.h"

const char *at_apply_name(at_arena *a, at_task *task, const char *suffix) {
    return at_c_name(
        a, at_format(a, "%s_%s%s", at_task_row(task)->name, at_task_short_args(a, task), suffix));
}

const char *at_apply_head(const at_session *s, const char *from) {
    const at_record *r = s->what.chosen.record;
    at_text t = {0};
    at_text_add_task(&t, s);
    at_text_addf(&t, "\nwritten by autotune %s, configuration from ", AT_VERSION);
    at_text_add_visible(&t, from);
    at_text_add(&t, ":\n");
    at_config_print_json(&t, &s->what.chosen.config);
    at_text_add(&t, "\n");
    if (r && at_record_is_candidate(r)) {
        double time_s = at_record_time(r);
        at_text_add(&t, "measured: ");
        at_text_add_time(&t, time_s);
        at_text_addf(&t, ", %.2f %s", s->what.work / time_s * 1e-9,
                     at_unit_of_speed(s->what.in_bytes));
        if (r->extra.present) {
            at_text_add(&t, "\n    on ");
            at_text_add_context(&t, &r->extra.context);
            at_text_add(&t, "\n");
        } else {
            at_text_add(&t, " for target ");
            at_text_add_visible(&t, r->target);
            at_text_add(&t, "\n");
        }
        at_text_add_accuracy(&t, &r->extra.accuracy);
    } else at_text_add(&t, "not measured\n");
    return at_text_take(s->arena, &t);
}

at_status at_apply_make(at_session *s, const char *name, at_file_kernel *out, at_error *err) {
    at_candidate c;
    at_config own;
    const at_task *task = at_task_of_config(s->what.task, &s->what.chosen.config, &own);
    const at_compute *compute = at_task_compute(task);
    const int **layouts = AT_NEW_ARRAY(s->arena, const int *, compute->num_tensors);
    at_general *general = AT_NEW(s->arena, at_general);
    const at_selection *chosen = &s->what.chosen;
    int64_t *plain;
    at_program *written;
    at_error why;
    AT_TRY(at_session_context(s, false, err));
    at_lower_options lo =
        at_session_lower_options(s, name ? name : at_apply_name(s->arena, s->what.task, ""));
    AT_TRY(at_candidate_lower(s, s->arena, &s->what.chosen.config, &lo, &c, err));
    if (s->foreign)
        AT_TRY(at_foreign_file_kernel(s->arena, s->what.task, c.program, &s->what.chosen.config,
                                      lo.name, &c.kernel, err));
    for (int t = 0; t < compute->num_tensors; t++) layouts[t] = at_task_layout(task, t);
    at_task_general(s->arena, chosen->layer ? chosen->layer : task, general);
    if (at_task_plain_values(s->arena, task, &plain, &why) != AT_OK)
        return at_fail(err, AT_E_INPUT, "%s: no size without blocks: %s", lo.name, why.text);
    AT_TRY(at_task_written(s->arena, s->what.task, compute, &written, err));
    *out = (at_file_kernel){.program = c.program,
                            .written = written,
                            .kernel = c.kernel,
                            .threads = s->how.threads,
                            .name = lo.name,
                            .head = at_apply_head(s, s->what.chosen.from),
                            .flops = s->what.flops,
                            .executed = at_executed_flops(s, s->arena, c.kernel->lowered),
                            .pattern = at_session_file_pattern(s),
                            .plain_values = plain,
                            .layouts = layouts,
                            .tensor_names = chosen->tensor_names,
                            .weight_order = chosen->weight_order,
                            .ordered_weight = chosen->ordered_weight,
                            .general = general};
    return AT_OK;
}

at_status at_apply_write(at_arena *a, const at_options *o, at_text *source, const at_text *header,
                         at_error *err) {
    at_output_rules rules = at_rules_of_output(o);
    const char *path = at_header_path(a, o->output);
    at_output *files[2] = {0};
    if (!o->output) return o->json ? AT_OK : at_print(source, err);
    at_status s = at_output_open(o->output, &rules, &files[0], err);
    if (s == AT_OK) s = at_output_add(files[0], at_text_str(source), source->len, err);
    if (s == AT_OK && path) {
        rules.is_derived = true;
        s = at_output_open(path, &rules, &files[1], err);
        if (s == AT_OK) s = at_output_add(files[1], at_text_str(header), header->len, err);
    }
    if (s == AT_OK) s = at_output_commit(files, path ? 2 : 1, err);
    for (int i = 0; i < 2; i++) at_output_close(files[i]);
    return s;
}

at_status at_apply_emit(at_arena *a, const at_options *o, const at_file_kernel *kernels, int n,
                        const char *head, at_text *source, at_error *err) {
    const char *path = at_header_path(a, o->output);
    at_text header = {0};
    if (o->output && at_is_foreign_ending(o->output))
        return at_fail(err, AT_E_USAGE, "-o %s: what is written is C; name a file that ends in .c",
                       o->output);
    at_file_options fo = {.head = head,
                          .source = path ? at_base_name(o->output) : NULL,
                          .header = path ? at_base_name(path) : NULL,
                          .with_main = o->with_main,
                          .abi = o->abi,
                          .fallback = o->fallback};
    at_status s = at_emit_file(a, kernels, n, &fo, source, &header, err);
    if (s == AT_OK) s = at_apply_write(a, o, source, &header, err);
    at_text_free(&header);
    return s;
}

void at_apply_out_files(at_arena *a, at_out *out, const at_options *o, const at_text *source) {
    at_out_string(out, "output", o->output);
    at_out_string(out, "header", at_header_path(a, o->output));
    at_out_string(out, "code", o->output ? NULL : at_text_str(source));
}
