/* network/net_steps.c: what a run of the network does, step by step, and where values lie
 * meanwhile. */
#include <string.h>

#include "network/net_memory.h"
#include "network/program.h"

static const at_net_value *value_at(const at_net_program *p, int v) {
    return &p->cut.net->values.data[v];
}

static int add_storage(at_net_program *p, int value, at_net_type type, int64_t elements) {
    *at_push(p->arena, &p->storages) = (at_net_storage){.value = value,
                                                        .type = type,
                                                        .elements = elements,
                                                        .bytes = elements * at_net_type_bytes(type),
                                                        .first = -1,
                                                        .last = -1,
                                                        .over = -1};
    return p->storages.len - 1;
}

static int root_of(const at_net_program *p, int v) { return at_net_root(&p->cut, v, NULL); }

/* Where the elements of a value lie in this type. */
static int storage_of(at_net_program *p, int v, at_net_type type) {
    int root = root_of(p, v);
    for (int i = 0; i < p->storages.len; i++)
        if (p->storages.data[i].value == root && p->storages.data[i].type == type) return i;
    return add_storage(p, root, type, at_net_elements_in_memory(&p->cut, root));
}

static void use(at_net_program *p, int storage, int step) {
    at_net_storage *s = &p->storages.data[storage];
    if (s->first < 0) s->first = step;
    s->last = step;
}

static void add_conversion(at_net_program *p, int from, int to, at_net_limits limits) {
    int *args = AT_NEW_ARRAY(p->arena, int, 2);
    args[0] = from, args[1] = to;
    *at_push(p->arena, &p->steps) = (at_net_step){
        .kind = AT_NET_CONVERT, .args = args, .num_args = 2, .scratch = -1, .limits = limits};
    use(p, from, p->steps.len - 1);
    use(p, to, p->steps.len - 1);
}

/* ---- types ----------------------------------------------------------------------------------- */

/* As it is made, where no network's input or constant is it. */
static at_net_type made_type(const at_net_program *p, int v) {
    const int by = value_at(p, v)->producer;
    const bool whole = by >= 0 && p->cut.net->nodes.data[by].is_whole;
    return at_net_kept_type(p->cut.net, v, whole);
}

at_net_type at_net_param_type(const at_net_program *p, const at_net_part *part,
                              const at_net_param *x) {
    const int root = root_of(p, x->value);
    if (x->role == AT_ROLE_INDEX) return AT_NET_INT32;
    if (x->role == AT_ROLE_STAGE && part->is_whole)
        return at_net_type_is_int(value_at(p, x->value)->type) ? AT_NET_DOUBLE : AT_NET_FLOAT;
    return at_net_kept_type(p->cut.net, root, part->is_whole);
}

static const at_compute *compute_of(const at_net_kernel *k) {
    return k->whole.compute ? k->whole.compute : at_task_compute(k->chosen.task);
}

/* Both hold. */
static void limit(const at_net_program *p, at_net_limits *l, const at_net_limits *more) {
    int depth = more->depth;
    while (depth % l->depth) depth += more->depth;
    int64_t *lo = AT_NEW_ARRAY(p->arena, int64_t, depth),
            *hi = AT_NEW_ARRAY(p->arena, int64_t, depth);
    for (int i = 0; i < depth; i++) {
        const int x = i % l->depth, y = i % more->depth;
        lo[i] = l->lo[x] > more->lo[y] ? l->lo[x] : more->lo[y];
        hi[i] = l->hi[x] < more->hi[y] ? l->hi[x] : more->hi[y];
    }
    *l = (at_net_limits){depth, lo, hi};
}

/* *others: there are nodes that read this index, and do not say what its entries may be. */
static void limit_by_nodes(const at_net_program *p, int root, at_net_limits *l, bool *others) {
    const at_net *net = p->cut.net;
    for (int i = 0; i < net->nodes.len; i++) {
        const at_net_node *n = &net->nodes.data[i];
        for (int k = 0; k < n->num_inputs && k < 32; k++) {
            int64_t offset = 0;
            if (!(n->index_inputs >> k & 1) || n->inputs[k] < 0 ||
                at_net_root(&p->cut, n->inputs[k], &offset) != root)
                continue;
            if (n->limits.depth && n->limited == k && !offset) limit(p, l, &n->limits);
            else *others = true;
        }
    }
}

/* What the entries of an index may be so that every part that reads it stays within its tensors;
 * those below 0 count from the end, where the texts say so. */
static at_net_limits range_of(const at_net_program *p, int root) {
    static const int64_t lowest = INT32_MIN, highest = INT32_MAX;
    at_net_limits l = {1, &lowest, &highest};
    bool others = false;
    limit_by_nodes(p, root, &l, &others);
    for (int i = 0; i < p->num_kernels && others; i++) {
        const at_net_kernel *k = &p->kernels[i];
        const at_compute *c = compute_of(k);
        at_index_range *ranges = NULL;
        for (int n = 0; n < k->part->num_params; n++) {
            const at_net_param *x = &k->part->params[n];
            if (x->role != AT_ROLE_INDEX || root_of(p, x->value) != root) continue;
            if (!ranges) {
                ranges = AT_NEW_ARRAY(p->arena, at_index_range, c->num_tensors);
                if (at_compute_entry_ranges(p->arena, c, NULL, ranges, NULL) != AT_OK) break;
            }
            limit(p, &l, &(at_net_limits){1, &ranges[n].lo, &ranges[n].hi});
        }
    }
    return l;
}

static bool is_wide(at_net_type t) { return at_net_type_is_int(t) && at_net_type_bytes(t) > 2; }

/* What readers want a value as: first what may be a checked copy of it, which the others read. */
typedef enum want { AS_WHOLE_NUMBERS, AS_INDICES, AS_NUMBERS, WANTS } want;

/* Must the numbers be exact for a kernel that reads them? A cast may round them. */
static bool must_be_exact(const at_net_program *p, int root) {
    const at_net *net = p->cut.net;
    for (int i = 0; i < net->nodes.len; i++) {
        const at_net_node *n = &net->nodes.data[i];
        for (int k = 0; k < n->num_inputs && !n->is_whole && strcmp(n->op, "Cast"); k++)
            if (n->inputs[k] >= 0 && root_of(p, n->inputs[k]) == root && at_net_reads(n, k) &&
                !(n->index_inputs >> k & 1) && root_of(p, n->outputs[0]) != root)
                return true;
    }
    return false;
}

/* What elements of an input may be: whole numbers are exact up to 2^24 in float32, up to 2^53 in
 * double. */
static at_net_limits limits_of(const at_net_program *p, int root, want as, at_net_type have,
                               at_net_type to) {
    static const int64_t exact[] = {1 << 24, 1LL << 53}, negative[] = {-(1 << 24), -(1LL << 53)};
    if (as == AS_INDICES) return range_of(p, root);
    if (!value_at(p, root)->is_input) return (at_net_limits){0};
    if (as == AS_WHOLE_NUMBERS && at_net_type_bytes(have) > 4)
        return (at_net_limits){1, &negative[1], &exact[1]};
    if (as == AS_NUMBERS && is_wide(have) && to == AT_NET_FLOAT && must_be_exact(p, root))
        return (at_net_limits){1, &negative[0], &exact[0]};
    return (at_net_limits){0};
}

/* Elements of another type are made right where they are known. */
static void convert_for_readers(at_net_program *p, int v, at_net_type have) {
    bool wanted[WANTS] = {false};
    int root = root_of(p, v);
    for (int i = 0; i < p->cut.num_parts; i++)
        for (int k = 0; k < p->cut.parts[i].num_params; k++) {
            const at_net_param *x = &p->cut.parts[i].params[k];
            if (x->role == AT_ROLE_STAGE || root_of(p, x->value) != root) continue;
            wanted[x->role == AT_ROLE_INDEX   ? AS_INDICES
                   : p->cut.parts[i].is_whole ? AS_WHOLE_NUMBERS
                                              : AS_NUMBERS] = true;
        }
    for (want k = 0; k < WANTS; k++) {
        at_net_type type = k == AS_INDICES
                               ? AT_NET_INT32
                               : at_net_kept_type(p->cut.net, root, k == AS_WHOLE_NUMBERS);
        if (!wanted[k]) continue;
        const at_net_limits limits = limits_of(p, root, k, have, type);
        bool checked = value_at(p, root)->is_input && limits.depth;
        if (type == have && !checked) continue;
        int from = storage_of(p, v, have);
        if (type == have) from = add_storage(p, -2 - root, have, value_at(p, root)->elements);
        add_conversion(p, from, storage_of(p, v, type), limits);
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void add_call(at_net_program *p, int number) {
    const at_net_part *part = &p->cut.parts[number];
    at_net_step s = {
        .kind = AT_NET_CALL, .part = number, .num_args = part->num_params, .scratch = -1};
    int *args = AT_NEW_ARRAY(p->arena, int, part->num_params), step = p->steps.len;
    int64_t *offsets = AT_NEW_ARRAY(p->arena, int64_t, part->num_params);
    for (s.kernel = 0; p->kernels[s.kernel].part != &p->cut.parts[part->same];) s.kernel++;
    at_net_kernel *k = &p->kernels[s.kernel];
    const at_net_form *f = at_net_form_of(k, part);
    s.form = (int)(f - k->forms.data);
    for (int i = 0; i < part->num_params; i++) {
        const at_net_param *x = &part->params[i];
        bool packed = !f->is_late && !part->is_whole &&
                      (x->role == AT_ROLE_WEIGHT || x->role == AT_ROLE_INDEX);
        const at_net_type type = at_net_param_type(p, part, x);
        const bool is_made = x->role == AT_ROLE_STAGE && type == AT_NET_DOUBLE;
        args[i] = packed    ? -1
                  : is_made ? add_storage(p, -1, type, value_at(p, x->value)->elements)
                            : storage_of(p, x->value, type);
        if (packed) continue;
        use(p, args[i], step);
        at_net_root(&p->cut, x->value, &offsets[i]);
        offsets[i] *= at_net_type_bytes(type);
    }
    if (f->scratch_bytes) {
        s.scratch = add_storage(p, -1, AT_NET_UINT8, f->scratch_bytes);
        use(p, s.scratch, step);
    }
    s.args = args;
    s.offsets = offsets;
    *at_push(p->arena, &p->steps) = s;
    for (int i = 0; i < part->num_params; i++) {
        const int v = part->params[i].value;
        if (part->params[i].role != AT_ROLE_STAGE) continue;
        const at_net_type have = made_type(p, v);
        if (p->storages.data[args[i]].type != have) /* doubles become their type */
            add_conversion(p, args[i], storage_of(p, v, have), (at_net_limits){0});
        convert_for_readers(p, v, have);
    }
}

/* Outputs that are computed as floats are written in place; others are copied or converted. */
static void add_outputs(at_net_program *p) {
    for (int i = 0; i < p->net->outputs.len; i++) {
        int v = p->cut.net->outputs.data[i], root = root_of(p, v);
        const at_net_value *x = value_at(p, v), *r = value_at(p, root);
        at_net_type have = r->is_input || r->is_constant ? r->type : made_type(p, root);
        int storage = storage_of(p, v, have);
        at_net_storage *s = &p->storages.data[storage];
        at_net_place place = {AT_NET_OUTPUT, i, 0};
        if (x->type == have && !r->is_input && !r->is_constant &&
            s->place.where == AT_NET_NOWHERE) {
            s->place = place;
            continue;
        }
        int to = add_storage(p, -1, x->type, x->elements);
        p->storages.data[to].place = place;
        add_conversion(p, storage, to, (at_net_limits){0});
    }
}

static void place_inputs(at_net_program *p) {
    for (int k = 0; k < p->storages.len; k++) {
        at_net_storage *s = &p->storages.data[k];
        int v = s->value < -1 ? -2 - s->value : s->value;
        if (v < 0 || !value_at(p, v)->is_input || s->type != value_at(p, v)->type) continue;
        if (s->value >= 0 && s->first >= 0) {
            bool made = false; /* a checked copy is the network's own */
            for (int i = 0; i < p->steps.len; i++)
                made |= p->steps.data[i].kind == AT_NET_CONVERT && p->steps.data[i].args[1] == k;
            if (made) continue;
        }
        for (int i = 0; i < p->cut.net->inputs.len; i++)
            if (p->cut.net->inputs.data[i] == v) s->place = (at_net_place){AT_NET_INPUT, i, 0};
    }
}

void at_net_make_steps(at_net_program *p) {
    for (int i = 0; i < p->cut.net->inputs.len; i++) {
        int v = p->cut.net->inputs.data[i];
        convert_for_readers(p, v, value_at(p, v)->type);
    }
    for (int i = 0; i < p->cut.num_parts; i++) add_call(p, i);
    add_outputs(p);
    place_inputs(p);
}

static bool is_in_workspace(const at_net_program *p, const at_net_storage *s) {
    return s->place.where == AT_NET_NOWHERE && s->first >= 0 &&
           !(s->value >= 0 && value_at(p, s->value)->is_constant);
}

/* The storage whose memory it has, and where others went on. */
static int first_of(const at_net_program *p, int storage) {
    while (p->storages.data[storage].over >= 0) storage = p->storages.data[storage].over;
    return storage;
}

void at_net_place_storages(at_net_program *p) {
    at_net_block *blocks = AT_NEW_ARRAY(p->arena, at_net_block, p->storages.len);
    int *of = AT_NEW_ARRAY(p->arena, int, p->storages.len), n = 0;
    at_net_write_over(p);
    for (int i = 0; i < p->storages.len; i++) {
        const at_net_storage *s = &p->storages.data[i];
        if (!is_in_workspace(p, s) || s->over >= 0) continue;
        of[i] = n;
        blocks[n++] = (at_net_block){.bytes = s->bytes, .first = s->first, .last = s->last};
    }
    for (int i = 0; i < p->storages.len; i++) {
        const at_net_storage *s = &p->storages.data[i];
        if (s->over < 0) continue;
        of[i] = of[first_of(p, i)];
        if (s->last > blocks[of[i]].last) blocks[of[i]].last = s->last;
    }
    p->workspace_bytes = at_net_place_blocks(blocks, n);
    p->least_bytes = at_net_least_bytes(blocks, n);
    for (int i = 0; i < p->storages.len; i++)
        if (is_in_workspace(p, &p->storages.data[i]))
            p->storages.data[i].place = (at_net_place){AT_NET_WORKSPACE, 0, blocks[of[i]].offset};
}
