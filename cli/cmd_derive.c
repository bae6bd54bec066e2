/* cli/cmd_derive.c: what a computation is made of, and the loop trees that rules derive from it;
 * one of them as a template's file. */
#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/open.h"
#include "cli/template_file.h"
#include "codegen/lowered.h"
#include "sketch/sketch.h"

typedef struct shown_sketch {
    const char *name;
    const at_schedulable *s;
    at_space *space;
    const at_sketch *derived; /* NULL: it was written */
    const char *waits;        /* which sums are not in registers throughout; NULL: none */
} shown_sketch;

typedef struct derived {
    at_session *session;
    at_facts facts;
    shown_sketch *sketches;
    int n;
} derived;

/* ---- looking --------------------------------------------------------------------------------- */

/* Of the default configuration, on this machine. */
static const char *waiting_sums(at_arena *a, const at_task *t) {
    const at_target *target = at_target_of_types(at_target_here(), at_task_compute(t));
    const at_lower_options o = {.dialect = AT_DIALECT_GNU, .name = "kernel", .target = target};
    at_arena *scratch = at_arena_new();
    const at_lowered *l;
    at_config config;
    at_program *p;
    const at_tree *tree;
    at_text all = {0};
    at_error err;
    bool is_lowered = at_task_default_config(scratch, t, target->lanes, &config, &err) == AT_OK &&
                      at_task_program(scratch, t, &config, &p, &err) == AT_OK &&
                      at_task_tree(scratch, t, &config, &tree, &err) == AT_OK &&
                      at_lower_tiles(scratch, p, &o, &l, &err) == AT_OK;
    for (int i = 0; is_lowered && i < p->compute->num_tensors; i++) {
        at_text loops = {0};
        if (p->compute->tensors[i].num_reduce && at_lowered_sum_waits(l, i, &loops))
            at_text_addf(&all, "%ssums of %s are in memory between steps of %s, %s",
                         all.len ? "; " : "", p->compute->tensors[i].name, at_text_str(&loops),
                         at_tree_sum_waits(tree, i) ? "which is a loop over blocks"
                                                    : "where conditions are decided");
        at_text_free(&loops);
    }
    at_arena_free(scratch);
    return all.len ? at_text_take(a, &all) : NULL;
}

static at_status look(derived *d, at_error *err) {
    at_arena *a = d->session->arena;
    const at_task *t = d->session->what.task;
    at_config config;
    int64_t *values;
    AT_TRY(at_task_default_config(a, t, AT_ANY_LANES, &config, err));
    AT_TRY(at_task_values(a, t, &config, &values, err));
    AT_TRY(at_compute_check_reads(at_task_compute(t), values, NULL, NULL, err));
    AT_TRY(at_facts_of(a, at_task_compute(t), &(at_facts_given){.values = values}, &d->facts, err));
    d->n = at_task_num_sketches(t);
    d->sketches = AT_NEW_ARRAY(a, shown_sketch, d->n + 1);
    for (int i = 0; i < d->n; i++) {
        const at_sketch *s = at_sketch_of_task(t, i);
        const at_task *own = at_task_sketch(t, i);
        d->sketches[i] = (shown_sketch){s->name, s->s, at_task_space(own), s, waiting_sums(a, own)};
    }
    if (d->n) return AT_OK;
    at_program *p; /* of a tree that is written whole, the default must have one */
    AT_TRY(at_task_program(a, t, &config, &p, err));
    d->n = 1;
    d->sketches[0] = (shown_sketch){.name = "as written", .space = at_task_space(t)};
    AT_TRY(at_schedulable_of_task(a, t, &d->sketches[0].s, err));
    d->sketches[0].waits = waiting_sums(a, t);
    return AT_OK;
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *role_of(const derived *d, int tensor) {
    static const char *const roles[] = {"input", "weight", "index"};
    const at_tensor *t = &d->facts.compute->tensors[tensor];
    if (t->role != AT_ROLE_STAGE) return roles[t->role];
    if (t->num_reduce) return t->is_output ? "sum, output" : "sum";
    if (t->is_output) return "output";
    return t->is_packing ? "packing" : d->facts.of[tensor].is_dissolved ? "inlined" : "stage";
}

static void add_shape(at_text *out, const at_tensor *t, const int64_t *extent, int from, int to) {
    at_text_add(out, "[");
    for (int i = from; i < to; i++) {
        if (t->axes[i].name) at_text_addf(out, "%s%s:", i > from ? ", " : "", t->axes[i].name);
        else at_text_add(out, i > from ? ", " : "");
        if (extent[i] < 0) at_text_add(out, "data"); /* decide where it ends */
        else at_text_addf(out, "%lld", (long long)extent[i]);
    }
    at_text_add(out, "]");
}

static void add_steps(at_text *out, const at_sketch *s) {
    for (int i = 0; i < s->num_steps; i++) {
        at_text_add(out, "  ");
        at_edit_print(out, &s->steps[i]);
        at_text_add(out, "\n");
    }
}

static const char *undotted_of(const shown_sketch *s) {
    return s->derived ? s->derived->undotted : NULL;
}

static at_status print_text(const derived *d, const at_options *o, at_error *err) {
    const at_compute *c = d->facts.compute;
    at_text out = {0};
    at_text_add_task(&out, d->session);
    at_text_add(&out, "\n");
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        at_text_addf(&out, "  %-12s %-12s ", x->name, role_of(d, t));
        add_shape(&out, x, d->facts.extents[t], 0, x->num_axes);
        if (x->num_reduce) {
            at_text_add(&out, " over ");
            add_shape(&out, x, d->facts.extents[t], x->num_axes, x->num_axes + x->num_reduce);
        }
        if (d->facts.of[t].operations > 0)
            at_text_addf(&out, "   %.6g MFLOP", d->facts.of[t].operations * 1e-6);
        at_text_add(&out, "\n");
    }
    for (int i = 0; i < d->n; i++) {
        const shown_sketch *s = &d->sketches[i];
        at_text_addf(&out, "\n%s: %lld points\n", s->name,
                     (long long)at_space_range_length(s->space));
        for (int k = 0; k < at_space_num_knobs(s->space); k++) {
            at_text_addf(&out, "  %-12s ", at_space_knob_name(s->space, k));
            at_space_print_knob(&out, s->space, k);
            at_text_add(&out, "\n");
        }
        if (o->verbose && s->derived) add_steps(&out, s->derived);
        at_text_add(&out, s->s->tree_text);
        if (s->waits) at_text_addf(&out, "  %s\n", s->waits);
        if (undotted_of(s)) at_text_addf(&out, "  %s\n", undotted_of(s));
    }
    return at_print(&out, err);
}

static at_status print_json(const derived *d, at_error *err) {
    const at_compute *c = d->facts.compute;
    at_out out = at_out_object();
    at_out_task(&out, d->session);
    at_out_begin(&out, "tensors", '[');
    for (int t = 0; t < c->num_tensors; t++) {
        at_out_begin(&out, NULL, '{');
        at_out_string(&out, "name", c->tensors[t].name);
        at_out_string(&out, "role", role_of(d, t));
        at_out_double(&out, "flops", d->facts.of[t].operations);
        at_out_end(&out, '}');
    }
    at_out_end(&out, ']');
    at_out_begin(&out, "sketches", '[');
    for (int i = 0; i < d->n; i++) {
        const shown_sketch *s = &d->sketches[i];
        at_text steps = {0};
        if (s->derived) add_steps(&steps, s->derived);
        at_out_begin(&out, NULL, '{');
        at_out_string(&out, "name", s->name);
        at_out_int(&out, "points", at_space_range_length(s->space));
        at_out_string(&out, "compute", s->s->compute_text);
        at_out_string(&out, "tree", s->s->tree_text);
        at_out_string(&out, "steps", at_text_str(&steps));
        at_out_string(&out, "waits", s->waits);
        at_out_string(&out, "undotted", undotted_of(s));
        at_out_end(&out, '}');
        at_text_free(&steps);
    }
    at_out_end(&out, ']');
    return at_out_print(&out, err);
}

/* ---- all ------------------------------------------------------------------------------------- */

static at_status write_file(const derived *d, const shown_sketch *s, const at_options *o,
                            at_error *err) {
    const char *help =
        at_format(d->session->arena, "%s of %s", s->name, d->session->what.row->name);
    return at_write_template(d->session->arena, o, s->s, help, err);
}

static at_status derive(derived *d, const at_options *o, at_error *err) {
    AT_TRY(at_open_task(o, d->session, err));
    AT_TRY(look(d, err));
    const at_selection *asked = &d->session->what.chosen;
    const int lanes = at_engine_target(&d->session->options)->default_lanes,
              chosen = asked->has_sketch ? asked->sketch
                                         : at_task_default_sketch(d->session->what.task, lanes);
    if (o->output) AT_TRY(write_file(d, &d->sketches[chosen], o, err));
    if (asked->has_sketch) d->sketches[0] = d->sketches[chosen], d->n = 1;
    return o->json ? print_json(d, err) : o->output ? AT_OK : print_text(d, o, err);
}

at_status at_cmd_derive(const at_options *o, at_error *err) {
    at_session s = {0};
    derived d = {.session = &s};
    at_status status = derive(&d, o, err);
    at_session_close(&s);
    return status;
}
