/* records/upgrade.c: a record of log version 0.1 (AutoTVM 0.4 to 0.6) as one of version 0.2:
 *
 *     {"i": [target, task, args, kwargs, workload, {"i": index, "c": code hash, "e": entity,
 *      "t": template key}], "r": [costs, error number, time, timestamp], "v": 0.1}
 *
 * Then, a task was a function and a template key; later, the two are one name. Of convolutions
 * whose later name is known the arguments are rebuilt from the workload, since `args` of the
 * published ones is irregular; other tasks keep name and arguments. */
#include "records/records_int.h"

#include <string.h>

/* ---- arguments of convolutions -------------------------------------------------------------- */

/* [1, 3, 224, 224, "float32"] */
static bool is_flat_tensor(const at_json *v) {
    if (!at_json_is(v, AT_JSON_ARRAY) || v->count < 2 || v->count > 64) return false;
    for (const at_json *i = v->child; i->next; i = i->next)
        if (i->kind != AT_JSON_NUMBER ||
            i->next->kind != (i->next->next ? AT_JSON_NUMBER : AT_JSON_STRING))
            return false;
    return true;
}

static void append_tensor(at_arena *a, at_json *list, const at_json *flat) {
    at_json *tensor = at_json_new(a, AT_JSON_ARRAY), *shape = at_json_new(a, AT_JSON_ARRAY);
    const at_json *v = flat->child;
    for (; v->next; v = v->next) at_json_append(a, shape, NULL, v);
    at_json_append(a, tensor, NULL, at_json_new_string(a, "TENSOR"));
    at_json_append(a, tensor, NULL, shape);
    at_json_append(a, tensor, NULL, v);
    at_json_append(a, list, NULL, tensor);
}

/* p or [ph, pw] is [top, left, bottom, right] since. */
static bool append_padding(at_arena *a, at_json *list, const at_json *padding) {
    at_json *four = at_json_new(a, AT_JSON_ARRAY);
    if (at_json_is(padding, AT_JSON_NUMBER)) {
        for (int i = 0; i < 4; i++) at_json_append(a, four, NULL, padding);
    } else if (at_json_is(padding, AT_JSON_ARRAY) && padding->count == 2) {
        for (int i = 0; i < 4; i++) at_json_append(a, four, NULL, at_json_at(padding, i % 2));
    } else if (at_json_is(padding, AT_JSON_ARRAY) && padding->count == 4) {
        four = at_copy(a, padding, sizeof *padding);
    } else {
        return false;
    }
    at_json_append(a, list, NULL, four);
    return true;
}

static void append_dilation(at_arena *a, at_json *list, const at_json *dilation) {
    at_json *ones = at_json_new(a, AT_JSON_ARRAY);
    at_json_append(a, ones, NULL, at_json_new_int(a, 1));
    at_json_append(a, ones, NULL, at_json_new_int(a, 1));
    at_json_append(a, list, NULL, dilation ? dilation : ones);
}

/* What follows the dilation: layouts, in capitals, and the type of the result. */
static void append_names(at_arena *a, at_json *list, const at_json *rest, const at_json *data,
                         int num_layouts) {
    const at_json *layout = at_json_new_string(a, "NCHW"),
                  *type = at_json_at(data, data->count - 1);
    const at_json *layouts[2] = {layout, layout};
    int n = 0;
    for (const at_json *v = rest; v; v = v->next) {
        if (v->kind != AT_JSON_STRING) continue;
        bool capital = v->string[0] >= 'A' && v->string[0] <= 'Z';
        if (!capital) type = v;
        else if (n < 2) layouts[n++] = v;
    }
    if (n == 1) layouts[1] = layouts[0];
    for (int i = 0; i < num_layouts; i++) at_json_append(a, list, NULL, layouts[i]);
    at_json_append(a, list, NULL, type);
}

/* ["conv2d", data, kernel, strides, padding, dilation, ...]; the first logs lack the dilation. NULL
 * where it is not of this form. */
static const at_json *convolution_args(at_arena *a, const at_json *workload, int num_layouts) {
    const at_json *data = at_json_at(workload, 1), *kernel = at_json_at(workload, 2);
    const at_json *strides = at_json_at(workload, 3), *padding = at_json_at(workload, 4);
    if (!is_flat_tensor(data) || !is_flat_tensor(kernel) || !at_json_is(strides, AT_JSON_ARRAY))
        return NULL;
    at_json *args = at_json_new(a, AT_JSON_ARRAY);
    append_tensor(a, args, data);
    append_tensor(a, args, kernel);
    at_json_append(a, args, NULL, strides);
    if (!append_padding(a, args, padding)) return NULL;
    const at_json *dilation = padding->next, *rest = dilation;
    if (!at_json_is(dilation, AT_JSON_ARRAY)) dilation = NULL;
    else rest = dilation->next;
    append_dilation(a, args, dilation);
    append_names(a, args, rest, data, num_layouts);
    return args;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* NULL: any. */
static const struct name_row {
    const char *old_name, *template_key, *kind, *name;
    int num_layouts;
} names[] = {
    {"topi_x86_conv2d", NULL, NULL, "conv2d_NCHWc.x86", 2},
    {"topi_x86_conv2d_NCHWc", NULL, NULL, "conv2d_NCHWc.x86", 2},
    {"topi_nn_conv2d", "direct", "cuda", "conv2d_nchw.cuda", 0},
    {"topi_nn_conv2d", "winograd", "cuda", "conv2d_nchw_winograd.cuda", 0},
};

static bool matches(const char *wanted, const char *text) {
    return !wanted || !strcmp(wanted, text);
}

static const struct name_row *find_name(at_arena *a, const char *target, const char *task,
                                        const char *template_key) {
    at_tvm_target t;
    const char *kind = at_tvm_target_parse(a, target, &t) ? t.kind : "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].old_name, task) && matches(names[i].template_key, template_key) &&
            matches(names[i].kind, kind))
            return &names[i];
    return NULL;
}

/* One function's templates are different kernels: they stay different tasks. */
static const char *name_with_key(at_arena *a, const char *task, const char *template_key) {
    if (!*template_key || !strcmp(template_key, "direct")) return task;
    return at_format(a, "%s_%s", task, template_key);
}

/* ---- records -------------------------------------------------------------------------------- */

bool at_is_old_version(const at_json *row) {
    const at_json *v = at_json_get(row, "v");
    return !at_json_get(row, "input") && at_json_is(at_json_get(row, "i"), AT_JSON_ARRAY) &&
           at_json_is(v, AT_JSON_NUMBER) && v->number == 0.1;
}

at_status at_upgrade(at_arena *a, const at_json *old, const at_json **out, at_error *err) {
    const at_json *i = at_json_get(old, "i"), *result = at_json_get(old, "r");
    const at_json *target = at_json_at(i, 0), *task = at_json_at(i, 1), *args = at_json_at(i, 2);
    const at_json *workload = at_json_at(i, 4), *config = at_json_at(i, 5);
    const at_json *index = at_json_get(config, "i"), *code_hash = at_json_get(config, "c");
    const at_json *entity = at_json_get(config, "e"), *key = at_json_get(config, "t");
    if (!at_json_is(target, AT_JSON_STRING) || !at_json_is(task, AT_JSON_STRING) ||
        !at_json_is(args, AT_JSON_ARRAY) || !at_json_is(config, AT_JSON_OBJECT))
        return at_fail(err, AT_E_INPUT,
                       "\"i\" is not [target, task, arguments, {}, workload, configuration]");
    if (!result) return at_fail(err, AT_E_INPUT, "no member \"r\"");
    const char *template_key = at_json_string_or(key, "");
    const struct name_row *row = find_name(a, target->string, task->string, template_key);
    const at_json *rebuilt = row ? convolution_args(a, workload, row->num_layouts) : NULL;
    const char *name = rebuilt ? row->name : name_with_key(a, task->string, template_key);

    at_json *input = at_json_new(a, AT_JSON_ARRAY), *newer = at_json_new(a, AT_JSON_OBJECT);
    at_json_append(a, input, NULL, target);
    at_json_append(a, input, NULL, at_json_new_string(a, name));
    at_json_append(a, input, NULL, rebuilt ? rebuilt : args);
    at_json *new_config = at_json_new(a, AT_JSON_OBJECT);
    if (index) at_json_append(a, new_config, "index", index);
    if (code_hash) at_json_append(a, new_config, "code_hash", code_hash);
    if (entity) at_json_append(a, new_config, "entity", entity);
    at_json_append(a, newer, "input", input);
    at_json_append(a, newer, "config", new_config);
    at_json_append(a, newer, "result", result);
    *out = newer;
    return AT_OK;
}
