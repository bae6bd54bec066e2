/* network/bands.c: two sums, the second of which reads windows of what the first one makes, by
 * bands of rows: what lies between them never leaves the caches near the core, and the few rows
 * that two bands have in common are computed twice.
 *
 *     t0[n, h, w, m] = sum(c) x[n, h, w, c]*w0[m, c]
 *     y0[n, h, w, m] = sum(p, q) t0[n, h + p, w + q, m]*w1[m, p, q]        by bands of 4 rows
 *  ->
 *     t0[b, r, w, m] = sum(c) b*4 + r < H ? x[0, b*4 + r, w, c]*w0_last[c, m] : 0
 *     y0[b, h, w, m] = sum(p, q) t0[b, h + p, w + q, m]*w1_last[p, q, m]
 *
 * with a loop over bands around both. Rows of the output lie as before: [b, h] are one axis. */
#include <string.h>

#include "network/joined.h"

/* Bytes between the sums, of which several fit the second level of most cores. */
enum { BAND_BYTES = 400 << 10 };
enum { BAND, ROW, COLUMN, CHANNEL, AXES };

typedef struct banding {
    at_joined *old, new;
    int made, reader;   /* tensors: the last stage before the windows, and the sum over them */
    int first;          /* the other sum */
    int64_t rows, step; /* of a band, as the reader has them; rows of `made` from one to the next */
    int64_t begin, in_rows; /* of `made`: the first one of the first window, how many a band has */
    int *place;             /* [old tensor] the new one */
} banding;

static const at_joined_tensor *old(const banding *b, int t) { return &b->old->tensors.data[t]; }
static bool is_stage(const banding *b, int t) {
    return old(b, t)->role == AT_ROLE_STAGE && !old(b, t)->is_gone;
}

/* ---- what can be done by bands --------------------------------------------------------------- */

/* A read of a stage that is not in place. */
static bool leads_elsewhere(const at_expr *e, const void *b) {
    return e->op == AT_X_INDEX && is_stage(b, e->ref) && !at_expr_is_in_place(e);
}

/* The same, but for reads of `made`. */
static bool leads_beyond_made(const at_expr *e, const void *b) {
    return leads_elsewhere(e, b) && e->ref != ((const banding *)b)->made;
}

/* The row that the reader reads in its row, at the first or the last term of its sum; false: it is
 * no number. */
static bool row_at(const banding *b, const at_expr *index, int64_t row, bool last, int64_t *out) {
    const at_joined_tensor *r = old(b, b->reader);
    const int n = r->num_axes + r->num_reduce;
    at_expr **values = AT_NEW_ARRAY(b->old->arena, at_expr *, n);
    for (int k = 0; k < n; k++)
        values[k] = at_expr_int(b->old->arena, k == ROW            ? row
                                               : k >= AXES && last ? r->axes[k].extent - 1
                                                                   : 0);
    const at_expr *e = at_join_simplify(
        b->old->arena, at_join_replace(b->old->arena, index, values, NULL), r->axes, r->type);
    if (e->op != AT_X_INT) return false;
    *out = e->integer;
    return true;
}

/* Which rows a window has. */
static bool find_windows(banding *b) {
    const at_expr *read = at_expr_read_of(old(b, b->reader)->body, b->made);
    int64_t next, end;
    if (!read || !at_expr_is_name(read->arg[CHANNEL], CHANNEL)) return false;
    const at_expr *batch = read->arg[BAND];
    if (!at_expr_is_name(batch, BAND) && !(batch->op == AT_X_INT && !batch->integer)) return false;
    if (!row_at(b, read->arg[ROW], 0, false, &b->begin) ||
        !row_at(b, read->arg[ROW], 1, false, &next) || !row_at(b, read->arg[ROW], 0, true, &end))
        return false;
    b->step = next - b->begin;
    b->in_rows = end - b->begin + 1; /* of one row */
    return b->step > 0 && b->in_rows > 1;
}

static bool has_axes_of_pictures(const at_joined_tensor *t) {
    if (t->num_axes != AXES || t->axes[BAND].extent != 1 || t->type != AT_F32) return false;
    for (int k = 0; k < AXES + t->num_reduce; k++)
        if (t->axes[k].begin) return false;
    return true;
}

static bool has_terms(const at_joined_tensor *t) {
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
        if (t->axes[k].extent > 1) return true;
    return false;
}

/* Two sums, the second one by windows of the stage before it, and what is made of each of them
 * element by element. */
static bool find_sums(banding *b) {
    int sums = 0, last = -1;
    for (int t = 0; t < b->old->tensors.len; t++) {
        if (old(b, t)->is_gone) continue;
        if (old(b, t)->role == AT_ROLE_INDEX || old(b, t)->type != AT_F32) return false;
        if (!is_stage(b, t)) continue;
        if (!has_axes_of_pictures(old(b, t)) || (old(b, t)->is_output && last > t)) return false;
        if (old(b, t)->num_reduce && ++sums == 2) b->reader = t, b->made = last;
        if (old(b, t)->num_reduce && sums == 1) b->first = t;
        last = t;
    }
    if (sums != 2 || !old(b, last)->is_output || !has_terms(old(b, b->first))) return false;
    for (int t = 0; t <= last; t++) {
        if (!is_stage(b, t)) continue;
        if (t < last && old(b, t)->is_output) return false;
        if (at_expr_find(old(b, t)->body, t == b->reader ? leads_beyond_made : leads_elsewhere, b))
            return false;
    }
    return find_windows(b);
}

/* As many rows as the caches hold of what is between; half of them and more where each thread has
 * as many bands then as the others. */
static bool choose_rows(banding *b, int threads) {
    const at_joined_tensor *made = old(b, b->made), *r = old(b, b->reader);
    const int64_t all = r->axes[ROW].extent, window = b->in_rows,
                  row_bytes = made->axes[COLUMN].extent * made->axes[CHANNEL].extent * 4;
    for (int64_t rows = all / 2; rows > 1 && 2 * rows >= b->rows; rows--) {
        const int64_t in_rows = (rows - 1) * b->step + window;
        const bool is_even = all / rows % threads == 0;
        if (all % rows || in_rows * row_bytes > BAND_BYTES || (b->rows && !is_even)) continue;
        b->rows = rows;
        b->in_rows = in_rows;
        if (is_even) return true;
    }
    return b->rows > 0;
}

/* ---- stages ---------------------------------------------------------------------------------- */

static at_expr *binary(const banding *b, at_op op, at_expr *x, at_expr *y) {
    return at_expr_pair(b->old->arena, op, x, y);
}

static at_expr *number(const banding *b, int64_t n) { return at_expr_int(b->old->arena, n); }

static at_expr *axis(const banding *b, int k) {
    at_expr *e = at_expr_name(b->old->arena, NULL);
    e->ref = k;
    return e;
}

/* What the stage's axes were, by those that it has now. Reductions of one term are gone. */
static at_expr **axes_of(const banding *b, int stage) {
    const at_joined_tensor *t = old(b, stage);
    const bool before = stage <= b->made;
    at_expr **e = AT_NEW_ARRAY(b->old->arena, at_expr *, AXES + t->num_reduce);
    at_expr *from = binary(b, AT_X_MUL, axis(b, BAND), number(b, b->rows * (before ? b->step : 1)));
    e[BAND] = number(b, 0);
    e[ROW] = binary(b, AT_X_ADD, from, axis(b, ROW));
    if (before) e[ROW] = binary(b, AT_X_ADD, e[ROW], number(b, b->begin));
    e[COLUMN] = axis(b, COLUMN);
    e[CHANNEL] = axis(b, CHANNEL);
    for (int k = AXES, n = AXES; k < AXES + t->num_reduce; k++)
        e[k] = t->axes[k].extent > 1 ? axis(b, n++) : number(b, 0);
    return e;
}

typedef struct banded_at {
    const banding *b;
    at_expr *const *axes; /* of what is no place in a band */
} banded_at;

static at_expr *put_in_band(const at_expr *e, at_expr *copy, void *ctx) {
    const banded_at *x = ctx;
    const banding *b = x->b;
    if (e->op == AT_X_NAME) return at_expr_map(b->old->arena, x->axes[e->ref], NULL, NULL);
    const bool in_band = e->op == AT_X_INDEX && is_stage(b, e->ref);
    if (e->op == AT_X_INDEX) copy->ref = b->place[e->ref];
    if (in_band && !at_expr_is_in_place(e)) { /* a window: from the band's first row on */
        at_expr *first = binary(b, AT_X_MUL, axis(b, BAND), number(b, b->rows * b->step));
        first = binary(b, AT_X_ADD, first, number(b, b->begin));
        copy->arg[ROW] = binary(b, AT_X_SUB, copy->arg[ROW], first);
    }
    if (in_band && at_expr_is_in_place(e)) copy->arg[ROW] = axis(b, ROW);
    if (in_band) copy->arg[BAND] = axis(b, BAND);
    return copy;
}

static bool reads_input(const at_expr *e, const void *b) {
    return e->op == AT_X_INDEX && old(b, e->ref)->role == AT_ROLE_INPUT;
}

/* Rows beyond the picture, which windows do not count, are none of the inputs'. */
static at_expr *guarded(const banding *b, const at_joined_tensor *t, at_expr *const *axes,
                        at_expr *body) {
    at_expr *is_inside = binary(b, AT_X_AND, binary(b, AT_X_LE, number(b, 0), axes[ROW]),
                                binary(b, AT_X_LT, axes[ROW], number(b, t->axes[ROW].extent)));
    at_expr *none = number(b, 0), *value = body;
    if (body->op == AT_X_SELECT && body->arg[2]->op == AT_X_INT && !body->arg[2]->integer) {
        is_inside = binary(b, AT_X_AND, is_inside, body->arg[0]);
        value = body->arg[1];
    }
    return at_expr_new(b->old->arena, AT_X_SELECT, 3, (at_expr *[]){is_inside, value, none});
}

typedef struct new_stage {
    banding *b;
    const at_joined_tensor *t;
} new_stage;

/* A weight that each channel has its own of, with channels last, which vectors read as it lies. */
static void pack(at_expr *e, void *ctx) {
    banding *b = ((const new_stage *)ctx)->b;
    const at_joined_tensor *t = ((const new_stage *)ctx)->t;
    if (e->op != AT_X_INDEX || b->new.tensors.data[e->ref].role != AT_ROLE_WEIGHT) return;
    int channel = -1, n = 0;
    for (int k = 0; k < e->nargs; k++) {
        if (at_expr_is_name(e->arg[k], CHANNEL)) channel = k;
        else if (!(e->arg[k]->op == AT_X_INT ||
                   (e->arg[k]->op == AT_X_NAME && e->arg[k]->ref >= AXES)))
            return;
    }
    if (channel < 0 || channel == e->nargs - 1) return;
    at_joined_tensor packed = {.value = -1, .role = AT_ROLE_STAGE};
    packed.axes = AT_NEW_ARRAY(b->old->arena, at_joined_axis, e->nargs);
    packed.body = at_copy(b->old->arena, e, sizeof *e);
    packed.body->arg = AT_NEW_ARRAY(b->old->arena, at_expr *, e->nargs);
    at_expr **args = AT_NEW_ARRAY(b->old->arena, at_expr *, e->nargs);
    for (int k = 0; k <= e->nargs; k++) { /* the channel behind all others */
        const int from = k < e->nargs ? k : channel;
        if (k == channel) continue;
        packed.body->arg[from] = e->arg[from];
        if (e->arg[from]->op == AT_X_INT) continue;
        packed.axes[n] = t->axes[e->arg[from]->ref];
        packed.body->arg[from] = axis(b, n);
        args[n++] = e->arg[from];
    }
    packed.num_axes = n;
    e->ref = b->new.tensors.len;
    e->arg = args;
    e->nargs = n;
    *at_push(b->old->arena, &b->new.tensors) = packed;
}

static void add_stage(banding *b, int stage) {
    const bool before = stage <= b->made;
    static const char *const names[][AXES] = {{"b", "ra", "ca", "na"}, {"b", "rb", "cb", "nb"}};
    at_joined_tensor t = *old(b, stage);
    at_expr **places = axes_of(b, stage);
    at_expr *body = at_expr_map(b->old->arena, t.body, put_in_band, &(banded_at){b, places});
    if (before && at_expr_find(t.body, reads_input, b)) body = guarded(b, &t, places, body);
    t.axes = AT_NEW_ARRAY(b->old->arena, at_joined_axis, AXES + t.num_reduce);
    for (int k = 0; k < AXES; k++)
        t.axes[k] = (at_joined_axis){names[!before][k], old(b, stage)->axes[k].extent, NULL, NULL};
    t.axes[BAND].extent = old(b, b->reader)->axes[ROW].extent / b->rows;
    t.axes[ROW].extent = before ? b->in_rows : b->rows;
    t.num_reduce = 0;
    for (int k = AXES; k < AXES + old(b, stage)->num_reduce; k++) {
        if (old(b, stage)->axes[k].extent == 1) continue;
        at_joined_axis *x = &t.axes[AXES + t.num_reduce++];
        *x = old(b, stage)->axes[k];
        x->name = at_format(b->old->arena, "%s%d", before ? "ka" : "kb", k - AXES);
    }
    t.body = at_join_simplify(b->old->arena, body, t.axes, t.type);
    if (t.num_reduce) at_expr_each(t.body, pack, &(new_stage){b, &t});
    b->place[stage] = b->new.tensors.len;
    *at_push(b->old->arena, &b->new.tensors) = t;
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* A sum in tiles of some columns and channels of a row. */
static void print_nest(at_text *out, const at_joined_tensor *t, char side) {
    enum { SHORT = 8 }; /* a last reduction that is written out */
    at_text sums = {0};
    at_text_addf(out, "    r%c, c%c0, n%c0 =>\n        ", side, side, side);
    for (int k = AXES; k < AXES + t->num_reduce; k++) {
        const bool is_unrolled = k == AXES + t->num_reduce - 1 && t->axes[k].extent <= SHORT;
        at_text_addf(out, "%s%s, ", t->axes[k].name, is_unrolled ? ":unroll" : "");
        at_text_addf(&sums, "%s%s", k > AXES ? ", " : "", t->axes[k].name);
    }
    at_text_addf(out, "c%c1:unroll, n%c1:vec =>\n", side, side);
    at_text_addf(out, "            @%s = b, r%c, {c%c0, c%c1}/c%c, {n%c0, n%c1}/n%c // %s\n",
                 t->name, side, side, side, side, side, side, side, at_text_str(&sums));
    at_text_free(&sums);
}

bool at_join_bands(at_joined *j, int threads) {
    banding b = {.old = j, .new.arena = j->arena, .made = -1, .reader = -1, .first = -1};
    if (!find_sums(&b) || !choose_rows(&b, threads)) return false;
    b.place = AT_NEW_ARRAY(j->arena, int, j->tensors.len);
    for (int t = 0; t < j->tensors.len; t++) {
        if (is_stage(&b, t)) {
            add_stage(&b, t);
            continue;
        }
        b.place[t] = b.new.tensors.len;
        *at_push(j->arena, &b.new.tensors) = *old(&b, t);
    }
    b.new.first = b.place[b.first], b.new.second = b.place[b.reader];
    *j = b.new;
    return true;
}

void at_join_print_bands(at_text *out, const at_joined *j) {
    if (!j->second) return;
    at_text_add(out, "schedule\nb:para =>\n");
    print_nest(out, &j->tensors.data[j->first], 'a');
    print_nest(out, &j->tensors.data[j->second], 'b');
}
