/* records/record.c: one record, to a line and back.
 * Source of behaviour: TVM v0.12, python/tvm/autotvm/record.py (encode, decode). The member
 * "autotune" is ours (extra.c). */
#include "records/records_int.h"
#include "templates/task.h"

#include <math.h>
#include <string.h>

/* AutoTVM's cost of a failure, in seconds. */
static const double failure_cost_s = 1e9;

/* ---- printing ------------------------------------------------------------------------------- */

int64_t at_record_index(const at_record *r) {
    const at_config *c = &r->config;
    return c->space && c->index >= 0 ? c->index : c->recorded_index;
}

void at_record_print(at_text *out, const at_record *r) {
    at_text_add(out, "{\"input\": [");
    at_text_add_json_string(out, r->target);
    at_text_add(out, ", ");
    at_text_add_json_string(out, r->task);
    at_text_add(out, ", ");
    at_json_print(out, r->args_written ? r->args_written : r->args);
    at_text_addf(
        out, ", {}], \"config\": {\"index\": %lld, \"code_hash\": ", (long long)at_record_index(r));
    if (r->code_hash) at_text_add_json_string(out, r->code_hash);
    else at_text_add(out, "null");
    at_text_add(out, ", \"entity\": ");
    at_config_print_entity(out, &r->config);
    at_text_add(out, "}, \"result\": [");
    if (r->num_costs) at_add_doubles(out, r->costs_s, r->num_costs);
    else at_add_doubles(out, &failure_cost_s, 1);
    at_text_addf(out, ", %d, ", r->error_no);
    if (r->all_cost_is_int) at_text_addf(out, "%.0f", r->all_cost_s);
    else at_text_add_double(out, r->all_cost_s);
    at_text_add(out, ", ");
    at_text_add_double(out, r->timestamp_s);
    at_text_add(out, "], \"version\": 0.2, \"tvm_version\": ");
    bool known = r->tvm_version && *r->tvm_version;
    at_text_add_json_string(out, known ? r->tvm_version : "0.12.0");
    if (r->extra.present) {
        at_text_add(out, ", \"autotune\": ");
        at_extra_print(out, &r->extra);
    }
    at_text_add(out, "}\n");
}

/* ---- parsing -------------------------------------------------------------------------------- */

/* AutoTVM's arguments have no booleans once they have been read. */
static const at_json *without_booleans(at_arena *a, const at_json *v) {
    at_json *copy = at_copy(a, v, sizeof *v);
    if (v->kind == AT_JSON_BOOL) {
        copy->kind = AT_JSON_NUMBER;
        copy->is_int = true;
        copy->number = (double)(copy->integer = v->boolean);
    }
    const at_json **link = &copy->child;
    for (const at_json *item = v->child; item; item = item->next) {
        at_json *child = (at_json *)without_booleans(a, item);
        child->next = NULL;
        *link = child;
        link = (const at_json **)&child->next;
    }
    return copy;
}

static bool has_booleans(const at_json *v) {
    if (v->kind == AT_JSON_BOOL) return true;
    for (const at_json *item = v->child; item; item = item->next)
        if (has_booleans(item)) return true;
    return false;
}

/* With all below it; beyond most it is not counted on. */
static int count_values(const at_json *v, int most) {
    int n = 1;
    for (const at_json *item = v->child; item && n <= most; item = item->next)
        n += count_values(item, most - n);
    return n;
}

static at_status read_input(at_arena *a, const at_json *input, at_record *r, at_error *err) {
    const at_json *target = at_json_at(input, 0), *task = at_json_at(input, 1);
    const at_json *args = at_json_at(input, 2);
    if (!at_json_is(target, AT_JSON_STRING) || !at_json_is(task, AT_JSON_STRING) ||
        !at_json_is(args, AT_JSON_ARRAY))
        return at_fail(err, AT_E_INPUT, "\"input\" is not [target, task, arguments, {}]");
    if (strlen(target->string) > AT_MOST_TARGET_BYTES)
        return at_fail(err, AT_E_INPUT, "a target of more than %d bytes", AT_MOST_TARGET_BYTES);
    if (count_values(args, AT_MOST_ARG_VALUES) > AT_MOST_ARG_VALUES)
        return at_fail(err, AT_E_INPUT, "arguments of more than %d values", AT_MOST_ARG_VALUES);
    at_text text = {0};
    at_tvm_target_canonical(&text, target->string);
    r->target = at_text_take(a, &text);
    r->task = task->string;
    if (has_booleans(args)) args = without_booleans(a, args);
    r->args = at_template_record_args(a, r->task, args);
    r->args_written = r->args == args ? NULL : args;
    return AT_OK;
}

static at_status read_result(at_arena *a, const at_json *result, at_record *r, at_error *err) {
    const at_json *error_no = at_json_at(result, 1), *all_cost = at_json_at(result, 2);
    const at_json *timestamp = at_json_at(result, 3);
    if (!at_json_is(error_no, AT_JSON_NUMBER) || !at_json_is(all_cost, AT_JSON_NUMBER) ||
        !at_json_is(timestamp, AT_JSON_NUMBER))
        return at_fail(err, AT_E_INPUT, "\"result\" is not [costs, error number, time, timestamp]");
    AT_TRY(at_read_doubles(a, at_json_at(result, 0), "result[0]", &r->costs_s, &r->num_costs, err));
    if (!r->num_costs) return at_fail(err, AT_E_INPUT, "result[0] holds no cost");
    if (!error_no->is_int || error_no->integer < 0 || error_no->integer > INT32_MAX)
        return at_fail(err, AT_E_INPUT, "result[1] is not an error number");
    r->error_no = (int)error_no->integer;
    r->all_cost_s = all_cost->number;
    r->all_cost_is_int = all_cost->is_int && fabs(all_cost->number) <= 0x1p53; /* exact as one */
    r->timestamp_s = timestamp->number;
    return AT_OK;
}

at_status at_record_parse_line(at_arena *a, const char *line, size_t len, at_record *out,
                               bool *old_version, at_error *err) {
    const at_json *row;
    *out = (at_record){.extra.same_as = -1};
    *old_version = false;
    size_t valid = at_utf8_end(line, len); /* what is malformed could not be written as it was */
    if (valid < len) return at_fail(err, AT_E_INPUT, "byte %zu is not UTF-8", valid);
    if (at_json_most_values(line, len) > AT_MOST_VALUES)
        return at_fail(err, AT_E_INPUT, "more than %d values", AT_MOST_VALUES);
    AT_TRY(at_json_parse(a, line, len, &row, err));
    if (row->kind != AT_JSON_OBJECT) return at_fail(err, AT_E_INPUT, "not a JSON object");
    *old_version = at_is_old_version(row);
    if (*old_version) AT_TRY(at_upgrade(a, row, &row, err));
    static const char *const needed[] = {"input", "config", "result"};
    for (int i = 0; i < (int)(sizeof needed / sizeof *needed); i++)
        if (!at_json_get(row, needed[i]))
            return at_fail(err, AT_E_INPUT, "no member \"%s\"", needed[i]);
    AT_TRY(read_input(a, at_json_get(row, "input"), out, err));
    const at_json *config = at_json_get(row, "config");
    AT_TRY(at_config_from_json(a, NULL, config, &out->config, err));
    out->code_hash = at_json_string_in(config, "code_hash");
    AT_TRY(read_result(a, at_json_get(row, "result"), out, err));
    out->tvm_version = at_json_string_in(row, "tvm_version");
    const at_json *extra = at_json_get(row, "autotune");
    /* A foreign record goes the same way, so that its texts are "" and not NULL. */
    AT_TRY(at_extra_read(a, at_json_is(extra, AT_JSON_OBJECT) ? extra : NULL, &out->extra, err));
    return AT_OK;
}

at_status at_record_parse(at_arena *a, const char *line, size_t len, at_record *out,
                          at_error *err) {
    bool old_version;
    return at_record_parse_line(a, line, len, out, &old_version, err);
}
