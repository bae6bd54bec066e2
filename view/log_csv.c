/* view/log_csv.c: a log for spreadsheets, trial by trial, while it is read. */
#include <string.h>

#include "view/view.h"

/* As RFC 4180 has it: quoted where something would end the field, quotes doubled. */
void at_csv_field(at_text *out, const char *value) {
    if (out->len && out->data[out->len - 1] != '\n') at_text_add(out, ",");
    if (!value[strcspn(value, ",;\"")]) {
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

/* A text of the log, on one line; where a spreadsheet would take it for a formula, behind a '. */
static void add_words(at_text *out, at_text *value, const char *words) {
    at_text_clear(value);
    if (*words && strchr("=+-@", *words)) at_text_add(value, "'");
    at_text_add_visible(value, words);
    at_csv_field(out, at_text_str(value));
}

static void add_int(at_text *out, at_text *value, int64_t x) {
    at_text_clear(value);
    at_text_addf(value, "%lld", (long long)x);
    at_csv_field(out, at_text_str(value));
}

static void add_number(at_text *out, at_text *value, double x, bool known) {
    at_text_clear(value);
    if (known) at_text_add_double(value, x);
    at_csv_field(out, at_text_str(value));
}

void at_csv_head(at_text *out) {
    at_text_add(out, "line,task,args,target,context_hash,index,failure,error,check,time_s,gflops,"
                     "peak_gflops,all_cost_s,timestamp,entity\n");
}

void at_csv_row(at_text *out, const at_record *r) {
    const at_extra *e = &r->extra;
    at_text value = {0};
    add_int(out, &value, r->line);
    add_words(out, &value, r->task);
    at_text_clear(&value);
    at_json_print(&value, r->args);
    at_csv_field(out, at_text_str(&value));
    add_words(out, &value, r->target);
    at_csv_field(out, e->present ? e->context_hash : "");
    add_int(out, &value, r->config.recorded_index);
    bool at_least = at_record_is_at_least(r);
    at_csv_field(out, r->error_no ? at_err_no_name(r->error_no) : at_least ? "at_least" : "");
    add_words(out, &value, e->error ? e->error : "");
    add_words(out, &value, at_extra_check(e));
    add_number(out, &value, at_record_mean(r), !r->error_no && !at_least);
    add_number(out, &value, e->gflops, e->gflops > 0 && !at_least);
    add_number(out, &value, e->peak_gflops, e->peak_gflops > 0);
    add_number(out, &value, r->all_cost_s, true);
    add_number(out, &value, r->timestamp_s, true);
    at_text_clear(&value);
    at_config_print_entity(&value, &r->config);
    at_csv_field(out, at_text_str(&value));
    at_text_add(out, "\n");
    at_text_free(&value);
}

at_status at_log_print_csv(const char *path, at_error *err) {
    at_log_reader *reader;
    at_text out = {0};
    AT_TRY(at_log_reader_open(path, at_warn, NULL, &reader, err));
    at_csv_head(&out);
    at_status s = AT_OK;
    for (at_record r; s == AT_OK && at_log_reader_next(reader, &r);) {
        at_csv_row(&out, &r);
        if (out.len < 1 << 16) continue;
        s = at_print(&out, err);
        at_text_clear(&out);
    }
    if (s == AT_OK) s = at_print(&out, err);
    if (s == AT_OK) s = at_log_reader_status(reader, err);
    at_log_reader_close(reader);
    at_text_free(&out);
    return s;
}
