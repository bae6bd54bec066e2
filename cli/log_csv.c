/* cli/log_csv.c: a log for spreadsheets, trial by trial, while it is read. */
#include "cli/json_out.h"
#include "cli/log_view.h"

#include <string.h>

#include "view/view.h"

/* As RFC 4180 has it: quoted where something would end the field, quotes doubled. */
static void add_field(at_text *out, const char *value) {
    if (out->len && out->data[out->len - 1] != '\n') at_text_add(out, ",");
    if (!value[strcspn(value, ",\"\r\n")]) {
        at_text_add(out, value);
        return;
    }
    at_text_add(out, "\"");
    for (; *value; value++) {
        if (*value == '"') at_text_add(out, "\"");
        at_text_addn(out, value, 1);
    }
    at_text_add(out, "\"");
}

static void add_number(at_text *out, at_text *value, double x, bool known) {
    at_text_clear(value);
    if (known) at_text_add_double(value, x);
    add_field(out, at_text_str(value));
}

static void add_row(at_text *out, at_text *value, const at_record *r) {
    const at_extra *e = &r->extra;
    at_text_clear(value);
    at_text_addf(value, "%lld", (long long)r->line);
    at_text_addn(out, value->data, value->len);
    add_field(out, r->task);
    at_text_clear(value);
    at_json_print(value, r->args);
    add_field(out, at_text_str(value));
    add_field(out, r->target);
    add_field(out, e->present ? e->context_hash : "");
    at_text_clear(value);
    at_text_addf(value, "%lld", (long long)r->config.recorded_index);
    add_field(out, at_text_str(value));
    add_field(out, r->error_no ? at_err_no_name(r->error_no) : "");
    add_field(out, e->error ? e->error : "");
    add_field(out, e->check ? e->check : "");
    add_number(out, value, at_record_mean(r), !r->error_no);
    add_number(out, value, e->gflops, e->gflops > 0);
    add_number(out, value, e->peak_gflops, e->peak_gflops > 0);
    add_number(out, value, r->all_cost_s, true);
    add_number(out, value, r->timestamp_s, true);
    at_text_clear(value);
    at_config_print_entity(value, &r->config);
    add_field(out, at_text_str(value));
    at_text_add(out, "\n");
}

at_status at_log_print_csv(const char *path, at_error *err) {
    at_log_reader *reader;
    at_text out = {0}, value = {0};
    AT_TRY(at_log_reader_open(path, at_warn, NULL, &reader, err));
    at_text_add(&out, "line,task,args,target,context_hash,index,failure,error,check,time_s,gflops,"
                      "peak_gflops,all_cost_s,timestamp,entity\n");
    at_status s = AT_OK;
    for (at_record r; s == AT_OK && at_log_reader_next(reader, &r);) {
        add_row(&out, &value, &r);
        if (out.len < 1 << 16) continue;
        s = at_print(at_text_str(&out), err);
        at_text_clear(&out);
    }
    if (s == AT_OK) s = at_print(at_text_str(&out), err);
    if (s == AT_OK) s = at_log_reader_status(reader, err);
    at_log_reader_close(reader);
    at_text_free(&value);
    at_text_free(&out);
    return s;
}
