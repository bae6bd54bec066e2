/* sketch/rewrite_operands.c: rewrites of the operands of a sum.
 *
 * operands: what a sum calculates of weights and of index tensors' entries alone, such as numbers
 * of small integers, and what it reads of weights at products of indices becomes an operand of its
 * own. It is packed as a weight is, and calculated then, once:
 *
 *     y[m, n] = sum(k) x[m, k] * (w[n, k/2] % 16 - 8)    ->
 *         w_value[n, k] = w[n, k/2] % 16 - 8;  y[m, n] = sum(k) x[m, k] * w_value[n, k]
 *
 * Beside these sketches stand those that pack weights without entries one by one: what a tile
 * makes of them may take less than what packing inline does.
 *
 * unpacked: of entries that hold several numbers each, which few sums need, the entries are packed
 * and stay as narrow as they are; a tile takes them apart:
 *
 *     s[m, n] = sum(k) x[m, k]*(k%2 == 0 ? w[n, k/2] % 16 : w[n, k/2]/16)*a[n, k/32]    ->
 *         w_entries[n, q] : s32 = w[n, q];  s[m, n] = sum(k:K/32, k_1:16) (x[m, 32*k + 2*k_1]*
 *             (w_entries[n, 16*k + k_1] & 15) + ..)*a[n, k]
 *
 * shifted: a sum of products of two s8, or of two u8, becomes one of dot products, which are of one
 * of each: one operand is moved by 128, a weight while it is packed, another tensor as a whole, and
 * 128 times the sums of the other operand make up for it; sums of weights are packed.
 *
 *     acc[y, x] = sum(k) a[y, k] * w[x, k]    ->
 *         a_u8[y, k] = a[y, k] + 128;  w_sums[x] = sum(k) w[x, k]
 *         acc_dots[y, x] = sum(k) a_u8[y, k] * w[x, k];  acc = acc_dots[y, x] - 128*w_sums[x]
 *
 * words: in sketches of their own, factors that are bytes are widened to s16, a weight while it is
 * packed, another tensor as a whole: sets that have dot products of bytes by several instructions
 * alone add pairs of s16 faster.
 *
 *     acc[y, x] = sum(k) a[y, k] * w[x, k]    ->
 *         a_wide[y, k] : s16 = a[y, k];  w_wide[x, k] : s16 = w[x, k]
 *         acc[y, x] = sum(k) a_wide[y, k] * w_wide[x, k]
 *
 * apart: of a tensor that a sum reads in two ways, as a matrix times itself transposed, what goes
 * across the lanes of the sum becomes a stage of its own, another name of the tensor, so that it
 * can be packed while the other is read as it lies.
 *
 *     y[i, j] = sum(k) a[i, k] * a[j, k]    ->
 *         a_across[j, k] = a[j, k];  y[i, j] = sum(k) a[i, k] * a_across[j, k]
 *
 * places: where a stage has no lanes, since entries and axes beside them say together where it
 * reads, these places are worked out before, so that lanes gather from them:
 *
 *     y[q] = sum(k) x[min(first[q] + k, H - 1)]    ->
 *         x_place[k, q] : s32 = min(first[q] + k, H - 1);  y[q] = sum(k) x[x_place[k, q]]
 *
 * So are places that a condition on entries guards, within the tensor, so that lanes may gather
 * whatever the condition says, which chooses among what they gathered:
 *
 *     y[q] = e[q] > 0 ? x[e[q] - 1] : 0    ->
 *         x_place[q] : s32 = min(max(e[q] - 1, 0), N - 1);  y[q] = e[q] > 0 ? x[x_place[q]] : 0 */
#include "schedule/default_for.h"
#include "schedule/edit/edit_compute.h"
#include "sketch/nests.h"

/* ---- operands -------------------------------------------------------------------------------- */

static bool is_product(const at_expr *e, const void *unused) {
    (void)unused;
    return at_index_multiplies(e);
}

static bool reads_at_products(const at_expr *e) { return at_expr_find_index(e, is_product, NULL); }

static double elements_read(const sketch_state *s, int stage) {
    double n = 0;
    int num;
    const at_expr *const *reads = at_compute_reads(s->compute, stage, &num);
    for (int i = 0; i < num; i++) n += sketch_elements(s, reads[i]->ref);
    return n;
}

/* Does each sum that reads the stage have vectors, and read it so that it can be packed? */
static bool suits(const sketch_state *s, int stage) {
    bool any = false;
    for (int r = stage + 1; r < s->compute->num_tensors; r++) {
        const at_stage_facts *f = &s->facts->of[r];
        if (!at_facts_has_leaf(s->facts, r) || !at_facts_reads(s->facts, r, stage)) continue;
        any = true;
        if (!s->compute->tensors[r].num_reduce || tile_vector_of(s, r) < 0) return false;
        for (int i = 0; i < f->num_accesses; i++)
            if (f->access[i].tensor == stage && !f->access[i].is_bare) return false;
    }
    return any;
}

/* A stage is an operand from now on; false: it would be too large, or reads outside of a tensor
 * where a condition of its reader's does not. */
static bool take(sketch_state *s, const char *stage, const at_facts_given *given) {
    at_error why;
    *at_push(s->arena, &s->operands) = stage;
    if (sketch_refresh_facts(s, given) != AT_OK) return false;
    int t = at_compute_find(s->compute, stage);
    double most = OPERAND_MOST_PARTS * elements_read(s, t);
    if (reads_at_products(s->compute->tensors[t].body) && most < OPERAND_MOST_OF_FEW)
        most = OPERAND_MOST_OF_FEW;
    return sketch_elements(s, t) <= most &&
           at_compute_check_reads(s->compute, given->values, NULL, NULL, &why) == AT_OK;
}

/* What a sum makes of weights by one of them; false: nothing. */
static bool take_part(sketch_state *s, const char *sum, int tensor, const at_facts_given *given) {
    const at_compute *c = s->compute;
    const char *from = c->tensors[tensor].name;
    at_edit e = {.kind = AT_EDIT_OPERAND, .stage = sum, .other = from};
    const at_expr *operand =
        at_edit_operand_of(c, c->tensors[at_compute_find(c, sum)].body, tensor);
    bool has_to = operand && (at_expr_reads_entries(c, operand) || reads_at_products(operand));
    const bool stays_narrow = /* unpacked: in registers */
        s->facts->of[tensor].is_operand && c->tensors[tensor].type == AT_S32;
    if (!operand || stays_narrow || (s->keeps_weights && !has_to)) return false;
    sketch_state *b = sketch_branch(s, "");
    b->joins_weights |= !has_to;
    e.names[0] = sketch_fresh_of(s, from, "value");
    if (sketch_step(b, &e) != AT_OK || !take(b, e.names[0], given)) return false;
    *s = *b;
    return true;
}

/* All that a sum makes of weights, if that suits it. */
static bool take_parts(sketch_state *s, const char *sum, const at_facts_given *given) {
    const int before = s->operands.len;
    for (int k = 0; k < at_compute_find(s->compute, sum); k++)
        while (take_part(s, sum, k, given)) /* which stands right before it */
            ;
    for (int i = before; i < s->operands.len; i++)
        if (!suits(s, at_compute_find(s->compute, s->operands.data[i]))) return false;
    return s->operands.len > before;
}

bool rewrite_operands(sketch_state *s, int stage, const at_facts_given *given) {
    const at_tensor *x = &s->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    if (f->is_kept) return false;
    if (x->is_packing && !f->is_operand && /* the computation has it itself */
        at_expr_reads_role(s->compute, x->body, AT_ROLE_INDEX))
        return take(s, x->name, given) && suits(s, stage);
    return !f->is_dissolved && x->num_reduce && take_parts(s, x->name, given);
}

/* ---- unpacked -------------------------------------------------------------------------------- */

/* How many elements of the sum need the same entry. */
static int64_t uses_of(const sketch_state *s, int stage, int tensor) {
    const at_tensor *t = &s->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    int64_t uses = 1;
    for (int k = 0; k < t->num_axes; k++) {
        bool moves = false;
        for (int i = 0; i < f->num_accesses; i++)
            moves |=
                f->access[i].tensor == tensor && (!f->access[i].known || f->access[i].stride[k]);
        if (!moves) uses *= f->extent[k];
    }
    return uses;
}

bool rewrite_unpacked(sketch_state *s, int stage, const at_facts_given *given) {
    const at_tensor *t = &s->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    if (f->is_kept || f->is_dissolved || t->cycle) return false;
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++) {
        int tensor;
        int64_t whole;
        if (!at_edit_unpacks(s->compute, t, k, &tensor, &whole) || f->extent[k] % whole ||
            uses_of(s, stage, tensor) > UNPACK_MOST_USES)
            continue;
        const at_edit e = {
            .kind = AT_EDIT_UNPACK,
            .stage = t->name,
            .loop = t->axes[k].name,
            .names = {sketch_fresh_of(s, s->compute->tensors[tensor].name, "entries")}};
        *at_push(s->arena, &s->operands) = e.names[0];
        return sketch_rewrite_by(s, &e, given) &&
               tile_vector_of(s, at_compute_find(s->compute, t->name)) >= 0;
    }
    return false;
}

/* ---- shifted --------------------------------------------------------------------------------- */

/* The operand that is moved: of s8 one that is no weight, so that sums are of a weight; of u8 a
 * weight, so that moving it takes nothing. */
static int moved_of(const sketch_state *s, const at_expr *product) {
    const at_compute *c = s->compute;
    const int x = product->arg[0]->ref, y = product->arg[1]->ref;
    const bool wants_weight = c->tensors[x].type == AT_U8;
    if (x == y) return -1;
    return sketch_is_weight(s, x) == wants_weight ? x : y;
}

static bool is_known(const sketch_state *s, int stage) {
    const at_stage_facts *f = &s->facts->of[stage];
    const at_tensor *t = &s->compute->tensors[stage];
    return !f->is_kept && !f->is_dissolved && !t->cycle && tile_terms_of(s, stage) >= TILE_FOURS &&
           tile_terms_of(s, stage) <= SHIFT_MOST_TERMS;
}

/* A new stage is packed as the weight that it is made of, or stored as a whole. */
static void keep(sketch_state *s, const char *stage, bool is_weight) {
    if (is_weight) *at_push(s->arena, &s->operands) = stage;
    else *at_push(s->arena, &s->kept) = stage;
}

static bool makes_dots(const sketch_state *s, const char *sum) {
    const int at = at_compute_find(s->compute, sum), vec = tile_vector_of(s, at);
    return vec >= 0 && tile_fours_of(sketch_branch(s, ""), at, vec) >= 0;
}

bool rewrite_shifted(sketch_state *s, int stage, const at_facts_given *given) {
    const at_compute *c = s->compute;
    const at_tensor *t = &c->tensors[stage];
    if (!tile_sums_bytes(c, t) || !is_known(s, stage)) return false;
    const int moved = moved_of(s, t->body);
    if (moved < 0 || c->tensors[t->body->arg[0]->ref].type != c->tensors[t->body->arg[1]->ref].type)
        return false;
    const int other = t->body->arg[t->body->arg[0]->ref == moved]->ref;
    const char *from = c->tensors[moved].name,
               *type = at_type_of(c->tensors[moved].type == AT_U8 ? AT_S8 : AT_U8)->name;
    const at_edit e = {.kind = AT_EDIT_SHIFT,
                       .stage = t->name,
                       .other = from,
                       .names = {sketch_fresh_of(s, from, type),
                                 sketch_fresh_of(s, c->tensors[other].name, "sums"),
                                 sketch_fresh_of(s, t->name, "dots")}};
    keep(s, e.names[0], sketch_is_weight(s, moved));
    return sketch_rewrite_by(s, &e, given) && makes_dots(s, e.names[2]);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* A factor of the sum is a copy of s16. */
static bool take_word(sketch_state *s, const char *sum, int tensor, const at_facts_given *given) {
    const char *from = s->compute->tensors[tensor].name;
    const at_edit e = {.kind = AT_EDIT_COPY,
                       .stage = sum,
                       .other = from,
                       .copy = AT_COPY_WIDE,
                       .names = {sketch_fresh_of(s, from, "wide")}};
    keep(s, e.names[0], sketch_is_weight(s, tensor));
    return sketch_rewrite_by(s, &e, given);
}

/* Is the factor needed so often that s16 are worth the time to make or to load them, where a set
 * has dot products of bytes, too, though by several instructions? */
static bool pays_as_words(const sketch_state *s, int stage, int factor) {
    const at_tensor *sum = &s->compute->tensors[stage];
    double points = 1;
    for (int k = 0; k < sum->num_axes + sum->num_reduce; k++)
        points *= (double)s->facts->extents[stage][k];
    return points >= at_facts_elements(s->facts, factor) *
                         (sketch_is_weight(s, factor) ? WORDS_LEAST_USES : WHOLE_MANY_USES);
}

bool rewrite_words(sketch_state *s, int stage, const at_facts_given *given) {
    const at_compute *c = s->compute;
    const char *sum = c->tensors[stage].name;
    if (!s->words || !tile_sums_bytes(c, &c->tensors[stage]) || !is_known(s, stage)) return false;
    const at_expr *product = c->tensors[stage].body;
    if (product->arg[0]->op != AT_X_INDEX || product->arg[1]->op != AT_X_INDEX ||
        product->arg[0]->ref == product->arg[1]->ref)
        return false;
    const char *other = c->tensors[product->arg[1]->ref].name;
    s->preference.sets |= AT_ONLY_WORDS;
    if (pays_as_words(s, stage, product->arg[0]->ref) &&
        pays_as_words(s, stage, product->arg[1]->ref))
        s->preference.sets |= AT_QUICK_WORDS;
    return take_word(s, sum, product->arg[0]->ref, given) &&
           take_word(s, sum, at_compute_find(s->compute, other), given) && makes_dots(s, sum);
}

/* ---- apart ----------------------------------------------------------------------------------- */

/* The tensor of the only access that goes across the lanes, if there is another of it; -1: none. */
static int across(const sketch_state *s, int stage, int vec) {
    const at_stage_facts *f = &s->facts->of[stage];
    int found = -1, reads = 0;
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        if (x->stride[vec] == 0 || x->stride[vec] == 1) continue;
        if (found >= 0 || !x->is_bare || x->from != x->tensor) return -1;
        found = x->tensor;
    }
    for (int i = 0; i < f->num_accesses; i++) reads += f->access[i].tensor == found;
    return reads > 1 ? found : -1;
}

bool rewrite_apart(sketch_state *s, int stage, const at_facts_given *given) {
    const at_stage_facts *f = &s->facts->of[stage];
    const at_tensor *t = &s->compute->tensors[stage];
    if (f->is_kept || f->is_dissolved || !t->num_reduce || t->cycle) return false;
    const int vec = tile_vector_of(s, stage), of = vec >= 0 ? across(s, stage, vec) : -1;
    if (of < 0) return false;
    const char *from = s->compute->tensors[of].name;
    const at_edit e = {.kind = AT_EDIT_OPERAND,
                       .stage = t->name,
                       .other = from,
                       .loop = t->axes[vec].name,
                       .names = {sketch_fresh_of(s, from, "across")}};
    *at_push(s->arena, &s->operands) = e.names[0];
    return sketch_rewrite_by(s, &e, given);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Do lanes suit a stage: along its last axis, of a sum along any? */
static bool has_lanes(const sketch_state *s, int stage) {
    const at_tensor *x = &s->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    const int last = x->num_axes - 1;
    if (x->num_reduce) return tile_has_lanes(s, stage);
    for (int i = 0; i < f->num_accesses && last >= 0; i++)
        if (f->access[i].stride[last] == AT_FACTS_ANYWHERE && !(f->access[i].by_entry >> last & 1))
            return false;
    return true;
}

/* Would a stage of places serve reads of the tensor? One where entries guard them does where lanes
 * would find what they read one by one. */
static bool wants_place(const sketch_state *s, const char *name, int tensor, bool has_lanes) {
    const int stage = at_compute_find(s->compute, name);
    const at_tensor *x = &s->compute->tensors[stage];
    bool is_guarded;
    const at_expr *place = at_edit_place_of(s->compute, stage, tensor, &is_guarded);
    if (!place || !is_guarded) return place && !has_lanes;
    return !x->num_reduce && x->num_axes && at_expr_uses(place, x->num_axes - 1) &&
           at_type_bytes(s->compute->tensors[tensor].type) == 4;
}

bool rewrite_places(sketch_state *s, int stage, const at_facts_given *given) {
    const char *name = s->compute->tensors[stage].name;
    const at_tensor *x = &s->compute->tensors[stage];
    bool any = false;
    if (s->facts->of[stage].is_dissolved || x->cycle || x->is_recurrence || x->is_packing ||
        at_tensor_has_range(x))
        return false;
    const bool has = has_lanes(s, stage);
    for (int t = 0; t < at_compute_find(s->compute, name); t++)
        while (wants_place(s, name, t, has)) {
            const char *of = s->compute->tensors[t].name;
            const at_edit e = {.kind = AT_EDIT_PLACE,
                               .stage = name,
                               .other = of,
                               .names = {sketch_fresh_of(s, of, "place")}};
            if (!sketch_rewrite_by(s, &e, given)) return false;
            any = true;
        }
    return any && has_lanes(s, at_compute_find(s->compute, name));
}
