/* view/log_csv.c: a log for spreadsheets, trial by trial, while it is read. */
#include <string.h>
#include <sys/stat.h>

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

void at_csv_head(at_text *out, const at_key_map *knobs) {
    at_text value = {0};
    at_text_add(out, "line,task,args,target,context_hash,index,failure,error,check,time_s,gflops,"
                     "peak_gflops,all_cost_s,timestamp,entity");
    for (int i = 0; knobs && i < knobs->keys.len; i++) add_words(out, &value, knobs->keys.data[i]);
    at_text_add(out, "\n");
    at_text_free(&value);
}

/* 16, "nmk", [2, 4]; an empty cell where the record has no such knob. */
static void add_knob(at_text *out, at_text *value, const at_config *c, const char *name) {
    for (int k = 0; k < c->num_knobs; k++) {
        const at_entity *e = &c->entities[k];
        if (strcmp(c->names[k], name) != 0) continue;
        if (e->kind == AT_KNOB_OPTION && e->option->kind == AT_JSON_STRING) {
            add_words(out, value, e->option->string);
            return;
        }
        at_csv_field(out, at_knob_text(value, e));
        return;
    }
    at_csv_field(out, "");
}

void at_csv_row(at_text *out, const at_record *r, const at_key_map *knobs) {
    const at_extra *e = &r->extra;
    at_text value = {0};
    add_int(out, &value, r->line);
    add_words(out, &value, r->task);
    at_text_clear(&value);
    at_json_print(&value, r->args);
    at_csv_field(out, at_text_str(&value));
    add_words(out, &value, r->target);
    at_csv_field(out, e->present ? e->context_hash : "");
    if (r->config.recorded_index < 0) at_csv_field(out, "");
    else add_int(out, &value, r->config.recorded_index);
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
    for (int i = 0; knobs && i < knobs->keys.len; i++)
        add_knob(out, &value, &r->config, knobs->keys.data[i]);
    at_text_add(out, "\n");
    at_text_free(&value);
}

/* The names of all records' knobs, as they come. A pipe can be read once only: then there are none.
 */
static at_status find_knobs(const char *path, at_key_map *out, at_error *err) {
    enum { MOST = 256 };
    struct stat info;
    at_log_reader *reader;
    if (stat(path, &info) || !S_ISREG(info.st_mode)) return AT_OK;
    AT_TRY(at_log_reader_open(path, NULL, NULL, &reader, err));
    for (at_record r; at_log_reader_next(reader, &r);)
        for (int k = 0; k < r.config.num_knobs && out->keys.len < MOST; k++)
            at_key_map_add(out, r.config.names[k]);
    at_log_reader_close(reader);
    return AT_OK;
}

static at_status print_rows(at_log_reader *reader, const at_key_map *knobs, at_error *err) {
    at_text out = {0};
    at_status s = AT_OK;
    at_csv_head(&out, knobs);
    for (at_record r; s == AT_OK && at_log_reader_next(reader, &r);) {
        at_csv_row(&out, &r, knobs);
        if (out.len < 1 << 16) continue;
        s = at_print(&out, err);
    }
    if (s == AT_OK) s = at_print(&out, err);
    at_text_free(&out);
    return s == AT_OK ? at_log_reader_status(reader, err) : s;
}

at_status at_log_print_csv(const char *path, at_error *err) {
    at_log_reader *reader;
    at_key_map knobs = {.arena = at_arena_new()};
    at_status s = find_knobs(path, &knobs, err);
    if (s == AT_OK) s = at_log_reader_open(path, at_warn, NULL, &reader, err);
    if (s == AT_OK) {
        s = print_rows(reader, &knobs, err);
        at_log_reader_close(reader);
    }
    at_arena_free(knobs.arena);
    return s;
}
