/* records/convert.c: which of the formats a file is in, and all of its records. */
#include "records/exchange.h"

#include <string.h>

/* A log's first line is a comment or one whole record; the other files are one object. NULL: no
 * format says that this one is of its own. */
static const at_file_format *format_of(const at_json *file) {
    const at_file_format *f;
    for (int i = 1; file->kind == AT_JSON_OBJECT && (f = at_file_format_at(i)); i++)
        if (f->is(file)) return f;
    return NULL;
}

static at_status parse(at_arena *a, const char *text, size_t len, const at_file_format **format,
                       const at_json **file, at_error *err) {
    at_error why;
    *format = NULL;
    if (strlen(text) != len) return AT_OK;
    const at_status s = at_json_parse(a, text, len, file, &why);
    if (s == AT_OK) *format = format_of(*file);
    const at_file_format *f;
    for (int i = 1; s != AT_OK && (f = at_file_format_at(i)); i++)
        if (f->parse_torn && f->parse_torn(a, text, len, file) == AT_OK) *format = f;
    if (s == AT_OK || *format || !(f = at_file_format_of_head(text, len))) return AT_OK;
    return at_fail(err, AT_E_INPUT, "a %s with a fault: %s", f->kind, why.text);
}

/* "dir/a100_conv_T4.json.gz": a100_conv_T4. */
static const char *name_of(at_arena *a, const char *path) {
    const char *name = at_base_name(path);
    return at_strndup(a, name, strcspn(name, "."));
}

static at_status read_log(const at_exchange *x, const char *path, at_record **records, int *n,
                          at_error *err) {
    at_log_stats stats;
    AT_TRY(
        at_log_read_wanted(x->arena, path, NULL, NULL, x->warn, x->ctx, records, n, &stats, err));
    const int64_t lost = stats.comments - stats.texts; /* who prints tells of texts */
    if (!lost || !x->loss) return AT_OK;
    at_text t = {0};
    at_text_addf(&t, "lost: comments, finals among them (%lld line%s)", (long long)lost,
                 at_plural(lost));
    x->loss(x->ctx, at_text_str(&t));
    at_text_free(&t);
    return AT_OK;
}

/* Files of other tuners are one JSON object, which is read at once. */
enum { HEAD_BYTES = (1 << 20) + 1, MOST_FILE_BYTES = 64 << 20 };

at_status at_is_exchange_file(const char *path, bool *may, at_error *err) {
    at_arena *scratch = at_arena_new();
    char *head;
    size_t len;
    at_record unused;
    at_status s = at_read_head_gunzip(scratch, path, HEAD_BYTES, &head, &len, err);
    *may = false;
    if (s == AT_OK && strlen(head) == len) {
        const char *start = head + strspn(head, " \t\r\n");
        size_t line = strcspn(head, "\n");
        *may = *start == '{' && strncmp(start, "{\"i", 3) != 0 &&
               at_record_parse(scratch, head, line, &unused, NULL) != AT_OK;
    }
    at_arena_free(scratch);
    return s;
}

at_status at_exchange_read(const at_exchange *x, const char *path, const at_file_format **format,
                           at_record **records, int *n, at_error *err) {
    char *text;
    size_t len;
    const at_json *file = NULL;
    bool may;
    at_mark mark = at_arena_mark(x->arena);
    AT_TRY(at_is_exchange_file(path, &may, err));
    if (may) AT_TRY(at_read_file_gunzip(x->arena, path, MOST_FILE_BYTES, &text, &len, err));
    *format = NULL;
    if (may && parse(x->arena, text, len, format, &file, err) != AT_OK)
        return at_fail_at(err, "%s: ", path);
    if (!*format) {
        at_arena_rewind(x->arena, mark);
        *format = at_file_format_at(0);
        return read_log(x, path, records, n, err);
    }
    at_status s = (*format)->read(x, file, name_of(x->arena, path), records, n, err);
    return s != AT_OK && err ? at_fail_at(err, "%s: ", path) : s;
}

static bool same_parameters(const at_config *x, const at_config *y) {
    if (x->num_knobs != y->num_knobs) return false;
    for (int k = 0; k < x->num_knobs; k++)
        if (strcmp(x->names[k], y->names[k]) || x->entities[k].kind != y->entities[k].kind ||
            x->entities[k].n != y->entities[k].n)
            return false;
    return true;
}

/* Parameters are members of an object: each name once, and none that means something else there. */
static at_status check_names(const at_exchange *x, const at_file_format *format, const at_record *r,
                             at_error *err) {
    at_params p = {0};
    at_params_from_config(x, r, &p);
    for (int i = 0; i < p.of.len; i++) {
        const char *name = p.of.data[i].name;
        for (int k = 0; k < i; k++)
            if (!strcmp(name, p.of.data[k].name))
                return at_fail(err, AT_E_INPUT, "parameter %s occurs twice", name);
        for (const char *const *taken = format->taken; taken && *taken; taken++)
            if (!strcmp(name, *taken))
                return at_fail(err, AT_E_INPUT, "parameter %s: a %s means something else by it",
                               name, format->kind);
    }
    return AT_OK;
}

/* Bounds have no place there, and are no times: they become what took too long. */
static const at_record *without_bounds(const at_exchange *x, const at_record *records, int n) {
    int64_t bounds = 0, pairs = 0;
    at_record *all = at_copy(x->arena, records, sizeof *records * (size_t)n);
    for (int i = 0; i < n; i++) {
        pairs += records[i].extra.pairs.of_first > 0;
        if (!at_record_is_at_least(&records[i])) continue;
        at_record_fail(&all[i], AT_ERR_RUN_TIMEOUT);
        all[i].extra.gflops = 0;
        bounds++;
    }
    at_tell_loss(x, bounds, "that the time is a bound (at_least), written as a timeout");
    at_tell_loss(x, pairs, "pairs");
    return all;
}

/* Each text once, before the first record that needs it. */
static void print_log(const at_exchange *x, const at_record *records, int n, at_text *out) {
    at_key_map seen = {.arena = x->arena};
    for (int i = 0; i < n; i++) {
        const int before = seen.keys.len;
        const char *text = x->text_of ? x->text_of(x->arena, &records[i]) : NULL;
        if (text && at_key_map_add(&seen, text) == before) at_text_addf(out, "#%s\n", text);
        at_record_print(out, &records[i]);
    }
}

at_status at_exchange_print(const at_exchange *x, const at_file_format *format,
                            const at_record *records, int n, at_text *out, at_error *err) {
    if (!n) return at_fail(err, AT_E_INPUT, "there are no records to convert");
    if (!format->print) {
        print_log(x, records, n, out);
        return AT_OK;
    }
    for (int i = 1; i < n; i++) {
        if (!at_same_task(records[i].task, records[i].args, records[0].task, records[0].args) ||
            strcmp(records[i].target, records[0].target))
            return at_fail(err, AT_E_INPUT,
                           "line %lld is of another target or task than the first record; such a "
                           "file holds one: autotune log --split makes a log of each",
                           (long long)records[i].line);
        if (!same_parameters(&records[i].config, &records[0].config))
            return at_fail(err, AT_E_INPUT,
                           "line %lld has other parameters than the first record; such a file "
                           "holds one space: autotune pick_best first leaves the best record of "
                           "each task",
                           (long long)records[i].line);
    }
    AT_TRY(check_names(x, format, records, err));
    format->print(x, without_bounds(x, records, n), n, out);
    return AT_OK;
}
