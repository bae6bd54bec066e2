/* cli/apply_set.c: the best of every task of a log as one C file, with functions that choose by
 * shape. */
#include <string.h>

#include "cli/apply_kernel.h"
#include "cli/describe.h"
#include "cli/isas.h"
#include "view/view.h"

typedef struct apply_set {
    at_arena *arena;
    at_session *sessions;
    at_file_kernel *kernels;
    int n;
} apply_set;

static const at_file_number *shape_of(at_arena *a, const at_task *task, int *n) {
    *n = at_task_num_numbers(task);
    at_file_number *shape = AT_NEW_ARRAY(a, at_file_number, *n);
    for (int i = 0; i < *n; i++) shape[i].value = at_task_number(task, i, &shape[i].name);
    return shape;
}

/* Arguments that are texts (layouts) are no part of a shape. */
static bool same_shape(const at_file_kernel *x, const at_file_kernel *y) {
    if (strcmp(x->family, y->family) != 0) return false;
    for (int i = 0; i < x->num_shape; i++)
        if (x->shape[i].value != y->shape[i].value) return false;
    return true;
}

/* Names that begin alike may have functions of one name: conv and conv_pack both have conv_pack. */
static bool collide(const char *x, const char *y) {
    size_t n = strlen(x), m = strlen(y);
    const char *shorter = n < m ? x : y, *longer = n < m ? y : x;
    n = strlen(shorter);
    if (strncmp(shorter, longer, n)) return false;
    if (n == strlen(longer)) return true;
    return longer[n] == '_' && !strpbrk(longer + n, "0123456789");
}

/* Another name where one of the others has it. */
static const char *own_name(const apply_set *set, const char *name, const char *but) {
    const char *own = name;
    for (int i = 0, number = 2; i < set->n - 1; i++) {
        const at_file_kernel *k = &set->kernels[i];
        bool same_family = but && !strcmp(k->family, but);
        if ((same_family || !collide(k->family, own)) && !collide(k->name, own)) continue;
        own = at_format(set->arena, "k%d_%s", number++, name);
        i = -1;
    }
    return own;
}

/* What kernels of one family have in common: the template, or the operator that they are ways of.
 */
static const char *called(const at_session *s) {
    return s->what.chosen.operator_name ? s->what.chosen.operator_name : s->what.row->name;
}

/* Tensors of one name that callers have are of one type. */
static bool same_types(const at_compute *x, const at_compute *y) {
    for (int i = 0; i < x->num_tensors; i++) {
        const at_tensor *t = &x->tensors[i];
        const int k = at_compute_find(y, t->name);
        if ((t->role == AT_ROLE_STAGE && !t->is_output) || k < 0) continue;
        if (t->type != y->tensors[k].type || t->is_s64 != y->tensors[k].is_s64) return false;
    }
    return true;
}

static const char *family_name(const apply_set *set, const at_session *s) {
    for (int i = 0; i < set->n - 1; i++)
        if (!strcmp(called(&set->sessions[i]), called(s)) &&
            same_types(at_task_compute(set->sessions[i].what.task), at_task_compute(s->what.task)))
            return set->kernels[i].family;
    return own_name(set, at_c_name(set->arena, called(s)), NULL);
}

static void drop_last(apply_set *set, const char *why) {
    at_warn(NULL, at_format(set->arena, "%s; left out", why));
    at_session_close(&set->sessions[--set->n]);
}

/* suffix: of the kernel's name where there are several instruction sets. */
static at_status add_kernel(apply_set *set, const at_options *o, const at_engine_options *engine,
                            const char *suffix, const at_selection *chosen, at_error *err) {
    at_session *s = &set->sessions[set->n];
    at_file_kernel *k = &set->kernels[set->n];
    at_session_open_chosen(engine, chosen, s);
    set->n++; /* to be closed from now on */
    const char *family = family_name(set, s);
    const char *name = at_apply_name(set->arena, s->what.task, suffix);
    if (!strcmp(name, family)) name = at_format(set->arena, "%s_1", name); /* without arguments */
    name = own_name(set, name, family);
    at_error why;
    const at_status made = at_apply_make(s, name, k, &why);
    if (made == AT_E_NO_VALID || made == AT_E_INPUT) {
        drop_last(set, at_format(set->arena, "%s: no kernel: %s", chosen->from, why.text));
        return AT_OK;
    }
    if (made != AT_OK) return *err = why, made;
    k->family = family;
    k->shape = shape_of(set->arena, chosen->layer ? chosen->layer : s->what.task, &k->num_shape);
    if (!*suffix && k->kernel->target != set->kernels->kernel->target)
        return at_fail(
            err, AT_E_USAGE,
            "%s: the best records are of %s and of %s; choose one with --isa, or several "
            "with --isas",
            o->log, set->kernels->kernel->target->name, k->kernel->target->name);
    for (int i = 0; i < set->n - 1; i++) {
        if (!same_shape(&set->kernels[i], k) || set->kernels[i].kernel->target != k->kernel->target)
            continue;
        drop_last(set,
                  at_format(set->arena, "%s: has the shape of %s", k->name, set->kernels[i].name));
        break;
    }
    return AT_OK;
}

static const char *set_head(const apply_set *set, const at_options *o) {
    at_text t = {0};
    at_text_add(&t, "The best of each task in ");
    at_text_add_visible(&t, at_base_name(o->log));
    at_text_addf(&t, ", written by autotune %s:\n", AT_VERSION);
    for (int i = 0; i < set->n; i++) at_text_addf(&t, "    %s\n", set->kernels[i].name);
    return at_text_take(set->arena, &t);
}

static at_status print_set(const apply_set *set, const at_options *o, const at_text *source,
                           at_error *err) {
    at_out out = at_out_object();
    at_out_begin(&out, "kernels", '[');
    for (int i = 0; i < set->n; i++) {
        at_out_begin(&out, NULL, '{');
        at_out_task(&out, &set->sessions[i]);
        at_out_config(&out, &set->sessions[i].what.chosen.config);
        at_out_string(&out, "name", set->kernels[i].name);
        at_out_string(&out, "family", set->kernels[i].family);
        at_out_end(&out, '}');
    }
    at_out_end(&out, ']');
    at_apply_out_files(set->arena, &out, o, source);
    return at_out_print(&out, err);
}

/* The best of every task: of each instruction set, or of the one that the engine chooses. */
static at_status add_kernels(apply_set *set, const at_options *o, at_error *err) {
    const at_target *isas[AT_MOST_ISAS];
    int num_isas = 0, n;
    at_selection *chosen[AT_MOST_ISAS];
    int counts[AT_MOST_ISAS], total = 0;
    if (o->isas) AT_TRY(at_read_isas(o->isas, isas, &num_isas, err));
    for (int i = 0; i < (num_isas ? num_isas : 1); i++) {
        at_engine_options engine = o->engine;
        if (num_isas) engine.isa = isas[i]->name;
        AT_TRY(at_select_all(set->arena, &engine, &o->request, &chosen[i], &n, err));
        counts[i] = n;
    }
    at_operators_join(set->arena, chosen, counts, num_isas ? num_isas : 1);
    for (int i = 0; i < (num_isas ? num_isas : 1); i++) total += counts[i];
    set->sessions = AT_NEW_ARRAY(set->arena, at_session, total);
    set->kernels = AT_NEW_ARRAY(set->arena, at_file_kernel, total);
    for (int i = 0; i < (num_isas ? num_isas : 1); i++) {
        at_engine_options *engine = at_copy(set->arena, &o->engine, sizeof *engine);
        const char *suffix = "";
        if (num_isas) {
            engine->isa = isas[i]->name;
            suffix = at_format(set->arena, "_%s", engine->isa);
        }
        for (int j = 0; j < counts[i]; j++)
            AT_TRY(add_kernel(set, o, engine, suffix, &chosen[i][j], err));
    }
    if (!set->n) return at_fail(err, AT_E_NO_VALID, "%s: no record of it makes a kernel", o->log);
    return AT_OK;
}

static at_status apply_all(apply_set *set, at_text *source, const at_options *o, at_error *err) {
    static const char *const of_one[] = {"--args",       "--sparsity", "--block",
                                         "--line",       "--config",   "--index",
                                         "--from-steps", "--sketch",   "--name"};
    for (size_t i = 0; i < sizeof of_one / sizeof *of_one; i++)
        if (at_given(o, of_one[i]))
            return at_fail(err, AT_E_USAGE, "%s is for one kernel: autotune apply TEMPLATE %s ...",
                           of_one[i], of_one[i]);
    if (!o->log)
        return at_fail(err, AT_E_USAGE,
                       "apply needs a template, or --log FILE for all kernels of a log");
    AT_TRY(at_check_isas(o, err));
    AT_TRY(add_kernels(set, o, err));
    AT_TRY(at_apply_emit(set->arena, o, set->kernels, set->n, set_head(set, o), source, err));
    return o->json ? print_set(set, o, source, err) : AT_OK;
}

at_status at_apply_set(at_text *source, const at_options *o, at_error *err) {
    apply_set set = {.arena = at_arena_new()};
    at_status status = apply_all(&set, source, o, err);
    for (int i = 0; i < set.n; i++) at_session_close(&set.sessions[i]);
    at_arena_free(set.arena);
    return status;
}
