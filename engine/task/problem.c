/* engine/task/problem.c: see problem.h. */
#include "engine/task/problem.h"

#include <string.h>

#include "engine/task/log_choice.h"
#include "engine/task/operator.h"
#include "engine/task/operator_join.h"
#include "engine/task/record_use.h"

at_status at_problem_row(at_arena *a, const at_request *q, const at_template_row **out,
                         at_error *err) {
    const at_operator *p = at_operator_find(q);
    if (p) return at_operator_way_row(a, q, at_operator_way(p, 0), out, err);
    *out = q->row;
    return q->row ? AT_OK : at_template_find(q->template_name, out, err);
}

const char *at_problem_name(at_arena *a, const at_request *q) {
    at_text text = {0};
    const at_template_row *row;
    at_text_addn(&text, q->template_name, strcspn(q->template_name, "+"));
    if (at_problem_row(a, q, &row, NULL) == AT_OK)
        at_text_add(&text, row->name + strlen(at_template_base(row)->name));
    return at_text_take(a, &text);
}

static at_status one_way(at_arena *a, const at_request *q, at_problem *out, at_error *err) {
    at_request *way = at_copy(a, q, sizeof *q);
    AT_TRY(at_problem_row(a, q, &way->row, err));
    way->template_name = way->row->name;
    out->name = way->row->name;
    out->ways = way;
    out->num_ways = 1;
    return AT_OK;
}

at_status at_problem_make(at_arena *a, const at_engine_options *o, const at_request *q,
                          at_problem *out, at_error *err) {
    const at_operator *p = at_operator_find(q);
    *out = (at_problem){.count = 1, .is_operator = p != NULL};
    if (!p) return one_way(a, q, out, err);
    out->name = at_problem_name(a, q);
    return at_operator_ways(a, o, q, p, &out->ways, &out->num_ways, err);
}

/* ---- from a log ------------------------------------------------------------------------------ */

enum { MOST_ROWS = 32 };

/* Those of all ways, with the stages asked for, each once. */
static at_status rows_of(at_arena *a, const at_request *q, const at_operator *p,
                         const at_template_row **rows, at_error *err) {
    int n = 0;
    for (int i = 0; at_operator_way(p, i) && n < MOST_ROWS - 1; i++) {
        AT_TRY(at_operator_way_row(a, q, at_operator_way(p, i), &rows[n], err));
        int k = 0;
        while (rows[k] != rows[n]) k++;
        n += k == n;
    }
    rows[n] = NULL;
    return AT_OK;
}

/* The arguments of the only layer of the operator that the log holds. */
static at_status only_layer(at_arena *a, const char *name, const at_log_choice *choice,
                            const char **args, at_error *err) {
    at_key_map seen = {.arena = a};
    for (int i = 0; i < choice->tasks.len; i++) {
        const at_logged_task *t = &choice->tasks.data[i];
        const at_task *layer;
        at_task *task;
        if (at_task_of_record(a, t->row->name, t->args, &task, NULL) == AT_OK &&
            at_operator_layer_of(a, name, task, &layer))
            at_key_map_add(&seen, at_json_text(a, at_task_args(layer)));
    }
    if (!seen.keys.len)
        return at_fail(err, AT_E_INPUT, "%s: holds no record of %s among its %lld record%s",
                       choice->path, name, (long long)choice->total, at_plural(choice->total));
    *args = seen.keys.data[0];
    if (seen.keys.len == 1) return AT_OK;
    at_text list = {0};
    for (int i = 0; i < seen.keys.len; i++)
        at_text_addf(&list, "%s%s", i ? "; " : "", seen.keys.data[i]);
    at_status s = at_fail(err, AT_E_USAGE, "%s: holds %d layers of %s; choose one with --args: %s",
                          choice->path, seen.keys.len, name, at_text_str(&list));
    at_text_free(&list);
    return s;
}

/* Of a way that was measured on this CPU, if there is one. */
static bool is_better(const at_selection *x, const at_selection *than) {
    const bool here = at_is_of_this_cpu(x->record), was_here = at_is_of_this_cpu(than->record);
    return here != was_here ? here : x->time_s < than->time_s;
}

static at_status best_of_ways(at_arena *a, const at_engine_options *o, const at_problem *p,
                              const at_log_choice *choice, at_selection *out, at_error *err) {
    at_error why = {0};
    for (int i = 0; i < p->num_ways; i++) {
        at_selection s = {0};
        at_status status = at_select_logged(a, o, &p->ways[i], choice, &s, &why);
        if (status != AT_OK && status != AT_E_NO_VALID) return *err = why, status;
        if (s.has_config && (!out->has_config || is_better(&s, out))) *out = s;
    }
    if (out->has_config) {
        at_log_tell(a, o, choice->path, p->name, out->record, &out->others);
        return AT_OK;
    }
    return at_fail(err, why.status ? AT_E_NO_VALID : AT_E_INPUT,
                   "%s: holds no valid record of %s%s%s", choice->path, p->name,
                   why.status ? "; " : "", why.text);
}

static at_status call_as_operator(at_arena *a, const char *name, const at_operator *p,
                                  const char *args, at_selection *out, at_error *err) {
    const at_template_row *row;
    at_task *plain;
    AT_TRY(at_template_find(at_operator_way(p, 0), &row, err));
    AT_TRY(at_task_new(a, row, args, &plain, err));
    at_operator_call(a, name, plain, out);
    return AT_OK;
}

/* The record of a line is of one way, and called as that. */
static at_status from_line(at_arena *a, const at_engine_options *o, const at_request *q,
                           const at_template_row *const *rows, at_selection *out, at_error *err) {
    at_status status = AT_E_USAGE;
    for (int i = 0; rows[i] && status == AT_E_USAGE; i++) {
        at_request way = *q;
        way.row = rows[i];
        way.fuse = NULL;
        status = at_select_config(a, o, &way, out, err);
    }
    return status;
}

static at_status from_log(at_arena *a, const at_engine_options *o, const at_request *of,
                          const at_operator *p, at_selection *out, at_error *err) {
    const at_template_row *rows[MOST_ROWS];
    at_log_choice choice;
    at_problem problem;
    at_request q = *of;
    const char *name = at_problem_name(a, of);
    AT_TRY(rows_of(a, of, p, rows, err));
    if (of->line) return from_line(a, o, of, rows, out, err);
    AT_TRY(at_log_choose(a, o, of->log, rows, NULL, of->sketch, &choice, err));
    if (!q.args) AT_TRY(only_layer(a, name, &choice, &q.args, err));
    q.log = NULL;
    q.all_ways = true; /* whichever the log holds */
    AT_TRY(at_problem_make(a, o, &q, &problem, err));
    AT_TRY(best_of_ways(a, o, &problem, &choice, out, err));
    return call_as_operator(a, name, p, q.args, out, err);
}

at_status at_problem_select(at_arena *a, const at_engine_options *o, const at_request *q,
                            at_selection *out, at_error *err) {
    const at_operator *p = at_operator_find(q);
    const at_template_row *row;
    at_problem problem;
    if (!p || at_template_find(q->template_name, &row, NULL) == AT_OK)
        return at_select_config(a, o, q, out, err);
    if (q->log) return from_log(a, o, q, p, out, err);
    if (q->has_index || q->steps || (q->config && strcmp(q->config, "default") != 0))
        return at_fail(
            err, AT_E_USAGE,
            "%s is computed in several ways, and a configuration is of one of them: name "
            "its template, or give --log FILE, whose best is taken",
            q->template_name);
    AT_TRY(at_problem_make(a, o, q, &problem, err));
    return at_select_config(a, o, &problem.ways[0], out, err);
}
