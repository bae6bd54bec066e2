/* What AutoTVM's own reader demands of a log, and how its writer spells one, against logs written
 * here. The reader below knows nothing of records/. */
#include "tests/records/picks.h"
#include "tests/records/support.h"

#include <string.h>

/* ---- a reader as strict as AutoTVM ----------------------------------------------------------- */

static bool is(const at_json *v, at_json_kind kind) { return v && v->kind == kind; }

static bool all_of(const at_json *array, at_json_kind kind) {
    for (const at_json *v = array->child; v; v = v->next)
        if (v->kind != kind) return false;
    return true;
}

static const char *entity_fault(const at_json *triple) {
    const at_json *kind = at_json_at(triple, 1), *value = at_json_at(triple, 2);
    if (!is(triple, AT_JSON_ARRAY) || triple->count != 3) return "no triple";
    if (!is(at_json_at(triple, 0), AT_JSON_STRING) || !is(kind, AT_JSON_STRING)) return "no name";
    if (!strcmp(kind->string, "sp") || !strcmp(kind->string, "re"))
        return is(value, AT_JSON_ARRAY) && all_of(value, AT_JSON_NUMBER) ? NULL : "no integers";
    if (!strcmp(kind->string, "an"))
        return is(value, AT_JSON_ARRAY) &&
                       (all_of(value, AT_JSON_STRING) || all_of(value, AT_JSON_NUMBER))
                   ? NULL
                   : "no marks";
    return strcmp(kind->string, "ot") ? "Invalid config knob type" : NULL;
}

/* NULL: a record or a comment. */
static const char *fault(at_arena *a, const char *line, size_t len) {
    const at_json *row;
    if (len && line[0] == '#') return NULL;
    if (at_json_parse(a, line, len, &row, NULL) != AT_OK) return "JSONDecodeError";
    if (row->kind != AT_JSON_OBJECT) return "no object";
    const at_json *input = at_json_get(row, "input"), *config = at_json_get(row, "config");
    const at_json *result = at_json_get(row, "result");
    if (!is(input, AT_JSON_ARRAY) || input->count != 4) return "input";
    if (!is(at_json_at(input, 0), AT_JSON_STRING) || !is(at_json_at(input, 1), AT_JSON_STRING) ||
        !is(at_json_at(input, 2), AT_JSON_ARRAY) || !is(at_json_at(input, 3), AT_JSON_OBJECT))
        return "parts of input";
    if (at_json_at(input, 3)->count) return "kwargs";
    const at_json *index = at_json_get(config, "index"), *entity = at_json_get(config, "entity");
    const at_json *code_hash = at_json_get(config, "code_hash");
    if (!index || !index->is_int || !code_hash || !is(entity, AT_JSON_ARRAY)) return "config";
    for (const at_json *triple = entity->child; triple; triple = triple->next)
        if (entity_fault(triple)) return entity_fault(triple);
    if (!is(result, AT_JSON_ARRAY) || result->count != 4) return "result";
    const at_json *costs = at_json_at(result, 0), *error_no = at_json_at(result, 1);
    if (!is(costs, AT_JSON_ARRAY) || !costs->count || !all_of(costs, AT_JSON_NUMBER))
        return "costs";
    if (!error_no->is_int || error_no->integer < 0 || error_no->integer > 8) return "error_no";
    if (error_no->integer && (costs->count != 1 || costs->child->number != 1e9)) return "failure";
    if (!is(at_json_at(result, 2), AT_JSON_NUMBER) || !is(at_json_at(result, 3), AT_JSON_NUMBER))
        return "times";
    const at_json *version = at_json_get(row, "version");
    if (!version || version->number != 0.2) return "version";
    if (!is(at_json_get(row, "tvm_version"), AT_JSON_STRING)) return "tvm_version";
    /* Members in AutoTVM's order, ours last; spelled as Python spells them. */
    static const char *const order[] = {"input",   "config",      "result",
                                        "version", "tvm_version", "autotune"};
    int i = 0;
    for (const at_json *v = row->child; v; v = v->next)
        if (i == 6 || strcmp(v->key, order[i++]) != 0) return "order";
    at_text again = {0};
    at_json_print(&again, row);
    bool same = again.len == len && !memcmp(again.data, line, len);
    at_text_free(&again);
    return same ? NULL : "spelling";
}

static void expect_readable(at_arena *a, const char *name, int records, int comments) {
    char *text = get_file(a, name);
    assert_non_null(text);
    int line = 1;
    for (char *end; *text; text = end + 1, line++) {
        end = strchr(text, '\n');
        if (!end) fail_msg("%s:%d: torn", name, line);
        const char *f = fault(a, text, (size_t)(end - text));
        if (f) fail_msg("%s:%d: %s: %.*s", name, line, f, (int)(end - text), text);
        if (*text == '#') comments--;
        else records--;
    }
    assert_int_equal(records, 0);
    assert_int_equal(comments, 0);
}

/* ---- logs of ours ---------------------------------------------------------------------------- */

static const at_json *json(at_arena *a, const char *text) {
    const at_json *v;
    assert_int_equal(at_json_parse(a, text, strlen(text), &v, NULL), AT_OK);
    return v;
}

static void our_logs(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_error err;
    at_space *space = at_space_new(a);
    assert_int_equal(
        at_space_split(space, "tile_y", 56, 3, &(at_split_options){.policy = AT_FACTORS}, &err),
        AT_OK);
    assert_int_equal(
        at_space_reorder(space, "order", 3, &(at_reorder_options){.policy = "all"}, &err), AT_OK);
    assert_int_equal(at_space_annotate(space, "ann", 2, "try_unroll_vec", 0, &err), AT_OK);
    assert_int_equal(at_space_option(space, "pack", "[true, false, 16, \"row\"]", &err), AT_OK);
    double samples[] = {1.25e-05, 1.5e-05, 0.1, 3e-320, 123456.789};
    at_record r = {.target = "c -keys=cpu -mcpu=znver4",
                   .task = "conv2d_3x3_gemm",
                   .args = json(a, "[1, 56, 56, 64, 64, \"float32\"]"),
                   .timestamp_s = 1700000000.123456,
                   .tvm_version = "0.12.0"};
    at_extra extra = {
        .present = true,
        .context = {"Some CPU \"x\" \xc3\xa9", 1, "avx512", "tcc", "ahead", "hot", "", "t"},
        .version = "0.1.0",
        .tuner = "random",
        .seed = UINT64_MAX,
        .samples_s = samples,
        .num_samples = 5,
        .sample_kind = AT_SAMPLES_FULL,
        .check = AT_CHECK_EXACT,
        .code_hash = "0123",
        .same_as = -1};
    at_log *l;
    assert_int_equal(at_log_open("conv.log", &l, NULL), AT_OK);
    int written = 0;
    int64_t length = at_space_range_length(space);
    for (int64_t i = 0; i < length; i += length / 97 + 1, written++) {
        assert_int_equal(at_config_at(a, space, i, &r.config, NULL), AT_OK);
        r.error_no = written % 9;
        r.extra = extra;
        r.extra.present = written % 2;
        r.extra.error = r.error_no ? "signal 11\n\tat \x01 \"here\"" : "";
        r.num_costs = r.error_no ? 0 : 1 + written % 5;
        r.costs_s = samples;
        r.all_cost_s = samples[written % 5];
        assert_int_equal(at_log_append(l, &r, NULL), AT_OK);
    }
    assert_int_equal(at_log_comment(l, "final {}", NULL), AT_OK);
    assert_int_equal(at_log_close(l, NULL), AT_OK);
    assert_true(written > 50);
    expect_readable(a, "conv.log", written, 1);

    const char *in[] = {"conv.log"};
    at_pick *picks;
    int n;
    assert_int_equal(
        pick_all(a, in, 1, "best.log", false, AT_PER_CONTEXT, NULL, NULL, &picks, &n, &err), AT_OK);
    assert_int_equal(n, 2); /* one context of ours, one foreign target */
    expect_readable(a, "best.log", 2, 0);
    assert_int_equal(
        pick_all(a, in, 1, "compat.log", false, AT_PER_COMPAT, NULL, NULL, &picks, &n, &err),
        AT_OK);
    assert_int_equal(n, 1);
    expect_readable(a, "compat.log", 1, 0);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(our_logs, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
