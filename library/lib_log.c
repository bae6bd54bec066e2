/* library/lib_log.c: logs: reading, appending, choosing. */
#include "library/library.h"

#include <stdlib.h>
#include <string.h>

struct at_lib_log {
    at_lib *lib;
    at_arena *arena;
    const char *path;
    at_record *records;
    int count;
    at_lib_record *shown; /* [count] */
};

static const char *said(at_arena *a, const char *text) { return text ? at_strdup(a, text) : ""; }

static const char *entity_of(at_arena *a, const at_config *c) {
    at_text text = {0};
    at_config_print_json(&text, c);
    return at_text_take(a, &text);
}

void at_lib_fill_record(at_arena *a, const at_record *r, at_lib_record *out) {
    const at_context *c = &r->extra.context;
    bool ours = r->extra.present, valid = !r->error_no && !at_record_is_at_least(r);
    *out = (at_lib_record){.task = said(a, r->task),
                           .args = at_json_text(a, r->args),
                           .entity = entity_of(a, &r->config),
                           .index = r->config.recorded_index,
                           .line = r->line,
                           .error_no = r->error_no,
                           .error = ours ? said(a, r->extra.error) : "",
                           .time_s = valid ? at_record_time(r) : 0,
                           .gflops = valid ? at_record_gflops(r) : 0,
                           .of_peak = valid ? at_record_of_peak(r) : 0,
                           .cpu = ours ? said(a, c->cpu) : "",
                           .isa = ours ? said(a, c->isa) : "",
                           .compiler = ours ? said(a, c->compiler) : "",
                           .packing = ours ? said(a, c->packing) : "",
                           .cache = ours ? said(a, c->cache) : "",
                           .tuner = ours ? said(a, r->extra.tuner) : "",
                           .target = said(a, r->target),
                           .threads = ours ? c->threads : 0,
                           .timestamp_s = r->timestamp_s};
}

/* ---- a log ----------------------------------------------------------------------------------- */

static void show(at_lib_log *l) {
    bool *wins = AT_NEW_ARRAY(l->arena, bool, l->count);
    l->shown = AT_NEW_ARRAY(l->arena, at_lib_record, l->count);
    at_use_counts *uses = at_use_counts_new(l->arena, true);
    at_mark_winners(l->path, l->records, l->count, at_is_usable, uses, wins);
    at_use_counts_end(uses, &(at_engine_options){.warn = at_lib_tell, .ctx = l->lib});
    for (int i = 0; i < l->count; i++) {
        at_lib_fill_record(l->arena, &l->records[i], &l->shown[i]);
        l->shown[i].is_best = wins[i];
    }
}

at_lib_log *at_lib_log_read(at_lib *lib, const char *path) {
    at_lib_state state;
    at_error err = {0};
    if (!lib) return NULL;
    if (!path) return at_lib_misuse(lib, "no log: give its path"), NULL;
    at_lib_enter(lib, &state);
    at_lib_log *l = calloc(1, sizeof *l);
    AT_NEED(l);
    l->lib = lib;
    l->arena = at_arena_new();
    l->path = at_strdup(l->arena, path);
    at_status s = at_log_read_all(l->arena, path, at_lib_tell, lib, &l->records, &l->count, &err);
    if (s == AT_OK) show(l);
    if (at_lib_code_of(lib, s, &err)) at_lib_log_free(l), l = NULL;
    at_lib_leave(lib, &state);
    return l;
}

void at_lib_log_free(at_lib_log *l) {
    if (!l) return;
    at_arena_free(l->arena);
    free(l);
}

int at_lib_log_count(const at_lib_log *l) { return l ? l->count : -1; }

static int check_number(const at_lib_log *l, int i, const void *out) {
    if (out && i >= 0 && i < l->count) return AT_LIB_OK;
    return at_lib_misuse(l->lib, "record %d of %s: it holds %d, from 0 on", i, l->path, l->count);
}

int at_lib_log_at(const at_lib_log *l, int i, at_lib_record *out) {
    if (!l) return AT_LIB_USAGE;
    if (check_number(l, i, out)) return AT_LIB_USAGE;
    *out = l->shown[i];
    return AT_LIB_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* What finals said about the record, as lines of their own. */
static at_status add_finals(at_log *log, const at_record *r, at_error *err) {
    at_status s = AT_OK;
    at_text text = {0};
    for (int i = 0; i < r->num_finals && s == AT_OK; i++) {
        const at_final_line line = {.task = r->task,
                                    .context_hash = r->extra.context_hash,
                                    .args = r->args,
                                    .index = r->config.recorded_index,
                                    .turns = r->finals[i],
                                    .config = &r->config};
        at_text_clear(&text);
        at_final_line_print(&text, &line);
        char *end = strchr(text.data, '\n');
        if (end) *end = 0;
        s = at_log_comment(log, text.data + 1, err); /* behind its '#' */
    }
    at_text_free(&text);
    return s;
}

static at_status append(const at_record *r, const char *path, at_error *err) {
    at_log *log;
    at_error late;
    AT_TRY(at_log_open(path, &log, err));
    at_status s = at_log_append(log, r, err);
    if (s == AT_OK) s = add_finals(log, r, err);
    at_status closed = at_log_close(log, s == AT_OK ? err : &late);
    return s == AT_OK ? closed : s;
}

int at_lib_log_append(at_lib_log *l, int i, const char *path) {
    at_lib_state state;
    at_error err = {0};
    if (!l) return AT_LIB_USAGE;
    if (!path) return at_lib_misuse(l->lib, "no log to append to: give its path");
    if (check_number(l, i, path)) return AT_LIB_USAGE;
    at_lib_enter(l->lib, &state);
    int code = at_lib_code_of(l->lib, append(&l->records[i], path, &err), &err);
    at_lib_leave(l->lib, &state);
    return code;
}

int at_lib_pick_best(at_lib *lib, const char *const *logs, int n, const char *output) {
    at_lib_state state;
    at_error err = {0};
    at_pick *picks;
    int num_picks;
    if (!lib) return AT_LIB_USAGE;
    bool given = logs && n > 0 && output;
    for (int i = 0; given && i < n; i++) given = logs[i] != NULL;
    if (!given) return at_lib_misuse(lib, "logs to read and one to write are needed");
    at_lib_enter(lib, &state);
    at_arena *a = at_arena_new();
    const at_engine_options o = {.warn = at_lib_tell, .ctx = lib};
    const at_pick_request q = {.logs = logs, .num_logs = n, .output = output};
    at_status s = at_pick_usable(a, &o, &q, &picks, &num_picks, &err);
    int code = at_lib_code_of(lib, s, &err);
    at_arena_free(a);
    at_lib_leave(lib, &state);
    return code;
}
