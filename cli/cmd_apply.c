/* cli/cmd_apply.c: one configuration as a C file that anyone can compile. */
#include <ctype.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/measure.h"
#include "cli/message.h"
#include "cli/version.h"

/* conv2d_3x3_gemm_N1_H56_W56_CI64_CO64: whatever C does not allow becomes '_' or goes. */
static const char *kernel_name(at_arena *a, const at_task *task) {
    char *name = at_format(a, "%s_%s", at_task_row(task)->name, at_task_args_text(task));
    char *to = name;
    for (const char *p = name; *p; p++) {
        if (*p == '=') continue;
        *to++ = isalnum((unsigned char)*p) ? *p : '_';
    }
    *to = 0;
    return name;
}

static const char *head_text(const at_session *s, const char *from) {
    const at_record *r = s->chosen.record;
    at_text t = {0};
    at_text_add_task(&t, s);
    at_text_addf(&t, "\nwritten by autotune %s, configuration from %s:\n", AT_VERSION, from);
    at_config_print_json(&t, &s->chosen.config);
    at_text_add(&t, "\n");
    if (r && at_record_is_candidate(r)) {
        double time_s = r->final_s > 0 ? r->final_s : at_record_mean(r);
        at_text_add(&t, "measured: ");
        at_text_add_time(&t, time_s);
        at_text_addf(&t, ", %.2f GFLOP/s", s->flops / time_s * 1e-9);
        if (r->extra.present) {
            at_text_add(&t, "\n    on ");
            at_text_add_context(&t, &r->extra.context);
            at_text_add(&t, "\n");
        } else at_text_addf(&t, " for target %s\n", r->target);
    } else at_text_add(&t, "not measured\n");
    const char *head = at_strdup(s->arena, at_text_str(&t));
    at_text_free(&t);
    return head;
}

static at_status apply(at_session *s, at_text *file, const at_options *o, at_error *err) {
    at_candidate c;
    AT_TRY(at_session_open(o, s, err));
    AT_TRY(at_session_context(s, false, err));
    at_lower_options lo = at_session_lower_options(s, kernel_name(s->arena, s->task));
    AT_TRY(at_candidate_lower(s, s->arena, &s->chosen.config, &lo, &c, err));
    at_file_options fo = {
        .name = lo.name, .head = head_text(s, s->chosen.from), .with_main = o->with_main};
    AT_TRY(at_emit_file(s->arena, c.program, c.kernel, &fo, file, err));
    if (o->output) AT_TRY(at_write_file(o->output, at_text_str(file), file->len, err));
    if (!o->json) return o->output ? AT_OK : at_print(at_text_str(file), err);

    at_out out = {0};
    at_out_begin(&out, NULL, '{');
    at_out_task(&out, s);
    at_out_config(&out, &s->chosen.config);
    at_out_string(&out, "name", lo.name);
    at_out_string(&out, "output", o->output);
    at_out_string(&out, "code", o->output ? NULL : at_text_str(file));
    at_out_end(&out, '}');
    return at_out_print(&out, err);
}

at_status at_cmd_apply(const at_options *o, at_error *err) {
    at_session s = {0};
    at_text file = {0};
    at_status status = apply(&s, &file, o, err);
    at_text_free(&file);
    at_session_close(&s);
    return status;
}
