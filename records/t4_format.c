/* records/t4_format.c: results in the FAIR auto-tuning format T4, schema 1.0.0.
 * Source: KernelTuner/kernel_tuner, kernel_tuner/schema/T4/1.0.0 and file_utils.py. */
#include "records/exchange.h"

#include <string.h>

/* ---- writing -------------------------------------------------------------------------------- */

static const char *invalidity_of(int error_no) {
    switch (error_no) {
    case AT_ERR_NONE: return "correct";
    case AT_ERR_INSTANTIATION: return "constraints";
    case AT_ERR_COMPILE_HOST:
    case AT_ERR_COMPILE_DEVICE:
    case AT_ERR_BUILD_TIMEOUT: return "compile";
    case AT_ERR_WRONG_ANSWER: return "correctness";
    case AT_ERR_RUN_TIMEOUT: return "timeout";
    default: return "runtime";
    }
}

static void add_times(at_text *out, const at_record *r) {
    /* AutoTVM has one time for all; the names of the schema and of Kernel Tuner's writer. */
    at_text_add(out, "{\"compilation_time\": 0, \"compilation\": 0, \"framework\": 0, "
                     "\"search_algorithm\": 0, \"validation\": 0, \"benchmark\": ");
    at_text_add_double(out, at_milliseconds(r->all_cost_s));
    at_text_add(out, ", \"runtimes\": ");
    if (r->error_no) at_text_add(out, "[]");
    else at_add_times_ms(out, r);
    at_text_add(out, "}");
}

static void add_measurement(at_text *out, const char *name, double value, const char *unit) {
    if (out->data[out->len - 1] != '[') at_text_add(out, ", ");
    at_text_addf(out, "{\"name\": \"%s\", \"value\": ", name);
    at_text_add_double(out, value);
    at_text_addf(out, ", \"unit\": \"%s\"}", unit);
}

static void add_result(const at_exchange *x, at_text *out, const at_record *r) {
    at_params params = {0};
    at_params_from_config(x, r, &params);
    at_text_add(out, "{\"timestamp\": \"");
    at_text_add_moment(out, r->timestamp_s);
    at_text_add(out, "\", \"configuration\": {");
    for (int i = 0; i < params.of.len; i++) {
        if (i) at_text_add(out, ", ");
        at_text_add_json_string(out, params.of.data[i].name);
        at_text_add(out, ": ");
        at_json_print(out, params.of.data[i].value);
    }
    at_text_add(out, "}, \"times\": ");
    add_times(out, r);
    at_text_addf(out, ", \"invalidity\": \"%s\", \"correctness\": %d, \"measurements\": [",
                 invalidity_of(r->error_no), r->error_no ? 0 : 1);
    if (!r->error_no) add_measurement(out, "time", at_milliseconds(at_record_mean(r)), "ms");
    if (r->extra.gflops > 0) add_measurement(out, "gflops", r->extra.gflops, "GFLOP/s");
    if (r->extra.peak_gflops > 0)
        add_measurement(out, "peak_gflops", r->extra.peak_gflops, "GFLOP/s");
    at_text_add(out, "], \"objectives\": [\"time\"]}");
}

static void print(const at_exchange *x, const at_record *records, int n, at_text *out) {
    const at_record *first = &records[0];
    at_text_add(out, "{\"schema_version\": \"1.0.0\", \"metadata\": {\"timeunit\": "
                     "\"milliseconds\", \"autotune\": {\"task\": ");
    at_text_add_json_string(out, first->task);
    at_text_add(out, ", \"args\": ");
    at_json_print(out, first->args);
    at_text_add(out, ", \"target\": ");
    at_text_add_json_string(out, first->target);
    if (first->extra.present) {
        at_extra extra = {.present = true, .context = first->extra.context, .same_as = -1};
        memcpy(extra.context_hash, first->extra.context_hash, sizeof extra.context_hash);
        at_text_add(out, ", \"extra\": ");
        at_extra_print(out, &extra);
    }
    const char *text = x->text_of ? x->text_of(x->arena, first) : NULL;
    if (text) at_text_addf(out, ", \"te\": %s", text + strlen("te "));
    at_text_add(out, "}}, \"results\": [");
    int64_t numbers = 0, tolerance = 0;
    for (int i = 0; i < n; i++) {
        int e = records[i].error_no;
        numbers +=
            e == AT_ERR_COMPILE_DEVICE || e == AT_ERR_BUILD_TIMEOUT || e > AT_ERR_RUN_TIMEOUT;
        tolerance += records[i].extra.check == AT_CHECK_TOLERANCE;
        at_text_add(out, i ? ",\n" : "\n");
        add_result(x, out, &records[i]);
    }
    at_text_add(out, "\n]}\n");
    at_tell_common_losses(x, records, n);
    at_tell_loss(x, numbers, "error numbers 3, 6 and above 7, which become 2 or 4");
    at_tell_loss(x, tolerance, "that the check was within a tolerance");
}

/* ---- reading -------------------------------------------------------------------------------- */

static double measurement(const at_json *result, const char *name) {
    const at_json *all = at_json_get(result, "measurements");
    for (const at_json *m = all ? all->child : NULL; m; m = m->next)
        if (!strcmp(at_json_string_or(at_json_get(m, "name"), ""), name))
            return at_json_number_in(m, "value");
    return 0;
}

static at_status read_invalidity(const at_json *result, int *error_no, at_error *err) {
    static const struct {
        const char *name;
        int error_no;
    } names[] = {{"correct", AT_ERR_NONE},
                 {"constraints", AT_ERR_INSTANTIATION},
                 {"compile", AT_ERR_COMPILE_HOST},
                 {"runtime", AT_ERR_RUNTIME},
                 {"correctness", AT_ERR_WRONG_ANSWER},
                 {"timeout", AT_ERR_RUN_TIMEOUT}};
    const char *name = at_json_string_in(result, "invalidity");
    if (!name) return at_fail(err, AT_E_INPUT, "no text \"invalidity\"");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i].name)) {
            *error_no = names[i].error_no;
            return AT_OK;
        }
    return at_fail(err, AT_E_INPUT,
                   "invalidity \"%s\"; there are timeout, compile, runtime, correctness, "
                   "constraints, correct",
                   name);
}

static at_status read_runtimes(at_arena *a, const at_json *result, at_record *r, at_error *err) {
    const at_json *list = at_json_get(at_json_get(result, "times"), "runtimes");
    double time_ms = measurement(result, "time");
    int n = at_json_is(list, AT_JSON_ARRAY) ? list->count : 0;
    double *s = AT_NEW_ARRAY(a, double, n + 1);
    n = 0;
    for (const at_json *v = at_json_is(list, AT_JSON_ARRAY) ? list->child : NULL; v; v = v->next) {
        if (v->kind != AT_JSON_NUMBER) return at_fail(err, AT_E_INPUT, "a runtime is no number");
        s[n++] = v->number / 1e3;
    }
    if (!n && time_ms > 0) s[n++] = time_ms / 1e3;
    if (!n) return at_fail(err, AT_E_INPUT, "neither \"runtimes\" nor a measurement \"time\"");
    r->costs_s = s;
    r->num_costs = n;
    if (!r->extra.present) return AT_OK;
    r->extra.samples_s = s;
    r->extra.num_samples = n;
    r->costs_s = at_costs_of_samples(a, r->extra.samples_s, r->extra.num_samples, &r->num_costs);
    return AT_OK;
}

static at_status read_result(at_arena *a, const at_json *unused, const at_json *result,
                             at_record *r, at_params *params, at_error *err) {
    (void)unused;
    const at_json *configuration = at_json_get(result, "configuration");
    const at_json *times = at_json_get(result, "times");
    if (!at_json_is(configuration, AT_JSON_OBJECT) || !at_json_is(times, AT_JSON_OBJECT))
        return at_fail(err, AT_E_INPUT, "no objects \"configuration\" and \"times\"");
    for (const at_json *v = configuration->child; v; v = v->next)
        *at_push(a, &params->of) = (at_param){v->key, v};
    int error_no = 0;
    AT_TRY(read_invalidity(result, &error_no, err));
    if (error_no) at_record_fail(r, error_no);
    else AT_TRY(read_runtimes(a, result, r, err));
    const char *compilation =
        at_json_get(times, "compilation_time") ? "compilation_time" : "compilation";
    r->all_cost_s =
        (at_json_number_in(times, compilation) + at_json_number_in(times, "framework") +
         at_json_number_in(times, "search_algorithm") + at_json_number_in(times, "validation") +
         at_json_number_in(times, "benchmark")) /
        1e3;
    at_parse_moment(at_json_string_or(at_json_get(result, "timestamp"), ""), &r->timestamp_s);
    if (!r->extra.present) return AT_OK;
    r->extra.gflops = measurement(result, "gflops");
    r->extra.peak_gflops = measurement(result, "peak_gflops");
    r->extra.check = !error_no                         ? AT_CHECK_EXACT
                     : error_no == AT_ERR_WRONG_ANSWER ? AT_CHECK_FAILED
                                                       : AT_CHECK_UNCHECKED;
    return AT_OK;
}

static void tell_losses(const at_exchange *x, const at_json *results, bool ours) {
    int64_t times = 0, measurements = 0, objectives = 0, correctness = 0;
    for (const at_json *v = results->child; v; v = v->next) {
        const at_json *m = at_json_get(v, "measurements"), *o = at_json_get(v, "objectives");
        const char *objective = at_json_string_or(at_json_at(o, 0), "time");
        double right = at_json_number_in(v, "correctness");
        int known = (measurement(v, "time") > 0) + (ours && measurement(v, "gflops") > 0) +
                    (ours && measurement(v, "peak_gflops") > 0);
        times += at_json_number_in(at_json_get(v, "times"), "compilation_time") +
                     at_json_number_in(at_json_get(v, "times"), "compilation") >
                 0;
        measurements += m && m->count > known;
        objectives += strcmp(objective, "time") != 0;
        correctness += right != 0 && right != 1;
    }
    at_tell_loss(x, times, "the parts of the time that a trial took; their sum is kept");
    at_tell_loss(x, measurements, "measurements other than the time");
    at_tell_loss(x, objectives, "objectives other than the time");
    at_tell_loss(x, correctness, "correctness other than 0 and 1");
}

/* The computation that the records are of; NULL: the file brings none. */
static at_status read_text(const at_exchange *x, const at_json *te, at_error *err) {
    const char *name = at_json_string_in(te, "name"), *text = at_json_string_in(te, "text");
    if (!te || !x->take_text) return AT_OK;
    if (!name || !text)
        return at_fail(err, AT_E_INPUT, "metadata: \"te\" has no texts \"name\" and \"text\"");
    return x->take_text(name, text, err) == AT_OK ? AT_OK : at_fail_at(err, "metadata: \"te\": ");
}

static at_status read_file(const at_exchange *x, const at_json *file, const char *name,
                           at_record **records, int *n, at_error *err) {
    at_arena *a = x->arena;
    const char *version = at_json_string_or(at_json_get(file, "schema_version"), "none");
    const at_json *results = at_json_get(file, "results");
    if (strcmp(version, "1.0.0"))
        return at_fail(err, AT_E_INPUT, "schema_version %s of T4 is not read; 1.0.0 is", version);
    if (!at_json_is(results, AT_JSON_ARRAY))
        return at_fail(err, AT_E_INPUT, "no array \"results\"");
    const at_json *ours = at_json_get(at_json_get(file, "metadata"), "autotune");
    const at_json *args = at_json_get(ours, "args"), *extra = at_json_get(ours, "extra");
    AT_TRY(read_text(x, at_json_get(ours, "te"), err));
    at_record first = {.task = at_json_string_or(at_json_get(ours, "task"), name),
                       .target = at_json_string_or(at_json_get(ours, "target"), "ext_dev"),
                       .args =
                           at_json_is(args, AT_JSON_ARRAY) ? args : at_json_new(a, AT_JSON_ARRAY)};
    AT_TRY(at_extra_read(a, at_json_is(extra, AT_JSON_OBJECT) ? extra : NULL, &first.extra, err));
    AT_TRY(at_read_entries(a, results, &first, read_result, NULL, records, err));
    tell_losses(x, results, first.extra.present);
    *n = results->count;
    return AT_OK;
}

static bool begins(const char *head, size_t len) {
    (void)len;
    return *head == '{' && strstr(head, "\"schema_version\"");
}

static bool is_t4(const at_json *file) { return at_json_get(file, "schema_version") != NULL; }

const at_file_format at_t4_format = {.name = "t4",
                                     .help = "results, schema 1.0.0",
                                     .kind = "T4 file",
                                     .begins = begins,
                                     .is = is_t4,
                                     .read = read_file,
                                     .print = print};
