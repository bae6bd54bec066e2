/* network/select.c: which configuration each kind of part has: the best of a log, or the default.
 */
#include <string.h>

#include "network/program.h"
#include "sketch/sketch.h"

/* Rows are known to the registry for good. */
static at_arena *row_arena(void) {
    static at_arena *arena;
    if (!arena) arena = at_arena_new();
    return arena;
}

/* The template of a part, which lives as long as this program. */
static at_status row_of(const at_net_part *part, const at_template_row **out, at_error *err) {
    at_arena *a = row_arena();
    const char *path = at_format(a, "%s.te", part->name);
    at_sketches_for_templates();
    if (at_template_find(part->name, out, NULL) == AT_OK) return AT_OK;
    const char *text = at_strdup(a, part->text);
    at_status s = at_te_parse(a, path, text, strlen(text), out, err);
    if (s == AT_OK) at_template_add(*out, path, false);
    return s;
}

at_status at_net_find_ways(at_net_program *p, at_error *err) {
    for (int i = 0; i < p->num_kernels; i++) {
        at_net_kernel *k = &p->kernels[i];
        at_request *q = &k->ways[k->num_ways++];
        AT_TRY(row_of(k->part, &q->row, err));
        q->template_name = q->row->name;
    }
    return AT_OK;
}

/* ---- configurations -------------------------------------------------------------------------- */

static at_status select_default(at_net_program *p, at_net_kernel *k, const at_net_build *b,
                                at_error *err) {
    at_request q = k->ways[0];
    q.config = "default";
    k->is_default = true;
    return at_select_config(p->arena, &b->engine, &q, &k->chosen, err);
}

/* What the log says of parts; lines of other templates are no concern of theirs. */
static at_status read_log(at_net_program *p, const at_net_build *b, at_selection **all, int *n,
                          at_error *err) {
    at_engine_options quiet = b->engine;
    at_request q = {.log = b->log, .isa = at_engine_target(&b->engine)->name};
    quiet.warn = NULL;
    at_status s = at_select_all(p->arena, &quiet, &q, all, n, err);
    if (s != AT_E_NO_VALID) return s;
    *n = 0;
    return AT_OK;
}

/* The fastest way that the log has. */
static bool select_logged(at_net_kernel *k, const at_selection *logged, int n) {
    bool found = false;
    for (int w = 0; w < k->num_ways; w++)
        for (int i = 0; i < n; i++) {
            if (logged[i].row != k->ways[w].row) continue;
            if (!found || at_record_time(logged[i].record) < at_record_time(k->chosen.record))
                k->chosen = logged[i];
            found = true;
        }
    return found;
}

at_status at_net_select(at_net_program *p, const at_net_build *b, at_error *err) {
    at_selection *logged = NULL;
    int n = 0;
    if (b->log) AT_TRY(read_log(p, b, &logged, &n, err));
    for (int i = 0; i < p->num_kernels; i++) {
        if (select_logged(&p->kernels[i], logged, n)) p->num_tuned++;
        else AT_TRY(select_default(p, &p->kernels[i], b, err));
    }
    return AT_OK;
}
