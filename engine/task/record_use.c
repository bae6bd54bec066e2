/* engine/task/record_use.c: see record_use.h. */
#include "engine/task/record_use.h"

#include <string.h>

#include "engine/task/log_texts.h"
#include "engine/task/operator.h"
#include "engine/task/template_change.h"

/* So many tasks are kept. */
enum { KEPT = 16 };

typedef struct known_task {
    at_arena *arena; /* NULL: none */
    const at_template_row *row;
    const at_json *args;
    const at_task *task; /* NULL: it cannot be made */
    at_error why;        /* it cannot be made */
} known_task;

struct at_record_uses {
    at_arena *arena, *scratch;
    bool accept_changed;
    known_task tasks[KEPT];
    int last; /* the one that was made last */
};

at_record_uses *at_record_uses_new(bool accept_changed) {
    at_arena *a = at_arena_new();
    at_record_uses *u = AT_NEW(a, at_record_uses);
    u->arena = a;
    u->scratch = at_arena_new();
    u->accept_changed = accept_changed;
    return u;
}

void at_record_uses_free(at_record_uses *u) {
    for (int i = 0; i < KEPT; i++)
        if (u->tasks[i].arena) at_arena_free(u->tasks[i].arena);
    at_arena_free(u->scratch);
    at_arena_free(u->arena);
}

static const known_task *task_of(at_record_uses *u, const at_template_row *row,
                                 const at_json *args) {
    for (int i = 0; i < KEPT; i++) {
        int k = (u->last + KEPT - i) % KEPT;
        const known_task *t = &u->tasks[k];
        if (t->arena && t->row == row && at_args_equal(t->args, args)) return t;
    }
    u->last = (u->last + 1) % KEPT;
    known_task *t = &u->tasks[u->last];
    if (t->arena) at_arena_free(t->arena);
    *t = (known_task){.arena = at_arena_new(), .row = row};
    at_task *task = NULL;
    t->args = at_json_copy(t->arena, args);
    if (at_task_new(t->arena, row, at_json_text(t->arena, args), &task, &t->why) == AT_OK)
        t->task = task;
    return t;
}

bool at_record_has_task(at_record_uses *u, const at_template_row *row, const at_record *r,
                        at_error *why) {
    const known_task *known = task_of(u, row, r->args);
    if (!known->task) *why = known->why;
    return known->task;
}

at_use at_record_use(at_record_uses *u, const at_template_row *row, const at_record *r,
                     at_error *why) {
    const known_task *known = task_of(u, row, r->args);
    const at_task *task = known->task;
    if (!task) return *why = known->why, AT_UNFIT;
    if (!u->accept_changed && at_is_of_changed_template(r, task)) return AT_OF_CHANGED;
    at_arena_reset(u->scratch);
    bool fits = at_config_fits(u->scratch, at_task_space(task), &r->config, why) == AT_OK;
    return fits ? AT_USABLE : AT_UNFIT;
}

const char *at_unfit_text(at_arena *a, const char *path, int64_t line, int64_t count,
                          const char *why) {
    return at_format(a, "%s:%lld: no configuration of its task, and not used%s: %s", path,
                     (long long)line,
                     count > 1 ? at_format(a, ", as %s %lld other%s", count == 2 ? "is" : "are",
                                           (long long)count - 1, at_plural(count - 1))
                               : "",
                     why);
}

static const char *target_cpu(const at_record *r) {
    static const char mcpu[] = "-mcpu=";
    const char *at = strstr(r->target, mcpu);
    return at ? at + sizeof mcpu - 1 : "";
}

bool at_is_of_this_cpu(const at_record *r) {
    const at_cpu *here = at_cpu_facts();
    if (r->extra.present) return !strcmp(r->extra.context.cpu, here->name);
    const char *of = target_cpu(r);
    const size_t n = strcspn(of, " ");
    return n && strlen(here->llvm_name) == n && !memcmp(of, here->llvm_name, n);
}

const char *at_record_cpu(const at_record *r) {
    const char *of = r->extra.present ? r->extra.context.cpu : target_cpu(r);
    return *of ? of : "not named";
}

/* ---- the best of what can be used ------------------------------------------------------------ */

struct at_use_counts {
    at_arena *arena;
    at_record_uses *uses;
    int64_t changed, unfit;
    int64_t unfit_line; /* the first one's */
    const char *unfit_log, *unfit_why;
    const char *last_log; /* that was asked about, and how far */
    int64_t last_line;
};

at_use_counts *at_use_counts_new(at_arena *a, bool accept_changed) {
    at_use_counts *p = AT_NEW(a, at_use_counts);
    *p = (at_use_counts){.arena = a, .uses = at_record_uses_new(accept_changed)};
    return p;
}

bool at_is_usable(void *counts, const char *log, const at_record *r) {
    at_use_counts *p = counts;
    at_error why;
    bool again = p->last_log == log && r->line <= p->last_line;
    if (!again) p->last_log = log, p->last_line = r->line;
    const at_template_row *row;
    if (at_template_find(r->task, &row, NULL) != AT_OK) return true;
    at_use use = at_record_use(p->uses, row, r, &why);
    p->changed += use == AT_OF_CHANGED && !again;
    if (use != AT_UNFIT || !at_record_is_candidate(r)) return use != AT_OF_CHANGED;
    if (again) return false;
    if (!p->unfit++) {
        p->unfit_line = r->line;
        p->unfit_log = log;
        p->unfit_why = at_strdup(p->arena, why.text);
    }
    return false;
}

void at_use_counts_end(at_use_counts *p, const at_engine_options *o) {
    at_record_uses_free(p->uses);
    if (p->unfit)
        at_engine_warn(
            o, at_unfit_text(p->arena, p->unfit_log, p->unfit_line, p->unfit, p->unfit_why));
}

at_status at_pick_usable(at_arena *a, const at_engine_options *o, const at_pick_request *asked,
                         at_pick **picks, int *num_picks, at_error *err) {
    at_use_counts *p = at_use_counts_new(a, o->accept_changed);
    at_pick_request q = *asked;
    q.use = at_is_usable;
    q.use_ctx = p;
    q.objective = o->objective;
    q.judge = (at_pick_judge){at_operator_of_record, at_is_of_this_cpu, at_log_text_of};
    q.warn = o->warn;
    q.warn_ctx = o->ctx;
    at_status s = at_pick_best(a, &q, picks, num_picks, err);
    if (p->changed)
        at_engine_warn(o, at_changed_text(a, q.logs[0], p->changed,
                                          q.num_logs > 1 ? "a template, there and in the others,"
                                                         : "their template"));
    at_use_counts_end(p, o);
    return s == AT_E_NO_VALID && p->unfit ? err->status = AT_E_INPUT : s;
}
