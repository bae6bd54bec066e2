/* cli/cmd_apply.c: one configuration, or the best of every task of a log, as C that anyone can
 * compile: a .c file and beside it its header. */
#include <string.h>

#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/isas.h"
#include "cli/open.h"
#include "cli/outputs.h"
#include "engine/engine.h"
#include "view/view.h"

/* conv2d_nhwc_1x56x56x64_64_3x3; suffix: of the instruction set, or "" */
static const char *kernel_name(at_arena *a, at_task *task, const char *suffix) {
    return at_c_name(
        a, at_format(a, "%s_%s%s", at_task_row(task)->name, at_task_short_args(a, task), suffix));
}

/* The source includes its header by this name. */
static at_status check_output(const char *path, at_error *err) {
    const char *name = at_base_name(path);
    if (at_ends_in(path, ".h"))
        return at_fail(err, AT_E_USAGE, "-o %s: name the .c file; its header is written beside it",
                       path);
    bool bad = strpbrk(name, "\"\\") || strstr(name, "??");
    for (const char *s = name; *s; s++) bad |= (unsigned char)*s < ' ' || *s == 127;
    if (!bad || !at_ends_in(path, ".c")) return AT_OK;
    return at_fail(err, AT_E_USAGE,
                   "-o %s: a header cannot be included by this name; leave out \", \\, ?? and "
                   "control characters",
                   path);
}

static const char *head_text(const at_session *s, const char *from) {
    const at_record *r = s->what.chosen.record;
    at_text t = {0};
    at_text_add_task(&t, s);
    at_text_addf(&t, "\nwritten by autotune %s, configuration from ", AT_VERSION);
    at_text_add_visible(&t, from);
    at_text_add(&t, ":\n");
    at_config_print_json(&t, &s->what.chosen.config);
    at_text_add(&t, "\n");
    if (r && at_record_is_candidate(r)) {
        double time_s = at_record_time(r);
        at_text_add(&t, "measured: ");
        at_text_add_time(&t, time_s);
        at_text_addf(&t, ", %.2f %s", s->what.work / time_s * 1e-9,
                     at_unit_of_speed(s->what.in_bytes));
        if (r->extra.present) {
            at_text_add(&t, "\n    on ");
            at_text_add_context(&t, &r->extra.context);
            at_text_add(&t, "\n");
        } else {
            at_text_add(&t, " for target ");
            at_text_add_visible(&t, r->target);
            at_text_add(&t, "\n");
        }
        at_text_add_accuracy(&t, &r->extra.accuracy);
    } else at_text_add(&t, "not measured\n");
    return at_text_take(s->arena, &t);
}

static at_status make_kernel(at_session *s, const char *name, const char *suffix,
                             at_file_kernel *out, at_error *err) {
    at_candidate c;
    at_config own;
    const at_task *task = at_task_of_config(s->what.task, &s->what.chosen.config, &own);
    const at_compute *compute = at_task_compute(task);
    const int **layouts = AT_NEW_ARRAY(s->arena, const int *, compute->num_tensors);
    at_general *general = AT_NEW(s->arena, at_general);
    const at_selection *chosen = &s->what.chosen;
    int64_t *plain;
    at_program *written;
    at_error why;
    AT_TRY(at_session_context(s, false, err));
    at_lower_options lo =
        at_session_lower_options(s, name ? name : kernel_name(s->arena, s->what.task, suffix));
    AT_TRY(at_candidate_lower(s, s->arena, &s->what.chosen.config, &lo, &c, err));
    if (s->foreign)
        AT_TRY(at_foreign_file_kernel(s->arena, s->what.task, c.program, &s->what.chosen.config,
                                      lo.name, &c.kernel, err));
    for (int t = 0; t < compute->num_tensors; t++) layouts[t] = at_task_layout(task, t);
    at_task_general(s->arena, chosen->layer ? chosen->layer : task, general);
    if (at_task_plain_values(s->arena, task, &plain, &why) != AT_OK)
        return at_fail(err, AT_E_INPUT, "%s: no size without blocks: %s", lo.name, why.text);
    AT_TRY(at_task_written(s->arena, s->what.task, compute, &written, err));
    *out = (at_file_kernel){.program = c.program,
                            .written = written,
                            .kernel = c.kernel,
                            .threads = s->how.threads,
                            .name = lo.name,
                            .head = head_text(s, s->what.chosen.from),
                            .flops = s->what.flops,
                            .executed = at_executed_flops(s, s->arena, c.kernel->lowered),
                            .pattern = at_session_file_pattern(s),
                            .plain_values = plain,
                            .layouts = layouts,
                            .tensor_names = chosen->tensor_names,
                            .weight_order = chosen->weight_order,
                            .ordered_weight = chosen->ordered_weight,
                            .general = general};
    return AT_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Both or none. */
static at_status write_files(at_arena *a, const at_options *o, at_text *source,
                             const at_text *header, at_error *err) {
    at_output_rules rules = at_rules_of_output(o);
    const char *path = at_header_path(a, o->output);
    at_output *files[2] = {0};
    if (!o->output) return o->json ? AT_OK : at_print(source, err);
    at_status s = at_output_open(o->output, &rules, &files[0], err);
    if (s == AT_OK) s = at_output_add(files[0], at_text_str(source), source->len, err);
    if (s == AT_OK && path) {
        rules.is_derived = true;
        s = at_output_open(path, &rules, &files[1], err);
        if (s == AT_OK) s = at_output_add(files[1], at_text_str(header), header->len, err);
    }
    if (s == AT_OK) s = at_output_commit(files, path ? 2 : 1, err);
    for (int i = 0; i < 2; i++) at_output_close(files[i]);
    return s;
}

static at_status emit(at_arena *a, const at_options *o, const at_file_kernel *kernels, int n,
                      const char *head, at_text *source, at_error *err) {
    const char *path = at_header_path(a, o->output);
    at_text header = {0};
    at_file_options fo = {.head = head,
                          .source = path ? at_base_name(o->output) : NULL,
                          .header = path ? at_base_name(path) : NULL,
                          .with_main = o->with_main,
                          .abi = o->abi,
                          .fallback = o->fallback};
    at_status s = at_emit_file(a, kernels, n, &fo, source, &header, err);
    if (s == AT_OK) s = write_files(a, o, source, &header, err);
    at_text_free(&header);
    return s;
}

static void out_files(at_arena *a, at_out *out, const at_options *o, const at_text *source) {
    at_out_string(out, "output", o->output);
    at_out_string(out, "header", at_header_path(a, o->output));
    at_out_string(out, "code", o->output ? NULL : at_text_str(source));
}

/* ---- one ------------------------------------------------------------------------------------- */

/* A kernel that somebody wrote, as it is. */
static at_status apply_foreign(at_session *s, at_text *source, const at_options *o, at_error *err) {
    const char *path = at_header_path(s->arena, o->output);
    at_text header = {0};
    AT_TRY(at_foreign_check_output(at_foreign_of(s->what.task), o->output, err));
    AT_TRY(at_session_context(s, false, err));
    at_status status = at_foreign_print_file(
        s->arena, s->what.task, &s->what.chosen.config, head_text(s, s->what.chosen.from),
        path ? at_base_name(path) : NULL, source, &header, err);
    if (status == AT_OK) status = write_files(s->arena, o, source, &header, err);
    at_text_free(&header);
    return status;
}

/* Of a main whose kernel is C++ or Fortran: the kernel, beside it. */
static at_status write_main_part(at_session *s, const at_options *o, const char *name,
                                 at_error *err) {
    const at_foreign *f = at_foreign_of(s->what.task);
    if (!f || f->language == AT_LANGUAGE_C) return AT_OK;
    const char *path = at_format(s->arena, "%.*s_kernel%s", (int)strlen(o->output) - 2, o->output,
                                 at_foreign_ending(f));
    at_output_rules rules = at_rules_of_output(o);
    at_text text = {0};
    at_output *file = NULL;
    at_status status = at_foreign_main_part(s->arena, s->what.task, &s->what.chosen.config,
                                            head_text(s, s->what.chosen.from), name, &text, err);
    if (status == AT_OK) status = at_output_open(path, &rules, &file, err);
    if (status == AT_OK) status = at_output_add(file, at_text_str(&text), text.len, err);
    if (status == AT_OK) status = at_output_commit(&file, 1, err);
    at_output_close(file);
    at_text_free(&text);
    return status;
}

/* A main is C; a kernel that is not gets a file of its own. */
static at_status check_main_output(const at_session *s, const at_options *o, at_error *err) {
    const at_foreign *f = at_foreign_of(s->what.task);
    if (!f || f->language == AT_LANGUAGE_C || (o->output && at_ends_in(o->output, ".c")))
        return AT_OK;
    return at_fail(err, AT_E_USAGE,
                   "--main: a main is C, and %s is not: name a file that ends in .c, as in -o "
                   "check.c; the kernel goes beside it, into check_kernel%s",
                   f->path, at_foreign_ending(f));
}

static at_status apply_one(at_session *s, at_text *source, const at_options *o, at_error *err) {
    at_file_kernel kernel = {0};
    AT_TRY(at_open_config(o, true, s, err));
    const bool as_it_is = at_task_foreign(s->what.task) && !o->with_main;
    if (as_it_is) AT_TRY(apply_foreign(s, source, o, err));
    if (as_it_is && !o->json) return AT_OK;
    if (!as_it_is) {
        AT_TRY(check_main_output(s, o, err));
        AT_TRY(make_kernel(s, o->name, "", &kernel, err));
        AT_TRY(emit(s->arena, o, &kernel, 1, NULL, source, err));
        AT_TRY(write_main_part(s, o, kernel.name, err));
    }
    if (!o->json) return AT_OK;

    at_out out = at_out_object();
    at_out_task(&out, s);
    at_out_config(&out, &s->what.chosen.config);
    at_out_string(&out, "name", as_it_is ? s->what.row->name : kernel.name);
    out_files(s->arena, &out, o, source);
    return at_out_print(&out, err);
}

/* ---- all of a log ---------------------------------------------------------------------------- */

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

/* suffix: of the kernel's name where there are several instruction sets. */
static at_status add_kernel(apply_set *set, const at_options *o, const at_engine_options *engine,
                            const char *suffix, const at_selection *chosen, at_error *err) {
    at_session *s = &set->sessions[set->n];
    at_file_kernel *k = &set->kernels[set->n];
    at_session_open_chosen(engine, chosen, s);
    set->n++; /* to be closed from now on */
    const char *family = family_name(set, s);
    const char *name = kernel_name(set->arena, s->what.task, suffix);
    if (!strcmp(name, family)) name = at_format(set->arena, "%s_1", name); /* without arguments */
    name = own_name(set, name, family);
    AT_TRY(make_kernel(s, name, suffix, k, err));
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
        at_warn(NULL, at_format(set->arena, "%s: has the shape of %s; left out", k->name,
                                set->kernels[i].name));
        at_session_close(s);
        set->n--;
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
    out_files(set->arena, &out, o, source);
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
    AT_TRY(emit(set->arena, o, set->kernels, set->n, set_head(set, o), source, err));
    return o->json ? print_set(set, o, source, err) : AT_OK;
}

static at_status check_of_all(const at_options *o, at_error *err) {
    static const char *const of_all[] = {"--fallback", "--isas"};
    for (size_t i = 0; i < sizeof of_all / sizeof *of_all; i++)
        if (o->num_operands && at_given(o, of_all[i]))
            return at_fail(err, AT_E_USAGE,
                           "%s is for all kernels of a log: autotune apply --log LOG %s ...",
                           of_all[i], of_all[i]);
    return AT_OK;
}

at_status at_cmd_apply(const at_options *o, at_error *err) {
    at_text source = {0};
    at_status status = at_check_name(o, err);
    if (status == AT_OK && o->output) status = check_output(o->output, err);
    if (status == AT_OK) status = check_of_all(o, err);
    if (status != AT_OK) return status;
    if (o->num_operands) {
        at_session s = {0};
        status = apply_one(&s, &source, o, err);
        at_session_close(&s);
    } else {
        apply_set set = {.arena = at_arena_new()};
        status = apply_all(&set, &source, o, err);
        for (int i = 0; i < set.n; i++) at_session_close(&set.sessions[i]);
        at_arena_free(set.arena);
    }
    at_text_free(&source);
    return status;
}
