/* schedule/edit/edit_epilogue.c: E9, epilogues: what becomes of an output's elements as they are
 * stored, by a text in which x is the element.
 *
 *     out[y:Y, x:X] = acc[y, x]     ->     out[y:Y, x:X] = max(acc[y, x] + bias[x], 0)
 *
 * The output keeps its name, its axes and its leaf, so that trees stay as they are. */
#include "schedule/epilogue.h"

#include <string.h>

#include "schedule/edit/rewrite.h"

static const struct row {
    const char *name, *text, *help;
    at_type type;
} rows[] = {
#define AT_EPILOGUE(id, name, text, help, type) {name, text, help, type},
#include "schedule/epilogue.def"
#undef AT_EPILOGUE
};

const char *at_epilogue_name(at_epilogue e) { return rows[e].name; }
const char *at_epilogue_text(at_epilogue e) { return rows[e].text; }
const char *at_epilogue_help(at_epilogue e) { return rows[e].help; }
at_type at_epilogue_type(at_epilogue e) { return rows[e].type; }

/* What a name in the text stands for. */
typedef struct operand {
    const char *name;
    bool per_channel;
    at_expr *read;
    const char *tensor;
} operand;

typedef struct epilogue {
    rewrite w;
    const at_compute *c;
    int output;
    const int *order; /* of the output's axes in the plain tensor; NULL: as they are */
    at_expr *value;   /* x */
    at_type operand;  /* the type of the operands */
    AT_VEC(operand) operands;
} epilogue;

/* ---- channels -------------------------------------------------------------------------------- */

/* [tensor] the axes, as a set, that decide which elements of constant inputs an element is made of;
 * which of the others it is made of, [tensor][input]. */
typedef struct reach {
    uint32_t constant;
    uint32_t *inputs; /* [num_tensors] */
} reach;

/* The axes that occur in an index where no entry of an index tensor is asked for. */
static at_walk add_plain_axis(const at_expr *e, void *axes) {
    if (e->op == AT_X_NAME && e->ref >= 0 && e->ref < MAX_AXES) *(uint32_t *)axes |= 1u << e->ref;
    return e->op == AT_X_INDEX ? AT_WALK_PAST : AT_WALK_ON;
}

/* Of the reductions in a set, the axes that choose a list of terms, as xr of sum(e: indptr[xr] ..
 * indptr[xr + 1]). */
static uint32_t axes_of_lists(const at_tensor *t, uint32_t axes) {
    uint32_t set = 0;
    for (int k = t->num_axes; k < axes_of(t); k++) {
        const at_axis *x = &t->axes[k];
        if (axes >> k & 1 && x->begin && (at_expr_reads(x->begin) || at_expr_reads(x->end)))
            set |= at_expr_axes(x->begin) | at_expr_axes(x->end);
    }
    return set;
}

static bool take(uint32_t *into, uint32_t axes) {
    const bool is_new = axes & ~*into;
    *into |= axes;
    return is_new;
}

/* What a stage's reads add to what is known. True: something is new. */
static bool reach_of(const at_compute *c, int stage, reach *all) {
    const at_tensor *t = &c->tensors[stage];
    const tensor_info *info = &info_of(c)->info[stage];
    reach *own = &all[stage];
    bool any = false;
    for (int r = 0; r < info->num_reads; r++) {
        const at_expr *read = info->reads[r];
        const at_tensor *of = &c->tensors[read->ref];
        for (int d = 0; d < read->nargs; d++) {
            const uint32_t spatial = t->num_axes < MAX_AXES ? (1u << t->num_axes) - 1 : ~0u;
            const uint32_t moved = at_expr_axes(read->arg[d]), axes = moved & spatial;
            uint32_t plain = 0;
            at_expr_walk(read->arg[d], add_plain_axis, &plain);
            /* where a kernel is moved along, as h*2 + kh, is no channel */
            const uint32_t fixed =
                (axes_of_lists(t, moved) | (moved & ~spatial ? 0 : plain)) & spatial;
            if (of->role == AT_ROLE_INPUT) any |= take(&own->inputs[read->ref], axes);
            else if (of->role == AT_ROLE_WEIGHT) any |= take(&own->constant, fixed);
            if (of->role != AT_ROLE_STAGE) continue;
            if (all[read->ref].constant >> d & 1) any |= take(&own->constant, fixed);
            for (int i = 0; i < c->num_tensors; i++)
                if (all[read->ref].inputs[i] >> d & 1) any |= take(&own->inputs[i], axes);
        }
    }
    return any;
}

/* Stages may read each other. */
static const reach *reaches(at_arena *a, const at_compute *c) {
    reach *all = AT_NEW_ARRAY(a, reach, c->num_tensors);
    bool any = true;
    for (int t = 0; t < c->num_tensors; t++)
        all[t].inputs = AT_NEW_ARRAY(a, uint32_t, c->num_tensors);
    while (any) {
        any = false;
        for (int t = 0; t < c->num_tensors; t++)
            any |= c->tensors[t].role == AT_ROLE_STAGE && reach_of(c, t, all);
    }
    return all;
}

/* The output's axes along which the weight differs are its channels; where nothing is constant, its
 * last axis, if some input is the same along that. 0: there are none. */
static uint32_t channels(const epilogue *x) {
    const at_compute *c = x->c;
    const reach *own = &reaches(x->w.arena, c)[x->output];
    int n = c->tensors[x->output].num_axes, last = x->order ? x->order[n - 1] : n - 1;
    if (own->constant) return own->constant;
    for (int i = 0; i < c->num_tensors; i++)
        if (own->inputs[i] && !(own->inputs[i] >> last & 1)) return 1u << last;
    return 0;
}

/* Is a name of the extent something else among the stage's own? */
static bool is_hidden(const at_tensor *stage, const at_expr *extent) {
    for (int k = 0; k < axes_of(stage); k++)
        if (at_expr_mentions(extent, stage->axes[k].name)) return true;
    for (int d = 0; d < stage->num_defs; d++)
        for (int k = 0; k < stage->defs[d].num_names; k++)
            if (at_expr_mentions(extent, stage->defs[d].names[k])) return true;
    return false;
}

static at_tensor *stage_of(epilogue *x) {
    return rewrite_find(&x->w, x->c->tensors[x->output].name);
}

static at_tensor new_tensor(epilogue *x, const char *like, at_role role, int num_axes) {
    return (at_tensor){.name = rewrite_fresh(&x->w, like),
                       .role = role,
                       .type = x->operand,
                       .num_axes = num_axes,
                       .axes = AT_NEW_ARRAY(x->w.arena, at_axis, num_axes)};
}

/* A tensor becomes known right before the output. */
static void declare(epilogue *x, at_tensor t) {
    rewrite_insert(&x->w, x->c->tensors[x->output].name, t);
}

/* A weight with an element per channel, read at the channel of the output's element. */
static at_status per_channel(epilogue *x, operand *o) {
    const char *like = o->name;
    at_arena *a = x->w.arena;
    uint32_t set = channels(x);
    const at_tensor *stage = stage_of(x);
    at_expr *index = NULL, *extent = NULL;
    if (!set)
        return at_fail(
            x->w.err, AT_E_INPUT,
            "the output \"%s\" has no channels: there is no weight, and no input that is "
            "the same along its last axis; stages that need none: add, relu, clip",
            stage->name);
    for (int i = 0; i < stage->num_axes; i++) {
        int k = x->order ? x->order[i] : i;
        if (!(set >> k & 1)) continue;
        const at_expr *own = stage->axes[k].extent;
        at_expr *axis = at_expr_name(a, stage->axes[k].name);
        if (index && is_hidden(stage, own))
            return at_fail(x->w.err, AT_E_INPUT,
                           "the extent of \"%s\" has a name that is hidden in \"%s\"",
                           stage->axes[k].name, stage->name);
        if (index)
            index = at_expr_pair(a, AT_X_MUL, index, rewrite_copy_expr(a, own)),
            extent = at_expr_pair(a, AT_X_MUL, extent, rewrite_copy_expr(a, own));
        else extent = rewrite_copy_expr(a, own);
        index = index ? at_expr_pair(a, AT_X_ADD, index, axis) : axis;
    }
    at_tensor t = new_tensor(x, like, AT_ROLE_WEIGHT, 1);
    t.axes[0].extent = extent;
    declare(x, t);
    o->tensor = t.name;
    o->read = at_expr_read(a, t.name, 1, &index);
    return AT_OK;
}

/* An input of the output's shape, read at the output's element. */
static void per_element(epilogue *x, operand *o) {
    const char *like = o->name;
    at_arena *a = x->w.arena;
    const at_tensor *stage = stage_of(x);
    at_expr **index = AT_NEW_ARRAY(a, at_expr *, stage->num_axes);
    at_tensor t = new_tensor(x, like, AT_ROLE_INPUT, stage->num_axes);
    for (int k = 0; k < stage->num_axes; k++) {
        t.axes[k].extent = rewrite_copy_expr(a, stage->axes[k].extent);
        index[k] = at_expr_name(a, stage->axes[k].name);
    }
    declare(x, t);
    o->tensor = t.name;
    o->read = at_expr_read(a, t.name, t.num_axes, index);
}

/* ---- the text -------------------------------------------------------------------------------- */

/* A text that doubles x grows with each stage. */
enum { MOST_NODES = 1000, MOST_OPERANDS = 16 };

static bool is_name(const at_expr *e, const char *name) {
    return e->op == AT_X_NAME && !strcmp(e->name, name);
}

/* Ends where a text has what no stage can be made of. */
static at_walk check(const at_expr *e, void *err) {
    if (is_name(e, "c")) at_fail(err, AT_E_INPUT, "c stands for the channel, in NAME[c] alone");
    else if (e->op == AT_X_INDEX && (e->nargs != 1 || !is_name(e->arg[0], "c")))
        at_fail(err, AT_E_INPUT, "%s is read as %s[c], a number per channel, or as %s alone",
                e->name, e->name, e->name);
    else if (e->op == AT_X_FIELD || e->op == AT_X_EXTENT)
        at_fail(err, AT_E_INPUT, "\"%s\" is asked for more than its element", e->name);
    else return e->op == AT_X_INDEX ? AT_WALK_PAST : AT_WALK_ON;
    return AT_WALK_END;
}

static at_status check_stage(const at_expr *e, at_error *err) {
    if (at_expr_walk(e, check, err)) return AT_E_INPUT;
    if (!at_expr_mentions(e, "x"))
        return at_fail(err, AT_E_INPUT, "a stage is made of x, the element before: x*sigmoid(x)");
    return AT_OK;
}

at_status at_epilogue_spell_text(at_arena *a, const char *text, const char **out, at_error *err) {
    at_expr *e;
    AT_TRY(at_expr_parse_text(a, text, "stage", &e, err));
    return at_epilogue_spell(a, e, out, err);
}

at_status at_epilogue_spell(at_arena *a, const at_expr *e, const char **out, at_error *err) {
    AT_TRY(check_stage(e, err));
    char *kept = at_expr_text(a, e), *to = kept;
    for (const char *p = kept; *p; p++)
        if (*p != ' ') *to++ = *p;
    *to = 0;
    *out = kept;
    return AT_OK;
}

static at_status operand_named(epilogue *x, const char *name, bool is_per_channel, at_expr **out) {
    operand *o = NULL;
    for (int i = 0; i < x->operands.len && !o; i++) {
        operand *known = &x->operands.data[i];
        if (known->per_channel == is_per_channel && !strcmp(known->name, name)) o = known;
    }
    if (!o) {
        if (x->operands.len == MOST_OPERANDS)
            return at_fail(x->w.err, AT_E_INPUT, "more than %d tensors in one stage",
                           MOST_OPERANDS);
        o = at_push(x->w.arena, &x->operands);
        *o = (operand){.name = name, .per_channel = is_per_channel};
        if (is_per_channel) AT_TRY(per_channel(x, o));
        else per_element(x, o);
    }
    *out = rewrite_copy_expr(x->w.arena, o->read);
    return AT_OK;
}

/* The text with the value for x and reads for the other names. */
static at_status fill_in(epilogue *x, const at_expr *e, at_expr **out) {
    if (is_name(e, "x")) return *out = rewrite_copy_expr(x->w.arena, x->value), AT_OK;
    if (e->op == AT_X_NAME || e->op == AT_X_INDEX)
        return operand_named(x, e->name, e->op == AT_X_INDEX, out);
    at_expr *made = at_copy(x->w.arena, e, sizeof *e);
    made->line = made->col = 0;
    made->arg = e->nargs ? AT_NEW_ARRAY(x->w.arena, at_expr *, e->nargs) : NULL;
    for (int i = 0; i < e->nargs; i++) AT_TRY(fill_in(x, e->arg[i], &made->arg[i]));
    *out = made;
    return AT_OK;
}

static bool is_rounding(const at_expr *e, const void *unused) {
    (void)unused;
    return e->op == AT_X_CALL && at_function_rounds((at_function)e->integer);
}

static at_status apply(epilogue *x, const char *text) {
    at_expr *e, *made;
    AT_TRY(at_expr_parse_text(x->w.arena, text, "stage", &e, x->w.err));
    AT_TRY(check_stage(e, x->w.err));
    /* what stays an integer has integers added */
    if (at_type_of(stage_of(x)->type)->is_int && !at_expr_find(e, is_rounding, NULL))
        x->operand = AT_S32;
    x->value = stage_of(x)->written;
    AT_TRY(fill_in(x, e, &made));
    if (at_expr_nodes(made) > MOST_NODES)
        return at_fail(x->w.err, AT_E_INPUT, "the output's expression has more than %d operations",
                       MOST_NODES);
    stage_of(x)->written = made;
    return AT_OK;
}

static const char *const *inputs_of(epilogue *x) {
    const char **inputs = AT_NEW_ARRAY(x->w.arena, const char *, x->operands.len + 1);
    int n = 0;
    for (int i = 0; i < x->operands.len; i++)
        if (!x->operands.data[i].per_channel) inputs[n++] = x->operands.data[i].tensor;
    return inputs;
}

static at_status only_output(const at_compute *c, int *out, at_error *err) {
    *out = -1;
    for (int i = 0; i < c->num_tensors; i++) {
        if (!c->tensors[i].is_output) continue;
        if (*out >= 0)
            return at_fail(err, AT_E_INPUT,
                           "there are several outputs: \"%s\", \"%s\"; stages go behind one",
                           c->tensors[*out].name, c->tensors[i].name);
        *out = i;
    }
    return AT_OK;
}

at_status at_edit_output_sum(const at_compute *c, const char **sum, at_error *err) {
    int output;
    AT_TRY(only_output(c, &output, err));
    *sum = c->tensors[output].num_reduce ? c->tensors[output].name : NULL;
    return AT_OK;
}

at_status at_edit_epilogue(at_arena *a, const at_compute *c, const int *order, const char *text,
                           at_type type, const at_compute **out, const char *const **inputs,
                           at_error *err) {
    epilogue x = {.c = c, .order = order};
    at_compute *made;
    AT_TRY(only_output(c, &x.output, err));
    if (c->tensors[x.output].num_reduce)
        return at_fail(err, AT_E_INPUT, "\"%s\" is a sum: its writing needs a copy first",
                       c->tensors[x.output].name);
    rewrite_open(&x.w, a, c, err);
    AT_TRY(apply(&x, text));
    if (type != AT_TYPE_COUNT) stage_of(&x)->type = type;
    AT_TRY(at_compute_make(a, c->symbols, x.w.tensors.data, x.w.tensors.len, "edited computation",
                           &made, err));
    *inputs = inputs_of(&x);
    *out = made;
    return AT_OK;
}
