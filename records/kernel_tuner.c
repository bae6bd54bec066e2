/* records/kernel_tuner.c: Kernel Tuner's cache files.
 * Source: KernelTuner/kernel_tuner, kernel_tuner/util.py (process_cache, store_cache). */
#include "records/exchange.h"

#include <string.h>

/* What stands in the place of the time. There is none for a wrong result. */
static const struct {
    int error_no;
    const char *name;
} failures[] = {{AT_ERR_INSTANTIATION, "InvalidConfig"},
                {AT_ERR_COMPILE_HOST, "CompilationFailedConfig"},
                {AT_ERR_RUNTIME, "RuntimeFailedConfig"},
                {AT_ERR_UNKNOWN, "ErrorConfig"},
                {AT_ERR_COMPILE_DEVICE, "CompilationFailedConfig"},
                {AT_ERR_BUILD_TIMEOUT, "CompilationFailedConfig"},
                {AT_ERR_RUN_TIMEOUT, "RuntimeFailedConfig"},
                {AT_ERR_WRONG_ANSWER, "ErrorConfig"}};
enum { NUM_FAILURES = sizeof failures / sizeof *failures };

static const char *failure_name(int error_no) {
    for (int i = 0; i < NUM_FAILURES; i++)
        if (failures[i].error_no == error_no) return failures[i].name;
    return "ErrorConfig";
}

/* The first row of a name. */
static int failure_number(const char *name) {
    for (int i = 0; i < NUM_FAILURES; i++)
        if (!strcmp(failures[i].name, name)) return failures[i].error_no;
    return -1;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* As Python's str: 1, 0.5, True, text. */
static void add_key_part(at_text *out, const at_json *v) {
    if (v->kind == AT_JSON_STRING) at_text_add(out, v->string);
    else if (v->kind == AT_JSON_BOOL) at_text_add(out, v->boolean ? "True" : "False");
    else if (v->kind == AT_JSON_NULL) at_text_add(out, "None");
    else at_json_print(out, v);
}

typedef struct entry {
    const at_record *record;
    at_params params;
} entry;

/* One entry per configuration, the best. */
typedef struct entries {
    at_key_map keys;
    AT_VEC(entry) of;
    int64_t dropped;
} entries;

static bool is_better(const at_record *x, const at_record *y) {
    if (!x->error_no != !y->error_no) return !x->error_no;
    return !x->error_no && at_record_mean(x) < at_record_mean(y);
}

static void collect(const at_exchange *x, const at_record *records, int n, entries *out) {
    at_text key = {0};
    out->keys.arena = x->arena;
    for (int i = 0; i < n; i++) {
        entry e = {.record = &records[i]};
        at_params_from_config(x, e.record, &e.params);
        at_text_clear(&key);
        for (int k = 0; k < e.params.of.len; k++) {
            if (k) at_text_add(&key, ",");
            add_key_part(&key, e.params.of.data[k].value);
        }
        int at = at_key_map_add(&out->keys, at_text_str(&key));
        if (at == out->of.len) {
            *at_push(x->arena, &out->of) = e;
            continue;
        }
        out->dropped++;
        if (is_better(e.record, out->of.data[at].record)) out->of.data[at] = e;
    }
    at_text_free(&key);
}

/* The values of each parameter, in order of appearance. */
static void add_tune_params(const at_exchange *x, at_text *out, const entries *all) {
    const at_params *first = &all->of.data[0].params;
    at_text text = {0};
    at_text_add(out, "\"tune_params_keys\": [");
    for (int k = 0; k < first->of.len; k++) {
        if (k) at_text_add(out, ", ");
        at_text_add_json_string(out, first->of.data[k].name);
    }
    at_text_add(out, "], \"tune_params\": {");
    for (int k = 0; k < first->of.len; k++) {
        at_key_map seen = {.arena = x->arena};
        at_text_add(out, k ? ", " : "");
        at_text_add_json_string(out, first->of.data[k].name);
        at_text_add(out, ": [");
        for (int i = 0; i < all->of.len; i++) {
            at_text_clear(&text);
            at_json_print(&text, all->of.data[i].params.of.data[k].value);
            int known = seen.keys.len;
            if (at_key_map_add(&seen, at_text_str(&text)) < known) continue;
            at_text_addf(out, "%s%s", known ? ", " : "", at_text_str(&text));
        }
        at_text_add(out, "]");
    }
    at_text_add(out, "}");
    at_text_free(&text);
}

static void add_entry(at_text *out, const char *key, const entry *e) {
    const at_record *r = e->record;
    at_text_add_json_string(out, key);
    at_text_add(out, ": {");
    for (int k = 0; k < e->params.of.len; k++) {
        at_text_add_json_string(out, e->params.of.data[k].name);
        at_text_add(out, ": ");
        at_json_print(out, e->params.of.data[k].value);
        at_text_add(out, ", ");
    }
    at_text_add(out, "\"time\": ");
    if (r->error_no) at_text_add_json_string(out, failure_name(r->error_no));
    else {
        at_text_add_double(out, at_milliseconds(at_record_mean(r)));
        at_text_add(out, ", \"times\": ");
        at_add_times_ms(out, r);
    }
    at_text_add(out, ", \"compile_time\": 0, \"verification_time\": 0, \"benchmark_time\": ");
    at_text_add_double(out, at_milliseconds(r->all_cost_s));
    at_text_add(out, ", \"strategy_time\": 0, \"framework_time\": 0, \"timestamp\": \"");
    at_text_add_moment(out, r->timestamp_s);
    at_text_add(out, "\"}");
}

static void tell_losses(const at_exchange *x, const at_record *records, int n, const entries *all) {
    int64_t wrong = 0, timeout = 0, numbers = 0, ours = 0;
    for (int i = 0; i < n; i++) {
        int e = records[i].error_no;
        wrong += e == AT_ERR_WRONG_ANSWER;
        timeout += e == AT_ERR_RUN_TIMEOUT;
        numbers += e == AT_ERR_COMPILE_DEVICE || e == AT_ERR_BUILD_TIMEOUT || e > AT_ERR_UNKNOWN;
        ours += records[i].extra.present;
    }
    at_tell_common_losses(x, records, n);
    if (x->text_of && x->text_of(x->arena, &records[0]))
        at_tell_loss(x, n, "the text of the computation");
    at_tell_loss(x, ours, "context, check, gflops and peak_gflops");
    at_tell_loss(x, wrong, "that the result is wrong; it becomes ErrorConfig");
    at_tell_loss(x, timeout, "that time ran out; it becomes RuntimeFailedConfig");
    at_tell_loss(x, numbers, "error numbers 3, 6 and above 8");
    at_tell_loss(x, all->dropped,
                 "results of a configuration measured more than once, but the "
                 "best");
}

static void print(const at_exchange *x, const at_record *records, int n, at_text *out) {
    entries all = {0};
    at_text name = {0};
    collect(x, records, n, &all);
    at_text_add(out, "{\n\"device_name\": ");
    at_text_add_json_string(out, records->target);
    /* Kernel Tuner goes on only where the name is the same: so the arguments belong to it. */
    at_text_addf(&name, "%s ", records->task);
    at_json_print(&name, records->args);
    at_text_add(out, ",\n\"kernel_name\": ");
    at_text_add_json_string(out, at_text_str(&name));
    at_text_free(&name);
    at_text_add(out, ",\n");
    add_tune_params(x, out, &all);
    at_text_add(out, ",\n\"objective\": \"time\",\n\"cache\": {");
    for (int i = 0; i < all.of.len; i++) {
        at_text_add(out, i ? ",\n" : "\n");
        add_entry(out, all.keys.keys.data[i], &all.of.data[i]);
    }
    at_text_add(out, "}\n}\n");
    tell_losses(x, records, n, &all);
}

/* ---- reading -------------------------------------------------------------------------------- */

static at_status parse_closed(at_arena *a, const char *text, size_t len, const at_json **out) {
    const char *whole = at_format(a, "%.*s}}", (int)len, text);
    AT_TRY(at_json_parse(a, whole, len + 2, out, NULL));
    return at_json_get(*out, "cache") ? AT_OK : AT_E_INPUT;
}

/* A run that was interrupted lacks the last braces, and may end in a comma, or in the middle of an
 * entry, which is left out. */
static at_status parse_torn(at_arena *a, const char *text, size_t len, const at_json **out) {
    while (len && strchr(" \t\r\n", text[len - 1])) len--;
    if (len && text[len - 1] == ',') len--;
    if (len >= INT32_MAX) return AT_E_INPUT;
    if (parse_closed(a, text, len, out) == AT_OK) return AT_OK;
    while (len && !(text[len - 1] == '}' && text[len] == ',' && strchr("\r\n", text[len + 1])))
        len--;
    return len ? parse_closed(a, text, len, out) : AT_E_INPUT;
}

/* "conv2d [1, 56, 56]" is ours; other names have the problem size for arguments. */
static void read_name(at_arena *a, const at_json *file, at_record *r) {
    const at_json *name = at_json_get(file, "kernel_name"), *args = NULL;
    const at_json *size = at_json_get(file, "problem_size");
    const char *text = at_json_string_or(name, "kernel");
    const char *bracket = strstr(text, " [");
    r->task = text;
    r->args = at_json_new(a, AT_JSON_ARRAY);
    if (bracket && at_json_parse(a, bracket + 1, strlen(bracket + 1), &args, NULL) == AT_OK &&
        at_json_is(args, AT_JSON_ARRAY)) {
        r->task = at_strndup(a, text, (size_t)(bracket - text));
        r->args = args;
    } else if (at_json_is(size, AT_JSON_ARRAY)) {
        r->args = size;
    } else if (at_json_is(size, AT_JSON_NUMBER)) {
        at_json *one = at_json_new(a, AT_JSON_ARRAY);
        at_json_append(a, one, NULL, size);
        r->args = one;
    }
}

static double sum_of(const at_json *v) {
    static const char *const names[] = {"compile_time", "verification_time", "benchmark_time",
                                        "strategy_time", "framework_time"};
    double sum = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) sum += at_json_number_in(v, names[i]);
    return sum;
}

static at_status read_times(at_arena *a, const at_json *v, at_record *r, at_error *err) {
    const at_json *time = at_json_get(v, "time"), *times = at_json_get(v, "times");
    int number = at_json_is(time, AT_JSON_STRING) ? failure_number(time->string) : 0;
    if (number < 0)
        return at_fail(err, AT_E_INPUT, "unknown failure \"%s\" in the place of the time",
                       time->string);
    if (number) {
        at_record_fail(r, number);
        return AT_OK;
    }
    if (!at_json_is(time, AT_JSON_NUMBER)) return at_fail(err, AT_E_INPUT, "no number \"time\"");
    bool list = at_json_is(times, AT_JSON_ARRAY) && times->count;
    double *s = AT_NEW_ARRAY(a, double, list ? times->count : 1);
    s[0] = time->number / 1e3;
    r->num_costs = 1;
    r->costs_s = s;
    if (!list) return AT_OK;
    r->num_costs = 0;
    for (const at_json *t = times->child; t; t = t->next) {
        if (t->kind != AT_JSON_NUMBER) return at_fail(err, AT_E_INPUT, "a time is no number");
        s[r->num_costs++] = t->number / 1e3;
    }
    return AT_OK;
}

static at_status read_entry(at_arena *a, const at_json *names, const at_json *v, at_record *r,
                            at_params *params, at_error *err) {
    for (const at_json *name = names->child; name; name = name->next) {
        const char *text = at_json_string_or(name, NULL);
        const at_json *value = text ? at_json_get(v, text) : NULL;
        if (!value)
            return at_fail(err, AT_E_INPUT, "no parameter %s", text ? text : "of that name");
        *at_push(a, &params->of) = (at_param){text, value};
    }
    AT_TRY(read_times(a, v, r, err));
    const at_json *moment = at_json_get(v, "timestamp");
    r->all_cost_s = sum_of(v) / 1e3;
    if (at_json_is(moment, AT_JSON_STRING)) at_parse_moment(moment->string, &r->timestamp_s);
    return AT_OK;
}

/* Other members of entries are metrics that the user named. */
static void tell_read_losses(const at_exchange *x, const at_json *file, const at_json *cache,
                             int parameters) {
    static const char *const known[] = {
        "time",           "times",         "compile_time",   "verification_time",
        "benchmark_time", "strategy_time", "framework_time", "timestamp"};
    int64_t others = 0, parts = 0;
    for (const at_json *v = cache->child; v; v = v->next) {
        int expected = parameters;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            expected += at_json_get(v, known[i]) != NULL;
        others += v->count > expected;
        parts += at_json_number_in(v, "compile_time") > 0;
    }
    const at_json *objective = at_json_get(file, "objective");
    at_tell_loss(x, parts, "the parts of the time that a trial took; their sum is kept");
    at_tell_loss(x, others, "metrics other than the time");
    if (strcmp(at_json_string_or(objective, "time"), "time"))
        at_tell_loss(x, cache->count, "the objective, which is not the time");
    at_tell_loss(x, cache->count, "the values that parameters may have");
}

static at_status read_file(const at_exchange *x, const at_json *file, const char *unused,
                           at_record **records, int *n, at_error *err) {
    (void)unused; /* a cache names its kernel */
    at_arena *a = x->arena;
    const at_json *device = at_json_get(file, "device_name"), *cache = at_json_get(file, "cache");
    const at_json *names = at_json_get(file, "tune_params_keys");
    if (!at_json_is(cache, AT_JSON_OBJECT)) return at_fail(err, AT_E_INPUT, "no object \"cache\"");
    if (!at_json_is(names, AT_JSON_ARRAY))
        return at_fail(err, AT_E_INPUT, "no array \"tune_params_keys\"");
    at_record first = {.target = at_tvm_target_of_device(a, at_json_string_or(device, ""))};
    AT_TRY(at_extra_read(a, NULL, &first.extra, err));
    read_name(a, file, &first);
    AT_TRY(at_read_entries(a, cache, &first, read_entry, names, records, err));
    tell_read_losses(x, file, cache, names->count);
    *n = cache->count;
    return AT_OK;
}

static bool begins(const char *head, size_t len) {
    (void)len;
    return *head == '{' && strstr(head, "\"device_name\"");
}

static bool is_cache(const at_json *file) { return at_json_get(file, "cache") != NULL; }

/* Members of a configuration that are no parameters. */
static const char *const taken[] = {"time",           "times",          "timestamp",
                                    "compile_time",   "strategy_time",  "verification_time",
                                    "benchmark_time", "framework_time", NULL};

const at_file_format at_kernel_tuner_format = {.name = "kernel_tuner",
                                               .help = "cache",
                                               .kind = "cache of Kernel Tuner",
                                               .begins = begins,
                                               .is = is_cache,
                                               .taken = taken,
                                               .parse_torn = parse_torn,
                                               .read = read_file,
                                               .print = print};
