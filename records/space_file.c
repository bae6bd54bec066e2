/* records/space_file.c: a recorded space in compact form: a line of JSON that says whose space it
 * is and what its knobs are, then a line per index. docs/notes/spaces.md describes it. */
#include "records/records_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char magic[] = "{\"autotune_space\": ";
enum { FORMAT = 1, PEEK_BYTES = 1 << 16, MOST_FILE_BYTES = 1 << 30 };

/* ---- writing -------------------------------------------------------------------------------- */

static void add_knobs(at_arena *a, at_text *text, const at_space *s) {
    at_text_add(text, "[");
    for (int k = 0; k < at_space_num_knobs(s); k++) {
        const char *name = at_space_knob_name(s, k);
        at_text_add(text, k ? ", " : "");
        for (int64_t d = 0; d < at_space_knob_len(s, k); d++) {
            at_config one = {.space = s, .num_knobs = 1, .names = &name};
            const at_json *entity;
            at_text spelled = {0};
            one.entities = at_space_entity(s, k, d);
            at_config_print_entity(&spelled, &one);
            AT_ASSERT(at_json_parse(a, at_strdup(a, at_text_str(&spelled)), spelled.len, &entity,
                                    NULL) == AT_OK);
            at_text_free(&spelled);
            entity = at_json_at(entity, 0);
            if (!d) {
                at_text_add(text, "{\"name\": ");
                at_text_add_json_string(text, name);
                at_text_addf(text, ", \"kind\": \"%s\", \"values\": [",
                             at_json_at(entity, 1)->string);
            } else at_text_add(text, ", ");
            at_json_print(text, at_json_at(entity, 2));
        }
        at_text_add(text, "]}");
    }
    at_text_add(text, "]");
}

const at_json *at_space_knobs(at_arena *a, const at_space *s) {
    at_text text = {0};
    int parts = at_space_num_parts(s);
    if (!parts) add_knobs(a, &text, s);
    for (int i = 0; i < parts; i++) {
        at_text_add(&text, i ? ", {\"name\": " : "[{\"name\": ");
        at_text_add_json_string(&text, at_space_part_name(s, i));
        at_text_add(&text, ", \"knobs\": ");
        add_knobs(a, &text, at_space_part(s, i));
        at_text_add(&text, i == parts - 1 ? "}]" : "}");
    }
    const at_json *knobs;
    AT_ASSERT(at_json_parse(a, at_strdup(a, at_text_str(&text)), text.len, &knobs, NULL) == AT_OK);
    at_text_free(&text);
    return knobs;
}

/* The member that they are. */
static const char *key_of(const at_json *knobs) {
    return knobs->child && at_json_get(knobs->child, "knobs") ? "sketches" : "knobs";
}

/* "name": "2026-11-20T08:15:00Z" */
static void add_moment(at_text *out, const char *name, double seconds) {
    char text[32];
    struct tm tm;
    time_t t = (time_t)seconds;
    if (!(seconds > 0) || !gmtime_r(&t, &tm)) return;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    at_text_addf(out, ", \"%s\": \"%s\"", name, text);
}

void at_space_file_print(at_text *out, const at_space_file *f) {
    at_text_addf(out, "%s%d, \"task\": ", magic, FORMAT);
    at_text_add_json_string(out, f->task);
    at_text_add(out, ", \"args\": ");
    at_json_print(out, f->args);
    add_moment(out, "first", f->first_s);
    add_moment(out, "last", f->last_s);
    at_text_addf(out, ", \"unit\": \"ns\", \"%s\": ", key_of(f->knobs));
    at_json_print(out, f->knobs);
    if (f->extra.present) {
        at_text_add(out, ", \"autotune\": ");
        at_extra_print(out, &f->extra);
    }
    if (f->machine) {
        at_text_add(out, ", \"machine\": ");
        at_json_print(out, f->machine);
    }
    at_text_add(out, "}\n");
    for (int64_t i = 0; i < f->range; i++) {
        double time_s = f->time_s[i];
        if (time_s > 0) at_text_addf(out, "%.5g\n", time_s * 1e9);
        else if (time_s < 0) at_text_addf(out, "e%.0f\n", -time_s);
        else at_text_add(out, "-\n");
    }
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Behind the comments at the beginning. */
static const char *skip_comments(const char *text) {
    while (*text == '#') {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return text;
}

bool at_is_space_head(const char *head, size_t len) {
    return len && !strncmp(skip_comments(head), magic, sizeof magic - 1);
}

bool at_is_space_file(const char *path) {
    at_arena *a = at_arena_new();
    at_error not_read;
    char *head;
    size_t len;
    bool is = at_read_head_gunzip(a, path, PEEK_BYTES, &head, &len, &not_read) == AT_OK &&
              at_is_space_head(head, len);
    at_arena_free(a);
    return is;
}

static double read_moment(const at_json *v) {
    struct tm tm = {0};
    bool ok = v && v->kind == AT_JSON_STRING && strptime(v->string, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return ok ? (double)timegm(&tm) : 0;
}

/* The number of indices; 0: these are no knobs. */
static int64_t range_of_knobs(const at_json *knobs) {
    int64_t n = at_json_is(knobs, AT_JSON_ARRAY);
    for (const at_json *k = n ? knobs->child : NULL; k && n; k = k->next) {
        const at_json *values = at_json_get(k, "values");
        int64_t len = at_json_is(values, AT_JSON_ARRAY) ? values->count : 0;
        n = len && n <= AT_MOST_RECORDED / len ? n * len : 0;
    }
    return n;
}

static int64_t range_of(const at_space_file *f) {
    int64_t n = 0;
    if (!strcmp(key_of(f->knobs), "knobs")) return range_of_knobs(f->knobs);
    for (const at_json *part = f->knobs->child; part; part = part->next) {
        int64_t more = range_of_knobs(at_json_get(part, "knobs"));
        if (!more || more > AT_MOST_RECORDED - n) return 0;
        n += more;
    }
    return n;
}

static at_status read_header(at_arena *a, const char *line, size_t len, at_space_file *out,
                             at_error *err) {
    const at_json *h, *task, *extra;
    AT_TRY(at_json_parse(a, line, len, &h, err));
    const at_json *format = at_json_get(h, "autotune_space");
    if (!at_json_is(format, AT_JSON_NUMBER) || format->number != FORMAT)
        return at_fail(err, AT_E_INPUT, "of another format than %d", FORMAT);
    task = at_json_get(h, "task");
    out->args = at_json_get(h, "args");
    out->knobs = at_json_get(h, "knobs");
    if (!out->knobs) out->knobs = at_json_get(h, "sketches");
    if (!at_json_is(task, AT_JSON_STRING) || !at_json_is(out->args, AT_JSON_ARRAY) ||
        !at_json_is(out->knobs, AT_JSON_ARRAY))
        return at_fail(err, AT_E_INPUT,
                       "\"task\", \"args\" or \"knobs\" are not as they should be");
    out->task = task->string;
    out->range = range_of(out);
    if (!out->range)
        return at_fail(err, AT_E_INPUT,
                       "\"knobs\" are no lists of values, or of more than %d points",
                       AT_MOST_RECORDED);
    out->first_s = read_moment(at_json_get(h, "first"));
    out->last_s = read_moment(at_json_get(h, "last"));
    out->machine = at_json_get(h, "machine");
    extra = at_json_get(h, "autotune");
    return at_extra_read(a, at_json_is(extra, AT_JSON_OBJECT) ? extra : NULL, &out->extra, err);
}

/* "1234.5": nanoseconds; "e4": failed; "-": not recorded. */
static bool read_value(const char *text, size_t len, double *out) {
    char *end;
    *out = 0;
    if (len == 1 && *text == '-') return true;
    bool failed = *text == 'e';
    double v = strtod(text + failed, &end);
    if (!len || end != text + len || !(v > 0) || !isfinite(v) || text[failed] < '0') return false;
    *out = failed ? -v : v * 1e-9;
    return true;
}

at_status at_space_file_read(at_arena *a, const char *path, at_space_file *out, at_error *err) {
    char *text;
    size_t size;
    *out = (at_space_file){0};
    AT_TRY(at_read_file_gunzip(a, path, MOST_FILE_BYTES, &text, &size, err));
    const char *at = skip_comments(text);
    size_t len = strcspn(at, "\n");
    int64_t line = 1;
    for (const char *c = text; c < at; c++) line += *c == '\n';
    if (read_header(a, at, len, out, err) != AT_OK)
        return at_fail_at(err, "%s:%lld: recorded space: ", path, (long long)line);
    out->time_s = AT_NEW_ARRAY(a, double, out->range);
    for (int64_t i = 0; i < out->range; i++) {
        at += len + (at[len] == '\n');
        len = strcspn(at, "\n");
        line++;
        if (!read_value(at, len, &out->time_s[i]))
            return at_fail(err, AT_E_INPUT,
                           "%s:%lld: \"%.*s\" is no time, e and an error number, or -", path,
                           (long long)line, (int)(len < 40 ? len : 40), at);
    }
    at += len + (at[len] == '\n');
    if (*at)
        return at_fail(err, AT_E_INPUT, "%s:%lld: beyond the space of %lld points", path,
                       (long long)line + 1, (long long)out->range);
    return AT_OK;
}
