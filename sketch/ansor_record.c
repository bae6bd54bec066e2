/* sketch/ansor_record.c: a line of an Ansor log, {"i": [[KEY, TARGET, ...], [[], STEPS]], "r":
 * [COSTS, ERROR_NO, ...], "v": ...}, as a program of ours: its steps by their names, one after the
 * other. */
#include <string.h>

#include "sketch/ansor_int.h"
#include "sketch/sketch.h"

static at_status apply(ansor_state *s, const at_json *steps, const at_json *step) {
    const char *code = step->child->string;
    int64_t id = 0;
    ansor_stage *x = NULL;
    if (!strcmp(code, "CHR")) return ansor_cache_read(s, step);
    AT_TRY(ansor_stage_at(s, step, 1, &id, &x));
    if (!strcmp(code, "SP")) return ansor_split(s, step, x);
    if (!strcmp(code, "FSP")) return ansor_follow_split(s, steps, step, x);
    if (!strcmp(code, "FFSP")) return ansor_follow_fused_split(s, steps, step, x);
    if (!strcmp(code, "RE")) return ansor_reorder(s, step, x);
    if (!strcmp(code, "FU")) return ansor_fuse(s, step, x);
    if (!strcmp(code, "AN")) return ansor_annotate(s, step, x);
    if (!strcmp(code, "PR")) return ansor_pragma(s, step, x);
    if (!strcmp(code, "CA")) return ansor_attach(s, step, x);
    if (!strcmp(code, "CI")) return ansor_inline(s, x);
    if (!strcmp(code, "CR")) return ansor_detach(x), AT_OK;
    if (!strcmp(code, "CHW")) return ansor_cache_write(s, step, id, x);
    if (!strcmp(code, "RF")) return ansor_factor(s, step, id, x);
    if (!strcmp(code, "SA")) {
        at_text_addf(&s->notes, "storage of %s is not aligned as the record says\n", x->name);
        return AT_OK;
    }
    return ANSOR_REFUSE(s, "there are SP, FSP, FFSP, RE, FU, AN, PR, CA, CI, CR, CHW, CHR, RF, SA");
}

static at_status apply_all(ansor_state *s, const at_json *steps) {
    int i = 0;
    if (steps->count > ANSOR_STEPS) return ANSOR_REFUSE(s, "more than %d steps", ANSOR_STEPS);
    for (const at_json *step = steps->child; step; step = step->next, i++) {
        if (step->kind != AT_JSON_ARRAY || !step->child || step->child->kind != AT_JSON_STRING)
            return ANSOR_REFUSE(s, "step %d is no list that begins with a text", i);
        if (apply(s, steps, step) == AT_OK) continue;
        at_fail_at(s->err, "step %d (%.8s): ", i, step->child->string);
        return AT_E_INPUT;
    }
    return AT_OK;
}

/* ---- a record -------------------------------------------------------------------------------- */

static at_status parse(at_arena *a, const char *line, size_t length, const at_json **task,
                       const at_json **steps, const at_json **result, at_error *err) {
    const at_json *json;
    AT_TRY(at_json_parse(a, line, length, &json, err));
    const at_json *input = json->kind == AT_JSON_OBJECT ? at_json_get(json, "i") : NULL;
    *result = json->kind == AT_JSON_OBJECT ? at_json_get(json, "r") : NULL;
    *task = input && input->kind == AT_JSON_ARRAY ? at_json_at(input, 0) : NULL;
    const at_json *state = *task ? at_json_at(input, 1) : NULL;
    *steps = state && state->kind == AT_JSON_ARRAY ? at_json_at(state, 1) : NULL;
    if (*steps && (*steps)->kind == AT_JSON_ARRAY && *result && (*result)->kind == AT_JSON_ARRAY &&
        (*task)->kind == AT_JSON_ARRAY && (*task)->child && (*task)->child->kind == AT_JSON_STRING)
        return AT_OK;
    return at_fail(err, AT_E_INPUT, "not a record of Ansor's");
}

static double cost_of(const at_json *result) {
    const at_json *costs = at_json_at(result, 0), *error = at_json_at(result, 1);
    double sum = 0;
    if (!costs || costs->kind != AT_JSON_ARRAY || !costs->count || !error ||
        error->kind != AT_JSON_NUMBER || error->number != 0)
        return 0;
    for (const at_json *x = costs->child; x; x = x->next)
        sum += x->kind == AT_JSON_NUMBER && x->number > 0 ? x->number : 0;
    return sum / costs->count;
}

at_status at_ansor_look(at_arena *a, const char *line, size_t length, at_ansor_head *out,
                        at_error *err) {
    const at_json *task, *steps, *result;
    AT_TRY(parse(a, line, length, &task, &steps, &result, err));
    *out = (at_ansor_head){task->child->string, cost_of(result)};
    return AT_OK;
}

/* ["conv1d_nlc", 1, 64, 16, ...]: the computation with these numbers. */
static at_status computation(at_arena *a, const char *key, at_ansor *out, at_task **task,
                             at_error *err) {
    const at_json *json;
    at_text args = {0}, names = {0};
    if (at_json_parse(a, key, strlen(key), &json, err) != AT_OK)
        return at_fail_at(err, "workload key: ");
    if (json->kind != AT_JSON_ARRAY || !json->child || json->child->kind != AT_JSON_STRING)
        return at_fail(err, AT_E_INPUT, "workload key %.80s: no list that begins with a name", key);
    out->workload = json->child->string;
    ansor_workload w;
    int numbers = 0;
    if (!ansor_find_workload(out->workload, &w)) {
        ansor_add_workloads(&names);
        at_fail(err, AT_E_INPUT, "workload \"%.80s\" is not known: there are %s", out->workload,
                at_text_str(&names));
        at_text_free(&names);
        return AT_E_INPUT;
    }
    AT_TRY(at_te_parse(a, out->workload, w.text, w.length, &out->computation, err));
    const char *name = out->computation->args;
    for (const at_json *v = json->child->next; v; v = v->next) {
        if (v->kind == AT_JSON_STRING && !strcmp(v->string, "float32")) continue;
        if (v->kind != AT_JSON_NUMBER || !v->is_int || !name) {
            at_text_free(&args);
            return at_fail(err, AT_E_INPUT, "workload key %.80s: expected the numbers of %s", key,
                           out->computation->args);
        }
        at_text_addf(&args, "%s%.*s=%lld", args.len ? "," : "", (int)strcspn(name, "="), name,
                     (long long)v->integer);
        name = strchr(name, ',');
        if (name) name += strspn(name, ", ");
        numbers++;
    }
    if (numbers < w.least) {
        at_text_free(&args);
        return at_fail(err, AT_E_INPUT,
                       "workload key %.80s: numbers are missing; of %s the first %d are needed",
                       key, out->computation->args, w.least);
    }
    at_status s = at_task_new(a, out->computation, at_text_str(&args), task, err);
    at_text_free(&args);
    return s == AT_OK ? AT_OK : at_fail_at(err, "workload key: ");
}

/* The computation with all its stages, and the tree over it. */
static at_status make_tree(const at_task *task, const int64_t *values, ansor_state *s,
                           at_compute **c, at_tree **tree, at_text *sizes) {
    const at_symbols *known = at_task_compute(task)->symbols;
    bool again = true;
    while (again) {
        at_symbols *symbols = AT_NEW(s->arena, at_symbols);
        for (int i = 0; i < known->names.len; i++)
            at_symbol_add(s->arena, symbols, known->names.data[i]);
        AT_TRY(ansor_compute(s, symbols, c));
        at_text_clear(sizes);
        AT_TRY(ansor_make_tree(s, *c, symbols, values, tree, sizes, &again));
    }
    return AT_OK;
}

static at_status program(at_arena *a, const at_task *task, ansor_state *s, const at_json *steps,
                         at_schedulable **out, at_error *err) {
    at_text sizes = {0};
    at_compute *c;
    at_tree *tree;
    int64_t *values;
    AT_TRY(at_task_plain_values(a, task, &values, err));
    AT_TRY(ansor_start(s, at_task_compute(task), values));
    AT_TRY(apply_all(s, steps));
    at_status status = make_tree(task, values, s, &c, &tree, &sizes);
    if (status == AT_OK) {
        int n = at_task_num_definitions(task);
        at_definition *all = AT_NEW_ARRAY(a, at_definition, n + 1);
        for (int i = 0; i < n; i++) all[i] = *at_task_definition(task, i);
        const bool has_sizes = sizes.len > 0;
        all[n] = (at_definition){.kind = AT_DEFINE_SIZES, .text = {at_text_take(a, &sizes)}};
        *out = at_schedulable_of_numbers(
            a, task,
            (at_schedulable){
                .definitions = all, .num_definitions = n + has_sizes, .compute = c, .tree = tree});
    }
    at_text_free(&sizes);
    return status;
}

static at_status read_record(at_arena *a, const char *line, size_t length, ansor_state *s,
                             at_ansor *out, at_error *err) {
    const at_json *key, *steps, *result;
    at_task *task;
    AT_TRY(parse(a, line, length, &key, &steps, &result, err));
    out->cost_s = cost_of(result);
    AT_TRY(computation(a, key->child->string, out, &task, err));
    *s = (ansor_state){.arena = a, .err = err, .adds = true};
    if (program(a, task, s, steps, &out->program, err) == AT_OK &&
        at_schedulable_try_only(a, out->program, err) == AT_OK)
        return AT_OK;
    at_text_free(&s->notes); /* then as the steps say, with stages of regions where they are read */
    *s = (ansor_state){.arena = a, .err = err};
    AT_TRY(program(a, task, s, steps, &out->program, err));
    return at_schedulable_try_only(a, out->program, err);
}

at_status at_ansor_read(at_arena *a, const char *line, size_t length, at_ansor *out,
                        at_error *err) {
    at_error own;
    ansor_state s = {.arena = a, .err = &own};
    *out = (at_ansor){0};
    at_status status = read_record(a, line, length, &s, out, &own);
    out->notes = at_text_take(a, &s.notes);
    return status == AT_OK ? AT_OK : at_fail(err, AT_E_INPUT, "%s", own.text);
}
