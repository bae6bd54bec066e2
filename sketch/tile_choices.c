/* sketch/tile_choices.c: which register tiles a sum may have. All reductions stand directly around
 * the tile, so that sums live in registers from first to last, and what reads the sums element by
 * element stands beside it, in the same pieces:
 *
 *     i, j, k => @mul = i, j // k             {j0, i0}:para, i1, j1 =>
 *     i, j => @out = i, j              ->         k0, k1:unroll, i2:unroll, j2:vec =>
 *                                                     @mul = {i0, i1, i2}/i, {j0, j1, j2}/j //
 *                                                            {k0, k1}/k
 *                                                 i2:unroll, j2:vec =>
 *                                                     @out = {i0, i1, i2}/i, {j0, j1, j2}/j
 *
 * Further choices are where reductions stand, how an operand is read and what stands in the tile,
 * too; each is told with its condition. */
#include "sketch/nests.h"

#include <string.h>

/* Lanes along vec; rows, and rows beside these. */
static nest_choice *add_tile(nest_choices *out, const sketch_state *s, int stage, int vec) {
    nest_choice *c = nest_add_axis(out, s, stage, vec);
    c->row = tile_row_of(s, stage, vec);
    c->second = tile_rows_beside(s, stage, vec, c->row);
    return c;
}

/* ---- windows, which a copy would lay side by side ----------------------------------------------
 */

/* Does the access read windows along the axis, which a copy would lay side by side? */
static bool is_window(const sketch_state *s, int stage, const at_access *x, int vec) {
    const at_tensor *from = &s->facts->compute->tensors[x->tensor];
    return x->known && !x->is_bare && from->role == AT_ROLE_INPUT &&
           tile_reads_once(s, stage, x->tensor) && (x->stride[vec] > 1 || x->is_cut[vec]);
}

/* The windows that lanes along an axis read, where all else is the same for them, or lies side by
 * side; -1: there are none. */
static int windows_of(const sketch_state *s, int stage, int vec) {
    const at_stage_facts *f = &s->facts->of[stage];
    int found = -1;
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        if (is_window(s, stage, x, vec) && found < 0) found = i;
        else if (!x->known || (x->stride[vec] != 0 && x->stride[vec] != 1)) return -1;
    }
    return found;
}

/* The axis along which sums are stored, for lanes that would read windows in steps or across
 * padding; -1: none. */
static int window_lanes_of(const sketch_state *s, int stage) {
    const at_tensor *x = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    int vec = x->num_axes - 1;
    if (!x->num_reduce || f->inner[vec] < LEAST_COPIED_LANES) return -1;
    for (int k = 0; k < x->num_axes + x->num_reduce; k++)
        if (f->divisor[k] || x->axes[k].begin) return -1; /* their windows lie apart */
    int row = tile_row_of(s, stage, vec);
    return row >= 0 && tile_reuses(s, stage, vec, row) && windows_of(s, stage, vec) >= 0 ? vec : -1;
}

/* ---- the tile itself ------------------------------------------------------------------------- */

/* Whether columns may stand inside of the rows: there are several, and rows that padding or the
 * like cuts into. Channels of groups then read each part of the picture as it lies. */
static bool may_go_by_rows(const sketch_state *s, int stage, int vec) {
    const at_stage_facts *f = &s->facts->of[stage];
    int64_t columns = f->extent[vec] / (f->divisor[vec] ? f->inner[vec] : TILE_COLUMNS);
    for (int k = 0; k < s->facts->compute->tensors[stage].num_axes; k++)
        if (k != vec && !sketch_is_step(s, stage, k) && tile_is_guarded(s, stage, k))
            return columns > 1;
    return false;
}

/* Which short reductions are written out, in rows first or not. */
static void add_unrolled(nest_choices *out, const sketch_state *s, int stage, int vec) {
    const bool is_short = tile_sums_are_short(s, stage),
               leads = tile_rows_lead(s, stage, vec, tile_row_of(s, stage, vec));
    for (int by_rows = leads; by_rows <= (leads || may_go_by_rows(s, stage, vec)); by_rows++) {
        nest_choice *c = add_tile(out, s, stage, vec);
        int sums[2], n = tile_short_sums(s, stage, c->row, c->second, sums);
        c->rows_first = by_rows;
        c->all = is_short && n;
        if (c->all) c->unrolled = sums[0];
        for (int i = 0; i < (c->all ? 1 : n); i++) {
            nest_choice *more = add_tile(out, s, stage, vec);
            more->rows_first = by_rows;
            more->unrolled = sums[i];
        }
    }
}

/* Does each read that is the same for all of a group lie, from group to group, as near as loads
 * pick elements of whole registers, and any other side by side, or in the order of use? */
static bool are_groups_near(const sketch_state *s, int stage, int vec) {
    const at_facts *f = s->facts;
    int num;
    const at_expr *const *reads = at_compute_reads(f->compute, stage, &num);
    for (int i = 0; i < num; i++) {
        const at_expr *x = reads[i];
        const int last = x->nargs - 1;
        for (int d = 0; d <= last; d++) {
            if (!at_expr_uses(x->arg[d], vec)) continue;
            const bool is_own = x->arg[d]->op == AT_X_NAME;
            if (sketch_is_weight(s, x->ref)) continue;
            if (d < last || (!is_own && f->extents[x->ref][d] * f->of[stage].inner[vec] >
                                            MOST_LANE_STEP * f->of[stage].extent[vec]))
                return false;
        }
    }
    return true;
}

/* Lanes through several groups, each of which is less than a register: what is the same for all of
 * a group is spread over its lanes. */
static void add_groups(nest_choices *out, const sketch_state *s, int stage, int vec) {
    const at_stage_facts *f = &s->facts->of[stage];
    const at_tensor *t = &s->facts->compute->tensors[stage];
    int sums[2];
    if (!f->divisor[vec] || f->is_phase[vec] || vec != t->num_axes - 1 ||
        f->inner[vec] != LEAST_LANES || f->extent[vec] < 2 * LEAST_LANES ||
        !are_groups_near(s, stage, vec))
        return;
    for (int k = 0; k < t->num_axes + t->num_reduce; k++)
        if (k != vec && f->divisor[k]) return;
    nest_choice *c = add_tile(out, s, stage, vec);
    if (tile_short_sums(s, stage, c->row, c->second, sums) > 1) c->unrolled = sums[1];
    c->groups = true;
}

/* Is what is made of the sums copied with padding? It lies within the copy, whose rows are longer.
 */
static bool is_copied_padded(const sketch_state *s, int stage) {
    const at_compute *c = s->facts->compute;
    const at_stage_facts *f = &s->facts->of[stage];
    const int made = f->has_matched_reader ? f->reader : stage;
    for (int t = made + 1; t < c->num_tensors; t++) {
        const at_stage_facts *r = &s->facts->of[t];
        if (!at_facts_has_leaf(s->facts, t) || c->tensors[t].num_reduce) continue;
        for (int i = 0; i < r->num_accesses; i++)
            if (r->access[i].tensor == made && r->access[i].is_guarded) return true;
    }
    return false;
}

/* The axis before that of the lanes, where rows of all that lanes move along lie behind each other,
 * and several fill the registers that one leaves partly empty: pixels of a 1x1 convolution; -1:
 * there is none. */
static int beside_of(const sketch_state *s, int stage, int vec) {
    const at_stage_facts *f = &s->facts->of[stage];
    const int beside = vec - 1;
    if (beside < 0 || vec != s->facts->compute->tensors[stage].num_axes - 1 || f->divisor[vec] ||
        f->divisor[beside] || tile_joined_rows(f->extent[vec], NARROW_LANES) < 2 ||
        !tile_goes(s, stage, beside) || is_copied_padded(s, stage))
        return -1;
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        const at_tensor *of = &s->facts->compute->tensors[x->tensor];
        /* Elements narrower than 32 bits are no vectors beside lanes that are whole registers. */
        if (f->extent[vec] >= NARROW_LANES && at_type_bytes(of->type) < 4) return -1;
        /* Rows that tiles of their own cut may have gaps. */
        if (f->extent[vec] > TILE_COLUMNS / 2 && of->role == AT_ROLE_STAGE && x->stride[vec])
            return -1;
        const bool along = x->stride[vec] == 1 && x->stride[beside] == f->extent[vec],
                   stays = !x->stride[vec] && !x->stride[beside];
        if (x->is_cut[vec] || x->is_cut[beside] || !(along || stays)) return -1;
    }
    return beside;
}

/* Lanes through several rows. */
static void add_beside(nest_choices *out, const sketch_state *s, int stage, int vec) {
    const int beside = beside_of(s, stage, vec);
    if (beside < 0 || tile_row_of(s, stage, vec) == beside) return;
    nest_choice *c = add_tile(out, s, stage, vec);
    c->beside = beside;
    if (c->second == beside) c->second = -1;
}

void nest_find_tile(const sketch_state *s, int stage, nest_choices *out) {
    const int vec = tile_vector_of(s, stage), windows = window_lanes_of(s, stage);
    /* Sums of lanes along another axis than the windows' would be stored one by one. */
    if (vec < 0 || (windows >= 0 && windows != vec)) return;
    add_groups(out, s, stage, vec);
    add_beside(out, s, stage, vec);
    add_unrolled(out, s, stage, vec);
    const int blocked = tile_long_sum(s, stage, vec), shared = tile_shared_sum(s, stage);
    if (blocked >= 0) add_tile(out, s, stage, vec)->blocked = blocked;
    if (shared < 0 || tile_row_of(s, stage, vec) < 0) return;
    nest_choice *c = add_tile(out, s, stage, vec);
    c->blocked = shared;
    c->shared_out = true;
}

/* Where no axis suits the lanes: partial sums side by side along the last reduction, rows that need
 * the same beside each other:
 *
 *     w, f, c => @out = w, f // c    ->    {w0, f0}:para =>
 *                                              c0, f1:unroll, w1:unroll, c1:vec =>
 *                                                  @out = {w0, w1}/w, {f0, f1}/f // {c0, c1}/c  */
static void add_dots(nest_choices *out, const sketch_state *s, int stage, int vec) {
    if (vec < 0) return;
    nest_choice *c = add_tile(out, s, stage, vec);
    c->second = tile_second_of(s, stage, vec, c->row);
}

void nest_find_dots(const sketch_state *s, int stage, nest_choices *out) {
    add_dots(out, s, stage, tile_dot_of(s, stage));
}

/* What few elements need is read as it lies, rather than turned for lanes along an axis. */
void nest_find_few(const sketch_state *s, int stage, nest_choices *out) {
    add_dots(out, s, stage, tile_few_of(s, stage));
}

/* Few lanes leave most of a register empty: the same first of all, or in one more sketch. */
void nest_find_narrower(const sketch_state *s, int stage, nest_choices *out) {
    add_dots(out, s, stage, tile_narrow_of(s, stage, 0, NARROW_FIRST_LANES));
}

void nest_find_narrow(const sketch_state *s, int stage, nest_choices *out) {
    add_dots(out, s, stage, tile_narrow_of(s, stage, NARROW_FIRST_LANES, NARROW_LANES));
}

/* A reader that calls functions, and so needs registers of its own, goes over the sums of several
 * tiles, which are in a cache meanwhile:
 *
 *     {j0, i0}:para =>
 *         j1, i1, k0, k1:unroll, i2:unroll, j2:vec => @mul = ..
 *         j1, i1, i2:unroll, j2:vec => @out = ..  */
void nest_find_late(const sketch_state *s, int stage, nest_choices *out) {
    const at_stage_facts *f = &s->facts->of[stage];
    const int vec = tile_vector_of(s, stage);
    if (vec >= 0 && f->has_matched_reader && s->facts->of[f->reader].is_expensive)
        add_tile(out, s, stage, vec)->late = true;
}

/* ---- operands near the tiles ----------------------------------------------------------------- */

/* What is not packed ahead of the kernel, and is read as it lies. */
static bool may_copy(const sketch_state *s, int stage, const at_access *x) {
    const at_tensor *from = &s->facts->compute->tensors[x->tensor];
    return x->is_bare && from->role == AT_ROLE_INPUT && tile_reads_once(s, stage, x->tensor);
}

/* Vectors from beyond the caches near the core, which several rows need; -1: there are none. */
static int vectors_of(const sketch_state *s, int stage, int vec) {
    const at_stage_facts *f = &s->facts->of[stage];
    for (int i = 0; i < f->num_accesses; i++)
        for (int k = 0; k < s->facts->compute->tensors[stage].num_axes; k++)
            if (f->access[i].stride[vec] && !f->access[i].stride[k] && tile_goes(s, stage, k) &&
                may_copy(s, stage, &f->access[i]) && sketch_is_far(s, f->access[i].tensor))
                return i;
    return -1;
}

/* Rows that several columns need; -1: there are none. */
static int rows_of(const sketch_state *s, int stage, int vec, int row) {
    const at_stage_facts *f = &s->facts->of[stage];
    for (int i = 0; i < f->num_accesses; i++)
        if (row >= 0 && tile_has_columns(s, stage, vec) && f->access[i].stride[row] &&
            !f->access[i].stride[vec] && may_copy(s, stage, &f->access[i]))
            return i;
    return -1;
}

/* What the tiles of a block read is copied into the order of use right before them, so that the
 * copy stays in the caches for all of them: vectors for all rows; and, in blocks of a reduction
 * that is so long that these would not stay, also rows for all columns:
 *
 *     j0:para =>                            j0:para =>
 *         j1, k0, k1, j2 => @Y_packed           k0 =>
 *         i0, j1, i1 =>                             j1, k1, k2, j2 => @Y_packed
 *             .. @mul                               i0 =>
 *                                                       i1, k1, k2, i2 => @X_packed
 *                                                       j1, i1, .. @mul
 *                                               i0, j1, i1, .. @out  */
void nest_find_near(const sketch_state *s, int stage, nest_choices *out) {
    const int vec = tile_vector_of(s, stage), vectors = vec < 0 ? -1 : vectors_of(s, stage, vec);
    if (vectors < 0) return;
    nest_read(add_tile(out, s, stage, vec), vectors, READ_NEAR);
    const int rows = rows_of(s, stage, vec, tile_row_of(s, stage, vec)),
              blocked = tile_long_sum(s, stage, vec);
    if (rows < 0 || blocked < 0 || s->facts->of[stage].inner[blocked] < LONG_PANEL) return;
    nest_choice *c = add_tile(out, s, stage, vec);
    c->blocked = blocked;
    c->panels = true;
    nest_read(c, vectors, READ_PANEL);
    nest_read(c, rows, READ_PANEL);
}

/* Lanes along an axis that reads every S-th element, or into which padding cuts, read a copy of the
 * windows of a block, behind each other in the order of use (im2col):
 *
 *     n, f, h, w, .. @conv reads pad[n, c, h*S + r, w*S + q]    ->
 *         {n, h, w0}:para =>
 *             c, r, q, w1 => @pad_packed
 *             f0, f1, c, r, q, f2:unroll, w1:vec => @conv  */
void nest_find_windows(const sketch_state *s, int stage, nest_choices *out) {
    const int vec = window_lanes_of(s, stage);
    if (vec >= 0) nest_read(add_tile(out, s, stage, vec), windows_of(s, stage, vec), READ_WINDOWS);
}

/* ---- rows by a list of places ---------------------------------------------------------------- */

/* c ? tensor[..] : number, where places alone decide c */
static bool chooses(const at_expr *e, const void *tensor) {
    return e->op == AT_X_SELECT && !at_expr_reads(e->arg[0]) &&
           at_expr_is_read(e->arg[1], tensor) && at_expr_is_number(e->arg[2]);
}

/* A long reduction goes along what an entry leads to. */
static bool has_runs(const sketch_state *s, int stage, const at_access *x) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
        if (x->stride[k] == 1 && !x->is_cut[k] &&
            s->facts->of[stage].inner[k] >= POINTERS_LEAST_RUN)
            return true;
    return false;
}

/* Products with padding are not left out: where the padded picture is more than twice the picture,
 * they are so many (44 % of a 3x3 kernel on 4x4) that a list is of no use. */
static bool pays_for_list(const sketch_state *s, const at_access *x) {
    double picture = sketch_elements(s, x->tensor), padded = sketch_elements(s, x->from);
    return x->is_guarded && (x->from == x->tensor || (padded > picture && padded <= 2 * picture));
}

/* The padded rows that a tile with these lanes reads; -1: there are none. */
static int padded_rows_of(const sketch_state *s, int stage, int vec, int row) {
    const at_compute *c = s->facts->compute;
    const at_stage_facts *f = &s->facts->of[stage];
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        const at_expr *body = c->tensors[x->from == x->tensor ? stage : x->from].body;
        if (x->known && pays_for_list(s, x) && !x->stride[vec] && x->stride[row] &&
            c->tensors[x->tensor].role == AT_ROLE_INPUT &&
            !at_type_of(c->tensors[x->tensor].type)->is_int &&
            at_expr_find(body, chooses, &x->tensor) && tile_reads_once(s, stage, x->tensor) &&
            has_runs(s, stage, x))
            return i;
    }
    return -1;
}

/* The rows of a picture that a tile needs, padding included, are read by a list of places
 * (codegen/pointers.c): neither a copy nor a condition, but products with padding are computed.
 *
 *     n, h, w, f, .. @conv reads pad[n, h*S + r, w*S + q, c]    ->
 *         {f0, n, h}:para, w0 =>
 *             r, q, c0, c1:unroll, w1:unroll, f1:vec =>
 *                 @conv[pointers data] = ..  */
void nest_find_pointers(const sketch_state *s, int stage, nest_choices *out) {
    const int vec = tile_vector_of(s, stage), row = vec < 0 ? -1 : tile_row_of(s, stage, vec),
              rows = row < 0 ? -1 : padded_rows_of(s, stage, vec, row);
    if (rows < 0) return;
    nest_choice *c = add_tile(out, s, stage, vec);
    c->second = -1;
    nest_read(c, rows, READ_POINTERS);
}

/* ---- several sums in one tile ---------------------------------------------------------------- */

/* Loops of both have the same lengths, and no index divides them. */
static bool has_loops_of(const sketch_state *s, int one, int other) {
    const at_facts *f = s->facts;
    const at_tensor *a = &f->compute->tensors[one], *b = &f->compute->tensors[other];
    if (a->num_axes != b->num_axes || a->num_reduce != b->num_reduce) return false;
    for (int k = 0; k < a->num_axes + a->num_reduce; k++)
        if (f->of[one].extent[k] != f->of[other].extent[k] || f->of[one].divisor[k] ||
            f->of[other].divisor[k] || a->axes[k].begin || b->axes[k].begin)
            return false;
    return true;
}

/* Something that both read in the same way; lanes have it as it lies. */
static bool shares_read(const sketch_state *s, int one, int other, int vec) {
    const at_stage_facts *a = &s->facts->of[one], *b = &s->facts->of[other];
    const at_tensor *x = &s->facts->compute->tensors[one];
    size_t size = sizeof *a->access->stride * (size_t)(x->num_axes + x->num_reduce);
    bool shares = false;
    for (int i = 0; i < a->num_accesses; i++)
        for (int j = 0; j < b->num_accesses; j++) {
            const at_access *r = &a->access[i];
            if (r->tensor != b->access[j].tensor || memcmp(r->stride, b->access[j].stride, size))
                continue;
            if (r->stride[vec] != 0 && r->stride[vec] != 1) return false;
            shares = true;
        }
    return shares;
}

bool nest_can_wait(const sketch_state *s, int sum, int later, bool is_tile) {
    const at_facts *f = s->facts;
    const at_compute *c = f->compute;
    bool *passes = AT_NEW_ARRAY(s->arena, bool, c->num_tensors),
         *reads = AT_NEW_ARRAY(s->arena, bool, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) passes[t] = c->tensors[t].role == AT_ROLE_STAGE;
    at_compute_reach(c, passes, sum, reads);
    for (int t = sum + 1; t <= later; t++)
        if (reads[t] && !f->of[t].is_dissolved &&
            !(is_tile && f->of[sum].has_matched_reader && f->of[sum].reader == t))
            return false;
    return true;
}

/* Lanes along an axis, along which sums are stored; or along the last reduction; -1: none. */
static int lanes_of(const sketch_state *s, int stage, bool *is_tile) {
    int vec = tile_vector_of(s, stage), windows = window_lanes_of(s, stage);
    *is_tile = vec >= 0;
    if (vec < 0) return tile_dot_of(s, stage) < 0 ? tile_lanes_of(s, stage) : -1;
    return (windows < 0 || windows == vec) && !tile_sums_are_short(s, stage) ? vec : -1;
}

/* Sums over the same reduction that read some of the same are added up in one tile, or side by side
 * along their last reduction, so that this is read once, and what reads all of them stands beside:
 *
 *     m, f, k => @g = m, f // k        {f0, m0}:para, f1 =>
 *     m, f, k => @u = m, f // k            k0 =>
 *     m, f => @h = m, f                        k1, m1, f2:vec => @g = {m0, m1}/m, ..
 *                                ->            k1, m1, f2:vec => @u = {m0, m1}/m, ..
 *                                          m1, f2:vec => @h = {m0, m1}/m, ..  */
static void find_with(const sketch_state *s, int stage, bool wants_tile, nest_choices *out) {
    const at_facts *f = s->facts;
    bool is_tile, is_other;
    const int vec = lanes_of(s, stage, &is_tile);
    nest_choice found = {.num_with = 0};
    for (int t = stage - 1; t >= 0 && found.num_with < SKETCH_MOST_WITH && vec >= 0; t--)
        if (at_facts_has_leaf(f, t) && !f->of[t].is_written && !sketch_is_joined(s, t) &&
            f->compute->tensors[t].num_reduce && has_loops_of(s, t, stage) &&
            lanes_of(s, t, &is_other) == vec && shares_read(s, t, stage, vec) &&
            nest_can_wait(s, t, stage, is_tile))
            found.with[found.num_with++] = t;
    if (!found.num_with || is_tile != wants_tile) return;
    nest_choice *c = is_tile ? add_tile(out, s, stage, vec)
                             : nest_add(out, f->compute->tensors[stage].name, vec);
    memcpy(c->with, found.with, sizeof c->with);
    c->num_with = found.num_with;
}

void nest_find_tile_with(const sketch_state *s, int stage, nest_choices *out) {
    find_with(s, stage, true, out);
}

void nest_find_lanes_with(const sketch_state *s, int stage, nest_choices *out) {
    find_with(s, stage, false, out);
}
