/* schedule/verify.c: the eleven rules of a legal tree (the last in verify_steps.c).
 *
 *  1 leaf        every stage that is not dissolved has one leaf, a sum also one init
 *  2 axis        each axis of a leaf is counted by its loops, each of them once, to its end
 *  3 order       a producer stands before its readers
 *  4 completion  no reduction of a producer encloses a reader: it would see partial sums; no loop
 *               encloses what holds indices and its reader
 *  5 coverage    inside the loops they share, the producer computes all that the reader reads
 *  6 init        a sum starts from 0 once: loops it ignores lie outside the init, which covers it
 *  7 dyn         data-dependent bounds are known where their loop starts
 *  8 vec, unroll vec is spatial or a reduction, of constant extent or dyn, around one leaf, with
 *               only unroll inside
 *  9 para        no leaf below reduces over it; not within para, vec or unroll
 * 10 privacy     what a para iteration writes is its own
 * 11 running     the axis of a running sum is counted upwards, step by step, and so are those along
 *               which a stage that reads itself goes back, outside of others that it reads across;
 *               stages that read each other share the loops of the steps, which stand outside of
 *               what of an earlier step is read as a whole
 *
 * Of a violated program the first violation in this order is reported. It runs for every
 * configuration: all tables are indexed by number, nothing is searched by name. */
#include "schedule/verify_int.h"

/* ---- rules 1 and 2 ------------------------------------------------------------------------- */

static at_status check_leaves(verifier *v) {
    const at_compute *c = v->p->compute;
    for (int i = 0; i < v->num_leaves; i++) {
        const at_node *leaf = v->leaves[i], **slot = leaf->is_init ? v->init_of : v->leaf_of;
        v->at = leaf;
        if (slot[leaf->tensor])
            return BROKEN(v, "rule 1 (leaf): @%s%s has two leaves, in lines %d and %d",
                          c->tensors[leaf->tensor].name, leaf->is_init ? ".init" : "",
                          slot[leaf->tensor]->line, leaf->line);
        slot[leaf->tensor] = leaf;
        if (!leaf->is_init) v->position[leaf->tensor] = i;
    }
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *s = &c->tensors[t];
        if (s->role != AT_ROLE_STAGE || v->p->dissolved[t]) continue;
        v->at = v->leaf_of[t];
        if (!v->leaf_of[t])
            return BROKEN(v, "rule 1 (leaf): @%s has no leaf, and %s cannot be dissolved", s->name,
                          s->is_recurrence                ? "what reads itself"
                          : s->is_carried                 ? "what is read at a later step"
                          : s->is_places                  ? "what holds indices"
                          : !s->num_reduce                ? "an output"
                          : s->reduction == AT_REDUCE_SUM ? "a sum"
                                                          : "a reduction");
        if (v->leaf_of[t]->is_running && v->init_of[t])
            return BROKEN(v, "rule 1 (leaf): @%s is running: it has no init", s->name);
        if (s->num_reduce && !v->leaf_of[t]->is_running && !v->init_of[t])
            return BROKEN(v, "rule 1 (leaf): @%s has no init", s->name);
    }
    return AT_OK;
}

static at_status check_axis(verifier *v, int leaf, int axis) {
    const at_node *n = v->leaves[leaf];
    const at_tensor *s = stage_of(v, n);
    const at_digits *d = &n->axes[axis];
    int64_t product = 1, whole = v->p->extents[n->tensor][axis];
    bool exceeds = false;
    v->at = n;
    if (at_leaf_is_placed(v->p->compute, n, axis)) {
        if (!d->n) return AT_OK;
        return BROKEN(
            v, "rule 2 (axis): the terms of @%s say where they belong along axis %s: write 0",
            s->name, s->axes[axis].name);
    }
    for (int i = 0; i < d->n; i++) {
        signed char *used = verify_use(v, leaf, d->loop[i]) + d->member[i];
        if (*used >= 0)
            return BROKEN(v, "rule 2 (axis): loop %s of @%s is used twice",
                          v->p->piece_names[d->loop[i]->piece[d->member[i]]], s->name);
        *used = (signed char)axis;
        exceeds |= d->extent[i] >= 0 && !at_mul64(product, d->extent[i], &product);
    }
    if (whole >= 0 && !exceeds && product < whole)
        return BROKEN(v, "rule 2 (axis): the loops of axis %s of @%s reach %lld of %lld",
                      s->axes[axis].name, s->name, (long long)product, (long long)whole);
    return AT_OK;
}

static at_status check_axes(verifier *v) {
    for (int i = 0; i < v->num_leaves * v->num_uses; i++) v->uses[i] = -1;
    for (int i = 0; i < v->num_leaves; i++)
        for (int k = 0; k < at_leaf_num_counted(v->p, v->leaves[i]); k++)
            AT_TRY(check_axis(v, i, k));
    return AT_OK;
}

/* ---- rules 3, 4 and 5: producer and reader ------------------------------------------------- */

/* Calls visit for everything with a leaf that a tensor's expressions read, through dissolved
 * stages: of an earlier step of its cycle for rule 11, else what is not. axes: forms of the axes of
 * that tensor, when visit wants them. */
typedef at_status visit_read(verifier *v, int rule, int reader, const at_expr *read,
                             const form *axes);

static at_status each_read(verifier *v, int rule, int reader, int tensor, const form *axes,
                           visit_read *visit) {
    const tensor_info *info = &info_of(v->p->compute)->info[tensor];
    for (int i = 0; i < info->num_reads; i++) {
        const at_expr *read = info->reads[i];
        if (v->p->compute->tensors[read->ref].role != AT_ROLE_STAGE) continue;
        const bool is_back = at_cycle_back(v->p->compute, tensor, read) >= 0;
        if (rule == 11 ? !is_back : !at_cycle_reads_step(v->p->compute, tensor, read)) continue;
        if (read->ref == tensor && !is_back) continue;
        if (!v->p->dissolved[read->ref]) {
            AT_TRY(visit(v, rule, reader, read, axes));
            continue;
        }
        form *inner = NULL;
        if (axes) {
            inner = AT_NEW_ARRAY(v->arena, form, read->nargs);
            for (int k = 0; k < read->nargs; k++) form_of(v->p, read->arg[k], axes, &inner[k]);
        }
        AT_TRY(each_read(v, rule, reader, read->ref, inner, visit));
    }
    return AT_OK;
}

static at_status check_order(verifier *v, int reader, const at_expr *read) {
    if (v->position[read->ref] < reader) return AT_OK;
    return BROKEN(v, "rule 3 (order): @%s stands before @%s, which it reads",
                  stage_of(v, v->leaves[reader])->name, read->name);
}

static at_status check_completion(verifier *v, int reader, const at_expr *read) {
    int producer = v->position[read->ref];
    const at_node *loop;
    common_loops(v->leaves[producer], v->leaves[reader], &loop);
    if (loop && v->p->compute->tensors[read->ref].is_places)
        return BROKEN(v,
                      "rule 4 (completion): loop %s encloses @%s and its reader @%s, which takes "
                      "elements as indices: all of them are computed before",
                      verify_loop_name(v, loop), read->name, stage_of(v, v->leaves[reader])->name);
    for (; loop; loop = loop->parent)
        if (verify_usage(v, producer, loop).reduce)
            return BROKEN(v,
                          "rule 4 (completion): reduction loop %s of @%s encloses its reader @%s, "
                          "which has to stand behind it",
                          verify_loop_name(v, loop), read->name,
                          stage_of(v, v->leaves[reader])->name);
    return AT_OK;
}

static at_status check_coverage(verifier *v, int reader, const at_expr *read, const form *axes) {
    int producer = v->position[read->ref];
    const at_node *deepest;
    int common = common_loops(v->leaves[producer], v->leaves[reader], &deepest);
    const char *reads = stage_of(v, v->leaves[reader])->name;
    const at_node *unsure = verify_unsure_loop(v, producer, common);
    if (unsure)
        return BROKEN(v, "rule 5 (coverage): @%s reads @%s, which loop %s may leave out", reads,
                      read->name, verify_loop_name(v, unsure));
    const int back = at_cycle_back(v->p->compute, v->leaves[reader]->tensor, read),
              axis = uncovered_axis(v->p, v->leaves[producer], common, read, axes, back);
    if (axis < 0 || verify_before(v, reader, read, axes, axis)) return AT_OK;
    return BROKEN(v, "rule 5 (coverage): @%s reads more of axis %s of @%s than loop %s computes",
                  reads, v->p->compute->tensors[read->ref].axes[axis].name, read->name,
                  verify_loop_name(v, deepest));
}

static at_status check_read(verifier *v, int rule, int reader, const at_expr *read,
                            const form *axes) {
    if (rule == 11) return verify_back(v, reader, read, axes);
    if (rule == 3) return check_order(v, reader, read);
    if (rule == 4) return check_completion(v, reader, read);
    return check_coverage(v, reader, read, axes);
}

static at_status check_readers(verifier *v, int rule) {
    for (int i = 0; i < v->num_leaves; i++) {
        const at_node *leaf = v->leaves[i];
        if (leaf->is_init) continue;
        form *axes = NULL;
        v->at = leaf;
        if (rule >= 5) {
            axes = AT_NEW_ARRAY(v->arena, form, leaf->num_axes);
            leaf_forms(leaf, axes);
            const at_tensor *s = stage_of(v, leaf);
            if (leaf->is_running) axes[s->num_axes].constant -= at_running_lag(s);
        }
        AT_TRY(each_read(v, rule, i, leaf->tensor, axes, check_read));
    }
    return AT_OK;
}

/* ---- rule 6 -------------------------------------------------------------------------------- */

static at_status check_init(verifier *v, int init) {
    const at_node *start = v->at = v->leaves[init], *sum = v->leaf_of[start->tensor];
    const char *name = stage_of(v, start)->name;
    int leaf = v->position[start->tensor];
    if (init > leaf) return BROKEN(v, "rule 6 (init): @%s stands before its init", name);
    const at_node *shared;
    int common = common_loops(start, sum, &shared);
    for (const at_node *n = shared; n; n = n->parent)
        if (verify_usage(v, leaf, n).reduce)
            return BROKEN(v, "rule 6 (init): reduction loop %s of @%s encloses its init",
                          verify_loop_name(v, n), name);
    for (const at_node *n = sum->parent; n && n->depth >= common; n = n->parent)
        if (verify_usage(v, leaf, n).ignores)
            return BROKEN(v,
                          "rule 6 (init): loop %s is ignored by @%s inside its init: the sum "
                          "would be added %lld times",
                          verify_loop_name(v, n), name, (long long)n->extent);
    const at_node *unsure = verify_unsure_loop(v, init, common);
    if (unsure)
        return BROKEN(v, "rule 6 (init): loop %s may leave out the init of @%s",
                      verify_loop_name(v, unsure), name);
    int axis = uninitialised_axis(start, sum, common);
    if (axis < 0) return AT_OK;
    return BROKEN(v, "rule 6 (init): the init of @%s does not start what @%s sums, along axis %s",
                  name, name, stage_of(v, start)->axes[axis].name);
}

/* ---- rules 7, 8 and 9: annotations --------------------------------------------------------- */

static at_status check_dyn(verifier *v, const at_node *loop) {
    const at_node *leaf = v->leaf_of[loop->dyn_tensor];
    const at_tensor *s = stage_of(v, leaf);
    v->at = loop;
    uint32_t used =
        info_of(v->p->compute)->info[loop->dyn_tensor].bound_axes[loop->dyn_axis - s->num_axes];
    for (int i = 0; i < loop->dyn_axis; i++) {
        if (!(used & (1u << i))) continue;
        for (int d = 0; d < leaf->axes[i].n; d++)
            if (leaf->axes[i].loop[d]->depth >= loop->depth)
                return BROKEN(v,
                              "rule 7 (dyn): loop %s of @%s must be inside loop %s, on which its "
                              "bounds depend",
                              verify_loop_name(v, loop), s->name,
                              verify_loop_name(v, leaf->axes[i].loop[d]));
    }
    return AT_OK;
}

static const at_node *first_not_unrolled(const at_node *n) {
    const at_node *found = NULL;
    for (; n && !found; n = n->next)
        if (!n->is_leaf) {
            const bool unrolled = n->ann == AT_ANN_UNROLL || n->ann == AT_ANN_DOT;
            found = unrolled ? first_not_unrolled(n->child) : n;
        }
    return found;
}

/* Leaves are in textual order, so those below a loop are neighbours; this is the first. */
static int first_leaf(const verifier *v, const at_node *loop) {
    const at_node *n = loop;
    while (!n->is_leaf) n = n->child;
    for (int i = 0; i < v->num_leaves; i++)
        if (v->leaves[i] == n) return i;
    AT_BUG("a leaf outside its tree");
}

static at_status check_constant(verifier *v, const at_node *loop) {
    v->at = loop;
    if (loop->extent >= 0 || (loop->ann != AT_ANN_UNROLL && loop->ann != AT_ANN_DOT)) return AT_OK;
    return BROKEN(v, "rule 8 (%s): loop %s must have a constant extent", at_ann_name(loop->ann),
                  verify_loop_name(v, loop));
}

/* The innermost loop of a sum's terms. */
static at_status check_dot(verifier *v, const at_node *loop) {
    const int first = first_leaf(v, loop);
    v->at = loop;
    if (loop->child->next || !loop->child->is_leaf)
        return BROKEN(v, "rule 8 (dot): loop %s must have one leaf below and no loop",
                      verify_loop_name(v, loop));
    const usage u = verify_usage(v, first, loop);
    if (u.spatial || !u.reduce || loop->num_pieces > 1)
        return BROKEN(v, "rule 8 (dot): loop %s must count terms of @%s alone",
                      verify_loop_name(v, loop), stage_of(v, v->leaves[first])->name);
    return AT_OK;
}

/* One leaf below; where a reduction is unrolled inside, as in "xi:vec, ki:unroll", also its init.
 */
static at_status check_vec(verifier *v, const at_node *loop) {
    int first = first_leaf(v, loop), count = v->leaves_below[loop->id];
    const at_node *const *leaf = v->leaves + first;
    const char *name = stage_of(v, leaf[0])->name;
    v->at = loop;
    bool init_and_sum = count == 2 && leaf[0]->is_init && leaf[0]->tensor == leaf[1]->tensor;
    if (count != 1 && !init_and_sum)
        return BROKEN(v, "rule 8 (vec): loop %s must have one leaf below, it has %d",
                      verify_loop_name(v, loop), count);
    for (int i = 0; i < count; i++) {
        usage u = verify_usage(v, first + i, loop);
        if (!u.spatial && !u.reduce)
            return BROKEN(v, "rule 8 (vec): loop %s must count axes or reductions of @%s",
                          verify_loop_name(v, loop), name);
    }
    const at_node *inside = first_not_unrolled(loop->child);
    if (inside)
        return BROKEN(v, "rule 8 (vec): loop %s of @%s has loop %s inside, which is not unroll",
                      verify_loop_name(v, loop), name, verify_loop_name(v, inside));
    return AT_OK;
}

static at_status check_para(verifier *v, const at_node *loop) {
    v->at = loop;
    for (const at_node *n = loop->parent; n; n = n->parent)
        if (n->ann != AT_ANN_NONE)
            return BROKEN(v, "rule 9 (para): loop %s must not be inside %s loop %s",
                          verify_loop_name(v, loop), at_ann_name(n->ann), verify_loop_name(v, n));
    int first = first_leaf(v, loop);
    for (int i = first; i < first + v->leaves_below[loop->id]; i++)
        if (verify_usage(v, i, loop).reduce)
            return BROKEN(v, "rule 9 (para): loop %s is a reduction of @%s",
                          verify_loop_name(v, loop), stage_of(v, v->leaves[i])->name);
    return AT_OK;
}

/* ---- rule 10 ------------------------------------------------------------------------------- */

static at_status check_privacy(verifier *v) {
    const at_node **scope = AT_NEW_ARRAY(v->arena, const at_node *, v->p->compute->num_tensors);
    stage_scopes(v->p, v->num_leaves, v->leaves, v->leaf_of, scope);
    for (int i = 0; i < v->num_leaves; i++) {
        const at_node *around = scope[v->leaves[i]->tensor];
        v->at = v->leaves[i];
        for (const at_node *n = v->leaves[i]->parent; n && n != around; n = n->parent)
            if (n->ann == AT_ANN_PARA && verify_usage(v, i, n).ignores)
                return BROKEN(v,
                              "rule 10 (privacy): @%s ignores para loop %s and is not private to "
                              "its iterations",
                              stage_of(v, v->leaves[i])->name, verify_loop_name(v, n));
    }
    return AT_OK;
}

/* ---- rule 12 ------------------------------------------------------------------------------- */

/* An element that is made of the old one in its place is worked out once. */
static at_status check_updates(verifier *v) {
    for (int i = 0; i < v->num_leaves; i++) {
        const at_tensor *s = stage_of(v, v->leaves[i]);
        v->at = v->leaves[i];
        for (const at_node *n = v->leaves[i]->parent; n && s->is_updated; n = n->parent)
            if (verify_usage(v, i, n).ignores)
                return BROKEN(v,
                              "rule 12 (update): @%s is made of what \"%s\" holds, and loop %s, "
                              "which it ignores, would do that again",
                              s->name, s->lies_in, verify_loop_name(v, n));
    }
    return AT_OK;
}

/* All rules in their order. */
static at_status check(verifier *v) {
    AT_TRY(check_leaves(v));
    AT_TRY(check_axes(v));
    for (int rule = 3; rule <= 5; rule++) AT_TRY(check_readers(v, rule));
    for (int i = 0; i < v->num_leaves; i++)
        if (v->leaves[i]->is_init) AT_TRY(check_init(v, i));
    for (int i = 0; i < v->p->num_loops; i++)
        if (v->loops[i]->extent < 0) AT_TRY(check_dyn(v, v->loops[i]));
    for (int i = 0; i < v->p->num_loops; i++) AT_TRY(check_constant(v, v->loops[i]));
    for (int i = 0; i < v->p->num_loops; i++)
        if (v->loops[i]->ann == AT_ANN_DOT) AT_TRY(check_dot(v, v->loops[i]));
        else if (v->loops[i]->ann == AT_ANN_VEC) AT_TRY(check_vec(v, v->loops[i]));
    for (int i = 0; i < v->p->num_loops; i++)
        if (v->loops[i]->ann == AT_ANN_PARA) AT_TRY(check_para(v, v->loops[i]));
    AT_TRY(check_privacy(v));
    AT_TRY(check_updates(v));
    for (int i = 0; i < v->num_leaves; i++)
        if (leaf_goes_on(v->p, v->leaves[i])) AT_TRY(verify_running(v, i));
    return v->p->compute->num_cycles ? check_readers(v, 11) : AT_OK;
}

at_status at_program_verify(at_arena *a, const at_program *p, at_error *err) {
    int num_tensors = p->compute->num_tensors, pieces = 0;
    verifier v = {.arena = a, .p = p, .err = err};
    int num_leaves = count_leaves(p->root, &pieces);
    v.leaves = AT_NEW_ARRAY(a, const at_node *, num_leaves);
    v.loops = AT_NEW_ARRAY(a, const at_node *, p->num_loops);
    v.leaves_below = AT_NEW_ARRAY(a, int, p->num_loops);
    v.first_use = AT_NEW_ARRAY(a, int, p->num_loops);
    v.leaf_of = AT_NEW_ARRAY(a, const at_node *, num_tensors);
    v.init_of = AT_NEW_ARRAY(a, const at_node *, num_tensors);
    v.position = AT_NEW_ARRAY(a, int, num_tensors);
    v.uses = AT_NEW_ARRAY(a, signed char, num_leaves *pieces);
    verify_collect(&v, p->root);
    if (check(&v) == AT_OK) return AT_OK;
    return p->file && v.at ? at_fail_at(err, "%s:%d: ", p->file, v.at->line) : AT_E_INPUT;
}
