/* cli/cmd_pick_best.c: the best record of every task and context of some logs, as a log. */
#include "cli/commands.h"
#include "cli/json_out.h"
#include "cli/message.h"
#include "records/records.h"

static at_status print_json(const at_options *o, const at_pick *picks, int count, at_error *err) {
    at_out out = {0};
    at_text value = {0};
    at_out_begin(&out, NULL, '{');
    at_out_begin(&out, "picked", '[');
    for (int i = 0; i < count; i++) {
        const at_record *r = &picks[i].record;
        at_out_begin(&out, NULL, '{');
        at_out_string(&out, "task", r->task);
        at_text_clear(&value);
        at_json_print(&value, r->args);
        at_out_raw(&out, "args", at_text_str(&value));
        at_out_string(&out, "context_hash", r->extra.present ? r->extra.context_hash : NULL);
        at_out_int(&out, "index", r->config.recorded_index);
        at_text_clear(&value);
        at_config_print_entity(&value, &r->config);
        at_out_raw(&out, "entity", at_text_str(&value));
        at_out_double(&out, "time_ns", at_record_mean(r) * 1e9);
        if (r->extra.present) at_out_double(&out, "gflops", r->extra.gflops);
        else at_out_string(&out, "gflops", NULL);
        at_out_int(&out, "considered", picks[i].considered);
        at_out_string(&out, "source", picks[i].source);
        at_out_int(&out, "line", r->line);
        at_out_end(&out, '}');
    }
    at_out_end(&out, ']');
    at_out_string(&out, "output", o->output);
    at_out_end(&out, '}');
    at_text_free(&value);
    return at_out_print(&out, err);
}

/* With an output file a summary, else the records themselves. */
static at_status print_text(const at_options *o, const at_pick *picks, int count, at_error *err) {
    at_text out = {0};
    for (int i = 0; i < count; i++) {
        const at_record *r = &picks[i].record;
        if (!o->output) {
            at_record_print(&out, r);
            continue;
        }
        at_text_addf(&out, "%s ", r->task);
        at_json_print(&out, r->args);
        at_text_addf(&out, "  index %lld  ", (long long)r->config.recorded_index);
        at_text_add_time(&out, at_record_mean(r));
        if (r->extra.present) at_text_addf(&out, "  %.2f GFLOP/s", r->extra.gflops);
        at_text_addf(&out, "  best of %lld (%s:%lld)\n", (long long)picks[i].considered,
                     picks[i].source, (long long)r->line);
    }
    if (o->output)
        at_text_addf(&out, "%d record%s written to %s\n", count, count == 1 ? "" : "s", o->output);
    at_status status = at_print(at_text_str(&out), err);
    at_text_free(&out);
    return status;
}

at_status at_cmd_pick_best(const at_options *o, at_error *err) {
    at_arena *a = at_arena_new();
    at_pick *picks;
    int count;
    at_status status = at_pick_best(a, o->operands, o->num_operands, o->output, o->compat, at_warn,
                                    NULL, &picks, &count, err);
    if (status == AT_OK)
        status = o->json ? print_json(o, picks, count, err) : print_text(o, picks, count, err);
    at_arena_free(a);
    return status;
}
